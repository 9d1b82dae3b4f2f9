"""Who is best: against closed forms, loops over draws, and where there is nothing to rank."""

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import rankdata

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.results.compare import rank_shares
from tests.synthetic import make_result
from tests.synthetic_credal import make_credal_result
from tests.synthetic_ssme import METRICS, make_panel_result


def with_draws(var: str, values: np.ndarray) -> xr.DataTree:
    """A result whose draws of one metric are given, (draw, classifier)."""
    names = tuple("abcdefgh"[: values.shape[1]])
    tree = make_panel_result(names, draws=len(values), chains=1)
    tree["posterior"][var] = tree["posterior"][var].copy(data=values[None])
    return tree


@pytest.mark.parametrize("var", METRICS)
def test_the_first_of_the_made_up_classifiers_is_best_by_every_metric(var: str) -> None:
    found = bc.best(make_panel_result(), var)
    assert float(found.prob_best.sel(classifier="a")) > 0.5
    assert f"a is best with probability {float(found.prob_best[0]):.2f}" in found.text


@given(
    hnp.arrays(
        np.float64, st.tuples(st.integers(1, 6), st.integers(2, 5)), elements=st.integers(0, 3)
    )
)
@settings(deadline=None, max_examples=60)
def test_rank_probabilities_against_scipy_with_ties_shared(values: np.ndarray) -> None:
    shares = rank_shares(values)
    n = values.shape[1]
    expected = np.zeros((n, n))
    for row in values:
        lowest, highest = rankdata(row, "min").astype(int), rankdata(row, "max").astype(int)
        for k in range(n):
            expected[k, lowest[k] - 1 : highest[k]] += 1 / (highest[k] - lowest[k] + 1)
    assert shares == pytest.approx(expected / len(values), abs=1e-12)
    assert shares.sum(axis=0) == pytest.approx(np.ones(n))
    assert shares.sum(axis=1) == pytest.approx(np.ones(n))


def test_a_tie_has_no_best() -> None:
    equal = np.tile([0.8, 0.8, 0.7], (20, 1))
    said = bc.best(with_draws("accuracy", equal)).text
    assert said == "By accuracy, a and b tie: each is best with probability 0.50."
    many = bc.best(with_draws("accuracy", np.full((20, 6), 0.8))).text
    assert many == "By accuracy, 6 classifiers tie: each is best with probability 0.17."


def test_two_classifiers_agree_with_their_difference() -> None:
    tree = make_panel_result(("a", "b"))
    pair = bc.difference(tree, "a", "b", "auc")
    assert float(bc.best(tree, "auc").prob_best[0]) == pytest.approx(pair.prob_first_larger)


def test_undefined_draws_are_left_out() -> None:
    values = np.array([[0.9, 0.8], [0.7, 0.8], [np.nan, np.nan], [0.6, 0.5]])
    tree = with_draws("auc", values)
    assert bc.best(tree, "auc").prob_best.values == pytest.approx([2 / 3, 1 / 3])
    low, high = bc.interval(tree, "auc").sel(classifier="a").values
    assert (low, high) == pytest.approx(tuple(np.quantile([0.9, 0.7, 0.6], (0.05, 0.95))))
    nothing = bc.best(with_draws("auc", np.full((4, 2), np.nan)), "auc")
    assert bool(nothing.prob_best.isnull().all())
    assert "undefined in every draw" in nothing.text


def test_groups_are_ranked_one_by_one() -> None:
    found = bc.best(make_panel_result(groups=("north", "south")))
    assert found.prob_best.dims == ("group", "classifier")
    assert found.prob_rank.sum("rank").values == pytest.approx(np.ones((2, 3)))
    assert "By accuracy in group north, a is best" in found.text
    assert "By accuracy in group south, a is best" in found.text


def test_a_group_that_was_asked_for_is_named() -> None:
    tree = make_panel_result(("a", "b", "c"), ("x", "y"))
    assert bc.best(tree, group="y").text in bc.best(tree).text
    assert bc.best(tree, group="y").text.startswith("By accuracy in group y, ")


def test_a_group_may_be_named_after_it_was_selected() -> None:
    tree = make_panel_result(groups=("north", "south"))
    found = bc.best(tree.sel(group="south"), group="south")
    xr.testing.assert_equal(
        found.prob_rank, bc.best(tree, group="south").prob_rank.drop_vars("group")
    )


def test_a_lead_that_is_not_clear_is_called_so() -> None:
    rng = np.random.default_rng(3)
    found = bc.best(with_draws("accuracy", rng.random((3000, 4))))
    assert "no classifier is clearly best" in found.text


@pytest.mark.parametrize(("wins", "said"), [(502, "a leads with"), (515, "a is best with")])
def test_two_chances_that_read_alike_are_no_lead(wins: int, said: str) -> None:
    first = np.where(np.arange(1000) < wins, 0.9, 0.1)
    found = bc.best(with_draws("accuracy", np.column_stack([first, 1 - first])))
    assert said in found.text


def test_a_sure_lead_is_not_rounded_to_certainty() -> None:
    values = np.tile([0.9, 0.1], (20, 1))
    text = bc.best(with_draws("accuracy", values)).text
    assert text == "By accuracy, a is best with probability above 0.999; b has below 0.001."


def test_a_failed_fit_is_said_first() -> None:
    assert bc.best(make_panel_result(converged=False)).text.startswith("Unreliable")
    # That of the first classifier in the first class.
    one = make_result(("a", "b"), ("x", "y"), converged=False)
    said = [bc.best(one, class_=name).text.startswith("Unreliable") for name in ("x", "y")]
    assert said == [True, False]


def test_what_cannot_be_ranked() -> None:
    with pytest.raises(InputError, match="Choose from accuracy, ece"):
        bc.best(make_panel_result(), "tce")
    with pytest.raises(InputError, match="needs two classifiers"):
        bc.best(make_panel_result(("a",)))
    with pytest.raises(InputError, match=r"bayescal\.summary"):
        bc.best(make_credal_result(("a", "b")))


def test_classifiers_are_renamed_in_both_dims() -> None:
    tree = make_result(("vit", "gbm"))

    def renamed(*dims: str) -> xr.DataTree:
        return tree.map_over_datasets(
            lambda part: part.assign_coords({dim: ["a", "b"] for dim in dims if dim in part.dims})
        )

    with pytest.raises(InputError, match="classifier_other must name the classifiers of the"):
        bc.best(renamed("classifier"))
    with pytest.raises(InputError, match="it has none 'gbm'"):
        bc.best(tree.isel(classifier_other=0))
    found = bc.best(renamed("classifier", "classifier_other")).prob_best
    np.testing.assert_array_equal(found, bc.best(tree).prob_best)
    assert [*found.classifier.values] == ["a", "b"]
