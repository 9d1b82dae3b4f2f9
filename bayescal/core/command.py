"""What the command line needs of a quantity: its files, its options and those of several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from bayescal.core.checks import check_columns, check_known, checked_scores
from bayescal.core.errors import InputError

if TYPE_CHECKING:
    from bayescal.core.count_table import CountTable
    from bayescal.core.intake import Column
    from bayescal.core.scores import Scores
    from bayescal.core.tables import Table

type Given = Mapping[str, Any]
"""Values of the options by `Option.name`, and paths by the argument's name in lower case."""
type Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option of a command."""

    flags: tuple[str, ...]
    """``("--label",)``, ``("-o", "--output")``; the last one names the value."""
    help: str
    type: Callable[[str], Any] = str
    """From the word given to the value: str, int, float or pathlib.Path."""
    default: Any = None
    choices: tuple[str, ...] = ()
    """Words that it may be; any if empty."""
    required: bool = False
    multiple: bool = False
    """Whether it may be given repeatedly."""
    is_flag: bool = False
    hidden: bool = False
    """Whether ``--help`` leaves it out."""
    metavar: str | None = None
    read: Callable[[Any], Any] | None = None
    """From the value to what the quantity takes, such as its Priors; called before any file is
    read, so that its InputError comes early."""
    phrases: Mapping[str, str] = field(default_factory=dict)
    """What messages say of Python, and what takes its place on the command line. ``name=value`` and
    ``name must`` are put in terms of the option without it."""

    @property
    def flag(self) -> str:
        """The long flag."""
        return self.flags[-1]

    @property
    def name(self) -> str:
        """The long flag as a Python name: a key of `Given`."""
        return self.flag.lstrip("-").replace("-", "_")

    def is_given(self, values: Given) -> bool:
        """Whether the values have another one than the default."""
        value = values.get(self.name)
        # 0 equals False, and is given.
        return value is not False and value not in (None, (), self.default)


class Estimates(NamedTuple):
    """Point estimates without a posterior."""

    rows: Sequence[Row]
    """Plain values by name, as JSON and CSV have them."""
    columns: Mapping[str, str]
    """The names that the printed table shows, with their headings."""
    notes: Sequence[str] = ()
    """Sentences printed below the table."""
    warnings: Sequence[str] = ()
    """What a reader must know of the data."""
    printed: int | None = None
    """Rows that the table shows; all by default."""
    spare: Sequence[str] = ()
    """Headings that a narrow terminal leaves out, the first one first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """How the command line reads what a quantity takes: the constant ``COMMAND`` of its package."""

    help: str
    """The help text; its first sentence stands in the list of commands."""
    example: str
    """A command that works, without the program's name."""
    options: Sequence[Option]
    """What the data are and how to analyse them; options of sampling and output are added to every
    command. One with the name of a keyword argument of `plan`, or of a field of its binning, is
    handed to `plan` unless it is a flag."""
    prior: Option
    """Chooses the prior. ``bayescal sensitivity`` takes it repeatedly."""
    read: Callable[[Given], Any]
    """From the values given to the data that `plan` takes."""
    estimates: Callable[[Any, Given], Estimates]
    """From the data and the values given to point estimates."""
    priors: Callable[[Given, Any], Any] | None = None
    """From the values given and the data to the quantity's Priors; by default what `prior.read`
    makes of its word."""
    arguments: tuple[str, ...] = ("FILE",)
    """The files; their paths are in `Given` under these names in lower case."""
    note: str = ""
    """A sentence printed below the table of a result."""
    reports: bool = False
    """Whether ``bayescal report FILE`` fits this quantity to a table of scores."""
    counts: bool = False
    """Whether FILE may be files of counts, which add up."""
    quick: bool = True
    """Whether some prior has a posterior without NUTS."""
    curve: bool = False
    """Whether a result holds draws of a calibration curve, of which ``--measure`` is a number."""
    details: Callable[[Any, float], Estimates] | None = None
    """A further table of a result: from the result and the probability of its intervals."""
    write_rows: Callable[[Any, Path, float, Callable[[str, int, int], None] | None], Any] | None = (
        None
    )
    """Writes every row of a result to a CSV or Parquet file: from the result, the path, the
    probability of the bounds, and what to call with progress or None. Without it a table has what
    the result holds."""

    def priors_of(self, given: Given, data: Any) -> Any:
        """Priors of the model."""
        if self.priors is not None:
            return self.priors(given, data)
        assert self.prior.read is not None
        return self.prior.read(given[self.prior.name])


