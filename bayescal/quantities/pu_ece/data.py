"""From positive and unlabelled scores to counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bin_counts import BinCounts
from bayescal.core.bin_edges import bin_edges, cell_edges, strategy_name
from bayescal.core.binning import Binning, count_into
from bayescal.core.checks import check_is, check_known, check_same_length
from bayescal.core.errors import InputError
from bayescal.core.intake import Column, alike, probabilities
from bayescal.core.shown import Showing, Shown
from bayescal.curves.cells import Problem
from bayescal.curves.priors import CurveAverage, SmoothCurve
from bayescal.quantities.pu_ece.priors import Priors

type Floats = NDArray[np.floating]


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class PUScores(Showing):
    """Scores of rows known to be positive and of rows whose label is not known.

    Parameters
    ----------
    positive : array-like or Series of shape (positive,), in [0, 1]
        Scores of a random sample of positives.
    unlabeled : array-like or Series of shape (unlabeled,), in [0, 1]
        Scores of a random sample of the population, positives and negatives.
    classifier : str, default "classifier"
        Name of the classifier.

    Attributes
    ----------
    positive, unlabeled : tuple of ndarray
        Scores of each classifier; float32 stays float32.
    classifiers : tuple of str
        Names of the classifiers.

    Raises
    ------
    InputError
        If one of the samples is empty, or a score is no probability.

    Notes
    -----
    The positives are taken to be selected completely at random (SCAR): their scores are distributed
    like those of the positives among the unlabelled rows. The two samples are drawn separately
    (case-control); the positives are not rows of the unlabelled sample. Arrays are looked at, not
    copied: do not change them afterwards.

    References
    ----------
    .. [1] C. Elkan and K. Noto, "Learning Classifiers from Only Positive and Unlabeled Data", KDD
       2008. https://doi.org/10.1145/1401890.1401920

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.data import PUScores
    >>> PUScores(positive=[0.7, 0.9], unlabeled=[0.1, 0.4, 0.8], classifier="vit")
    <PUScores: classifiers 'vit'; n_positive 2, n_unlabeled 3>
    """

    positive: tuple[Floats, ...]
    unlabeled: tuple[Floats, ...]
    classifiers: tuple[str, ...]

    def __init__(self, *, positive: Any, unlabeled: Any, classifier: str = "classifier") -> None:
        _fill(self, {str(classifier): (positive, unlabeled)}, "")

    @classmethod
    def stack(cls, scores: Mapping[str, tuple[Any, Any]]) -> PUScores:
        """Put several classifiers' scores of the same rows together.

        Parameters
        ----------
        scores : mapping of str to (positive, unlabeled)
            Both samples' scores by name of the classifier, each as for `PUScores`.

        Returns
        -------
        PUScores
            With one entry of ``classifier`` each, in the order given.

        Raises
        ------
        InputError
            If there is no classifier, or they score different numbers of rows.

        Examples
        --------
        >>> from bayescal.quantities.pu_ece.data import PUScores
        >>> PUScores.stack({"vit": ([0.7], [0.1, 0.4]), "gbm": ([0.8], [0.2, 0.3])}).n_classifiers
        2
        """
        if not isinstance(scores, Mapping) or not scores:
            raise InputError(
                f"there must be at least one classifier with its scores; got {scores!r:.60}. "
                "Pass {name: (positive, unlabeled)}."
            )
        found = cls.__new__(cls)
        _fill(found, {str(name): pair for name, pair in scores.items()}, " of {!r}")
        return found

    @property
    def n_positive(self) -> int:
        """Number of positives."""
        return len(self.positive[0])

    @property
    def n_unlabeled(self) -> int:
        """Number of unlabelled rows."""
        return len(self.unlabeled[0])

    @property
    def n_classifiers(self) -> int:
        """Number of classifiers."""
        return len(self.classifiers)

    def select(self, classifier: str) -> PUScores:
        """Take one classifier.

        Parameters
        ----------
        classifier : str
            Its name.

        Returns
        -------
        PUScores
            That classifier alone.

        Examples
        --------
        >>> from bayescal.quantities.pu_ece.data import PUScores
        >>> both = PUScores.stack({"vit": ([0.7], [0.1, 0.4]), "gbm": ([0.8], [0.2, 0.3])})
        >>> both.select("gbm").classifiers
        ('gbm',)
        """
        check_known(classifier, self.classifiers, "classifier", "the scores")
        place = self.classifiers.index(classifier)
        return PUScores(
            positive=self.positive[place], unlabeled=self.unlabeled[place], classifier=classifier
        )

    def _show_(self) -> Shown:
        each = zip(self.classifiers, self.positive, self.unlabeled, strict=True)
        return Shown(
            lead=[f"{self.n_positive:,} positives and {self.n_unlabeled:,} unlabelled rows."],
            columns=("Classifier", "Mean score of positives", "of unlabelled rows"),
            rows=[(name, *(f"{one.mean():.4f}" for one in samples)) for name, *samples in each],
        )

    def __repr__(self) -> str:
        """Name the classifiers and count the rows."""
        names = ", ".join(map(repr, self.classifiers))
        return (
            f"<PUScores: classifiers {names}; n_positive {self.n_positive}, "
            f"n_unlabeled {self.n_unlabeled}>"
        )


_PAIR: Final = "Pass {name: (positive, unlabeled)}."


def _fill(found: PUScores, scores: Mapping[str, tuple[Any, Any]], whose: str) -> None:
    """Check and set the fields; `whose` names the classifier in a message."""
    samples: dict[str, list[Floats]] = {"positive": [], "unlabeled": []}
    for name, pair in scores.items():
        check_is(pair, (tuple, list), f"scores[{name!r}]", _PAIR)
        if len(pair) != 2:
            raise InputError(f"scores[{name!r}] must be two columns; got {len(pair)}. {_PAIR}")
        names = [sample + whose.format(name) for sample in samples]
        columns = alike(*(probabilities(Column(*each)) for each in zip(names, pair, strict=True)))
        for (sample, arrays), called, values in zip(samples.items(), names, columns, strict=True):
            array = _binary(values, called)
            if arrays:
                first = sample + whose.format(next(iter(scores)))
                check_same_length(len(array), called, len(arrays[0]), first)
            arrays.append(array)
    for sample, arrays in samples.items():
        object.__setattr__(found, sample, tuple(arrays))
    object.__setattr__(found, "classifiers", tuple(scores))


def _binary(values: Floats, name: str) -> Floats:
    if values.ndim != 1:
        raise InputError(
            f"{name} must hold one score a row; got shape {values.shape}. "
            "Pass the probability of the positive class."
        )
    read_only = values.view()
    read_only.flags.writeable = False
    return read_only


@dataclass(frozen=True, slots=True, eq=False)
class PUProblem:
    """Unlabelled rows by cell and bin, and positives in the same cells; made by `PUProblem.of`."""

    unlabeled: Problem
    positive: NDArray[np.int64]  # (cell,)
    total: NDArray[np.int64]  # (cell,)
    n_positive: int

    @classmethod
    def of(cls, unlabeled: Problem, positive: NDArray[np.int64]) -> PUProblem:
        """Join the counts of both samples."""
        total = positive + unlabeled.cells.count
        return cls(unlabeled, positive, total, int(positive.sum()))

    def relabelled(self, positive: NDArray[np.int64]) -> PUProblem:
        """Exchange the positives, and keep what the model is conditional on."""
        return replace(self, positive=positive)

    @property
    def cells(self) -> BinCounts:
        """Cells of the unlabelled scores."""
        return self.unlabeled.cells

    @property
    def n_unlabeled(self) -> int:
        """Number of unlabelled rows."""
        return self.cells.n

    @property
    def log_ratio(self) -> float:
        """Log of positives over unlabelled rows."""
        return float(np.log(self.n_positive / self.n_unlabeled))

    def positive_in_bins(self) -> NDArray[np.int64]:
        """Positives in each bin, (bin,)."""
        return np.asarray(self.positive @ self.unlabeled.membership()).astype(np.int64)


class PUCounts(NamedTuple):
    """Positives and unlabelled rows by cells of the score, and bins that the cells make up."""

    bins: BinCounts
    cells: BinCounts
    positive: BinCounts

    @property
    def n_positive(self) -> int:
        """Number of positives."""
        return self.positive.n

    @property
    def n_unlabeled(self) -> int:
        """Number of unlabelled rows."""
        return self.cells.n

    @property
    def binning_attrs(self) -> dict[str, str | int]:
        """What a result says of the bins."""
        bins = self.bins
        return {
            "binning_strategy": bins.strategy,
            "n_bins": bins.n_bins,
            "closed": bins.closed,
        }

    def positive_in_bins(self) -> NDArray[np.int64]:
        """Positives in each bin, (bin,)."""
        found: NDArray[Any] = np.zeros(self.bins.n_bins, np.int64)
        np.add.at(found, self.cells.place_in(self.bins.edges), self.positive.count)
        return found


CELLS = 100


def problems(
    data: PUScores | Mapping[str, PUCounts], priors: Priors, binning: Binning
) -> list[PUProblem]:
    """Count each classifier's scores; a curve needs cells finer than the bins."""
    fine = isinstance(priors.label_rate, CurveAverage | SmoothCurve)
    if isinstance(data, Mapping):
        return [_problem(name, counts, fine) for name, counts in data.items()]
    return [
        _problem(name, _counted(positive, unlabeled, fine, binning), fine)
        for name, positive, unlabeled in zip(
            data.classifiers, data.positive, data.unlabeled, strict=True
        )
    ]


def _problem(name: str, counts: PUCounts, fine: bool) -> PUProblem:
    coords = {"classifier": name}
    if not fine:
        return PUProblem.of(Problem(coords, counts.bins, counts.bins), counts.positive_in_bins())
    cells, positive = counts.cells, counts.positive
    # A cell of positives alone stands at their mean score.
    mean_score = np.where(cells.count > 0, cells.mean_score, positive.mean_score)
    cells = replace(cells, mean_score=mean_score)
    return PUProblem.of(Problem(coords, cells, counts.bins), positive.count)


def _counted(positive: Floats, unlabeled: Floats, fine: bool, binning: Binning) -> PUCounts:
    """Count both samples of one classifier."""
    edges = binning.edges(unlabeled)
    if fine:
        both = np.concatenate([unlabeled, positive])

        def quantiles() -> NDArray[np.float64]:
            return bin_edges(unlabeled, CELLS, "quantile")

        narrow = cell_edges(both, CELLS, edges, quantiles, binning.closed)
    else:
        narrow = edges
    found, cells = (
        count_into(score, np.zeros(len(score), np.uint8), narrow, binning.closed)
        for score in (positive, unlabeled)
    )
    return PUCounts(cells.merge(edges, strategy_name(binning.strategy)), cells, found)
