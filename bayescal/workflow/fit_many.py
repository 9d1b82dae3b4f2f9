"""Fit one quantity to many data sets, so that nothing that is finished is lost."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from bayescal.core.checks import check_call, check_choice, check_flag
from bayescal.core.errors import ConvergenceWarning, InputError, ManyFitsWarning
from bayescal.core.quantity import Quantity
from bayescal.quantities import quantity_named
from bayescal.workflow import archive
from bayescal.workflow.archive import Key, check_key, label, listed, seed_of
from bayescal.workflow.fit import check_options, priors_of
from bayescal.workflow.many_fits import ManyFits
from bayescal.workflow.runners import Outcome, Runner, Task, failure_of, runner_of
from bayescal.workflow.sampling import Settings
from bayescal.workflow.store import Common, Failure, Store, difference

type Progress = Callable[[str, int, int], None]

_WIDTH: Final = 79
_SECONDS: Final = 0.2


class Line:
    """A line on stderr that is written over as fits finish."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._shown = sys.stderr.isatty()
        self._began = self._last = time.monotonic()

    def update(self, label: str, done: int, computed: int, failed: int) -> None:
        """Say how many are done, `computed` of them since the start, and how many failed."""
        now = time.monotonic()
        if self._shown and now - self._last >= _SECONDS:
            self._last = now
            text = status(done, self._total, computed, failed, now - self._began)
            sys.stderr.write(f"\r{f'{text}  {label}'[:_WIDTH]:<{_WIDTH}}")
            sys.stderr.flush()

    def close(self) -> None:
        """Clear the line."""
        if self._shown:
            sys.stderr.write(f"\r{'':<{_WIDTH}}\r")
            sys.stderr.flush()


