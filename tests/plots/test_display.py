"""Reliability displays by the conventions that scikit-learn's own tests have for theirs."""

import inspect

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.calibration import CalibrationDisplay, calibration_curve
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bayescal as bc
from tests.plots.looks import assert_readable

ROWS, CODES = load_iris(return_X_y=True)
X, Y = ROWS[CODES > 0][:, :2], CODES[CODES > 0] - 1
MODEL = LogisticRegression().fit(X, Y)
P = MODEL.predict_proba(X)[:, 1]
Display = bc.ReliabilityDisplay


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


@pytest.mark.parametrize("n_bins", [5, 10])
def test_attributes_are_those_of_scikit_learns(n_bins):
    display = Display.from_estimator(MODEL, X, Y, n_bins=n_bins, strategy="uniform", seed=1)
    prob_true, prob_pred = calibration_curve(Y, P, n_bins=n_bins, strategy="uniform")
    np.testing.assert_allclose(display.prob_true, prob_true)
    np.testing.assert_allclose(display.prob_pred, prob_pred)
    np.testing.assert_allclose(display.y_prob, P, atol=1e-12)
    assert display.estimator_name == "LogisticRegression"
    assert isinstance(display.line_, mpl.lines.Line2D)
    assert isinstance(display.ax_, mpl.axes.Axes)
    assert display.figure_ is display.ax_.figure is plt.gcf()
    assert display.ax_.get_xlabel() == "Mean predicted probability (Positive class: 1)"
    assert display.ax_.get_ylabel() == "Fraction of positives (Positive class: 1)"


def test_the_legend_has_band_and_error_of_the_result():
    display = Display.from_predictions(Y, P, seed=1, prob=0.8)
    mean = float(display.result["posterior"]["tce"].mean())
    said = legend(display)
    assert said[0] == "Perfectly calibrated"
    assert said[1].startswith(f"Classifier\nTCE {mean:.3f}, 80% interval ")
    assert said[2:] == ["80% band of the curve", "bins"]
    assert legend(display.plot(prob=0.5))[2:] == ["50% band of the curve", "bins"]


@pytest.mark.parametrize("make", [Display.from_estimator, Display.from_predictions])
def test_names_and_several_plots(make):
    given = (MODEL, X, Y) if make == Display.from_estimator else (Y, P)
    display = make(*given, name="$mine", seed=1)
    assert display.estimator_name == "$mine"
    first = display.ax_
    assert display.plot() is display
    assert display.ax_ is not first
    assert legend(display)[1].startswith("$mine\n")
    assert legend(display.plot(name="other"))[1].startswith("other\n")
    assert display.estimator_name == "$mine"


def test_a_name_may_begin_with_an_underscore():
    assert any(
        "_x\nTCE" in text for text in legend(Display.from_predictions(Y, P, name="_x", seed=1))
    )


def test_a_long_name_leaves_the_legend_within_the_figure():
    display = Display.from_predictions(Y, P, name="pipeline_" * 40, seed=1)
    assert_readable(display.figure_)
    assert display.estimator_name == "pipeline_" * 40


def test_two_displays_on_one_axes():
    one = Display.from_estimator(MODEL, X, Y, seed=1)
    pipeline = make_pipeline(StandardScaler(), GaussianNB()).fit(X, Y)
    two = Display.from_estimator(pipeline, X, Y, seed=1, ax=one.ax_)
    assert two.ax_ is one.ax_
    assert legend(two).count("Perfectly calibrated") == 1
    assert one.line_.get_color() != two.line_.get_color()
    assert "Perfectly calibrated" not in legend(one.plot(ref_line=False))


@pytest.mark.parametrize(
    "look",
    [{"c": "red", "lw": 2, "ls": "-."}, {"color": "red", "linewidth": 2, "linestyle": "-."}],
)
def test_options_of_the_line(look):
    line = Display.from_estimator(MODEL, X, Y, seed=1, **look).line_
    assert (line.get_color(), line.get_linewidth(), line.get_linestyle()) == ("red", 2, "-.")


