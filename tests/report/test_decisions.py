"""Decision curves in the report: where a net benefit is among the measures."""

from typing import Any

import numpy as np
import pytest
import xarray as xr
from markupsafe import escape

import bayescal as bc
from bayescal.report.errors import decisions
from bayescal.report.view import View
from bayescal.results.measure import with_measures
from bayescal.results.text import fixed, probability

QUICK: dict[str, Any] = {"method": "direct", "seed": 20, "draws": 300}
RNG = np.random.default_rng(4)
P = RNG.random(400)
LABEL = (RNG.random(400) < P).astype(int)
SCORES = {"<a>": P, "b": np.clip(P + RNG.normal(0, 0.2, 400), 0.01, 0.99)}


@pytest.fixture(scope="module")
def result() -> xr.DataTree:
    return bc.fit(bc.ece, bc.Scores.stack(SCORES, y_true=LABEL), **QUICK)


def test_thresholds_of_the_measures_have_a_row_each(result: xr.DataTree) -> None:
    added = with_measures(result, ["net_benefit:.4", "e90", "net_benefit:.2"])
    text = str(decisions(View(added, 0.8)))
    for _, row in bc.decision_curve(result, [0.2, 0.4], 0.8).table.iterrows():
        for shown in (
            fixed(row["mean"]),
            escape(probability(row["p_best"])),
            fixed(row["all_upper"]),
        ):
            assert shown in text
    assert "is useful with probability 0.95 or more" in text
    assert "<bdi><a>" not in text
    assert "At thresholds" in text
    assert text.count("<img") == 1


def test_there_is_no_section_without_a_net_benefit(result: xr.DataTree) -> None:
    assert decisions(View(result, 0.9)) is None
    assert decisions(View(with_measures(result, ["e90", "net_benefit_all:.2"]), 0.9)) is None


def test_groups_have_a_curve_each_up_to_a_number() -> None:
    scores = bc.Scores(y_true=LABEL, y_prob=P, group=np.arange(400) % 8)
    grouped = bc.fit(bc.ece, scores, **QUICK)
    text = str(decisions(View(with_measures(grouped, ["net_benefit:.3"]), 0.9)))
    assert text.count("<img") == 6
    assert "draws the other 2" in text


def test_the_page_has_the_section(result: xr.DataTree, tmp_path: Any) -> None:
    path = bc.report(with_measures(result, ["net_benefit:.3"]), tmp_path / "r.html")
    assert '<section id="decisions"' in path.read_text(encoding="utf-8")
