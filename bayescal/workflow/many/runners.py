"""Where fits run: in this process, or on a Dask cluster; `processes.py` has those of one machine.

A runner takes tasks while it has room, and hands back what they came to as they finish.
"""

from __future__ import annotations

from collections import deque
from importlib import import_module
from typing import Any, Protocol, Self, cast

from bayescal.core.checks import shown
from bayescal.core.errors import InputError
from bayescal.workflow.many.keys import Key
from bayescal.workflow.many.task import Outcome, Task, carry_out, failure_of


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
        from bayescal.workflow.many.processes import Processes

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
