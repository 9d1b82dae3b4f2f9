"""Simulated data, each fitted: coverage of known truths, SBC, and how many labels to collect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.core.bin_edges import STRATEGIES
from bayescal.core.binning import Binning
from bayescal.core.checks import (
    MOST_DRAWN,
    check_call,
    check_known,
    check_number,
    check_seed,
    check_whole,
    checked_words,
    listing,
    shown,
)
from bayescal.core.columns import Whole
from bayescal.core.errors import ConvergenceWarning, DataWarning, InputError, NoValueError, ignored
from bayescal.core.functionals import expected_calibration_error
from bayescal.core.quantity import ERROR, CaseArrays, Floats, Quantity
from bayescal.core.scores import Scores
from bayescal.core.shown import Progress, progress_bar
from bayescal.core.streams import stream
from bayescal.core.text import counted
from bayescal.measures.measure import ROWS
from bayescal.measures.registry import measures, range_of, resolve
from bayescal.quantities import of_tables, quantity_named
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.answers import LabelPlan
from bayescal.results.bootstrap import rows_in_cells
from bayescal.results.intervals import interval, tail
from bayescal.results.measure import chosen_variable, curve_cells, inner_names
from bayescal.results.schema import P_CALIBRATED
from bayescal.workflow.fit import fit, plan_of, priors_of, result_of
from bayescal.workflow.sampling import Settings, fit_case, settings_and_options

if TYPE_CHECKING:
    from xarray import DataTree


RANKED = 99
"""Posterior draws that the truth is ranked among: 100 ranks, which many numbers of bins divide."""


type Sample = Callable[[Any, np.random.Generator], Any]
"""Draws data of a given number of rows."""


class Coverage(NamedTuple):
    """Intervals and means of repeated samples from one truth.

    Arrays are (replication,), or (replication, element) where the variable has several elements.
    """

    truth: float | Floats  #: True value.
    lower: Floats  #: Intervals.
    upper: Floats  #: Their upper ends.
    mean: Floats  #: Posterior means.
    p_calibrated: Floats  #: Posterior probabilities of calibration.
    warned: NDArray[np.bool_]  #: Whether a fit gave a warning.
    converged: NDArray[np.bool_]  #: Whether a fit converged.

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

    ranks: dict[str, Whole]  #: Of each variable, or each element as ``gap[3]``, (replication,).
    rhat_max: Floats  #: Largest R-hat, (replication,).
    ess_min: Floats  #: Smallest effective sample size, (replication,).
    divergences: Whole  #: Of each fit, (replication,).

    def p_values(self, bins: int = 20) -> dict[str, float]:
        """Test each variable's ranks for uniformity."""
        from scipy.stats import chisquare

        if (RANKED + 1) % check_whole(bins, "bins", 2):
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
    quantity, priors
        As of `bayescal.fit`.
    truth : object
        Simulator, with the true value as its attribute `var`: a number, or one an element.
    n : int, or what else `sample` takes
        Rows of a sample.
    replications : int
        Number of samples.
    seed : int
        Replication i has the same rows in every call with this seed, whatever the other arguments.
    var : str, optional
        Which variable or measure; the main one of the result's kind if not given.
    sample : callable, optional
        From `n` and a Generator to data, whose first case is fitted; by default ``truth.scores``.
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
        If the truth has no such value, or gives no rows.

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
    check_call(sample, "sample")
    simulate = getattr(truth, "scores", None) if sample is None else sample
    if simulate is None:
        raise InputError(
            f"truth must have a method scores(n, rng); {type(truth).__name__} has none. Pass "
            "sample=, a function of n and a generator that gives data."
        )
    rows = []
    for index, rng in enumerate(_streams(seed, replications)):
        plan = plan_of(chosen, simulate(n, rng), used, own)
        plan = plan._replace(cases=plan.cases[:1], correlate=None, shared_rows=())
        arrays = fit_case(chosen.NAME, plan.cases[0], settings, index)
        tree = result_of(chosen, plan, used, settings, [arrays])
        var = access.main(tree).name if var is None else var
        if not hasattr(truth, str(var)):
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
    quantity, priors
        As of `bayescal.fit`.
    data : Scores, BinCounts or what else the quantity takes
        Their scores stay, their labels are replaced by simulated ones; of several cases the first.
    replications : int
        Number of simulated data sets.
    seed : int
        Seed.
    variables : sequence of str, optional
        Variables to rank; all that the simulation gives if not given.
    **options
        As of `coverage`.

    Returns
    -------
    Sbc
        Ranks and health.

    Raises
    ------
    InputError
        If the simulation gives no such variable, or there are fewer than 99 draws.

    Notes
    -----
    Parameters are drawn from the prior and labels given them and the scores, so that truth and
    posterior draws are exchangeable and the rank of the truth is uniform. Posterior draws are
    thinned to 99, evenly over the chains. Uniform ranks alone are not enough: a fit with
    divergences can pass. Look at the health as well.

    References
    ----------
    .. [1] S. Talts et al., 2018, Algorithm 2. https://arxiv.org/abs/1804.06788

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
    # Of fewer some would stand twice, and ranks would not be uniform.
    check_whole(settings.chains * settings.draws, "the number of draws of all chains", RANKED)
    template = plan_of(chosen, data, priors_of(chosen, priors), own).cases[0]
    wanted = None if variables is None else checked_words(variables, "variables")
    rows, health = [], []
    for index, rng in enumerate(_streams(seed, replications)):
        case, values = template.simulate(rng)
        result = fit_case(chosen.NAME, case, settings, index)
        names = [name for name in values if name in result.posterior]
        for name in wanted or ():
            check_known(name, names, "variable", "the simulation")
        given = {**result.posterior, **result.given_miscalibration}
        rows.append(_ranks(given, values, wanted or names, rng))
        health.append([result.diagnostics[name] for name in Sbc._fields[1:]])
    ranks = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return Sbc(ranks, *(np.array(column) for column in zip(*health, strict=True)))