def row_of(coords: Mapping[str, str], **values: Any) -> Row:
    """Row of one case: its name, its coords, and what was estimated."""
    return {"case": " / ".join(coords.values()), **coords, **values}


def prior_by(read: Callable[[str], Any], default: str, help: str) -> Option:
    """The option of a prior that is read from text."""
    return Option(flags=("--prior",), default=default, metavar="PRIOR", help=help, read=read)


def prior_in_words(words: Mapping[str, Any], help: str = "Prior.") -> Option:
    """The option of a prior that is chosen by a word, the first by default."""
    return Option(
        flags=("--prior",),
        default=next(iter(words)),
        choices=tuple(words),
        help=help,
        read=words.__getitem__,
    )


def estimates_of(names: Sequence[str], found: NamedTuple) -> Estimates:
    """A row a classifier, a column a field of an estimate, whose arrays are by classifier."""
    fields = found._asdict()
    rows = [
        row_of({"classifier": name}, **{field: float(of[k]) for field, of in fields.items()})
        for k, name in enumerate(names)
    ]
    return Estimates(rows, {"case": "", **{field: field.replace("_", " ") for field in fields}})


def in_words[T](
    text: str, words: Mapping[str, Callable[..., T]], known: str, given: str | None = None
) -> T:
    """Read a prior from ``word`` or ``word:parameter``; a refusal shows `given`, or the text.

    A function of `words` raises TypeError or ValueError where a parameter is missing or wrong.
    """
    word, colon, parameter = (part.strip() for part in text.casefold().partition(":"))
    try:
        return words[word](*([parameter] if colon else []))
    except InputError as error:
        if not colon:
            raise
        raise InputError(f"--prior {given or text}: {error}") from None
    except (KeyError, TypeError, ValueError):
        raise InputError(f"--prior must be {known}; got {given or text!r}.") from None


# Numbers that are read at once; beyond it a file is read in batches, where that can be done.
MOST_NUMBERS: Final = 50_000_000

LABEL = Option(
    flags=("--label",),
    required=True,
    metavar="COLUMN",
    help="Column of the true labels.",
    phrases={"y_true must": "the column of --label must"},
)
BINARY_SCORE = Option(
    flags=("--score",),
    multiple=True,
    metavar="COLUMN",
    help="Column of a classifier's scores, or a pattern such as 'p_*'; repeat it for several "
    "classifiers on the same rows.",
)
SCORE = replace(
    BINARY_SCORE,
    help=f"{BINARY_SCORE.help[:-1]} (or, with --multiclass, for the classes of one classifier).",
)
GROUP = Option(
    flags=("--group",), metavar="COLUMN", help="Column that splits the rows into groups."
)
WEIGHT = Option(
    flags=("--weight",),
    metavar="COLUMN",
    help="Column of sample weights: the inverse of the probability that a row was drawn.",
    phrases={
        "Pass the weights of the rows, or none.": "Name another column, or leave out --weight.",
        "Pass method='direct'.": "Add --quick.",
        "these out: scores.without_weight()": "out --weight",
        "the weights: scores.without_weight()": "--weight",
    },
)
POS_LABEL = Option(
    flags=("--pos-label",),
    default="1",
    metavar="VALUE",
    help="Label of the positive class.",
    phrases={f"{word} pos_label": f"{word} --pos-label" for word in ("and", "set", "where")},
)
FROM_LOGITS = Option(
    flags=("--from-logits",),
    is_flag=True,
    help="The scores are logits, not probabilities.",
    phrases={"eave from_logits out": "eave --from-logits out"},
)
ONE_CLASSIFIER = Option(
    flags=("--multiclass",),
    is_flag=True,
    help="Take the --score columns as the classes of one classifier. A class is named by its "
    "column, or by what the * of a pattern stands for.",
    phrases={
        "Pass y_prob of shape (obs, class)": "Pass --multiclass and a --score for each class",
        "name every class in classes=[...]": "name the columns of scores after the labels",
    },
)
MULTICLASS = replace(
    ONE_CLASSIFIER,
    is_flag=False,
    choices=("top-label", "class-wise", "marginal"),
    help=f"{ONE_CLASSIFIER.help} Measures the calibration of its top label, of each class, or the "
    "mean of the classes.",
)
CLASSIFIER = Option(
    flags=("--classifier",),
    multiple=True,
    metavar="NAME=PATTERN",
    help="One of several classifiers with several classes each: a column a class, whose name is "
    "what the * of the pattern stands for. Repeat it instead of --score, which names one after the "
    "file.",
    phrases={"several classifiers: Scores.stack": "several classifiers: --classifier"},
)


