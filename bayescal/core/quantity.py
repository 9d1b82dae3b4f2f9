"""What every quantity promises, so that fitting, plots, report and command line treat all alike.

`Quantity` is a module; its `plan` turns data into `Case` objects, one a model to fit; each case
holds the `LabelModel` that is sampled, and turns draws into `CaseArrays`. A simple quantity takes
most of this from `BaseCase` and `BaseModel`; averages and pooled groups have more to say.

It lists its `Variable` records in ``VARIABLES``, the main ones first. A fit stores them in its
result (root attribute ``variables``), so that a result, a loaded one too, describes itself.
Whatever reads results asks the records, by `bayescal.results.access`, and neither names a variable
nor looks whether it is there. A figure or section that only one quantity has asks for a role and
dims ("a metric along ``label_class``"), not for a quantity.
"""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from bayescal.core.columns import Floats as Floats

if TYPE_CHECKING:
    import pymc as pm

ERROR: Final = "error"
"""A calibration error: exactly 0 where the classifier is calibrated, positive otherwise."""
METRIC: Final = "metric"
"""Any other number that says how good a classifier is."""
CURVE: Final = "curve"
"""A function of the score or of a threshold, along a dim of its own."""
ROW: Final = "row"
"""Something of each target row: its probability, bounds and decision."""
PARAMETER: Final = "parameter"
"""Anything else that is drawn: parameters of the model, and what explains the draws."""
DATA: Final = "data"
"""What is not drawn: counts, bins, cells and single estimates."""

CASE_DIMS: Final = ("classifier", "class", "group")
"""Dims of cases: a variable lists one where a model answers for several cases at once."""

LESS: Final = "less"
MORE: Final = "more"


class Variable(NamedTuple):
    """One variable of a result.

    Parameters
    ----------
    name : str
        Name in the result; ``group/name`` where it has dims of its own in one group.
    title : str
        Name in a few words, for an axis or a column.
    dims : tuple of str
        Dims without chain and draw, and without those that the coords of its case name.
    role : str
        `ERROR`, `METRIC`, `CURVE`, `ROW`, `PARAMETER` or `DATA`.
    better : {"less", "more"}, optional
        Which of two values is better; None where neither is.
    point : str, optional
        Name of the point estimate that stands beside the posterior.
    meaning : str
        What it is, in sentences, for the glossary.
    full : str
        Name in full, for a sentence; the title where it is empty.
    """

    name: str
    title: str
    dims: tuple[str, ...] = ()
    role: str = PARAMETER
    better: str | None = None
    point: str | None = None
    meaning: str = ""
    full: str = ""


type Dims = Mapping[str, tuple[str, ...]]


def named(
    *names: str, dims: tuple[str, ...] = (), role: str = PARAMETER, full: str = ""
) -> tuple[Variable, ...]:
    """Variables that need no more than their names and common dims."""
    return tuple(
        Variable(name, name.rpartition("/")[2].replace("_", " "), dims, role, full=full)
        for name in names
    )


def undrawn(*names: str, dims: tuple[str, ...] = ()) -> tuple[Variable, ...]:
    """What is not drawn, of common dims."""
    return named(*names, dims=dims, role=DATA)


def dims_of(
    variables: Iterable[Variable], axes: Container[str] = CASE_DIMS
) -> dict[str, tuple[str, ...]]:
    """Dims by name; those of cases only where one model answers for several (`axes`)."""
    return {
        one.name: tuple(dim for dim in one.dims if dim not in CASE_DIMS or dim in axes)
        for one in variables
    }


def to_json(variables: Iterable[Variable]) -> str:
    """Write the records as a result keeps them."""
    return json.dumps([one._asdict() for one in variables])


@lru_cache(maxsize=64)
def from_json(text: str) -> tuple[Variable, ...]:
    """Read what `to_json` wrote, by this version or a later one."""
    known = (
        {name: value for name, value in one.items() if name in Variable._fields}
        for one in json.loads(text)
    )
    return tuple(Variable(**{**one, "dims": tuple(one["dims"])}) for one in known)


