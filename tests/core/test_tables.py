"""Tables are read whole or in batches, and files that change, lack rows or are damaged refused."""

import gzip
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bayescal as bc
from bayescal.core import tables
from bayescal.core.errors import InputError
from bayescal.core.tables import (
    CsvTable,
    ParquetTable,
    check_file,
    first_bytes,
    open_table,
    read_scores,
    reading,
)

CSV = "label,score,site\n1,0.75,a\n,0.5,b\n0,0.25,a\n"


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(CSV)
    return path


@pytest.fixture
def parquet(tmp_path):
    path = tmp_path / "scores.parquet"
    columns = {
        "label": pa.array([1, None, 0]),
        "score": pa.array([0.75, 0.5, 0.25], pa.float32()),
        "site": ["a", "b", "a"],
    }
    pq.write_table(pa.table(columns), path)
    return path


@pytest.fixture(params=["csv", "parquet"])
def path(request):
    return request.getfixturevalue(request.param)


def test_columns_and_rows_are_known_on_opening(csv, parquet):
    assert open_table(csv).columns == open_table(parquet).columns == ("label", "score", "site")
    assert open_table(csv).n_rows is None
    assert open_table(parquet).n_rows == 3
    assert isinstance(open_table(csv), CsvTable)
    assert isinstance(open_table(str(parquet)), ParquetTable)


def test_reading_gives_columns_in_the_order_asked(path):
    columns = open_table(path).read(["score", "label", "site"])
    assert list(columns) == ["score", "label", "site"]
    np.testing.assert_array_equal(columns["score"], [0.75, 0.5, 0.25])
    np.testing.assert_array_equal(columns["label"], [1, np.nan, 0])
    assert columns["site"].tolist() == ["a", "b", "a"]


def test_parquet_keeps_single_precision(parquet):
    assert open_table(parquet).read(["score"])["score"].dtype == np.float32


def whole(table, names):
    return [table.read(names)]


def batches_of(table, names, batch_rows=1 << 20):
    return [batch.columns for part in table.parts(names, batch_rows) for batch in part]


READINGS = (whole, batches_of)


@pytest.mark.parametrize("batch_rows", [1, 2, 100])
def test_batches_are_the_whole_in_pieces(path, batch_rows):
    table = open_table(path)
    expected = table.read(["label", "score", "site"])
    for _ in range(2):
        batches = batches_of(table, ["label", "score", "site"], batch_rows)
        assert all(len(batch["score"]) <= batch_rows for batch in batches)
        for name, values in expected.items():
            joined = np.concatenate([batch[name] for batch in batches])
            np.testing.assert_array_equal(joined, values)


@pytest.mark.parametrize("part_rows", [1, 4, 8, 23, 1000])
def test_parts_of_a_data_set_are_its_row_groups_in_order(tmp_path, monkeypatch, part_rows):
    monkeypatch.setattr(tables, "_PART_ROWS", part_rows)
    score = np.arange(23.0)
    for name, rows in (("a", score[:9]), ("b", score[:0]), ("c", score[9:])):
        pq.write_table(pa.table({"score": rows}), tmp_path / f"{name}.parquet", row_group_size=4)
    parts = [list(part) for part in open_table(tmp_path).parts(["score"], 3)]
    assert len(parts) == {1: 4, 4: 4, 8: 3, 23: 1, 1000: 1}[part_rows]
    batches = [batch for part in parts for batch in part]
    # Rows are counted within their files.
    before = {" of a.parquet": 0, " of c.parquet": 9}
    first = [before[batch.of] + batch.first for batch in batches]
    assert [len(batch.columns["score"]) for batch in batches] == np.diff([*first, 23]).tolist()
    assert max(len(batch.columns["score"]) for batch in batches) <= 3
    np.testing.assert_array_equal(
        np.concatenate([batch.columns["score"] for batch in batches]), score
    )


