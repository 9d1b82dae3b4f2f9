import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from bayescal.quantities.temperature.logits import labeled_rows, log_likelihood_table
from bayescal.quantities.temperature.model import draw_shared
from bayescal.quantities.temperature.priors import Priors
from tests.quantities.temperature.made import log_loss, rows


@pytest.mark.parametrize(("n", "n_classes"), [(12, 2), (200, 5), (20_000, 3)])
def test_evidence_and_draws_are_those_of_an_integral(n, n_classes):
    logits, label = rows(n, n_classes)
    table = log_likelihood_table(labeled_rows(logits, label, logits.argmax(axis=1), n_classes))
    drawn, evidence = draw_shared(table, Priors(), 20_000, np.random.default_rng(0))

    def fit(place):
        return -log_loss(np.exp(place) * logits, label) * n

    middle = drawn.mean()
    ends = middle - 12 * drawn.std(), middle + 12 * drawn.std()
    scale = fit(middle)

    def moment(power):
        return quad(
            lambda t: t**power * np.exp(fit(t) - scale) * norm.pdf(t, 0, 0.7),
            *ends,
            limit=200,
            points=[middle],
        )[0]

    total, first, second = (moment(k) for k in range(3))
    assert evidence == pytest.approx(np.log(total) + scale, abs=1e-4)
    mean, spread = first / total, np.sqrt(second / total - (first / total) ** 2)
    assert middle == pytest.approx(mean, abs=4 * spread / 20_000**0.5)
    assert drawn.std() == pytest.approx(spread, rel=0.03)
