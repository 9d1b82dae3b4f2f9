"""The rules that input has to keep, one function a rule, each with the remedy.

Rows are counted from 0 throughout, as NumPy and pandas count them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from numbers import Real
from reprlib import Repr
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core.errors import InputError

# 0.999 is within it, whatever the last bits of its sum.
ROW_SUM_TOLERANCE = 1.002e-3
_SHOWN = 6


def listing(values: Iterable[object]) -> str:
    """Name the first few values in words, for a message."""
    items = [repr(value) for value in values]
    rest = len(items) - _SHOWN
    return ", ".join(items[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def check_rows(n: int, name: str) -> None:
    """Check that there is at least one row."""
    if n == 0:
        raise InputError(f"{name} must have at least one row; got none. Check which rows you pass.")


def check_same_length(
    n: int, name: str, n_other: int, name_other: str, remedy: str = "Pass one value for each row."
) -> None:
    """Check that two columns have the same rows."""
    if n != n_other:
        rows = f"{n} and {n_other} rows"
        raise InputError(f"{name} and {name_other} must have the same length; got {rows}. {remedy}")


def _place(bad: NDArray[np.bool_]) -> tuple[tuple[int, ...], str]:
    """Find the first True, and say where it is and how many rows share its fault."""
    if bad.ndim == 0:
        return (), "the only place"
    first = tuple(int(i) for i in np.unravel_index(int(bad.argmax()), bad.shape))
    rows = int(bad.reshape(len(bad), -1).any(axis=1).sum())
    where = f"row {first[0]}" + (f", column {first[1]}" if len(first) > 1 else "")
    return first, where + (f" ({rows} such rows)" if rows > 1 else "")


def check_no_nan(values: NDArray[np.floating], name: str) -> None:
    """Check that no score is missing."""
    bad = np.isnan(values)
    if bad.any():
        raise InputError(
            f"{name} must not be missing; got NaN at {_place(bad)[1]}. "
            "Drop those rows: only labels may be missing."
        )


def clean_probabilities(values: NDArray[np.floating], name: str) -> NDArray[np.floating]:
    """Check scores; ten units of rounding beyond [0, 1] are clipped, and -0.0 becomes 0."""
    low, high = float(values.min()), float(values.max())
    if low > 0.0 and high <= 1.0:
        return values
    slack = 10 * float(np.finfo(values.dtype).eps)
    # A NaN makes every comparison false, so it lands in the refusal.
    if -slack <= low and high <= 1.0 + slack:
        if low < 0.0 or high > 1.0 or np.signbit(values).any():
            clipped: NDArray[np.floating] = np.clip(values, 0.0, 1.0) + values.dtype.type(0.0)
            return clipped
        return values
    raise _refusal(values, name)


def _refusal(values: NDArray[np.floating], name: str) -> InputError:
    """Say which of the rules of a probability is broken, the coarsest first."""
    check_no_nan(values, name)
    infinite = np.isinf(values)
    bad = infinite if infinite.any() else (values < 0) | (values > 1)
    first, where = _place(bad)
    rule = "be finite" if infinite.any() else "lie in [0, 1]"
    got = f"{values[first]:.6g}"
    remedy = f"if these are logits, pass their {'softmax' if values.ndim > 1 else 'sigmoid'}"
    if name.startswith(_OF_SCORES):
        remedy = "if these are logits, set from_logits=True"
    if values.min() >= 0 and _LOGIT < values.max() <= 100:
        remedy = "divide percent by 100"
    elif values.min() >= -ROW_SUM_TOLERANCE and values.max() <= 1 + ROW_SUM_TOLERANCE:
        # Six digits would call it 1, which is allowed.
        got, remedy = str(values[first]), "clip what rounding has put outside"
    return InputError(f"{name} must {rule}; got {got} at {where}. Pass probabilities; {remedy}.")


# Beginnings of the names of what has the option `from_logits`.
_OF_SCORES = ("y_prob", "column ", "the table of columns ")
# Of scores without a negative one, more than this is no logit.
_LOGIT = 10.0
# Squares of weights, and sums of them, stay within the range of floats.
LIGHTEST, HEAVIEST = 1e-100, 1e100


def check_weights(values: NDArray[np.floating], name: str) -> None:
    """Check that sample weights are numbers >= 0, and not all 0."""
    if values.ndim != 1:
        raise InputError(
            f"{name} must have one dimension (obs,); got shape {values.shape}. "
            "Pass one weight for each row, which all classifiers share."
        )
    # A NaN makes every comparison false.
    bad = ~((values == 0) | ((values >= LIGHTEST) & (values <= HEAVIEST)))
    if bad.any():
        (row,), where = _place(bad)
        raise InputError(
            f"{name} must be 0 or a number from {LIGHTEST:g} to {HEAVIEST:g}; got "
            f"{values[row]:.6g} at {where}. Give a row that is not to count the weight 0."
        )


def check_some_weight(n: int, n_rows: int, name: str) -> None:
    """Check that some row has a weight above 0."""
    if n == 0:
        raise InputError(
            f"{name} must be above 0 in at least one row; all {n_rows} are zero. "
            "Pass the weights of the rows, or none."
        )


def check_row_sums(values: NDArray[np.floating], name: str) -> None:
    """Check that the probabilities of a row's classes sum to 1, within 0.001."""
    sums = values.sum(axis=1)
    bad = np.abs(sums - 1.0) > ROW_SUM_TOLERANCE
    if bad.any():
        first, where = _place(bad)
        raise InputError(
            f"each row of {name} must sum to 1; got {sums[first]:.6g} at {where}. "
            "Pass the probabilities of all classes, divided by their sum if they are rounded "
            "(logits: from_logits=True; several classifiers: Scores.stack)."
        )


