"""How text, numbers and names are written: in tables, sentences and figures alike."""

from __future__ import annotations

import math
import re
import textwrap
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import PurePath
from typing import Any, Final, NamedTuple

NAME_LENGTH: Final = 32
# What a spreadsheet takes for a formula, full-width signs among it; a number is none.
_FORMULA: Final = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# Marks, embeddings, overrides and isolates of writing direction (Unicode Standard Annex 9).
_DIRECTIONS: Final = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_SPELLED: Final = {chr(code): f"\\u{code:04x}" for code in _DIRECTIONS}


def printable(text: str) -> str:
    r"""Spell out what a terminal would act on, and halves of characters: "\x1b", "\u202e"."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def undirected(text: str) -> str:
    """Spell out the characters that turn the writing direction of the text around them."""
    # Replacing one after another takes a twentieth of the time of `str.translate` on a whole page.
    for mark, spelled in _SPELLED.items():
        text = text.replace(mark, spelled)
    return text


def cell[T](value: T) -> T | str:
    """Put ' before text of a CSV file that a spreadsheet would take for a formula."""
    if isinstance(value, bool):
        # As Arrow spells it, which writes tables of many rows.
        return str(value).lower()
    if not isinstance(value, str) or not _FORMULA.match(value) or _NUMBER.fullmatch(value):
        return value
    return f"'{value}"


def shorten(name: str, width: int = NAME_LENGTH) -> str:
    """Cut a name in its middle, as names of one family differ at their ends; 中 counts as two."""
    line = " ".join(name.split())
    return _cut(line, width, (width - 3) // 2)


def distinct(names: Iterable[str], width: int = NAME_LENGTH) -> dict[str, str]:
    """Cut names to a width so that no two read alike; wider where no cut of that width does.

    All are cut at one place: their middle, or the nearest to it that keeps what differs.
    """
    lines = {name: " ".join(name.split()) for name in names}
    # Two lines that the cut before made alike; most other cuts do so, too.
    pair: tuple[str, ...] = ()
    for room in range(width, max(map(cell_len, lines.values()), default=0)):
        for tail in sorted(range(room - 3), key=lambda tail: abs(2 * tail + 3 - room)):
            if len({_cut(line, room, tail) for line in pair}) < len(pair):
                continue
            cut = {name: _cut(line, room, tail) for name, line in lines.items()}
            last = {cut[name]: line for name, line in lines.items()}
            both = ((line, last[cut[name]]) for name, line in lines.items())
            pair = next((two for two in both if two[0] != two[1]), ())
            if not pair:
                return cut
    return lines


def _cut(line: str, width: int, tail: int) -> str:
    if cell_len(line) <= width:
        return line
    return f"{_start(line, width - 3 - tail)}...{_start(line[::-1], tail)[::-1]}"


def _start(line: str, width: int) -> str:
    """The first characters, as many as there is room for."""
    if line.isascii():
        return line[:width]
    return line[: bisect_right(list(accumulate(map(cell_len, line))), width)]


_GAP: Final = "  "
_LEAST_NAME: Final = 16
"""Width that names are cut to, at the narrowest."""


def cell_len(text: str) -> int:
    """Columns that a text takes, two for a wide character."""
    from rich.cells import cell_len

    return cell_len(text)


def one_line(text: str) -> str:
    r"""Join a text into one line, and spell out characters that a terminal would act on."""
    return printable(" ".join(text.split()))


class Column(NamedTuple):
    """A column of a table, to the left if it is of words, which may be names."""

    head: str
    cells: tuple[str, ...]
    words: bool

    def width(self, folded: bool) -> int:
        """Width with the heading on one line, or folded between its words."""
        heads = self.head.split() if folded else [self.head]
        return max(map(cell_len, (*heads, *self.cells)), default=0)

    def lines(self, folded: bool) -> list[str]:
        """The heading's lines."""
        return textwrap.wrap(self.head, self.width(folded), break_long_words=False) or [""]

    def padded(self, text: str, wide: int) -> str:
        """A cell in its place."""
        space = " " * (wide - cell_len(text))
        return text + space if self.words else space + text

    def cut(self, wide: int) -> Column:
        """The column with its names cut."""
        short = distinct(self.cells, wide)
        return self._replace(cells=tuple(short[cell] for cell in self.cells))


def table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[int]
) -> list[Column]:
    """The columns of a table; `words` are those of words."""
    cells = list(zip(*([one_line(cell) for cell in row] for row in rows), strict=True))
    return [
        Column(one_line(head), tuple(cells[place]) if cells else (), place in words)
        for place, head in enumerate(heads)
    ]


