"""Coverage of known true values, and simulation-based calibration, of any quantity."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.core.quantity import CaseArrays, Quantity
from bayescal.quantities import quantity_named
from bayescal.results import access
from bayescal.results.intervals import interval
from bayescal.results.schema import P_CALIBRATED
from bayescal.workflow.fit import plan_of, priors_of, result_of
from bayescal.workflow.sampling import Settings, fit_case, settings_and_options

if TYPE_CHECKING:
    from xarray import DataTree

type Floats = NDArray[np.float64]

RANKED = 99
"""Posterior draws that the truth is ranked among: 100 ranks, which many numbers of bins divide."""


type Sample = Callable[[Any, np.random.Generator], Any]
"""Draws data of a given number of rows."""


class Coverage(NamedTuple):
    """Intervals and means of repeated samples from one truth.

    Arrays are of shape (replication,), or (replication, element) where the variable has several
    elements, such as classifiers.
    """

    truth: float | Floats
    lower: Floats
    upper: Floats
    mean: Floats
    p_calibrated: Floats
    warned: NDArray[np.bool_]
    converged: NDArray[np.bool_]

    @property
    def covered(self) -> NDArray[np.bool_]:
        """Whether each interval covers the true value."""
        return np.asarray((self.lower <= self.truth) & (self.truth <= self.upper))

    @property
    def width(self) -> Floats:
        """Width of each interval."""
        return self.upper - self.lower

    @property
    def error(self) -> Floats:
        """Posterior mean less truth."""
        return self.mean - self.truth


class Sbc(NamedTuple):
    """Ranks of true values among posterior draws, when both come from the model."""

    ranks: dict[str, NDArray[np.int64]]
    rhat_max: Floats
    ess_min: Floats
    divergences: NDArray[np.int64]

    def p_values(self, bins: int = 20) -> dict[str, float]:
        """Test each variable's ranks for uniformity."""
        from scipy.stats import chisquare

        if (RANKED + 1) % bins:
            raise InputError(f"bins must divide {RANKED + 1}; got {bins}. Pass 10 or 20.")
        width = (RANKED + 1) // bins
        return {
            name: float(chisquare(np.bincount(ranks // width, minlength=bins)).pvalue)
            for name, ranks in self.ranks.items()
        }


def coverage(
    quantity: Quantity | str,
    truth: Any,
    n: Any,
    replications: int,
    *,
    seed: int,
    var: str | None = None,
    sample: Sample | None = None,
    priors: Any = None,
    **options: Any,
) -> Coverage:
    """Fit repeated samples of a known truth.

    Parameters
    ----------
    quantity : Quantity or str
        What to fit: `bayescal.ece`, or its name.
    truth : object
        Simulator, with the true value as its attribute `var`: a number, or one an element.
    n : int, or what else `sample` takes
        Rows of a sample.
    replications : int
        Number of samples.
    seed : int
        Replication i has the same rows in every call with this seed, whatever the other arguments.
    var : str, optional
        Which variable; the main one of the result's kind if not given.
    sample : callable, optional
        From `n` and a numpy.random.Generator to data; by default ``truth.scores``.
    priors : quantity.Priors, optional
        Priors; the quantity's defaults if not given.
    **options
        As in `bayescal.fit`: `method`, ``"direct"`` by default, then with one chain of `draws`
        draws; `draws`, `tune`, `chains`, `target_accept`, `prob`; and the options of the quantity.

    Returns
    -------
    Coverage
        Intervals, means and flags.

    Raises
    ------
    InputError
        If the truth has no such value.

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.workflow.simulation import coverage
    >>> found = coverage(bc.ece, bc.datasets.ece.truth("over"), 300, 5, seed=20)
    >>> found.covered.shape
    (5,)
    """
    chosen = quantity_named(quantity)
    used = priors_of(chosen, priors)
    settings, own = _settings(seed, options)
    simulate = truth.scores if sample is None else sample
    rows = []
    for index, rng in enumerate(_streams(seed, replications)):
        plan = plan_of(chosen, simulate(n, rng), used, own)
        plan = plan._replace(cases=plan.cases[:1], correlate=None, shared_rows=())
        arrays = fit_case(chosen.NAME, plan.cases[0], settings, index)
        tree = result_of(chosen, plan, used, settings, [arrays])
        var = access.main(tree).name if var is None else var
        if not hasattr(truth, var):
            raise InputError(f"the truth must know its {var!r}; it does not. Pass another var.")
        rows.append(_interval(tree, arrays, var, settings.prob))
    columns = (np.array(column) for column in zip(*rows, strict=True))
    value = np.asarray(getattr(truth, str(var)), dtype=float)
    return Coverage(value if value.ndim else float(value), *columns)


def sbc(
    quantity: Quantity | str,
    data: Any,
    replications: int,
    *,
    seed: int,
    priors: Any = None,
    variables: Sequence[str] | None = None,
    **options: Any,
) -> Sbc:
    """Simulation-based calibration: fit data from the model itself and rank what gave them.

    Parameters
    ----------
    quantity : Quantity or str
        What to fit: `bayescal.ece`, or its name.
    data : Scores, BinCounts or what else the quantity takes
        Their scores stay, their labels are replaced by simulated ones.
    replications : int
        Number of simulated data sets.
    seed : int
        Seed.
    priors : quantity.Priors, optional
        Priors; the quantity's defaults if not given.
    variables : sequence of str, optional
        Variables to rank; all that the simulation gives if not given.
    **options
        As in `bayescal.fit`: `method`, ``"direct"`` by default, then with one chain of `draws`
        draws; `draws`, `tune`, `chains`, `target_accept`, `prob`; and the options of the quantity.

    Returns
    -------
    Sbc
        Ranks and health.

    Notes
    -----
    Parameters are drawn from the prior and labels given them and the scores, so that truth and
    posterior draws are exchangeable and the rank of the truth is uniform. Posterior draws are
    thinned to 99, evenly over the chains. Uniform ranks alone are not enough: a fit with
    divergences can pass. Look at the health as well.

    References
    ----------
    .. [1] S. Talts et al., "Validating Bayesian Inference Algorithms with Simulation-Based
       Calibration", 2018. https://arxiv.org/abs/1804.06788, Algorithm 2.

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.workflow.simulation import sbc
    >>> scores = bc.datasets.ece.truth("over").scores(300, seed=1)
    >>> sbc(bc.ece, scores, 5, seed=20, variables=["tce"]).ranks["tce"].shape
    (5,)
    """
    chosen = quantity_named(quantity)
    settings, own = _settings(seed, options)
    template = plan_of(chosen, data, priors_of(chosen, priors), own).cases[0]
    rows, health = [], []
    for index, rng in enumerate(_streams(seed, replications)):
        case, values = template.simulate(rng)
        result = fit_case(chosen.NAME, case, settings, index)
        names = [name for name in values if name in result.posterior]
        given = {**result.posterior, **result.given_miscalibration}
        rows.append(_ranks(given, values, variables or names, rng))
        health.append([result.diagnostics[name] for name in Sbc._fields[1:]])
    ranks = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return Sbc(ranks, *(np.array(column) for column in zip(*health, strict=True)))


def _streams(seed: int, replications: int) -> Iterator[np.random.Generator]:
    """Random numbers of each replication's data; fits draw theirs elsewhere."""
    for child in np.random.SeedSequence(seed).spawn(replications):
        yield np.random.default_rng(child)


def _settings(seed: int, options: Mapping[str, Any]) -> tuple[Settings, dict[str, Any]]:
    """Settings and options of the quantity; direct draws need no chains."""
    settings, own = settings_and_options({**options, "seed": seed}, method="direct")
    return replace(settings, chains=1) if settings.method == "direct" else settings, own


def _interval(tree: DataTree, arrays: CaseArrays, var: str, prob: float) -> tuple[Any, ...]:
    """What a result says of `var`, in the order of `Coverage`."""
    ends = interval(tree, var, prob)
    ends = ends.squeeze([dim for dim in arrays.coords if dim in ends.dims], drop=True)
    mean = np.asarray(arrays.posterior[var]).mean(axis=(0, 1))
    return (
        ends.isel(ci_bound=0).values,
        ends.isel(ci_bound=1).values,
        mean,
        float(arrays.model_average.get(P_CALIBRATED, np.nan)),
        bool(arrays.warnings),
        arrays.diagnostics["converged"],
    )


def _ranks(
    posterior: Mapping[str, Any],
    values: Mapping[str, NDArray[Any]],
    variables: Sequence[str],
    rng: np.random.Generator,
) -> dict[str, int]:
    """Rank of each element among evenly spaced draws, ties by lot: rates within rounding of 1."""
    found: dict[str, int] = {}
    for name in variables:
        draws = np.asarray(posterior[name])
        flat = draws.reshape(draws.shape[0] * draws.shape[1], -1)
        thinned = flat[np.linspace(0, len(flat) - 1, RANKED).astype(int)]
        truth = np.ravel(values[name])
        rank = (thinned < truth).sum(axis=0)
        rank += rng.integers((thinned == truth).sum(axis=0), endpoint=True)
        names = [name] if rank.size == 1 else [f"{name}[{i}]" for i in range(rank.size)]
        found.update(zip(names, rank.tolist(), strict=True))
    return found
