"""Files that are too large for memory give what whole files give."""

import json

import numpy as np
import pytest

import bayescal as bc
from bayescal.core import command
from bayescal.quantities.credal.data import CalibrationSplit
from bayescal.quantities.temperature.many_rows import CountedRows
from tests.cli.commands import run


def estimates(*words):
    done = run(*words, "--estimate-only", "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.output)["results"]


def assert_same_in_batches(monkeypatch, *words):
    whole = estimates(*words)
    monkeypatch.setattr(command, "MOST_NUMBERS", 10)
    batched = estimates(*words)
    assert [row.keys() for row in batched] == [row.keys() for row in whole]
    for one, other in zip(batched, whole, strict=True):
        for name, value in one.items():
            expected = value if isinstance(value, str) else pytest.approx(value, rel=1e-9)
            assert other[name] == expected


def write(path, **columns):
    names, rows = ",".join(columns), zip(*columns.values(), strict=True)
    path.write_text("\n".join([names, *(",".join(map(repr, row)) for row in rows)]) + "\n")
    return path


@pytest.fixture
def pu(tmp_path):
    data = bc.datasets.pu_ece.truth("over").scores((60, 300), seed=1)
    score = [*data.positive[0].tolist(), *data.unlabeled[0].tolist()]
    return write(tmp_path / "pu.csv", s=[1] * 60 + [0] * 300, p=score)


def test_positive_and_unlabelled_rows(pu, monkeypatch):
    words = ("pu-ece", pu, "--positive-column", "s", "--score", "p", "--class-prior")
    assert_same_in_batches(monkeypatch, *words, "0.5", "--bins", "7")
    refused = run(*words, "estimate", "--estimate-only")
    assert refused.exit_code == 2
    assert "takes rows in memory" in refused.output
    assert "got 'optimal'. Pass 15, say." in run(*words, "0.5", "--bins", "optimal").output


def test_rows_of_several_classes(tmp_path, monkeypatch):
    scores = bc.datasets.temperature.truth("heterogeneous").scores(300, seed=1)
    columns = {f"p_{k}": scores.y_prob[0][:, k].tolist() for k in range(scores.n_classes)}
    path = write(tmp_path / "rows.csv", y=scores.y_true.tolist(), **columns)
    words = ("temperature", path, "--label", "y", "--score", "p_*", "--multiclass")
    assert_same_in_batches(monkeypatch, *words)
    from bayescal.quantities.temperature import command

    given = {"file": path, "label": "y", "score": ("p_*",), "multiclass": True}
    rows = command._read({**given, "classifier": (), "pos_label": "1", "from_logits": False})
    assert isinstance(rows, CountedRows)


def test_calibration_rows(tmp_path, monkeypatch):
    data = bc.datasets.credal.truth("logistic").split(200, 20, seed=1)
    score = data.calibration.y_prob[0].tolist()
    label = data.calibration.y_true.tolist()
    path = write(tmp_path / "calibration.csv", y=label, p=score)
    target = write(tmp_path / "target.csv", p=data.target.y_prob[0].tolist())
    words = ("credal", path, target, "--label", "y", "--score", "p")
    assert_same_in_batches(monkeypatch, *words)
    from bayescal.quantities.credal import command

    given = {"calibration": path, "target": target, "label": "y", "score": ("p",)}
    given |= {"classifier": (), "multiclass": False, "pos_label": "1", "from_logits": False}
    given["weight"] = None
    split = command._read(given)
    assert isinstance(split, CalibrationSplit)
    np.testing.assert_array_equal(split.rows, np.ones(200))
