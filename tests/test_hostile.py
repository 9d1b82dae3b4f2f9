"""Hostile arrays and files: every call ends with a result or with a documented exception.

A fixed small number of calls; benchmarks/fuzz.py makes a hundred thousand.
"""

import inspect

import pytest
from hostile import calls, files, judge, objects
from hypothesis import HealthCheck, given, settings

small = settings(
    max_examples=100, suppress_health_check=list(HealthCheck), database=None, deadline=None
)


@pytest.fixture(scope="module", autouse=True)
def _results() -> None:
    """Fit before hypothesis watches: loading PyTensor changes Python's recursion limit."""
    objects.results()


@pytest.mark.mcmc
@small
@given(calls.calls())
def test_functions(case: judge.Case) -> None:
    assert (judge.trouble(case), case)[0] is None


@pytest.mark.mcmc
@settings(small, max_examples=40)
@given(files.commands())
def test_commands_and_readers(case: judge.Case) -> None:
    assert (judge.trouble(case), case)[0] is None


@pytest.mark.mcmc
@settings(small, max_examples=10)
@given(calls.fits())
def test_fits(case: judge.Case) -> None:
    assert (judge.trouble(case), case)[0] is None


@pytest.mark.mcmc
@pytest.mark.parametrize("name", sorted(calls.functions()))
def test_arguments_can_be_made_for_every_parameter(name: str) -> None:
    """A new function is called too, or is named among those that are not, with the reason."""
    parameters = inspect.signature(calls.functions()[name]).parameters.values()
    unknown = [
        one for one in parameters if one.kind is not one.VAR_KEYWORD and not calls.known(one)
    ]
    assert unknown == []
