"""Files of counts: made by ``count``, summed up by other commands; the query of ``count-sql``."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import bayescal as bc
from tests.cli.commands import run
from tests.report.pages import Page, words

COLUMNS = ("--label", "y", "--score", "honest", "--score", "bold")
# Conjugate: a tenth of the time of a curve.
FLAT = ("--quick", "--prior", "flat")


def results(*words):
    done = run(*words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)["results"]


@pytest.fixture(scope="module")
def parts(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table in two files, and the counts of each, apart and by group."""
    folder = tmp_path_factory.mktemp("parts")
    for name, rows in (("one", table.slice(0, 200)), ("two", table.slice(200))):
        parquet.write_table(rows, path := folder / f"{name}.parquet")
        for stem, given in ((name, ()), (f"{name}_by_region", ("--group", "region"))):
            done = run("count", path, *COLUMNS, *given, "-o", folder / f"{stem}.counts")
            assert done.exit_code == 0, done.output
    return folder


@pytest.mark.parametrize(
    ("counted", "given"), [("[ot]*[eo].counts", ()), ("*_by_region.counts", ("--group", "region"))]
)
def test_counts_give_the_numbers_of_the_table(parts, files, counted, given):
    found = sorted(parts.glob(counted))
    assert len(found) == 2
    for how in (FLAT, ("--estimate-only",)):
        ours = results("ece", *found, *how)
        theirs = results("ece", files / "scores.parquet", *COLUMNS, *given, *how)
        assert [one["case"] for one in ours] == [one["case"] for one in theirs]
        for one, other in zip(ours, theirs, strict=True):
            # Scores count as tied by cells; each has its own here but for a few.
            assert one["ece_point"] == pytest.approx(other["ece_point"], abs=1e-5)
            for key in {"ece", "tce", "lower", "upper"} & set(other):
                assert one[key] == pytest.approx(other[key], abs=1e-3)


@pytest.mark.filterwarnings("ignore::bayescal.DataWarning")  # groups are added up
def test_the_interval_measure_of_counts(parts, files):
    ours = results("agnostic", parts / "one.counts", parts / "two.counts", "--estimate-only")
    theirs = results("agnostic", files / "scores.parquet", *COLUMNS, "--estimate-only")
    assert [one["c"] for one in ours] == pytest.approx([one["c"] for one in theirs], abs=1e-4)
    grouped = results("agnostic", *sorted(parts.glob("*_by_region.counts")), "--estimate-only")
    assert [one["c"] for one in grouped] == pytest.approx([one["c"] for one in ours], abs=1e-12)


@pytest.mark.filterwarnings("ignore::bayescal.DataWarning")  # groups are added up
def test_classifiers_counted_together_are_compared_as_rows_are(files, tmp_path):
    """Their AUCs correlate; that of counts apart is said to be of independent classifiers."""
    rows = (files / "scores.parquet", *COLUMNS)
    for groups in ((), ("--group", "region")):
        pairs = tmp_path / "pairs.counts"
        assert run("count", *rows, "--pairs", *groups, "-o", pairs).exit_code == 0
        results("agnostic", pairs, "--quick", "-o", tmp_path / "ours.nc")
        results("agnostic", *rows, "--quick", "-o", tmp_path / "theirs.nc")
        ours, theirs = (
            bc.difference(bc.load(tmp_path / f"{name}.nc"), "honest", "bold", "auc")
            for name in ("ours", "theirs")
        )
        assert ours.correlation == pytest.approx(theirs.correlation, abs=0.02)
        assert ours.upper - ours.lower == pytest.approx(theirs.upper - theirs.lower, rel=0.1)
    said = "By AUC (as if each had rows of its own), "
    assert run("count", *rows, "-o", tmp_path / "apart.counts").exit_code == 0
    for file, apart in ((pairs, False), (tmp_path / "apart.counts", True)):
        out = " ".join(run("agnostic", file, "--quick").stdout.split())
        assert (said in out) == apart


