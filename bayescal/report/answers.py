"""The numbers of the answer, case by case, and which classifier is best."""

from __future__ import annotations

from bayescal.report.sentences import Answer
from bayescal.report.view import View
from bayescal.results import schema
from bayescal.results.ranking import prob_best
from bayescal.results.summary import averaged_mean, case_converged

_PLURALS = {schema.CLASSIFIER: "classifiers", schema.CLASS: "classes", schema.GROUP: "groups"}


def answer_of(view: View, case: schema.Case) -> Answer | None:
    """Read the answer for one case."""
    ends = view.interval(view.target, case) if view.target else None
    if view.target is None or ends is None:
        return None
    return Answer(
        name=case.label,
        point=averaged_mean(view.tree, view.target, case),
        low=ends[0],
        high=ends[1],
        prob=view.prob,
        plug_in=view.number_of(schema.POINT_ESTIMATE, "ece", case),
        p_calibrated=view.number_of(schema.MODEL_AVERAGE, schema.P_CALIBRATED, case),
        digits=view.digits,
        kind=_kind(view),
        failed=not case_converged(view.tree, case),
    )


def _kind(view: View) -> str:
    """What a bare name is of: "3" alone would say too little of a class."""
    dims = view.dims_of_cases
    return f"{dims[0]} " if dims in ((schema.CLASS,), (schema.GROUP,)) else ""


def answers(view: View) -> list[Answer]:
    """Read the answers for all cases, from the smallest error to the largest."""
    found = [answer_of(view, case) for case in view.cases]
    return sorted((one for one in found if one is not None), key=lambda answer: answer.point)


def among(view: View) -> str:
    """Say what the cases of a result are."""
    sizes = {
        dim: view.tree[schema.POSTERIOR].sizes[dim]
        for dim in view.dims_of_cases
        if view.tree[schema.POSTERIOR].sizes[dim] > 1
    }
    words = [f"{size} {_PLURALS[dim]}" for dim, size in sizes.items()]
    if len(words) == 1:
        return f"Of {words[0]}"
    return f"Of {len(view.cases)} cases ({', '.join(words)})"


def best_two(view: View) -> tuple[str, float, str] | None:
    """Name the classifier most probably best, its probability, and the runner-up."""
    only_classifiers = view.dims_of_cases == (schema.CLASSIFIER,)
    paired = view.has(schema.ERROR_CORRELATION, "correlation")
    if view.target is None or not (only_classifiers and paired):
        return None
    chances = prob_best(view.tree, view.target)
    first, second = sorted(chances, key=lambda name: -chances[name])[:2]
    return first, chances[first], second
