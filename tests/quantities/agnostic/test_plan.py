"""Options of a fit, and what is refused."""

import json

import pytest

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.quantities.agnostic.data import named_rules
from bayescal.quantities.agnostic.plan import plan
from tests.quantities.agnostic.made import RULE, rows

PRIORS = bc.agnostic.Priors()


def test_rules_name_their_costs():
    assert named_rules(None) == {}
    assert named_rules(RULE) == {"cost": RULE}
    assert named_rules({"a": RULE}) == {"cost_a": RULE}


def test_attributes_count_all_rows_and_describe_the_rule():
    found = plan(rows(), PRIORS, unlabeled=[0.5, 0.6], decision=RULE)
    assert (found.attrs["n_obs"], found.attrs["n_labeled"]) == (302, 200)
    assert json.loads(found.attrs["decision"])["cost"] == RULE.describe()


def test_the_fingerprint_is_of_rule_labels_and_unlabelled_rows():
    prints = {
        plan(*given, **options).cases[0].fingerprint()
        for given, options in [
            ((rows(), PRIORS), {}),
            ((rows(), PRIORS), {"decision": RULE}),
            ((rows(), PRIORS), {"unlabeled": [0.5]}),
            ((rows(seed=21), PRIORS), {}),
        ]
    }
    assert len(prints) == 4


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
