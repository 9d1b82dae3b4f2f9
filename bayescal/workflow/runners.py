"""Where fits run: in this process, in worker processes, or on a Dask cluster.

Worker processes are those of `concurrent.futures`, and a Dask client is seen as one of its
executors. A worker that dies takes with it what others were at, or what waited beside it: these
tasks are handed over again, and one that is lost over and over runs alone, so that it fails alone.
What a worker process sends is a short message, which arrives whole or not at all: of a part of one,
left by a process that ended, `concurrent.futures` would wait for the rest for ever.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Generator, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from shutil import rmtree
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import Any, Final, cast

from bayescal.core.checks import plain, shown
from bayescal.core.errors import ConvergenceWarning, InputError, ignored
from bayescal.core.quantity import Quantity
from bayescal.core.text import printable
from bayescal.workflow.archive import Key, pack
from bayescal.workflow.fit import fit
from bayescal.workflow.sampling import Settings
from bayescal.workflow.store import Failure

type Outcome = bytes | Failure
"""A finished fit as its file holds it, or why there is none."""
type _Sent = Outcome | Path

_MOST: Final = 1024
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
    options: Mapping[str, Any] = field(default_factory=dict)
    keep: str = "draws"
    recipe: dict[str, Any] = field(default_factory=dict)


def carry_out(task: Task) -> Outcome:
    """Fit, and pack what is to be kept; whatever goes wrong is an outcome too."""
    try:
        # The result says so; the caller says it once, of all fits.
        with _TURN, ignored(ConvergenceWarning):
            began = time.perf_counter()
            quantity = cast(Quantity, import_module(task.module))
            options = {**asdict(task.settings), **task.options}
            tree = fit(quantity, task.data, priors=task.priors, **options)
            seconds = round(time.perf_counter() - began, 4)
            about = {"key": task.key, "recipe": task.recipe, "seconds": seconds}
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


def check_executor(executor: Any) -> Any:
    """Check what fits run on; a number comes back as Python's."""
    own = plain(executor)
    number = isinstance(own, int) and not isinstance(own, bool) and 0 < own <= _MOST
    if not (executor is None or number or _is_dask(executor)):
        raise InputError(
            "executor must be None, a number of processes up to 1024, or a "
            f"dask.distributed.Client; got {shown(executor)}. Pass executor=2."
        )
    return own


def _is_dask(executor: Any) -> bool:
    module = type(executor).__module__.partition(".")[0]
    return module == "distributed" and hasattr(executor, "submit")


def outcomes(tasks: Iterator[Task], executor: Any) -> Generator[tuple[Key, Outcome]]:
    """Take tasks as there is room for them, and yield what they came to as they finish."""
    if executor is None:
        for task in tasks:
            yield task.key, carry_out(task)
        return
    with _Dask(executor) if _is_dask(executor) else _Processes(executor) as workers:
        yield from _concurrently(tasks, workers)


def _concurrently(
    tasks: Iterator[Task], workers: _Processes | _Dask
) -> Iterator[tuple[Key, Outcome]]:
    out: dict[Future[_Sent], Task] = {}
    again: deque[Task] = deque()
    suspects: deque[Task] = deque()
    losses: Counter[Key] = Counter()
    while True:
        while len(out) < workers.room:
            task = again.popleft() if again else next(tasks, None)
            if task is None:
                break
            out[workers.submit(task)] = task
        if not out and not suspects:
            return
        if not out:
            task = suspects.popleft()
            out[workers.submit(task)] = task
        for future in wait(out, return_when=FIRST_COMPLETED).done:
            task = out.pop(future)
            error = future.exception()
            if not isinstance(error, workers.lost):
                yield task.key, _taken(future.result()) if error is None else failure_of(error)
                continue
            losses[task.key] += 1
            if losses[task.key] == workers.attempts:
                yield task.key, workers.killed(error)
            else:
                alone = losses[task.key] == workers.attempts - 1
                (suspects if alone else again).append(task)


