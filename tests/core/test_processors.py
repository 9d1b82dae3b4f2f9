import os
import subprocess
import sys

import pytest

from bayescal.core.partial_sums import processors

PROGRAM = """
import os
from bayescal.core.partial_sums import processors
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
print(processors())
"""


def test_there_is_one_at_least_and_no_more_than_the_machine_has() -> None:
    assert 1 <= processors() <= (os.cpu_count() or 1)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system cannot hold it")
def test_a_process_that_is_held_to_one_has_one() -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == ["1"]
