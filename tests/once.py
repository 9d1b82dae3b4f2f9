"""What several workers of the tests need is made by the first of them, and read by the others."""

import pickle
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

# filelock asks to hear of every call of id(), to refuse forks while it takes a lock: five times the
# time of a call, and a tenth of that of all tests. None of them forks there.
with pytest.MonkeyPatch.context() as patch:
    patch.setattr(sys, "addaudithook", lambda hook: None)
    from filelock import FileLock

folder: Path | None = None
"""Where the workers of one run meet; none where there are no workers."""


def once[T](name: str, make: Callable[..., T], *given: Any) -> T:
    """Call a function, unless another worker has called it with the same picklable arguments."""
    if folder is None:
        return make(*given)
    path = folder / sha256(pickle.dumps((name, given))).hexdigest()
    with FileLock(path.with_suffix(".lock")):
        if not path.exists():
            path.write_bytes(pickle.dumps(make(*given)))
        found: T = pickle.loads(path.read_bytes())
        return found
