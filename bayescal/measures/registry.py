"""The measures by name: what is said of each, and where its definition is from.

Another package adds one by an entry point of the group ``bayescal.measures`` that names a
`Measure`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import Parameter, signature
from typing import Any, Final

from bayescal.core.checks import check_known, check_number, listing
from bayescal.core.errors import InputError
from bayescal.core.variables import LESS, MORE
from bayescal.measures import decisions, discrimination, errors, recalibration, scores, smooth_ece
from bayescal.measures.measure import ALL, MISCALIBRATED, ROWS, Measure, with_options

ENTRY_POINTS: Final = "bayescal.measures"

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

_ENDS: Final = (
    "Scores strictly between 0 and 1 have fewer than two values, or part the labels wholly: choose "
    "mean_gap."
)
_ONE_LABEL: Final = "It needs a positive rate of both labels: collect rows of the other label."
_WRONG_END: Final = (
    "It is infinite where a score of exactly 0 or 1 is wrong: clip the scores, or choose brier."
)
_NONE_CALLED: Final = "No row is called so at this threshold: choose one within the scores."


def _error(name: str, title: str, function: Callable[..., Any], reference: str) -> Measure:
    return Measure(name, title, function, _meaning(function), LESS, ALL, reference=reference)


def _signed(name: str, title: str, function: Callable[..., Any], reference: str) -> Measure:
    return Measure(
        name, title, function, _meaning(function), None, ALL, undefined=_ENDS, reference=reference
    )


def _of_rows(
    name: str,
    title: str,
    function: Callable[..., Any],
    reference: str,
    better: str | None = LESS,
    undefined: str = "",
    options: tuple[str, ...] = (),
) -> Measure:
    meaning = _meaning(function)
    return Measure(name, title, function, meaning, better, ROWS, options, undefined, reference)


def _of_curve(
    name: str,
    title: str,
    function: Callable[..., Any],
    reference: str,
    better: str | None = LESS,
    undefined: str = "",
) -> Measure:
    found = _of_rows(name, title, function, reference, better, undefined)
    return found._replace(components=MISCALIBRATED)


def _meaning(function: Callable[..., Any]) -> str:
    return (function.__doc__ or "").strip().splitlines()[0]


_AT: Final = ("threshold",)
OWN: Final = (
    _error("tce", "TCE", errors.tce, AUSTIN),
    _error("ici", "ICI", errors.tce, AUSTIN),
    _error("emax", "E_max", errors.emax, AUSTIN),
    _error("e50", "E50", errors.e50, AUSTIN),
    _error("e90", "E90", errors.e90, AUSTIN),
    _error("l2", "l2 error", errors.l2, KUMAR),
    _error("eci", "ECI", errors.eci, HOORDE),
    _error("over", "over-estimation", errors.over, AUSTIN),
    _error("under", "under-estimation", errors.under, AUSTIN),
    _error("smece", "smooth ECE", smooth_ece.smece, SMOOTH),
    _error("c", "c, Kuiper", errors.c, ARRIETA),
    _error("ks", "Kolmogorov-Smirnov", errors.ks, ARRIETA),
    _signed("mean_gap", "mean gap", errors.mean_gap, CALSTER),
    _signed("oe", "O:E ratio", errors.oe, CALSTER),
    _signed("slope", "calibration slope", recalibration.slope, COX),
    _signed("intercept", "calibration intercept", recalibration.intercept, COX),
    _signed("citl", "calibration in the large", recalibration.citl, CALSTER),
    _of_rows("brier", "Brier score", scores.brier, MURPHY),
    _error("brier_miscalibration", "Brier, miscalibration", scores.brier_miscalibration, MURPHY),
    _of_curve(
        "brier_discrimination", "Brier, discrimination", scores.brier_discrimination, MURPHY, MORE
    ),
    _of_rows("brier_uncertainty", "Brier, uncertainty", scores.brier_uncertainty, MURPHY, None),
    _of_rows("scaled_brier", "scaled Brier score", scores.scaled_brier, MURPHY, MORE, _ONE_LABEL),
    _of_curve("log_loss", "log loss", scores.log_loss, MURPHY, LESS, _WRONG_END),
    _error(
        "log_loss_miscalibration",
        "log loss, miscalibration",
        scores.log_loss_miscalibration,
        MURPHY,
    )._replace(undefined=_WRONG_END),
    _of_curve(
        "log_loss_discrimination",
        "log loss, discrimination",
        scores.log_loss_discrimination,
        MURPHY,
        MORE,
    ),
    _of_rows(
        "log_loss_uncertainty", "log loss, uncertainty", scores.log_loss_uncertainty, MURPHY, None
    ),
    _of_rows("prevalence", "prevalence", scores.prevalence, FAWCETT, None),
    _of_rows("auc", "AUC", discrimination.auc, FAWCETT, MORE, _ONE_LABEL),
    _of_rows("auprc", "AUPRC", discrimination.auprc, FAWCETT, MORE, _ONE_LABEL),
    *(
        _of_rows(function.__name__, title, function, FAWCETT, MORE, undefined, _AT)
        for title, function, undefined in (
            ("accuracy", discrimination.accuracy, ""),
            ("sensitivity", discrimination.sensitivity, _ONE_LABEL),
            ("specificity", discrimination.specificity, _ONE_LABEL),
            ("PPV", discrimination.ppv, _NONE_CALLED),
            ("NPV", discrimination.npv, _NONE_CALLED),
        )
    ),
    _of_rows("net_benefit", "net benefit", decisions.net_benefit, VICKERS, MORE, "", _AT),
    _of_rows(
        "net_benefit_all",
        "net benefit of treating all",
        decisions.net_benefit_all,
        VICKERS,
        MORE,
        "",
        _AT,
    ),
    _of_rows(
        "cost",
        "cost",
        decisions.cost,
        FAWCETT,
        LESS,
        "",
        ("threshold", "false_positive", "false_negative"),
    ),
)


@cache
def measures() -> dict[str, Measure]:
    """All measures by name: the package's own, then those of entry points.

    Returns
    -------
    dict of str to Measure
        Names, such as ``"e90"``, and what each is.

    Examples
    --------
    >>> import bayescal as bc
    >>> bc.measures.measures()["oe"].meaning
    'Observed over expected events.'
    """
    from importlib.metadata import entry_points

    added = [point.load() for point in entry_points(group=ENTRY_POINTS)]
    return {measure.name: measure for measure in (*OWN, *added)}


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
    else:
        name, _, values = str(spec).partition(":")
        check_known(name, tuple(measures()), "measure", "bayescal")
        found = measures()[name]
        given = {**_options_of(found, spec, values), **options}
    return with_options(found, _checked(found, given))


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
                f"{found.name} needs a {name}; got none. Pass {name}=0.25, or write "
                f"{found.name}:0.25."
            )
    ranges = {"threshold": "(0, 1)"}
    return {
        name: check_number(given[name], name, ranges.get(name, "(0, inf)"), "Pass 0.25.")
        for name in found.options
        if name in given
    }
