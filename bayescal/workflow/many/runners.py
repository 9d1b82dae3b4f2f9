"""Where fits run: in this process, or on a Dask cluster; `processes.py` has those of one machine.

A runner takes tasks while it has room, and hands back what they came to as they finish.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol, Self, cast

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


def runner_of(executor: Any) -> Runner:
    """Choose the runner for what a user passed as executor."""
    if executor is None:
        return Here()
    if isinstance(executor, int) and not isinstance(executor, bool) and executor > 0:
        from bayescal.workflow.many.processes import Processes

        return Processes(executor)
    if type(executor).__module__.partition(".")[0] == "distributed" and hasattr(executor, "submit"):
        return OnDask(executor)
    raise InputError(
        "executor must be None, a number of processes of at least 1, or a dask.distributed.Client; "
        f"got {executor!r}. Pass executor=2."
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
    """A Dask cluster. Dask itself runs the tasks of a worker that died elsewhere."""

    def __init__(self, client: Any) -> None:
        distributed = import_module("distributed")
        self._client = client
        self._keys: dict[Any, Key] = {}
        self._finished = distributed.as_completed()
        self._most: int = _AHEAD * max(1, sum(client.nthreads().values()))

    @property
    def room(self) -> bool:
        """Whether fewer tasks are out than keep every worker busy."""
        return len(self._keys) < self._most

    @property
    def busy(self) -> bool:
        """Whether any task is out."""
        return bool(self._keys)

    def start(self, task: Task) -> None:
        """Submit the task."""
        future = self._client.submit(carry_out, task, pure=False)
        self._keys[future] = task.key
        self._finished.add(future)

    def next(self) -> tuple[Key, Outcome]:
        """Wait for any task; what Dask itself gave up is a failure."""
        future = next(self._finished)
        key = self._keys.pop(future)
        error = future.exception()
        return key, future.result() if error is None else failure_of(error)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._keys:
            self._client.cancel(list(self._keys))