def result_kind(variables: Iterable[Variable]) -> str:
    """What version 0.2 calls a result with these variables: "errors", "metrics" or "rows"."""
    first = next((one.role for one in variables if one.role in (ERROR, ROW)), METRIC)
    return f"{first}s"


# Variables that several quantities have.
CALIBRATION_ERRORS: Final = (
    Variable(
        "tce",
        "TCE",
        role=ERROR,
        better=LESS,
        point="ece",
        full="calibration error",
        meaning="Mean absolute difference over rows of the score and the probability of a positive "
        "label. 0.03 means that scores are off by three percentage points. It is a "
        "property of the population, so a sample leaves it uncertain.",
    ),
    Variable(
        "ece",
        "ECE",
        role=ERROR,
        better=LESS,
        point="ece",
        full="binned calibration error (ECE)",
        meaning="The mean absolute difference of score and probability after rows are put into "
        "bins by score. Errors of opposite sign within a bin cancel, so the ECE is never larger "
        "than the calibration error.",
    ),
    Variable(
        "mce",
        "MCE",
        role=ERROR,
        better=LESS,
        point="mce",
        full="largest calibration gap (MCE)",
        meaning="The largest gap of any bin.",
    ),
)
BINS: Final = (
    *named("label_rate", "gap", dims=("bin",), role=CURVE),
    *undrawn("confidence", "bin_mass", "count", dims=("bin",)),
    *undrawn("bin_edges", dims=("bin_edge",)),
)
CALIBRATION_CURVE: Final = (
    Variable("calibration_curve", "calibration curve", ("point",), CURVE),
    *undrawn("curve_score", dims=("point",)),
)
CELLS: Final = (
    *undrawn("events", "cell_count", "cell_score", "cell_low", "cell_high", dims=("cell",)),
    *undrawn("part_cell", "part_count", "part_events", "part_score", dims=("part",)),
    *undrawn("part_low", "part_high", "part_weight", "part_event_weight", dims=("part",)),
)
"""Cells that a curve is fitted to, and parts of these, of which numbers of the rows are."""
CURVE_DRAWS: Final = (
    *named("curve/rate", "curve/mass", dims=("cell",), role=CURVE),
    *named("curve/given_rate", "curve/given_mass", dims=("cell",), role=CURVE),
    *named("curve/component", "curve/log_likelihood", "curve/log_prior", role=CURVE),
)
"""Group ``curve``: label rate and mass of cells, and each draw's place in the components.
`given_rate` is given miscalibration, as `given_mass` where masses depend on the curve. Where the
densities of the posterior are of other draws, those of the curve are with it."""
SHARED_ROWS: Final = undrawn(
    *("shared_rows/cell", "shared_rows/part", "shared_rows/label"),
    *("shared_rows/weight", "shared_rows/stands_for"),
    dims=("shared_row",),
)
"""Group ``shared_rows``: of rows that several classifiers share, the cell with rows and label."""
AVERAGE: Final = (
    *named("description"),
    *named("curve", role=DATA, full="calibration curve"),
    *undrawn("weight", "nuts_draws", dims=("description",)),
    *undrawn("boundary_calibrated", dims=("boundary",)),
    *undrawn("description_curve", dims=("description", "point")),
    *undrawn("jump_probability", dims=("cell",)),
)
"""What a result of an average over descriptions of the curve holds besides."""


type Draws = Mapping[str, Floats]
"""Draws of a model's variables by name, (chain, draw, ...) or (draw, ...)."""
type Arrays = Mapping[str, Any]
type Groups = Mapping[str, Any]
"""Arrays by group of a result, fields of `CaseArrays`, and name; `bounds` are `Bound` records."""


class Reference(NamedTuple):
    """A work that a quantity is based on.

    Parameters
    ----------
    key : str
        Short name.
    citation : str
        Authors, title, venue, year and address.
    where : str
        What is taken from it, and the section or equation.
    """

    key: str
    citation: str
    where: str


class Bound(NamedTuple):
    """A number from theory, with what it bounds and what it assumes.

    Parameters
    ----------
    value : float
        The number; infinite where the theory says nothing.
    kind : str
        What it bounds, in words.
    assumption : str
        What must hold, in words.
    """

    value: float
    kind: str
    assumption: str


