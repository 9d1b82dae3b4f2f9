"""Scores of exactly 0 and 1 in a case-control study, against numerical integration."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from bayescal.inference.descriptions.end_scores import EndScore
from bayescal.quantities.pu_ece.models.case_control import CaseControlCells
from bayescal.quantities.pu_ece.models.end_draws import draw_end


@pytest.mark.parametrize("score", [0.0, 1.0])
@pytest.mark.parametrize(("total", "positive"), [(400, 0), (400, 60), (3, 1)])
def test_evidence_and_error_rate(score, total, positive) -> None:
    log_odds = np.full(20_000, np.log(0.6))
    cells = CaseControlCells(np.array(total), np.array(positive), log_odds)
    found = draw_end(EndScore(score, cells, -4.0, 2.5), cells, np.random.default_rng(1))

    def law(place: float) -> float:
        error = expit(place)
        odds = 0.6 * (error if score == 0 else 1 - error)
        likelihood = positive * np.log(odds) - total * np.log1p(odds)
        return float(np.exp(likelihood - top) * norm.pdf(place, -4, 2.5))

    top = found.log_wrong[0]
    whole = quad(law, -30, 20, points=[-10, -4, 0, 4], limit=400)[0]
    assert np.log(whole) == pytest.approx(0, abs=0.01)
    mean = quad(lambda at: law(at) * expit(at), -30, 20, points=[-10, -4, 0, 4], limit=400)[0]
    drawn = expit(found.place)
    error = 4 * drawn.std() / np.sqrt(len(drawn))
    assert drawn.mean() == pytest.approx(mean / whole, abs=error + 0.01 * mean / whole)


def test_positives_at_score_0_rule_out_that_it_never_errs() -> None:
    cells = CaseControlCells(np.array(50), np.array(2), np.zeros(1))
    found = draw_end(EndScore(0.0, cells, -4.0, 2.5), cells, np.random.default_rng(1))
    assert found.log_right[0] < found.log_wrong[0] - 20
