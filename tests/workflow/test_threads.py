"""BLAS runs on one thread inside a fit, and on as many as before after it; fits run in threads."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
import xarray as xr
from threadpoolctl import threadpool_info, threadpool_limits

import bayescal as bc
from bayescal.workflow import fit as fitting
from bayescal.workflow.sampling import one_blas_thread


def blas_threads() -> list[int]:
    return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]


@pytest.fixture(autouse=True)
def two_threads():
    """Two threads to begin with, whatever the machine sets."""
    import scipy.linalg  # noqa: F401  # brings a BLAS of its own

    with threadpool_limits(2, "blas"):
        assert set(blas_threads()) == {2}
        yield


def test_one_thread_inside_and_the_former_number_after():
    with one_blas_thread():
        assert set(blas_threads()) == {1}
    assert set(blas_threads()) == {2}


def test_the_former_number_returns_after_an_error():
    with pytest.raises(RuntimeError, match="stop"), one_blas_thread():
        raise RuntimeError("stop")
    assert set(blas_threads()) == {2}


def test_blocks_may_be_nested():
    with one_blas_thread():
        with one_blas_thread():
            pass
        assert set(blas_threads()) == {1}
    assert set(blas_threads()) == {2}


def test_the_former_number_returns_after_overlapping_blocks_of_two_threads():
    begun, ended = Event(), Event()

    def other():
        with one_blas_thread():
            begun.set()
            ended.wait(10)

    with ThreadPoolExecutor(1) as pool:
        with one_blas_thread():
            running = pool.submit(other)
            assert begun.wait(10)
            assert set(blas_threads()) == {1}
        ended.set()
        running.result()
    assert set(blas_threads()) == {2}


@pytest.mark.mcmc
def test_fits_in_threads_are_those_made_one_by_one():
    """Both threads need the same model, which neither has compiled."""

    def fitted(seed):
        return fitting.fit(bc.ece, SCORES, seed=seed, draws=20, tune=50, chains=2, priors=PRIORS)

    with ThreadPoolExecutor(2) as pool, pytest.warns(bc.ConvergenceWarning):
        together = list(pool.map(fitted, range(4)))
    for seed, found in enumerate(together):
        with pytest.warns(bc.ConvergenceWarning):
            xr.testing.assert_identical(found["posterior"], fitted(seed)["posterior"])


def test_a_fit_is_inside(monkeypatch):
    seen = []
    case = type(bc.ece.plan(SCORES, bc.ece.Priors()).cases[0])
    arrays = case.arrays

    def looked_at(self, *given):
        seen.extend(blas_threads())
        return arrays(self, *given)

    monkeypatch.setattr(case, "arrays", looked_at)
    fitting.fit(bc.ece, SCORES, method="direct", draws=500, seed=1)
    assert set(seen) == {1}
    assert set(blas_threads()) == {2}


SCORES = bc.datasets.ece.truth("over").scores(100, seed=1)
PRIORS = bc.ece.Priors(bc.ece.IndependentBins())