def test_a_stream_of_text_takes_fractions_after_whole_numbers(tmp_path):
    path = tmp_path / "late.csv"
    padding = "0" * 4000
    rows = 3000
    lines = [f"1,1,,{padding}"] * rows + [f"0,0.5,b,{padding}"]
    path.write_text("label,score,site,padding\n" + "\n".join(lines) + "\n")
    batches = batches_of(open_table(path), ["label", "score", "site"])
    assert len(batches) > 1, "the fraction has to come in a later block"
    score = np.concatenate([batch["score"] for batch in batches])
    np.testing.assert_array_equal(score, [1.0] * rows + [0.5])
    assert batches[-1]["site"][-1] == "b"


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_lines_behind_quotes_that_are_never_closed_are_not_lost(tmp_path, ending):
    lines = ["y,p,note", '1,0.5,"a"', '0,0.25,"b', "1,0.75,c", "0,0.1,d", ""]
    path = tmp_path / "open.csv"
    path.write_text(ending.join(lines), newline="")
    with pytest.raises(pd.errors.ParserError, match="EOF inside string"):
        pd.read_csv(path)
    said = "open.csv must not end within quotes; those of column 'note' in row 1 are never closed"
    for read in (read_scores, bc.count_rows):
        with pytest.raises(InputError, match=said):
            read(path, label="y", score="p")


@pytest.mark.parametrize("value", ['5" pipe', '"a\nb"', 'c" and\n0,0.25,"a\nb"', "d"])
def test_a_quote_within_a_value_and_lines_within_quotes_are_read(tmp_path, value):
    path = tmp_path / "quotes.csv"
    path.write_text(f"y,p,note\n0,0.25,a\n1,0.5,{value}\n")
    expected = pd.read_csv(path)["p"].to_numpy()
    np.testing.assert_array_equal(read_scores(path, label="y", score="p").y_prob[0], expected)
    assert bc.count_rows(path, label="y", score="p").n_obs == len(expected)


@pytest.mark.parametrize("labels", [("1", "0"), ("1.0", "0.0"), ("true", "false"), ("on", "off")])
def test_labels_behind_rows_without_are_what_they_are_in_the_whole(tmp_path, labels):
    path = tmp_path / "late.csv"
    padding = "0" * 4000
    lines = [f",0.5,{padding}"] * 3000 + [f"{label},0.5,{padding}" for label in labels]
    path.write_text("y,p,padding\n" + "\n".join(lines) + "\n")
    batches = batches_of(open_table(path), ["y"])
    assert len(batches) > 1, "the labels have to come in a later block"
    whole = open_table(path).read(["y"])["y"].tolist()
    assert batches[-1]["y"][-2:].tolist() == whole[-2:]
    counts = bc.count_rows(path, label="y", score="p", pos_label=whole[-2])
    assert counts["p"].classes == (whole[-1], whole[-2])


def test_a_stream_that_turns_from_numbers_to_words_says_so(tmp_path):
    path = tmp_path / "late.csv"
    padding = "0" * 4000
    lines = [f"1,{padding}"] * 3000 + [f"spam,{padding}"]
    path.write_text("label,padding\n" + "\n".join(lines) + "\n")
    with pytest.raises(InputError, match=r"late\.csv cannot be read as CSV: .*spam"):
        batches_of(open_table(path), ["label"])


@pytest.mark.skipif(sys.platform != "linux", reason="other systems hold no such names")
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_name_that_is_no_utf8_is_refused(tmp_path, ending):
    frame = pd.DataFrame({"y": [0, 1], "p": [0.2, 0.7]})
    written = tmp_path / f"rows.{ending}"
    frame.to_csv(written, index=False) if ending == "csv" else frame.to_parquet(written)
    path = written.rename(tmp_path / os.fsdecode(b"\xe4." + ending.encode()))
    said = rf"a path in UTF-8; got '.*\\udce4.{ending}'. Rename it"
    for source in (path, tmp_path) if ending == "parquet" else (path,):
        with pytest.raises(InputError, match=said):
            bc.count_rows(source, label="y", score="p")


@pytest.mark.parametrize("empty", ["", "NA", "NaN", "nan", "null", "None", "<NA>"])
def test_words_for_nothing_are_missing(tmp_path, empty):
    path = tmp_path / "scores.csv"
    path.write_text(f"number,word\n{empty},{empty}\n1,yes\n")
    columns = open_table(path).read(["number", "word"])
    np.testing.assert_array_equal(columns["number"], [np.nan, 1])
    assert columns["word"].tolist() == [None, "yes"]


