import warnings

import pytest

from bayescal.core.errors import ConvergenceWarning, InputError, OutputError


def test_callers_can_catch_them_as_what_python_calls_them():
    assert issubclass(InputError, ValueError)
    assert issubclass(OutputError, OSError)


def test_convergence_is_a_warning_that_can_be_made_an_error():
    with warnings.catch_warnings(), pytest.raises(ConvergenceWarning):
        warnings.simplefilter("error", ConvergenceWarning)
        warnings.warn("R-hat is 1.2", ConvergenceWarning, stacklevel=1)