@dataclass(frozen=True, slots=True)
class DirectDraws:
    """A posterior computed without NUTS.

    Attributes
    ----------
    draws : mapping of str to ndarray of shape (draw, ...)
        Independent draws of the model's variables.
    ess : float
        Effective number of draws that they, or the evidence, rest on.
    method : str
        "importance sampling", "quadrature" or "conjugate".
    log_evidence : float
        Log marginal likelihood of the counts without binomial coefficients; NaN if not computed.
    pareto_k : float
        Shape of the tail of importance weights, reliable below 0.7; NaN where there are none.
    evidence : mapping of str to float
        Log evidence of each member, where the model is an average; of some models an array.
    """

    draws: Draws
    ess: float
    method: str
    log_evidence: float = float("nan")
    pareto_k: float = float("nan")
    evidence: Mapping[str, float] = field(default_factory=dict)

    @property
    def figures(self) -> dict[str, float]:
        """Diagnostics of a result: what importance sampling says of itself."""
        return {"importance_ess": self.ess, "pareto_k": self.pareto_k}


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseArrays:
    """What a result holds of one case: arrays by group of the result and name of the variable.

    Attributes
    ----------
    coords : mapping of str to str
        What the case is of: {"classifier": "vit"}, or {"classifier": "vit", "class": "cat"}.
    posterior, prior, sample_stats, log_likelihood, log_prior, posterior_predictive : mapping
        Of str to ndarray of shape (chain, draw, ...).
    observed_data, constant_data, point_estimate, bounds : mapping of str to ndarray or number
    model_average, diagnostics : mapping of str to number
    sensitivity : mapping of str to ndarray
        The answer as a function of an assumption.
    reference_estimates : mapping of str to ndarray
        Other estimates of the same quantities, to be read beside the posterior.
    bounds_attrs : mapping of str to mapping
        ``kind`` and ``assumption`` of each bound, in words.
    descriptions : mapping of str to ndarray of shape (chain, draw, description)
        Draws under each of the descriptions that an average is of.
    given_miscalibration : mapping of str to ndarray of shape (chain, draw, ...)
        Variables that are 0 where a classifier is calibrated, given that it is not.
    curve : mapping of str to ndarray of shape (chain, draw, cell) or (chain, draw)
        The calibration curve by cell.
    shared_rows : mapping of str to ndarray of shape (shared_row,)
        Cell and label of rows that several classifiers share; set by the workflow.
    warnings : sequence of str
        What a reader must know of this fit, in sentences, beside its convergence.
    sampler : str
        What drew the posterior; set by the workflow.
    """

    coords: Mapping[str, str]
    posterior: Arrays
    prior: Arrays = field(default_factory=dict)
    sample_stats: Arrays = field(default_factory=dict)
    log_likelihood: Arrays = field(default_factory=dict)
    log_prior: Arrays = field(default_factory=dict)
    posterior_predictive: Arrays = field(default_factory=dict)
    observed_data: Arrays = field(default_factory=dict)
    constant_data: Arrays = field(default_factory=dict)
    point_estimate: Arrays = field(default_factory=dict)
    bounds: Arrays = field(default_factory=dict)
    model_average: Arrays = field(default_factory=dict)
    diagnostics: Arrays = field(default_factory=dict)
    sensitivity: Arrays = field(default_factory=dict)
    reference_estimates: Arrays = field(default_factory=dict)
    descriptions: Arrays = field(default_factory=dict)
    given_miscalibration: Arrays = field(default_factory=dict)
    curve: Arrays = field(default_factory=dict)
    shared_rows: Arrays = field(default_factory=dict)
    bounds_attrs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    sampler: str = ""


