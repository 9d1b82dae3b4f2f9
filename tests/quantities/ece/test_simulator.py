import numpy as np
import pytest
from scipy import integrate
from scipy.special import expit

from bayescal.core.errors import InputError
from bayescal.core.intake import round_scores
from bayescal.core.scores import Scores
from bayescal.quantities.ece.simulator import SMOOTH, STRESS, TRUTHS, sample_panel, truth

# The printed values of the test bed, to their digits.
PRINTED = {
    "less": 0.0744,
    "better": 0.0235,
    "near": 0.0057,
    "calibrated": 0.0,
    "over": 0.0754,
    "wiggle": 0.0528,
    "jump": 0.0318,
    "fast_wiggle": 0.0570,
    "far_over": 0.1168,
}


@pytest.mark.parametrize("name", TRUTHS)
def test_true_calibration_error_is_the_printed_one(name):
    assert round(truth(name).tce, 4) == PRINTED[name]


@pytest.mark.parametrize("name", TRUTHS)
def test_quadrature_agrees_with_a_fine_sum(name):
    simulated = truth(name)
    x = np.linspace(-10, 10, 400_001)
    density = (np.exp(-((x - 1) ** 2) / 2) + np.exp(-((x + 1) ** 2) / 2)) / np.sqrt(8 * np.pi)
    gap = np.abs(simulated.event_probability(x) - simulated.score(x))
    # A sum over a step of 5e-5 misses a jump by at most so much.
    assert simulated.tce == pytest.approx(integrate.trapezoid(gap * density, x), abs=2e-6)


@pytest.mark.parametrize("name", TRUTHS)
def test_the_calibration_curve_is_the_event_probability_of_the_score(name):
    simulated = truth(name)
    x = np.linspace(-3, 3, 1000)
    expected = simulated.event_probability(x)
    np.testing.assert_allclose(simulated.probability(simulated.score(x)), expected, atol=1e-6)


@pytest.mark.parametrize("name", TRUTHS)
def test_the_curve_has_values_at_the_ends(name):
    ends = truth(name).probability([0.0, 1.0])
    # Of far_over, every feature above 4.6 has a score that rounds to 1.
    np.testing.assert_allclose(ends, [0.0, 1.0], atol=2e-4)


@pytest.mark.parametrize("name", TRUTHS)
def test_labels_come_at_the_rate_of_the_curve(name):
    simulated = truth(name)
    score, label = simulated.sample(200_000, seed=5)
    gap = label - simulated.probability(score)
    for cell in np.array_split(gap[np.argsort(score)], 20):
        # Standard error at most sqrt(1/4 / 10,000) = .005; twenty cells, nine truths.
        assert abs(cell.mean()) < 4.5 * 0.005


@pytest.mark.parametrize(("name", "crossing"), [("less", -1.0), ("better", -2.0), ("over", 0.0)])
def test_the_error_is_exact_where_the_curve_crosses_at_a_point_of_the_grid(name, crossing):
    made = truth(name)

    def gap(x):
        density = (np.exp(-((x - 1) ** 2) / 2) + np.exp(-((x + 1) ** 2) / 2)) / np.sqrt(8 * np.pi)
        return abs(expit(2 * x) - expit(made.b0 + made.b1 * x)) * density

    parts = [integrate.quad(gap, *ends, epsabs=1e-15) for ends in ((-10, crossing), (crossing, 10))]
    assert made.tce == pytest.approx(sum(part for part, _ in parts), abs=2e-14)


@pytest.mark.parametrize("name", TRUTHS)
def test_the_sample_has_the_error(name):
    simulated = truth(name)
    score, _ = simulated.sample(200_000, seed=6)
    gap = np.abs(simulated.probability(score) - score)
    assert gap.mean() == pytest.approx(simulated.tce, abs=5 * gap.std() / np.sqrt(len(gap)) + 1e-12)


def test_the_same_seed_gives_the_same_rows():
    first, second = truth("less").sample(50, seed=3), truth("less").sample(50, seed=3)
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])
    other, _ = truth("less").sample(50, seed=np.random.default_rng(4))
    assert not np.array_equal(first[0], other)


def test_names_cover_all_truths():
    assert set(TRUTHS) == set(SMOOTH) | set(STRESS) == set(PRINTED)
    with pytest.raises(InputError, match=r"has no truth 'calibratd'; did you mean 'calibrated'\?"):
        truth("calibratd")


def test_a_panel_scores_the_same_rows():
    panel = sample_panel(100_000, seed=2)
    scores = Scores.stack(panel.score, y_true=panel.label)
    assert scores.classifiers == ("calibrated", "near", "better", "less", "over")
    for name, score in panel.score.items():
        assert panel.tce[name] == truth(name).tce
        gap = np.abs(truth(name).probability(score) - score)
        assert gap.mean() == pytest.approx(panel.tce[name], abs=1e-3)
    # One feature behind all: the ranks agree.
    order = np.argsort(panel.score["calibrated"], kind="stable")
    assert (np.diff(panel.score["over"][order]) >= 0).all()


def test_truths_of_a_panel_must_share_the_labels():
    with pytest.raises(InputError, match=r"must share P\(Y=1 \| x\).*'near' and 'wiggle' do not"):
        sample_panel(10, seed=1, names=["near", "wiggle"])
    with pytest.raises(InputError, match="names must be a word, or a list of words"):
        sample_panel(10, seed=1, names=[])


def test_scores_hold_the_rows_that_are_sampled():
    simulated = truth("less")
    score, label = simulated.sample(50, seed=3)
    scores = simulated.scores(50, seed=3)
    assert scores.classifiers == ("less",)
    np.testing.assert_array_equal(scores.y_prob[0], round_scores(score))
    np.testing.assert_array_equal(scores.y_true, label)
