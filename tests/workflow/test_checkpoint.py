"""Finished cases on disk: found again by the same fit, and by no other."""

from dataclasses import replace

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.errors import OutputError
from bayescal.core.quantity import CaseArrays
from bayescal.workflow.checkpoint import Checkpoint
from bayescal.workflow.sampling import Settings, fit_case

PRIORS = bc.ece.Priors()


def settings(**changes):
    given = {"draws": 50, "tune": 1, "chains": 2, "target_accept": 0.8, "seed": 1}
    return Settings(**{**given, "method": "direct", "prob": 0.9, **changes})


def cases(seed=1):
    scores = bc.datasets.ece.truth("over").scores(300, seed=seed)
    return bc.ece.plan(scores, PRIORS).cases


def test_a_finished_case_comes_back_as_it_was(tmp_path):
    (case,) = cases()
    result = fit_case("ece", case, settings())
    kept = Checkpoint.at(tmp_path / "new", bc.ece, PRIORS, settings())
    assert kept.find(case) is None
    kept.keep(case, result)
    again = kept.find(case)
    assert again.coords == result.coords
    assert again.bounds_attrs == result.bounds_attrs
    for group in ("posterior", "prior", "log_likelihood", "point_estimate", "diagnostics"):
        before, after = getattr(result, group), getattr(again, group)
        assert list(after) == list(before)
        for name in before:
            np.testing.assert_array_equal(after[name], before[name])


def test_other_data_settings_priors_and_names_are_other_cases(tmp_path):
    (case,), (other,) = cases(), cases(seed=2)
    kept = Checkpoint.at(tmp_path, bc.ece, PRIORS, settings())
    kept.keep(case, fit_case("ece", case, settings()))
    assert kept.find(case) is not None
    renamed = replace(case, problem=replace(case.problem, coords={"classifier": "other"}))
    assert kept.find(renamed) is None
    assert kept.find(other) is None
    assert Checkpoint.at(tmp_path, bc.ece, PRIORS, settings(seed=2)).find(case) is None
    sceptical = bc.ece.Priors(calibrated=0.1)
    assert Checkpoint.at(tmp_path, bc.ece, sceptical, settings()).find(case) is None


def test_a_damaged_file_is_computed_again(tmp_path):
    (case,) = cases()
    kept = Checkpoint.at(tmp_path, bc.ece, PRIORS, settings())
    kept.keep(case, fit_case("ece", case, settings()))
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:1000])
    assert kept.find(case) is None


def test_a_fit_takes_up_where_another_stopped(tmp_path):
    scores = bc.datasets.ece.truth("over").scores(300, seed=1)
    options = {"seed": 3, "method": "direct", "draws": 200, "checkpoint": tmp_path}
    first = bc.fit(bc.ece, scores, **options)
    (path,) = tmp_path.iterdir()
    written = path.stat().st_mtime_ns
    again = bc.fit(bc.ece, scores, **options)
    assert path.stat().st_mtime_ns == written
    assert first["posterior"].dataset.identical(again["posterior"].dataset)
    assert first["bounds"].dataset.identical(again["bounds"].dataset)


def test_a_directory_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    (case,) = cases()
    kept = Checkpoint.at(tmp_path / "file" / "below", bc.ece, PRIORS, settings())
    with pytest.raises(OutputError, match="cannot be written"):
        kept.keep(case, fit_case("ece", case, settings()))


def test_words_are_kept_without_pickling(tmp_path):
    (case,) = cases()
    words = np.array(["cat", "größer"], dtype=object)
    result = CaseArrays(
        coords=case.coords, posterior={}, constant_data={"names": words}, warnings=["one", "two"]
    )
    kept = Checkpoint.at(tmp_path, bc.ece, PRIORS, settings())
    kept.keep(case, result)
    (path,) = tmp_path.iterdir()
    with np.load(path, allow_pickle=False) as arrays:
        assert all(arrays[name].dtype != object for name in arrays.files)
    again = kept.find(case)
    assert again.constant_data["names"].tolist() == ["cat", "größer"]
    assert list(again.warnings) == ["one", "two"]
