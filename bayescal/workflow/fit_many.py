"""Fit one quantity to many data sets, so that nothing that is finished is lost."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import xarray as xr

from bayescal.core.checks import check_call, check_choice, check_flag, check_known
from bayescal.core.errors import ConvergenceWarning, InputError, ManyFitsWarning, warn_caller
from bayescal.core.quantity import Quantity
from bayescal.core.shown import Box, Progress, Showing, Shown, progress_bar, terminal_bar
from bayescal.core.text import counted
from bayescal.quantities import quantity_named
from bayescal.results import access, schema
from bayescal.results.summary import shown_summaries
from bayescal.workflow import archive
from bayescal.workflow.archive import Key, check_key, difference, joined, label, listed
from bayescal.workflow.fit import check_options, priors_of
from bayescal.workflow.runners import Outcome, Task, check_executor, failure_of, outcomes
from bayescal.workflow.sampling import Settings, settings_and_options
from bayescal.workflow.store import Failure, Store

if TYPE_CHECKING:
    import pandas as pd
    from xarray import Dataset, DataTree

type Pairs = Iterable[tuple[Key, Any]]

FIT = "fit"
_MOST_NAMED: Final = 5


@dataclass(slots=True, repr=False, eq=False)
class ManyFits(Mapping["Key", "DataTree"], Showing):
    """Results of many fits by key.

    Parameters
    ----------
    quantity : str
        Name of the quantity.
    path : pathlib.Path or None
        Directory of the store; None where results are kept in memory.
    contents : dict
        Of each key the packed result, or its file.
    rows : dict
        Rows of the summary of each key.
    failures : dict of key to Failure
        Why there is no result for a key: name of the exception, and its message.
    computed : list of key
        Keys fitted by this call; the others were in the store.
    recomputed : dict of key to str
        Keys of these that the store had, and why they were fitted again.
    unconverged : list of key
        Keys whose fits did not converge.

    Notes
    -----
    A mapping: ``fits[key]`` reads one result, ``fits.items()`` one after the other. Nothing is held
    but the summaries, unless there is no store.
    """

    quantity: str
    path: Path | None = None
    contents: dict[Key, bytes | Path] = field(default_factory=dict)
    rows: dict[Key, list[dict[str, Any]]] = field(default_factory=dict)
    failures: dict[Key, Failure] = field(default_factory=dict)
    computed: list[Key] = field(default_factory=list)
    recomputed: dict[Key, str] = field(default_factory=dict)
    unconverged: list[Key] = field(default_factory=list)

    def __getitem__(self, key: Any) -> DataTree:
        """Read the result of a key."""
        try:
            own = check_key(key)
        except InputError as error:
            # A mapping's `get` gives its default for this error alone.
            raise KeyError(str(error)) from None
        found = self.contents.get(own)
        if found is None:
            failure = self.failures.get(own)
            raise KeyError(key if failure is None else f"{key!r} failed: {failure.message}")
        try:
            return archive.unpack(found, own, self.rows[own])
        except archive.DamagedError as error:
            raise InputError(
                f"{found if isinstance(found, Path) else repr(key)} must hold a result; it is "
                f"damaged: {error}. Remove the file, and call fit_many again, which fits it anew."
            ) from error

    def __contains__(self, key: object) -> bool:
        try:
            return check_key(key) in self.contents
        except InputError:
            return False

    def __iter__(self) -> Iterator[Key]:
        return iter(self.contents)

    def __len__(self) -> int:
        return len(self.contents)

    # Those of a mapping would ask results, which compare number by number, and are always true.
    __eq__, __hash__ = object.__eq__, object.__hash__

    def _hold(self, key: Key, content: bytes | Path, head: Mapping[str, Any]) -> None:
        self.contents[key] = content
        self.rows[key] = head["summary"]
        if not head["converged"]:
            self.unconverged.append(key)

    def _show_(self) -> Shown:
        failed = [f"{joined(key)}: {why.message}" for key, why in self.failures.items()]
        said = {
            ("bad", "not converged, do not use these numbers"): [*map(joined, self.unconverged)],
            ("warn", "failed"): failed,
        }
        boxes = [
            Box(kind, f"{len(names):,} {what}", "; ".join(names[:_MOST_NAMED]))
            for (kind, what), names in said.items()
            if names
        ]
        shown = shown_summaries([(joined(key), rows) for key, rows in self.rows.items()])
        return replace(shown, lead=[f"{self!r}"[1:-1] + "."], boxes=boxes)

    def __repr__(self) -> str:
        stored = len(self.contents) - len([key for key in self.computed if key in self.contents])
        numbers = {
            "of them from the store": stored,
            "fitted again": len(self.recomputed),
            "failed": len(self.failures),
            "not converged": len(self.unconverged),
        }
        said = [f"{number:,} {what}" for what, number in numbers.items() if number]
        return f"<ManyFits of {self.quantity}: {', '.join([counted(len(self), 'result'), *said])}>"

    def draws(self, *names: str) -> Dataset:
        """Join the posterior draws of all results, one fit beside the other.

        Parameters
        ----------
        *names : str
            Variables with one value a case, such as ``"tce"``. Without names all of them.

        Returns
        -------
        xarray.Dataset
            Variables of dims (fit, case dims, chain, draw), fits in the order of the keys, which
            are the coordinate ``key``, a word each; of tuples of one length each part is a
            coordinate, ``key_1`` and on. Keys that would be one word, as 1 and "1", are written as
            in Python. Fits of one classifier each have its name as ``classifier``.

        Raises
        ------
        InputError
            If there is no such variable, no result at all, fits differ in their classifiers,
            classes, groups or draws, or only summaries were kept.

        Notes
        -----
        An xarray data set is what other programs read: ``fits.draws("tce").to_netcdf(path)``, or
        ``.to_zarr(path)`` with Zarr installed.

        Examples
        --------
        >>> import bayescal as bc
        >>> truth = bc.datasets.ece.truth("over")
        >>> data = {("north", month): truth.scores(300, seed=month) for month in (1, 2)}
        >>> fits = bc.fit_many(bc.ece, data, method="direct", seed=20)
        >>> draws = fits.draws("tce", "ece")
        >>> dict(draws.sizes)
        {'fit': 2, 'chain': 4, 'draw': 1000}
        >>> draws["key_2"].values.tolist()
        [1, 2]
        """
        return stacked(self.items(), names)

    def summary(self) -> pd.DataFrame:
        """Tabulate all results, with the probability of the intervals that they were fitted with.

        Returns
        -------
        pandas.DataFrame
            Rows of `bayescal.summary` of each result, under its key as the index, of tuples a
            level a part. Keys that failed have one row, all empty but `status`, which says why.
        """
        import pandas as pd

        keys, records = [], []
        for key, rows in self.rows.items():
            keys += [key] * len(rows)
            records += rows
        for key, failure in self.failures.items():
            keys.append(key)
            records.append({"status": f"FAILED, {failure.error}: {failure.message}"})
        if _n_parts(keys):
            index: pd.Index = pd.MultiIndex.from_tuples(keys)
        else:
            index = pd.Index(keys, name="key", tupleize_cols=False, dtype=object)
        return pd.DataFrame(records, index=index)


def fit_many(
    quantity: Quantity | str,
    data: Mapping[Any, Any] | Iterable[tuple[Any, Any]],
    *,
    priors: Any = None,
    seed: int | None = None,
    store: str | os.PathLike[str] | None = None,
    resume: bool = True,
    executor: Any = None,
    keep: str = "draws",
    progress: Progress | None = None,
    **options: Any,
) -> ManyFits:
    """Compute the posteriors of many data sets.

    Parameters
    ----------
    quantity : Quantity or str
        What to fit: `bayescal.ece`, or its name.
    data : mapping or iterable of pairs
        Data by key. A key is a word, a whole number, or a tuple of them. Data are what the quantity
        takes, or a function without arguments that returns them, called when it is their turn.
    priors : quantity.Priors, optional
        Priors; the quantity's defaults if not given.
    seed : int, optional
        The same seed and key give the same draws, whatever the other keys, their order and the
        executor. If not given, that of the store, or one is drawn.
    store : path, optional
        Directory where each fit is kept once it is finished; without it results stay in memory.
    resume : bool, default True
        Whether to take what the store has, where it was computed from the same data, priors,
        settings and options by the same version of bayescal, and of the package that another
        quantity is of (its ``__version__``). Otherwise all is fitted anew.
    executor : int or dask.distributed.Client, optional
        Number of worker processes, or a Dask cluster. If not given, fits run in this process.
    keep : {"draws", "scalars", "summary"}, default "draws"
        What is kept of a result: all of it; draws of the variables with one value a case, as
        float32, and all that is no draw; or its rows of the summary alone.
    progress : callable, optional
        Called with (key, fits done, fits in all or 0). If not given, a bar with the time left is
        shown in a notebook, and where stderr is a terminal.
    **options
        As in `bayescal.fit`: `method`, `draws`, `tune`, `chains`, `target_accept`, `prob`, and the
        options of the quantity.

    Returns
    -------
    ManyFits
        Results by key in the order of the data, failures by key, and a summary.

    Raises
    ------
    InputError
        If priors, settings or options cannot be used, a key is none or repeats, or the store has
        fits of another quantity. Data that cannot be used are a failure of their key.
    OutputError
        If the store cannot be written, or another process writes to it.

    Warns
    -----
    ManyFitsWarning
        If fits failed, were fitted again though the store has them, or their files were damaged.
    ConvergenceWarning
        If a fit did not converge.

    Notes
    -----
    A fit has the seed that its result's attribute `seed` says, with which `bayescal.fit` gives the
    same draws. Cases of equal compile keys share one compiled model in each process.

    Worker processes start anew (spawn): in a script the call must stand under
    ``if __name__ == "__main__":``.

    Examples
    --------
    >>> import bayescal as bc
    >>> truth = bc.datasets.ece.truth("over")
    >>> data = {month: truth.scores(300, seed=month) for month in (1, 2)}
    >>> fits = bc.fit_many(bc.ece, data, method="direct", seed=20)
    >>> fits
    <ManyFits of ece: 2 results>
    >>> bool(bc.interval(fits[2], "tce").sel(ci_bound="upper") < 0.2)
    True
    """
    chosen = quantity_named(quantity)
    check_choice(keep, archive.KEEP, "keep")
    check_flag(resume, "resume")
    check_call(progress, "progress")
    executor = check_executor(executor)
    settings, own = settings_and_options({**options, "seed": seed})
    check_options(chosen, own)
    found = ManyFits(chosen.NAME)
    kept = None if store is None else Store(store)
    used = priors_of(chosen, priors)
    # Keys of what is all there are checked before the first fit, and before the seed is stored.
    lazy = isinstance(data, Iterable) and not isinstance(data, Mapping | list | tuple)
    pairs = _pairs(data) if lazy else [*_pairs(data)]
    with nullcontext() if kept is None else kept.writing():
        if kept is not None:
            found.path = kept.path
            number = kept.seed(chosen.NAME, seed, settings.seed or 0)
            settings = replace(settings, seed=number)
        run = _Run(chosen, used, settings, own, keep, found, kept, resume)
        run.all(pairs, executor, progress)
    _warn(found)
    return found


@dataclass(slots=True)
class _Run:
    """One call: what its fits share, and what it found."""

    quantity: Quantity
    priors: Any
    settings: Settings
    options: Mapping[str, Any]
    keep: str
    found: ManyFits
    store: Store | None
    """Where fits are kept."""
    resume: bool
    """Whether those of earlier calls are taken."""

    def all(self, pairs: Pairs, executor: Any, progress: Progress | None) -> None:
        """Fit what is not in the store; results end in the order of the keys."""
        total = len(pairs) if isinstance(pairs, list) else 0
        order: dict[Key, None] = {}
        tasks = self._tasks(pairs, order)
        with (
            ExitStack() as at_the_end,
            progress_bar("Fitting", progress) as shown,
            nullcontext(shown) if shown else terminal_bar("Fitting") as update,
            closing(outcomes(tasks, executor)) as finished,
        ):
            if self.store is not None:
                at_the_end.callback(self.store.keep_order, order)
            for key, outcome in finished:
                self._take(key, outcome)
                failed = len(self.found.failures)
                said = f", {failed:,} failed" if failed and progress is None else ""
                if update is not None:
                    update(f"{label(key)}{said}", len(self.found.contents) + failed, total)
        for name in ("contents", "rows", "failures"):
            setattr(self.found, name, _in_order(getattr(self.found, name), order))
        for keys in (self.found.computed, self.found.unconverged):
            keys[:] = _in_order(dict.fromkeys(keys), order)

    def _tasks(self, pairs: Pairs, order: dict[Key, None]) -> Iterator[Task]:
        """What is to be fitted; what the store has is taken from there."""
        shared = {"options": archive.plain_options(self.options), "keep": self.keep}
        module = getattr(self.quantity, "__name__", self.quantity.NAME)
        for key, given in pairs:
            order[key] = None
            try:
                data = given() if callable(given) else given
                content = archive.fingerprint(data)
            except Exception as error:  # loading data may fail in any way
                self._take(key, failure_of(error))
                continue
            recipe = archive.recipe_of(self.quantity, content, self.priors, self.settings, **shared)
            if not self._is_stored(key, recipe):
                own = replace(self.settings, seed=archive.seed_of(self.settings.seed or 0, key))
                yield Task(key, module, data, self.priors, own, self.options, self.keep, recipe)

    def _is_stored(self, key: Key, recipe: dict[str, Any]) -> bool:
        """Take a fit from the store, or say why it is not taken."""
        if self.store is None or not self.resume:
            return False
        try:
            head = self.store.read(key)
        except archive.DamagedError as error:
            aside = self.store.set_aside(key)
            self.found.recomputed[key] = f"its file was damaged ({error}) and is now {aside}"
            return False
        if head is None:
            return False
        if why := difference(head["recipe"], recipe):
            self.found.recomputed[key] = f"the store has it of {why}"
            return False
        self.store.end_failure(key)
        self.found._hold(key, self.store.file(key), head)
        return True

    def _take(self, key: Key, outcome: Outcome) -> None:
        """Store what a fit came to."""
        self.found.computed.append(key)
        if isinstance(outcome, Failure):
            self.found.failures[key] = outcome
            if self.store is not None:
                self.store.keep_failure(key, outcome)
            return
        content = outcome if self.store is None else self.store.keep(key, outcome)
        self.found._hold(key, content, archive.about(outcome))


def _pairs(data: Any) -> Iterator[tuple[Key, Any]]:
    rule = "data must be a mapping, or pairs of a key and data; got {}. Pass {{key: data, ...}}."
    items = data.items() if isinstance(data, Mapping) else data
    if not isinstance(items, Iterable):
        raise InputError(rule.format(type(data).__name__))
    seen = set()
    for pair in items:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise InputError(rule.format(repr(pair)))
        if (key := check_key(pair[0])) in seen:
            raise InputError(f"keys must differ; got {key!r} twice. Name each once.")
        seen.add(key)
        yield key, pair[1]


def _in_order[T](found: dict[Key, T], order: Iterable[Key]) -> dict[Key, T]:
    return {key: found[key] for key in order if key in found}


def _warn(found: ManyFits) -> None:
    """Say once what a user must know of all fits together."""
    failed = {key: why.message for key, why in found.failures.items()}
    number = len(found) + len(failed)
    said = {
        f"{len(found.recomputed)} of the store's fits were made again": found.recomputed,
        f"{len(failed)} of {number} fits failed (see .failures)": failed,
    }
    for what, whys in said.items():
        reasons = listed([f"{label(key)}: {why}" for key, why in whys.items()], " | ")
        if whys:
            warn_caller(f"{what}. {reasons}", ManyFitsWarning)
    if found.unconverged:
        names = listed([label(key) for key in found.unconverged], ", ")
        text = f"{len(found.unconverged)} of {len(found)} fits did not converge: {names}."
        warn_caller(f"{text} See the status of each.", ConvergenceWarning)


def load_many(path: str | os.PathLike[str]) -> ManyFits:
    """Open a store that `bayescal.fit_many` wrote, without fitting anything.

    Parameters
    ----------
    path : path
        The directory.

    Returns
    -------
    ManyFits
        Results by key in the order in which they were given, and failures.

    Raises
    ------
    InputError
        If there is no store, a file is damaged or a copy, or fits are of several quantities.

    Warns
    -----
    ManyFitsWarning
        If priors, options, settings or versions of the fits differ.
    """
    store = Store(path)
    store.check()
    heads, failures = store.heads(), store.failures()
    _check_alike(store.path, {key: head["recipe"] for key, head in heads.items()})
    found = ManyFits(store.quantity, store.path, failures=failures)
    for key, head in heads.items():
        found.quantity = str(head["recipe"]["quantity"])
        # A fit of a key that has failed since is of data that the key has no more.
        if key not in failures:
            found._hold(key, store.file(key), head)
    return found


def _check_alike(path: Path, recipes: Mapping[Key, Mapping[str, Any]]) -> None:
    """Refuse fits of several quantities, and warn of others that were not made in one way."""
    own = ("data", "seed", "keep")
    alike = {
        key: {name: value for name, value in recipe.items() if name not in own}
        for key, recipe in recipes.items()
    }
    first = next(iter(alike), "")
    others = {key: why for key, one in alike.items() if (why := difference(one, alike[first]))}
    if not others:
        return
    quantities = {str(recipe["quantity"]) for recipe in recipes.values()}
    if len(quantities) > 1:
        raise InputError(
            f"a store must hold fits of one quantity; {path} has those of "
            f"{' and '.join(sorted(quantities))}. Fit each into a store of its own."
        )
    whys = listed([f"{label(key)}: {why}" for key, why in others.items()], " | ")
    warn_caller(
        f"{len(others)} of {len(recipes)} fits were made in another way than that of "
        f"{label(first)}, and cannot be compared with it. {whys}. Call fit_many with all data, "
        "which makes them alike.",
        ManyFitsWarning,
    )


def stacked(fits: Iterable[tuple[Key, xr.DataTree]], names: Sequence[str]) -> xr.Dataset:
    """Join the draws of variables with one value a case, (fit, ..., chain, draw)."""
    found, owners = {}, list[str]()
    for key, tree in fits:
        found[key] = _draws(tree, names)
        owners += [] if schema.CLASSIFIER in found[key].dims else access.classifier_names(tree)
    if not found:
        raise InputError("there must be at least one result; all fits failed. Read .failures.")
    shapes: dict[str, Key] = {}
    for key, draws in found.items():
        held = [dim for dim in schema.CASE_DIMS if dim in draws.dims]
        cases = [f"{dim} {draws[dim].values.tolist()}" for dim in held]
        sizes = [f"{draws.sizes[dim]} {dim}s" for dim in schema.DRAW_DIMS]
        shapes.setdefault(", ".join([*cases, *sizes]), key)
    if len(shapes) > 1:
        different = " and ".join(f"{shape} ({label(key)})" for shape, key in shapes.items())
        raise InputError(
            "fits must have the same classifiers, classes, groups and number of draws to be "
            f"joined; they have {different}. Join those that agree, with xarray.concat."
        )
    joined = xr.concat(
        list(found.values()), FIT, join="override", coords="minimal", compat="override"
    )
    if len(set(owners)) > 1:
        joined = joined.assign_coords({schema.CLASSIFIER: (FIT, owners)})
    return joined.assign_coords({name: (FIT, parts) for name, parts in _parts(list(found))})


def _draws(tree: xr.DataTree, names: Sequence[str]) -> xr.Dataset:
    posterior = tree[schema.POSTERIOR].to_dataset()
    scalars = tuple(name for name in map(str, posterior) if access.is_scalar(posterior[name]))
    for name in names:
        check_known(name, scalars, "variable", "the results, with one value a case,")
    return posterior[list(names or scalars)]


def _parts(keys: Sequence[Key]) -> Iterator[tuple[str, np.ndarray]]:
    """Coordinates of the fits: their keys, or a part of them each where all have as many."""
    n_parts = _n_parts(keys)
    if not n_parts:
        yield "key", _words(keys)
    for place in range(n_parts):
        parts = [key[place] for key in keys if isinstance(key, tuple)]
        alike = len({type(part) for part in parts}) == 1
        yield f"key_{place + 1}", np.array(parts) if alike else _words(parts)


def _words(keys: Sequence[Key]) -> np.ndarray:
    """Keys as words; as Python writes them where two would be one word, as 1 and "1"."""
    words = [joined(key) for key in keys]
    return np.array(words if len(set(words)) == len(set(keys)) else list(map(repr, keys)))


def _n_parts(keys: Iterable[Key]) -> int:
    """How many parts all keys have; 0 where one is no tuple, or of another length."""
    lengths = {len(key) if isinstance(key, tuple) else 0 for key in keys}
    return lengths.pop() if len(lengths) == 1 else 0
