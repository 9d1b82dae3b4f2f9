"""What a result holds, against draws worked out by hand; coverage of simulated truths."""

import json
import math

import numpy as np
import pytest
from scipy.special import logit
from scipy.stats import norm

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.curves.posterior import CurvePosterior
from bayescal.quantities.agnostic.data import named_rules
from bayescal.quantities.agnostic.decisions import actual_cost, estimated_cost
from bayescal.quantities.agnostic.estimator import interval_measure
from bayescal.quantities.agnostic.functionals import roc
from bayescal.quantities.agnostic.posterior import plan
from bayescal.results.curves import FPR, tpr_at
from tests.quantities.agnostic.made import RULE, rows

PRIORS = bc.agnostic.Priors()


@pytest.fixture(scope="module")
def result():
    return bc.fit(bc.agnostic, rows(n=500), decision=RULE, method="direct", seed=20)


def test_point_estimates_are_those_of_the_rows(result):
    scores = rows(n=500)
    labeled = scores.y_true >= 0
    score, label = scores.y_prob[0][labeled], scores.y_true[labeled]
    found, rest = result["point_estimate"], scores.y_prob[0][~labeled]
    assert float(found["c"]) == interval_measure(score, label=label).c
    assert float(found["auc"]) == pytest.approx(roc(score, probability=label).auc)
    assert float(found["cost"]) == pytest.approx(actual_cost(RULE, score, label=label))
    assert float(found["unlabeled_cost"]) == pytest.approx(estimated_cost(RULE, rest))
    assert float(found["unlabeled_auc"]) == pytest.approx(roc(rest).auc)
    assert int(found["n"]) == 500


def test_what_scores_imply_is_not_called_an_estimate_from_rows(result):
    # Two of the point estimates are of rows without a label, which only their scores speak of.
    assert result.attrs["point_label"] == "estimate from labels or scores"


def test_aucs_are_compared_by_the_rows_and_the_words_say_so():
    label = np.arange(60) % 3 == 0
    score = np.random.default_rng(1).uniform(0.05, 0.6, 60) + 0.3 * label
    both = {"a": score, "b": score**3}
    found = bc.fit(
        bc.agnostic, bc.Scores.stack(both, y_true=label), method="direct", draws=250, seed=1
    )
    assert bc.difference(found, "a", "b").text.startswith("AUC (labelled rows) of a minus b: ")
    assert bc.difference(found, "a", "b", "c").text.startswith("c of a minus b: ")
    assert bc.best(found).text.startswith("By AUC (labelled rows), ")
    assert found.attrs["point_label"] == "estimate from rows"


def test_a_curve_that_is_known_gives_what_its_rows_give():
    # A calibrated curve is the score itself: c is 0, costs and ROC curves are those of the scores.
    case = plan(rows(n=300, n_unlabeled=5000), PRIORS, decision=RULE).cases[0]
    drawn = CurvePosterior.prior(case.model, 400, np.random.default_rng(1)).given("calibrated")
    found = case._implied(drawn, np.random.default_rng(1))
    score = rows(n=300, n_unlabeled=5000).y_prob[0]
    assert found["c"].max() < 1e-9
    expected = estimated_cost(RULE, score)
    assert found["cost"].mean() == pytest.approx(expected, abs=0.02)
    rest = estimated_cost(RULE, score[300:])
    # Labels of 5,000 rows are drawn: costs of a standard deviation below 2.5.
    assert found["unlabeled_cost"].mean() == pytest.approx(rest, abs=4 * 2.5 / math.sqrt(2e6))
    assert found["auc"].mean() == pytest.approx(roc(score).auc, abs=0.005)
    curves = tpr_at(found["fpr"][0], found["tpr"][0], FPR)
    assert curves.mean(axis=0) == pytest.approx(
        np.interp(FPR, roc(score).fpr, roc(score).tpr), abs=0.02
    )