def test_positive_and_unlabelled_rows(tmp_path):
    data = bc.datasets.pu_ece.truth("over").scores((60, 300), seed=1)
    score = np.round([*data.positive[0], *data.unlabeled[0]], 3)
    columns = {"s": [1] * 60 + [0] * 300, "y": [1] * 60 + [None] * 300, "p": score}
    parquet.write_table(pa.table(columns), tmp_path / "pu.parquet")
    given = ("--label", "y", "--score", "p", "-o", tmp_path / "pu.counts")
    assert run("count", tmp_path / "pu.parquet", *given).exit_code == 0
    words = ("--class-prior", "0.5", "--bins", 7, "--estimate-only")
    given = ("--positive-column", "s", "--score", "p")
    (ours,) = results("pu-ece", tmp_path / "pu.counts", *words)
    (theirs,) = results("pu-ece", tmp_path / "pu.parquet", *given, *words)
    assert ours == {
        **theirs,
        "ece_point": pytest.approx(theirs["ece_point"], rel=1e-9),
        "mce_point": pytest.approx(theirs["mce_point"], rel=1e-9),
    }
    for wrong, said in (
        (("--positive-column", "s", *words), "--positive-column is about columns"),
        ((), "Missing option '--class-prior'"),
        (("--class-prior", "0.5", "--bins", "optimal"), "--bins must be a number with counts"),
    ):
        done = run("pu-ece", tmp_path / "pu.counts", *wrong)
        assert done.exit_code == 2
        assert said in done.stderr


def test_files_are_summed_up_as_they_are_counted(parts, tmp_path):
    done = run(
        "count", parts / "one.parquet", parts / "two.counts", *COLUMNS, "-o", tmp_path / "a.counts"
    )
    assert done.exit_code == 0, done.output
    assert "bold" in done.stdout
    assert run("count", *parts.glob("???.counts"), "-o", tmp_path / "b.counts").exit_code == 0
    one, two = (bc.Counts.load(tmp_path / f"{name}.counts") for name in "ab")
    for name in one:
        np.testing.assert_array_equal(one[name].sums, two[name].sums)


def test_weights_groups_and_pairs_are_kept(parts, tmp_path):
    rows = parquet.read_table(parts / "one.parquet")
    weighted = rows.append_column("w", pa.array(np.tile([0.5, 2.0], 100)))
    parquet.write_table(weighted, tmp_path / "w.parquet")
    for given in (("--weight", "w", "--group", "region"), ("--pairs",)):
        done = run("count", tmp_path / "w.parquet", *COLUMNS, *given, "-o", tmp_path / "w.counts")
        assert done.exit_code == 0, done.output
        found = bc.Counts.load(tmp_path / "w.counts")
        assert found["bold"].weighted == ("--weight" in given)
        assert (found.pairs is not None) == ("--pairs" in given)
        assert found.groups == (("north", "south") if "--group" in given else ())
        assert found["bold"].n_obs == 200


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ece one.counts --label y", "--label is about columns of a table"),
        ("ece one.counts --pos-label 2", "--pos-label is about columns"),
        ("ece one.counts --multiclass marginal", "--multiclass is about columns"),
        ("ece one.counts one.parquet", "files of counts go without others; got 'one.parquet'"),
        ("ece one.parquet two.parquet", "got 2 tables"),
        ("ece one.parquet", "Missing option '--label'"),
        ("ece none.counts", "none.counts"),
        ("ece renamed.counts", "it is none"),
        (
            "ece one.counts one_by_region.counts",
            "one_by_region.counts cannot be added to one.counts",
        ),
        ("count one.parquet -o a.counts", "Missing option '--label'"),
        ("count one.counts --label y -o a.counts", "--label is about columns"),
        ("count one.parquet --label y --score p -o a.csv", "--output must end in .counts"),
        ("count one.parquet --label y --score nothing -o a.counts", "no column 'nothing'"),
        ("count one.parquet --label region --score bold -o a.counts", "of one.parquet holds"),
        (
            "count-sql t --label y --score p --pos-label yes",
            "--neg-label must be given where --pos-label is a word",
        ),
        ("count-sql t --label y --score p_*", "must name one column, as TABLE is not read"),
    ],
)
def test_what_does_not_go_together(parts, monkeypatch, line, said):
    monkeypatch.chdir(parts)
    Path("renamed.counts").write_bytes(Path("one.parquet").read_bytes())
    done = run(*line.split())
    assert done.exit_code == 2, done.output
    assert said in done.stderr
    assert not Path("a.counts").exists()


def test_the_query():
    done = run("count-sql", "a b", "t", "--label", "y", "--score", "p", "--dialect", "spark")
    expected = bc.counts_sql(("a b", "t"), label="y", score="p", dialect="spark")
    assert done.stdout == expected
    given = ("--label", "y", "--score", "p", "--pos-label", "true")
    expected = bc.counts_sql("t", label="y", score="p", pos_label=True)
    assert run("count-sql", "t", *given).stdout == expected


