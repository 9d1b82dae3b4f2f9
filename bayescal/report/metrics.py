"""Metrics of classifiers in one posterior in the report: values, ranks, reference estimates."""

from __future__ import annotations

import math

from markupsafe import Markup

from bayescal.report.quantity_sections import assumptions, by_class, curves_and_costs, models
from bayescal.report.render import Column, named, names, off, plain, several_named, table_of
from bayescal.report.sections import Alert
from bayescal.report.sensitivity import refits
from bayescal.report.view import Answer, Check, Scaling, Section, View, for_each
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.compare import LIKELY, Best, Difference, difference, leaders
from bayescal.results.kind import kind_of
from bayescal.results.text import (
    MISSING,
    capital,
    decimals,
    ends,
    fixed,
    in_words,
    percent,
    probability,
)

__all__ = ["refits"]

SECTIONS: tuple[Section, ...] = (
    Section("models", "Models", "Models", for_each(models)),
    Section("assumptions", "Few labels: what is assumed", "Assumptions", for_each(assumptions)),
    Section("classes", "Classes", "Classes", for_each(by_class)),
    Section("costs", "Score intervals, costs and ROC curve", "Costs", for_each(curves_and_costs)),
)
CHECKS: tuple[Check, ...] = ()
BOUNDS_OF = "the metrics on the labelled rows alone"
PRIOR_NAMES = {
    "weight": "weights of the classifiers",
    "own_bend": "bends of the single classifiers",
}
MOST_SHOWN = 3
"""Metrics that are said of a single classifier, and scaled."""
MOST_GROUPS = 6

_LABELING = {
    "random": "The labelled rows are assumed to be a random sample of all rows.",
    "one-per-class": "The labelled rows are assumed to be a random sample of all rows, except for "
    "one row of each class that was chosen on purpose.",
}
_METHODS = {"ensemble": "Ensemble", "labeled": "Labelled rows"}
_METHOD_WORDS = {
    "ensemble": "the metric if the mean score of all classifiers were the probability of the label",
    "labeled": "the metric on the rows with labels alone",
}
_METRIC_TERMS = {
    "accuracy": "Share of rows whose most probable class is the true one.",
    "auc": "Probability that a positive row has a higher score than a negative one.",
    "auprc": "Mean precision over the positive rows.",
    "ece": "Mean absolute difference of score and label rate over bins of the score.",
    "mce": "The largest such difference of any bin.",
    "max_ece": "The largest ECE of the rows of one predicted class.",
    "avg_ece": "The mean over the predicted classes of their rows' ECE.",
    "log_loss": "Mean of minus the logarithm of the score of the true label.",
    "brier": "Mean squared difference of score and label.",
    "c": "The largest difference of scores and positives summed over an interval of scores, as a "
    "share of all rows.",
    "ks": "The same over the intervals from 0 up to a score.",
    "cost": "Expected cost of a row under the decision rule.",
    "unlabeled_auc": "AUC of the unlabelled rows.",
    "unlabeled_cost": "Mean cost of the unlabelled rows under the decision rule.",
}


def answer(view: View) -> Answer:
    """Which classifier is best by the main metric, or the values of the only one."""
    groups = _groups(view)
    rankings = _rankings(view)
    lead: list[str] = [f"Data: {kind_of(view.tree).description(view.tree)}."]
    for group in groups:
        main = next(iter(rankings.values()), None)
        lead += [_alone(view, group)] if main is None else _of_group(view, main, group)
    notes = []
    left = max(len(access.group_names(view.tree)) - MOST_GROUPS, 0) if groups != [None] else 0
    if left:
        notes.append(f"The first groups; the other {left} are in the table below.")
    notes.append(" ".join(filter(None, [_LABELING.get(view.text("labeling"), ""), _model(view)])))
    return Answer(lead, _best_table(view, rankings, groups), [note for note in notes if note])


