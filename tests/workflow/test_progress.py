"""Fits, many fits, refits and counts in a real notebook show a bar, and scripts show none."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BEGIN = """
import bayescal as bc
from bayescal.core import shown as progress
progress._DELAY, progress._EVERY = 0.0, 0.1
truth = bc.datasets.ece.truth("over")
options = {"method": "direct", "seed": 1, "draws": 250}
path = "rows.csv"
with open(path, "w") as file:
    file.write("y,p\\n" + "0,0.1\\n1,0.9\\n" * 1000)
data = {name: truth.scores(300, seed=1) for name in ("a", "b")}
"""
WORK = {
    "Fitting": 'result = bc.fit(bc.ece, data["a"], **options)',
    "Fitting many": "fits = bc.fit_many(bc.ece, data, **options)",
    "Fitting again": 'grid = bc.prior_sensitivity(bc.ece, data["a"], **options)',
    "Planning": 'plan = bc.plan_labels(data["a"], n=[100], replications=2, seed=1)',
    "Counting rows": 'table = bc.count_rows(path, label="y", score="p")',
}


@pytest.mark.slow
def test_a_notebook_shows_a_bar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    new = nbformat.v4
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    cells = [new.new_code_cell(source) for source in (BEGIN, *WORK.values(), "bc.show(result)")]
    book = new.new_notebook(cells=cells)
    seen: list[str] = []

    class Client(nbclient.NotebookClient):  # type: ignore[misc, name-defined]  # untyped
        """Keeps what is shown before it is taken away."""

        def process_message(self, message: dict[str, object], *rest: object) -> object:
            seen.append(str(message["content"]))
            return super().process_message(message, *rest)

    monkeypatch.chdir(tmp_path)
    Client(book, timeout=300, kernel_name="python3").execute()
    for what in WORK:
        assert any("<progress" in one and " ".join(what.split()[:1]) in one for one in seen), what
    for cell in book.cells[1:-1]:
        left = [one["data"].get("text/html", "") for one in cell.outputs if "data" in one]
        assert {*left} == {""}
    (last,) = book.cells[-1].outputs
    assert "bayescal-shown" in last["data"]["text/html"]
    assert "calibration error of over" in last["data"]["text/plain"]
