"""What every test stands on: the same random numbers, no window, nothing left in a global."""

import gc
import importlib
import os
from collections.abc import Iterator
from types import ModuleType

import once
import pytest
from hypothesis import settings

from bayescal.plots.style import Drawing
from bayescal.report import render

# PyTensor would have C++ compiled, a second an operation, for what a test computes once; and it
# would note for each variable where it was made, a tenth of the time of compiling.
os.environ["PYTENSOR_FLAGS"] = ",".join(
    ["cxx=", "traceback__limit=0", "traceback__compile_limit=0"]
    + [os.environ[name] for name in ("PYTENSOR_FLAGS",) if name in os.environ]
)

# JAX would take half of the time of a test to make the code of small networks fast.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")

# Settings of the terminal of whoever runs the tests are kept out of what is printed.
for name in ("FORCE_COLOR", "NO_COLOR", "COLUMNS"):
    os.environ.pop(name, None)

# Scripts that made golden numbers; some need what is not installed.
collect_ignore_glob = ["golden/make_*.py"]

os.environ.setdefault("MPLBACKEND", "Agg")
settings.register_profile(
    "bayescal", max_examples=50, derandomize=True, deadline=None, print_blob=True
)
settings.load_profile("bayescal")


# Looking for garbage is seldom worth its time while modules are imported and fits are made.
gc.set_threshold(100_000, 20, 100)


def pytest_collection_finish() -> None:
    """Look for garbage among what the tests make, not among modules and thousands of items."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _workers_share_what_they_make(tmp_path_factory: pytest.TempPathFactory) -> None:
    if "PYTEST_XDIST_WORKER" in os.environ:
        # The folder of the run, in which each worker has one of its own.
        once.folder = tmp_path_factory.getbasetemp().parent


@pytest.fixture(scope="module", autouse=True)
def _figures_are_not_rendered(request: pytest.FixtureRequest) -> Iterator[None]:
    """Make the figures of reports that are read for their words, but do not turn them to SVG.

    Most of a report's time is that of rendering; modules with the marker `pictures` look at it.
    Tests of commands, fits and results do not even make them.
    """
    with pytest.MonkeyPatch.context() as patch:
        if request.path.parent.name in ("cli", "results", "workflow"):
            patch.setattr(render, "image", _not_drawn)
        elif request.node.get_closest_marker("pictures") is None:
            patch.setattr(render, "to_svg", lambda figure: "")
        yield


def _not_drawn(drawing: Drawing) -> render.Image:
    return render.Image(drawing, "", "", width=640, height=480)


@pytest.fixture(scope="module")
def one_class_prior() -> Iterator[None]:
    """Leave out the posteriors of PU-ECE at other class priors: half the time of a fit.

    For tests that do not read the group `sensitivity` of results, where they are kept.
    """
    from bayescal.quantities.pu_ece import class_prior

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(class_prior, "_posterior", lambda *given: {})
        yield


def oracle(name: str) -> ModuleType:
    """Import another library to compare with; a missing one skips, and fails where it must be."""
    if os.environ.get("BAYESCAL_REQUIRE_ORACLES"):
        return importlib.import_module(name)
    return pytest.importorskip(name, reason=f"{name}, a library to compare with, is not installed")
