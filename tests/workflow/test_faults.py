"""What happens to many fits when something is killed, full, damaged or interrupted: for real.

Nothing here is simulated: processes get signals, the disk is full, files are cut.
"""

import json
import multiprocessing
import os
import pickle
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import made
import numpy as np
import pytest

import bayescal as bc
from bayescal.workflow.runners import Task, _carry_out, _deaf
from bayescal.workflow.sampling import Settings

# preexec_fn and Dask fork or thread; JAX, where another test has loaded it, warns of that.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")]


@pytest.fixture(scope="module")
def undisturbed() -> bc.ManyFits:
    return made.fit(12)


def test_killed_workers_lose_no_fit_and_one_that_always_ends_fails_alone(
    undisturbed, tmp_path
) -> None:
    killed = []

    def kill(label: str, done: int, total: int) -> None:
        if done == 2:
            victim = multiprocessing.active_children()[0]
            os.kill(victim.pid, signal.SIGKILL)
            killed.append(victim.pid)

    data = {**made.data(12), "deadly": made.Deadly()}
    how = {"store": tmp_path / "store", "executor": 2, "progress": kill}
    with pytest.warns(bc.ManyFitsWarning, match="deadly: the process that made the fit ended 3"):
        found = bc.fit_many(bc.ece, data, priors=made.PRIORS, **how, **made.OPTIONS)
    assert len(killed) == 1
    assert list(found.failures) == ["deadly"]
    assert found.failures["deadly"].error == "WorkerKilled"
    made.same_fits(found, undisturbed)


def test_a_worker_sends_so_little_that_no_part_of_it_can_be_left(tmp_path) -> None:
    # For the rest of a message whose sender was killed the standard library waits for ever.
    settings = Settings(draws=250, chains=2, method="direct", seed=20)
    task = Task("key", bc.ece.__name__, made.data()["north", 0], made.PRIORS, settings)
    sent = _carry_out(pickle.dumps(task), str(tmp_path))
    assert isinstance(sent, Path)
    assert len(pickle.dumps(sent)) < select.PIPE_BUF / 2


def test_a_killed_run_goes_on_where_it_was(undisturbed, tmp_path, monkeypatch) -> None:
    store, temporary = tmp_path / "store", tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    process = made.program(store, 12, 2)
    made.wait_for(store, 5, process)
    assert list(temporary.glob("bayescal-*"))
    process.kill()
    process.communicate()  # until its workers have ended
    assert not list(temporary.glob("bayescal-*"))
    times = {path: path.stat().st_mtime_ns for path in (store / "fits").glob("*.npz")}
    assert times
    # The killed run's lock file is still there, and locks nothing.
    assert (store / "lock").is_file()
    found = made.fit(12, store=store)
    # What was finished is not computed again.
    assert all(path.stat().st_mtime_ns == time for path, time in times.items())
    assert len(found.computed) == 12 - len(times)
    assert not found.recomputed
    assert not list(store.rglob("*.part"))
    made.same(found, undisturbed)
    made.same(bc.load_many(store), undisturbed)


@pytest.fixture
def full_disk(tmp_path) -> Iterator[Path]:
    """A file system with room for three fits."""
    place = tmp_path / "small"
    place.mkdir()
    size = "size=96k"
    mount = ["mount", "-t", "tmpfs", "-o", size, "bayescal-test", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small file system cannot be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_is_a_clear_error_and_harms_nothing(full_disk) -> None:
    store = full_disk / "store"
    with pytest.raises(bc.OutputError, match=r"store/fits/\w+.npz cannot be written: No space"):
        made.fit(12, store=store, keep="scalars")
    _first_are_intact(store)


def test_a_store_on_a_disk_that_is_full_already_is_the_same_error(full_disk) -> None:
    with suppress(OSError), (full_disk / "filling").open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
    with pytest.raises(bc.OutputError, match="store/lock cannot be written: No space"):
        made.fit(1, store=full_disk / "store")


def test_a_file_that_may_not_grow_is_the_same_error(tmp_path) -> None:
    """A limit of the system on the size of files, where no file system can be mounted."""
    resource = pytest.importorskip("resource")
    store = tmp_path / "store"
    made.fit(2, store=store)
    former = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, former[1]))
    try:
        with pytest.raises(bc.OutputError, match="cannot be written: File too large"):
            made.fit(12, store=store)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, former)
        signal.signal(signal.SIGXFSZ, ignored)
    _first_are_intact(store)


def _first_are_intact(store: Path) -> None:
    assert not list(store.rglob("*.part"))
    found = bc.load_many(store)
    assert 0 < len(found) < 12
    for key in found:
        assert np.isfinite(found[key].posterior["ece"]).all()


