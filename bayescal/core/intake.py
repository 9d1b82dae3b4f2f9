"""From a user's columns to the checked arrays that `Scores` holds."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import (
    check_flag,
    check_no_nan,
    check_row_sums,
    check_rows,
    check_same_length,
    check_some_weight,
    check_unique,
    check_weights,
    check_writable_names,
    clean_probabilities,
    listing,
    shown,
)
from bayescal.core.columns import (
    MISSING,
    Codes,
    Floats,
    Label,
    column_names,
    factorize,
    in_double,
    plain_label,
    to_doubles,
    to_floats,
)
from bayescal.core.errors import InputError


def same_label(first: object, second: object) -> bool:
    """Whether two labels are one, also when one is text: ``"1"`` is 1 and True, ``"true"`` True."""
    if isinstance(first, str) == isinstance(second, str):
        return first == second
    word, other = (first, second) if isinstance(first, str) else (second, first)
    if isinstance(other, bool):
        return str(word).casefold() in (str(other).casefold(), str(int(other)))
    return word == str(other)


def position(label: object, values: Sequence[Label]) -> int | None:
    """Find a label among values, an exact match before a textual one."""
    exact = (i for i, value in enumerate(values) if value == label)
    loose = (i for i, value in enumerate(values) if same_label(value, label))
    return next(exact, next(loose, None))


def _as_labels(classes: Sequence[Any], size: int, name: str) -> tuple[Label, ...]:
    found = [plain_label(value) for value in classes]
    labels = tuple(label for label in found if label is not None)
    if len(labels) != size or len(found) != size:
        raise InputError(
            f"classes must name {size} classes, those of {name}; got {listing(classes)}."
        )
    check_unique([str(label) for label in labels], "class")
    return labels


def checked_label(label: Any, name: str = "pos_label") -> Label:
    """Check the label that is positive, or the other one."""
    found = plain_label(label)
    if found is None:
        raise InputError(
            f"{name} must be a word, a whole number or true/false; got {label!r}. "
            "Pass the label that the scores are the probability of."
        )
    return found


def code_binary(
    column: Any, pos_label: Any, classes: Sequence[Any] | None, name: str
) -> tuple[Codes, tuple[Label, Label]]:
    """Code labels of two classes as 0 (negative) and 1 (positive)."""
    positive = checked_label(pos_label)
    codes, values = factorize(column, name)
    if classes is not None:
        pair = _as_labels(classes, 2, "the binary task")
        place = position(positive, pair)
        if place is None:
            raise InputError(_no_positive(positive, pair, "classes"))
        order = (pair[1 - place], pair[place])
    else:
        order = _binary_pair(values, positive, name)
    return _recode(codes, values, order, name), order


def binary_classes(labels: Iterable[Label], pos_label: Any, name: str) -> tuple[Label, Label]:
    """The negative and the positive one of the labels that occur in a column."""
    found = np.array(sorted(labels, key=str), dtype=object)
    return code_binary(found, pos_label, None, name)[1]


def _no_positive(positive: Label, values: Sequence[Label], where: str) -> str:
    return (
        f"pos_label must be one of the labels; got {positive!r}, and {where} holds "
        f"{listing(values)}. Set pos_label to the one that the score is the probability of, "
        f"e.g. pos_label={values[-1]!r}."
    )


def _binary_pair(values: tuple[Label, ...], positive: Label, name: str) -> tuple[Label, Label]:
    """Name the negative and the positive label from those that were seen."""
    if len(values) > 2:
        raise InputError(
            f"{name} must hold two labels where each row has one score; got {len(values)}: "
            f"{listing(values)}. Pass y_prob of shape (obs, class), or recode the labels to "
            f"pos_label={positive!r} and one other."
        )
    if not values:
        return negative_of(positive), positive
    place = position(positive, values)
    if len(values) == 2:
        if place is None:
            raise InputError(_no_positive(positive, values, name))
        return values[1 - place], values[place]
    (seen,) = values
    if place is not None:
        return negative_of(seen), seen
    other = _like(positive, seen)
    if other is None:
        raise InputError(_no_positive(positive, values, name))
    return seen, other


def negative_of(positive: Label) -> Label:
    """Name the class that no row shows."""
    if isinstance(positive, bool):
        return not positive
    if isinstance(positive, int):
        return 0 if positive != 0 else 1
    return f"not {positive}"


def _like(label: Label, seen: Label) -> Label | None:
    """Give an unseen positive label the type of the one label seen; None where it has another."""
    if isinstance(seen, str):
        # "0" is the other label of 1, too.
        fits = isinstance(label, str) or same_label(negative_of(label), seen)
        return str(label) if fits else None
    if isinstance(seen, bool) and same_label(not seen, label):
        return not seen
    if isinstance(label, str):
        return int(label) if label.removeprefix("-").isdecimal() else None
    return label


def _recode(codes: Codes, values: tuple[Label, ...], order: Sequence[Label], name: str) -> Codes:
    """Move codes from the labels seen to the classes agreed on."""
    # The last entry is where -1 points: missing stays missing.
    table = np.full(len(values) + 1, MISSING, np.int32)
    for code, value in enumerate(values):
        place = position(value, order)
        if place is None:
            row = int((codes == code).argmax())
            raise InputError(
                f"{name} must hold the classes {listing(order)}; got {value!r} at row {row}. "
                "Correct the label, or name every class in classes=[...]."
            )
        table[code] = place
    return table[codes]


def code_classes(
    column: Any, n_classes: int, classes: Sequence[Any] | None, name: str
) -> tuple[Codes, tuple[Label, ...]]:
    """Code labels of several classes as the columns of y_prob."""
    codes, values = factorize(column, name)
    numbers: tuple[Label, ...] = tuple(range(n_classes))
    if classes is not None:
        order = _as_labels(classes, n_classes, "the columns of y_prob")
        # Column numbers as labels beside words as classes: the words are the numbers' names.
        numbered = all(isinstance(value, int) for value in values) and all(
            position(value, order) is None for value in (*values, *numbers)
        )
        return _recode(codes, values, numbers if numbered else order, name), order
    strange = [value for value in values if isinstance(value, str) or value not in numbers]
    if strange:
        row = int((codes == values.index(strange[0])).argmax())
        raise InputError(
            f"{name} must number the {n_classes} columns of y_prob, 0 to {n_classes - 1}; "
            f"got {strange[0]!r} at row {row}. Name the columns: classes=[...]."
        )
    return _recode(codes, values, numbers, name), numbers


def code_groups(
    column: Any, name: str, n_rows: int, name_rows: str
) -> tuple[Codes, tuple[str, ...]]:
    """Code the group of each row."""
    codes, values = factorize(column, name)
    check_same_length(len(codes), name, n_rows, name_rows)
    # An empty word names none, as in a file.
    missing = np.isin(codes, [MISSING, *(k for k, value in enumerate(values) if value == "")])
    if missing.any():
        raise InputError(
            f"{name} must be known in every row; got {int(missing.sum())} missing, the first at "
            f"row {int(missing.argmax())}. Give those rows a group of their own, e.g. 'unknown'."
        )
    names = [str(value) for value in values]
    check_unique(names, "group")
    check_writable_names(names, "group")
    order = sorted(range(len(names)), key=lambda code: by_number(names[code]))
    return np.argsort(order).astype(np.int32)[codes], tuple(names[code] for code in order)


def by_number(name: str) -> tuple[bool, int, str]:
    """Where a name is sorted: those that are whole numbers come first, by size."""
    number = re.fullmatch(r"-?[0-9]{1,4000}", name)
    return number is None, int(name) if number else 0, name


type Probabilities = NDArray[np.floating]


class Column(NamedTuple):
    """Values, what a message calls them, and the name that a table has for them."""

    name: str
    values: Any
    header: str | None = None


class Parts(NamedTuple):
    """The checked fields of a `Scores`, by the same names."""

    values: Probabilities  # (classifier, obs) or (classifier, obs, class): what the user gave
    y_true: NDArray[np.int32]  # (obs,)
    classifiers: tuple[str, ...]
    classes: tuple[Label, ...]
    group: NDArray[np.int32] | None = None  # (obs,)
    groups: tuple[str, ...] = ()
    sample_weight: Floats | None = None  # (obs,)
    are_logits: bool = False  # of values; probabilities otherwise


def collect(
    scores: Mapping[str, Column],
    label: Column,
    *,
    group: Column | None,
    pos_label: Any,
    from_logits: bool,
    classes: Sequence[Any] | None,
    weight: Column | None = None,
) -> Parts:
    """Check columns of one or several classifiers and join them, without rows of weight 0."""
    if not scores:
        raise InputError("there must be at least one classifier; got none. Pass {name: y_prob}.")
    check_classifiers(scores)
    check_flag(from_logits, "from_logits")
    checked_label(pos_label)
    positive = 1
    if classes is not None:
        # Checked first, as an array of labels cannot be compared.
        if (factorize(classes, "classes")[0] == MISSING).any():
            raise InputError("classes must not be missing; got None or NaN. Name every class.")
        positive = 0 if len(classes) == 2 and same_label(classes[0], pos_label) else 1
    check_one_order(label, *scores.values(), group, weight)
    checked = logits if from_logits else probabilities
    arrays = [checked(column, positive=positive) for column in scores.values()]
    first = next(iter(scores.values()))
    for column, array in zip(scores.values(), arrays, strict=True):
        check_same_length(len(array), column.name, len(arrays[0]), first.name)
        if array.shape != arrays[0].shape:
            raise InputError(
                f"all classifiers must score the same classes; got {column.name} of shape "
                f"{array.shape} and {first.name} of shape {arrays[0].shape}. Stack them apart."
            )
    labels: tuple[Label, ...]
    if arrays[0].ndim == 1:
        y_true, labels = code_binary(label.values, pos_label, classes, label.name)
    else:
        y_true, labels = code_classes(label.values, arrays[0].shape[1], classes, label.name)
    check_writable_names(map(str, labels), "class")
    for column in scores.values():
        check_order(column, labels if positive else labels[::-1], positive, classes is not None)
    check_same_length(
        len(arrays[0]),
        first.name,
        len(y_true),
        label.name,
        "Pass one label for each row, None or NaN where it is not known.",
    )
    codes, groups = (
        (None, ())
        if group is None
        else code_groups(group.values, group.name, len(y_true), label.name)
    )
    if not from_logits and len({array.dtype for array in arrays}) > 1:
        arrays = list(map(in_double, arrays))
    values = arrays[0][np.newaxis] if len(arrays) == 1 else np.stack(arrays)
    found = Parts(
        values, y_true, tuple(scores), labels, codes, groups, are_logits=bool(from_logits)
    )
    return found if weight is None else _weighted(found, weight, label.name)


def check_classifiers(names: Collection[str], groups: Iterable[str] = ()) -> None:
    """Check that every classifier has a name, and that files can hold it and those of groups."""
    for blank in (name for name in names if not name.strip()):
        raise InputError(f"a classifier must have a name; got {blank!r}. Name it, or its column.")
    check_writable_names(names, "classifier")
    check_writable_names(groups, "group")


def check_order(
    column: Column, classes: Sequence[Label], positive: int = 1, given: bool = False
) -> None:
    """Check that columns named as classes are these, in order, and a lone one is no negative.

    Where the user gives the classes, names count if they are all of them.
    """
    names = column_names(column.values) if column.header is None else [column.header]
    known = [str(label) for label in classes]
    # A lone column of a table without names of its own is called 0, too.
    if len(known) == 2 and names == [known[1 - positive]] != ["0"]:
        raise InputError(
            f"{column.name} must be of the positive class, {known[positive]!r}; it is named "
            f"{names[0]!r}. Pass its complement, set pos_label, or rename it."
        )
    if names is None or len(names) < 2 or names == known:
        return
    # A table without names of its own has the numbers of pandas' range.
    unnamed = type(getattr(column.values, "columns", None)).__name__ == "RangeIndex"
    if unnamed and names == [str(place) for place in range(len(names))]:
        return
    if sorted(names) == sorted(known) or (not given and {*names} & {*known}):
        raise InputError(
            f"columns of {column.name} that are named as the classes must be in their order, "
            f"{listing(known)}; got {listing(names)}. Put them in order, or name the class of each "
            "column: classes=[...]; where the names are of no classes, pass to_numpy()."
        )


def check_one_order(*columns: Column | None) -> None:
    """Check that columns do not have the same rows in another order than the first."""
    indexes = [(one.name, _row_index(one.values)) for one in columns if one is not None]
    indexed = [(name, index) for name, index in indexes if hasattr(index, "nlevels")]
    for name, index in indexed[1:]:
        known, first = indexed[0]
        if len(index) != len(first) or index.nlevels != first.nlevels or index.equals(first):
            continue
        # Equal values of two types, such as times in two zones, have one code.
        known_code, code = first.append(index).factorize()[0].reshape(2, -1)
        moved = np.flatnonzero(known_code != code)
        if len(moved) and np.array_equal(np.unique(known_code), np.unique(code)):
            row = moved[0]
            raise InputError(
                f"{name} must have its rows in the order of {known}; their indexes hold the same "
                f"in another one, {shown(index[row])} for {shown(first[row])} at row {row}. Rows "
                "are matched by place: sort both alike, or pass to_numpy() where places are right."
            )


def _row_index(values: Any) -> Any:
    """The names of rows by pandas or xarray, in which `index` is what a dim may be called."""
    if type(values).__module__.startswith("xarray."):
        return values.indexes.get(next(iter(values.dims), None))
    return getattr(values, "index", None)


def check_same_order(**columns: Any) -> None:
    """The same of values by the names that a message calls them; some may be None."""
    check_one_order(*(Column(*each) for each in columns.items()))


def collect_columns(
    columns: Mapping[str, Any],
    where: str,
    scores: Mapping[str, Sequence[str]],
    label: str | Column,
    *,
    group: str | Column | None = None,
    weight: str | None = None,
    classes: Sequence[Any] | None = None,
    **how: Any,
) -> Parts:
    """Check columns by name, of each classifier one or one a class; errors say `where` they are."""

    def column(name: Any) -> Any:
        if not isinstance(name, str):
            return name
        return Column(f"column {name!r}{where}", columns[name], name)

    def side_by_side(names: Sequence[str]) -> Column:
        if len(names) == 1:
            return Column(*column(names[0]))
        table = np.column_stack([columns[name] for name in names])
        return Column(f"the table of columns {names[0]!r} to {names[-1]!r}{where}", table)

    found = {classifier: side_by_side(names) for classifier, names in scores.items()}
    others = {"group": column(group), "weight": column(weight), "classes": classes}
    return collect(found, column(label), **others, **how)


def weights(column: Column) -> Floats:
    """Turn a column into checked sample weights."""
    values = to_floats(column.values, column.name).astype(np.float64)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    check_weights(values, column.name)
    return values


def _weighted(parts: Parts, column: Column, name_rows: str) -> Parts:
    """Give rows their weights, and leave out those whose weight is 0."""
    values = weights(column)
    check_same_length(len(values), column.name, len(parts.y_true), name_rows)
    held = values > 0
    check_some_weight(int(held.sum()), len(held), column.name)
    if held.all():
        return parts._replace(sample_weight=values)
    return parts._replace(
        values=parts.values[:, held],
        y_true=parts.y_true[held],
        group=None if parts.group is None else parts.group[held],
        sample_weight=values[held],
    )


def probabilities(column: Column, from_logits: bool = False, positive: int = 1) -> Probabilities:
    """Turn one classifier's column or table of scores into checked, rounded probabilities."""
    if from_logits:
        return of_logits(logits(column, positive))
    values = clean_probabilities(_scores(column), column.name)
    if values.ndim == 2:
        check_row_sums(values, column.name)
        values = values[:, positive] if values.shape[1] == 2 else values
    return round_scores(values)


