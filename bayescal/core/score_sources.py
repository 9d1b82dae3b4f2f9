"""Where `Scores` come from: several columns, frames, fitted classifiers and cross-validation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import check_columns, check_known, check_unique, checked_scores, listing
from bayescal.core.columns import MISSING, factorize, frame_columns
from bayescal.core.errors import InputError
from bayescal.core.intake import Column, Parts, check_same_order, collect, collect_columns


class ScoreSources:
    """Constructors of `Scores`, its only subclass."""

    __slots__ = ()

    @classmethod
    def _of(cls, parts: Parts) -> Self:
        scores = object.__new__(cls)
        fill(scores, parts)
        return scores

    @classmethod
    def stack(
        cls,
        y_prob: Mapping[str, Any] | Iterable[tuple[str, Any]],
        *,
        y_true: Any,
        pos_label: Any = 1,
        group: Any = None,
        from_logits: bool = False,
        classes: Sequence[Any] | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """Put several classifiers' scores of the same rows together.

        Parameters
        ----------
        y_prob : mapping of str to array-like, or pairs of them
            Scores by name of the classifier, each as for `Scores`.
        y_true : array-like or Series of shape (obs,)
            Labels, shared by all classifiers.
        pos_label : bool, int or str, default 1
            The label that a binary score is the probability of.
        group : array-like or Series of shape (obs,), optional
            A group of each row.
        from_logits : bool, default False
            Whether the scores are logits.
        classes : sequence of labels, optional
            The label of each column, as for `Scores`.
        sample_weight : array-like or Series of shape (obs,), optional
            A weight of each row, shared by all classifiers.

        Returns
        -------
        Scores
            With one entry of ``classifier`` each, in the order given.

        Raises
        ------
        InputError
            As for `Scores`, and if a name repeats or shapes differ.

        Examples
        --------
        >>> from bayescal.core.scores import Scores
        >>> panel = Scores.stack({"a": [0.2, 0.9], "b": [0.4, 0.6]}, y_true=[0, 1])
        >>> panel.classifiers, panel.y_prob.shape
        (('a', 'b'), (2, 2))
        """
        pairs = _pairs(y_prob)
        check_unique([str(name) for name, _ in pairs], "classifier")
        return cls._of(
            collect(
                {str(name): Column(f"y_prob[{name!r}]", values) for name, values in pairs},
                Column("y_true", y_true),
                group=None if group is None else Column("group", group),
                pos_label=pos_label,
                from_logits=from_logits,
                classes=classes,
                weight=None if sample_weight is None else Column("sample_weight", sample_weight),
            )
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        label: str,
        score: str | Sequence[str],
        group: str | None = None,
        weight: str | None = None,
        pos_label: Any = 1,
        from_logits: bool = False,
    ) -> Self:
        """Take binary scores of one or several classifiers from columns of a frame.

        Parameters
        ----------
        frame : pandas, polars or Arrow table, or mapping of str to array-like
            The columns.
        label : str
            Column of the labels, None, NaN or NA where one is not known.
        score : str or sequence of str
            Column of each classifier's scores; classifiers are named after their columns.
        group : str, optional
            Column of the groups.
        weight : str, optional
            Column of the sample weights; see `Scores`.
        pos_label : bool, int or str, default 1
            The label that the scores are the probability of.
        from_logits : bool, default False
            Whether the scores are logits.

        Returns
        -------
        Scores
            Of all classifiers named.

        Raises
        ------
        InputError
            If `frame` is no table, a column does not exist, or `Scores` refuses what it holds.

        Examples
        --------
        >>> from bayescal.core.scores import Scores
        >>> frame = {"y": [0, 1, None], "vit": [0.1, 0.8, 0.5], "cnn": [0.3, 0.6, 0.5]}
        >>> Scores.from_frame(frame, label="y", score=["vit", "cnn"])
        <Scores: classifiers 'vit', 'cnn'; n_obs 3, n_labeled 2; classes 0, 1>
        """
        names = checked_scores(score)
        check_columns(names, label=label, group=group, weight=weight)
        columns = frame_columns(frame, "Pass a DataFrame, say.")
        for name in (*names, label, group, weight):
            if name is not None:
                check_known(name, tuple(columns), "column", "the frame")
        how: Any = {"group": group, "weight": weight, "pos_label": pos_label}
        scores = {name: [name] for name in names}
        return cls._of(collect_columns(columns, "", scores, label, from_logits=from_logits, **how))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        pos_label: Any = None,
        group: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Score rows by fitted classifiers of scikit-learn, or of the same interface.

        Parameters
        ----------
        estimator : estimator or mapping of str to estimator
            Fitted classifiers by name, with ``predict_proba`` and ``classes_``; a single one is
            named ``"classifier"``. Pass rows that they were not fitted to.
        X : array-like of shape (obs, feature)
            Features, as ``predict_proba`` takes them.
        y : array-like or Series of shape (obs,), optional
            Labels, None or NaN where one is not known. Without it no label is known.
        pos_label : bool, int or str, optional
            Label that a binary score is the probability of; by default the second of ``classes_``.
        group : array-like or Series of shape (obs,), optional
            A group of each row, known in every row.
        sample_weight : array-like or Series of shape (obs,), optional
            A weight of each row, as for `Scores`.

        Returns
        -------
        Scores
            Of all classifiers, with the classes of ``classes_``.

        Raises
        ------
        InputError
            If an estimator is not fitted, lacks ``predict_proba``, refuses `X`, or classes differ.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> from bayescal.core.scores import Scores
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "yes", "no", "yes"]
        >>> Scores.from_estimator({"lr": LogisticRegression().fit(X, y)}, X, y)
        <Scores: classifiers 'lr'; n_obs 4, n_labeled 4; classes 'no', 'yes'>
        """
        named = estimator if isinstance(estimator, Mapping) else {"classifier": estimator}
        classes = _shared_classes(named)
        check_same_order(X=X, y=y, group=group, sample_weight=sample_weight)
        y_prob = {name: _scored(name, one, X) for name, one in named.items()}
        return cls.stack(
            y_prob,
            y_true=[None] * len(next(iter(y_prob.values()))) if y is None else y,
            pos_label=classes[1] if pos_label is None else pos_label,
            group=group,
            classes=classes,
            sample_weight=sample_weight,
        )

    @classmethod
    def from_cv(
        cls,
        models: Any,
        X: Any,
        y: Any,
        cv: Any = 5,
        *,
        pos_label: Any = None,
        group: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Score every row by classifiers that are trained without it, by cross-validation.

        Parameters
        ----------
        models : estimator or mapping of str to estimator
            Classifiers of scikit-learn by name, with ``predict_proba``; a single one is named
            ``"classifier"``. Clones are trained, these are left as they are.
        X : array-like of shape (obs, feature)
            Features.
        y : array-like or Series of shape (obs,)
            Labels, all known.
        cv : int, splitter or iterable of (train, test), default 5
            Folds as for ``sklearn.model_selection.cross_val_predict``, in which every row is tested
            once; a number is that of stratified folds in the order of the rows. All classifiers
            have the same. To keep groups together pass ``GroupKFold(5).split(X, y, groups)``.
        pos_label : bool, int or str, optional
            The label that a binary score is the probability of; by default the second in order.
        group : array-like or Series of shape (obs,), optional
            A group of each row, by which results are divided; folds do not depend on it.
        sample_weight : array-like or Series of shape (obs,), optional
            A weight of each row, as for `Scores`; classifiers are trained without.

        Returns
        -------
        Scores
            Out-of-fold scores of all classifiers.

        Raises
        ------
        InputError
            If a model has no ``predict_proba`` or cannot be trained, a label is missing, there are
            fewer than two, or the folds do not test every row once, on other rows of every class.

        Notes
        -----
        The estimand is the calibration of the training procedure, out of fold: of scores given to
        new rows by classifiers trained on as many rows as a fold leaves (80% with five folds),
        together over the folds. That is not the calibration of one classifier, such as the one
        trained on all rows: hold rows out and use `from_estimator` for that.

        Posteriors take rows as independent given their scores. Classifiers of different folds share
        training rows, so that intervals leave out how another training sample would change them.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> from bayescal.core.scores import Scores
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "yes", "no", "yes"]
        >>> Scores.from_cv({"lr": LogisticRegression()}, X, y, cv=2)
        <Scores: classifiers 'lr'; n_obs 4, n_labeled 4; classes 'no', 'yes'>
        """
        named = models if isinstance(models, Mapping) else {"classifier": models}
        check_same_order(X=X, y=y, group=group, sample_weight=sample_weight)
        labels = _known_labels(y)
        classes = np.unique(labels).tolist()
        return cls.stack(
            _out_of_fold(named, X, labels, cv),
            y_true=labels,
            pos_label=classes[1] if pos_label is None else pos_label,
            group=group,
            classes=classes,
            sample_weight=sample_weight,
        )


def _pairs(given: Any) -> list[tuple[Any, Any]]:
    """Classifiers' names and scores, of a mapping or of pairs."""
    refusal = InputError(
        f"y_prob must give scores by classifier; got {type(given).__name__}. "
        "Pass {name: scores, ...}, or a table of columns to Scores.from_frame."
    )
    # Tables and arrays may iterate as pairs of something else: names of two letters, two columns.
    if hasattr(given, "shape"):
        raise refusal
    pairs = given.items() if isinstance(given, Mapping) else given
    try:
        return [(name, scores) for name, scores in pairs]
    except (TypeError, ValueError) as error:
        raise refusal from error


