"""What the command line reads for the calibration error from positive and unlabelled rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayescal.core.command import Command, Estimates, Given, Option
from bayescal.core.errors import InputError
from bayescal.core.score_options import BINNING, SCORE, binning_of, matching

if TYPE_CHECKING:
    from bayescal.core.priors import Beta
    from bayescal.quantities.pu_ece.data import PUScores
    from bayescal.quantities.pu_ece.priors import Priors

_POSITIVE = Option(
    flags=("--positive-column",),
    required=True,
    metavar="COLUMN",
    help="Column that is 1 for a positive and 0 for an unlabelled row.",
    phrases={"Name it as the score.": "Name it with --score."},
)
_LABEL_RATE = Option(
    flags=("--label-rate",),
    default="curve",
    choices=("curve", "mixture", "independent"),
    help="A smooth calibration curve, or the paper's bins as a model.",
)


def _read(given: Given) -> PUScores:
    from bayescal.core.tables import open_table
    from bayescal.quantities.pu_ece.tables import read_pu_scores

    taken, names = given["positive_column"], []
    if given["score"]:
        table = open_table(given["file"])
        pairs = (matching(pattern, table, [taken]) for pattern in given["score"])
        names = [column for found in pairs for column, _ in found]
    return read_pu_scores(given["file"], positive_column=taken, score=names or None)


def _check_class_prior(text: str) -> None:
    if text.strip().casefold() != "estimate":
        _class_prior(text)


def _class_prior(text: str) -> float | Beta:
    from bayescal.core.priors import Beta, prior_from_string

    word = text.strip().casefold()
    if word.startswith("beta:") and isinstance(found := prior_from_string(word), Beta):
        return found
    try:
        return float(word)
    except ValueError:
        raise InputError(
            f"--class-prior must be beta:A,B, a number in (0, 1) or estimate; got {text!r}."
        ) from None


def _priors(given: Given, data: PUScores) -> Priors:
    from bayescal.quantities.pu_ece.class_prior import estimate_class_prior
    from bayescal.quantities.pu_ece.priors import IndependentBins, MixtureBins, Priors

    text = given["class_prior"]
    if text.strip().casefold() == "estimate":
        share: float | Beta = estimate_class_prior(data.select(data.classifiers[0])).prior
    else:
        share = _class_prior(text)
    if given["label_rate"] == "curve":
        return Priors(share)
    return Priors(share, MixtureBins() if given["label_rate"] == "mixture" else IndependentBins())


def _estimates(data: PUScores, given: Given) -> Estimates:
    from bayescal.quantities.pu_ece.estimator import estimate

    pi = _priors({**given, "label_rate": "curve"}, data).class_prior_mean
    rows = []
    for name in data.classifiers:
        found = estimate(data.select(name), class_prior=pi, **binning_of(given))
        rows.append(
            {
                "classifier": name,
                "n_positive": data.n_positive,
                "n_unlabeled": data.n_unlabeled,
                "class_prior": pi,
                "ece_point": float(found.ece),
                "mce_point": float(found.mce),
            }
        )
    columns = {"classifier": "", "n_positive": "positives", "n_unlabeled": "unlabelled"}
    columns |= {"class_prior": "class prior", "ece_point": "PU-ECE", "mce_point": "PU-MCE"}
    return Estimates(rows, columns)


COMMAND = Command(
    help="Measure the expected calibration error from positives and unlabelled rows in FILE. FILE "
    "is CSV or Parquet. The positives must be a random sample of all positives, and the "
    "unlabelled rows a random sample of the population.",
    example="pu-ece pu.csv --positive-column s --class-prior beta:4,16 -o pu.html",
    options=(_POSITIVE, SCORE, _LABEL_RATE, *BINNING),
    prior=Option(
        flags=("--class-prior",),
        required=True,
        metavar="PRIOR",
        help="Share of positives among the unlabelled rows: beta:A,B for a belief, a number where "
        "it is known, or estimate (by the best bin of the first score).",
        check=_check_class_prior,
    ),
    read=_read,
    priors=_priors,
    plan_options=binning_of,
    estimates=_estimates,
    note="These numbers depend on the class prior: compare others with bayescal sensitivity "
    "pu-ece.",
)
