"""The average over descriptions against draws from the prior, and against all combinations."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.special import expit, logit, logsumexp

from bayescal.core.errors import InputError
from bayescal.curves.average import POWER, Average, for_nuts, log_posterior_weights, that_matter
from bayescal.curves.posterior import CurvePosterior
from bayescal.curves.priors import COMPONENTS, CurveAverage
from bayescal.curves.smooth import BASIS
from bayescal.inference.direct import BinomialCells
from tests.quantities.ece.made import of_counts

ENDS = np.array([0.0, 1.0])


def described(score, rows, positives, calibrated=0.5, **prior):
    rows = np.array(rows)
    cells = BinomialCells(rows, np.array(positives))
    prior = CurveAverage(**prior)
    return Average(np.array(score), rows.astype(float), cells, prior, calibrated)


SOME = {
    "interior": described([0.3, 0.6], [9, 9], [5, 2]),
    "ends": described([0.0, 0.4, 0.45, 1.0], [10, 6, 6, 20], [1, 5, 2, 20], calibrated=0.3),
    "one end": described([0.0, 0.2], [50, 8], [0, 3]),
    "two": described([0.3, 0.6], [9, 9], [5, 2], smooth=0),
}


def given_some_error(made, draws, seed):
    """Label rates before the data, given that some score is not calibrated, (draw, cell)."""
    return CurvePosterior.prior(made, draws, np.random.default_rng(seed)).miscalibrated.rate[0]


def compared(one, other):
    """Largest difference of the cells' means, and mean squares, in standard errors of both."""
    for power in (1, 2):
        first, second = one**power, other**power
        error = np.sqrt(first.var(axis=0) / len(one) + second.var(axis=0) / len(other))
        yield np.max(np.abs(first.mean(axis=0) - second.mean(axis=0)) / (error + 1e-12))


@pytest.mark.parametrize("made", SOME.values(), ids=SOME)
def test_rates_before_the_data_are_those_of_curves_with_all_parameters(made):
    found = made.prior_rates(20_000, np.random.default_rng(3))
    # A chance of 1e-5 for each of 22 numbers.
    assert max(compared(found, given_some_error(made, 20_000, 4))) < 4.5
    assert (found != made.score).any(axis=-1).all()


def evidences(made, draws=200_000):
    """Mean likelihood of the interior cells over draws from the prior, with standard errors."""
    prior = made.prior_draws(draws, np.random.default_rng(11))
    cells, offset = made.cells.at(made.interior), logit(made.score[made.interior])
    found = {}
    for name in made.fitted:
        likelihood = np.exp(
            cells.log_likelihood(offset + made.components[name].deviation(prior)).sum(axis=-1)
        )
        mean = likelihood.mean()
        found[name] = np.log(mean), likelihood.std() / mean / np.sqrt(draws)
    return found


def before(made, name, errs):
    """Prior probability of one description together with which of the scores 0 and 1 err."""
    c = made.calibrated
    apart = np.prod([1 - c if err else c for err in errs])
    only = 0.05 if made.boundary_scores else 0.0
    if name != "calibrated":
        return (1 - c) * (1 - only) * made.prior.weights[name] * apart
    return (1 - c) * only * apart / (1 - c ** len(errs)) if any(errs) else c


def combinations(made, evidence, power=POWER):
    """Posterior probability of every description together with which of the ends err.

    The evidence of everything together has the power.
    """
    right = made.cells.at(made.interior).log_likelihood(logit(made.score[made.interior])).sum()
    found = {}
    for name in ("calibrated", *made.prior.weights):
        for errs in product([False, True], repeat=len(made.boundary_scores)):
            likelihood = evidence.get(name, right)
            for end, err in zip(made.boundary_scores.values(), errs, strict=True):
                likelihood += end.log_evidence if err else end.log_calibrated
            found[name, errs] = power * likelihood + np.log(before(made, name, errs))
    total = logsumexp(list(found.values()))
    return {key: np.exp(value - total) for key, value in found.items()}


@pytest.fixture(scope="module", params=SOME)
def made(request):
    return SOME[request.param]


@pytest.fixture(scope="module")
def direct(made):
    return made.direct_draws(4000, np.random.default_rng(1))


def test_evidence_is_the_mean_likelihood_before_the_data(made, direct):
    expected = evidences(made)
    assert set(direct.evidence) == set(expected) == set(made.prior.weights)
    for name, (value, error) in expected.items():
        # The nodes of the roughness leave out two per cent of its posterior.
        assert direct.evidence[name] == pytest.approx(value, abs=4 * error + 0.03)


