"""Hostile files, handed to every command and reader."""

import contextlib
import io
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from hypothesis import strategies as st

import bayescal as bc
from bayescal.cli.main import main
from hostile.judge import Case

CELLS = st.sampled_from(
    ["0", "1", "0.5", "", "NaN", "nan", "inf", "-1", "1e400", "yes", '"', '"a,b"', "\x00", "é", "#"]
)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Contents of a file that should be a table."""
    kind = draw(st.sampled_from(["text", "text", "text", "bytes", "cut", "head"]))
    if kind == "bytes":
        return draw(st.binary(max_size=200))
    header = draw(st.sampled_from(["y,p", "y,p", "y,p,g", "y;p", "y,y", "p", "", "y,p,"]))
    rows = draw(st.lists(st.lists(CELLS, min_size=1, max_size=3), max_size=8))
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    text = end.join([header, *(",".join(row) for row in rows)]) + end
    content = text.encode("utf-8")
    if kind == "head":
        return draw(st.sampled_from([b"PAR1", b"\xef\xbb\xbf", b"\x1f\x8b", b"\xff\xfe"])) + content
    if kind == "cut":
        table = io.BytesIO()
        pd.DataFrame({"y": [0, 1], "p": [0.1, 0.9]}).to_parquet(table)
        whole = table.getvalue()
        return whole[: draw(st.integers(0, len(whole)))]
    return content


READERS: Mapping[str, Callable[[Path, str, str], Any]] = {
    "read_scores": lambda path, y, p: bc.read_scores(path, label=y, score=p),
    "read_pu_scores": lambda path, y, p: bc.read_pu_scores(path, positive_column=y, score=p),
    "count_rows": lambda path, y, p: bc.count_rows(path, label=y, score=p),
    "interval_measure_of_rows": lambda path, y, p: bc.agnostic.interval_measure_of_rows(
        path, label=y, score=p
    ),
    "pu_ece.count_rows": lambda path, y, p: bc.pu_ece.count_rows(path, positive_column=y, score=p),
    "ssme.count_rows": lambda path, y, p: bc.ssme.count_rows(path, label=y, score=[p, "g"]),
    "credal.count_rows": lambda path, y, p: bc.credal.count_rows(
        path, label=y, score=p, target=[0.5]
    ),
    "agnostic.count_rows": lambda path, y, p: bc.agnostic.count_rows(path, label=y, score=p),
    "temperature.count_rows": lambda path, y, p: bc.temperature.count_rows(
        path, label=y, score=[p, "g"]
    ),
    "load": lambda path, y, p: bc.load(path),
    "load_many": lambda path, y, p: bc.load_many(path),
}
COMMANDS = ("ece", "pu-ece", "ssme", "credal", "agnostic", "temperature", "report", "calibrate")


@st.composite
def commands(draw: st.DrawFn) -> Case:
    """A command on a hostile file, or a reader of such a file."""
    content = draw(files())
    suffix = draw(st.sampled_from([".csv", ".csv", ".parquet", ".nc", ".csv.gz", ""]))
    column = st.sampled_from(["y", "p", "p", "g", "p*", "", "\x00"])
    label, score = draw(st.just("y") | column), draw(st.just("p") | column)
    name = draw(st.sampled_from((*COMMANDS, *READERS)))
    return Case(f"command {name}", partial(_on_file, name, content, suffix, label, score))


def _on_file(name: str, content: bytes, suffix: str, label: str, score: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"table{suffix}")
        path.write_bytes(content)
        if name in READERS:
            READERS[name](path, label, score)
        else:
            _command(name, path, label, score)


def _command(name: str, path: Path, label: str, score: str) -> None:
    files = [str(path)]
    options = ["--label", label, "--score", score]
    if name == "pu-ece":
        options = ["--positive-column", label, "--score", score, "--class-prior", "0.5"]
    elif name == "credal":
        files, options = [str(path), str(path)], options
    elif name == "calibrate":
        files, options = [str(path), str(path)], ["-o", str(path.with_name("out.csv"))]
    options += ["-o", str(path.with_name("o.html"))] if name == "report" else []
    options += ["--quick", "--draws", "25"] if name == "report" else []
    options += ["--estimate-only"] if name not in ("report", "calibrate") else []
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        code = main([name, *files, *options])
    text = said.getvalue()
    if code not in (0, 2, 3) or "unexpected" in text or "Traceback" in text:
        raise AssertionError(f"code {code}: {text}")
