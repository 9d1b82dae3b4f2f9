"""Hostile arrays and files: every call ends with a result or with a documented exception.

A fixed small number of calls; benchmarks/fuzz.py makes a hundred thousand.
"""

import inspect

import hostile
import pytest
from hypothesis import HealthCheck, given, settings

small = settings(
    max_examples=150, suppress_health_check=list(HealthCheck), database=None, deadline=None
)


@pytest.fixture(scope="module", autouse=True)
def _results() -> None:
    """Fit before hypothesis watches: loading PyTensor changes Python's recursion limit."""
    hostile.results()


@pytest.mark.mcmc
@small
@given(hostile.calls())
def test_functions(case: hostile.Case) -> None:
    assert (hostile.trouble(case), case)[0] is None


@pytest.mark.mcmc
@settings(small, max_examples=40)
@given(hostile.commands())
def test_commands_and_readers(case: hostile.Case) -> None:
    assert (hostile.trouble(case), case)[0] is None


@pytest.mark.mcmc
@settings(small, max_examples=10)
@given(hostile.fits())
def test_fits(case: hostile.Case) -> None:
    assert (hostile.trouble(case), case)[0] is None


@pytest.mark.mcmc
@pytest.mark.parametrize("name", sorted(hostile.functions()))
def test_arguments_can_be_made_for_every_parameter(name: str) -> None:
    """A new function is called too, or is named among those that are not, with the reason."""
    parameters = inspect.signature(hostile.functions()[name]).parameters.values()
    unknown = [
        one for one in parameters if one.kind is not one.VAR_KEYWORD and not hostile.known(one)
    ]
    assert unknown == []
