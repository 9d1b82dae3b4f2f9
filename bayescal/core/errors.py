"""The errors and warnings that bayescal raises on purpose."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_PACKAGE: Final = str(Path(__file__).parents[1])


class InputError(ValueError):
    """What was handed in breaks a rule; the message names rule, value, place and remedy."""


class NoValueError(InputError):
    """What is asked for has no value for these rows, such as an AUC of rows of one label."""


class OutputError(OSError):
    """A result cannot be written to the path given."""


class ConvergenceWarning(UserWarning):
    """A sampler or the training of a classifier did not converge: do not trust its numbers."""


class ScarWarning(UserWarning):
    """The positives do not look selected completely at random (SCAR), or the class prior is off."""


class DataWarning(UserWarning):
    """Scores look like others than they were passed as, or groups or values are left out."""


class ManyFitsWarning(UserWarning):
    """Fits failed, differ, or were made again though they had been kept."""


def warn_caller(text: str, kind: type[Warning]) -> None:
    """Warn at the line that called the package: Python shows those of one line only once."""
    warnings.warn(text, kind, skip_file_prefixes=(_PACKAGE,))


@contextmanager
def ignored(*kinds: type[Warning]) -> Iterator[None]:
    """Let warnings of some kinds pass unsaid, as something else says them."""
    with warnings.catch_warnings():
        for kind in kinds:
            warnings.simplefilter("ignore", kind)
        yield
