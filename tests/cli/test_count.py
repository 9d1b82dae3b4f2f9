"""Files of counts: made by ``count``, summed up by other commands; the query of ``count-sql``."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet

import bayescal as bc
from bayescal.cli.main import cli

COLUMNS = ("--label", "y", "--score", "honest", "--score", "bold")


def run(*words):
    return CliRunner().invoke(cli, [*map(str, words)])


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
    for how in ("--quick", "--estimate-only"):
        ours = results("ece", *found, how)
        theirs = results("ece", files / "scores.parquet", *COLUMNS, *given, how)
        assert [one["case"] for one in ours] == [one["case"] for one in theirs]
        for one, other in zip(ours, theirs, strict=True):
            # Scores count as tied by cells; each has its own here but for a few.
            assert one["ece_point"] == pytest.approx(other["ece_point"], abs=1e-5)
            for key in {"ece", "tce", "lower", "upper"} & set(other):
                assert one[key] == pytest.approx(other[key], abs=1e-3)


def test_the_interval_measure_of_counts(parts, files):
    ours = results("agnostic", parts / "one.counts", parts / "two.counts", "--estimate-only")
    theirs = results("agnostic", files / "scores.parquet", *COLUMNS, "--estimate-only")
    assert [one["c"] for one in ours] == pytest.approx([one["c"] for one in theirs], abs=1e-4)
    grouped = results("agnostic", *sorted(parts.glob("*_by_region.counts")), "--estimate-only")
    assert [one["c"] for one in grouped] == pytest.approx([one["c"] for one in ours], abs=1e-12)


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
    ("words", "said"),
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
        ("count one.parquet --label region --score bold -o a.counts", "one.parquet: "),
        ("count-sql t --label y --score p --pos-label yes", "--neg-label must be given"),
    ],
)
def test_what_does_not_go_together(parts, monkeypatch, words, said):
    monkeypatch.chdir(parts)
    Path("renamed.counts").write_bytes(Path("one.parquet").read_bytes())
    done = run(*words.split())
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
