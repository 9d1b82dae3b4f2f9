"""What the command line reads for the expected calibration error of labelled rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from bayescal.core import command as shared
from bayescal.core.checks import check_rows
from bayescal.core.command import Command, Estimates, Given, Row

if TYPE_CHECKING:
    from bayescal.core.bin_counts import BinCounts
    from bayescal.core.count_table import CountTable
    from bayescal.core.counts import Counts
    from bayescal.core.scores import Scores, Task
    from bayescal.quantities.ece.data import Data
    from bayescal.quantities.ece.priors import Priors

# Scores and labels that are read at once; beyond it the file is read in batches.
MOST_VALUES: Final = 8_000_000
# The same for several classifiers, whose comparison needs their rows side by side.
MOST_PAIRED: Final = 25_000_000


def priors_from_text(text: str) -> Priors:
    """Read the prior of the label rates from a word."""
    from bayescal.core.priors import Beta, prior_from_string
    from bayescal.quantities.ece.priors import (
        CurveAverage,
        HierarchicalBins,
        IndependentBins,
        Priors,
        SmoothCurve,
    )

    def curve(scale: str = "0.7") -> Priors:
        return Priors(CurveAverage(curve=SmoothCurve(scale=float(scale))))

    def smooth(scale: str = "0.7") -> Priors:
        return Priors(SmoothCurve(scale=float(scale)))

    def beta(*_: str) -> Priors:
        return Priors(IndependentBins(cast(Beta, prior_from_string(text.strip().casefold()))))

    words: dict[str, Callable[..., Priors]] = {
        "curve": curve,
        "smooth": smooth,
        "hierarchical": lambda: Priors(HierarchicalBins()),
        "flat": lambda: Priors(IndependentBins(Beta(1, 1))),
        "jeffreys": lambda: Priors(IndependentBins(Beta(0.5, 0.5))),
        "beta": beta,
    }
    known = "curve or smooth, each with or without :SCALE, hierarchical, flat, jeffreys or beta:A,B"
    return shared.in_words(text, words, known)


def read(given: Given) -> Data:
    """Read the file, or count its rows in batches where they are too many to hold."""
    if shared.are_counts(given):
        from bayescal.core.binning import Binning

        binning = Binning.of(None, **shared.binning_of(given))
        return shared.sum_of(given).each(lambda counts: replace(counts, binning=binning))
    table, columns = shared.open_columns(given)
    whole = given["group"] is not None or columns.classes is not None
    n_scores = len(columns.names)
    most = MOST_PAIRED if n_scores > 1 else MOST_VALUES
    if whole or not shared.too_large(table, n_scores + 1, most):
        return shared.labeled_scores(given, table, columns)
    from bayescal.core.many_rows import count_rows
    from bayescal.quantities.ece.data import CELLS

    return shared.counted(
        count_rows,
        given,
        table,
        columns.names,
        weight=given.get("weight"),
        n_cells=None if given["estimate_only"] else CELLS,
        **shared.binning_of(given),
    )


def estimates(data: Data, given: Given) -> Estimates:
    """Estimate each classifier's calibration error, class by class and group by group."""
    from bayescal.core.binning import Binning, bin_scores
    from bayescal.core.count_table import CountTable
    from bayescal.core.plausibility import label_signs, signs_of_scores
    from bayescal.core.scores import Scores
    from bayescal.quantities.ece.estimator import resolved

    if isinstance(data, Scores):
        signs: list[Any] = signs_of_scores(data)
        binning = resolved(Binning.of(None, **shared.binning_of(given)), data)
        rows = [
            _row(dict(part.coords), bin_scores(part, binning))
            for part in _parts(data, given["multiclass"] or "top-label")
        ]
    else:
        assert isinstance(data, CountTable)
        found = [(coords, counts.bins) for coords, counts in _counts(data)]
        rows = [_row(*one) for one in found]
        signs = [
            f"{' / '.join(coords.values())}: {sign}"
            for coords, bins in found
            for sign in label_signs(bins.mean_score, bins.count - bins.positives, bins.positives)
        ]
    check_rows(len(rows), "the counts")
    shown = {"n": "rows"} | ({"effective_n": "effective"} if "effective_n" in rows[0] else {})
    shown |= {"ece_point": "ECE, plug-in", "mce_point": "MCE, plug-in"}
    return Estimates(
        _means(rows) if given["multiclass"] == "marginal" else rows,
        {"case": "", **shown, "l2_debiased": "l2, debiased"},
        warnings=signs,
        spare=["l2, debiased"],
    )


def _parts(scores: Scores, multiclass: str) -> Iterator[Task]:
    from bayescal.quantities.ece.estimator import by_group

    for task in scores.tasks(multiclass):
        yield from by_group(task)


def _counts(table: CountTable) -> Iterator[tuple[dict[str, str], Counts]]:
    """Counts of each classifier, by group with labels where there are groups."""
    from bayescal.quantities.ece.data import labelled_groups

    for name, whole in table.items():
        if not table.groups:
            yield {"classifier": name}, whole
            continue
        for group, counts in labelled_groups(table, name).items():
            yield {"classifier": name, "group": group}, counts


def _row(coords: dict[str, str], counts: BinCounts) -> Row:
    from bayescal.quantities.ece.estimator import estimate

    found = estimate(counts)
    effective = {"effective_n": round(counts.effective_n, 1)} if counts.weighted else {}
    return shared.row_of(
        coords,
        n=counts.n,
        **effective,
        ece_point=float(found.ece),
        mce_point=float(found.mce),
        l2=float(found.l2),
        l2_debiased=float(found.l2_debiased),
    )


def _means(rows: Sequence[Row]) -> list[Row]:
    """Means over the classes: the marginal calibration error."""
    cases: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        cases.setdefault((row["classifier"], row.get("group", "")), []).append(row)
    return [_mean(parts) for parts in cases.values()]


def _mean(parts: Sequence[Row]) -> Row:
    first = parts[0]
    coords: dict[str, str] = {k: first[k] for k in ("classifier", "group") if k in first}
    numbers = ("ece_point", "mce_point", "l2", "l2_debiased")
    means = {name: sum(part[name] for part in parts) / len(parts) for name in numbers}
    others = {k: v for k, v in first.items() if k not in ("case", "class", *coords, *numbers)}
    return shared.row_of(coords, **others, **means)


COMMAND = Command(
    help="Measure the expected calibration error of the scores in FILE, with its posterior. FILE "
    "is CSV or Parquet. Rows without a label are left out. Files too large for memory are read "
    "in batches. FILE... may be counts of bayescal count, which are added up.",
    example="ece scores.csv --label y --score forest --score boosting -o calibration.html",
    options=(*shared.GROUPED_ROWS, shared.MULTICLASS, *shared.BINNING),
    prior=shared.prior_by(
        priors_from_text,
        "curve",
        "curve (an average over descriptions of the calibration curve) or smooth (a smooth "
        "curve alone), with :SCALE for another scale than 0.7 logits; hierarchical (bins with "
        "partial pooling); or independent bins: flat, jeffreys or beta:A,B.",
    ),
    read=read,
    estimates=estimates,
    reports=True,
    counts=True,
    curve=True,
)