def whole_or_word(word: str) -> int | str:
    """Read a whole number; other words are left to a check that knows some of them."""
    try:
        return int(word)
    except ValueError:
        return word


def _checked(value: int | str) -> int | str:
    from bayescal.core.bin_edges import check_number

    return check_number(value)


N_BINS = Option(
    flags=("--bins", "--n-bins"),
    type=whole_or_word,
    default=15,
    metavar="NUMBER",
    read=_checked,
    help="Number of bins; optimal for the one whose order makes the bias of the estimate least.",
)
STRATEGY = Option(
    flags=("--strategy",),
    default="quantile",
    choices=("quantile", "uniform"),
    help="Bins of equal counts, or of equal widths.",
)
CLOSED = Option(
    flags=("--closed",),
    default="right",
    choices=("right", "left"),
    help="Which edge belongs to a bin.",
)
BINNING = (N_BINS, STRATEGY, CLOSED)
GROUPED_ROWS = (LABEL, SCORE, CLASSIFIER, GROUP, WEIGHT, POS_LABEL, FROM_LOGITS)
ROWS = tuple(option for option in GROUPED_ROWS if option is not GROUP)


def binning_of(given: Given) -> dict[str, Any]:
    """The fields of a `Binning`."""
    return {option.name: given[option.name] for option in BINNING}


class Columns(NamedTuple):
    """Which columns hold whose scores: one each, or one a class."""

    by_classifier: dict[str, list[str]]
    classes: tuple[str, ...] | None

    @property
    def names(self) -> list[str]:
        """All columns, each once."""
        return list(dict.fromkeys(name for names in self.by_classifier.values() for name in names))


def score_columns(given: Given, table: Table) -> Columns:
    """Find the columns that --score or --classifier name, none of which has another use."""
    find = _several_with_classes if given.get("classifier") else _one_each
    found = find(given, table)
    check_columns(found.names, **{name: given.get(name) for name in _OTHER_COLUMNS})
    positive = given.get(POS_LABEL.name, POS_LABEL.default)
    if found.classes is not None and positive != POS_LABEL.default:
        raise InputError(
            f"--pos-label is of scores of two classes; got {positive!r} beside "
            f"{len(found.classes)} classes. Leave it out, or give the column of that class alone."
        )
    return found


def _one_each(given: Given, table: Table) -> Columns:
    if not given["score"]:
        raise InputError("--score must name a column of scores, or a pattern of names; got none.")
    taken = taken_columns(given)
    found = [pair for pattern in given["score"] for pair in matching(pattern, table, taken)]
    names = [column for column, _ in found]
    checked_scores(names, "--score")
    if not given.get("multiclass"):
        return Columns({name: [name] for name in names}, None)
    if len(names) < 3:
        raise InputError(
            f"--multiclass needs a --score for each of three classes or more; got {len(names)}. "
            "With two classes, give the column of the positive one, without --multiclass."
        )
    return Columns({table.path.stem: names}, tuple(class_ for _, class_ in found))


def _several_with_classes(given: Given, table: Table) -> Columns:
    if given["score"]:
        raise InputError("--classifier cannot be combined with --score. Leave one out.")
    found: dict[str, dict[str, str]] = {}
    for text in given["classifier"]:
        name, equals, pattern = text.partition("=")
        if not (name and equals and pattern):
            raise InputError(f"--classifier must be NAME=PATTERN; got {text!r}.")
        if name in found:
            raise InputError(f"--classifier names must differ; got {name!r} twice.")
        pairs = matching(pattern, table, taken_columns(given))
        found[name] = {class_: column for column, class_ in pairs}
    classes = tuple(next(iter(found.values())))
    for name, columns in found.items():
        if set(columns) != set(classes) or len(classes) < 3:
            raise InputError(
                "every --classifier must have the same three classes or more; "
                f"got {', '.join(columns)} for {name}. Mend its pattern."
            )
    return Columns({name: [found[name][k] for k in classes] for name in found}, classes)


def taken_columns(given: Given) -> list[str]:
    """Columns that patterns leave out: those of labels, groups, weights and windows."""
    return [given[name] for name in _OTHER_COLUMNS if given.get(name)]


_OTHER_COLUMNS: Final = ("label", "group", "weight", "window")


