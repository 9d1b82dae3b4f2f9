"""Columns as a data set of files, as a Dask dataframe and as Dask arrays, cut at given rows."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest


def _parts(columns, cuts):
    ends = [0, *cuts, len(next(iter(columns.values())))]
    return [slice(low, high) for low, high in pairwise(ends)]


def data_set(folder, columns, cuts):
    for place, part in enumerate(_parts(columns, cuts)):
        table = pa.table({name: values[part] for name, values in columns.items()})
        pq.write_table(table, folder / f"{place}.parquet")
    return folder


def dask_frame(_, columns, cuts):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    delayed = pytest.importorskip("dask.delayed").delayed
    whole = pd.DataFrame(columns)
    parts = [delayed(whole.iloc[part]) for part in _parts(columns, cuts)]
    return dd.from_delayed(parts, meta=whole.iloc[:0])


def dask_arrays(_, columns, cuts):
    da = pytest.importorskip("dask.array")
    chunks = (tuple(part.stop - part.start for part in _parts(columns, cuts)),)
    return {name: da.from_array(np.asarray(v), chunks=chunks) for name, v in columns.items()}


SOURCES = (data_set, dask_frame, dask_arrays)
# Empty parts first and in the middle, a part of one row, and no two others of a size.
ODD_CUTS = (0, 1, 1, 400, 400, 950)