@pytest.mark.parametrize("damage", ["cut", "empty", "flipped", "other"])
def test_a_damaged_file_is_named_set_aside_and_made_again(undisturbed, tmp_path, damage) -> None:
    store = tmp_path / "store"
    before = made.fit(3, store=store)
    path = before.contents["north", 1]
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    new = {"cut": content[: len(content) // 2], "empty": b"", "flipped": content, "other": b"PK"}
    path.write_bytes(new[damage])
    with pytest.warns(bc.ManyFitsWarning, match=f"north / 1: its file was damaged.*{path.name}"):
        found = made.fit(3, store=store)
    assert found.computed == [("north", 1)]
    assert (store / "set_aside" / path.name).read_bytes() == bytes(new[damage])
    for key in found:
        assert found[key].posterior.identical(undisturbed[key].posterior)


HOSTILE = {
    "nan": {"y_true": [0, 1], "y_prob": [0.1, float("nan")]},
    "beyond 1": {"y_true": [0, 1], "y_prob": [0.1, 1.5]},
    "lengths": {"y_true": [0, 1, 1], "y_prob": [0.1, 0.5]},
    "no rows": {"y_true": [], "y_prob": []},
    "no labels": {"y_true": [None, None], "y_prob": [0.1, 0.5]},
    "words": {"y_true": [0, 1], "y_prob": ["low", "high"]},
    "three labels": {"y_true": [0, 1, 2], "y_prob": [0.1, 0.5, 0.7]},
    "objects": {"y_true": [object(), 1], "y_prob": [0.1, 0.5]},
}


def test_hostile_data_fail_alone(undisturbed, tmp_path) -> None:
    truth = made.data(12)
    bad = {name: lambda given=given: bc.Scores(**given) for name, given in HOSTILE.items()}
    bad |= {"no data": None, "other data": "scores", "no file": lambda: bc.read_scores("no")}
    bad |= {"division": lambda: 1 / 0}
    mixed = dict(sorted({**truth, **bad}.items(), key=str))
    with pytest.warns(bc.ManyFitsWarning, match="12 of 24 fits failed"):
        found = bc.fit_many(
            bc.ece, mixed, priors=made.PRIORS, store=tmp_path / "store", **made.OPTIONS
        )
    assert set(found) == set(undisturbed)
    assert set(found.failures) == set(bad)
    for key in undisturbed:
        assert found[key].posterior.identical(undisturbed[key].posterior)
    for name in HOSTILE:
        assert found.failures[name].error == "InputError"
        assert found.failures[name].message
    assert bc.load_many(tmp_path / "store").failures == found.failures
    table = found.summary()
    assert table["status"].str.startswith("FAILED").sum() == len(bad)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_run_has_its_store_alone_until_ctrl_c_stops_it_within_two_seconds(
    tmp_path, workers
) -> None:
    store = tmp_path / "store"
    process = made.program(store, 2000, workers)
    try:
        made.wait_for(store, 3, process)
        with pytest.raises(bc.OutputError, match=f"written to by process {process.pid} on .*Wait"):
            made.fit(3, store=store)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert time.monotonic() - began < 2
    assert "KeyboardInterrupt" in said
    assert not list(store.rglob("*.part"))
    found = bc.load_many(store)
    assert len(found) >= 3
    assert all(np.isfinite(found[key].posterior["ece"]).all() for key in found)


def test_ctrl_c_while_a_process_is_started_is_not_lost_and_does_not_reach_it() -> None:
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    program = "import time, sys; print('up', flush=True); sys.stdin.read(); print('end')"
    try:
        with pytest.raises(KeyboardInterrupt), _deaf():
            child = subprocess.Popen(
                [sys.executable, "-c", program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            assert child.stdout is not None
            assert child.stdout.readline() == "up\n"
            # To this thread: another one of the test runner could take a signal to the process,
            # and handle it only after the block has ended.
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)
            child.send_signal(signal.SIGINT)
        assert child.communicate(timeout=60)[0] == "end\n"
        assert child.returncode == 0
    finally:
        signal.signal(signal.SIGINT, former)


def test_of_two_runs_that_begin_at_once_one_is_refused(tmp_path) -> None:
    store = tmp_path / "store"
    both = [made.program(store, 3) for _ in range(2)]
    said = [process.communicate(timeout=120) for process in both]
    codes = sorted(process.returncode for process in both)
    assert codes in ([0, 0], [0, 1])  # one after the other, or one refused
    computed = [json.loads(out) for out, _ in said if out]
    assert sum(map(len, computed)) == 3
    assert len(made.stored(store)) == 3


def test_a_script_without_a_guard_is_refused_with_the_remedy(tmp_path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "import made\nmade.fit(2, executor=1)\n"
    )
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "In a script put the call under if __name__ == '__main__':" in run.stderr


def test_threads_of_one_process_take_turns(undisturbed) -> None:
    found: list[bc.ManyFits] = []
    threads = [threading.Thread(target=lambda: found.append(made.fit(4))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one in found:
        assert len(one) == 4
        for key in one:
            assert one[key].posterior.identical(undisturbed[key].posterior)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """One worker, so that tasks wait there while another kills it."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as here,
        distributed.Client(here) as client,
    ):
        yield here, client


def test_a_killed_dask_worker_loses_no_fit(undisturbed, cluster) -> None:
    here, client = cluster
    victim = next(iter(here.workers.values())).pid

    def kill(label: str, done: int, total: int) -> None:
        if done == 3:
            os.kill(victim, signal.SIGKILL)

    found = made.fit(12, executor=client, progress=kill)
    assert not found.failures
    made.same(found, undisturbed)


def test_a_task_that_kills_dask_workers_takes_no_neighbour_with_it(undisturbed, cluster) -> None:
    here, client = cluster
    data = {"deadly": made.Deadly(), **made.data(3)}
    here.scheduler.allowed_failures = 0  # given up at the first death
    with pytest.warns(bc.ManyFitsWarning, match="1 of 4 fits failed"):
        found = bc.fit_many(bc.ece, data, priors=made.PRIORS, executor=client, **made.OPTIONS)
    assert list(found.failures) == ["deadly"]
    assert found.failures["deadly"].error == "KilledWorker"
    assert list(found) == list(undisturbed)[:3]
    for key in found:
        assert found[key].posterior.identical(undisturbed[key].posterior)
