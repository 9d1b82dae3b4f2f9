"""Results of draws of the prior: nothing is sampled."""

import json
from dataclasses import replace

import numpy as np
import xarray as xr

from bayescal.quantities.ssme import VARIABLES
from bayescal.quantities.ssme.data import Problem
from bayescal.quantities.ssme.posterior import SSMECase
from bayescal.quantities.ssme.priors import Priors
from bayescal.results import schema
from bayescal.results.assemble import assemble
from tests.quantities.ssme.problems import in_chains, problem


def result_of(keep_labels: bool = True, **given) -> tuple[xr.DataTree, Problem]:
    """A result, and the problem that it is of."""
    made = problem(**given)
    own = SSMECase.of(made, Priors(), keep_labels=keep_labels)
    rng = np.random.default_rng(1)
    arrays = own.arrays(in_chains(own.model.prior_draws(200, rng)), None, rng)
    # A sampler's figures, of which there are none.
    arrays = replace(arrays, diagnostics={"divergences": 0})
    attrs = dict.fromkeys(schema.REQUIRED_ATTRS, "") | {
        "schema_version": schema.SCHEMA_VERSION,
        "priors": Priors().to_json(),
        "n_labeled": made.panel.n_labeled,
        "classifiers": json.dumps(made.panel.classifiers),
    }
    tree = assemble([arrays], variables=VARIABLES, attrs=attrs, coords=own.axes)
    tree.attrs |= attrs
    return tree, made