def logits(column: Column, positive: int = 1) -> Probabilities:
    """Check one classifier's column or table of logits; of two columns it is the difference."""
    values = _scores(column)
    check_no_nan(values, column.name)
    if values.ndim == 1:
        return values
    if not np.isfinite(values.max(axis=1)).all():
        row = int((~np.isfinite(values.max(axis=1))).argmax())
        raise InputError(
            f"the largest logit of each row of {column.name} must be finite; got "
            f"{values[row].max():.6g} at row {row}. Pass finite logits, or probabilities."
        )
    if values.shape[1] > 2:
        return values
    with np.errstate(over="ignore"):
        return values[:, positive] - values[:, 1 - positive]


def of_logits(values: Probabilities) -> Probabilities:
    """Turn checked logits into rounded probabilities, (obs,) or (obs, class)."""
    # SciPy's special functions take longer to import than a million rows take to bin.
    from scipy.special import expit, softmax

    # In single precision every logit above 17 would be a probability of exactly 1.
    exact = values.astype(np.float64)
    found = np.asarray(expit(exact) if exact.ndim == 1 else softmax(exact, axis=1))
    return round_scores(clean_probabilities(found, "the softmax"))


def _scores(column: Column) -> Probabilities:
    """Check the shape of one classifier's scores, (obs,) or (obs, class)."""
    values = to_floats(column.values, column.name)
    if values.ndim > 2 or (values.ndim == 2 and values.shape[1] == 0):
        raise InputError(
            f"{column.name} must have shape (obs,) or (obs, class); got {values.shape}. "
            "Pass one classifier at a time, or several to Scores.stack."
        )
    check_rows(len(values), column.name)
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def finite_numbers(values: Any, name: str) -> Floats:
    """Turn finite numbers of any shape, a single one among them, into float64."""
    found = to_doubles(values, name)
    if not np.isfinite(found).all():
        place = int(np.argmin(np.isfinite(found)))
        raise InputError(
            f"{name} must be finite; got {found.flat[place]} at place {place}. Drop or correct it."
        )
    return found