def _model(view: View) -> str:
    """What the comparison of classifiers rests on."""
    if view.text("pairing") == "independent":
        return "Classifiers are fitted apart: their differences are those of independent estimates."
    if view.text("pairing") == "shared rows":
        return (
            "Classifiers are fitted one by one, and their differences are paired by the rows that "
            "they share."
        )
    labeled, n = view.tree.attrs.get("n_labeled"), view.tree.attrs.get("n_obs")
    said = []
    if labeled is not None and n is not None and int(labeled) < int(n):
        said.append(
            "Rows without a label count through a model of the label given all classifiers' "
            "scores, with the priors below: the result depends on that model."
        )
    if len(access.classifier_names(view.tree)) > 1:
        said.append(
            "All classifiers are evaluated on the same rows in every draw, so that noise they "
            "share cancels in comparisons."
        )
    return " ".join(said)


def _groups(view: View) -> list[str | None]:
    found = access.group_names(view.tree) if schema.GROUP in view.dims_of_cases else []
    return [*found[:MOST_GROUPS]] or [None]


def _rankings(view: View) -> dict[str, Best]:
    """Probabilities of being best by every metric that has a direction."""
    kind = kind_of(view.tree)
    if len(access.classifier_names(view.tree)) < 2:
        return {}
    directed = [v for v in kind.variables(view.tree) if kind.higher_is_better(v) is not None]
    return {var: kind.best(view.tree, var, None, None) for var in directed}


def _alone(view: View, group: str | None) -> Markup:
    """The values of each classifier that is not ranked, by the first metrics."""
    kind = kind_of(view.tree)
    shown = kind.variables(view.tree)[:MOST_SHOWN]
    said = []
    for case in (one for one in view.cases if group in (None, one.group)):
        values = ((kind.title(var), _value(view, var, case)) for var in shown)
        listed = Markup(", ").join(Markup("{} <b>{}</b>").format(*pair) for pair in values)
        said.append(Markup("{}{}: {}.").format(named(case.classifier), _inside(group), listed))
    return Markup(" ").join(said)


def _of_group(view: View, ranking: Best, group: str | None) -> list[Markup]:
    """Which classifier is best, its value, and by how much it differs from the second."""
    shares = _shares(ranking, group)
    if shares is None:
        return []
    title = kind_of(view.tree).title(ranking.var)
    (first, chance), (second, _) = shares[:2]
    tied = leaders(dict(shares))
    text = "By {}{}, {} is best with probability {}."
    if len(tied) > 1:
        text = "By {}{}, {} tie: each is best with probability {}."
    elif chance < LIKELY:
        text = "By {}{}, no classifier is clearly best; {} leads with probability {}."
    case = access.find_case(view.tree, first, group=group)
    return [
        Markup(text).format(
            title, _inside(group), several_named(tied), in_words(probability(chance))
        ),
        Markup("The {} of {} is <b>{}</b> (mean, {} credible interval).").format(
            title, named(first), _value(view, ranking.var, case), percent(view.prob)
        ),
        _gap(difference(view.tree, first, second, ranking.var, view.prob, group=group)),
    ]


def _gap(gap: Difference) -> Markup:
    digits = decimals(gap.lower, gap.upper)
    words = "It differs from that of {} by {} ({} interval {})."
    if gap.lower <= 0 <= gap.upper:
        words = "The difference from that of {} is not resolved: {} ({} interval {})."
    mean = fixed(gap.mean, digits)
    mean = f"+{mean}" if gap.mean > 0 else mean
    return Markup(words).format(
        named(gap.second), mean, percent(gap.prob), ends(gap.lower, gap.upper, digits)
    )


def _inside(group: str | None) -> Markup:
    return Markup("") if group is None else Markup(" in group {}").format(named(group))


def _shares(ranking: Best, group: str | None) -> list[tuple[str, float]] | None:
    """Classifiers with their probability of being best, in order; None if it is undefined."""
    held = ranking.prob_best if group is None else ranking.prob_best.sel({schema.GROUP: group})
    found = {str(name): float(held.sel(classifier=name)) for name in held[schema.CLASSIFIER].values}
    if any(math.isnan(chance) for chance in found.values()):
        return None
    return sorted(found.items(), key=lambda item: -item[1])


