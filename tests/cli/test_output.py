"""What is printed fits the terminal, and nothing in it acts on a spreadsheet or a terminal."""

import codecs
import csv
import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from rich.cells import cell_len

from bayescal.cli.main import cli
from bayescal.cli.output import print_estimates, print_json, print_table, say, with_short_names
from bayescal.cli.run import status_code
from bayescal.core.command import Estimates
from bayescal.core.plausibility import contradiction

NAMES = [
    "gradient_boosted_trees_depth_8_learning_rate_0.05_seed_1",
    "gradient_boosted_trees_depth_8_learning_rate_0.05_seed_2",
    "random_forest_500_trees_balanced_subsample_all_features",
    "logistic_regression_l2_standardised_all_features_2025_11",
]
NETS = ["a_long_name_of_a_network_after_epoch_90", "a_long_name_of_a_network_after_epoch_91"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(2)
    n, path = 300, tmp_path_factory.mktemp("terminal")
    logit = 2 * rng.normal(size=n)
    y = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(int)
    scores = {
        name: 1 / (1 + np.exp(-scale * logit - 0.4 * rng.normal(size=n)))
        for name, scale in zip(NAMES, (1, 1.5, 2, 0.7), strict=True)
    }
    table = pd.DataFrame({"y": y, "s": y * (rng.random(n) < 0.5), **scores})
    table["region"] = rng.choice(["north", "south"], n)
    table.to_csv(path / "rows.csv", index=False)
    shares = rng.dirichlet([1, 1, 1], n)
    classes = {f"{name}_{k}": shares[:, k] for name in NETS for k in range(3)}
    label = [rng.choice(3, p=row) for row in shares]
    pd.DataFrame({"y": label, **classes}).to_csv(path / "classes.csv", index=False)
    return path


def scores(several: bool) -> list[str]:
    return [f"--score={name}" for name in NAMES[: 1 + several]]


def nets(several: bool) -> list[str]:
    return [f"--classifier={name}={name}_*" for name in NETS[: 1 + several]]


Y = ("--label", "y")
QUICK = ("--quick", "--draws", "250")
COMMANDS = {
    "ece": ["ece", "rows.csv", *Y, *QUICK, "--measure", "e90", scores],
    "ece groups": ["ece", "rows.csv", *Y, *QUICK, "--group", "region", scores],
    "ece classes": ["ece", "classes.csv", *Y, *QUICK, "--multiclass", "marginal", nets],
    "ece estimates": ["ece", "rows.csv", *Y, "--estimate-only", scores],
    "pu-ece": [
        "pu-ece",
        "rows.csv",
        *["--positive-column", "s", "--class-prior", ".3", *QUICK],
        scores,
    ],
    "ssme estimates": ["ssme", "rows.csv", *Y, "--estimate-only", scores],
    "credal": ["credal", "rows.csv", "rows.csv", *Y, *QUICK, "--prior", "bins", scores],
    "credal estimates": ["credal", "rows.csv", "rows.csv", *Y, "--estimate-only", scores],
    "agnostic": ["agnostic", "rows.csv", *Y, *QUICK, scores],
    "agnostic estimates": ["agnostic", "rows.csv", *Y, "--estimate-only", scores],
    "temperature": ["temperature", "classes.csv", *Y, *QUICK, nets],
    "temperature estimates": ["temperature", "classes.csv", *Y, "--estimate-only", nets],
    "sensitivity": ["sensitivity", "ece", "rows.csv", *Y, *QUICK, scores],
    "check": ["check", "rows.csv", *Y, *QUICK[1:], *["--max", "tce=.9", "--min", "auc=.1"], scores],
    "plan": [
        "plan",
        "rows.csv",
        *Y,
        *["--n", "50", "--replications", "2"],
        f"--case={NAMES[0]}",
        scores,
    ],
    "count": ["count", "rows.csv", *Y, "-o", "rows.counts", "--group", "region", scores],
    "report": ["report", "rows.csv", *Y, *QUICK, "-o", "page.html", scores],
}


def lines(folder: Path, columns: int, words: list[str]) -> list[str]:
    return printed(folder, columns, tuple(words))


@cache
def printed(folder: Path, columns: int, words: tuple[str, ...]) -> list[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("COLUMNS", str(columns))
        found = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert found.exit_code == 0, found.output
    # A path is printed whole, to be copied.
    return [line for line in found.stdout.splitlines() if not line.startswith("Written: ")]


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("name", COMMANDS)
def test_no_line_is_wider_than_the_terminal(name: str, several: bool, folder: Path) -> None:
    *words, named = COMMANDS[name]
    words = [*words, *named(several)]
    # One classifier has fewer columns, and a wider terminal the same.
    for columns in (80, 120) if several else (80,):
        found = lines(folder, columns, words)
        assert max(map(cell_len, found)) <= columns


def left_out(found: list[str]) -> int:
    """Number of columns for which there was no room."""
    said = re.search(r"Left out at this width: (.*?)\. --verbose", " ".join(found))
    return 0 if said is None else len(said[1].split("; "))


@pytest.mark.parametrize("name", ["ece", "agnostic", "temperature", "sensitivity"])
def test_a_wide_terminal_has_more_columns(name: str, folder: Path) -> None:
    *words, named = COMMANDS[name]
    words = [*words, *named(True)]
    narrow, wide = (lines(folder, columns, words) for columns in (80, 120))
    assert left_out(narrow) > left_out(wide)
    everything = lines(folder, 80, [*words, "--verbose"])
    assert max(map(cell_len, everything)) <= 80
    assert left_out(everything) == 0
    assert any("status" in line for line in everything)


def test_the_prior_is_a_line_and_in_full_with_verbose(folder: Path) -> None:
    words = ["ece", "rows.csv", *Y, *QUICK, *scores(False)]
    short = lines(folder, 80, words)
    (prior,) = [line for line in short if line.startswith("Prior: curve")]
    assert prior.endswith("The prior probability of exact calibration is 0.5.")
    assert not any("Gaussian process" in line for line in short)
    assert any("Gaussian process" in line for line in lines(folder, 80, [*words, "-v"]))


def test_temperatures_are_printed(folder: Path) -> None:
    found = lines(folder, 80, ["temperature", "classes.csv", *Y, *QUICK, *nets(False)])
    (head,) = [line for line in found if "temperature" in line]
    place = found.index(head)
    assert [row.split()[1] for row in found[place + 2 : place + 5]] == ["0", "1", "2"]
    # The rows follow their scores, whose temperature is 1.
    for row in found[place + 2 : place + 5]:
        mean, low, high = map(float, row.split()[2:5])
        assert low < mean < high
        assert low < 1 < high


COLUMNS = ["", "rows", "error", "status"]


@pytest.mark.parametrize("columns", [40, 60, 80, 200])
@pytest.mark.parametrize("names", [NAMES, ["分類器" * 12 + "一", "分類器" * 12 + "二"]])
def test_names_are_cut_and_none_becomes_another(
    names: list[str], columns: int, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    print_table(COLUMNS, [[name, "570", "0.1", "ok"] for name in names], words=(0, 3))
    out = capsys.readouterr().out.splitlines()
    rows = [line.split()[0] for line in out if "570" in line]
    assert len(set(rows)) == len(names)
    assert max(map(cell_len, out)) <= columns
    assert (rows == names) == (
        columns >= max(map(cell_len, names)) + cell_len("  rows  error  status")
    )


def test_columns_are_left_out_in_order_and_then_there_is_a_line_a_number(
    monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    rows = [[name, "570", "0.1234567890", "ok"] for name in NAMES]
    heads = ["", "number_of_rows", "calibration_error", "status"]

    def printed(columns: int, spare: list[str], verbose: bool = False) -> str:
        monkeypatch.setenv("COLUMNS", str(columns))
        print_table(heads, rows, spare=spare, verbose=verbose)
        return capsys.readouterr().out

    assert "Left out" not in printed(80, ["status"])
    said = printed(58, ["status"])
    assert "Left out at this width: status = ok. --verbose shows all." in said
    assert "number_of_rows" in printed(58, ["status"]).splitlines()[0]
    for found in (printed(42, ["status"]), printed(50, ["status"], verbose=True)):
        assert found.count("  calibration_error  0.1234567890\n") == len(NAMES)
        assert found.count("  status             ok\n") == len(NAMES)
        assert "Left out" not in found


def test_names_cannot_act_on_the_terminal(capsys) -> None:
    print_table(["", "n"], [["[bold]\x1b[31mred", "1"]])
    out = capsys.readouterr().out
    assert r"[bold]\x1b[31mred" in out
    assert "\x1b" not in out


def test_a_note_has_two_lines_and_ends_at_a_clause(monkeypatch, capsys) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    note = "This is so: one reason of many; another one. " + "And this goes on. " * 10
    say(note, verbose=False)
    short = capsys.readouterr().out
    assert len(short.splitlines()) == 2
    assert short.endswith("(more: --verbose).\n")
    say(note)
    assert " ".join(capsys.readouterr().out.split()) == note.strip()


def test_names_in_sentences_are_cut_apart() -> None:
    found = with_short_names(f"{NAMES[0]} leads, before {NAMES[1]}.", NAMES)
    first, second = found.removesuffix(".").split(" leads, before ")
    assert first != second
    assert max(len(first), len(second)) <= 30


HOSTILE = ("=cmd|x", "+1", "-p", "@SUM(A1)", "plain")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("output") / "scores.csv"
    rng = np.random.default_rng(20)
    score = rng.random(300)
    columns = {"y": (rng.random(300) < score).astype(int)} | dict.fromkeys(HOSTILE, score)
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def run(*words: object) -> str:
    given = CliRunner().invoke(cli, [str(word) for word in words], catch_exceptions=False)
    assert given.exit_code == 0, given.output
    return given.output


@pytest.mark.parametrize("how", [("--quick", "--prior", "flat"), ("--estimate-only",)])
def test_names_that_are_formulas_are_quoted_in_csv(table: Path, tmp_path: Path, how) -> None:
    out = tmp_path / "out.csv"
    run("ece", table, "--label", "y", *(f"--score={name}" for name in HOSTILE), *how, "-o", out)
    with out.open(newline="") as file:
        found = list(csv.DictReader(file))
    names = [row["classifier"] for row in found]
    # "+1" is a number, which stays one.
    assert names == ["'=cmd|x", "+1", "'-p", "'@SUM(A1)", "plain"]
    assert [re.sub(r"^'(?='*[=+\-@\t\r\n])", "", name) for name in names] == list(HOSTILE)
    for row in found:
        assert not any(re.match(r"[=@\t\r]|[+-](?![\d.])", cell) for cell in row.values())
        assert not any(re.match(r"'[+-]?[\d.]", cell) for cell in row.values())


def test_rows_of_credal_are_quoted_too(table: Path, tmp_path: Path) -> None:
    words = ["credal", table, table, "--label", "y", "--score", "=cmd|x", "--score=-p"]
    out = [word for name in ("rows.csv", "rows.parquet") for word in ("-o", tmp_path / name)]
    run(*words, "--prior", "bins", "--quick", *out)
    assert set(pd.read_csv(tmp_path / "rows.csv")["classifier"]) == {"'=cmd|x", "'-p"}
    assert set(pd.read_parquet(tmp_path / "rows.parquet")["classifier"]) == {"=cmd|x", "-p"}


@pytest.mark.parametrize("words", [["--score=-p"], ["--score", "-p"]])
def test_a_value_may_begin_with_a_dash(table: Path, words: list[str]) -> None:
    assert "-p" in run("ece", table, "--label", "y", *words, "--estimate-only")


def test_a_path_cannot_act_on_the_terminal(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "a\x1b[31m\u202e.csv"
    said = run("ece", table, "--label", "y", "--score", "plain", "--estimate-only", "-o", out)
    assert r"a\x1b[31m\u202e.csv" in said
    assert out.is_file()


class Result:
    """What of a result the exit code is made from."""

    def __init__(self, status: str, converged: str) -> None:
        self.attrs = {"status": status, "converged": converged}


def test_the_json_has_null_where_there_is_no_number(capsys) -> None:
    print_json({"n": 3}, [{"case": "a", "rhat_max": float("nan")}])
    found = json.loads(capsys.readouterr().out)
    results = [{"case": "a", "rhat_max": None}]
    assert found == {"schema_version": 1, "n": 3, "results": results}


def test_estimates_say_how_many_rows_they_leave_out(capsys) -> None:
    rows = [{"case": f"c{k}", "n": 1000 + k, "ece": k / 10, "odd": k == 1} for k in range(5)]
    columns = {"case": "", "n": "rows", "ece": "ECE", "odd": "odd"}
    print_estimates(Estimates(rows, columns, printed=2))
    out = capsys.readouterr().out
    assert "1,001" in out
    assert "0.1000" in out
    assert "yes" in out
    assert "c2" not in out
    assert "and 3 more rows" in out


def test_large_numbers_of_a_table_have_no_needless_decimals(capsys) -> None:
    print_estimates(Estimates([{"case": "c", "rows": 74778.21}], {"case": "", "rows": "effective"}))
    assert "74,778.2\n" in capsys.readouterr().out


def test_a_good_result_ends_with_0(capsys) -> None:
    assert status_code(Result("ok", "true"), []) == 0
    assert capsys.readouterr().err == ""


def test_a_result_that_did_not_converge_ends_with_3_and_says_so(capsys) -> None:
    assert status_code(Result("R-hat is 1.3.", "false"), [], "a.nc: ") == 3
    assert capsys.readouterr().err == (
        "bayescal: warning: a.nc: NOT CONVERGED, do not use these numbers: R-hat is 1.3.\n"
    )


def test_a_warning_in_the_status_is_said_and_ends_with_0(capsys) -> None:
    (sentence,) = contradiction(0.5, np.linspace(0.01, 0.02, 5000))
    assert status_code(Result(f"a: {sentence}", "true"), []) == 0
    assert capsys.readouterr().err == f"bayescal: warning: a: {sentence}\n"


@pytest.mark.parametrize("words", [("ece",), ("credal", "{other}"), ("plan",)])
def test_a_table_that_is_read_is_not_replaced(table: Path, tmp_path: Path, words) -> None:
    path, other, link = tmp_path / "rows.csv", tmp_path / "other.csv", tmp_path / "link.csv"
    for copy in (path, other):
        copy.write_bytes(table.read_bytes())
    link.symlink_to(path)
    files = [path, *(word.format(other=other) for word in words[1:])]
    for target in (path, link, *files[1:]):
        given = [words[0], *files, "--label", "y", "--score", "plain", "-o", target]
        found = CliRunner().invoke(cli, [str(word) for word in given])
        assert (found.exit_code, "choose another name" in found.output) == (2, True), found.output
    assert path.read_bytes() == other.read_bytes() == table.read_bytes()


@pytest.mark.parametrize("option", ["--measure=auc", "--checkpoint=kept", "--draws=0"])
def test_estimates_refuse_what_needs_a_posterior(table: Path, option: str) -> None:
    given = ["ece", str(table), "--label", "y", "--score", "plain", "--estimate-only", option]
    found = CliRunner().invoke(cli, given)
    assert found.exit_code == 2
    assert f"{option.partition('=')[0]} needs one. Leave one out." in found.output


@pytest.mark.parametrize("charset", ["cp1252", "latin-1"])
def test_pipes_of_other_encodings_get_ascii_lines(tmp_path: Path, charset: str) -> None:
    (tmp_path / "a.csv").write_text("y,p\n1,0.7\n0,0.2\n")
    given = ["ece", str(tmp_path / "a.csv"), "--label", "y", "--score", "p", "--estimate-only"]
    shown = CliRunner().invoke(cli, given).stdout
    found = CliRunner(charset=charset).invoke(cli, given)
    assert found.exit_code == 0
    assert "─" in shown
    assert found.stdout == shown.replace("─", "-")
    error = UnicodeEncodeError(charset, "−0.02 to п", 0, 10, "no such character")
    assert codecs.lookup_error("bayescal")(error) == ("-0.02 to \\u043f", 10)