def _streams(seed: int, replications: int) -> Iterator[np.random.Generator]:
    """Random numbers of each replication's data; fits draw theirs elsewhere."""
    check_whole(replications, "replications")
    for child in np.random.SeedSequence(seed).spawn(replications):
        yield np.random.default_rng(child)


def _settings(seed: int, options: Mapping[str, Any]) -> tuple[Settings, dict[str, Any]]:
    """Settings and options of the quantity; direct draws need no chains."""
    settings, own = settings_and_options({**options, "seed": seed}, method="direct")
    return replace(settings, chains=1) if settings.method == "direct" else settings, own


def _interval(tree: DataTree, arrays: CaseArrays, var: str, prob: float) -> tuple[Any, ...]:
    """What a result says of `var`, in the order of `Coverage`."""
    tree, name = chosen_variable(tree, var)
    means = access.variable(tree, schema.POSTERIOR, name).mean(schema.DRAW_DIMS)
    (lower, upper), mean = (
        one.squeeze([dim for dim in arrays.coords if dim in one.dims]).values
        for one in (interval(tree, name, prob).transpose(schema.CI_BOUND, ...), means)
    )
    p_calibrated = float(arrays.model_average.get(P_CALIBRATED, np.nan))
    flags = bool(arrays.warnings), arrays.diagnostics["converged"]
    return lower, upper, mean, p_calibrated, *flags


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


SIZES: Final = (100, 300, 1000, 3000, 10_000)
_MOST_LABELS: Final = 10_000_000
# Draws of each of four chains: ends of 90% intervals vary over simulated samples ten times as much
# as over draws that few. Others have as many draws beyond their ends, up to the most.
_DRAWS: Final = 150
_MOST_DRAWS: Final = 500


