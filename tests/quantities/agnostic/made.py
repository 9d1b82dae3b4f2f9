"""Rules and rows that the tests of the quantity share."""

from bayescal.core.scores import Scores
from bayescal.quantities.agnostic.decisions import DecisionRule
from bayescal.quantities.agnostic.simulator import truth

COSTS = {"keep": (5, 0), "review": (1, 1.5), "remove": (0, 3)}
RULE = DecisionRule(COSTS, {"keep": (0, 0.25), "review": (0.25, 0.6), "remove": (0.6, 1)})


def rows(name="over", n=200, n_unlabeled=100, seed=20) -> Scores:
    """Rows of a simulated truth."""
    return truth(name).scores(n, seed=seed, n_unlabeled=n_unlabeled)
