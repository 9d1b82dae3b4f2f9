"""Fit a room's model to data: the one place where rooms, inference and results meet."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xarray as xr

from bayescal.core.errors import ConvergenceWarning, InputError
from bayescal.core.room import Case, Room
from bayescal.results.assemble import CaseResult, assemble
from bayescal.workflow.checkpoint import Checkpoint
from bayescal.workflow.provenance import attributes
from bayescal.workflow.settings import Settings, seed_or_new
from bayescal.workflow.single import fit_case
from bayescal.workflow.status import converged, status

if TYPE_CHECKING:
    from xarray import DataTree

type Progress = Callable[[str, int, int], None]


def fit(
    room: Room,
    data: Any,
    *,
    priors: Any = None,
    draws: int = 1000,
    tune: int = 300,
    chains: int = 4,
    target_accept: float | None = None,
    seed: int | None = None,
    quick: bool = False,
    prob: float = 0.9,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    **options: Any,
) -> DataTree:
    """Sample the posterior of a room's quantities.

    Parameters
    ----------
    room : Room
        What to fit: `bayescal.ece`.
    data : Scores or BinCounts
        What the room takes.
    priors : room.Priors, optional
        Priors; the room's defaults if not given.
    draws, tune : int, default 1000 and 300
        Draws kept and tuning draws of each chain.
    chains : int, default 4
        Chains.
    target_accept : float, in (0, 1), optional
        Acceptance that NUTS tunes its step size to; 0.8, or what the model asks for.
    seed : int, optional
        The same seed gives the same result. One is drawn, and told in the result, if not given.
    quick : bool, default False
        Compute the posterior without PyMC: by importance sampling, quadrature or conjugacy,
        whichever the prior allows. The result says so.
    prob : float, in (0, 1), default 0.9
        Probability of the intervals that the result is read with unless asked otherwise.
    progress : callable, optional
        Called with (label, cases done, cases in all).
    checkpoint : path, optional
        Directory where each finished case is kept, and found again by the same call.
    **options
        Options of the room: for ``ece`` `n_bins`, `strategy`, `closed`, `multiclass`; see
        `bayescal.ece.estimate`.

    Returns
    -------
    xarray.DataTree
        The result; see the documentation of the result's schema.

    Raises
    ------
    InputError
        If data, priors or options cannot be used.

    Warns
    -----
    ConvergenceWarning
        If a fit did not converge; the result's status says which, and the remedy.

    Notes
    -----
    What is estimated is in ``room.ESTIMAND``. Each case (classifier, class) is a model of its own;
    cases of one structure share one compiled model, so that further ones cost a fraction of a
    second. Scores with groups are one model with partial pooling over the groups.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.ece.truth("over").scores(1000, seed=1)
    >>> result = bc.fit(bc.ece, scores, seed=20, quick=True)
    >>> result.attrs["status"]
    'ok'
    """
    chosen = room.Priors() if priors is None else priors
    if not isinstance(chosen, room.Priors):
        raise InputError(
            f"priors must be {room.NAME}.Priors; got {type(chosen).__name__}. "
            f"Pass bayescal.{room.NAME}.Priors(...)."
        )
    settings = Settings(
        draws=draws,
        tune=tune,
        chains=chains,
        target_accept=target_accept,
        seed=seed_or_new(seed),
        quick=quick,
        prob=prob,
    )
    cases = room.cases(data, chosen, **options)
    results = _fit_all(
        room, cases, settings, Checkpoint.at(checkpoint, room, chosen, settings), progress
    )
    attrs = attributes(room, cases, chosen, settings) | room.describe(data, **options)
    attrs |= {
        "status": status(results, [case.notes for case in cases]),
        "converged": converged(results),
    }
    tree = assemble(
        results,
        dims=cases[0].dims,
        attrs=attrs,
        coords=cases[0].axes,
        pairing=_pairing(room, data, cases, results, options),
    )
    if not converged(results):
        warnings.warn(tree.attrs["status"], ConvergenceWarning, stacklevel=2)
    return tree


def _fit_all(
    room: Room,
    cases: Sequence[Case],
    settings: Settings,
    checkpoint: Checkpoint,
    progress: Progress | None,
) -> list[CaseResult]:
    results = []
    for index, case in enumerate(cases):
        if progress is not None:
            progress(", ".join(case.coords.values()) or "all classifiers", index, len(cases))
        result = checkpoint.find(index, case)
        if result is None:
            result = fit_case(room, case, settings, index)
            checkpoint.keep(index, case, result)
        results.append(result)
    if progress is not None:
        progress("", len(cases), len(cases))
    return results


def _pairing(
    room: Room,
    data: Any,
    cases: Sequence[Case],
    results: Sequence[CaseResult],
    options: Mapping[str, Any],
) -> dict[str, xr.DataArray] | None:
    """Correlation of the classifiers over shared rows, as the result holds it."""
    draws = [{name: result.posterior[name] for name in result.log_prior} for result in results]
    found = room.pairing(data, cases, draws, **options)
    if found is None:
        return None
    names = [case.coords["classifier"] for case in cases]
    return {
        "correlation": xr.DataArray(
            found,
            dims=("classifier", "classifier_other"),
            coords={"classifier": names, "classifier_other": names},
        )
    }