@pytest.mark.parametrize("power", [POWER, 1.0])
def test_everything_is_weighed_as_all_combinations_together(made, direct, power):
    evidence = {name: value for name, (value, _) in evidences(made).items()}
    joint = combinations(made, evidence, power)
    none = (False,) * len(made.boundary_scores)
    made = replace(made, power=power)
    weights = made.weights(direct.evidence)
    assert sum(weights.values()) == pytest.approx(1)
    for name, weight in weights.items():
        expected = sum(p for (interior, _), p in joint.items() if interior == name)
        assert weight == pytest.approx(expected, abs=0.01)
    assert made.p_calibrated(direct.evidence) == pytest.approx(joint["calibrated", none], abs=0.01)


@pytest.mark.parametrize("power", [POWER, 1.0])
@pytest.mark.parametrize("name", ["ends", "one end"])
def test_states_have_the_weights_of_all_combinations(name, power):
    made = replace(SOME[name], power=power)
    evidence = made.direct_draws(100, np.random.default_rng(1)).evidence
    joint = combinations(made, evidence, power)
    found = np.exp(made.log_weights(evidence))
    assert set(made.states) == set(joint)
    assert found == pytest.approx([joint[state] for state in made.states], abs=1e-9)


def test_a_power_of_the_evidence_makes_weights_more_even():
    prior, evidence = np.array([0.5, 0.3, 0.2, 0.0]), np.array([0.0, 4.0, -np.inf, 3.0])
    for power in (1.0, 0.5):
        expected = prior * np.exp(power * evidence)
        found = np.exp(log_posterior_weights(prior, evidence, power))
        assert found == pytest.approx(expected / expected.sum())


def test_draws_have_the_posterior_of_weighted_draws_before_the_data(made, direct):
    """Mean deviation of each cell under each description."""
    number = 200_000
    prior = made.prior_draws(number, np.random.default_rng(12))
    cells, offset = made.cells.at(made.interior), logit(made.score[made.interior])
    for name in made.fitted:
        before = made.components[name].deviation(prior)
        weight = np.exp(cells.log_likelihood(offset + before).sum(axis=-1))
        weight /= weight.sum()
        expected, after = weight @ before, made.components[name].deviation(direct.draws)
        assert after.shape == (4000, len(made.interior))
        error = after.std(axis=0) * np.sqrt((weight**2).sum() + 1 / min(direct.ess, 4000))
        assert (np.abs(after.mean(axis=0) - expected) < 4 * error + 0.01).all()


def test_rates_are_those_of_deviations_and_of_ends():
    made = SOME["ends"]
    draws = made.direct_draws(50, np.random.default_rng(1)).draws
    err = np.tile([[True, False]], (50, 1))
    for name in COMPONENTS:
        rates = made.rates(name, draws, err)
        np.testing.assert_allclose(rates[:, 0], expit(draws["boundary"][:, 0]))
        np.testing.assert_array_equal(rates[:, 3], 1)
        deviation = 0 if name == "calibrated" else made.components[name].deviation(draws)
        expected = expit(logit(made.score[1:3]) + deviation)
        np.testing.assert_allclose(rates[:, 1:3], np.broadcast_to(expected, (50, 2)))
        np.testing.assert_allclose(
            made.curve(name, draws, made.score[1:3]), rates[:, 1:3], atol=1e-6
        )


def test_cells_without_rows_are_on_the_curve():
    """They change no evidence, and their rates are read off the curve."""
    full = described([0.2, 0.7], [9, 9], [4, 5])
    empty = described([0.2, 0.4, 0.7, 1.0], [9, 0, 9, 0], [4, 0, 5, 0])
    assert not empty.boundary_scores
    found = [made.direct_draws(100, np.random.default_rng(1)) for made in (full, empty)]
    assert found[0].evidence == pytest.approx(found[1].evidence, rel=1e-12)
    err = np.zeros((100, 0), dtype=bool)
    for name in COMPONENTS:
        rates = empty.rates(name, found[1].draws, err)
        np.testing.assert_allclose(
            rates[:, [1, 3]], empty.curve(name, found[1].draws, np.array([0.4, 1.0]))
        )
        np.testing.assert_allclose(
            rates[:, [0, 2]], full.rates(name, found[0].draws, err), rtol=1e-9
        )