def fitted(columns: Sequence[Column], width: int, *, cut: bool = True) -> list[str] | None:
    """The table's lines, headings folded and names cut if need be; None if it is still too wide."""
    for folded in (False, True):
        if _total(columns, folded) <= width:
            return _drawn(columns, folded)
    columns = _narrowed(columns, width) if cut else columns
    return _drawn(columns, True) if _total(columns, True) <= width else None


def _total(columns: Sequence[Column], folded: bool) -> int:
    return sum(one.width(folded) for one in columns) + len(_GAP) * (len(columns) - 1)


def _narrowed(columns: Sequence[Column], width: int) -> list[Column]:
    """Cut the widest columns of words until the table fits."""
    wide = [one.width(True) for one in columns]
    names = [place for place, one in enumerate(columns) if one.words and wide[place] > _LEAST_NAME]
    for _ in range(_total(columns, True) - width):
        longest = max(names, key=wide.__getitem__, default=None)
        if longest is None or wide[longest] == _LEAST_NAME:
            break
        wide[longest] -= 1
    return [one.cut(wide[place]) if place in names else one for place, one in enumerate(columns)]


def _drawn(columns: Sequence[Column], folded: bool) -> list[str]:
    wide = [one.width(folded) for one in columns]
    heads = [one.lines(folded) for one in columns]
    most = max(map(len, heads))
    heads = [[""] * (most - len(one)) + one for one in heads]
    rows = [*zip(*heads, strict=True), *zip(*(one.cells for one in columns), strict=True)]
    lines = [
        _GAP.join(one.padded(*cell) for one, *cell in zip(columns, row, wide, strict=True))
        for row in rows
    ]
    return [*lines[:most], "─" * _total(columns, folded), *lines[most:]]


def one_by_one(columns: Sequence[Column], width: int) -> list[str]:
    """The name of each row, and its numbers one a line."""
    first, *others = columns
    first = first.cut(width - cell_len(first.head) - 1)
    wide = max((cell_len(one.head) for one in others), default=0)
    others = [one.cut(width - wide - 4) if one.words else one for one in others]
    lines = []
    for place, name in enumerate(first.cells):
        lines.append(f"{first.head} {name}".strip())
        lines += [f"  {one.head:<{wide}}  {one.cells[place]}" for one in others]
        lines.append("")
    return lines


MISSING: Final = "–"
"""Shown where a number does not exist (an empty bin, a fit that was not made)."""
UNRELIABLE: Final = "Unreliable: a fit did not converge. "


def surely(delta: float) -> str:
    """A probability 1 - delta, that never reads as 1."""
    return f"{1 - delta:g}" if delta > 1e-5 else f"1 - {delta:g}"


def capital(text: str) -> str:
    """Begin with a capital, leaving the rest as it is."""
    return f"{text[0].upper()}{text[1:]}"


def decimals(low: float, high: float, *, least: int = 3, most: int = 6) -> int:
    """How many decimals show two significant digits of an interval's width."""
    width = abs(high - low)
    if not math.isfinite(width) or width == 0.0:
        return least
    return min(max(1 - math.floor(math.log10(width)), least), most)


def fixed(value: float | None, digits: int = 3) -> str:
    """Write a number with a fixed number of decimals and a true minus sign."""
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "∞" if value > 0 else "\u2212∞"
    text = f"{value:.{digits}f}"
    if float(text) == 0.0:
        text = text.removeprefix("-")
    return text.replace("-", "\u2212")


