"""A reliability diagram as scikit-learn's displays draw one, with its band and its error."""

from __future__ import annotations

import re
from typing import Any, Self

import matplotlib.pyplot as plt
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.cbook import normalize_kwargs
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D

from bayescal.core.checks import check_flag, check_is
from bayescal.core.errors import InputError
from bayescal.core.quantity import ERROR
from bayescal.core.scores import Scores
from bayescal.core.text import percent, shorten
from bayescal.plots import style
from bayescal.plots.reliability import error_text, filled_bins, rate_intervals
from bayescal.results import access, schema
from bayescal.results.curves import curve_band, lies_on_curve

_REFERENCE = "Perfectly calibrated"


class ReliabilityDisplay:
    """Reliability diagram with a credible band, in place of scikit-learn's `CalibrationDisplay`.

    Make one by `from_estimator` or `from_predictions`.

    Parameters
    ----------
    result : xarray.DataTree
        A result of one case with a calibration error, such as of `bayescal.ece`.
    y_prob : array-like of shape (obs,), optional
        Scores of the rows, kept for figures of your own.
    estimator_name : str, optional
        Name in the legend.
    pos_label : bool, int or str, optional
        The label that the scores are the probability of, for the names of the axes.

    Attributes
    ----------
    result : xarray.DataTree
        The fit, as every function of bayescal reads it.
    prob_true, prob_pred : ndarray of shape (bin,)
        Label rate and mean score of each bin that has rows.
    y_prob, estimator_name, pos_label
        As given.
    line_ : matplotlib.lines.Line2D
        Posterior mean of the curve; of scores that are all 0 or 1 the bins.
    ax_ : matplotlib.axes.Axes
        Axes with the curve.
    figure_ : matplotlib.figure.Figure
        Its figure.

    Raises
    ------
    InputError
        If the result is of another kind, or has several cases.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.ece.truth("over").scores(1000, seed=1)
    >>> display = bc.ReliabilityDisplay(bc.fit(bc.ece, scores, method="direct", seed=20))
    >>> display.prob_pred.shape
    (15,)
    """

    line_: Line2D
    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(
        self,
        result: xr.DataTree,
        y_prob: Any = None,
        *,
        estimator_name: str | None = None,
        pos_label: Any = None,
    ) -> None:
        style.check_role(result, ERROR, "a reliability diagram")
        cases = access.cases(result)
        if len(cases) > 1:
            raise InputError(
                f"a display draws one case; the result has {len(cases)}. Take one, such as "
                "result.sel(classifier='rf'), or draw all on one ax."
            )
        bins = filled_bins(result, cases[0])
        self.result = result
        self.prob_true, self.prob_pred = bins.rate, bins.score
        self.y_prob = y_prob
        self.estimator_name = estimator_name
        self.pos_label = pos_label

    def plot(
        self,
        *,
        ax: Axes | None = None,
        name: str | None = None,
        ref_line: bool = True,
        prob: float | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curve in its band, and the bins.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; those of a new figure of pyplot by default.
        name : str, optional
            Name in the legend; `estimator_name` by default.
        ref_line : bool, default True
            Whether to draw perfect calibration, once on each axes.
        prob : float, in (0, 1), optional
            Probability of the whole curve's band and of the error's interval; by default the fit's.
        **kwargs
            Options of the line, as ``Axes.plot`` takes them. Its colour is that of the band too.

        Returns
        -------
        ReliabilityDisplay
            Itself.

        Raises
        ------
        InputError
            If `prob` lies outside (0, 1), `ref_line` is no flag, or `ax` is no axes.
        """
        check_flag(ref_line, "ref_line")
        if ax is not None:
            check_is(ax, Axes, "ax", "Pass one of plt.subplots().")
        share = float(self.result.attrs["prob"]) if prob is None else prob
        (case,) = access.cases(self.result)
        words = [error_text(self.result, case, share)]
        name = self.estimator_name if name is None else name
        words = words if name is None else [shorten(str(name), 52), *words]
        words += [] if access.case_converged(self.result, case) else [schema.NOT_CONVERGED]
        self.ax_ = plt.subplots()[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        if ref_line and _REFERENCE not in self._labels():
            self.ax_.plot((0, 1), (0, 1), ":", color=style.ink(), label=_REFERENCE)
        # A legend leaves out what begins with _.
        label = re.sub("^_", " _", "\n".join(words))
        look = {"label": label, **normalize_kwargs(kwargs, Line2D)}
        self._draw_curve(case, share, look)
        of = "" if self.pos_label is None else f" (Positive class: {self.pos_label})"
        self.ax_.set_xlabel(f"Mean predicted probability{of}", parse_math=False)
        self.ax_.set_ylabel(f"Fraction of positives{of}", parse_math=False)
        style.as_written(self.ax_.legend(loc="best", fontsize="small").get_texts())
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        pos_label: Any = None,
        name: str | None = None,
        sample_weight: Any = None,
        **options: Any,
    ) -> Self:
        """Fit and draw a classifier on rows that it was not trained on.

        Parameters
        ----------
        estimator : estimator
            A fitted binary classifier with ``predict_proba``, or a pipeline that ends in one.
        X : array-like of shape (obs, feature)
            Features.
        y : array-like of shape (obs,)
            Labels.
        pos_label : bool, int or str, optional
            The positive label; by default the second of ``classes_``.
        name : str, optional
            Name in the legend; that of the class by default.
        sample_weight : array-like of shape (obs,), optional
            A weight of each row, as for `bayescal.Scores`.
        **options
            All others of `from_predictions`.

        Returns
        -------
        ReliabilityDisplay
            Drawn.

        Raises
        ------
        InputError
            If the estimator is not a fitted binary classifier, or as `from_predictions`; of an
            unfitted estimator it is scikit-learn's `NotFittedError` too.
        """
        name = type(estimator).__name__ if name is None else str(name)
        try:
            scores = Scores.from_estimator(
                {name: estimator}, X, y, pos_label=pos_label, sample_weight=sample_weight
            )
        except InputError as error:
            raise _as_scikit_learns(error, estimator) from None
        return cls._of(scores, name, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        n_bins: int = 15,
        strategy: str = "quantile",
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        ref_line: bool = True,
        sample_weight: Any = None,
        prob: float = 0.9,
        method: str = "direct",
        seed: int | None = None,
        **kwargs: Any,
    ) -> Self:
        """Fit and draw labels and scores.

        Parameters
        ----------
        y_true : array-like of shape (obs,)
            Labels, None or NaN where one is not known.
        y_prob : array-like of shape (obs,), in [0, 1]
            Scores of the positive label.
        n_bins, strategy
            Bins of the marks and of the plug-in error, as for `bayescal.Binning`.
        pos_label : bool, int or str, optional
            The positive label; 1 by default.
        name : str, optional
            Name in the legend; "Classifier" by default.
        ax, ref_line
            As for `plot`.
        sample_weight : array-like of shape (obs,), optional
            A weight of each row, as for `bayescal.Scores`.
        prob : float, in (0, 1), default 0.9
            Posterior probability of the band and of the interval of the error.
        method, seed
            As for `bayescal.fit`, by default without NUTS. Seed and name give the same display.
        **kwargs
            Options of the line, as for `plot`.

        Returns
        -------
        ReliabilityDisplay
            Drawn.

        Raises
        ------
        InputError
            If labels and scores are not binary, or `Scores`, `fit` or `plot` refuse what they get.
        """
        name = "Classifier" if name is None else str(name)
        label = 1 if pos_label is None else pos_label
        scores = Scores(
            y_true, y_prob, pos_label=label, classifier=name, sample_weight=sample_weight
        )
        fitted: Any = {"n_bins": n_bins, "strategy": strategy, "method": method, "seed": seed}
        return cls._of(scores, name, prob=prob, ax=ax, ref_line=ref_line, **fitted, **kwargs)

    @classmethod
    def _of(
        cls,
        scores: Scores,
        name: str,
        *,
        n_bins: int = 15,
        strategy: str = "quantile",
        method: str = "direct",
        seed: int | None = None,
        prob: float = 0.9,
        **drawn: Any,
    ) -> Self:
        """Fit, then draw."""
        from bayescal.workflow.fit import fit

        if not scores.is_binary:
            raise InputError(
                f"a display draws two classes; got {scores.n_classes}. Draw one of them, or the "
                "predicted one: bayescal.fit(bayescal.ece, scores) and plots.plot_reliability."
            )
        bins: dict[str, Any] = {"n_bins": n_bins, "strategy": strategy}
        result = fit("ece", scores, method=method, seed=seed, prob=prob, **bins)
        made = cls(result, scores.y_prob[0], estimator_name=name, pos_label=scores.classes[1])
        return made.plot(prob=prob, **drawn)

    def _labels(self) -> list[str]:
        """What the legend of the axes has already, of other displays too."""
        return list(self.ax_.get_legend_handles_labels()[1])

    def _once(self, label: str) -> str:
        """A label that the legend does not have yet; others are hidden."""
        return f"_{label}" if label in self._labels() else label

    def _draw_curve(self, case: access.ResultSlice, prob: float, look: dict[str, Any]) -> None:
        """The curve and its band where there is one; rates that lie on none have intervals."""
        tree, ax = self.result, self.ax_
        score, ends = rate_intervals(tree, case, prob)
        if lies_on_curve(tree, case):
            x = access.variable(tree, schema.CONSTANT_DATA, schema.CURVE_SCORE, case).values
            curve = access.variable(tree, schema.POSTERIOR, schema.CALIBRATION_CURVE, case)
            (self.line_,) = ax.plot(x, curve.mean(schema.DRAW_DIMS).values, **look)
            colour = self.line_.get_color()
            band = curve_band(tree, case, prob, simultaneous=True)
            label = self._once(f"{percent(prob)} band of the curve")
            ax.fill_between(x, *band, color=colour, alpha=0.2, lw=0, label=label)
            marks: dict[str, Any] = {"color": colour, "markersize": 4, "label": self._once("bins")}
            ax.plot(self.prob_pred, self.prob_true, "s", **marks)
        else:
            bins = {"linestyle": "", "marker": "s", **look}
            (self.line_,) = ax.plot(self.prob_pred, self.prob_true, **bins)
        if score.size:
            label = self._once(f"rate of one score, {percent(prob)} interval")
            ax.vlines(score, *ends, color=self.line_.get_color(), label=label)


def _as_scikit_learns(error: InputError, estimator: Any) -> InputError:
    """The error as scikit-learn raises it too, of an estimator that is not fitted."""
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    class UnfittedError(InputError, NotFittedError):  # type: ignore[misc]  # no types there
        """An estimator without a fit."""

    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return UnfittedError(str(error))
    except TypeError:
        # It is no estimator of scikit-learn's.
        return error
    return error
