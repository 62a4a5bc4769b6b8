"""A small array of two chunks by Kerchunk references, and reading it."""
import json

import numpy as np
import pytest
from osgeo import gdal

ARRAY = {
    "zarr_format": 2, "shape": [4, 6], "chunks": [2, 6], "dtype": "<u2", "compressor": None,
    "filters": None, "order": "C", "fill_value": 9,
}
ROWS = np.arange(24, dtype="<u2").reshape(4, 6)
TOP, BOTTOM = ROWS[:2].tobytes(), ROWS[2:].tobytes()


def references(**chunks):
    """Those of the array /v, whose chunks are given as `c0` for v/0.0, `c1` for v/1.0."""
    refs = {".zgroup": '{"zarr_format": 2}', "v/.zarray": json.dumps(ARRAY)}
    return refs | {f"v/{name[1:]}.0": value for name, value in chunks.items()}


def write(path, document):
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return str(path)


def version_1(refs, **more):
    return {"version": 1, **more, "refs": refs}


def root_of(name):
    return gdal.OpenEx(str(name), gdal.OF_MULTIDIM_RASTER).GetRootGroup()


def read(name, array="/v"):
    dataset = gdal.OpenEx(str(name), gdal.OF_MULTIDIM_RASTER)
    return dataset.GetRootGroup().OpenMDArrayFromFullname(array).ReadAsArray()


def error_of(name):
    with pytest.raises(RuntimeError) as caught:
        read(name)
    return str(caught.value)