class LabelModel(Protocol):
    """A prior of label probabilities joined with data; `BaseModel` has most of what it needs."""

    @property
    def variables(self) -> tuple[str, ...]:
        """Variables whose draws are kept."""

    def add_to_model(self) -> Any:
        """Add the variables to the pm.Model of the context."""

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws | None:
        """Posterior without NUTS; None where there is none."""

    def log_prior(self, draws: Draws) -> Draws:
        """Log prior density of the variables that power-scaling scales, (chain, draw, ...)."""

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """What distinguishes one compiled model from another: equal keys share one."""

    def inputs(self) -> Mapping[str, NDArray[Any]]:
        """Values of the model's pm.Data, padded to the shapes of `compile_key`."""

    @property
    def target_accept(self) -> float:
        """Acceptance that NUTS tunes its steps to, unless the user sets another."""

    @property
    def max_depth(self) -> int:
        """Largest number of doublings of a NUTS trajectory."""

    @property
    def tune(self) -> int:
        """Draws of each chain that NUTS is tuned on, unless the user sets another number."""


def members(model: LabelModel) -> Mapping[str, LabelModel]:
    """List what NUTS samples, one after the other: an average's `members`, or the model itself.

    An average is a `LabelModel` whose attribute `members` maps names to the models it averages, and
    whose `variables` are theirs and those that it draws exactly. A name is that of a description,
    and the number of its curve where there are several: "smooth", or "smooth 2". With a method
    `members_to_sample` of direct draws NUTS samples only the members that it names, the others have
    their `member_draws`. Chains that do not converge are sampled as many times as long as `lengths`
    says, (1, 4) where a model has none; a method `shortened` chooses the draws that are kept.
    """
    return getattr(model, "members", {"": model})