@pytest.mark.parametrize(("pos_label", "shown"), [(None, "yes"), ("no", "no")])
def test_the_positive_label(pos_label, shown):
    words = np.array(["no", "yes"])[Y]
    model = LogisticRegression().fit(X, words)
    display = Display.from_estimator(model, X, words, pos_label=pos_label, seed=1)
    expected = P if shown == "yes" else 1 - P
    np.testing.assert_allclose(display.y_prob, expected, atol=1e-12)
    assert display.ax_.get_xlabel().endswith(f"(Positive class: {shown})")
    with pytest.raises(bc.InputError, match="pos_label must be one of the labels"):
        Display.from_predictions(words, P)


def test_the_same_seed_and_the_users_style():
    with plt.style.context("dark_background"):
        one, other = (Display.from_predictions(Y, P, seed=3) for _ in range(2))
        assert one.figure_.get_facecolor() == (0, 0, 0, 1)
    np.testing.assert_array_equal(one.line_.get_ydata(), other.line_.get_ydata())


def test_scores_of_0_and_1_have_intervals_and_no_curve():
    display = Display.from_predictions([0, 1, 1, 0] * 5, [0.0, 1.0, 0.0, 0.0] * 5, seed=1)
    np.testing.assert_allclose(display.line_.get_xdata(), [0, 1])
    np.testing.assert_allclose(display.prob_true, [1 / 3, 1])
    assert legend(display)[2:] == ["rate of one score, 90% interval"]


def test_the_interval_of_a_rate_does_not_shrink_to_a_score_that_may_be_calibrated():
    display = Display.from_predictions([0] * 30 + [1] * 10, [0.3] * 40, seed=1)
    (drawn,) = display.ax_.collections[-1].get_segments()
    rate = display.result["given_miscalibration"]["label_rate"].isel(bin=0)
    np.testing.assert_allclose(drawn[:, 1], rate.quantile([0.05, 0.95]))


@pytest.mark.parametrize("name", ["from_estimator", "from_predictions", "plot"])
def test_it_is_called_as_scikit_learns_own(name):
    theirs, ours = (
        inspect.signature(getattr(one, name)).parameters for one in (CalibrationDisplay, Display)
    )
    options = inspect.signature(Display.from_predictions).parameters
    assert set(theirs) <= {*ours, *options}
    assert all(ours[key].kind == theirs[key].kind for key in set(theirs) & set(ours))


@pytest.mark.parametrize(
    "model", [LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())]
)
def test_an_unfitted_estimator_is_refused_as_by_scikit_learn(model):
    for display in (CalibrationDisplay, Display):
        with pytest.raises(NotFittedError):
            display.from_estimator(model, X, Y)


WRONG = {
    "must be a fitted classifier": lambda: Display.from_estimator(LogisticRegression(), X, Y),
    "must be a fitted classifier; this Lin": lambda: Display.from_estimator(
        LinearRegression().fit(X, Y), X, Y
    ),
    "a display draws two classes; got 3": lambda: Display.from_estimator(
        GaussianNB().fit(ROWS, CODES), ROWS, CODES
    ),
    "a display draws one case; the result has 2": lambda: Display(
        bc.fit("ece", bc.Scores.stack({"a": P, "b": P}, y_true=Y), method="direct", seed=1)
    ),
    "ax must be Axes": lambda: Display.from_predictions(Y, P, ax=3),
    "ref_line must be": lambda: Display.from_predictions(Y, P, ref_line="no"),
    "prob must": lambda: Display.from_predictions(Y, P, prob=2),
    "strategy must": lambda: Display.from_predictions(Y, P, strategy="equal"),
    "y_prob must lie in": lambda: Display.from_predictions(Y, P + 1),
}


@pytest.mark.parametrize("message", WRONG)
def test_what_cannot_be_displayed(message):
    with pytest.raises(bc.InputError, match=message):
        WRONG[message]()
    assert plt.get_fignums() == []