def check_unique(names: Sequence[str], what: str) -> None:
    """Check that no name is given twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"{what} names must differ; got {name!r} twice. Rename one of them.")
        seen.add(name)


def check_writable_names(names: Iterable[str], what: str) -> None:
    """Check that files and tables can hold names: neither NUL nor half of a character in one."""
    for name in names:
        if found := re.search("[\0\ud800-\udfff]", name):
            raise InputError(
                f"the name of a {what} must be text that files can hold; got {shown(name)}, with "
                f"{found[0]!r}. Rename it."
            )


def check_known(name: object, known: Sequence[str], what: str, where: str) -> None:
    """Check that a name is one of those that exist, and suggest the nearest when it is not."""
    if not isinstance(name, str):
        had = f"{where} has: {listing(known)}."
        raise InputError(f"a {what} must be named by a word; got {shown(name)}. {had}")
    if name in known:
        return
    folded = {str(other).strip().casefold(): other for other in reversed(known)}
    near = get_close_matches(name.strip().casefold(), folded, n=1, cutoff=0.5)
    hint = f"; did you mean {folded[near[0]]!r}?" if near else "."
    raise InputError(f"{where} has no {what} {name!r}{hint} It has: {listing(known)}.")


MOST_COUNTED = 10**15
"""The most rows, or of anything else, that a number may say there are; floats count that far."""
MOST_DRAWN = 10**6
"""The most draws or repetitions; each of them takes time, and most of them memory."""
MOST_SIMULATED = 10**9
"""The most rows that a simulator draws at once, some gigabytes."""
_MOST_SEED = 2**63 - 1
_WORDS = Repr(maxother=80, maxstring=60, maxlong=30, maxlevel=3)


def shown(value: object) -> str:
    """Put any value into a few words on one line, for a message."""
    try:
        return " ".join(_WORDS.repr(plain(value)).split())
    except ValueError:
        return "a number of thousands of digits"  # which Python does not write out


def plain(value: object) -> object:
    """Take the one number, word or truth value out of NumPy's scalars and 0-d arrays."""
    single = isinstance(value, np.generic) or getattr(value, "ndim", None) == 0
    return value.item() if single and hasattr(value, "item") else value