def test_a_column_without_a_name_may_hold_the_labels(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(",p\n0,0.1\n1,0.4\n")
    assert read_scores(path, label="", score="p").y_true.tolist() == [0, 1]


def test_a_separator_within_a_quoted_name_is_none(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text('y;"P(a, b, c)"\n1;0.75\n0;0.5\n')
    assert read_scores(path, label="y", score="P(a, b, c)").y_prob.tolist() == [[0.75, 0.5]]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_separators(tmp_path, delimiter):
    path = tmp_path / "scores.txt"
    path.write_text(CSV.replace(",", delimiter))
    np.testing.assert_array_equal(open_table(path).read(["score"])["score"], [0.75, 0.5, 0.25])


def test_variants_of_text(tmp_path):
    compressed = tmp_path / "scores.csv.gz"
    compressed.write_bytes(gzip.compress(CSV.encode()))
    windows = tmp_path / "windows.csv"
    windows.write_bytes(b"\xef\xbb\xbf" + CSV.replace("\n", "\r\n").encode())
    for path in (compressed, windows):
        np.testing.assert_array_equal(open_table(path).read(["label"])["label"], [1, np.nan, 0])


def test_parquet_is_known_by_its_content(parquet, tmp_path):
    other = tmp_path / "scores.dat"
    other.write_bytes(parquet.read_bytes())
    assert open_table(other).n_rows == 3


@pytest.mark.parametrize("read", READINGS)
def test_unknown_column_suggests_the_nearest(path, read):
    with pytest.raises(InputError, match=r"has no column 'scores'; did you mean 'score'\?"):
        read(open_table(path), ["label", "scores"])


@pytest.mark.parametrize("read", READINGS)
def test_a_column_asked_for_twice_is_read_once(tmp_path, read):
    pq.write_table(pa.table({"y": [0, 1]}), tmp_path / "y.parquet")
    (tmp_path / "y.csv").write_text("y\n0\n1\n")
    for name in ("y.parquet", "y.csv"):
        (part,) = read(open_table(tmp_path / name), ["y", "y"])
        assert {key: values.tolist() for key, values in part.items()} == {"y": [0, 1]}


def test_a_column_named_twice(tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("y,p,p\n1,0.5,0.5\n")
    table = open_table(path)
    assert table.read(["y"])["y"].tolist() == [1]
    with pytest.raises(InputError, match=r"twice\.csv has several columns 'p'\. Rename"):
        table.read(["y", "p"])


BROKEN = {
    "empty.csv": (b"", r"empty\.csv must have a header and rows; it is empty"),
    "empty.parquet": (b"", r"empty\.parquet must have a header and rows; it is empty"),
    "broken.parquet": (b"PAR1 is how it begins", r"broken\.parquet cannot be read as Parquet"),
    "text.parquet": (b"y,p\n1,0.5\n", r"text\.parquet cannot be read as Parquet"),
    "rows.jsonl": (
        b'{"y": 1, "p": 0.5}\n',
        "it is JSON, a line a row. Convert it: pandas.read_json",
    ),
    "rows.json": (
        b'[{"y": 1, "p": 0.5}]',
        r"it is JSON. Convert it: pandas.read_json\(...\).to_parq",
    ),
    "rows.feather": (b"ARROW1\0\0", r"it is Arrow \(Feather\). Convert it: pandas.read_feather"),
    "rows.arrows": (
        b"\xff\xff\xff\xff\0",
        "it is an Arrow stream. Convert it: pyarrow.ipc.open_stream",
    ),
    "rows.xlsx": (b"PK\3\4\0", "it is Excel or another archive. Convert it: pandas.read_excel"),
    "array.npz": (b"PK\x03\x04\x00\x00", r"array\.npz must be a CSV file in UTF-8 or a Parquet"),
    "wide.csv": ("y,p\n1,0.5\n".encode("utf-16"), r"wide\.csv must be a CSV file in UTF-8"),
    "latin.csv": (b"y,caf\xe9\n1,2\n", r"latin\.csv must be UTF-8 text; got the byte 0xe9 in line"),
    "old.csv": (b"\xca\x0d\x43\x63\x3c", r"old\.csv must be UTF-8 .* byte 0xca in line 1\. Save"),
    "short.csv": (
        b"y,p\n1,0.5\n0\n",
        r"short.csv cannot be .* row 1 must have 2 fields, as the header has; got 1: '0'\.",
    ),
    "line.csv": (b"y,p", r"line\.csv must have a header and rows, each on a line\."),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_named_in_one_line(tmp_path, name):
    content, message = BROKEN[name]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        open_table(path)
    assert "\n" not in str(caught.value)


def test_truncated_and_damaged_parquet(parquet, tmp_path):
    content = parquet.read_bytes()
    short = tmp_path / "short.parquet"
    short.write_bytes(content[:-20])
    with pytest.raises(InputError, match=r"short\.parquet cannot be read as Parquet"):
        open_table(short)
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(content[:4] + b"\xff" * 56 + content[60:])
    table = open_table(damaged)
    with pytest.raises(InputError, match=r"damaged\.parquet cannot be read as Parquet"):
        table.read(["label"])
    with pytest.raises(InputError, match=r"damaged\.parquet cannot be read as Parquet"):
        batches_of(table, ["label"])


def test_scores_of_a_file(path):
    scores = read_scores(path, label="label", score="score", group="site")
    assert scores.classifiers == ("score",)
    assert scores.y_true.tolist() == [1, -1, 0]
    assert scores.groups == ("a", "b")
    np.testing.assert_array_equal(scores.y_prob, [[0.75, 0.5, 0.25]])


@pytest.mark.parametrize("rows_before", [0, 400_000])  # of these the first block is full
def test_groups_of_a_csv_file_are_named_as_they_are_written(tmp_path, rows_before):
    path = tmp_path / "sites.csv"
    rows = ["1,0.75,10"] * rows_before + ["1,0.75,01", "0,0.25,1", "0,0.5,9", "1,0.5,10", "0,.1,x"]
    path.write_text("label,score,site\n" + "\n".join(rows))
    named = {"label": "label", "score": "score", "group": "site"}
    names = {"01": 1, "1": 1, "9": 1, "10": rows_before + 1, "x": 1}
    scores = read_scores(path, **named)
    assert dict(zip(scores.groups, np.bincount(scores.group), strict=True)) == names
    counted = bc.count_rows(path, **named)
    assert {group: own.n_obs for group, own in counted.groups_of("score").items()} == names
    # What is no name is refused as it is of a Parquet file, in whatever block it stands.
    for wrong in ("0.5", ".25", "1.5e-3", "2025-01-01 12:30:00"):
        path.write_text("label,score,site\n" + "\n".join([*rows, f"1,0.75,{wrong}"]))
        message = f"'site' of sites.csv must hold words, .*; got '{wrong}' at row {len(rows)}"
        for read in (read_scores, bc.count_rows):
            with pytest.raises(InputError, match=message):
                read(path, **named)
    # Numbers by size, then words.
    assert scores.groups == counted.groups == tuple(names)


@pytest.mark.parametrize(
    ("values", "written"),
    [([1.0, -2.0, 1.0], "1.0 -2.00 1."), ([True, False, True], "true False TRUE")],
)
def test_groups_of_one_column_have_one_name_in_both_formats(tmp_path, values, written):
    named = {"label": "y", "score": "p", "group": "g"}
    typed, text = tmp_path / "a.parquet", tmp_path / "a.csv"
    pq.write_table(pa.table({"y": [1, 0, 1], "p": [0.7, 0.2, 0.9], "g": values}), typed)
    rows = zip("101", (0.7, 0.2, 0.9), written.split(), strict=True)
    text.write_text("y,p,g\n" + "".join(f"{y},{p},{g}\n" for y, p, g in rows))
    assert read_scores(text, **named).groups == read_scores(typed, **named).groups
    both = bc.count_rows(text, **named) + bc.count_rows(typed, **named)
    assert {name: one.n_obs for name, one in both.groups_of("p").items()} == {
        str(values[0]).removesuffix(".0"): 4,
        str(values[1]).removesuffix(".0"): 2,
    }


def test_scores_of_several_columns_and_words(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("y,a,b\nspam,2,0\nham,-2,0\n")
    scores = read_scores(path, label="y", score=["a", "b"], pos_label="spam", from_logits=True)
    assert scores.classifiers == ("a", "b")
    assert scores.classes == ("ham", "spam")
    p = 1 / (1 + np.exp(-2))
    np.testing.assert_allclose(scores.y_prob, [[p, 1 - p], [0.5, 0.5]])


@pytest.mark.parametrize(
    ("content", "score", "message"),
    [
        (
            "y,p\n1,0.5\n0,1.03\n",
            "p",
            r"column 'p' of s\.csv must lie in \[0, 1\]; got 1\.03 at row 1",
        ),
        ("y,p\n1,0.5\n0,\n", "p", r"column 'p' of s\.csv must not be missing; got NaN at row 1"),
        ("y,p\n1,high\n0,0.5\n", "p", r"column 'p' of s\.csv must be numbers; got 'high' at row 0"),
        ("y,p\n1,0.25\n0,high\n", "p", r"column 'p' of s\.csv must be numbers.* 'high' at row 1"),
        ("y,p\n0,0.5\n1,0.5\n2,0.5\n", "p", r"column 'y' of s\.csv must hold two labels.*got 3"),
        ("y,p\n", "p", r"column 'p' of s\.csv must have at least one row"),
        ("y,p\n1,0.5\n", "q", r"s\.csv has no column 'q'"),
        ("y,p\n1,0.5\n", ["p", "p"], "score must name each column once; got 'p' twice"),
        ("y,p\n1,0.5\n", [], "score must be a word, or a list of words"),
    ],
)
def test_bad_columns_are_named_with_their_file(tmp_path, content, score, message):
    path = tmp_path / "s.csv"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        read_scores(path, label="y", score=score)


@pytest.mark.parametrize(
    "text",
    ["y,größe\n1,0.5\n", "y,p\nja,0.5\nnö,0.25\n", "y,p\n" + "ja,0.5\n" * 1300000 + "nö,.2\n"],
    ids=["header", "word", "word of a later block"],
)
@pytest.mark.parametrize("read", [read_scores, bc.count_rows])
def test_another_encoding_is_told_to_be_saved_as_utf8(tmp_path, text, read):
    path = tmp_path / "excel.csv"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(
        InputError, match=r"; got (the byte 0x|b'n).* (line|row) \d+\. Save .*UTF-8"
    ):
        read(path, label="y", score="p", pos_label="ja")


@pytest.mark.parametrize(
    ("first", "last", "said"),
    [
        ("1,.5", "no,.5", r"column 1 begins with numbers; got 'no' in row 2000000\."),
        ("true,.5", "7,.5", r"column 1 begins with true or false; got '7' in row 2000000\."),
        ("1,.5", "1", r"row 2000000 must have 2 fields, as the header has; got 1: '1'\."),
    ],
)
def test_what_does_not_fit_the_first_batch_is_named_with_its_row(tmp_path, first, last, said):
    path = tmp_path / "rows.csv"
    path.write_text(f"y,p\n\n{f'{first}\n' * 2_000_000}{last}\n")
    with pytest.raises(InputError, match=rf"^rows\.csv cannot be read as CSV: {said}"):
        bc.count_rows(path, label="y", score="p")


@pytest.mark.slow
def test_reading_loads_nothing_heavy(parquet):
    code = (
        "import sys\n"
        "from bayescal.core.tables import read_scores\n"
        f"read_scores({str(parquet)!r}, label='label', score='score').tasks()\n"
        "heavy = {'pandas', 'scipy', 'narwhals', 'pymc', 'arviz', 'matplotlib', 'xarray'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    root = Path(__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("packed", ["", "gz", "bz2", "zst", "lz4"])
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_lines_are_counted_whatever_ends_and_packs_them(tmp_path, ending, packed):
    path = tmp_path / f"rows.csv.{packed}".rstrip(".")
    with pa.output_stream(path, compression="detect") as file:
        file.write(ending.join(["y,p", *["1,0.5"] * 7, ""]).encode())
    table = open_table(path)
    assert len(table.read(["y"])["y"]) == 7
    assert [table.has_more_rows(than) for than in (0, 6, 7, 8)] == [True, True, False, False]


def test_both_ways_of_reading_take_the_same_text(tmp_path):
    # Values over several lines where blocks end, and lines of ten million characters.
    long = "x" * 10_000_000
    lines = ['1,0.75,"a\nb"', f"0,0.25,{long}", '1,0.5,"""c""\n\nd"'] * 2
    lines[2:2] = ['0,0.5,"e\n"'] * 1_000_000
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["y,p,note", *lines]) + "\n")
    found = bc.count_rows(path, label="y", score="p", n_bins=2, strategy="uniform")["p"]
    scores = read_scores(path, label="y", score="p")
    assert found.bins.count.sum() == scores.n_obs == 1_000_006
    assert found.bins.positives.sum() == (scores.y_true == 1).sum() == 4


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("read", READINGS)
def test_large_whole_numbers_stay_exact_beside_missing_ones(tmp_path, kind, read):
    path = tmp_path / f"rows.{kind}"
    if kind == "csv":
        path.write_text(f"y,p\n{2**53},0.5\n{2**53 + 1},0.5\n,0.5\n")
    else:
        pq.write_table(pa.table({"y": pa.array([2**53, 2**53 + 1, None])}), path)
    (part,) = read(open_table(path), ["y"])
    assert part["y"].tolist() == [2**53, 2**53 + 1, None]


def test_large_whole_numbers_after_small_ones_are_refused_in_batches(tmp_path):
    path = tmp_path / "rows.csv"
    padding = "0" * 4000
    lines = [f"1,0.5,{padding}"] * 3000 + [f"{2**53 + 1},0.5,{padding}"]
    path.write_text("y,p,padding\n" + "\n".join(lines) + "\n")
    with pytest.raises(InputError, match=r"whole numbers below 2\*\*53 .* got 9007199254740992 at"):
        bc.count_rows(path, label="y", score="p")


@pytest.mark.parametrize("settings", [{}, {"use_dictionary": False, "compression": "none"}])
def test_a_flipped_bit_of_pages_with_checksums_changes_no_number(tmp_path, settings):
    rng = np.random.default_rng(1)
    score = rng.random(5000).round(4)
    label = (rng.random(5000) < score).astype(np.int8)
    path = tmp_path / "rows.parquet"
    table = pa.table({"y": label, "p": score})
    pq.write_table(table, path, write_page_checksum=True, row_group_size=2000, **settings)
    content = path.read_bytes()
    for place in rng.integers(0, 8 * len(content), 60):
        damaged = bytearray(content)
        damaged[place // 8] ^= 1 << (place % 8)
        path.write_bytes(damaged)
        for read in (whole, batched):
            found = read(path)
            if isinstance(found, str):
                assert found.startswith("rows.parquet ")
            else:
                np.testing.assert_array_equal(found["y"], label)
                np.testing.assert_array_equal(found["p"], score)


def or_refusal(read):
    """Columns, or the message of the error in their place."""

    def found(path):
        try:
            return read(open_table(path))
        except InputError as error:
            return str(error)

    return found


@or_refusal
def whole(table):
    return table.read(["y", "p"])


@or_refusal
def batched(table):
    batches = batches_of(table, ["y", "p"])
    return {name: np.concatenate([batch[name] for batch in batches]) for name in ("y", "p")}


def test_a_missing_file_suggests_the_nearest(tmp_path):
    (tmp_path / "scores.csv").write_text("y,p\n")
    with pytest.raises(InputError, match=r"there is no file .*score\.csv\. Did you mean 'scores"):
        check_file(tmp_path / "score.csv")
    with pytest.raises(InputError, match=r"there is no file .*other.bin\.$"):
        check_file(tmp_path / "nowhere" / "other.bin")


def test_a_link_to_nothing_is_not_suggested_and_a_pipe_is_called_one(tmp_path):
    (tmp_path / "link.csv").symlink_to("nowhere.csv")
    with pytest.raises(InputError, match=r"there is no file .*link\.csv\.$"):
        check_file(tmp_path / "link.csv")
    os.mkfifo(pipe := tmp_path / "pipe.csv")
    with pytest.raises(InputError, match=r"pipe\.csv must be a file.* it is a pipe or a device"):
        check_file(pipe)


def test_a_directory_and_an_empty_file(tmp_path):
    with pytest.raises(InputError, match="it is a directory"):
        check_file(tmp_path)
    (tmp_path / "empty.csv").touch()
    with pytest.raises(InputError, match=r"empty\.csv must have a header and rows; it is empty"):
        check_file(tmp_path / "empty.csv")


def test_first_bytes(tmp_path):
    path = tmp_path / "long.bin"
    path.write_bytes(b"x" * 5000)
    check_file(path)
    assert first_bytes(path) == b"x" * 1024


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(InputError, match=f"{tmp_path.name} cannot be read as CSV or Parquet: "):
        first_bytes(tmp_path)


def test_an_error_of_the_system_becomes_one_line(tmp_path):
    path = tmp_path / "scores.csv"
    message = r"^scores\.csv cannot be read as CSV: disk on fire\. Write the file again"
    with pytest.raises(InputError, match=message) as caught, reading(path, "CSV"):
        raise OSError("disk on fire.\nand more")
    assert "\n" not in str(caught.value)


def test_other_errors_pass(tmp_path):
    with pytest.raises(ZeroDivisionError), reading(tmp_path, "CSV"):
        raise ZeroDivisionError


ROWS = 3000
SCORE = np.random.default_rng(1).random(ROWS).round(6)
LABEL = (np.random.default_rng(2).random(ROWS) < SCORE).astype(np.int64)


def write_rows(path: Path, label, score=SCORE) -> Path:
    table = pa.table({"y": label, "p": score[: len(label)]})
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=1000, compression="none", use_dictionary=False)
    else:
        rows = zip(table["y"].to_pylist(), table["p"].to_pylist(), strict=True)
        path.write_text("y,p\n" + "".join(f"{y},{p:.6f}\n" for y, p in rows))
    return path


def replaced(path: Path) -> None:
    os.replace(write_rows(path.with_stem("new"), 1 - LABEL), path)


def rewritten(path: Path) -> None:
    """Write flipped labels into the same file, with its old size and times."""
    before = path.stat()
    content = write_rows(path.with_stem("new"), 1 - LABEL).read_bytes()
    with path.open("r+b") as file:
        file.write(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (
        before.st_size,
        before.st_mtime_ns,
        before.st_ino,
    )


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size * 2 // 3)


def appended(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"1,0.500000\n" * 100)


def flipped(path: Path) -> None:
    write_rows(path, 1 - LABEL)


def removed(path: Path) -> None:
    path.unlink()


CHANGES = [replaced, rewritten, truncated, appended, flipped, removed]


class Disturbed:
    """A file that is changed after so many batches."""

    def __init__(self, path, change, after):
        self._table, self._path, self._change, self._left = open_table(path), path, change, after

    def parts(self, columns, batch_rows):
        return [self._disturbed(part) for part in self._table.parts(columns, 1000)]

    def _disturbed(self, part):
        for batch in part:
            if self._left == 0:
                self._change(self._path)
            self._left -= 1
            yield batch


@pytest.mark.parametrize("after", [0, 1, 2])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv"])
def test_a_file_that_changes_while_rows_are_counted_is_named(tmp_path, name, change, after):
    # There are three batches of a thousand rows.
    path = write_rows(tmp_path / name, LABEL)
    rows = Disturbed(path, change, after)
    happened = "removed" if change is removed else "written or replaced"
    with pytest.raises(InputError, match=rf"{name} must not change .* it was {happened} since"):
        bc.count_rows(rows, label="y", score="p")


@pytest.mark.parametrize("change", CHANGES)
def test_counting_gives_the_old_rows_or_none_when_a_file_is_changed_meanwhile(tmp_path, change):
    path = write_rows(tmp_path / "rows.parquet", LABEL)
    expected = bc.count_rows(path, label="y", score="p")["p"].bins
    for delay in (0, 0.004, 0.008, 0.012):
        table = open_table(write_rows(path, LABEL))
        with ThreadPoolExecutor(1) as pool, suppress(InputError):
            pool.submit(after, delay, change, path)
            found = bc.count_rows(table, label="y", score="p")["p"].bins
            np.testing.assert_array_equal(found.positives, expected.positives)
            np.testing.assert_array_equal(found.edges, expected.edges)


def after(delay, change, path):
    time.sleep(delay)
    change(path)


def test_rows_that_are_read_again_by_a_fit_are_the_same(tmp_path):
    path = write_rows(tmp_path / "rows.parquet", LABEL)
    rows = bc.temperature.count_rows(path, label="y", score="p")
    replaced(path)
    with pytest.raises(InputError, match="must not change until its last reading"):
        bc.fit(bc.temperature, rows, method="direct", draws=50)


def test_any_file_of_a_data_set_counts(tmp_path):
    for name in "abc":
        write_rows(tmp_path / f"{name}.parquet", LABEL)
    table = open_table(tmp_path)
    flipped(tmp_path / "b.parquet")
    for read in READINGS:
        with pytest.raises(InputError, match=r"b\.parquet must not change"):
            read(table, ["p"])


def test_a_file_just_written_is_known_from_one_written_right_after(tmp_path):
    path = tmp_path / "rows.csv"
    for _ in range(20):
        write_rows(path, LABEL)
        table = open_table(path)
        rewritten(path)
        with pytest.raises(InputError, match="must not change"):
            table.read(["y"])