def _shared_classes(estimators: Mapping[str, Any]) -> list[Any]:
    """Classes of fitted classifiers, which must be the same."""
    if not estimators:
        raise InputError("there must be at least one classifier; got none. Pass {name: estimator}.")
    shared: list[Any] = []
    for name, estimator in estimators.items():
        kind = type(estimator).__name__
        if not hasattr(estimator, "classes_"):
            raise InputError(
                f"estimator {name!r} must be a fitted classifier; this {kind} has no classes_. "
                "Call its fit first."
            )
        if not hasattr(estimator, "predict_proba"):
            raise InputError(
                f"estimator {name!r} must have predict_proba; this {kind} has none. "
                "Wrap it in sklearn.calibration.CalibratedClassifierCV."
            )
        classes = list(np.asarray(estimator.classes_, dtype=object))
        if len(classes) < 2 or np.ndim(classes[0]):
            raise InputError(
                f"estimator {name!r} must have one output of two classes or more; its classes_ are "
                f"{listing(classes)}."
            )
        shared = shared or classes
        if classes != shared:
            raise InputError(
                f"all estimators must have the same classes_; {name!r} has {listing(classes)}, "
                f"the first has {listing(shared)}. Fit all of them to the same labels."
            )
    return shared


def _scored(name: str, estimator: Any, X: Any) -> Any:
    """Scores of rows; what a classifier says of rows that it refuses is passed on."""
    try:
        return estimator.predict_proba(X)
    except ValueError as error:
        said = " ".join(str(error).split()).partition(". ")[0].rstrip(".")
        raise InputError(
            f"X must hold rows that estimator {name!r} can score; it says: {said}. Pass the "
            "features that it was fitted to."
        ) from error