def plan_labels(
    data: Any,
    var: str = "tce",
    n: Iterable[int] | int = SIZES,
    limit: float | None = None,
    *,
    prob: float = 0.9,
    replications: int = 50,
    seed: int = 0,
    classifier: str | None = None,
    class_: str | None = None,
    group: str | None = None,
    progress: Progress | None = None,
) -> LabelPlan:
    """Say how narrow an interval will be with more labels, and whether it will exclude a limit.

    Parameters
    ----------
    data : xarray.DataTree or Scores
        A result with a calibration curve, of a pilot sample; or such a sample, fitted first.
    var : str, default "tce"
        What the interval is of: a variable of `bayescal.ece`, or a measure (`bayescal.measure`).
    n : int or iterable of int, default (100, 300, 1000, 3000, 10000)
        Numbers of labelled rows.
    limit : float, optional
        A value that the interval should lie wholly below, or wholly above.
    prob : float, in (0, 1), default 0.9
        Posterior probability of the interval.
    replications : int, default 50
        Simulated samples for each number of rows; each is fitted, in about a tenth of a second.
    seed : int, default 0
        The same seed gives the same plan.
    classifier, class_, group : str, optional
        Which case, needed where there are several.
    progress : callable, optional
        Called with (label, fits done, fits in all).

    Returns
    -------
    LabelPlan
        With `table`, a row a number of labels; `text`, which says it in sentences; and
        ``with_limit``, which asks for another limit of the same simulated samples.

    Raises
    ------
    InputError
        If the result has no curve or several priors, or a name or number is wrong.

    Notes
    -----
    Each replication takes one draw of the posterior, label rates and masses of the cells, as the
    truth; of means over rows, such as the AUC, it is a draw of the rows (`bayescal.measure`). From
    it `n` rows are drawn: scores by the masses (the mean scores of the cells), labels by the rates.
    They are fitted without MCMC under the priors of the result, in as many bins as it has
    ("optimal" is not chosen anew), without weights; the pilot is not added to them.

    So the plan is the posterior expectation, over what the pilot leaves open, of the width of the
    interval and of whether it excludes `limit`. Where the pilot does not know on which side of
    `limit` the error is, the probabilities say so: they are not those of the one true error.
    Draws are taken evenly along the calibration error of the pilot's posterior, so that the given
    Monte Carlo error of a probability is an upper bound.

    Results of other quantities with a curve, such as `bayescal.pu_ece`, are planned for ordinary
    labelled rows, fitted by `bayescal.ece` under its default priors.

    References
    ----------
    .. [1] F. Wang and A. E. Gelfand, 2002. https://doi.org/10.1214/ss/1030550861

    Examples
    --------
    >>> import bayescal as bc
    >>> pilot = bc.datasets.ece.truth("over").scores(300, seed=1)
    >>> plan = bc.plan_labels(pilot, n=(100, 1000), limit=0.03, replications=4)
    >>> plan.table.n.tolist(), bool(plan.table.width[1] < plan.table.width[0])
    ([100, 1000], True)
    """
    check_planned(var)
    sizes = _sizes(n)
    tail(prob)
    check_whole(replications, "replications", 2, most=MOST_DRAWN)
    check_call(progress, "progress")
    if limit is not None:
        check_number(limit, "limit", range_of(str(var)))
    quantity = of_tables()
    seed = check_seed(seed)
    if isinstance(data, xr.DataTree):
        tree = data
    else:
        names_of = plan_of(quantity, data, quantity.Priors(), {}).names
        access.check_chosen(names_of, classifier=classifier, class_=class_, group=group)
        tree = _fitted(quantity, data, seed=seed)
    schema.check_result(tree)
    case = _case(tree, quantity, classifier, class_, group)
    truth = _Truth.of(tree, case, var)
    options = _options(tree, case, quantity)
    draws = int(np.clip(round(0.1 * _DRAWS / (1 - prob)), _DRAWS, _MOST_DRAWS))
    found = np.empty((len(sizes), replications, 2))
    total = len(sizes) * replications
    with progress_bar("Planning", progress) as update:
        for k, draw in enumerate(truth.evenly(replications, stream(seed, *case.names))):
            rng = stream(seed, *case.names, number=k + 1)
            for place, size in enumerate(sizes):
                if update is not None:
                    update(counted(size, "label"), k * len(sizes) + place, total)
                rows = truth.rows(draw, size, rng)
                fit_seed = int(rng.integers(2**31))
                again = _fitted(quantity, rows, seed=fit_seed, draws=draws, **options)
                found[place, k] = _ends(again, var, prob, size)
        if update is not None:
            update("", total, total)
    again, name = chosen_variable(again, var)
    title, converged = access.described(again, name).title, access.case_converged(tree, case)
    return LabelPlan(name, prob, tuple(sizes), found, limit, title, converged)