def status(done: int, total: int, computed: int, failed: int, seconds: float) -> str:
    """Put progress into words: "120 of 1,000 fits, 3.2/s, 4 min 35 s left, 1 failed"."""
    parts = [f"{done:,} of {total:,} fits" if total else f"{done:,} fits"]
    if computed and seconds > 0:
        rate = computed / seconds
        parts.append(f"{rate:.2g}/s")
        if total:
            parts.append(f"{_duration((total - done) / rate)} left")
    if failed:
        parts.append(f"{failed:,} failed")
    return ", ".join(parts)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def fit_many(
    quantity: Quantity | str,
    data: Mapping[Any, Any] | Iterable[tuple[Any, Any]],
    *,
    priors: Any = None,
    method: str = "nuts",
    draws: int = 1000,
    tune: int = 300,
    chains: int = 4,
    target_accept: float | None = None,
    seed: int | None = None,
    prob: float = 0.9,
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
    method : {"nuts", "direct"}, default "nuts"
        As in `bayescal.fit`.
    draws, tune : int, default 1000 and 300
        As in `bayescal.fit`.
    chains : int, default 4
        As in `bayescal.fit`.
    target_accept : float, in (0, 1), optional
        As in `bayescal.fit`.
    seed : int, optional
        The same seed and key give the same draws, whatever the other keys, their order and the
        executor. If not given, that of the store, or one is drawn.
    prob : float, in (0, 1), default 0.9
        Probability of the intervals in the summary.
    store : path, optional
        Directory where each fit is kept as soon as it is finished. Without it results are kept in
        memory.
    resume : bool, default True
        Whether to take what the store has, where it was computed from the same data, priors,
        settings and options by the same version of bayescal. Otherwise all is fitted anew.
    executor : int or dask.distributed.Client, optional
        Number of worker processes, or a Dask cluster. If not given, fits run in this process.
    keep : {"draws", "scalars", "summary"}, default "draws"
        What is kept of a result: all of it; draws of the variables with one value a case, as
        float32, and all that is no draw; or its rows of the summary alone.
    progress : callable, optional
        Called with (key, fits done, fits in all or 0). If not given, a line with the rate and the
        time left is shown where stderr is a terminal.
    **options
        Options of the quantity, as in `bayescal.fit`.

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
    check_options(chosen, options)
    settings = Settings(
        draws=draws,
        tune=tune,
        chains=chains,
        target_accept=target_accept,
        seed=seed,
        method=method,
        prob=prob,
    )
    common = Common(chosen, priors_of(chosen, priors), settings, dict(options), keep)
    runner = runner_of(executor)
    total = len(data) if isinstance(data, Mapping | list | tuple) else 0
    found = ManyFits(chosen.NAME)
    if store is None:
        _Run(common, found, None, resume, total, progress).all(data, runner)
    else:
        kept = Store(store)
        found.path = kept.path
        with kept.writing():
            used = replace(settings, seed=kept.seed(chosen.NAME, seed, settings.seed or 0))
            run = _Run(replace(common, settings=used), found, kept, resume, total, progress)
            run.all(data, runner)
    _warn(found)
    return found


@dataclass(slots=True)
class _Run:
    """One call: what it shares, what it found, and where that goes."""

    common: Common
    found: ManyFits
    store: Store | None
    resume: bool
    total: int
    progress: Progress | None

    def all(self, data: Any, runner: Runner) -> None:
        """Fit what is not in the store; results end in the order of the keys."""
        line = Line(self.total if self.progress is None else 0)
        order: list[Key] = []
        tasks = self._tasks(_pairs(data), order)
        waiting = True
        try:
            with runner:
                while waiting or runner.busy:
                    while waiting and runner.room:
                        task = next(tasks, None)
                        waiting = task is not None
                        if task is not None:
                            runner.start(task)
                    if runner.busy:
                        key, outcome = runner.next()
                        self._take(key, outcome)
                        self._say(line, key)
        finally:
            line.close()
        self.found.contents = _in_order(self.found.contents, order)
        self.found.rows = _in_order(self.found.rows, order)

    def _tasks(self, pairs: Iterator[tuple[Key, Any]], order: list[Key]) -> Iterator[Task]:
        """What is to be fitted; what the store has is taken from there."""
        seen = set()
        for key, given in pairs:
            if key in seen:
                raise InputError(f"keys must differ; got {key!r} twice. Name each once.")
            seen.add(key)
            order.append(key)
            try:
                data = given() if callable(given) else given
                recipe = self.common.recipe(data)
            except Exception as error:  # loading data may fail in any way
                self._take(key, failure_of(error))
                continue
            if not self._is_stored(key, recipe):
                yield self._task(key, data, recipe)

    def _task(self, key: Key, data: Any, recipe: dict[str, Any]) -> Task:
        common = self.common
        settings = replace(common.settings, seed=seed_of(common.settings.seed or 0, key))
        module = getattr(common.quantity, "__name__", common.quantity.NAME)
        return Task(key, module, data, common.priors, settings, common.options, common.keep, recipe)

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
        why = difference(head["recipe"], recipe)
        if why:
            self.found.recomputed[key] = f"the store has it of {why}"
            return False
        self.store.end_failure(key)
        self._hold(key, self.store.file(key), head)
        return True

    def _take(self, key: Key, outcome: Outcome) -> None:
        """Store what a fit came to."""
        self.found.computed.append(key)
        if isinstance(outcome, Failure):
            self.found.failures[key] = outcome
            if self.store is not None:
                self.store.keep_failure(key, outcome)
            return
        head = archive.about(outcome)
        if self.store is not None:
            self.store.keep(key, outcome)
        self._hold(key, outcome if self.store is None else self.store.file(key), head)

    def _hold(self, key: Key, content: Any, head: Mapping[str, Any]) -> None:
        self.found.contents[key] = content
        self.found.rows[key] = head["summary"]
        if not head["converged"]:
            self.found.unconverged.append(key)

    def _say(self, line: Line, key: Key) -> None:
        failed = len(self.found.failures)
        done = len(self.found.contents) + failed
        if self.progress is None:
            line.update(label(key), done, len(self.found.computed), failed)
        else:
            self.progress(label(key), done, self.total)


def _pairs(data: Any) -> Iterator[tuple[Key, Any]]:
    items = data.items() if isinstance(data, Mapping) else data
    if not isinstance(items, Iterable):
        raise _no_pairs(type(data).__name__)
    for pair in items:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise _no_pairs(repr(pair))
        yield check_key(pair[0]), pair[1]


def _no_pairs(got: str) -> InputError:
    return InputError(
        f"data must be a mapping, or pairs of a key and data; got {got}. Pass {{key: data, ...}}."
    )


def _in_order[T](found: dict[Key, T], order: list[Key]) -> dict[Key, T]:
    return {key: found[key] for key in order if key in found}


def _warn(found: ManyFits) -> None:
    """Say once what a user must know of all fits together."""
    if found.recomputed:
        whys = {key: f"{label(key)}: {why}" for key, why in found.recomputed.items()}
        _say_many(f"{len(whys)} of the store's fits were made again", whys)
    if found.failures:
        whys = {key: f"{label(key)}: {why.message}" for key, why in found.failures.items()}
        number = len(found) + len(whys)
        _say_many(f"{len(whys)} of {number} fits failed (see .failures)", whys)
    if found.unconverged:
        names = listed([label(key) for key in found.unconverged], ", ")
        warnings.warn(
            f"{len(found.unconverged)} of {len(found)} fits did not converge: {names}. See the "
            "status of each.",
            ConvergenceWarning,
            stacklevel=3,
        )


def _say_many(what: str, whys: Mapping[Key, str]) -> None:
    text = f"{what}. {listed(list(whys.values()), ' | ')}"
    warnings.warn(text, ManyFitsWarning, stacklevel=4)
