"""Worker processes of one machine, of which any may be killed without a fit being lost."""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Final, Self, cast

from bayescal.core.errors import InputError
from bayescal.workflow.many.keys import Key
from bayescal.workflow.many.store import Failure
from bayescal.workflow.many.task import Outcome, Task, carry_out, failure_of

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
