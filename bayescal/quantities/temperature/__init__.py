"""Class-wise temperature scaling: calibrators, calibration errors by class, and their posterior.

Names load on first use. They are listed once, in ``__init__.pyi``.
"""

from __future__ import annotations

from bayescal.core.quantity import LESS, METRIC, Reference, Variable, lazy_names, named, undrawn

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

NAME = "temperature"
TITLE = "Class-wise temperature scaling"
ESTIMAND = (
    "log_alpha: the logarithm of the number that multiplies the logits of a predicted class; mu "
    "and tau: their mean and standard deviation over the classes, or over the logits under vector "
    "scaling; description: which of three models holds. ece: the calibration error "
    "of the predicted class after calibration by posterior-predictive probabilities, of all rows; "
    "max_ece and avg_ece: the largest and the mean error of the rows of one predicted class. The "
    "same with _uncalibrated: before."
)
_ERRORS = (
    ("ece", "ECE", (), "Mean absolute difference of score and label rate over bins of the score."),
    ("max_ece", "max-ECE", (), "The largest ECE of the rows of one predicted class."),
    ("avg_ece", "avg-ECE", (), "The mean over the predicted classes of their rows' ECE."),
    ("class_ece", "ECE", ("label_class",), ""),
)
_FULL = {"ece": "binned calibration error after calibration"}
VARIABLES: tuple[Variable, ...] = (
    *(
        Variable(
            name,
            f"{title} after calibration",
            dims,
            METRIC,
            LESS,
            None if dims else name,
            meaning,
            _FULL.get(name, ""),
        )
        for name, title, dims, meaning in _ERRORS
    ),
    *(
        Variable(
            f"{name}_uncalibrated",
            f"{title} before calibration",
            dims,
            METRIC,
            point=None if dims else f"{name}_uncalibrated",
        )
        for name, title, dims, _ in _ERRORS
    ),
    *named("log_alpha", "alpha", "log_coef", "shift", dims=("label_class",)),
    *named("mu", "tau", "shift_tau", "description"),
    *undrawn("labels", "class_alpha", dims=("label_class",)),
    *undrawn("weight", "nuts_draws", dims=("description",)),
    *undrawn(*("bin_rows", "bin_confidence", "bin_accuracy"), dims=("stage", "label_class", "bin")),
)
REFERENCES: tuple[Reference, ...] = (
    Reference(
        "class-wise",
        'Y. Zhao, J. Chen and S. Oymak, "On the Role of Dataset Quality and Heterogeneity in Model '
        'Confidence", 2020. https://arxiv.org/abs/2002.09831',
        "Algorithm 1; class-wise temperature scaling (4.2) and (4.3); max-ECE (4.1) and Avg-ECE, "
        "section 5.4; Theorems 3.1 and 4.1, Corollary 4.2, Lemma 3.3.",
    ),
    Reference(
        "temperature",
        'C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger, "On Calibration of Modern Neural '
        'Networks", ICML 2017. https://arxiv.org/abs/1706.04599',
        "Temperature and vector scaling, section 4.2.",
    ),
)
