"""What a user hands in: labels and the scores of one or several classifiers, checked once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from bayescal.core import intake
from bayescal.core.checks import check_choice, check_is, check_known, listing
from bayescal.core.columns import MISSING, Floats, Label
from bayescal.core.errors import InputError
from bayescal.core.intake import Column, Parts, Probabilities
from bayescal.core.score_sources import FIELDS, ScoreSources, fill
from bayescal.core.shown import Showing, Shown
from bayescal.core.text import counted


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class Scores(ScoreSources, Showing):
    """Labels and scores on the same rows, checked once.

    Parameters
    ----------
    y_true : array-like or Series of shape (obs,)
        Labels: words, whole numbers or true/false; None, NaN and NA where a label is not known.
    y_prob : array-like, Series or DataFrame of shape (obs,) or (obs, class), in [0, 1]
        Probability of `pos_label`, or of each class (rows sum to 1). With two columns the second is
        the probability of `pos_label`, unless `classes` says otherwise. Columns of a table that are
        named as the classes must be in their order. float32 stays float32.
    pos_label : bool, int or str, default 1
        The label that a binary score is the probability of.
    classifier : str, default "classifier"
        Name of the classifier.
    group : array-like or Series of shape (obs,), optional
        A group of each row, known in every row.
    from_logits : bool, default False
        Whether `y_prob` holds logits, to be put through the logistic function or the softmax.
    classes : sequence of labels, optional
        The label of each column of `y_prob`, or both labels; by default column numbers 0, 1, ....
    sample_weight : array-like or Series of shape (obs,), optional
        A weight >= 0 of each row: the inverse of the probability that it was drawn, up to a factor.
        Not the number of times that it stands for: repeat a row for that.

    Attributes
    ----------
    y_prob : ndarray of shape (classifier, obs) or (classifier, obs, class)
        Scores in [0, 1]; the last dimension for multi-class scores only.
    logits : ndarray of the same shape, or None
        Logits as they were given, of binary scores those of the positive class.
    y_true : ndarray of shape (obs,), int32
        Index into `classes`; -1 where the label is missing.
    classifiers : tuple of str
        Names of the classifiers.
    classes : tuple
        The labels; of a binary task the negative one, then the positive one.
    group : ndarray of shape (obs,), int32, or None
        Index into `groups`.
    groups : tuple of str
        Names of the groups, sorted; empty without groups.
    sample_weight : ndarray of shape (obs,), or None
        Weights, all above 0.

    Raises
    ------
    InputError
        If scores are no probabilities, labels do not fit, weights are negative or lengths differ.

    Notes
    -----
    Scores are rounded to 12 decimals (below 0.0001 to 12 significant digits), so that ties do not
    depend on the last bit of a computation; float32 scores, which are coarser, are not rounded.

    Rows are matched by their places, as in scikit-learn, not by an index of pandas.

    Arrays are read-only. Logits and a float32 array are not copied: do not change them afterwards.
    The probabilities of logits are worked out when they are first needed, and kept.

    Rows of weight 0 are checked and then left out: they are in no attribute and no count.

    Examples
    --------
    >>> from bayescal.core.scores import Scores
    >>> Scores(y_true=[0, 1, None], y_prob=[0.1, 0.8, 0.5], classifier="vit")
    <Scores: classifiers 'vit'; n_obs 3, n_labeled 2; classes 0, 1>
    """

    _values: Probabilities
    y_true: NDArray[np.int32]
    classifiers: tuple[str, ...]
    classes: tuple[Label, ...]
    group: NDArray[np.int32] | None
    groups: tuple[str, ...]
    sample_weight: Floats | None
    _are_logits: bool
    _probabilities: Probabilities | None = field(compare=False)

    def __init__(
        self,
        y_true: Any,
        y_prob: Any,
        *,
        pos_label: Any = 1,
        classifier: str = "classifier",
        group: Any = None,
        from_logits: bool = False,
        classes: Sequence[Any] | None = None,
        sample_weight: Any = None,
    ) -> None:
        check_is(classifier, (str, int), "classifier", "Name it by a word.")
        parts = intake.collect(
            {str(classifier): Column("y_prob", y_prob)},
            Column("y_true", y_true),
            group=None if group is None else Column("group", group),
            pos_label=pos_label,
            from_logits=from_logits,
            classes=classes,
            weight=None if sample_weight is None else Column("sample_weight", sample_weight),
        )
        fill(self, parts)

    def __reduce__(self) -> tuple[Any, ...]:
        # NumPy's copies of arrays are writeable; those of copied scores are not.
        return from_parts, (Parts(*(getattr(self, name) for name in FIELDS)),)

    def __repr__(self) -> str:
        groups = f"; groups {listing(self.groups)}" if self.groups else ""
        weighted = "" if self.sample_weight is None else "; weighted"
        return (
            f"<Scores: classifiers {listing(self.classifiers)}; n_obs {self.n_obs}, "
            f"n_labeled {self.n_labeled}; classes {listing(self.classes)}{groups}{weighted}>"
        )

    def _show_(self) -> Shown:
        labelled = "all" if self.n_labeled == self.n_obs else f"{self.n_labeled:,}"
        parts = [
            f"{counted(self.n_obs, 'row')}, {labelled} labelled",
            f"classes {listing(self.classes)}",
        ]
        parts += [f"groups {listing(self.groups)}"] if self.groups else []
        parts += [] if self.sample_weight is None else ["weighted"]
        if not self.is_binary:
            parts.append(f"classifiers {listing(self.classifiers)}")
            rows = np.bincount(self.y_true[self.y_true != MISSING], minlength=self.n_classes)
            table = [(str(name), f"{n:,}") for name, n in zip(self.classes, rows, strict=True)]
            return Shown(lead=[f"{'; '.join(parts)}."], columns=("Class", "Rows"), rows=table)
        number = int(np.count_nonzero(self.y_true == 1))
        parts[0] += f" ({number:,} of label {self.classes[1]!r})"
        each = zip(self.classifiers, self.y_prob, strict=True)
        return Shown(
            lead=[f"{'; '.join(parts)}."],
            columns=("Classifier", "Lowest score", "Mean score", "Highest score"),
            rows=[
                (name, *(f"{number:.4f}" for number in (one.min(), one.mean(), one.max())))
                for name, one in each
            ],
        )

    @property
    def y_prob(self) -> Probabilities:
        """Scores in [0, 1], (classifier, obs) or (classifier, obs, class)."""
        if not self._are_logits:
            return self._values
        if self._probabilities is None:
            found = [intake.of_logits(values) for values in self._values]
            y_prob = found[0][np.newaxis] if len(found) == 1 else np.stack(found)
            y_prob.flags.writeable = False
            object.__setattr__(self, "_probabilities", y_prob)
        return cast("Probabilities", self._probabilities)

    @property
    def logits(self) -> Probabilities | None:
        """Logits as they were given, or None, (classifier, obs) or (classifier, obs, class)."""
        return self._values if self._are_logits else None

    @property
    def n_obs(self) -> int:
        """Number of rows."""
        return len(self.y_true)

    @property
    def n_labeled(self) -> int:
        """Number of rows whose label is known."""
        return int(np.count_nonzero(self.y_true != MISSING))

    @property
    def n_classifiers(self) -> int:
        """Number of classifiers."""
        return len(self.classifiers)

    @property
    def n_classes(self) -> int:
        """Number of classes, 2 for a binary task."""
        return len(self.classes)

    @property
    def is_binary(self) -> bool:
        """Whether each row has one score, that of the positive class."""
        return self._values.ndim == 2

    def select(self, classifier: str) -> Scores:
        """Take one classifier.

        Parameters
        ----------
        classifier : str
            Its name.

        Returns
        -------
        Scores
            Of this classifier alone.

        Raises
        ------
        InputError
            If there is no such classifier.
        """
        check_known(classifier, self.classifiers, "classifier", "Scores")
        place = self.classifiers.index(classifier)
        return _with(self, values=self._values[place : place + 1], classifiers=(classifier,))

    def without_group(self) -> Scores:
        """Forget the groups.

        Returns
        -------
        Scores
            The same rows, not divided.
        """
        return _with(self, group=None, groups=())

    def by_group(self) -> dict[str, Scores]:
        """Split the rows by their groups, as `bayescal.fit_many` takes them.

        Returns
        -------
        dict of str to Scores
            The rows of each group that has any, without groups.

        Raises
        ------
        InputError
            If there are no groups.

        Examples
        --------
        >>> from bayescal.core.scores import Scores
        >>> scores = Scores(y_true=[0, 1, 1], y_prob=[0.1, 0.8, 0.5], group=["a", "b", "a"])
        >>> {name: part.n_obs for name, part in scores.by_group().items()}
        {'a': 2, 'b': 1}
        """
        if self.group is None:
            raise InputError("by_group() needs groups; got none. Pass group= with the scores.")
        order = np.argsort(self.group, kind="stable")
        ends = np.searchsorted(self.group[order], np.arange(len(self.groups) + 1))
        rows = [order[low:high] for low, high in pairwise(ends)]
        return {
            name: select_rows(self, one)
            for name, one in zip(self.groups, rows, strict=True)
            if len(one)
        }

    def without_weight(self) -> Scores:
        """Forget the sample weights.

        Returns
        -------
        Scores
            The same rows, all of which count alike.
        """
        return _with(self, sample_weight=None)

    def top_label(self) -> Scores:
        """Whether the predicted class is right, as a binary problem with its probability as score.

        Returns
        -------
        Scores
            Binary, classes ``("wrong", "correct")``. Of equal probabilities the first class wins,
            of two classes the positive one.

        Raises
        ------
        InputError
            If there are several classifiers: each is right on rows of its own.
        """
        if self.n_classifiers > 1:
            raise InputError(
                "top_label() needs one classifier, since each is correct on rows of its own; got "
                f"{listing(self.classifiers)}. Take one with .select(name), or fit all with "
                'multiclass="top-label".'
            )
        score, event = top_label(self.y_prob[0], self.y_true)
        return _of_event(self, score[np.newaxis], event, ("wrong", "correct"))

    def one_vs_rest(self, class_label: Any) -> Scores:
        """Take one class against all others.

        Parameters
        ----------
        class_label : label
            One of `classes`.

        Returns
        -------
        Scores
            Binary, with `class_label` as positive class.

        Raises
        ------
        InputError
            If there is no such class.
        """
        word = isinstance(class_label, str | bool | int | float | np.generic)
        place = intake.position(class_label, self.classes) if word else None
        if place is None:
            raise InputError(
                f"class_label must be one of the classes {listing(self.classes)}; "
                f"got {class_label!r}."
            )
        event = np.where(self.y_true == MISSING, MISSING, self.y_true == place).astype(np.int32)
        label = self.classes[place]
        if not self.is_binary:
            classes = (f"not {label}", label)
            return _of_event(self, self.y_prob[..., place], event, classes)
        y_prob = self.y_prob if place == 1 else intake.complement(self.y_prob)
        return _of_event(self, y_prob, event, (self.classes[1 - place], label))

    def tasks(self, multiclass: str = "top-label") -> tuple[Task, ...]:
        """Cut the scores into binary problems on the labelled rows.

        Parameters
        ----------
        multiclass : {"top-label", "class-wise", "marginal"}, default "top-label"
            Which binary problems a multi-class one becomes: whether the predicted class is right,
            or for each class whether it is the true one. "marginal" needs the same problems as
            "class-wise", whose answers are averaged later. A binary one stays one in any case.

        Returns
        -------
        tuple of Task
            Classifier by classifier, and within a classifier class by class.

        Raises
        ------
        InputError
            If `multiclass` is something else, or no row is labelled.

        Examples
        --------
        >>> from bayescal.core.scores import Scores
        >>> y_prob = [[0.7, 0.2, 0.1], [0.1, 0.5, 0.4]]
        >>> scores = Scores(y_true=["cat", "fox"], y_prob=y_prob, classes=["cat", "dog", "fox"])
        >>> [task.event.tolist() for task in scores.tasks("class-wise")]
        [[1, 0], [0, 0], [0, 1]]
        """
        check_choice(multiclass, MULTICLASS, "multiclass")
        labeled = self.y_true != MISSING
        if self.n_obs and not labeled.any():
            raise InputError(
                f"y_true must hold at least one label; got none in {counted(self.n_obs, 'row')}. "
                "Label some rows: calibration cannot be measured without."
            )
        rows: Any = slice(None) if labeled.all() else labeled
        group, weight = (
            None if own is None else own[rows] for own in (self.group, self.sample_weight)
        )
        return tuple(
            Task(
                {"classifier": name} | coords,
                np.ascontiguousarray(score[rows]),
                event[rows].astype(np.uint8),
                group,
                self.groups,
                weight,
            )
            for place, name in enumerate(self.classifiers)
            for coords, score, event in binary_problems(
                self.y_prob[place], self.y_true, self.classes, multiclass
            )
        )


def check_unweighted(scores: Scores, what: str) -> None:
    """Check that rows have no weights, for a method that has no use for them."""
    if scores.sample_weight is not None:
        raise InputError(
            f"{what} cannot use sample weights; got those of {scores.n_obs} rows. Pass rows drawn "
            "in proportion to their weights, or leave these out: scores.without_weight()."
        )


def check_ungrouped(scores: Scores, what: str, call: str) -> None:
    """Check that rows have no groups, for a method that has one fit for all rows."""
    if scores.group is not None:
        raise InputError(
            f"{what} has no groups; got {listing(scores.groups)}. Take them one by one, {call}, or "
            "leave them out: scores.without_group()."
        )


def check_one_classifier(scores: Scores, what: str) -> None:
    """Check that scores are of one classifier, for a function that takes one."""
    if scores.n_classifiers != 1:
        raise InputError(
            f"{what} takes one classifier; got {scores.n_classifiers}. Pass data.select(name)."
        )


def unlabeled_like(y_prob: Any, scores: Scores, name: str, of: str) -> Scores:
    """Take probabilities as scores of the classifier and classes of others, without labels."""
    if scores.n_classifiers > 1:
        raise InputError(
            f"{name} must be Scores where there are several classifiers; got "
            f"{type(y_prob).__name__} and classifiers {listing(scores.classifiers)}. "
            "Pass Scores.stack(...) of the same classifiers."
        )
    column = Column(name, y_prob)
    found = intake.probabilities(column)
    if found.shape[1:] != scores.y_prob.shape[2:]:
        raise InputError(
            f"{name} must hold scores of {of}'s classes; got shape "
            f"{found.shape} for classes {listing(scores.classes)}. "
            "Pass a column for each class, or for two classes the score of the second."
        )
    intake.check_order(column, scores.classes)
    missing = np.full(len(found), MISSING, np.int32)
    return from_parts(Parts(found[np.newaxis], missing, scores.classifiers, scores.classes))


def from_parts(parts: Parts) -> Scores:
    """Make Scores of arrays that are checked already."""
    return Scores._of(parts)


def select_rows(
    scores: Scores,
    rows: NDArray[Any],
    group: NDArray[np.int32] | None = None,
    groups: tuple[str, ...] = (),
) -> Scores:
    """Take some rows, with groups of their own or none."""
    weight = None if scores.sample_weight is None else scores.sample_weight[rows]
    changes = {"values": scores._values[:, rows], "y_true": scores.y_true[rows]}
    return _with(scores, **changes, group=group, groups=groups, sample_weight=weight)


def _of_event(
    scores: Scores, y_prob: Probabilities, event: NDArray[np.int32], classes: tuple[Label, ...]
) -> Scores:
    return _with(scores, values=y_prob, y_true=event, classes=classes, are_logits=False)


def _with(scores: Scores, **changes: Any) -> Scores:
    parts = Parts(*(getattr(scores, name) for name in FIELDS))
    return from_parts(parts._replace(**changes))


def alike_scores(one: Scores, other: Scores) -> tuple[Scores, Scores]:
    """Scores of two samples, of which equal ones are equal in single precision too: see `alike`."""
    first, second = (
        scores if values is scores.y_prob else _with(scores, values=values, are_logits=False)
        for scores, values in zip((one, other), intake.alike(one.y_prob, other.y_prob), strict=True)
    )
    return first, second


MULTICLASS: Final = ("top-label", "class-wise", "marginal")


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """One binary problem on labelled rows, of which a multi-class one becomes several."""

    coords: Mapping[str, str]  #: Names of classifier and class.
    score: NDArray[np.floating]  #: (obs,)
    event: NDArray[np.uint8]  #: (obs,)
    group: NDArray[np.int32] | None = None  #: (obs,)
    groups: tuple[str, ...] = ()  #: Names of the groups.
    weight: Floats | None = None  #: (obs,), above 0

    def __post_init__(self) -> None:
        lengths = {"score": self.score.shape, "event": self.event.shape}
        optional = {"group": self.group, "weight": self.weight}
        lengths |= {name: value.shape for name, value in optional.items() if value is not None}
        if len(set(lengths.values())) > 1:
            found = ", ".join(f"{name} {shape}" for name, shape in lengths.items())
            raise InputError(f"the arrays of a Task must have one shape (obs,); got {found}.")

    @property
    def n(self) -> int:
        """Number of rows, all labelled."""
        return len(self.score)

    @property
    def n_positive(self) -> int:
        """Number of rows where the event happened."""
        return int(np.count_nonzero(self.event))


def predicted_class(scores: NDArray[np.floating]) -> NDArray[np.intp]:
    """The first class of the largest score, (..., class) or of the positive class; of two it."""
    if scores.ndim == 1:
        return (scores >= 0.5).astype(np.intp)
    if scores.shape[-1] == 2:
        return (scores[..., 1] >= scores[..., 0]).astype(np.intp)
    return scores.argmax(axis=-1)


def top_label(
    y_prob: NDArray[np.floating], y_true: NDArray[np.int32]
) -> tuple[NDArray[np.floating], NDArray[np.int32]]:
    """Whether the predicted class is right, with its probability."""
    alone = y_prob.ndim == 1
    score = np.maximum(y_prob, intake.complement(y_prob)) if alone else y_prob.max(axis=1)
    return score, np.where(y_true < 0, -1, predicted_class(y_prob) == y_true).astype(np.int32)


def binary_problems(
    y_prob: NDArray[np.floating],
    y_true: NDArray[np.int32],
    classes: Sequence[object],
    multiclass: str,
) -> Iterator[tuple[dict[str, str], NDArray[np.floating], NDArray[Any]]]:
    """Cut one classifier's scores into binary problems."""
    if y_prob.ndim == 1:
        yield {}, y_prob, y_true
    elif multiclass == "top-label":
        yield {}, *top_label(y_prob, y_true)
    else:
        for code, label in enumerate(classes):
            yield {"class": str(label)}, y_prob[:, code], y_true == code
