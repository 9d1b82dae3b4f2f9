"""Where fits run: in this process, in worker processes, or on a Dask cluster.

A runner takes tasks while it has room, and hands back what they came to as they finish.
"""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from importlib import import_module
from multiprocessing.connection import Connection, wait
from typing import Any, Final, Protocol, Self, cast

from bayescal.core.checks import shown
from bayescal.core.errors import ConvergenceWarning, InputError
from bayescal.core.quantity import Quantity
from bayescal.core.text import printable
from bayescal.workflow.archive import Key, pack
from bayescal.workflow.fit import fit
from bayescal.workflow.sampling import Settings
from bayescal.workflow.store import Failure

type Outcome = bytes | Failure
"""A finished fit as its file holds it, or why there is none."""

# Compiled models and BLAS limits are a process's own; threads of a Dask worker take turns.
_TURN: Final = threading.Lock()


@dataclass(frozen=True, slots=True)
class Task:
    """All that a process needs for one fit."""

    key: Key
    module: str
    data: Any
    priors: Any
    settings: Settings
    options: dict[str, Any] = field(default_factory=dict)
    keep: str = "draws"
    recipe: dict[str, Any] = field(default_factory=dict)


def carry_out(task: Task) -> Outcome:
    """Fit, and pack what is to be kept; whatever goes wrong is an outcome too."""
    try:
        with _TURN, warnings.catch_warnings():
            # The result says so; the caller says it once, of all fits.
            warnings.simplefilter("ignore", ConvergenceWarning)
            began = time.perf_counter()
            tree = fit(
                cast(Quantity, import_module(task.module)),
                task.data,
                priors=task.priors,
                **asdict(task.settings),
                **task.options,
            )
            about = {
                "key": task.key,
                "recipe": task.recipe,
                "seconds": round(time.perf_counter() - began, 4),
            }
            return pack(tree, task.keep, about)
    except Exception as error:  # one data set that nobody thought of must not stop the others
        return failure_of(error)


def failure_of(error: BaseException) -> Failure:
    """Say what went wrong."""
    name = type(error).__name__
    try:
        message = printable(" ".join(str(error).split()))
    except Exception as second:  # an error of somebody else's may fail to say what it is
        message = f"{name}, whose message cannot be read: it raises {type(second).__name__}"
    return Failure(name, message or name)


class Runner(Protocol):
    """What carries out tasks."""

    @property
    def room(self) -> bool:
        """Whether another task can be handed over."""
        ...

    @property
    def busy(self) -> bool:
        """Whether outcomes are due."""
        ...

    def start(self, task: Task) -> None:
        """Hand over a task."""
        ...

    def next(self) -> tuple[Key, Outcome]:
        """Wait for an outcome."""
        ...

    def __enter__(self) -> Self:
        """Begin."""
        ...

    def __exit__(self, *_: object) -> None:
        """Stop what still runs."""
        ...


_MOST = 1024


def runner_of(executor: Any) -> Runner:
    """Choose the runner for what a user passed as executor."""
    if executor is None:
        return Here()
    if isinstance(executor, int) and not isinstance(executor, bool) and 0 < executor <= _MOST:
        return Processes(executor)
    if type(executor).__module__.partition(".")[0] == "distributed" and hasattr(executor, "submit"):
        return OnDask(executor)
    raise InputError(
        "executor must be None, a number of processes up to 1024, or a dask.distributed.Client; "
        f"got {shown(executor)}. Pass executor=2."
    )


class Here:
    """The calling process, one fit after the other."""

    def __init__(self) -> None:
        self._task: Task | None = None

    @property
    def room(self) -> bool:
        """Whether no task waits."""
        return self._task is None

    @property
    def busy(self) -> bool:
        """Whether one does."""
        return self._task is not None

    def start(self, task: Task) -> None:
        """Remember the task."""
        self._task = task

    def next(self) -> tuple[Key, Outcome]:
        """Carry it out."""
        task = cast(Task, self._task)
        outcome = carry_out(task)
        self._task = None
        return task.key, outcome

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


# Tasks that wait at a worker while another runs there, so that it is never idle.
_AHEAD = 2


class OnDask:
    """A Dask cluster. Dask itself runs the tasks of a worker that died elsewhere.

    After some deaths it gives up all tasks that were at those workers, of which one may have killed
    them. They are tried again at the end, each alone.
    """

    def __init__(self, client: Any) -> None:
        distributed = import_module("distributed")
        self._client = client
        self._killed: type[Exception] = distributed.KilledWorker
        self._tasks: dict[Any, Task] = {}
        self._suspects: deque[Task] = deque()
        self._alone = False
        self._finished = distributed.as_completed()
        self._most: int = _AHEAD * max(1, sum(client.nthreads().values()))

    @property
    def room(self) -> bool:
        """Whether fewer tasks are out than keep every worker busy."""
        return not self._alone and len(self._tasks) < self._most

    @property
    def busy(self) -> bool:
        """Whether any task is out."""
        return bool(self._tasks or self._suspects)

    def start(self, task: Task) -> None:
        """Submit the task."""
        future = self._client.submit(carry_out, task, pure=False)
        self._tasks[future] = task
        self._finished.add(future)

    def next(self) -> tuple[Key, Outcome]:
        """Wait for any task; what Dask gives up, also when it runs alone, is a failure."""
        while True:
            if not self._tasks:
                self._alone = True
                self.start(self._suspects.popleft())
            future = next(self._finished)
            task = self._tasks.pop(future)
            alone, self._alone = self._alone, False
            error = future.exception()
            if error is None:
                return task.key, future.result()
            if alone or not isinstance(error, self._killed):
                return task.key, failure_of(error)
            self._suspects.append(task)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._tasks:
            self._client.cancel(list(self._tasks))


