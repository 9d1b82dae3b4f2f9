"""Evaluating several classifiers from few labels and many unlabelled scores.

Names load on first use. They are listed once, in ``__init__.pyi``.
"""

from __future__ import annotations

from bayescal.core.quantity import (
    LESS,
    METRIC,
    MORE,
    Reference,
    Variable,
    lazy_names,
    named,
    undrawn,
)

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

NAME = "ssme"
TITLE = "Semi-supervised evaluation of several classifiers"
ESTIMAND = (
    "accuracy, auc, auprc, log_loss, brier: the metric of each classifier in the population that "
    "labelled and unlabelled rows are from. ece, mce: mean and largest gap between score and "
    "probability of the label over bins of the score."
)
_METRICS = (
    ("accuracy", "accuracy", MORE, "Share of rows whose most probable class is the true one."),
    (
        "ece",
        "ECE",
        LESS,
        "Mean absolute difference of score and label rate over bins of the score.",
    ),
    ("auc", "AUC", MORE, "Probability that a positive row has a higher score than a negative one."),
    ("auprc", "AUPRC", MORE, "Mean precision over the positive rows."),
    ("mce", "MCE", LESS, "Largest absolute difference of score and label rate of any bin."),
    ("log_loss", "log loss", LESS, "Mean of minus the logarithm of the score of the true label."),
    ("brier", "Brier score", LESS, "Mean squared difference of score and label."),
)
_FULL = {"ece": "binned calibration error (ECE)", "mce": "largest calibration gap (MCE)"}
_OF_TILT = {
    ("label_class",): ("intercept", "slope", "class_share"),
    ("classifier",): ("weight", "own_bend"),
    ("group", "label_class"): ("group_intercept",),
    ("group",): ("group_slope",),
    ("label_class", "dim"): ("location", "log_width"),
    (): ("bend", "log_slope"),
}
_IN_FULL = {"weight": "weights of the classifiers", "own_bend": "bends of the single classifiers"}
VARIABLES: tuple[Variable, ...] = (
    *(
        Variable(
            name, title, ("classifier", "group"), METRIC, better, name, meaning, _FULL.get(name, "")
        )
        for name, title, better, meaning in _METRICS
    ),
    *(
        one
        for dims, names in _OF_TILT.items()
        for name in names
        for one in named(name, dims=dims, full=_IN_FULL.get(name, ""))
    ),
    *named("prob_label", dims=("obs", "label_class")),
    # A parameter's densities are summed over its dims.
    *undrawn(*(f"log_prior/{name}" for names in _OF_TILT.values() for name in names)),
    *undrawn(
        *(f"sensitivity/{name}" for name, *_ in _METRICS),
        dims=("assumption", "summary", "classifier", "group"),
    ),
    *undrawn("scores"),
    *undrawn("probability", dims=("assumption",)),
    *undrawn("class_score", dims=("classifier", "obs", "label_class")),
    *undrawn("class_prior", dims=("label_class",)),
    *undrawn("label", dims=("label_row",)),
    *undrawn("n", dims=("group",)),
)
REFERENCES: tuple[Reference, ...] = (
    Reference(
        "ssme",
        "D. Shanmugam, S. Sadhuka, M. Raghavan, J. Guttag, B. Berger and E. Pierson, "
        '"Evaluating multiple models using labeled and unlabeled data", 2025. '
        "https://arxiv.org/abs/2501.11866",
        "SSME-KDE, SSME-KDE-M and SSME-NF; baselines; effective sample size, appendix B.4.",
    ),
    Reference(
        "anderson",
        'J. A. Anderson, "Separate sample logistic discrimination", Biometrika 59(1), 1972. '
        "https://doi.org/10.1093/biomet/59.1.19",
        "Exponential tilt: densities given the class as tilts of the density of all scores.",
    ),
    Reference(
        "miller-dunson",
        'J. W. Miller and D. B. Dunson, "Robust Bayesian Inference via Coarsening", Journal of the '
        "American Statistical Association 114(527), 2019. "
        "https://doi.org/10.1080/01621459.2018.1469995",
        "Likelihood raised to a power, for a model that is not quite true.",
    ),
    Reference(
        "rubin",
        'D. B. Rubin, "The Bayesian Bootstrap", Annals of Statistics 9(1), 1981. '
        "https://doi.org/10.1214/aos/1176345338",
        "Posterior of the rows' distribution.",
    ),
)
