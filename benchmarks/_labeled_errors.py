"""Errors of labelled rows alone by their number, against which SSME's are read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import MOST_DRAWN, check_whole, generator
from bayescal.core.columns import Floats
from bayescal.core.errors import InputError
from bayescal.quantities.ssme.metrics import Metrics, join, metrics

# The paper's: every fifth number of labels from 10 to 1000.
SIZES = tuple(range(10, 1001, 5))


def labeled_errors(
    probs: Floats,
    y: NDArray[np.integer],
    truth: Metrics,
    *,
    sizes: Sequence[int] = SIZES,
    n_samples: int = 50,
    seed: int = 0,
) -> Metrics:
    """Mean absolute error of labelled rows alone, by their number; appendix B.4 of the paper."""
    check_whole(n_samples, "n_samples", most=MOST_DRAWN)
    n_classes = probs.shape[2]
    wrong = [size for size in sizes if not n_classes <= size <= len(y)]
    if wrong:
        raise InputError(
            f"sizes must lie from {n_classes}, one row a class, to the {len(y)} rows there are; "
            f"got {wrong[0]}."
        )
    rng = generator(seed)
    one_hot = np.eye(n_classes)
    found: list[Metrics] = []
    for size in sizes:
        samples = [sample_with_every_class(y, n_classes, size, rng) for _ in range(n_samples)]
        each = join([metrics(probs[:, rows], one_hot[y[rows]]) for rows in samples], np.stack)
        errors = (np.abs(one - true).mean(axis=0) for one, true in zip(each, truth, strict=True))
        found.append(Metrics._make(errors))
    return join(found, np.stack)


def sample_with_every_class(
    y: NDArray[np.integer], n_classes: int, size: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Draw rows without putting back, the first of them one of each class, (size,)."""
    order = rng.permutation(len(y))
    first = [int(np.argmax(y[order] == k)) for k in range(n_classes)]
    rest = np.delete(np.arange(len(y)), first)
    return np.asarray(order[np.concatenate([first, rest[: size - n_classes]]).astype(np.intp)])