def _known_labels(y: Any) -> NDArray[Any]:
    """Labels that classifiers can be trained on."""
    codes, values = factorize(y, "y")
    missing = codes == MISSING
    if missing.any():
        raise InputError(
            f"y must be known in every row to train on; got {int(missing.sum())} missing, the "
            f"first at row {int(missing.argmax())}. Leave those rows out."
        )
    if len(values) < 2:
        raise InputError(
            f"y must hold two classes or more; got {listing(values)}. Pass rows of another class."
        )
    return np.array(values)[codes]


def _out_of_fold(
    models: Mapping[str, Any], X: Any, labels: NDArray[Any], cv: Any
) -> dict[str, NDArray[Any]]:
    """Scores of each row by a clone trained without it, all in the same folds."""
    # Takes longer to import than rows take to check.
    from sklearn.model_selection import check_cv, cross_val_predict

    for name, model in models.items():
        if isinstance(model, type):
            raise InputError(
                f"model {name!r} must be an object; got the class {model.__name__}. "
                f"Pass {model.__name__}()."
            )
        if not (hasattr(model, "fit") and hasattr(model, "predict_proba")):
            raise InputError(
                f"model {name!r} must have fit and predict_proba; this {type(model).__name__} does "
                "not. Wrap it in sklearn.calibration.CalibratedClassifierCV."
            )
    try:
        folds = list(check_cv(cv, labels, classifier=True).split(X, labels))
        _check_folds(folds, labels)
        return {
            name: cross_val_predict(model, X, labels, cv=folds, method="predict_proba")
            for name, model in models.items()
        }
    except InputError:
        raise
    except (ValueError, TypeError, IndexError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise InputError(
            f"models must be trainable on X and y in the folds of cv; scikit-learn says: {reason}."
            " Correct X, y or cv."
        ) from error


def _check_folds(folds: Sequence[tuple[Any, Any]], labels: NDArray[Any]) -> None:
    """Check what scikit-learn does not: every class is trained on, and no row that is tested."""
    classes, rows = np.unique(labels), np.arange(len(labels))
    for number, (train, test) in enumerate(folds):
        if len(both := np.intersect1d(rows[train], rows[test])):
            raise InputError(
                f"folds of cv must not train on rows that they test; fold {number} does, on row "
                f"{both[0]}. Pass a splitter such as StratifiedKFold(5), or separate the two."
            )
        if len(absent := np.setdiff1d(classes, labels[train])):
            raise InputError(
                f"each fold of cv must leave every class to train on; fold {number} leaves none of "
                f"class {absent[0].item()!r}. Pass StratifiedKFold(5, shuffle=True), or leave out "
                "rows of a class that is too rare."
            )


# The fields of `Parts`, in their order, as `Scores` names them.
FIELDS = ("_values", *Parts._fields[1:-1], "_are_logits")


def fill(scores: object, parts: Parts) -> None:
    """Give new Scores their checked arrays, read-only."""
    for name, value in zip(FIELDS, parts, strict=True):
        if isinstance(value, np.ndarray):
            # A view, so that the user's own array stays writeable.
            value = value.view()
            value.flags.writeable = False
        object.__setattr__(scores, name, value)
    object.__setattr__(scores, "_probabilities", None)
