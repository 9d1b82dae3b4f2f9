"""The same data under several priors: whether the conclusion depends on them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayescal.core.checks import check_call, check_number
from bayescal.core.errors import ConvergenceWarning, InputError
from bayescal.core.progress import Progress, progress_bar
from bayescal.core.quantity import Quantity
from bayescal.quantities import quantity_named
from bayescal.results.assemble import combine
from bayescal.results.conclude import conclusions
from bayescal.workflow.fit import fit, priors_of
from bayescal.workflow.sampling import Settings

if TYPE_CHECKING:
    from xarray import DataTree


def prior_sensitivity(
    quantity: Quantity | str,
    data: Any,
    priors: Any = None,
    *,
    seed: int | None = None,
    var: str | None = None,
    threshold: float | None = None,
    prob: float = 0.9,
    progress: Progress | None = None,
    **options: Any,
) -> DataTree:
    """Fit the same data under several priors.

    Parameters
    ----------
    quantity : Quantity or str
        What to fit: `bayescal.ece`, or its name.
    data : Scores, BinCounts or what else the quantity takes
        The same for every prior.
    priors : mapping of str to quantity.Priors, or quantity.Priors, optional
        Two priors or more, by a name of yours; the first is what the others are compared with. Or
        one, which is compared with its `alternatives`; the quantity's default if not given.
    seed : int, optional
        Every prior is fitted with this seed, so that differences are not those of random numbers;
        one is drawn, and kept in the result, if not given.
    var : str, optional
        The variable that the conclusion is on; see `conclusions`.
    threshold : float, optional
        What the variable is compared with; perfect calibration by default.
    prob : float, in (0, 1), default 0.9
        Probability of the intervals.
    progress : callable, optional
        Called with (label, fits done, fits in all).
    **options
        As in `bayescal.fit`: `draws`, `method`, `checkpoint`, and the options of the quantity.

    Returns
    -------
    xarray.DataTree
        A result with a dimension `prior`, which `summary`, `interval`, `save`, `load`, the plots
        and the report read. Under each prior it is what `fit` returns with the same seed, less what
        the models do not have in common. Root attributes `priors`, `prior_texts` and `statuses` are
        JSON by prior, ``kind`` is "prior sensitivity", `robust` is "true" or "false", and
        `conclusion` says in sentences why; ask `conclusions` for its parts.

    Raises
    ------
    InputError
        If there are fewer than two priors, a name is empty, or a fit cannot be made.

    Warns
    -----
    ConvergenceWarning
        If a fit did not converge; the result's status says which, and the remedy.

    Notes
    -----
    Priors of one kind share a compiled model. With
    `checkpoint` nothing that was finished is lost if the run stops.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.ece.truth("over").scores(1000, seed=1)
    >>> priors = {
    ...     "default": bc.ece.Priors(),
    ...     "tight": bc.ece.Priors(bc.ece.SmoothCurve(scale=0.3)),
    ... }
    >>> grid = bc.prior_sensitivity(bc.ece, scores, priors, seed=20, method="direct")
    >>> grid.attrs["robust"]
    'true'
    """
    chosen = _checked(quantity_named(quantity), priors)
    check_call(progress, "progress")
    if threshold is not None:
        check_number(threshold, "threshold", "(-inf, inf)")
    number = Settings(seed=seed).seed
    trees = {}
    with progress_bar("Fitting", progress) as update:
        for place, (name, one) in enumerate(chosen.items()):
            with warnings.catch_warnings():
                # Said once, of all priors, below.
                warnings.simplefilter("ignore", ConvergenceWarning)
                own: Any = {"priors": one, "seed": number, "prob": prob}
                own["progress"] = _within(update, name, place, len(chosen))
                trees[name] = fit(quantity, data, **own, **options)
    tree = combine(trees)
    found = conclusions(tree, var, prob, threshold)
    tree.attrs["robust"] = "true" if all(one.robust for one in found) else "false"
    tree.attrs["conclusion"] = " ".join(one.text for one in found)
    tree.attrs["conclusion_var"] = found[0].var
    if threshold is not None:
        tree.attrs["threshold"] = float(threshold)
    if tree.attrs["converged"] != "true":
        warnings.warn(tree.attrs["status"], ConvergenceWarning, stacklevel=2)
    return tree


def _checked(quantity: Quantity, priors: Any) -> dict[str, Any]:
    """Priors by name; those of the quantity's grid where they are not given by name."""
    if not isinstance(priors, Mapping):
        return dict(priors_of(quantity, priors).alternatives())
    if len(priors) < 2:
        raise InputError(
            f"prior sensitivity needs two priors or more; got {len(priors)}. Pass "
            "{'default': ..., 'wide': ...}."
        )
    for name in priors:
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"every prior must have a name; got {name!r}. Pass a word or two.")
    return dict(priors)


def _within(progress: Progress | None, name: str, place: int, number: int) -> Progress | None:
    """Progress of one fit as part of the progress of all."""
    if progress is None:
        return None

    def update(label: str, done: int, total: int) -> None:
        last = place == number - 1 and done == total
        words = "" if last else ", ".join(part for part in (name, label) if part)
        progress(words, place * total + done, number * total)

    return update
