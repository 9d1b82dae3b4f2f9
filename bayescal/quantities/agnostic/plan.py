"""The models to fit for given data, and what a result says of the data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from bayescal.core.checks import check_choice, check_data, check_is
from bayescal.core.columns import Label
from bayescal.core.count_frames import ALONE
from bayescal.core.count_table import CountTable
from bayescal.core.counts import Counts
from bayescal.core.errors import InputError
from bayescal.core.plausibility import class_signs
from bayescal.core.quantity import Plan
from bayescal.core.scores import Scores
from bayescal.core.variables import Variable
from bayescal.curves.average import weighing
from bayescal.curves.shared_rows import shared_rows
from bayescal.quantities.agnostic import VARIABLES
from bayescal.quantities.agnostic.correlation import SharedRows, correlations, rows_of
from bayescal.quantities.agnostic.data import (
    checked,
    checked_unlabeled,
    named_rules,
    problem_of,
    problems,
    rule_edges,
)
from bayescal.quantities.agnostic.decisions import DecisionRule
from bayescal.quantities.agnostic.posterior import AgnosticCase
from bayescal.quantities.agnostic.priors import Priors

_MULTICLASS = ("top-label", "class-wise")


_COSTS: Final = ("cost", "unlabeled_cost")


def plan(
    data: Scores | Counts | Mapping[str, Counts],
    priors: Priors,
    *,
    unlabeled: Any = None,
    decision: DecisionRule | Mapping[str, DecisionRule] | None = None,
    multiclass: str = "top-label",
) -> Plan:
    """Plan the fits of calibration curves.

    Parameters
    ----------
    data : Scores, Counts, CountTable or mapping of str to Counts
        Scores with labels, where rows without count as unlabelled ones; or counts by classifier.
    priors : Priors
        Priors.
    unlabeled : Scores or array-like of shape (obs,), optional
        More scores of the same population, whose labels are not used; not with counts.
    decision : DecisionRule or mapping of str to DecisionRule, optional
        A rule whose cost is estimated as ``cost``, or several by name, as ``cost_<name>``.
    multiclass : {"top-label", "class-wise"}, default "top-label"
        How several classes become binary problems; see `bayescal.agnostic.estimate`.

    Returns
    -------
    Plan
        A case a classifier (and class), and how their metrics correlate over shared rows, which
        counts without `pairs` do not say.

    Raises
    ------
    InputError
        If the data are of another class, hold no labelled row, weights or groups, or unlabelled
        rows or rules are not such.
    """
    kinds = (Scores, Counts, Mapping)
    check_data(data, kinds, "agnostic", "Scores(y_true=..., y_prob=...)", Counts)
    data = {ALONE: data} if isinstance(data, Counts) else data
    check_is(priors, Priors, "priors", "Pass bayescal.agnostic.Priors().")
    check_choice(multiclass, _MULTICLASS, "multiclass")
    rules = named_rules(decision)
    if isinstance(data, Mapping):
        return _of_counts(data, priors, rules, unlabeled)
    more = checked_unlabeled(unlabeled, data)
    found = problems(checked(data), more, multiclass, list(rules.values()))
    n_obs = data.n_obs + (0 if more is None else more.n_obs)
    shape = "binary" if data.is_binary else multiclass
    attrs = _attributes(n_obs, data.n_labeled, data.classes, shape, rules)
    attrs |= weighing(priors.label_rate)
    cases = [
        AgnosticCase.of(
            problem, priors, rules, class_signs(data, problem.labeled.coords["classifier"])
        )
        for problem in found
    ]
    if data.n_classifiers == 1:
        return Plan(cases, attrs, None, _variables(rules))
    rows = [rows_of(case) for case in cases]
    return _paired(Plan(cases, attrs, None, _variables(rules)), cases, rows)


def _paired(plan: Plan, cases: Sequence[AgnosticCase], rows: Sequence[SharedRows]) -> Plan:
    """Let classifiers be compared over rows that they share."""
    shared = shared_rows([one.task for one in rows], [case.problem.labeled.cells for case in cases])
    return plan._replace(
        attrs={**plan.attrs, "pairing": "shared rows"},
        correlate=partial(correlations, cases, rows),
        shared_rows=shared,
    )


def _of_counts(
    data: Mapping[str, Counts], priors: Priors, rules: Mapping[str, DecisionRule], unlabeled: Any
) -> Plan:
    """Plan the fits of counted rows."""
    if unlabeled is not None:
        raise InputError(
            "unlabeled cannot be added to counts. Count rows without a label with the others: "
            "their label is missing."
        )
    if groups := getattr(data, "groups", ()):
        raise InputError(
            f"agnostic has no groups; got {len(groups)}. Pass the counts of one group, of "
            "counts.by_group(), or those of all: dict(counts)."
        )
    for counts in data.values():
        if counts.weighted:
            raise InputError(
                "agnostic cannot use sample weights; got counts of weighted rows. Count the rows "
                "without weights."
            )
    edges = rule_edges(list(rules.values()))
    cases = [
        AgnosticCase.of(problem_of(name, counts, edges), priors, rules)
        for name, counts in data.items()
    ]
    first = next(iter(data.values()))
    attrs = _attributes(first.n_obs, first.n_labeled, first.classes, "binary", rules)
    attrs |= weighing(priors.label_rate)
    plan = Plan(cases, attrs, None, _variables(rules))
    tasks = data.shared_tasks() if isinstance(data, CountTable) else ()
    rows = [SharedRows(task, np.zeros(0)) for task in tasks]
    return _paired(plan, cases, rows) if rows else plan


def _variables(rules: Mapping[str, DecisionRule]) -> tuple[Variable, ...]:
    """The quantity's variables, with a cost for each rule, by its name where there are several."""
    return tuple(
        new for one in VARIABLES for new in (_costs(one, rules) if one.name in _COSTS else (one,))
    )


def _costs(one: Variable, rules: Mapping[str, DecisionRule]) -> list[Variable]:
    found = []
    for rule in rules:
        name, of = one.name.replace("cost", rule), rule.removeprefix("cost").removeprefix("_")
        title = one.title.replace("cost", f"cost {of}") if of else one.title
        found.append(one._replace(name=name, title=title, point=name))
    return found


def _attributes(
    n_obs: int,
    n_labeled: int,
    classes: Sequence[Label],
    multiclass: str,
    rules: Mapping[str, DecisionRule],
) -> dict[str, Any]:
    """What a result says of the data."""
    return {
        "n_obs": n_obs,
        "n_labeled": n_labeled,
        "classes": [str(label) for label in classes],
        "multiclass": multiclass,
        "point_label": "estimate from rows",
        "sections": ["costs"],
        "decision": json.dumps({name: rule.describe() for name, rule in rules.items()}),
    }