def test_the_curve_is_the_prior_of_the_documentation():
    described = plan(rows(), PRIORS).cases[0].model
    draws = described.prior_draws(20_000, np.random.default_rng(2))
    at_half = described.curve("smooth", draws, np.array([0.5]))[:, 0]
    # An intercept and a process of standard deviation .7 each; with probability .2 the intercept's
    # is 2.8: a mixture of two normal distributions of the logit.
    narrow, wide = (norm(0, 0.7 * math.sqrt(1 + scale**2)) for scale in (1, 4))
    for level in (0.05, 0.25, 0.95, 0.99):
        value = np.quantile(logit(at_half), level)
        assert 0.8 * narrow.cdf(value) + 0.2 * wide.cdf(value) == pytest.approx(level, abs=0.006)


def test_constant_scores_and_one_label_class_give_numbers():
    for score, label in (([0.4] * 6, [0, 1] * 3), ([0.2, 0.4, 0.9], [1, 1, 1])):
        scores = bc.Scores(y_true=label, y_prob=score, classes=[0, 1])
        found = bc.fit(bc.agnostic, scores, decision=RULE, method="direct", seed=1)
        assert found.attrs["status"] != "ok"
        assert np.isfinite(found["posterior"]["c"]).all()
        assert np.isfinite(found["posterior"]["cost"]).all()


def test_rates_that_round_to_1_leave_a_roc_curve():
    scores = bc.Scores(y_true=[1], y_prob=[1 - 1e-12], classes=[0, 1])
    found = bc.fit(bc.agnostic, scores, method="direct", draws=500, chains=1, seed=1)
    assert (found["curve"]["rate"] == 1).mean() > 0.5
    for name in ("auc", "fpr", "tpr"):
        assert np.isfinite(found["posterior"][name]).all()


def test_groups_of_variables_need_what_they_are_of():
    found = bc.fit(bc.agnostic, rows(n_unlabeled=0), method="direct", draws=300, seed=1)
    assert not [name for name in found["posterior"].data_vars if "cost" in str(name)]
    assert "unlabeled_auc" not in found["posterior"]


def test_draws_in_which_unlabelled_rows_have_one_label_are_said():
    given = bc.Scores(y_true=[0, 1] * 50, y_prob=[0.4, 0.6] * 50)
    for unlabeled, said in (([0.5, 0.5], True), ([0.5] * 20, False)):
        found = bc.fit(bc.agnostic, given, unlabeled=unlabeled, method="direct", draws=250, seed=1)
        assert ("unlabelled rows have one label" in found.attrs["status"]) is said
        share = float(np.isnan(found["posterior"]["unlabeled_auc"]).mean())
        # Two rows of one rate are alike in half the draws or more; .05 is three Monte Carlo errors.
        assert share > 0.45 if said else share < 0.01


@pytest.mark.slow
def test_coverage():
    truth = bc.datasets.agnostic.truth("over")
    held = {"cost": 0, "unlabeled_cost": 0, "auc": 0, "c": 0, "roc": 0}
    curve = truth._grid[1]
    true_tpr = np.interp(
        FPR,
        np.append(0, np.cumsum(1 - curve[::-1])) / (1 - curve).sum(),
        np.append(0, np.cumsum(curve[::-1])) / curve.sum(),
    )
    times = 20
    for seed in range(times):
        labelled = truth.scores(200, seed=[seed, 1])
        rest = truth.scores(300, seed=[seed, 2])
        found = bc.fit(
            bc.agnostic,
            labelled,
            unlabeled=rest.y_prob[0],
            decision=RULE,
            method="direct",
            draws=800,
            chains=1,
            seed=seed,
        )
        true = {
            "cost": truth.cost(RULE),
            "auc": truth.auc,
            "unlabeled_cost": actual_cost(RULE, rest.y_prob[0], label=rest.y_true),
        }
        for var, value in true.items():
            low, high = bc.interval(found, var, 0.95).values
            held[var] += low <= value <= high
        held["c"] += truth.c <= bc.agnostic.upper_bound(found, 0.95)
        band = bc.agnostic.roc_band(found, 0.9)
        inside = (band.lower.values <= true_tpr) & (true_tpr <= band.upper.values)
        held["roc"] += bool(inside[1:-1].all())
    # 95% of 20 less three standard deviations is 16; of 90%, 14.
    for var, count in held.items():
        assert count >= (14 if var == "roc" else 16), held


