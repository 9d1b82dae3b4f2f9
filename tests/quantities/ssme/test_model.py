"""The PyMC model, and the mixture."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import bayescal as bc
from bayescal.quantities.ssme.data import Problem, weighted_matrix
from bayescal.quantities.ssme.kde import alr
from bayescal.quantities.ssme.model import ROWS, model_of
from bayescal.quantities.ssme.priors import GaussianMixture, StudentTMixture
from tests.quantities.ssme.made import (
    binary,
    in_chains,
    log_density_of,
    many_classes,
    model,
    multiclass,
    problem,
)


def names(variables):
    return {v.name for v in variables}


def test_names_and_dims():
    scores, _ = binary(n=60, group=["x", "y", "z"] * 20)
    model = bc.ssme.build_model(scores)
    assert names(model.observed_RVs) == {"label"}
    shown = {"intercept", "log_slope", "slope", "weight", "bend", "own_bend"}
    shown |= {"group_intercept", "group_slope"}
    assert names(model.deterministics) == shown
    assert model.coords["classifier"] == ("c0", "c1", "c2")
    assert model.coords["class"] == ("0", "1")
    assert model.coords["group"] == ("x", "y", "z")
    assert model.named_vars_to_dims["group_intercept"] == ("group", "class")
    assert model.named_vars_to_dims["weight"] == ("classifier",)


def test_forced_labels_add_their_potential():
    scores, _ = multiclass(n=60)
    assert names(bc.ssme.build_model(scores).potentials) == set()
    model = bc.ssme.build_model(scores, labeling="one-per-class")
    assert names(model.potentials) == {"one_per_class"}


@pytest.mark.parametrize("label", [bc.ssme.GaussianMixture(), bc.ssme.StudentTMixture()])
def test_mixtures_have_shares_and_components(label):
    scores, _ = binary(n=60)
    model = bc.ssme.build_model(scores, bc.ssme.Priors(label=label))
    assert names(model.free_RVs) == {"class_share", "location", "log_width"}


def test_the_rows_of_a_mixture_stand_for_the_groups_as_large_as_they_are():
    """Nine in ten unlabelled rows are of a group of which no more than half the rows are kept."""
    large = np.arange(10_000) < 9_000
    y = [0, 1, *[None] * 9_998]
    score = 0.1 * np.random.default_rng(1).random(10_000) + np.where(large, 0.1, 0.7)
    scores = bc.Scores.stack({"a": score}, y_true=y, group=np.where(large, "l", "s"))
    made = Problem.of(weighted_matrix(scores), "random")
    found = model(made, GaussianMixture(), power=0.5).inputs()
    power, own = found["row_power"], found["row_score"][:, 0]
    assert power.sum() == pytest.approx(0.5 * 9_998)
    of_large = np.sign(own) == np.sign(own[power.argmax()])
    assert power[of_large].sum() / power.sum() == pytest.approx(0.9, abs=0.02)


@pytest.mark.mcmc
@pytest.mark.filterwarnings("ignore::bayescal.ConvergenceWarning")
def test_a_mixture_is_sampled_with_all_its_data():
    priors = bc.ssme.Priors(label=bc.ssme.GaussianMixture())
    few = {"draws": 20, "tune": 100, "chains": 2, "seed": 1}
    # The other labelling is the same model without a potential.
    found = bc.fit(bc.ssme, binary(n=60)[0], priors=priors, labeling="one-per-class", **few)
    assert np.isfinite(found["posterior"]["accuracy"]).all()


KINDS = {"normal": GaussianMixture(1.5, 0.7), "student": StudentTMixture(1.5, 0.7, degrees=5)}
MADE = {"binary": lambda: problem(n=60), "classes": lambda: many_classes(n=60, m=2, k=3)}


def joint(own, draws, kind):
    """Log density of class and scores by scipy, (draw, obs, class)."""
    at = draws["location"][:, None], np.exp(draws["log_width"])[:, None]
    law = stats.norm(*at) if kind == "normal" else stats.t(5, *at)
    density = law.logpdf(own.score[:, None, :]).sum(axis=-1)
    return density + np.log(draws["class_share"])[:, None]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MADE)
def test_label_probabilities_are_bayes_rule(kind, name):
    own = model(MADE[name](), KINDS[kind])
    draws = own.prior_draws(4, np.random.default_rng(1))
    both = np.exp(joint(own, draws, kind))
    expected = both / both.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(own.label_probs(draws), expected, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MADE)
def test_the_models_density_is_that_of_classes_and_scores(kind, name):
    made = MADE[name]()
    own = model(made, KINDS[kind], power=0.7)
    log_density = log_density_of(model_of(made, own), own.variables)
    draws = own.prior_draws(3, np.random.default_rng(2))
    log_joint = joint(own, draws, kind)
    of_labeled = log_joint[:, made.rows, made.labels].sum(axis=1)
    of_others = np.logaddexp.reduce(log_joint[:, ~made.matrix.labeled], axis=-1).sum(axis=1)
    prior = (
        stats.norm(0, 1.5).logpdf(draws["location"]).sum(axis=(1, 2))
        + stats.norm(0, 0.7).logpdf(draws["log_width"]).sum(axis=(1, 2))
        + [stats.dirichlet(np.ones(share.size)).logpdf(share) for share in draws["class_share"]]
    )
    np.testing.assert_allclose(sum(own.log_prior(draws).values()), prior, rtol=1e-9)
    found = [log_density({k: v[i] for k, v in draws.items()}) for i in range(3)]
    np.testing.assert_allclose(found, prior + 0.7 * (of_labeled + of_others), rtol=1e-8)
    # What a result holds, and power scaling raises to a power, is the whole likelihood.
    held = own.log_likelihood(draws).sum(axis=-1) + own.log_scores(draws)["scores"]
    np.testing.assert_allclose(held, 0.7 * (of_labeled + of_others), rtol=1e-8)


def test_forced_labels_say_nothing_of_the_class_shares():
    """One label of each class: density of its scores given the class, without the share."""
    points = model(many_classes(n=30, k=3), KINDS["normal"]).prior_draws(
        2, np.random.default_rng(5)
    )
    found, held = [], []
    for labeling in ("random", "one-per-class"):
        made = many_classes(labeling, n=30, k=3)
        own = model(made, KINDS["normal"], power=0.7)
        log_density = log_density_of(model_of(made, own), own.variables)
        found.append([log_density({k: v[i] for k, v in points.items()}) for i in range(2)])
        held.append(own.log_likelihood(points).sum(axis=-1))
    shares = np.log(points["class_share"]).sum(axis=1)
    np.testing.assert_allclose(found[1], found[0] - 0.7 * shares, rtol=1e-10)
    np.testing.assert_allclose(held[1], held[0] - 0.7 * shares, rtol=1e-10)


def test_no_class_is_the_reference_of_the_others():
    made = many_classes(n=60, m=2, k=3)
    turned = replace(made.matrix, probs=made.matrix.probs[..., [2, 0, 1]])
    own, other = (model(one, KINDS["normal"]).score for one in (made, replace(made, matrix=turned)))
    # Singular vectors have either sign.
    np.testing.assert_allclose(np.abs(own.T @ other) / 60, np.eye(4), atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_the_likelihood_is_that_of_labels_given_scores(kind):
    made = problem(n=60)
    own = model(made, KINDS[kind], power=0.3)
    draws = own.prior_draws(6, np.random.default_rng(3))
    chosen = own.label_probs(draws)[:, made.rows, made.labels]
    found = own.log_likelihood(draws)
    np.testing.assert_allclose(found, 0.3 * np.log(chosen), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(own.log_likelihood(in_chains(draws)).reshape(6, -1), found)


def test_prior_draws_have_the_priors_moments():
    own = model(problem(n=60), KINDS["normal"])
    draws = own.prior_draws(20_000, np.random.default_rng(4))
    # Standard deviations of 20,000 draws have a relative standard error of .5%.
    np.testing.assert_allclose(draws["location"].std(axis=0), 1.5, rtol=0.025)
    np.testing.assert_allclose(draws["log_width"].std(axis=0), 0.7, rtol=0.025)
    np.testing.assert_allclose(draws["class_share"].mean(axis=0), 0.5, atol=0.01)
    np.testing.assert_allclose(draws["class_share"].var(axis=0), 1 / 12, rtol=0.05)


def test_scores_are_whitened_within_the_span_of_the_log_ratios():
    made = many_classes(n=60, m=2, k=3)
    score = model(made, KINDS["normal"]).score
    np.testing.assert_allclose(score.T @ score / 60, np.eye(score.shape[1]), atol=1e-10)
    ratios = alr(made.matrix.probs)
    left = ratios - ratios.mean(axis=0)
    left = left - score @ np.linalg.lstsq(score, left, rcond=None)[0]
    np.testing.assert_allclose(left, 0, atol=1e-8)


def test_identical_classifiers_count_once():
    made = problem(n=60, m=1)
    twice = replace(
        made.matrix, probs=np.repeat(made.matrix.probs, 3, axis=0), classifiers=("a", "b", "c")
    )
    own = model(replace(made, matrix=twice), KINDS["normal"])
    assert own.score.shape == (60, 1)


def test_rows_beyond_those_summed_over_are_stood_for():
    made = problem(n=ROWS + 600)
    inputs = model(made, KINDS["normal"], power=0.5).inputs()
    assert len(inputs["row_score"]) == ROWS
    assert inputs["row_power"].sum() == pytest.approx(0.5 * (made.matrix.n_obs - 20))


def test_a_class_without_label_is_refused_by_name():
    made = many_classes(n=60, k=3)
    y = np.where(made.matrix.y == 1, -1, made.matrix.y).astype("i4")
    with pytest.raises(bc.InputError, match=r"without any: 1\. Label a row of each class"):
        model(replace(made, matrix=replace(made.matrix, y=y)), KINDS["normal"])


@pytest.mark.parametrize("score", [0.5, 0.3])
def test_a_mixture_of_equal_scores_is_refused(score):
    """.3 differs from the mean of 60 of it by rounding."""
    scores = bc.Scores(y_true=[0, 1] * 10 + [None] * 40, y_prob=np.full(60, score))
    priors = bc.ssme.Priors(label=KINDS["normal"])
    with pytest.raises(bc.InputError, match=r"must differ; got the same in all 60 rows\. Check"):
        bc.ssme.build_model(scores, priors)
