"""Fit a quantity's model to data, once or under several priors: where all layers meet."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayescal._version import __version__
from bayescal.core.binning import BINNING_FIELDS, Binning
from bayescal.core.checks import check_call, check_flag, class_name, listing
from bayescal.core.errors import ConvergenceWarning, DataWarning, InputError, ignored, warn_caller
from bayescal.core.plausibility import Sign
from bayescal.core.quantity import Case, CaseArrays, Plan, Quantity
from bayescal.core.shown import Progress, progress_bar
from bayescal.quantities import quantity_named
from bayescal.results.access import gather, in_words
from bayescal.results.assemble import assemble, combine
from bayescal.results.measure import with_measure
from bayescal.results.robustness import check_question, conclusions
from bayescal.results.schema import WARNINGS, problems, remedy
from bayescal.workflow.sampling import Settings, fit_case, one_blas_thread, tuned_on
from bayescal.workflow.store import Checkpoint, checkpoint_seed

if TYPE_CHECKING:
    from xarray import DataTree


def fit(
    quantity: Quantity | str,
    data: Any,
    *,
    priors: Any = None,
    method: str = "nuts",
    draws: int = 1000,
    tune: int | None = None,
    chains: int = 4,
    target_accept: float | None = None,
    seed: int | None = None,
    prob: float = 0.9,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    **options: Any,
) -> DataTree:
    """Compute the posterior of a quantity.

    Parameters
    ----------
    quantity : Quantity or str
        What to fit: `bayescal.ece`, or its name.
    data : Scores, PUScores, CalibrationSplit or counts of rows
        What the quantity takes, or its `count_rows` returns.
    priors : quantity.Priors, optional
        Priors; the quantity's defaults if not given.
    method : {"nuts", "direct"}, default "nuts"
        ``"direct"`` computes the posterior without PyMC, by importance sampling, quadrature or
        conjugacy, whichever the prior allows; the result says which.
    draws : int, default 1000
        Draws kept of each chain. Chains that have not converged are sampled once more, four times
        as long (``pu_ece``: then sixteen times), unless fewer than 1,600 draws are kept in all.
    tune : int, optional
        Draws of each chain that NUTS is tuned on; by default what the model sets. This and
        `target_accept` change nothing under ``method="direct"``.
    chains : int, default 4
        Chains.
    target_accept : float, in (0, 1), optional
        Acceptance that NUTS tunes its step size to; by default what the model sets.
    seed : int, optional
        The same seed gives the same result; by default the checkpoint's or a new one, kept in it.
    prob : float, in (0, 1), default 0.9
        Probability of intervals in `fit_many` and `ReliabilityDisplay`; others take their own.
    progress : callable, optional
        Called with (label, cases done, cases in all).
    checkpoint : path, optional
        Directory where each finished case is kept, and found again by the same call.
    **options
        Options of the quantity: the keyword arguments of its `plan`. Where that takes a `binning`,
        `n_bins`, `strategy` and `closed` may be given instead; see `bayescal.Binning`.

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
    DataWarning, ScarWarning
        If scores look reversed or like logits, counts are of groups that the quantity does not
        have, or positives look unlike the unlabelled rows.

    Notes
    -----
    What is estimated is in ``quantity.ESTIMAND``. Each case (classifier, class) is a model of its
    own; those with equal compile keys share one compiled model, so that further ones cost a
    fraction of a second. ``ssme`` has one model for all classifiers. Groups are one model with
    partial pooling; under bins of ``ece`` they are cases of their own.
    BLAS runs on one thread during a fit.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.ece.truth("over").scores(1000, seed=1)
    >>> result = bc.fit(bc.ece, scores, method="direct", seed=20)
    >>> result.attrs["status"]
    'ok'
    """
    check_call(progress, "progress")
    settings = Settings(
        draws=draws,
        tune=tune,
        chains=chains,
        target_accept=target_accept,
        seed=seed,
        method=_without_quick(method, options),
        prob=prob,
    )
    chosen = quantity_named(quantity)
    used = priors_of(chosen, priors)
    with one_blas_thread():
        plan = plan_of(chosen, data, used, options)
        settings = replace(settings, seed=_seed(seed, checkpoint))
        kept = None if checkpoint is None else Checkpoint(checkpoint, chosen, used, settings)
        with progress_bar("Fitting", progress) as update:
            found = list(_fitted(chosen, plan.cases, settings, kept, update))
        tree = result_of(chosen, plan, used, settings, found)
    for sentence in dict.fromkeys(said for case in plan.cases for said in case.warnings):
        if isinstance(sentence, Sign):
            warn_caller(sentence, DataWarning)
    if not converged(found):
        warn_caller(tree.attrs["status"], ConvergenceWarning)
    return tree


def _seed(seed: int | None, checkpoint: Any) -> int:
    """The seed given, else that of the checkpoint, else a new one."""
    own = Settings(seed=seed).seed or 0
    return own if seed is not None or checkpoint is None else checkpoint_seed(checkpoint, own)


def _without_quick(method: str, options: dict[str, Any]) -> str:
    """Take the deprecated ``quick=True`` for ``method="direct"``."""
    quick = options.pop("quick", None)
    if quick is None:
        return method
    check_flag(quick, "quick")
    said = "quick is deprecated; pass method='direct' instead of quick=True."
    warn_caller(said, DeprecationWarning)
    return "direct" if quick else method


def _fitted(
    quantity: Quantity,
    cases: Sequence[Case],
    settings: Settings,
    checkpoint: Checkpoint | None,
    progress: Progress | None,
) -> Iterator[CaseArrays]:
    """Take each case from the checkpoint, or fit and keep it."""
    say = progress or (lambda label, done, total: None)
    for index, case in enumerate(cases):
        say(", ".join(case.coords.values()) or "all classifiers", index, len(cases))
        found = None if checkpoint is None else checkpoint.find(case)
        if found is None:
            found = fit_case(quantity.NAME, case, settings)
            if checkpoint is not None:
                checkpoint.keep(case, found)
        yield found
    say("", len(cases), len(cases))


def result_of(
    quantity: Quantity, plan: Plan, priors: Any, settings: Settings, found: Sequence[CaseArrays]
) -> DataTree:
    """Put the fits of a plan's cases into a result."""
    if plan.shared_rows:
        pairs = zip(found, plan.shared_rows, strict=True)
        found = [replace(one, shared_rows=rows) for one, rows in pairs]
    warned = gather(_said(found, [case.warnings for case in plan.cases]))
    attrs = attributes(quantity, plan, priors, settings)
    attrs |= {
        "sampler": found[0].sampler,
        "status": in_words(warned),
        WARNINGS: warned,
        "converged": converged(found),
    }
    variables, correlation = plan.variables or quantity.VARIABLES, _correlation(plan, found)
    of_all: Any = {"coords": plan.cases[0].axes, "error_correlation": correlation}
    # Members that NUTS sampled of some cases alone have blank statistics in the others.
    held = {key: values for arrays in found for key, values in arrays.sample_stats.items()}
    blank = {
        key: np.full_like(values, np.nan if values.dtype.kind == "f" else 0)
        for key, values in held.items()
    }
    filled = [replace(one, sample_stats={**blank, **one.sample_stats}) for one in found]
    return assemble(filled, variables=variables, attrs=attrs, **of_all)


