"""What the command line reads for the calibration error from positive and unlabelled rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bayescal.core import command as shared
from bayescal.core.checks import check_number
from bayescal.core.command import Command, Estimates, Given, Option, are_counts, sum_of
from bayescal.core.errors import InputError
from bayescal.core.text import counted

if TYPE_CHECKING:
    from bayescal.core.priors import Beta
    from bayescal.quantities.pu_ece.data import PUCounts, PUScores
    from bayescal.quantities.pu_ece.estimator import Estimate
    from bayescal.quantities.pu_ece.priors import Priors

_POSITIVE = Option(
    flags=("--positive-column",),
    required=True,
    metavar="COLUMN",
    help="Column that is 1 for a positive row, and 0 or missing for an unlabelled one.",
    phrases={
        "Name it as the score.": "Name it with --score.",
        "Pass bayescal.pu_ece.optimal_n_bins(n_positive, n_unlabeled, class_prior)": "Pass 15, say",
        " (pure=True)": "",
        "Pass pure=False, or a class prior known otherwise": "Give one that is known otherwise",
    },
)
_LABEL_RATE = Option(
    flags=("--label-rate",),
    default="curve",
    choices=("curve", "mixture", "independent"),
    help="A calibration curve, or the paper's bins as a model.",
)


def _read(given: Given) -> PUScores | dict[str, PUCounts]:
    """Read the file, or count its rows in batches where they are too many to hold."""
    from bayescal.core.tables import open_table
    from bayescal.quantities.pu_ece.data import read_pu_scores

    if are_counts(given):
        return _of_counts(given)
    taken, names = given["positive_column"], []
    table = open_table(given["file"])
    if given["score"]:
        pairs = (shared.matching(pattern, table, [taken]) for pattern in given["score"])
        names = [column for found in pairs for column, _ in found]
    if names and shared.too_large(table, len(names) + 1):
        from bayescal.quantities.pu_ece.data import count_rows

        return count_rows(table, positive_column=taken, score=names, **shared.binning_of(given))
    return read_pu_scores(given["file"], positive_column=taken, score=names or None)


def _of_counts(given: Given) -> dict[str, PUCounts]:
    """Counts of positive rows and of rows without a label, in bins."""
    from bayescal.core.binning import Binning
    from bayescal.core.count_table import without_groups
    from bayescal.quantities.pu_ece.data import binned

    binning = Binning.of(None, **shared.binning_of(given))
    if isinstance(binning.n_bins, str):
        raise InputError(
            f"--bins must be a number with counts; got {binning.n_bins}. Pass 15, say."
        )
    n_bins = binning.n_bins
    table = without_groups(sum_of(given), "pu_ece")
    return {name: binned(counts, binning, n_bins, "label") for name, counts in table.items()}


def _class_prior(text: str) -> float | Beta | None:
    """Read a class prior; None is to be estimated."""
    from bayescal.core.priors import Beta, prior_from_string

    word = text.strip().casefold()
    if word == "estimate":
        return None
    if ".." in word:
        return _between(word)
    try:
        if word.startswith("beta:") and isinstance(found := prior_from_string(word), Beta):
            return found
        return check_number(float(word), "class_prior", "(0, 1)")
    except ValueError:
        raise InputError(
            "--class-prior must be beta:A,B with both above 0, LOW..HIGH, a number in (0, 1) or "
            f"estimate; got {text!r}. Write 0.3..0.45, say."
        ) from None


def _between(text: str) -> Beta:
    """Read the 90% interval of a class prior: ``0.3..0.45``, or ``.3..45``, which is the same."""
    from bayescal.core.priors import Beta

    low, _, high = (part.strip() for part in text.partition(".."))
    try:
        ends = float(low), float(f".{high}" if low.startswith(".") and high.isdigit() else high)
    except ValueError:
        ends = (0.0, 0.0)
    if not 0 < ends[0] < ends[1] < 1:
        raise InputError(
            "--class-prior LOW..HIGH must be a 90% interval with 0 < LOW < HIGH < 1; got "
            f"{text!r}. Write 0.3..0.45, say."
        )
    return Beta.from_interval(*ends)


def _priors(given: Given, data: PUScores | dict[str, PUCounts]) -> Priors:
    from bayescal.quantities.pu_ece.class_prior import estimate_class_prior
    from bayescal.quantities.pu_ece.priors import IndependentBins, MixtureBins, Priors

    share = _class_prior(given["class_prior"])
    if share is None:
        if isinstance(data, dict):
            raise InputError(
                "--class-prior estimate takes rows in memory, and the file has too many. Estimate "
                "it from some of them, and pass beta:A,B."
            )
        share = estimate_class_prior(data.select(data.classifiers[0])).prior
    if given["label_rate"] == "curve":
        return Priors(share)
    return Priors(share, MixtureBins() if given["label_rate"] == "mixture" else IndependentBins())


def _estimates(data: PUScores | dict[str, PUCounts], given: Given) -> Estimates:
    pi = _priors({**given, "label_rate": "curve"}, data).class_prior_mean
    every = list(_estimated(data, pi, given))
    rows = [
        {
            "classifier": name,
            "n_positive": n_positive,
            "n_unlabeled": n_unlabeled,
            "class_prior": pi,
            "ece_point": float(found.ece),
            "mce_point": float(found.mce),
        }
        for name, n_positive, n_unlabeled, found in every
    ]
    notes = [
        f"{name}: in {found.exceeds_one.sum()} of {counted(len(found.count), 'bin')} the share of "
        "positives would exceed 1: chance, a class prior too large, or positives that are no "
        "random sample."
        for name, _, _, found in every
        if found.exceeds_one.any()
    ]
    columns = {"classifier": "", "n_positive": "positives", "n_unlabeled": "unlabelled"}
    columns |= {"class_prior": "class prior", "ece_point": "ECE, plug-in"}
    columns |= {"mce_point": "MCE, plug-in"}
    return Estimates(rows, columns, notes, spare=["positives", "unlabelled"])


def _estimated(
    data: PUScores | dict[str, PUCounts], pi: float, given: Given
) -> Iterator[tuple[str, int, int, Estimate]]:
    """Each classifier's estimate, with the sizes of both samples."""
    from bayescal.quantities.pu_ece.estimator import estimate, of_counts

    if isinstance(data, dict):
        for name, counts in data.items():
            found = of_counts(counts.bins, counts.positive_in_bins(), pi)
            yield name, counts.n_positive, counts.n_unlabeled, found
        return
    for name in data.classifiers:
        found = estimate(data.select(name), class_prior=pi, **shared.binning_of(given))
        yield name, data.n_positive, data.n_unlabeled, found


COMMAND = Command(
    help="Measure the expected calibration error from positives and unlabelled rows in FILE. FILE "
    "is CSV or Parquet. The positives must be a random sample of all positives, and the "
    "unlabelled rows a random sample of the population. Files too large for memory are read in "
    "batches, where --score names the scores. FILE... may be counts of bayescal count, of the "
    "positive rows and of rows without a label.",
    example="pu-ece pu.csv --positive-column s --class-prior beta:4,16 -o pu.html",
    options=(_POSITIVE, shared.BINARY_SCORE, _LABEL_RATE, *shared.BINNING),
    prior=Option(
        flags=("--class-prior",),
        required=True,
        metavar="PRIOR",
        help="Share of positives among the unlabelled rows: beta:A,B for a belief, or its 90% "
        "interval LOW..HIGH such as 0.3..0.45; a number where it is known, or estimate (by the "
        "best bin of the first score).",
        read=_class_prior,
    ),
    read=_read,
    priors=_priors,
    estimates=_estimates,
    counts=True,
    note="These numbers depend on the class prior: compare others with bayescal sensitivity "
    "pu-ece.",
    curve=True,
)
