"""What the import contracts cannot see: what is loaded, and what is changed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "bayescal"
HEAVY = {"pymc", "pytensor", "arviz", "matplotlib", "pandas", "sklearn", "torch", "jax", "flowjax"}


def loaded_after(code: str) -> set[str]:
    """Run code in a fresh process; return the top-level modules that it left loaded."""
    report = "\nimport sys, json\nprint(json.dumps(sorted({m.split('.')[0] for m in sys.modules})))"
    run = subprocess.run(
        [sys.executable, "-c", code + report], capture_output=True, text=True, check=True
    )
    return set(json.loads(run.stdout.splitlines()[-1]))


def test_importing_bayescal_loads_nothing_but_the_lazy_loader() -> None:
    standard = set(sys.stdlib_module_names) | {"bayescal", "lazy_loader"}
    before = loaded_after("")
    assert loaded_after("import bayescal") - before <= standard


@pytest.mark.mcmc
def test_the_arithmetic_loads_nothing_heavy() -> None:
    code = """
import bayescal.core.scores, bayescal.core.binning, bayescal.core.functionals
import bayescal.core.tables, bayescal.core.many_rows, bayescal.core.priors
import bayescal.datasets, bayescal.quantities.ece.estimator, bayescal.quantities.ece.bounds
import bayescal.cli.main, bayescal.quantities.ssme.flow
import bayescal as bc
bc.Scores, bc.bin_scores, bc.Beta, bc.ece.estimate, bc.read_scores
for name in ("estimate", "bounds", "fit_ivap", "discount", "project", "e_admissible"):
    getattr(bc.credal, name)
"""
    assert loaded_after(code).isdisjoint(HEAVY)


@pytest.mark.mcmc
def test_results_plots_and_report_load_no_sampler_and_no_quantity() -> None:
    code = "import bayescal.results.schema, bayescal.results.io\n"
    code += "import bayescal.plots, bayescal.report, sys\n"
    code += "assert not any(m.startswith('bayescal.quantities') for m in sys.modules)\n"
    # The function stays one, whatever is imported first.
    code += "import bayescal as bc\nassert bc.report.__name__ == 'report'"
    assert loaded_after(code).isdisjoint({"pymc", "pytensor", "nutpie"})


@pytest.mark.mcmc
def test_importing_changes_nothing_global() -> None:
    code = """
import warnings, logging, random
import numpy as np, matplotlib, pymc, arviz
state = lambda: (
    list(warnings.filters), np.geterr(), dict(matplotlib.rcParams), np.get_printoptions(),
    logging.getLogger().level, list(logging.getLogger().handlers),
    random.getstate(), str(np.random.get_state()),
)
before = state()
import bayescal as bc
for name in bc.__all__:
    getattr(bc, name)
import bayescal.cli.main, bayescal.quantities.ece.model, bayescal.report
assert state() == before
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)


def test_every_public_name_loads_and_the_rest_is_refused() -> None:
    import bayescal as bc

    assert set(bc.__all__) <= set(dir(bc))
    for name in bc.__all__:
        assert getattr(bc, name) is not None
    with pytest.raises(AttributeError, match="eec"):
        bc.eec  # noqa: B018  # looking it up raises


def test_functions_that_use_the_package_reach_worker_processes() -> None:
    import pickle

    from cloudpickle import dumps

    import bayescal as bc

    place = {"bc": bc, "__name__": "__main__"}
    exec("def title(): return bc.ece.TITLE", place)
    run = "import pickle, sys; print(pickle.loads(sys.stdin.buffer.read())())"
    said = subprocess.run(
        [sys.executable, "-c", run], input=dumps(place["title"]), check=True, capture_output=True
    )
    assert said.stdout.decode().strip() == bc.ece.TITLE
    for module in (bc, bc.ece, bc.pu_ece, bc.credal):
        assert pickle.loads(dumps(module)) is module


def test_the_package_runs_without_docstrings() -> None:
    code = "import bayescal as bc; assert 0; print([bc.summary, *bc.measures.measures()])"
    run = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True)
    assert "'brier'" in run.stdout, run.stderr