def test_scores_of_0_and_1_alone_have_no_description():
    made = described([0.0, 1.0], [40, 60], [0, 57])
    assert made.fitted == ()
    found = made.direct_draws(200, np.random.default_rng(1))
    assert found.evidence == {}
    assert set(found.draws) == {"boundary"}
    weights = made.weights(found.evidence)
    assert weights == {"calibrated": pytest.approx(1)}
    # All right with probability 1/2; else one errs, or the other, or both, as likely.
    factor = [
        np.exp(end.log_evidence - end.log_calibrated) for end in made.boundary_scores.values()
    ]
    for power, most in ((POWER, 1e-6), (1.0, 1e-9)):  # Three errors at a score of 1.
        odds = [one**power for one in factor]
        expected = 1 / (1 + (odds[0] + odds[1] + odds[0] * odds[1]) / 3)
        found = replace(made, power=power).p_calibrated({})
        assert found == pytest.approx(expected, rel=1e-9, abs=0)
        assert found < most
    rates = given_some_error(made, 4000, 2)
    # Each errs with probability 1/2, given that one does.
    np.testing.assert_allclose((rates != ENDS).mean(axis=0), 2 / 3, atol=0.035)
    assert (rates != ENDS).any(axis=1).all()


@pytest.mark.parametrize("ends", [[0.0], [1.0], [0.0, 1.0]])
@pytest.mark.parametrize("positives", [[60, 140, 210], [70, 150, 230], [75, 165, 225]])
def test_right_rows_at_0_and_1_hardly_change_the_probability_of_calibration(ends, positives):
    """One row each that is right; from a miscalibrated classifier to a calibrated one."""
    score, rows = [0.25, 0.5, 0.75], [300, 300, 300]
    alone = described(score, rows, positives)
    added = described(
        sorted([*score, *ends]),
        [*([1] * (0.0 in ends)), *rows, *([1] * (1.0 in ends))],
        [*([0] * (0.0 in ends)), *positives, *([1] * (1.0 in ends))],
    )
    found = []
    for made in (alone, added):
        evidence = made.direct_draws(2000, np.random.default_rng(1)).evidence
        found.append(made.p_calibrated(evidence))
    # The interior cells are the same, and so are their draws.
    assert found[1] == pytest.approx(found[0], rel=0.1)


def test_each_boundary_score_has_its_own_probability():
    made = SOME["ends"]
    evidence = made.direct_draws(100, np.random.default_rng(1)).evidence
    joint = combinations(made, evidence)
    found = made.boundary_calibrated(evidence)
    for place in (0, 1):
        expected = sum(p for (_, errs), p in joint.items() if not errs[place])
        assert found[place] == pytest.approx(expected, rel=1e-9)
    one = SOME["one end"]
    found = one.boundary_calibrated(one.direct_draws(100, np.random.default_rng(1)).evidence)
    np.testing.assert_array_equal(np.isnan(found), [False, True])


def test_one_score_alone():
    made = described([0.3], [30], [16])
    found = made.direct_draws(1000, np.random.default_rng(1))
    weights = made.weights(found.evidence)
    assert set(weights) == set(COMPONENTS)
    for name in made.fitted:
        assert np.isfinite(found.evidence[name])
        rate = made.rates(name, found.draws, np.zeros((1000, 0), dtype=bool))
        # Between the score and the frequency, 16/30.
        assert 0.3 < rate.mean() < 16 / 30 + 0.01


def test_without_a_calibrated_alternative():
    made = described([0.0, 0.3, 0.6], [30, 9, 9], [0, 5, 2], calibrated=0)
    found = made.direct_draws(100, np.random.default_rng(1))
    weights = made.weights(found.evidence)
    assert weights["calibrated"] == 0
    assert sum(weights.values()) == pytest.approx(1)
    assert np.isnan(made.p_calibrated(found.evidence))
    rates = given_some_error(made, 500, 2)
    assert (rates != made.score).any(axis=1).all()
    assert (rates[:, 0] > 0).all()


@pytest.mark.parametrize("name", COMPONENTS[1:])
def test_one_description_alone(name):
    only = {other: float(other == name) for other in COMPONENTS[1:]}
    made = described([0.3, 0.6], [9, 9], [5, 2], **only)
    assert made.fitted == (name,)
    found = made.direct_draws(100, np.random.default_rng(1))
    assert found.log_evidence == pytest.approx(found.evidence[name])
    assert set(made.weights(found.evidence)) == {"calibrated", name}
    assert given_some_error(made, 100, 2).shape == (100, 2)


def test_the_prior_mixes_descriptions_by_their_weights():
    """Given that some score is not calibrated, of three: the interior ones and two ends."""
    made, draws = described([0.0, 0.3, 0.6, 1.0], [5] * 4, [1] * 4), 20_000
    rates = given_some_error(made, draws, 3)
    only, error = 0.05, 2 / np.sqrt(draws)
    same = rates == made.score
    assert not same.all(axis=1).any()
    # Where the interior ones are calibrated, one of two errs: two cases of three have either.
    expected = (1 - only) / 2 + only * 2 / 3
    assert (~same[:, 0]).mean() == pytest.approx(expected, abs=error)
    assert (~same[:, 3]).mean() == pytest.approx(expected, abs=error)
    # Descriptions come by their weights exactly.
    assert (same[:, 1] & same[:, 2]).mean() == pytest.approx(only, abs=1e-3)
    # One cell calibrated and one not: segments alone, cut between the cells.
    jump, shifted = 0.03, 1 - 0.5 * (1 - 0.03 / 2)
    expected = (1 - only) * 0.25 * jump * 0.5 / shifted
    assert (same[:, 1] != same[:, 2]).mean() == pytest.approx(expected, abs=error)


