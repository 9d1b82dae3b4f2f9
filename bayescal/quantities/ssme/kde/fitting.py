"""From a panel's scores to the label probabilities of SSME-KDE."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayescal.core.columns import to_doubles
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.quantities.ssme.data import Panel
from bayescal.quantities.ssme.kde.alr import alr
from bayescal.quantities.ssme.kde.bandwidth import bandwidth
from bayescal.quantities.ssme.kde.em import Fit, fit_mixture
from bayescal.quantities.ssme.kde.kernels import kernel_of
from bayescal.quantities.ssme.kde.settings import KDESettings
from bayescal.quantities.ssme.metrics.label_draws import draw_labels, with_known_labels


def fit_panel(
    panel: Panel, settings: KDESettings, class_prior: ArrayLike | None, rng: np.random.Generator
) -> tuple[Fit, Floats]:
    """Fit the mixture; the bandwidths, (class,), are returned as well."""
    prior = None if class_prior is None else check_prior(class_prior, panel.n_classes)
    coords = alr(panel.probs, settings.reference)
    drawn = with_known_labels(panel, draw_labels(panel.probs.mean(axis=0), 1, rng)[0])
    start = drawn if settings.start == "draw" else panel.probs.mean(axis=0)
    widths = _widths(coords, drawn, settings)
    kernel = kernel_of(coords, widths, settings.leave_one_out)
    return fit_mixture(kernel, start, panel.known, panel.labeled, settings, prior, rng), widths


def _widths(coords: Floats, drawn: Floats, settings: KDESettings) -> Floats:
    """Bandwidth of each class, shape (class,)."""
    n_classes = drawn.shape[1]
    if not isinstance(settings.bandwidth, str):
        return np.full(n_classes, settings.bandwidth * settings.bandwidth_scale)
    shared = bandwidth(coords, settings.bandwidth, settings.bandwidth_scale)
    widths = np.full(n_classes, shared)
    if settings.sharing == "class":
        for k in range(n_classes):
            rows = coords[drawn[:, k] > 0]
            # Of one point, or of equal ones, no bandwidth can be had.
            if len(rows) and np.ptp(rows, axis=0).any():
                widths[k] = bandwidth(rows, settings.bandwidth, settings.bandwidth_scale)
    return widths


def check_prior(class_prior: ArrayLike, n_classes: int) -> Floats:
    """Check that a given class prior is one, (class,)."""
    prior = to_doubles(class_prior, "class_prior")
    if prior.shape != (n_classes,) or not (prior.min() > 0 and abs(prior.sum() - 1) < 1e-6):
        raise InputError(
            f"class_prior must hold {n_classes} probabilities above 0 that sum to 1; got "
            f"{class_prior!r}. Pass one for each class, in the order of classes."
        )
    return prior