def ends(
    low: float | None,
    high: float | None,
    digits: int = 3,
    write: Callable[[float | None, int], str] = fixed,
) -> str:
    """Write an interval, by `error` one of an error."""
    if low is None or math.isnan(low):
        return MISSING
    return f"{write(low, digits)} to {write(high, digits)}"


def with_ends(mean: float, low: float, high: float, digits: int = 3) -> str:
    """Write a number with its interval."""
    return MISSING if math.isnan(mean) else f"{fixed(mean, digits)} ({ends(low, high, digits)})"


def error(value: float | None, digits: int = 3) -> str:
    """Write a calibration error, so that only one that is exactly 0 reads as 0."""
    if value is None or math.isnan(value):
        return MISSING
    if value == 0.0:
        return "0"
    text = fixed(value, digits)
    return f"< {fixed(10.0**-digits, digits)}" if float(text) == 0.0 else text


def probability(value: float | None) -> str:
    """Write a probability; one that would round to 0 or 1 is written as a bound."""
    if value is None or math.isnan(value):
        return MISSING
    if value < 0.001:
        return "< 0.001"
    if value > 0.999:
        return "> 0.999"
    return f"{value:.3f}" if value < 0.01 or value > 0.99 else f"{value:.2f}"


def relation(value: float) -> str:
    """Write a relation to a probability: "= 0.12", "< 0.001"."""
    text = probability(value)
    return text if text[0] in "<>" else f"= {text}"


def number(value: float) -> str:
    """Write an error in [0, 1], or another number, to the digits that matter."""
    if value == 0:
        return "0"
    if abs(value) < 0.00005:
        return "< 0.0001"
    return fixed(value, 4 if abs(value) < 0.00995 else 3)


def signed(value: float) -> str:
    """Write a difference of errors as `number` does, with its sign, which no bound has."""
    sign, text = ("+" if value > 0 else "\N{MINUS SIGN}" if value < 0 else ""), number(abs(value))
    return sign + (f"{abs(value):.0e}" if text.startswith("<") else text)


def in_words(number: str) -> str:
    """Put words for the signs of a number that is written as a bound."""
    return number.replace("< ", "below ").replace("> ", "above ")


def count(value: float | None) -> str:
    """Write a whole number with commas between thousands."""
    if value is None or not math.isfinite(value):
        return MISSING
    return f"{round(value):,}"


def counted(number: float, noun: str) -> str:
    """Write a number of things: "1 row", "2 rows"."""
    return f"{count(number)} {noun}" + ("" if number == 1 else "s")


def percent(value: float) -> str:
    """Write a share as a percentage, without decimals it does not need."""
    return f"{100 * value:.6g}%"


def several(names: Sequence[str]) -> str:
    """Join names with commas and a final "and"."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def plain(value: Any) -> Any:
    """Python's own values as JSON has them: paths as text, None for what is no number."""
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, PurePath):
        return str(value)
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def plain_records(frame: Any) -> list[dict[str, Any]]:
    """Rows of a data frame, its index first, as plain values."""
    return [plain(row) for row in frame.reset_index().to_dict("records")]


def row_count(n: float | None, effective_n: float | None = None) -> str:
    """Write a number of rows, with the effective number where they have weights."""
    return count(n) if effective_n is None else f"{count(n)} ({count(effective_n)})"


def labelled_rows(attrs: Mapping[Any, Any]) -> str:
    """Say how many rows have labels, and how many have none, are targets or known positives."""
    if "n_positive" in attrs:
        unlabelled = counted(int(attrs["n_unlabeled"]), "unlabelled row")
        return f"{counted(int(attrs['n_positive']), 'positive')}, {unlabelled}"
    labelled = int(attrs.get("n_labeled", attrs.get("n_obs", 0)))
    if "n_target" in attrs:
        targets = counted(int(attrs["n_target"]), "target row")
        return f"{counted(labelled, 'labelled row')}, {targets}"
    without = int(attrs.get("n_obs", labelled)) - labelled
    effective = attrs.get("effective_n")
    rest = "" if effective is None else f" (effective number {count(effective)})"
    rest += f", {count(without)} without" if without > 0 else ""
    return counted(labelled, "labelled row") + rest
