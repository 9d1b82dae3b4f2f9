"""The drawings in the answer's table."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal.report.answers import MARGIN, WIDTH, CaseAnswer, scale, strip


def answer(low: float, point: float, high: float, plug_in: float | None = None) -> CaseAnswer:
    return CaseAnswer("a", point, low, high, 0.9, plug_in)


@given(st.floats(1e-6, 1))
def test_the_scale_has_round_ticks_and_holds_the_largest(high: float) -> None:
    found = scale([answer(0, high / 2, high)])
    assert found.top >= high * (1 - 1e-9)
    assert 3 <= len(found.ticks) <= 7
    assert found.ticks[0] == 0
    labels = [found.label(tick) for tick in found.ticks]
    assert len(set(labels)) == len(labels)
    assert all(
        float(label) == pytest.approx(tick) for label, tick in zip(labels, found.ticks, strict=True)
    )


def test_the_plug_in_counts_for_the_scale() -> None:
    assert scale([answer(0, 0.01, 0.02, plug_in=0.09)]).top >= 0.09


def test_no_error_at_all_has_a_scale() -> None:
    assert scale([answer(0, 0, 0)]).top > 0


def test_marks_stand_where_the_numbers_are() -> None:
    one = answer(0.025, 0.05, 0.1, plug_in=0.075)
    drawing = strip(one, scale([one]))
    inner = WIDTH - 2 * MARGIN
    assert f'cx="{MARGIN + 0.5 * inner:.1f}"' in drawing
    assert f"M{MARGIN + 0.75 * inner:.1f} " in drawing
    band = re.search(r'<line x1="([\d.]+)" x2="([\d.]+)" y1="13"', drawing)
    assert band is not None
    assert [float(x) for x in band.groups()] == [MARGIN + 0.25 * inner, MARGIN + inner]


def test_no_plug_in_no_mark() -> None:
    one = answer(0.025, 0.05, 0.1)
    assert "<path" not in strip(one, scale([one]))
