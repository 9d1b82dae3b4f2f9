"""Parts of a table are summed up in any order, and joined in one."""

import os
import subprocess
import sys
import threading
from dataclasses import dataclass

import numpy as np
import pytest

from bayescal.core import sums as partial_sums
from bayescal.core.errors import InputError
from bayescal.core.sums import batches_of, joined, numbered, processors, read_ahead, summed


@dataclass
class Seen:
    """Rows in the order in which they were joined, the brackets of each sum, and the threads."""

    rows: list
    sums: str
    threads: set

    @classmethod
    def of(cls, batches):
        rows = [
            (batch.first + place, value)
            for batch in batches
            for place, value in enumerate(batch.columns["p"].tolist())
        ]
        if any(value < 0 for _, value in rows):
            raise InputError(f"below 0 at row {rows[0][0]}")
        return cls(rows, str(len(rows)), {threading.get_ident()})

    def plus(self, other):
        return Seen(
            self.rows + other.rows, f"({self.sums}+{other.sums})", self.threads | other.threads
        )


class Table:
    """A table in memory, in parts."""

    def __init__(self, values, n_parts=1):
        self.values = np.array_split(np.asarray(values), n_parts)

    def parts(self, columns, batch_rows):
        first = np.cumsum([0, *map(len, self.values)]).tolist()
        cut = [
            [part[at : at + batch_rows] for at in range(0, len(part), batch_rows)]
            for part in self.values
        ]
        return [
            numbered([dict.fromkeys(columns, values) for values in part], start)
            for part, start in zip(cut, first, strict=False)
        ]


VALUES = np.arange(23)


@pytest.mark.parametrize("n_parts", [1, 2, 5, 9])
@pytest.mark.parametrize("processors", [1, 3])
def test_all_rows_in_order_whatever_the_number_of_threads(n_parts, processors, monkeypatch):
    monkeypatch.setattr(partial_sums, "processors", lambda: processors)
    found = summed(Table(VALUES, n_parts), ["p", "p"], Seen.of, batch_rows=2)
    assert found.rows == list(enumerate(VALUES.tolist()))
    # Sums of floats depend on the brackets, which depend on the parts alone.
    expected = {1: "23", 2: "(12+11)", 5: "(((5+5)+(5+4))+4)"}
    assert found.sums == expected.get(n_parts, found.sums)
    assert len(found.threads) <= processors


def test_several_parts_at_a_time():
    both = threading.Barrier(2, timeout=10)

    class Waiting(Seen):
        @classmethod
        def of(cls, batches):
            # Fails after ten seconds where the parts are worked on one after the other.
            both.wait()
            return super().of(batches)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partial_sums, "processors", lambda: 2)
        assert len(summed(Table(VALUES, 2), ["p"], Waiting.of).threads) == 2


def test_of_several_faults_the_first_is_named(monkeypatch):
    monkeypatch.setattr(partial_sums, "processors", lambda: 3)
    bad = np.where(VALUES < 12, VALUES, -1)
    with pytest.raises(InputError, match="at row 12"):
        summed(Table(bad, 23), ["p"], Seen.of)


def test_a_table_without_rows():
    assert summed(Table([]), ["p"], Seen.of).rows == []


def test_neighbours_are_joined_a_few_times_each():
    joins = []
    found = joined(map(str, range(9)), lambda a, b: joins.append((a, b)) or a + b)
    assert found == "012345678"
    assert len(joins) == 8
    assert sum(first.startswith("0") for first, _ in joins) == 4


def test_batches_know_where_they_begin():
    batches = list(batches_of(Table(VALUES, 1), ["p"], 10))
    assert [batch.first for batch in batches] == [0, 10, 20]
    assert batches[0].column("p").name == "column 'p'"
    assert batches[1].column("p").name == "column 'p' (rows counted from row 10)"
    first, second = numbered([{"p": VALUES[:0]}, {"p": VALUES}, {"p": VALUES}], of=" of p3.csv")
    assert first.column("p").name == "column 'p' of p3.csv"
    assert second.table(["p", "p"]).name == (
        "the table of columns 'p' to 'p' of p3.csv (rows counted from row 23)"
    )


def test_parts_come_in_their_order():
    assert list(read_ahead(iter(range(5)))) == list(range(5))
    assert list(read_ahead(iter([]))) == []


def test_the_next_part_is_read_while_one_is_worked_on():
    second = threading.Event()

    def parts():
        yield threading.current_thread()
        second.set()
        yield None

    for thread in read_ahead(parts()):
        # Fails after ten seconds where reading waits for the work.
        assert second.wait(10)
        assert thread is not threading.current_thread()


def test_an_error_comes_after_the_parts_before_it():
    def parts():
        yield 1
        raise OSError("gone")

    found = read_ahead(parts())
    assert next(found) == 1
    with pytest.raises(OSError, match="gone"):
        next(found)


def test_reading_ends_with_the_work():
    closed = threading.Event()

    def parts():
        try:
            while True:
                yield 1
        finally:
            closed.set()

    source = parts()
    found = read_ahead(source)
    next(found)
    found.close()
    source.close()
    assert closed.is_set()


PROGRAM = """
import os
from bayescal.core.sums import processors
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