def _best_table(view: View, rankings: dict[str, Best], groups: list[str | None]) -> Markup:
    """The two most probably best by each metric."""
    kind = kind_of(view.tree)
    rows = []
    for var, ranking in rankings.items():
        for group in groups:
            if (shares := _shares(ranking, group)) is None:
                continue
            (first, chance), (second, other) = shares[:2]
            case = access.find_case(view.tree, first, group=group)
            direction = "highest" if kind.higher_is_better(var) else "lowest"
            title = kind.title(var)
            rows.append(
                (
                    f"{capital(title)} ({direction})",
                    *([] if group is None else [plain(group)]),
                    plain(first),
                    probability(chance),
                    _value(view, var, case),
                    plain(second),
                    probability(other),
                )
            )
    heads = ["Metric", *([] if groups == [None] else ["Group"]), "Best", "P(best)"]
    heads += [f"Mean and {percent(view.prob)} interval", "Second", "P(best)"]
    words = {"Metric", "Group", "Best", "Second"}
    return table_of("Best classifiers", heads, rows, words) if rows else Markup("")


def _value(view: View, var: str, case: ResultSlice) -> str:
    """Posterior mean and interval."""
    bounds = view.interval(var, case)
    if bounds is None or math.isnan(bounds[0]):
        return MISSING
    digits = decimals(*bounds)
    return f"{fixed(access.averaged_mean(view.tree, var, case), digits)} ({ends(*bounds, digits)})"


def summary_columns(view: View) -> list[Column]:
    """Every metric of every classifier, beside the point estimate and reference estimates."""
    kind = kind_of(view.tree)
    frame = kind.summary(view.tree, view.prob)
    rows = frame.to_dict("records")
    columns = [
        Column(view.case_word, names([str(label) for label in frame.index]), words=True),
        Column("Metric", [kind.title(row["metric"]) for row in rows], words=True),
        Column("Mean", [fixed(row["mean"]) for row in rows]),
        Column("Median", [fixed(row["median"]) for row in rows]),
        Column(
            f"{percent(view.prob)} interval", [ends(row["lower"], row["upper"]) for row in rows]
        ),
    ]
    label = kind.point_label(view.tree)
    others = {"point": capital(label)}
    others |= {name: _METHODS.get(name, name) for name in _methods(view)}
    for name, title in others.items():
        values = [row.get(name) for row in rows]
        if any(value is not None and value == value for value in values):
            columns.append(Column(title, [fixed(value) for value in values]))
    if set(frame["status"]) != {schema.OK}:
        cells = [MISSING if row["status"] == schema.OK else off(row["status"]) for row in rows]
        columns.append(Column("Fit", cells))
    return columns


def _methods(view: View) -> list[str]:
    """Methods of the reference estimates."""
    if schema.REFERENCE_ESTIMATES not in view.tree.children:
        return []
    return [str(name) for name in view.tree[schema.REFERENCE_ESTIMATES].dataset["method"].values]


def alerts(view: View) -> list[Alert]:
    """The status says all."""
    return []


def terms(view: View) -> list[tuple[str, str]]:
    """The metrics of the result, its other estimates, and its intervals."""
    kind = kind_of(view.tree)
    better = {True: " Higher is better.", False: " Lower is better.", None: ""}
    found = [
        (capital(kind.title(var)), _METRIC_TERMS[var] + better[kind.higher_is_better(var)])
        for var in kind.variables(view.tree)
        if var in _METRIC_TERMS
    ]
    label = kind.point_label(view.tree)
    if view.tree[schema.POINT_ESTIMATE].data_vars:
        text = "The estimate without a posterior, to be read beside it."
        found.append((capital(label), text))
    found += [
        (_METHODS[name], f"A reference estimate: {_METHOD_WORDS[name]}.")
        for name in _methods(view)
        if name in _METHOD_WORDS
    ]
    if len(access.classifier_names(view.tree)) > 1:
        text = (
            "Posterior probability that no other classifier has a better value of the metric, all "
            "on the same rows."
        )
        found.append(("P(best)", text))
    text = (
        "Given the data and the priors, the value lies in it with a probability of {prob}, and on "
        "either side of it with equal probability."
    )
    return [*found, ("{prob} credible interval of a metric", text)]


def scaling(view: View) -> Scaling:
    """The first metrics."""
    return Scaling(kind_of(view.tree).variables(view.tree)[:MOST_SHOWN])


def variable_name(view: View, name: str) -> str:
    """Name of a metric."""
    return capital(kind_of(view.tree).title(name))