class _Processes(AbstractContextManager["_Processes"]):
    """Processes of this machine, started one by one as tasks come."""

    lost: type[Exception] = BrokenProcessPool
    # A fit that ends its process so often does it itself, as one that needs too much memory.
    attempts = 3

    def __init__(self, number: int) -> None:
        self.room = number
        self._folder = TemporaryDirectory(prefix="bayescal-")
        self._open()

    def _open(self) -> None:
        """Start a pool, of which one process says that it could begin."""
        context = multiprocessing.get_context("spawn")
        for _ in range(self.attempts):
            theirs, self._line = context.Pipe(duplex=False)
            given = (theirs, self._folder.name)
            self._pool = ProcessPoolExecutor(
                self.room, mp_context=context, initializer=_end_with, initargs=given
            )
            # One that ended at once is tried again.
            with suppress(BrokenProcessPool), ExitStack() as unless_it_began:
                unless_it_began.callback(self._stop)
                with _deaf():
                    first = self._pool.submit(int)
                first.result()
                unless_it_began.pop_all()
                return
        raise InputError(
            f"worker processes must be able to start; the last {self.attempts} ended before their "
            "first fit. In a script put the call under if __name__ == '__main__': or pass "
            "executor=None."
        )

    def submit(self, task: Task) -> Future[_Sent]:
        """Send a task, to new processes where one of the former was killed."""
        try:
            content = pickle.dumps(task, protocol=5)
        except Exception as error:  # pickle raises whatever the object's own methods raise
            refused: Future[_Sent] = Future()
            refused.set_result(failure_of(error))
            return refused
        while True:
            with suppress(BrokenProcessPool), _deaf():  # one was killed: to new ones
                return self._pool.submit(_carry_out, content, self._folder.name)
            self._stop()
            self._open()

    def killed(self, error: Exception) -> Failure:
        """Say how often the processes ended."""
        return Failure(
            "WorkerKilled",
            f"the process that made the fit ended {self.attempts} times. It may need more memory "
            "than there is.",
        )

    def _stop(self) -> None:
        self._line.close()
        self._pool.shutdown(cancel_futures=True)

    def __exit__(self, *_: object) -> None:
        self._stop()
        self._folder.cleanup()


def _end_with(line: Connection, folder: str) -> None:
    """End this process at once when the other end is closed, as it is when the run ends."""
    run = multiprocessing.parent_process()
    assert run is not None

    def listen() -> None:
        with suppress(EOFError, OSError):  # the other end was closed
            line.recv()
        # Of a run that stops, this waits in vain; one that was killed clears nothing away.
        run.join(0.1)
        if not run.is_alive():
            rmtree(folder, ignore_errors=True)
        os._exit(1)

    threading.Thread(target=listen, daemon=True).start()


def _carry_out(content: bytes, folder: str) -> _Sent:
    """Fit in a worker, and leave what the fit came to in a file of the folder."""
    try:
        outcome = carry_out(pickle.loads(content))
    except Exception as error:  # what a task is made of may not be importable here
        outcome = failure_of(error)
    with suppress(OSError):  # a full disk: the outcome itself is sent
        with NamedTemporaryFile(dir=folder, delete=False) as file:
            pickle.dump(outcome, file, protocol=5)
        return Path(file.name)
    return outcome


def _taken(found: _Sent) -> Outcome:
    """What a worker has sent, or left in a file."""
    if not isinstance(found, Path):
        return found
    content: Outcome = pickle.loads(found.read_bytes())
    found.unlink()
    return content


@contextmanager
def _deaf() -> Iterator[None]:
    """Start processes that a terminal's Ctrl-C does not reach; this one gets it afterwards."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    former = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)


class _Dask(AbstractContextManager["_Dask"]):
    """A Dask cluster, which runs tasks of a lost worker elsewhere until it gives them up."""

    attempts = 2

    def __init__(self, client: Any) -> None:
        self.lost: type[Exception] = import_module("distributed").KilledWorker
        # Tasks that wait at a worker while another runs there keep it from being idle.
        self.room = 2 * max(1, sum(client.nthreads().values()))
        self._executor = client.get_executor(pure=False)

    def submit(self, task: Task) -> Future[_Sent]:
        """Submit a task."""
        future: Future[_Sent] = self._executor.submit(carry_out, task)
        return future

    def killed(self, error: Exception) -> Failure:
        """Say what Dask says."""
        return failure_of(error)

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown(wait=False)
