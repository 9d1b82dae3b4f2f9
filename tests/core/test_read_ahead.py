"""Parts read in another thread come in their order, and errors where they belong."""

from threading import Event, current_thread

import pytest

from bayescal.core.read_ahead import read_ahead


def test_parts_come_in_their_order():
    assert list(read_ahead(iter(range(5)))) == list(range(5))
    assert list(read_ahead(iter([]))) == []


def test_the_next_part_is_read_while_one_is_worked_on():
    second = Event()

    def parts():
        yield current_thread()
        second.set()
        yield None

    for thread in read_ahead(parts()):
        # Fails after ten seconds where reading waits for the work.
        assert second.wait(10)
        assert thread is not current_thread()


def test_an_error_comes_after_the_parts_before_it():
    def parts():
        yield 1
        raise OSError("gone")

    found = read_ahead(parts())
    assert next(found) == 1
    with pytest.raises(OSError, match="gone"):
        next(found)


def test_reading_ends_with_the_work():
    closed = Event()

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