def check_planned(var: Any) -> None:
    """Refuse the name of what fits of simulated samples have no interval of."""
    own = [one.name for one in of_tables().VARIABLES if one.role == ERROR]
    if isinstance(var, str) and var not in own and var.partition(":")[0] not in measures():
        raise InputError(
            f"var must be one of {listing(own)}, or a measure, which bayescal.measures.measures() "
            f"lists; got {shown(var)}. Pass 'tce', say."
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Truth:
    """Draws of the population: scores of cells, their masses and label rates, (draw, cell)."""

    score: Floats
    mass: Floats
    rate: Floats

    @classmethod
    def of(cls, tree: xr.DataTree, case: ResultSlice, var: Any = "tce") -> _Truth:
        """Read the curve of a case, or its rows, whose narrower parts rank them as they are."""
        if _is_of_rows(var) and rows_in_cells(tree, case) is not None:
            drawn = curve_cells(tree, case, ROWS)
            flat = (values.reshape(-1, len(drawn.score)) for values in (drawn.mass, drawn.rate))
            return cls(drawn.score, *flat)

        def cells(group: str, name: str) -> Floats:
            held = access.variable(tree, group, name, case)
            return np.asarray(held.transpose(..., schema.CELL).values, dtype=np.float64)

        count = cells(schema.CONSTANT_DATA, schema.CELL_COUNT)
        rate, mass = (
            cells(schema.CURVE, name).reshape(-1, len(count))[:, count > 0]
            for name in ("rate", "mass")
        )
        score = cells(schema.CONSTANT_DATA, schema.CELL_SCORE)[count > 0]
        return cls(score, mass / mass.sum(axis=1, keepdims=True), np.clip(rate, 0, 1))

    def evenly(self, number: int, rng: np.random.Generator) -> Whole:
        """Places of draws spread evenly along their calibration error."""
        error = expected_calibration_error(self.mass, self.rate, self.score)
        level = (np.arange(number) + rng.random(number)) / number
        return np.asarray(np.argsort(error)[(level * len(error)).astype(np.int64)])

    def rows(self, draw: int, size: int, rng: np.random.Generator) -> Scores:
        """Draw labelled rows of one of the populations."""
        count = rng.multinomial(size, self.mass[draw])
        positive = rng.binomial(count, self.rate[draw])
        label = np.repeat(np.tile([1, 0], len(count)), np.ravel([positive, count - positive], "F"))
        return Scores(y_true=label, y_prob=np.repeat(self.score, count))


def _is_of_rows(var: Any) -> bool:
    """Whether it is a measure that is a mean over rows, not a variable of a fit."""
    of_fit = isinstance(var, str) and var.partition(":")[0] not in measures()
    return not of_fit and resolve(var).components == ROWS


def _sizes(n: Iterable[int] | int) -> list[int]:
    """Numbers of rows, rising."""
    given = list(n) if isinstance(n, Iterable) and not isinstance(n, str | bytes) else [n]
    if not given:
        raise InputError("n must hold a number of labels; got none. Pass (100, 1000), say.")
    return sorted({check_whole(one, "n", most=_MOST_LABELS) for one in given})


def _fitted(quantity: Quantity, data: Any, **options: Any) -> xr.DataTree:
    """Fit without MCMC; what is unusual of a simulated sample is not said."""
    with ignored(ConvergenceWarning, DataWarning):
        return fit(quantity, data, method="direct", **options)


def _case(
    tree: xr.DataTree,
    quantity: Quantity,
    classifier: str | None,
    class_: str | None,
    group: str | None,
) -> ResultSlice:
    """The case, and the class within it where one model answers for several classes."""
    if schema.CURVE not in tree.children:
        raise InputError(
            f"a plan of labels needs a result that holds a calibration curve; this one, of "
            f"{tree.attrs['quantity']}, holds none. Fit bayescal.{quantity.NAME} to labelled rows."
        )
    access.check_given(tree, classifier=classifier, class_=class_, group=group)
    inner = inner_names(tree)
    if not inner:
        return access.find_case(tree, classifier, class_, group)
    ((dim, names),) = inner.items()
    if class_ is None:
        raise InputError(f"class_ must be one of the result's; got none. It has: {names}.")
    check_known(class_, names, "class", "The result")
    case = access.find_case(tree, classifier, None, group)
    return replace(case, sel={**case.sel, dim: class_})


def _options(tree: xr.DataTree, case: ResultSlice, quantity: Quantity) -> dict[str, Any]:
    """Priors and bins of the pilot, where it is of the quantity that is fitted again."""
    if tree.attrs["quantity"] != quantity.NAME:
        return {}
    priors = quantity.Priors.from_json(access.of_prior(tree, "priors"))
    strategy, closed = tree.attrs["binning_strategy"], tree.attrs["closed"]
    if strategy in STRATEGIES:
        return {"priors": priors, "binning": Binning(tree.attrs["n_bins"], strategy, closed)}
    edges = access.variable(tree, schema.POINT_ESTIMATE, schema.BIN_EDGES, case).values
    return {"priors": priors, "binning": Binning(strategy=edges, closed=closed)}


def _ends(tree: xr.DataTree, var: str, prob: float, size: int) -> Floats:
    """Ends of the interval of a simulated sample, which may be too small for a value."""
    try:
        ends = interval(tree, var, prob)
    except NoValueError as error:
        raise InputError(
            f"n must be so large that {var} has a value in every simulated sample; one of {size:,} "
            f"labels has none. Pass a larger n than {size:,}, or plan 'brier'."
        ) from error
    return np.asarray(ends.values, dtype=np.float64).reshape(2)