# A fit that ends its process so often does it itself, as one that needs too much memory.
_ATTEMPTS: Final = 3
_READY: Final = b"ready"


@dataclass(eq=False)
class _Worker:
    process: Any
    line: Connection
    ready: bool = False
    key: Key | None = None
    content: bytes = b""
    attempts: int = 0


class Processes:
    """So many processes, started one by one as tasks come."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._workers: list[_Worker] = []
        self._refused: deque[tuple[Key, Outcome]] = deque()
        self._stillborn = 0

    @property
    def room(self) -> bool:
        """Whether a process is idle, or another may be started."""
        return len(self._working()) < self._number and not self._refused

    @property
    def busy(self) -> bool:
        """Whether outcomes are due."""
        return bool(self._working() or self._refused)

    def start(self, task: Task) -> None:
        """Send the task to a process; one that cannot be sent has failed."""
        try:
            content = pickle.dumps(task, protocol=5)
        except Exception as error:  # pickle raises whatever the object's own methods raise
            self._refused.append((task.key, failure_of(error)))
            return
        self._send(task.key, content, 1)

    def next(self) -> tuple[Key, Outcome]:
        """Wait for an outcome; the task of a process that was killed goes to another one."""
        while not self._refused:
            lines = {worker.line: worker for worker in self._workers}
            for line in wait(list(lines)):
                worker = lines[cast(Connection, line)]
                found = self._heard(worker)
                if found is not None:
                    return found
        return self._refused.popleft()

    def _heard(self, worker: _Worker) -> tuple[Key, Outcome] | None:
        try:
            content = worker.line.recv_bytes()
        except (EOFError, OSError):
            return self._lost(worker)
        # Processes do start, though one may have been killed while it did.
        self._stillborn = 0
        if content == _READY:
            worker.ready = True
            return None
        key = cast(Key, worker.key)
        worker.key, worker.content = None, b""
        return key, pickle.loads(content)

    def _lost(self, worker: _Worker) -> tuple[Key, Outcome] | None:
        """Replace a process that ended, and hand on what it was at."""
        self._workers.remove(worker)
        _end(worker)
        if not worker.ready:
            self._stillborn += 1
            if self._stillborn >= _ATTEMPTS:
                raise InputError(
                    f"worker processes must be able to start; the last {_ATTEMPTS} ended with exit "
                    f"code {worker.process.exitcode} before their first fit. In a script put the "
                    "call under if __name__ == '__main__': or pass executor=None."
                )
        if worker.key is None:
            return None
        if worker.ready and worker.attempts >= _ATTEMPTS:
            return worker.key, Failure(
                "WorkerKilled",
                f"the process that made the fit ended {_ATTEMPTS} times, last with exit code "
                f"{worker.process.exitcode}. It may need more memory than there is.",
            )
        self._send(worker.key, worker.content, worker.attempts + worker.ready)
        return None

    def _send(self, key: Key, content: bytes, attempts: int) -> None:
        worker = next((one for one in self._workers if one.key is None), None)
        if worker is None:
            worker = _begin()
            self._workers.append(worker)
        worker.key, worker.content, worker.attempts = key, content, attempts
        # A process that has ended is found, and replaced, when it is listened to.
        with suppress(OSError):
            worker.line.send_bytes(content)

    def _working(self) -> list[_Worker]:
        return [worker for worker in self._workers if worker.key is not None]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            _end(worker)


def _begin() -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs,), daemon=True)
    with _deaf():
        process.start()
    theirs.close()
    return _Worker(process, ours)


@contextmanager
def _deaf() -> Iterator[None]:
    """Start processes that ignore Ctrl-C, which a terminal sends to them too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    former = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)


def _end(worker: _Worker) -> None:
    worker.process.kill()
    worker.process.join()
    worker.line.close()


def _work(line: Connection) -> None:
    """Carry out tasks until the other end is closed, as it is when its process is killed."""
    line.send_bytes(_READY)
    with suppress(EOFError, OSError):
        while True:
            content = line.recv_bytes()
            try:
                outcome = carry_out(pickle.loads(content))
            except Exception as error:  # what a task is made of may not be importable here
                outcome = failure_of(error)
            line.send_bytes(pickle.dumps(outcome))