@pytest.mark.mcmc
def test_nuts_agrees_with_importance_sampling():
    scores = rows(n=400)
    found = {
        method: bc.fit(bc.agnostic, scores, decision=RULE, method=method, seed=20)
        for method in ("nuts", "direct")
    }
    assert found["nuts"].attrs["status"] == "ok"
    # c is a mixture over descriptions, whose weights have an error of their own.
    for var in ("auc", "cost", "unlabeled_cost"):
        one, two = (tree["posterior"][var].values for tree in found.values())
        error = 5 * one.std() / math.sqrt(800)
        assert one.mean() == pytest.approx(two.mean(), abs=error)
        assert one.std() == pytest.approx(two.std(), rel=0.15)


def test_rules_name_their_costs():
    assert named_rules(None) == {}
    assert named_rules(RULE) == {"cost": RULE}
    assert named_rules({"a": RULE}) == {"cost_a": RULE}


def test_attributes_count_all_rows_and_describe_the_rule():
    found = plan(rows(), PRIORS, unlabeled=[0.5, 0.6], decision=RULE)
    assert (found.attrs["n_obs"], found.attrs["n_labeled"]) == (302, 200)
    assert json.loads(found.attrs["decision"])["cost"] == RULE.describe()


def test_the_fingerprint_is_of_rule_labels_and_unlabelled_rows():
    # Seven digits differ, or one of many unlabelled scores: a checkpoint kept the other's costs.
    dear = [bc.agnostic.bayes_rule({"keep": (a, 0), "drop": (0, a)}) for a in (5e6, 5e6 + 4)]
    many = np.linspace(0.001, 0.999, 999)
    # Two rows of one cell exchange their labels: the cells stay, and c and the AUC change.
    label = np.arange(999) % 2
    swapped = [bc.Scores(label, np.append(many[order], many[2:])) for order in ([0, 1], [1, 0])]
    prints = {
        plan(*given, **options).cases[0].fingerprint()
        for given, options in [
            ((rows(), PRIORS), {}),
            ((rows(), PRIORS), {"decision": RULE}),
            *(((rows(), PRIORS), {"decision": rule}) for rule in dear),
            ((rows(), PRIORS), {"unlabeled": [0.5]}),
            *(((rows(), PRIORS), {"unlabeled": np.append(many, one)}) for one in (0.5, 0.5001)),
            *(((data, PRIORS), {}) for data in (rows(seed=21), *swapped)),
        ]
    }
    assert len(prints) == 10


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plan(rows(), PRIORS, decision=[RULE]), "decision must be a DecisionRule"),
        (lambda: plan(rows(), PRIORS, decision={"a": 1}), "decision must be a DecisionRule"),
        (lambda: plan(rows(), PRIORS, multiclass="marginal"), "multiclass must be one of"),
        (
            lambda: plan(bc.Scores(y_true=[None], y_prob=[0.5], classes=[0, 1]), PRIORS),
            "at least one label",
        ),
        (
            lambda: plan(bc.Scores(y_true=[0, 1], y_prob=[0.5, 0.6], sample_weight=[1, 2]), PRIORS),
            "cannot use sample weights",
        ),
        (
            lambda: plan(bc.Scores(y_true=[0, 1], y_prob=[0.5, 0.6], group=["a", "b"]), PRIORS),
            "agnostic has no groups",
        ),
        (lambda: bc.agnostic.Priors(label_rate=0.7), "label_rate must be CurveAverage"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_alternatives_rescale_every_description():
    found = bc.agnostic.Priors().alternatives()
    own = found["default"].label_rate
    for name, factor in (("tighter curve", 0.5), ("wider curve", 2.0)):
        other = found[name].label_rate
        scales = [(one.curve.scale, one.roughness, one.shift) for one in (own, other)]
        assert scales[1] == tuple(factor * scale for scale in scales[0])