@pytest.fixture(scope="module")
def months(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of two regions and three months, the last overconfident, and counts of each month."""
    folder, rng = tmp_path_factory.mktemp("months"), np.random.default_rng(1)
    names = np.repeat(["m1", "m2", "m3"], 1200)
    # Scores of two decimals, of which each has a cell of its own, so that nothing moves.
    score = np.round(rng.random(3600), 2)
    rows = pa.table(
        {
            "y": (rng.random(3600) < np.where(names == "m3", score**2.5, score)).astype(int),
            "p": score,
            "month": names,
            "region": np.tile(["north", "south"], 1800),
        }
    )
    parquet.write_table(rows, folder / "all.parquet")
    for name in ("m1", "m2", "m3"):
        parquet.write_table(rows.filter(pa.array(names == name)), folder / "part.parquet")
        given = ("--label", "y", "--score", "p", "--group", "region")
        done = run("count", folder / "part.parquet", *given, "-o", folder / f"{name}.counts")
        assert done.exit_code == 0, done.output
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("given", [(), ("--pool", "--baseline", "m2")])
def test_files_are_windows_of_the_report_of_their_rows(months, tmp_path, given):
    pages = []
    table = ("--label", "y", "--score", "p", "--group", "region", "--window", "month")
    counts = sorted(months.glob("m?.counts"))
    for files, how in (((months / "all.parquet",), table), (counts, ("--by-file",))):
        done = run("report", *files, *how, *given, *FLAT, "-o", tmp_path / "page.html")
        assert done.exit_code == 0, done.output
        pages.append(Page((tmp_path / "page.html").read_text()))
    ours, theirs = ([cell.text for cell in page.all("td")] for page in reversed(pages))
    assert ours == theirs
    assert len(ours) > 0
    assert words(pages[1].section("answer").text) == words(pages[0].section("answer").text)
    assert "m3" in words(pages[1].section("answer").text)
    assert "m1.counts to m3.counts" in words(pages[1].section("provenance").text)


@pytest.mark.slow
def test_a_window_adds_up_files(months, tmp_path):
    files = [months / f"m{number}.counts" for number in (1, 2, 3)]
    given = ("--by-file", "--span", 2, *FLAT, "-o", tmp_path / "page.html")
    assert run("report", *files, *given).exit_code == 0
    page = Page((tmp_path / "page.html").read_text())
    cells = [cell.text for cell in page.all("td")]
    assert cells.count("m1 to m2") == cells.count("m3") == 2
    assert cells.count("1,200") == cells.count("600") == 2
    given = (*FLAT, "-o", tmp_path / "one.html")
    assert run("report", *files, *given).exit_code == 0


def test_a_classifier_may_begin_or_end_within_the_windows(tmp_path):
    rng = np.random.default_rng(4)
    for name, classifiers in {"w1": "a", "w2": "ab", "w3": "b", "w4": "b"}.items():
        label = rng.integers(0, 2, 60)
        counts = {one: bc.Counts.from_arrays(label, rng.random(60)) for one in classifiers}
        bc.CountTable(counts).save(tmp_path / f"{name}.counts")
    files, page = sorted(tmp_path.glob("*.counts")), tmp_path / "page.html"
    done = run("report", *files, "--by-file", "--measure", "brier", *FLAT, "-o", page)
    assert done.exit_code == 0, done.output
    shown = Page(page.read_text())
    cells = [cell.text for cell in shown.elements if cell.tag in ("th", "td")]
    series = dict(zip("ab", ("w1 w2", "w2 w3 w4"), strict=True))
    for name, windows in series.items():
        rows = [cells[k + 1] for k, cell in enumerate(cells) if cell == name]
        # A table of errors and one of the measure.
        assert rows == 2 * windows.split()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("all.parquet --by-file", "--by-file needs files of counts"),
        ("m1.counts --span 7", "--span needs --by-file"),
        ("m1.counts --by-file --processes 0", "--processes must be a whole number >= 1; got 0"),
        ("m1.counts --by-file --span 0", "--span must be a whole number >= 1"),
        ("m1.counts --window month", "--window names a column of a table"),
        ("M1.COUNTS --window month", "--window names a column of a table; of counts add"),
        ("m1.counts --by-file --window month", "--window names a column"),
        ("m1.counts m1.counts --by-file", "each file must be given once; got m1.counts twice"),
        ("m1.counts ./m1.counts", "each file must be given once; got m1.counts twice"),
        ("m1.counts m2.counts --by-file --baseline m3", "no window 'm3'"),
        ("m1.counts --pool", "--pool needs --window"),
    ],
)
def test_what_windows_of_counts_do_not_go_with(months, monkeypatch, line, said):
    monkeypatch.chdir(months)
    Path("M1.COUNTS").touch()
    done = run("report", *line.split(), "-o", "never.html")
    assert done.exit_code == 2, done.output
    assert said in done.stderr
    assert not Path("never.html").exists()
