"""``bayescal pu-ece``: the same numbers as in Python, and refusals in one line."""

import json
from functools import partial
from pathlib import Path

import pytest

import bayescal as bc
from bayescal.quantities.pu_ece.command import _class_prior
from bayescal.quantities.pu_ece.simulator import truth
from tests.cli import commands

DATA = truth("over").scores((100, 800), seed=1)


run = partial(commands.run, "pu-ece")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pu") / "pu.csv"
    positive, unlabeled = (values[0].tolist() for values in (DATA.positive, DATA.unlabeled))
    lines = [f"1,{score!r}" for score in positive] + [f"0,{score!r}" for score in unlabeled]
    path.write_text("\n".join(["s,over", *lines]) + "\n")
    return path


@pytest.mark.mcmc
def test_it_prints_and_keeps_what_python_computes(file: Path, tmp_path: Path) -> None:
    output = tmp_path / "pu.nc"
    given = ["--positive-column", "s", "--class-prior", "beta:20,20", "--quick", "--seed", 3, "-v"]
    result = run(file, *given, "--draws", 250, "-o", output)
    assert result.exit_code == 0, result.output
    priors = bc.pu_ece.Priors(bc.Beta(20, 20))
    expected = bc.fit(bc.pu_ece, DATA, priors=priors, seed=3, method="direct", draws=250)
    kept = bc.load(output)
    assert kept["posterior"]["tce"].equals(expected["posterior"]["tce"])
    assert "Beta(20, 20)" in result.stdout
    assert "depend on the class prior" in result.stdout


def test_a_missing_value_is_that_of_an_unlabelled_row_and_help_says_so(
    file: Path, tmp_path: Path
) -> None:
    (tmp_path / "pu.csv").write_text(file.read_text().replace("\n0,", "\n,"))
    given = ["--positive-column", "s", "--class-prior", ".4", "--estimate-only", "--json"]
    found, known = (json.loads(run(one, *given).stdout) for one in (tmp_path / "pu.csv", file))
    assert found["results"] == known["results"]
    assert "0 or missing for an unlabelled one" in " ".join(run("--help").stdout.split())


def test_other_class_priors_are_not_advised_beside_them(file: Path) -> None:
    given = ["--positive-column", "s", "--score", "over", "--quick", "--draws", "250"]
    priors = ["--class-prior", ".4", "--class-prior", ".5"]
    found = commands.run("sensitivity", "pu-ece", file, *given, *priors)
    assert "The conclusion on" in found.stdout
    assert "compare others" not in found.stdout


@pytest.mark.parametrize("text", ["0.3..0.45", ".3...45", ".3..45", " .3 .. .45 "])
def test_a_class_prior_may_be_its_interval(text: str) -> None:
    assert _class_prior(text) == bc.Beta.from_interval(0.3, 0.45)


@pytest.mark.mcmc
def test_json_and_a_report(file: Path, tmp_path: Path) -> None:
    page, kept = tmp_path / "pu.html", tmp_path / "pu.nc"
    given = ["--class-prior", "0.5", "--quick", "--draws", 250]
    result = run(file, "--positive-column", "s", *given, "--json", "-o", page, "-o", kept)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["n_positive"], found["n_unlabeled"]) == (100, 800)
    mean = bc.load(kept)["posterior"]["tce"].mean().item()
    assert found["results"][0]["tce_mean"] == pytest.approx(mean)
    assert "100 positives, 800 unlabelled rows" in page.read_text(encoding="utf-8")


def test_estimates_without_a_posterior(file: Path) -> None:
    given = ["--positive-column", "s", "--score", "over", "--class-prior", 0.4]
    result = run(file, *given, "--estimate-only", "--n-bins", 8, "--json")
    assert result.exit_code == 0, result.output
    expected = bc.pu_ece.estimate(DATA, class_prior=0.4, n_bins=8).ece
    assert json.loads(result.stdout)["results"][0]["ece_point"] == pytest.approx(float(expected))
    plain = run(file, *given, "--estimate-only", "--n-bins", 8)
    assert f"{float(expected):.4f}" in plain.stdout