class Case(Protocol):
    """One model to fit: a classifier, a class, or all groups of them at once.

    A case of a quantity outside takes all but `coords`, `model`, `answer` and `simulate` from
    `bayescal.quantities.base.BaseCase`.
    """

    @property
    def coords(self) -> Mapping[str, str]:
        """What the case is of, by dimension of the result."""

    @property
    def model(self) -> LabelModel:
        """What is sampled."""

    @property
    def axes(self) -> Mapping[str, tuple[str, ...]]:
        """Names along dims that the one model answers for at once, such as groups."""

    @property
    def warnings(self) -> Sequence[str]:
        """What a reader must know of the data, in sentences."""

    def arrays(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> CaseArrays:
        """Turn draws of the model's variables, (chain, draw, ...), into what the result holds."""

    def simulate(self, rng: np.random.Generator) -> tuple[Case, Mapping[str, Any]]:
        """Draw parameters from the prior and labels from the model: the new case, and the truth."""

    @property
    def monitored(self) -> tuple[str, ...]:
        """Posterior variables whose convergence is checked."""

    @property
    def evidence_draws(self) -> int:
        """Number of direct draws that `arrays` needs beside those of NUTS; 0 for none."""

    def fingerprint(self) -> str:
        """Hash of the data and of how they are binned."""

    def build_model(self) -> pm.Model:
        """Build the PyMC model, unsampled; that of an average takes the name of a member."""


type Correlation = Floats | Mapping[str, Floats] | None


class Plan(NamedTuple):
    """The models to fit for some data.

    Parameters
    ----------
    cases : sequence of Case
        In the order of the result; each is sampled with random numbers that belong to its coords.
    attrs : mapping of str to str, int, float or list
        Root attributes of the result that describe the data and options.
    correlate : callable, optional
        From what was found of each case to the correlation of classifiers over shared rows,
        (classifier, classifier), or to one for each variable, ([class,] classifier, classifier);
        None where one posterior holds all classifiers.
    variables : sequence of Variable
        Those of this plan, where they are not the quantity's own.
    shared_rows : sequence of mapping
        Cell and label of shared rows of each case; see `bayescal.curves.shared_rows`.
    """

    cases: Sequence[Case]
    attrs: Mapping[str, Any]
    correlate: Callable[[Sequence[CaseArrays]], Correlation] | None = None
    variables: Sequence[Variable] = ()
    shared_rows: Sequence[Arrays] = ()

    def names(self, dim: str) -> list[str]:
        """Names of the cases along a dimension of the result."""
        along = ([c.coords[dim]] if dim in c.coords else c.axes.get(dim, ()) for c in self.cases)
        return list(dict.fromkeys(name for names in along for name in names))


class Quantity(Protocol):
    """An estimand with its estimate, bounds and model: a module of this shape."""

    @property
    def NAME(self) -> str:
        """Short name, as in results and on the command line."""

    @property
    def TITLE(self) -> str:
        """Name in words."""

    @property
    def ESTIMAND(self) -> str:
        """What is estimated, in sentences."""

    @property
    def VARIABLES(self) -> Sequence[Variable]:
        """What its variables are, the main ones first."""

    @property
    def REFERENCES(self) -> tuple[Reference, ...]:
        """The works that it is based on."""

    @property
    def Priors(self) -> Any:
        """Priors of the model: a frozen dataclass with `describe`, `to_json` and `alternatives`."""

    @property
    def estimate(self) -> Callable[..., Any]:
        """The paper's estimate, from data to a NamedTuple."""

    @property
    def bounds(self) -> Callable[..., Any]:
        """The paper's theory, from sample sizes to a NamedTuple of `Bound`."""

    @property
    def plan(self) -> Callable[..., Plan]:
        """``plan(data, priors, **options) -> Plan``; its keyword arguments are the options."""

    @property
    def COMMAND(self) -> Any:
        """How the command line reads data, options and priors: a `core.command.Command`."""


def lazy_names(module: str, file: str) -> tuple[Any, Any, list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a quantity: its stub's names, and its own."""
    import lazy_loader

    found, _, names = lazy_loader.attach_stub(module, file)
    names += ["ESTIMAND", "NAME", "REFERENCES", "TITLE", "VARIABLES"]
    return found, lambda: names, names


def bound_values(bounds: Mapping[str, Bound]) -> dict[str, float]:
    """Take the numbers of bounds, for the group ``bounds`` of a result."""
    return {name: bound.value for name, bound in bounds.items()}


def bound_words(bounds: Mapping[str, Bound]) -> dict[str, dict[str, str]]:
    """Take the words of bounds: ``kind`` and ``assumption`` of each."""
    return {
        name: {"kind": bound.kind, "assumption": bound.assumption} for name, bound in bounds.items()
    }


class BaseModel:
    """Base of a `LabelModel`, a frozen dataclass: what a simple model need not say."""

    __slots__ = ()

    target_accept: ClassVar[float] = 0.8
    max_depth: ClassVar[int] = 10
    tune: ClassVar[int] = 300

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws | None:
        """Posterior without NUTS: none."""
        return None

    def log_prior(self, draws: Draws) -> Draws:
        """Log prior densities: none to be scaled."""
        return {}

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """The model with its data: each is compiled for itself."""
        return (type(self).__name__, hash_of(self))

    def inputs(self) -> Mapping[str, NDArray[Any]]:
        """Values of pm.Data: none, the data are constants of the model."""
        return {}


class BasePriors:
    """Base of a quantity's Priors, a frozen dataclass of priors by the names of parameters."""

    __slots__ = ()

    of_kinds: ClassVar[tuple[str, ...]] = ()
    """Fields that may be dataclasses of several kinds, written under the name of theirs."""

    def describe(self) -> str:
        """Say the priors in words."""
        named = {one.name: getattr(self, one.name) for one in fields(cast(Any, self))}
        return "; ".join(f"{name} ~ {prior.describe()}" for name, prior in named.items())

    def to_json(self) -> str:
        """Write the priors as JSON."""
        found = asdict(cast(Any, self))
        for name in self.of_kinds:
            if is_dataclass(held := getattr(self, name)):
                found[name] = {type(held).__name__: found[name]}
        return json.dumps(found, default=np.generic.item)

    def alternatives(self) -> dict[str, Any]:
        """Priors to compare these with, by name: none but these."""
        return {"default": self}


def digest_of(*parts: str | NDArray[Any] | None) -> str:
    """Hash of texts and arrays, one after the other; None adds nothing."""
    found = hashlib.sha256()
    for part in parts:
        if part is not None:
            found.update(part.encode() if isinstance(part, str) else part.tobytes())
    return found.hexdigest()


def hash_of(value: object) -> str:
    """Hash of everything that a value holds."""
    return hashlib.sha256(pickle.dumps(value)).hexdigest()