def test_scores_beyond_the_edge_have_one_logit():
    """A score of 1e-15 is held at 1e-9 by the cells and by the curve alike."""
    made = described([1e-15, 0.5], [10**6, 10], [1, 5])
    draws = made.direct_draws(50, np.random.default_rng(1)).draws
    for name in made.fitted:
        rates = made.rates(name, draws, np.zeros((50, 0), dtype=bool))
        np.testing.assert_allclose(made.curve(name, draws, made.score), rates, rtol=1e-6)


COUNTS = ([9, 20, 30, 10], [0, 3, 18, 9], [0.0, 0.2, 0.5, 0.7])


def counted(**prior):
    return Average.of(of_counts(*COUNTS, [0, 0, 0.3, 0.6, 1]), CurveAverage(**prior), 0.5)


@pytest.mark.parametrize(
    ("prior", "names"),
    [
        ({}, ["smooth", "rough"]),
        ({"smooth": 0}, ["rough"]),
        ({"rough": 0}, ["smooth"]),
        ({"smooth": 0, "rough": 0}, []),
    ],
)
def test_nuts_samples_what_has_parameters(prior, names):
    assert list(counted(**prior).members) == names


def test_members_hold_the_cells_between_0_and_1():
    for model in counted().members.values():
        inputs = model.inputs()
        assert inputs["count"].sum() == 60
        assert inputs["positives"].sum() == 30


def test_draws_of_nuts_are_completed_with_what_is_drawn_exactly():
    average, rng = counted(), np.random.default_rng(1)
    padded = {
        "coef": rng.standard_normal((2, 50, BASIS)),
        "z": rng.standard_normal((2, 50, 25)),
        "roughness": rng.random((2, 50)),
    }
    found = average.completed(padded, rng)
    size = average.basis.size
    np.testing.assert_array_equal(found["coef"], padded["coef"][..., :size])
    np.testing.assert_array_equal(found["z"], padded["z"][..., :3])
    assert found["shift"].shape == (2, 50, 3)
    assert found["boundary"].shape == (2, 50, 1)
    # Draws that are complete stay as they are.
    again = average.completed(found, rng)
    assert {
        name: id(values) for name, values in again.items() if name in ("boundary", "shift")
    } == {name: id(found[name]) for name in ("boundary", "shift")}


def test_direct_draws_have_what_completed_ones_have():
    average, rng = counted(), np.random.default_rng(1)
    direct = average.direct_draws(100, rng).draws
    nuts = {
        "coef": np.zeros((1, 100, BASIS)),
        "z": np.zeros((1, 100, 25)),
        "roughness": np.ones((1, 100)),
    }
    completed = average.completed(nuts, rng)
    assert {name: values.shape for name, values in direct.items()} == {
        name: values.shape[1:] for name, values in completed.items()
    }


def test_members_of_a_hundredth_or_more_matter():
    both = ("smooth", "rough")
    assert that_matter({"calibrated": 0.6, "smooth": 0.3, "rough": 0.01}, both) == both
    assert that_matter({"smooth": 0.02, "rough": 0.009}, both) == ("smooth",)
    assert that_matter({"smooth": 0.0}, both) == ()


def test_a_small_share_of_what_is_not_calibrated_keeps_direct_draws():
    weights = {"calibrated": 0.5, "smooth": 0.451, "rough": 0.049}
    assert that_matter(weights, ("smooth", "rough")) == ("smooth", "rough")
    both = ("smooth", "rough")
    assert for_nuts(weights, both) == ("smooth",)
    assert for_nuts({**weights, "rough": 0.05}, both) == both


def test_without_a_description_to_sample_there_is_no_model():
    with pytest.raises(InputError, match=r"there is none\. Give one a weight"):
        counted(smooth=0, rough=0, linear=0).build()


def test_without_weight_on_importance_sampling_every_draw_counts():
    """Where all rows are told apart smooth curves have hardly any weight, and few good draws."""
    score = (np.arange(100) + 0.5) / 100
    found = described(score, [20] * 100, [0] * 50 + [20] * 50).direct_draws(
        1000, np.random.default_rng(1)
    )
    assert found.ess == 1000