def priors_of(quantity: Quantity, priors: Any) -> Any:
    """Take the quantity's default priors where none are given; refuse those of another one."""
    chosen = quantity.Priors() if priors is None else priors
    if not isinstance(chosen, quantity.Priors):
        raise InputError(
            f"priors must be {quantity.NAME}.Priors; got {class_name(type(chosen))}. "
            f"Pass bayescal.{quantity.NAME}.Priors(...)."
        )
    return chosen


def plan_of(quantity: Quantity, data: Any, priors: Any, options: Mapping[str, Any]) -> Plan:
    """Plan the fits, with options that the quantity knows."""
    check_options(quantity, options)
    shorthand = {name: options[name] for name in BINNING_FIELDS if name in options}
    given = {name: value for name, value in options.items() if name not in shorthand}
    if shorthand or "binning" in given:
        given["binning"] = Binning.of(options.get("binning"), **shorthand)
    return quantity.plan(data, priors, **given)


def check_options(quantity: Quantity, options: Mapping[str, Any]) -> None:
    """Refuse options that the quantity does not know."""
    known = known_options(quantity)
    for name in options:
        if name not in known:
            others = inspect.signature(fit).parameters.keys() - {name}
            near = get_close_matches(name, (*known, *others), n=1)
            raise InputError(
                f"{quantity.NAME} has no option {name!r}; it has {listing(known) or 'none'}. "
                + (f"Did you mean {near[0]!r}?" if near else "Leave it out.")
            )


def known_options(quantity: Quantity) -> tuple[str, ...]:
    """Parameters of the quantity's `plan`, and what may stand for its binning."""
    parameters = list(inspect.signature(quantity.plan).parameters)[2:]
    return (*parameters, *(BINNING_FIELDS if "binning" in parameters else ()))


def _correlation(plan: Plan, found: Sequence[CaseArrays]) -> dict[str, xr.DataArray] | None:
    """Correlation of the classifiers over shared rows, as the result holds it."""
    correlation = None if plan.correlate is None else plan.correlate(found)
    if correlation is None:
        return None
    if not isinstance(correlation, Mapping):
        correlation = {"correlation": correlation}
    coords = {name: plan.names(name) for name in ("class", "classifier")}
    coords["classifier_other"] = coords["classifier"]
    matrices = {}
    for name, values in correlation.items():
        dims = list(coords)[-values.ndim :]
        matrices[name] = xr.DataArray(values, dims=dims, coords={d: coords[d] for d in dims})
    return matrices