def to_probabilities(values: Any, name: str) -> Floats:
    """Turn probabilities of any shape, a single one among them, into float64."""
    found = to_doubles(values, name)
    return np.asarray(clean_probabilities(found, name), np.float64) if found.size else found


def alike(one: Probabilities, other: Probabilities) -> tuple[Probabilities, Probabilities]:
    """Scores of two samples; a float32 one that is a float64 one of the other, rounded, is that."""
    if one.dtype == other.dtype:
        return one, other
    if one.dtype != np.float32:
        return alike(other, one)[::-1]
    known = np.unique(other)
    rounded = known.astype(np.float32)
    place = np.searchsorted(rounded, one).clip(max=len(known) - 1)
    same = (rounded[place] == one) & (one > 0) & (one < 1)
    return np.where(same, known[place], one.astype(np.float64)) if same.any() else one, other


_DIGITS = 12
# Below this, `_DIGITS` decimals are too few significant digits.
_SMALL = 1e-4
# 10 to a larger power is infinite for the smallest scores.
_MOST_DECIMALS = 300
# A block of the rows stays in a core's cache through the passes over it.
_BLOCK = 1 << 15


def round_scores[Score: np.floating](score: NDArray[Score]) -> NDArray[Score]:
    """Round scores, (obs, ...), to 12 decimals, below 0.0001 to 12 digits; narrower floats stay."""
    if score.dtype != np.float64:
        return score
    rounded = np.empty_like(score)
    rows = max(1, _BLOCK // max(1, score[:1].size))
    for start in range(0, len(score), rows):
        part, into = score[start : start + rows], rounded[start : start + rows]
        np.round(part, _DIGITS, out=into)
        small = (part < _SMALL) & (part > 0)
        if small.any():
            tiny = part[small]
            decimals = np.minimum(_DIGITS - 1 - np.floor(np.log10(tiny)), _MOST_DECIMALS)
            scale = 10.0**decimals
            into[small] = np.rint(tiny * scale) / scale
    return rounded


def complement(score: Probabilities) -> Probabilities:
    """One minus scores, in their type."""
    return round_scores(1 - in_double(score)).astype(score.dtype)