def test_shares_of_positives_above_one_are_said(file: Path) -> None:
    given = ["--positive-column", "s", "--score", "over", "--estimate-only"]
    rate = bc.pu_ece.estimate(DATA, class_prior=0.9).label_rate
    assert f"in {(rate > 1).sum()} of 15 bins" in run(file, *given, "--class-prior", 0.9).stdout
    assert "of 15 bins" not in run(file, *given, "--class-prior", 0.05).stdout


def test_the_optimal_number_of_bins(file: Path) -> None:
    given = ["--positive-column", "s", "--class-prior", "0.5", "--strategy", "uniform"]
    result = run(file, *given, "--bins", "optimal", "--estimate-only", "--json")
    # (.25 / 100 + 1 / 800)^(-1/3) = 6.44
    expected = bc.pu_ece.estimate(DATA, class_prior=0.5, n_bins=7, strategy="uniform").ece
    assert json.loads(result.stdout)["results"][0]["ece_point"] == pytest.approx(float(expected))


def test_the_class_prior_may_be_estimated(file: Path) -> None:
    result = run(file, "--positive-column", "s", "--class-prior", "estimate", "--estimate-only")
    found = bc.pu_ece.estimate_class_prior(DATA).prior.mean
    assert f"{found:.4f}" in result.stdout


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--class-prior", "1.5"], "--class-prior must be beta:A,B with both above 0, LOW..HIGH"),
        (["--class-prior", "beta:0,1"], "both above 0, LOW..HIGH, a number in (0, 1) or estimate"),
        (["--class-prior", "much"], "--class-prior must be beta:A,B"),
        *[
            (["--class-prior", text], f"0 < LOW < HIGH < 1; got '{text}'. Write 0.3..0.45")
            for text in (
                "0.5..0.3",
                "0.3..0.3",
                "0..0.3",
                "0.3..1",
                "30..45",
                "..",
                "a..b",
                ".5..3",
            )
        ],
        (["--class-prior", "0.4999999..0.5"], "no Beta distribution was found with mass 0.9"),
        (["--class-prior", "normal:0,1"], "--class-prior must be beta:A,B"),
        (["--class-prior", "0.5", "--label-rate", "mixture", "--quick"], "without NUTS"),
    ],
)
def test_bad_options_are_refused_in_one_line(file: Path, given: list[str], words: str) -> None:
    result = run(file, "--positive-column", "s", *given)
    assert result.exit_code == 2
    assert words in result.stderr
    assert "Traceback" not in result.output


def test_an_impure_best_bin_is_said_in_terms_of_the_command(tmp_path: Path) -> None:
    # As in test_class_prior: a pure bin from .6 on contradicts that from .95 on.
    n = 18_444
    parts = {(1, 0.6): 0.9, (1, 0.95): 0.1, (0, 0.1): 0.7, (0, 0.6): 0.286, (0, 0.95): 0.014}
    lines = [f"{s},{p}\n" * round(share * n) for (s, p), share in parts.items()]
    (path := tmp_path / "pu.csv").write_text("".join(["s,p\n", *lines]))
    given = ["--positive-column", "s", "--class-prior", "estimate", "--estimate-only"]
    said = run(path, *given).stderr
    assert "must be of positives only; they" in said
    assert said.endswith("Give one that is known otherwise.\n")


def test_swapped_columns_are_recognised(file: Path) -> None:
    result = run(file, "--positive-column", "over", "--score", "s", "--class-prior", 0.5)
    assert result.exit_code == 2
    assert "Swap the two" in result.stderr


@pytest.mark.filterwarnings("always::bayescal.DataWarning")
def test_counts_of_groups_are_added_up_and_said(tmp_path: Path) -> None:
    score = [0.125, 0.25, 0.5, 0.625, 0.75, 0.875]
    parts = {
        name: bc.Counts.from_arrays([1, 1, *[None] * 4], [shift * one for one in score])
        for name, shift in (("north", 1), ("south", 0.5))
    }
    bc.CountTable({"p": parts}).save(tmp_path / "by.counts")
    bc.CountTable({"p": parts["north"] + parts["south"]}).save(tmp_path / "all.counts")
    given = ["--class-prior", "0.5", "--estimate-only", "--json"]
    found, alone = (run(tmp_path / f"{name}.counts", *given) for name in ("by", "all"))
    assert json.loads(found.stdout)["results"] == json.loads(alone.stdout)["results"]
    assert "the counts of 'north', 'south' are added up" in found.stderr
    assert not alone.stderr