def matching(pattern: str, table: Table, taken: Sequence[str]) -> list[tuple[str, str]]:
    """Columns that a shell-style pattern matches, in the file's order, each with its class."""
    if pattern in table.columns:
        return [(pattern, pattern)]
    if not any(sign in pattern for sign in "*?["):
        check_known(pattern, table.columns, "column", table.path.name)
    others = [name for name in table.columns if name not in taken]
    found = [name for name in others if fnmatchcase(name, pattern)]
    if not found:
        near = get_close_matches(pattern, others, n=3, cutoff=0.0)
        near.sort(key=others.index)
        nearest = f"the nearest are {', '.join(map(repr, near))}" if near else "it has no other"
        raise InputError(
            f"{table.path.name} has no column that matches {pattern!r}; {nearest}. Quote the "
            "pattern, so that the shell leaves it alone."
        )
    return [(name, _starred(pattern, name)) for name in found]


def _starred(pattern: str, name: str) -> str:
    """What the one * of a pattern stands for; the whole name under other patterns."""
    before, star, after = pattern.partition("*")
    if not star or any(sign in before + after for sign in "*?["):
        return name
    return name[len(before) : len(name) - len(after)]


def open_columns(given: Given, argument: str = "file") -> tuple[Table, Columns]:
    """Open a file, and find its columns of scores."""
    from bayescal.core.tables import open_table

    table = open_table(given[argument])
    return table, score_columns(given, table)


def too_large(table: Table, n_columns: int, most: int | None = None) -> bool:
    """Whether so many columns of a table are too much to be read at once."""
    return table.has_more_rows((most or MOST_NUMBERS) // n_columns)


def counted[T](
    count_rows: Callable[..., T], given: Given, table: Table, score: Any, **others: Any
) -> T:
    """Go through a table in batches, with the columns that the options name."""
    named = {name: given[name] for name in ("label", "pos_label", "from_logits")}
    return count_rows(table, score=score, **named, **others)


def read_labeled(given: Given) -> Scores:
    """Read the scores and labels of a file."""
    return labeled_scores(given, *open_columns(given))


def labeled_scores(
    given: Given, table: Table, columns: Columns, codes: Column | None = None
) -> Scores:
    """Read the columns of a table, labels among them; `codes` are groups that are no column."""
    from bayescal.core.tables import table_scores

    how: Any = {name: given[name] for name in ("pos_label", "from_logits")}
    how |= {"group": codes or given.get("group"), "weight": given.get("weight")}
    return table_scores(
        table, columns.by_classifier, given["label"], classes=columns.classes, **how
    )


COUNTS: Final = ".counts"
"""How the names of files of counts end."""
_OF_COLUMNS: Final = (*GROUPED_ROWS, ONE_CLASSIFIER)


def files_of(given: Given) -> tuple[Path, ...]:
    """The files given, also where it is one; rows of one that is given twice would count twice."""
    files = given["file"]
    every = (files,) if isinstance(files, Path) else tuple(files)
    seen: dict[Path, Path] = {}
    for path in every:
        if seen.setdefault(path.resolve(), path) is not path:
            raise InputError(f"each file must be given once; got {path} twice. Leave one out.")
    return every


def are_counts(given: Given) -> bool:
    """Whether files hold counts, which have no columns; a table comes alone."""
    files = files_of(given)
    tables = [path.name for path in files if path.suffix.casefold() != COUNTS]
    if tables and len(tables) < len(files):
        raise InputError(
            f"files of counts go without others; got {tables[0]!r} among them. Count it first: "
            f"bayescal count {tables[0]} -o DAY{COUNTS}."
        )
    if len(tables) > 1:
        raise InputError(
            f"FILE must be one table, or files of counts ({COUNTS}); got {len(tables)} tables. "
            "Count them with bayescal count, and pass the counts."
        )
    if not tables:
        check_no_columns(given, _OF_COLUMNS)
    return not tables


def check_no_columns(given: Given, options: Iterable[Option]) -> None:
    """Refuse options that counts have no columns for."""
    for option in options:
        if option.is_given(given):
            raise InputError(
                f"{option.flag} is about columns of a table, and counts have none. Leave it out."
            )


def sum_of(given: Given) -> CountTable:
    """Add up files of counts."""
    first, *others = files_of(given)
    total = read_counts(first)
    for path in others:
        found = read_counts(path)
        try:
            total += found
        except InputError as error:
            raise InputError(f"{path.name} cannot be added to {first.name}: {error}") from None
    return total


def read_counts(path: Path) -> CountTable:
    """Read a file of counts, of one classifier or of several."""
    from bayescal.core.count_table import CountTable
    from bayescal.core.counts import Counts
    from bayescal.core.counts_sql import ALONE

    found = Counts.load(path)
    return CountTable({ALONE: found}) if isinstance(found, Counts) else found
