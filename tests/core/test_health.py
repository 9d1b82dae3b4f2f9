"""What a fit must reach, mark by mark."""

import math

import pytest

from bayescal.results.schema import MAX_RHAT, MIN_EBFMI, MIN_ESS, problems, remedy

GOOD = {"rhat_max": MAX_RHAT, "ess_min": MIN_ESS, "divergences": 0, "ebfmi_min": MIN_EBFMI}


def test_the_marks_are_the_usual_ones():
    # Vehtari et al. 2021 (R-hat, and 100 effective draws for each of four chains); Betancourt 2016.
    assert (MAX_RHAT, MIN_ESS, MIN_EBFMI) == (1.01, 400, 0.3)


def test_a_fit_on_the_marks_has_converged():
    assert problems(GOOD) == []


@pytest.mark.parametrize(
    ("figure", "value", "sentence"),
    [
        ("rhat_max", 1.0101, "R-hat is 1.010, which exceeds 1.01"),
        ("rhat_max", math.inf, "R-hat is inf, which exceeds 1.01"),
        ("ess_min", 399.4, "the effective sample size is 399, below 400"),
        ("ess_min", math.nan, "the effective sample size is nan, below 400"),
        ("divergences", 3, "3 transitions diverged"),
        ("ebfmi_min", 0.29, "E-BFMI is 0.29, below 0.3"),
    ],
)
def test_each_figure_that_misses_its_mark_is_named(figure, value, sentence):
    assert problems({**GOOD, figure: value}) == [sentence]


def test_all_that_is_wrong_is_named_at_once():
    bad = {"rhat_max": 2.0, "ess_min": 5.0, "divergences": 1, "ebfmi_min": 0.1}
    assert len(problems(bad)) == 4


def test_draws_without_chains_have_no_r_hat_to_miss():
    assert problems({**GOOD, "rhat_max": math.nan, "ebfmi_min": math.nan}) == []


@pytest.mark.parametrize(("rhat", "word"), [(1.02, "target_accept"), (math.nan, "method='nuts'")])
def test_the_remedy_is_one_of_the_method(rhat, word):
    assert word in remedy({**GOOD, "rhat_max": rhat})
