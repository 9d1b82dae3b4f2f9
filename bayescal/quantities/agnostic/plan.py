"""The models to fit for given data, and what a result says of the data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from bayescal.core.checks import check_choice, check_data
from bayescal.core.errors import InputError
from bayescal.core.quantity import Plan
from bayescal.core.scores import Scores
from bayescal.quantities.agnostic.correlation import correlations
from bayescal.quantities.agnostic.data import checked, checked_unlabeled, problems
from bayescal.quantities.agnostic.decisions.rule import DecisionRule
from bayescal.quantities.agnostic.posterior import AgnosticCase
from bayescal.quantities.agnostic.priors import Priors

_MULTICLASS = ("top-label", "class-wise")


def plan(
    data: Scores,
    priors: Priors,
    *,
    unlabeled: Any = None,
    decision: DecisionRule | Mapping[str, DecisionRule] | None = None,
    multiclass: str = "top-label",
) -> Plan:
    """Plan the fits of calibration curves.

    Parameters
    ----------
    data : Scores
        Scores with labels; rows without count as unlabelled ones.
    priors : Priors
        Priors.
    unlabeled : Scores or array-like of shape (obs,), optional
        More scores of the same population, whose labels are not used.
    decision : DecisionRule or mapping of str to DecisionRule, optional
        A rule whose cost is estimated as ``cost``, or several by name, as ``cost_<name>``.
    multiclass : {"top-label", "class-wise"}, default "top-label"
        How several classes become binary problems; see `bayescal.agnostic.estimate`.

    Returns
    -------
    Plan
        A case a classifier (and class), and how their metrics correlate over shared rows.

    Raises
    ------
    InputError
        If the data are of another class, hold no labelled row, weights or groups, or unlabelled
        rows or rules are not such.
    """
    check_data(data, (Scores,), "agnostic", "Scores(y_true=..., y_prob=...)")
    check_choice(multiclass, _MULTICLASS, "multiclass")
    rules = named_rules(decision)
    more = checked_unlabeled(unlabeled, data)
    found = problems(checked(data), more, multiclass, list(rules.values()))
    attrs = {
        "n_obs": data.n_obs + (0 if more is None else more.n_obs),
        "n_labeled": data.n_labeled,
        "classes": [str(label) for label in data.classes],
        "multiclass": "binary" if data.is_binary else multiclass,
        "point_label": "estimate from rows",
        "decision": json.dumps({name: rule.describe() for name, rule in rules.items()}),
    }
    cases = [AgnosticCase.of(problem, priors, rules) for problem in found]
    if data.n_classifiers == 1:
        return Plan(cases, attrs)
    return Plan(cases, {**attrs, "pairing": "shared rows"}, partial(correlations, cases))


def named_rules(
    decision: DecisionRule | Mapping[str, DecisionRule] | None,
) -> dict[str, DecisionRule]:
    """Rules by the names of their costs."""
    if decision is None:
        return {}
    if isinstance(decision, DecisionRule):
        return {"cost": decision}
    if not isinstance(decision, Mapping) or not all(
        isinstance(rule, DecisionRule) for rule in decision.values()
    ):
        raise InputError(
            f"decision must be a DecisionRule, or several by name; got {decision!r}. "
            "Pass bayescal.DecisionRule(actions, intervals)."
        )
    return {f"cost_{name}": rule for name, rule in decision.items()}