def attributes(quantity: Quantity, plan: Plan, priors: Any, settings: Settings) -> dict[str, Any]:
    """Root attributes: all that is needed to make the result again, but for its status."""
    prints = "|".join(case.fingerprint() for case in plan.cases)
    direct, model = settings.method == "direct", plan.cases[0].model
    return {
        "bayescal_version": __version__,
        "quantity": quantity.NAME,
        "title": quantity.TITLE,
        "estimand": quantity.ESTIMAND,
        "references": [reference._asdict() for reference in quantity.REFERENCES],
        "data_hash": f"sha256:{hashlib.sha256(prints.encode()).hexdigest()[:16]}",
        "classifiers": plan.names("classifier"),
        "priors": priors.to_json(),
        "prior_text": priors.describe(),
        "method": settings.method,
        "sampler_version": __version__ if direct else version("nutpie"),
        "draws": settings.draws,
        "tune": tuned_on(model, settings),
        "chains": settings.chains,
        "target_accept": settings.target_accept or model.target_accept,
        "seed": settings.seed,
        "prob": settings.prob,
        **plan.attrs,
    }


def _said(
    found: Sequence[CaseArrays], warnings: Sequence[Iterable[str]]
) -> Iterator[tuple[Mapping[str, str], str]]:
    """What each case is warned of: its fit, its arrays, its data."""
    for arrays, said in zip(found, warnings, strict=True):
        if not arrays.diagnostics["converged"]:
            why = "; ".join(problems(arrays.diagnostics))
            yield arrays.coords, f"the fit did not converge, {why}. {remedy(arrays.diagnostics)}"
        for sentence in [*arrays.warnings, *said]:
            yield arrays.coords, sentence


def converged(found: Sequence[CaseArrays]) -> bool:
    """Whether all fits converged."""
    return all(arrays.diagnostics["converged"] for arrays in found)


def prior_sensitivity(
    quantity: Quantity | str,
    data: Any,
    priors: Any = None,
    *,
    seed: int | None = None,
    var: Any = None,
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
        if not given, that of the checkpoint, or one is drawn.
    var : str, Measure or callable, optional
        What is concluded on: a variable (see `conclusions`), or a measure as of `bayescal.measure`.
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
    Priors of one kind share a compiled model. With `checkpoint` nothing finished is ever lost.

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
    quantity = quantity_named(quantity)
    chosen = _checked(quantity, priors)
    check_call(progress, "progress")
    check_question(quantity, var, threshold)
    number = _seed(seed, options.get("checkpoint"))
    trees = {}
    with progress_bar("Fitting", progress) as update:
        for place, (name, one) in enumerate(chosen.items()):
            # Said once, of all priors, below.
            with ignored(ConvergenceWarning):
                own: Any = {"priors": one, "seed": number, "prob": prob}
                own["progress"] = _within(update, name, place, len(chosen))
                # A measure is of each fit by itself: those under bins have other cells.
                trees[name], asked = with_measure(fit(quantity, data, **own, **options), var)
    tree = combine(trees)
    found = conclusions(tree, asked, prob, threshold)
    tree.attrs["robust"] = "true" if all(one.robust for one in found) else "false"
    tree.attrs["conclusion"] = " ".join(one.text for one in found)
    tree.attrs["conclusion_var"] = found[0].var
    if threshold is not None:
        tree.attrs["threshold"] = float(threshold)
    if tree.attrs["converged"] != "true":
        warn_caller(tree.attrs["status"], ConvergenceWarning)
    return tree


def _checked(quantity: Quantity, priors: Any) -> dict[str, Any]:
    """Priors by name; those of the quantity's grid where they are not given by name."""
    if not isinstance(priors, Mapping):
        priors = priors_of(quantity, priors).alternatives()
    if len(priors) < 2:
        raise InputError(
            f"prior sensitivity needs two priors or more; got {len(priors)}. Pass "
            "{'default': ..., 'wide': ...}."
        )
    for name in priors:
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"every prior must have a name; got {name!r}. Pass a word or two.")
    return {name: priors_of(quantity, one) for name, one in priors.items()}


def _within(progress: Progress | None, name: str, place: int, number: int) -> Progress | None:
    """Progress of one fit as part of the progress of all."""
    if progress is None:
        return None

    def update(label: str, done: int, total: int) -> None:
        last = place == number - 1 and done == total
        words = "" if last else ", ".join(part for part in (name, label) if part)
        progress(words, place * total + done, number * total)

    return update