def check_choice(value: object, choices: Sequence[str], name: str) -> None:
    """Check that an option is one of the words it may be."""
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"{name} must be one of {listing(choices)}; got {shown(value)}.")


def check_flag(value: object, name: str) -> bool:
    """Check true or false: any other value would count as true, the word 'no' too."""
    flag = plain(value)
    if not isinstance(flag, bool):
        raise InputError(f"{name} must be True or False; got {shown(value)}. Pass one of them.")
    return flag


def check_whole(
    value: object, name: str, least: int = 1, remedy: str = "", most: int = MOST_COUNTED
) -> int:
    """Check a whole number, as Python's or NumPy's; true and false are none."""
    number = plain(value)
    if isinstance(number, bool) or not isinstance(number, int) or number < least:
        remedy = remedy or f"Pass {least} or more."
        raise InputError(f"{name} must be a whole number >= {least}; got {shown(value)}. {remedy}")
    if number > most:
        raise InputError(
            f"{name} must be {most:,} at most; got {shown(value)}. {remedy or 'Pass less.'}"
        )
    return number


def check_seed(value: object) -> int:
    """Check a seed that is kept with a result: files hold whole numbers of 64 bits."""
    return check_whole(value, "seed", 0, most=_MOST_SEED)


def check_number(value: object, name: str, interval: str, remedy: str = "") -> float:
    """Check a number in an interval such as "[0, 1)"; "(-inf, inf)" is any finite number."""
    low, high = map(float, interval[1:-1].split(","))
    number = _as_float(plain(value))
    # A NaN makes every comparison false.
    above = low <= number if interval[0] == "[" else low < number
    below = number <= high if interval[-1] == "]" else number < high
    if not (above and below):
        remedy = remedy or f"Pass {_within(low, high):g}, say."
        raise InputError(f"{name} must be a number in {interval}; got {shown(value)}. {remedy}")
    return number


def checked_numbers(value: object, name: str, interval: str, least: int = 1) -> tuple[float, ...]:
    """Take several numbers in an interval."""
    given = plain(value)
    numbers = None
    if isinstance(given, Iterable) and not isinstance(given, str | bytes):
        numbers = list(given)
    if numbers is None or len(numbers) < least:
        need = f"{least} or more numbers in {interval}"
        raise InputError(f"{name} must hold {need}; got {shown(value)}. Pass a tuple of them.")
    return tuple(check_number(one, f"{name}[{i}]", interval) for i, one in enumerate(numbers))


def _within(low: float, high: float) -> float:
    if math.isinf(low):
        return 0.0
    return low + 1 if math.isinf(high) else (low + high) / 2


