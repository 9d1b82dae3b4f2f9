"""The measures by name: what is said of each, and where its definition is from.

Another package adds a `Measure` by an entry point of the group ``bayescal.measures``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from inspect import Parameter, signature
from types import MappingProxyType
from typing import Any, Final

from bayescal.core.checks import check_known, check_number, listing
from bayescal.core.errors import InputError
from bayescal.core.quantity import CALIBRATION_ERRORS, LESS, MORE
from bayescal.measures import errors, scores
from bayescal.measures.measure import ALL, MISCALIBRATED, ROWS, Measure, with_options

ENTRY_POINTS: Final = "bayescal.measures"
_CELLS: Final = ("rate", "score", "mass")

AUSTIN: Final = (
    "P. C. Austin and E. W. Steyerberg, Statistics in Medicine 38, 2019, "
    "https://doi.org/10.1002/sim.8281"
)
HOORDE: Final = (
    "K. Van Hoorde et al., Journal of Biomedical Informatics 54, 2015, "
    "https://doi.org/10.1016/j.jbi.2014.12.016"
)
CALSTER: Final = (
    "B. Van Calster et al., BMC Medicine 17, 2019, https://doi.org/10.1186/s12916-019-1466-7"
)
COX: Final = "D. R. Cox, Biometrika 45, 1958, https://doi.org/10.1093/biomet/45.3-4.562"
MURPHY: Final = (
    "A. H. Murphy, Journal of Applied Meteorology 12, 1973; T. Dimitriadis, T. Gneiting and "
    "A. I. Jordan, PNAS 118, 2021, https://doi.org/10.1073/pnas.2016191118"
)
ARRIETA: Final = (
    "I. Arrieta-Ibarra et al., Journal of Machine Learning Research 23(351), 2022, "
    "https://jmlr.org/papers/v23/22-0658.html"
)
SMOOTH: Final = "J. Blasiok and P. Nakkiran, ICLR 2024, https://arxiv.org/abs/2309.12236"
VICKERS: Final = (
    "A. J. Vickers and E. B. Elkin, Medical Decision Making 26, 2006, "
    "https://doi.org/10.1177/0272989X06295361"
)
KUMAR: Final = "A. Kumar, P. Liang and T. Ma, NeurIPS 2019, https://arxiv.org/abs/1909.10155"
FAWCETT: Final = (
    "T. Fawcett, Pattern Recognition Letters 27, 2006, https://doi.org/10.1016/j.patrec.2005.10.010"
)

_BOTH: Final = "It needs rows of both labels whose scores are strictly between 0 and 1"
_ONE_WITHIN: Final = f"{_BOTH}: choose mean_gap."
_PARTED: Final = f"{_BOTH}, of two values or more, and do not part the labels: choose mean_gap."
_NONE_EXPECTED: Final = "No event is expected where every score is 0: choose mean_gap."
_ONE_LABEL: Final = "It needs a positive rate of both labels: collect rows of the other label."
_WRONG_END: Final = (
    "It is infinite where a score of exactly 0 or 1 is wrong: clip the scores, or choose brier."
)
_NONE_CALLED: Final = "No row is called so at this threshold: choose one within the scores."


def _measure(
    title: str,
    function: Callable[..., Any],
    reference: str,
    better: str | None = LESS,
    components: str = ALL,
    undefined: str = "",
    options: tuple[str, ...] = (),
    by_part: bool = False,
) -> Measure:
    """A measure that has the name of its function, and the first line of its docstring."""
    name, meaning = function.__name__, (function.__doc__ or "").strip().partition("\n")[0]
    facts = name, title, function, meaning, better, components, options, undefined, reference
    return Measure(*facts, copies_tie=True, by_part=by_part)


# No straight lines of rate and score: a mean over a wide cell is not that at its mean.
_bent = partial(_measure, by_part=True)
_AT: Final = ("threshold",)
_COSTS: Final = (*_AT, "false_positive", "false_negative")
OWN: Final = (
    _measure("TCE", errors.tce, AUSTIN),
    _measure("ICI", errors.tce, AUSTIN)._replace(name="ici"),
    _bent("E_max", errors.emax, AUSTIN),
    _measure("E50", errors.e50, AUSTIN),
    _measure("E90", errors.e90, AUSTIN),
    _bent("l2 error", errors.l2, KUMAR),
    _bent("ECI", errors.eci, HOORDE),
    _measure("over-estimation", errors.over, AUSTIN),
    _measure("under-estimation", errors.under, AUSTIN),
    _measure("smooth ECE", errors.smece, SMOOTH),
    _measure("c, Kuiper", errors.c, ARRIETA),
    _measure("Kolmogorov-Smirnov", errors.ks, ARRIETA),
    _measure("mean gap", errors.mean_gap, CALSTER, None),
    _measure("O:E ratio", errors.oe, CALSTER, None, undefined=_NONE_EXPECTED),
    _bent("calibration slope", errors.slope, COX, None, undefined=_PARTED),
    _bent("calibration intercept", errors.intercept, COX, None, undefined=_PARTED),
    _bent("calibration in the large", errors.citl, CALSTER, None, undefined=_ONE_WITHIN),
    _measure("Brier score", scores.brier, MURPHY, LESS, ROWS),
    _bent("Brier, miscalibration", scores.brier_miscalibration, MURPHY),
    _bent("Brier, discrimination", scores.brier_discrimination, MURPHY, MORE, MISCALIBRATED),
    _measure("Brier, uncertainty", scores.brier_uncertainty, MURPHY, None, ROWS),
    _measure("scaled Brier score", scores.scaled_brier, MURPHY, MORE, ROWS, _ONE_LABEL),
    _measure("log loss", scores.log_loss, MURPHY, LESS, ROWS, _WRONG_END)._replace(
        copies_tie=False
    ),
    _bent("log loss, miscalibration", scores.log_loss_miscalibration, MURPHY, undefined=_WRONG_END),
    _bent("log loss, discrimination", scores.log_loss_discrimination, MURPHY, MORE, MISCALIBRATED),
    _measure("log loss, uncertainty", scores.log_loss_uncertainty, MURPHY, None, ROWS),
    _measure("prevalence", scores.prevalence, FAWCETT, None, ROWS),
    _measure("AUC", scores.auc, FAWCETT, MORE, ROWS, _ONE_LABEL),
    _measure("AUPRC", scores.auprc, FAWCETT, MORE, ROWS, _ONE_LABEL),
    _measure("accuracy", scores.accuracy, FAWCETT, MORE, ROWS, "", _AT),
    _measure("sensitivity", scores.sensitivity, FAWCETT, MORE, ROWS, _ONE_LABEL, _AT),
    _measure("specificity", scores.specificity, FAWCETT, MORE, ROWS, _ONE_LABEL, _AT),
    _measure("PPV", scores.ppv, FAWCETT, MORE, ROWS, _NONE_CALLED, _AT),
    _measure("NPV", scores.npv, FAWCETT, MORE, ROWS, _NONE_CALLED, _AT),
    _measure("net benefit", scores.net_benefit, VICKERS, MORE, ROWS, "", _AT),
    _measure("net benefit of treating all", scores.net_benefit_all, VICKERS, MORE, ROWS, "", _AT),
    _measure("cost", scores.cost, FAWCETT, LESS, ROWS, "", _COSTS),
)


# What need not lie in [0, 1].
_NO_SHARE: Final = "eci|mean_gap|oe|slope|intercept|citl|scaled_brier|cost|log_loss.*|net_benefit.*"


def range_of(name: str) -> str:
    """Where limits of a number may lie: that of a share is not in percent."""
    own = name.partition(":")[0]
    known = own in {one.name for one in (*CALIBRATION_ERRORS, *OWN)}
    return "[0, 1]" if known and not re.fullmatch(_NO_SHARE, own) else "(-inf, inf)"


@cache
def measures() -> Mapping[str, Measure]:
    """All measures by name: the package's own, then those of entry points.

    Returns
    -------
    mapping of str to Measure
        Names, such as ``"e90"``, and what each is.

    Examples
    --------
    >>> import bayescal as bc
    >>> bc.measures.measures()["oe"].meaning
    'Observed over expected events.'
    """
    from importlib.metadata import entry_points

    added = [point.load() for point in entry_points(group=ENTRY_POINTS)]
    return MappingProxyType({measure.name: measure for measure in (*OWN, *added)})


def resolve(spec: Any, **options: float) -> Measure:
    """Find a measure by its name, with options after a colon or as keywords, ready to be called.

    Parameters
    ----------
    spec : str, Measure or callable
        A name such as ``"e90"`` or ``"net_benefit:0.25"``, or a function
        ``f(rate, score, mass)`` over the last axis.
    **options : float
        Options of the measure: `threshold` in (0, 1), costs above 0.

    Returns
    -------
    Measure
        The measure, its options set.

    Raises
    ------
    InputError
        If there is no such measure or option, or an option that it needs is missing.

    Examples
    --------
    >>> import bayescal as bc
    >>> bc.measures.resolve("net_benefit", threshold=0.25).name
    'net_benefit:0.25'
    """
    if isinstance(spec, Measure):
        found, given = spec, options
    elif callable(spec):
        name = getattr(spec, "__name__", "function")
        found, given = Measure(name, name.replace("_", " "), spec, better=None), {}
        if options:
            raise InputError(
                f"a function of yours takes no options; got {listing(options)}. Pass "
                "functools.partial(f, ...)."
            )
        _check_takes_cells(spec, name)
    else:
        name, _, values = str(spec).partition(":")
        check_known(name, tuple(measures()), "measure", "bayescal")
        found = measures()[name]
        given = _options_of(found, spec, values)
        if twice := given.keys() & options:
            twice_set = f"{spec!r} sets {listing(sorted(twice))}, and so does a keyword"
            raise InputError(
                f"each option of a measure must be set once; {twice_set}. Leave one out."
            )
        given |= options
    return with_options(found, _checked(found, given))


def _check_takes_cells(function: Callable[..., Any], name: str) -> None:
    """Check that a function can be called with the three arrays of cells."""
    try:
        own = signature(function)
    except ValueError:
        return  # Compiled, without a signature.
    try:
        own.bind(*_CELLS)
    except TypeError:
        cells = ", ".join(_CELLS)
        raise InputError(
            f"a measure must be a function of {cells}; got {name}{own}. Define it as f({cells})."
        ) from None


def _options_of(found: Measure, spec: object, values: str) -> dict[str, Any]:
    """Options of a name such as ``cost:0.2,5``, in order."""
    words = values.split(",") if values else []
    if len(words) > len(found.options):
        takes = f"{found.name}:{','.join(found.options)}" if found.options else found.name
        raise InputError(f"a measure must be given as {takes}; got {spec!r}. Leave out the rest.")
    try:
        return dict(zip(found.options, map(float, words), strict=False))
    except ValueError:
        raise InputError(
            f"options of a measure must be numbers; got {spec!r}. Write {found.name}:0.25."
        ) from None


def _checked(found: Measure, given: dict[str, Any]) -> dict[str, float]:
    """Check options, and that those without a default are there."""
    for name in given:
        if name not in found.options:
            raise InputError(
                f"{found.name} has no option {name!r}; it has "
                f"{listing(found.options) if found.options else 'none'}. Leave it out."
            )
    needed = signature(found.function).parameters if found.options else {}
    for name in found.options:
        if name not in given and needed[name].default is Parameter.empty:
            raise InputError(
                f"{found.name} needs a {name}; got none. Write {found.name}:0.25, or in Python "
                f"pass {name}=0.25."
            )
    # A name says options by their order: those before the last one given are among them.
    last = max((n for n, name in enumerate(found.options, 1) if name in given), default=0)
    every = {name: given.get(name, needed[name].default) for name in found.options[:last]}
    ranges = {"threshold": "(0, 1)"}
    return {
        name: check_number(value, name, ranges.get(name, "(0, inf)"), "Pass 0.25.")
        for name, value in every.items()
    }
