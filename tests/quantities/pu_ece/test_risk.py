import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import approx_fprime
from sklearn.metrics import log_loss

from bayescal.core.errors import InputError
from bayescal.quantities.pu_ece.risk import (
    LOSSES,
    imbalanced_nnpu_risk,
    nnpu_risk,
    risk_parts,
    upu_risk,
)

values = arrays(np.float64, st.integers(1, 8), elements=st.floats(-5, 5))
priors = st.floats(0.05, 0.95)
losses = st.sampled_from(sorted(LOSSES))


def by_definition(positive, unlabeled, pi, loss):
    """The three risks of section 2.3, one row at a time."""
    value = {
        "logistic": lambda margin: np.log(1 + np.exp(-margin)),
        "sigmoid": lambda margin: 1 / (1 + np.exp(margin)),
    }[loss]
    as_positive = sum(value(f) for f in positive) / len(positive)
    as_negative = sum(value(-f) for f in positive) / len(positive)
    unlabeled_negative = sum(value(-f) for f in unlabeled) / len(unlabeled)
    return pi * as_positive, unlabeled_negative - pi * as_negative


@given(values, values, priors, losses)
def test_risks_are_those_of_the_definition(positive, unlabeled, pi, loss):
    of_positive, of_negative = by_definition(positive, unlabeled, pi, loss)
    found = upu_risk(positive, unlabeled, class_prior=pi, loss=loss)
    assert found == pytest.approx(of_positive + of_negative, abs=1e-12)
    found = nnpu_risk(positive, unlabeled, class_prior=pi, loss=loss)
    assert found == pytest.approx(of_positive + max(0, of_negative), abs=1e-12)
    found = nnpu_risk(positive, unlabeled, class_prior=pi, loss=loss, correction="abs")
    assert found == pytest.approx(of_positive + abs(of_negative), abs=1e-12)

    def leaky(x):
        return x if x > 0 else -0.3 * x

    found = nnpu_risk(positive, unlabeled, class_prior=pi, loss=loss, correction=leaky)
    assert found == pytest.approx(of_positive + leaky(of_negative), abs=1e-12)


@given(values, values, priors, priors, losses, st.sampled_from(["max", "abs"]))
def test_the_imbalanced_risk_is_that_of_the_definition(p, u, pi, target, loss, correction):
    of_positive, of_negative = by_definition(p, u, pi, loss)
    negatives = (1 - target) / (1 - pi) * of_negative
    kept = abs(negatives) if correction == "abs" else max(0, negatives)
    found = imbalanced_nnpu_risk(
        p, u, class_prior=pi, target_prior=target, loss=loss, correction=correction
    )
    assert found == pytest.approx(target * of_positive / pi + kept, abs=1e-11)
    same = imbalanced_nnpu_risk(
        p, u, class_prior=pi, target_prior=pi, loss=loss, correction=correction
    )
    assert same == pytest.approx(
        nnpu_risk(p, u, class_prior=pi, loss=loss, correction=correction), abs=1e-12
    )


def test_the_imbalanced_risk_is_that_of_rows_with_the_target_share():
    rng = np.random.default_rng(4)
    positive, negative = rng.normal(1, 1, 20), rng.normal(-1, 1, 180)
    unlabeled = np.concatenate([positive, negative])
    value = LOSSES["logistic"].value
    balanced = 0.5 * value(positive).mean() + 0.5 * value(-negative).mean()
    found = imbalanced_nnpu_risk(positive, unlabeled, class_prior=0.1)
    assert found == pytest.approx(balanced, abs=1e-12)


def test_a_correction_must_be_known_and_not_below_zero():
    with pytest.raises(InputError, match="correction must be one of 'max', 'abs'"):
        nnpu_risk([1.0], [1.0], class_prior=0.5, correction="relu")
    negative = [4.0, 5.0], [-4.0, -3.0]
    with pytest.raises(InputError, match=r"correction must return a number >= 0; got -2.2"):
        nnpu_risk(*negative, class_prior=0.5, correction=lambda x: x)
    with pytest.raises(InputError, match=r"target_prior must be a number in \(0, 1\); got 1"):
        imbalanced_nnpu_risk([1.0], [1.0], class_prior=0.5, target_prior=1)


def test_at_zero_both_risks_are_the_loss_of_a_coin():
    assert upu_risk([0.0], [0.0, 0.0], class_prior=0.3) == pytest.approx(np.log(2))
    assert nnpu_risk([0.0], [0.0], class_prior=0.3, loss="sigmoid") == pytest.approx(0.5)


@pytest.mark.slow
@given(values, values, priors, losses)
def test_slopes_are_those_of_finite_differences(positive, unlabeled, pi, loss):
    parts = risk_parts(positive, unlabeled, pi, loss)
    joined, cut = np.concatenate([positive, unlabeled]), len(positive)
    for name in ("positive", "negative"):
        numeric = approx_fprime(
            joined, lambda f, name=name: getattr(risk_parts(f[:cut], f[cut:], pi, loss), name), 1e-6
        )
        exact = np.concatenate(getattr(parts, f"{name}_slopes"))
        np.testing.assert_allclose(exact, numeric, atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_unbiased_risk_is_that_of_labelled_rows_on_average(loss):
    # Where the unlabelled sample is the positive one and the negatives, in the shares of pi, the
    # identity P_U = pi P_+ + (1 - pi) P_- holds exactly.
    rng = np.random.default_rng(1)
    positive, negative = rng.normal(1, 1, 30), rng.normal(-1, 1, 70)
    value = LOSSES[loss].value
    labelled = 0.3 * value(positive).mean() + 0.7 * value(-negative).mean()
    found = upu_risk(positive, np.concatenate([positive, negative]), class_prior=0.3, loss=loss)
    assert found == pytest.approx(labelled, abs=1e-12)


def test_the_logistic_risk_is_the_log_loss_of_scikit_learn():
    rng = np.random.default_rng(2)
    positive, negative = rng.normal(1, 1, 40), rng.normal(-1, 1, 60)
    unlabeled = np.concatenate([positive, negative])
    label = np.repeat([1, 0], [40, 60])
    expected = log_loss(label, 1 / (1 + np.exp(-unlabeled)))
    assert upu_risk(positive, unlabeled, class_prior=0.4) == pytest.approx(expected, abs=1e-12)


def test_huge_decision_values_overflow_nowhere():
    assert upu_risk([1e4], [-1e4], class_prior=0.5) == pytest.approx(-5e3)
    assert nnpu_risk([1e4], [-1e4], class_prior=0.5) == 0.0


@pytest.mark.parametrize(
    ("positive", "unlabeled", "options", "message"),
    [
        ([1.0], [1.0], {"class_prior": 0.0}, "class_prior must be a number in"),
        ([1.0], [1.0], {"class_prior": 0.5, "loss": "hinge"}, "loss must be one of 'logistic'"),
        ([], [1.0], {"class_prior": 0.5}, "positive must hold one decision value a row"),
        ([1.0], [[1.0]], {"class_prior": 0.5}, "unlabeled must hold one decision value a row"),
        ([1.0], [0.0, np.nan], {"class_prior": 0.5}, "got NaN at row 1"),
    ],
)
def test_what_is_no_decision_value_is_refused(positive, unlabeled, options, message):
    for risk in (upu_risk, nnpu_risk, imbalanced_nnpu_risk):
        with pytest.raises(InputError, match=message):
            risk(positive, unlabeled, **options)