def _as_float(value: object) -> float:
    """Convert a real number; NaN stands for anything else, true and false too."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value == abs(value) else -math.inf


def generator(seed: Any) -> np.random.Generator:
    """Make the source of random numbers of a seed; a generator is passed through."""
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"seed must be a whole number of at least 0, or None; got {seed!r}. Pass 0, say."
        ) from error


def check_is(
    value: object, kinds: type | tuple[type, ...], name: str, remedy: str, rule: str = "must be"
) -> None:
    """Check that an object is of one of the classes it may be of."""
    if not isinstance(value, kinds):
        known = kinds if isinstance(kinds, tuple) else (kinds,)
        names = " or ".join(map(class_name, known))
        raise InputError(f"{name} {rule} {names}; got {class_name(type(value))}. {remedy}")


def class_name(kind: type) -> str:
    """Name a class for a message; a prior with its quantity, as each has its own `Priors`."""
    package = kind.__module__.split(".")
    quantity = package[2:3] if package[1:2] == ["quantities"] and package[-1] == "priors" else []
    return ".".join([*quantity, kind.__name__])


# How files of other formats begin, what they are, and what reads them.
_OTHER_FORMATS: Final = (
    (rb'\s*\{\s*"', "JSON, a line a row", "pandas.read_json(..., lines=True)"),
    (rb"\s*\[\s*[\[{]", "JSON", "pandas.read_json(...)"),
    (b"ARROW1", "Arrow (Feather)", "pandas.read_feather(...)"),
    (b"FEA1", "Feather", "pandas.read_feather(...)"),
    (rb"\xff\xff\xff\xff", "an Arrow stream", "pyarrow.ipc.open_stream(...).read_pandas()"),
    (rb"PK\x03\x04", "Excel or another archive", "pandas.read_excel(...)"),
)


def check_text(head: bytes, name: str) -> None:
    """Refuse what a file of text with a row of column names does not begin with."""
    rule = f"{name} must be a CSV file in UTF-8 or a Parquet file"
    for start, what, reader in _OTHER_FORMATS:
        if re.match(start, head):
            raise InputError(f"{rule}; it is {what}. Convert it: {reader}.to_parquet(...).")
    if b"\x00" in head:
        raise InputError(
            f"{rule}; its content is neither. Write the table with to_csv or to_parquet, or save "
            "it as UTF-8 text."
        )


def checked_words(value: object, name: str) -> list[str]:
    """Take one word, or several."""
    given = [value] if isinstance(value, str) else plain(value)
    words = list(given) if isinstance(given, Iterable) and not isinstance(given, bytes) else []
    if not words or not all(isinstance(word, str) for word in words):
        raise InputError(
            f"{name} must be a word, or a list of words; got {shown(value)}. Pass ['a', 'b'], say."
        )
    return words


def checked_scores(value: object, name: str = "score") -> list[str]:
    """Take a column of scores, or several, each once."""
    columns = checked_words(value, name)
    if twice := [one for place, one in enumerate(columns) if one in columns[:place]]:
        raise InputError(
            f"{name} must name each column once; got {twice[0]!r} twice. Leave one out."
        )
    return columns


def check_columns(score: Iterable[str] = (), **columns: object) -> None:
    """Check that columns, where they are given, are named by a word each, and all differ."""
    taken = dict.fromkeys(score, "score")
    for name, column in columns.items():
        if column is None:
            continue
        check_is(column, str, name, "Pass the name of a column.")
        other = taken.setdefault(str(column), name)
        if other != name:
            raise InputError(
                f"{other} and {name} must be different columns; got {column!r} for both. Name "
                "another column for one of them."
            )


def checked_labels(value: object, name: str) -> tuple[Any, ...]:
    """Take several labels."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise InputError(
            f"{name} must be a list of labels; got {shown(value)}. Pass ['cat', 'dog'], say."
        )
    return tuple(value)


def check_call(value: object, name: str, *, needed: bool = False) -> None:
    """Check that what is to be called can be, where it is given or needed."""
    if (needed or value is not None) and not callable(value):
        raise InputError(
            f"{name} must be a function; got {shown(value)}. Pass one, or leave it out."
        )


# Known by name, as counts are made of what is checked here.
_COUNTS = ("Counts", "CountTable")


def check_data(
    data: object, kinds: tuple[type, ...], quantity: str, remedy: str, counts: type | None = None
) -> None:
    """Check that data are of a class that a quantity takes; `counts` is that of a mapping's."""
    remedy = f"Pass bayescal.{remedy}."
    if type(data).__name__ in _COUNTS:
        remedy = f"Counts are of one score at a time and hold no rows: keep these. {remedy}"
    check_is(data, kinds, quantity, remedy, rule="takes")
    if counts is not None and isinstance(data, Mapping):
        if not data:
            raise InputError(f"{quantity} takes counts by classifier; got none. Count some rows.")
        for name, one in data.items():
            check_is(one, counts, f"data[{shown(name)}]", "Pass what count_rows returns.")
