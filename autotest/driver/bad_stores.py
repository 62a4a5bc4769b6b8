"""Stores with a damaged array /bad beside an array /good, and what must hold for both."""
import re

import numpy as np
import pytest
from osgeo import gdal

DATA = np.arange(64, dtype="u2").reshape(8, 8)


def open_root(path):
    return gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER).GetRootGroup()


def message_of(function, *arguments):
    with pytest.raises(RuntimeError) as caught:
        function(*arguments)
    return str(caught.value)


def assert_fails(message, *parts):
    """All of these regular expressions match."""
    for part in parts:
        assert re.search(part, message), message


def assert_good_opens(path):
    """The undamaged neighbour reads, by itself and as part of the store."""
    root = open_root(path)
    assert "good" in root.GetMDArrayNames()
    np.testing.assert_array_equal(root.OpenMDArray("good").ReadAsArray(), DATA)
    np.testing.assert_array_equal(gdal.Open(f'ZARR:"{path}":/good').ReadAsArray(), DATA)
    gdal.PushErrorHandler("CPLQuietErrorHandler")
    try:
        dataset = gdal.Open(str(path))
    finally:
        gdal.PopErrorHandler()
    if dataset.RasterCount == 1:
        np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)
    else:
        assert f'ZARR:"{path}":/good' in [name for name, _ in dataset.GetSubDatasets()]


def regular(*chunk_shape):
    return {"name": "regular", "configuration": {"chunk_shape": chunk_shape}}


def with_configuration(name, **configuration):
    return {"name": name, "configuration": configuration}


def assert_bad_array(path, *problem):
    """No API can open it, and each reports why."""
    root = open_root(path)
    assert "bad" in root.GetMDArrayNames()
    assert_fails(message_of(root.OpenMDArray, "bad"), str(path), "bad", *problem)
    assert_fails(message_of(gdal.Open, f'ZARR:"{path}":/bad'), str(path), "bad", *problem)
    assert_good_opens(path)


def read_everything(path):
    """Makes every request that a program may make. Returns the error."""
    problems = []

    def attempt(function):
        try:
            function()
        except RuntimeError as error:
            problems.append(str(error))

    def read_group(group):
        for attribute in group.GetAttributes() or []:
            attribute.Read()
        group.GetDimensions()
        for name in group.GetMDArrayNames() or []:
            attempt(lambda: read_array(group.OpenMDArray(name)))
        for name in group.GetGroupNames() or []:
            attempt(lambda: read_group(group.OpenGroup(name)))

    def read_array(array):
        for attribute in array.GetAttributes() or []:
            attribute.ReadAsStringArray()
        for ask in (array.GetBlockSize, array.GetNoDataValueAsRaw, array.GetStructuralInfo,
                    array.GetScale, array.GetOffset, array.GetSpatialRef,
                    array.GetCoordinateVariables):
            ask()
        lengths = []
        for dimension in array.GetDimensions():
            dimension.GetIndexingVariable()
            lengths.append(dimension.GetSize())
        if 0 not in lengths:
            array.Read([0] * len(lengths), [min(n, 12) for n in lengths])
            array.Read([n - 1 for n in lengths], [min(n, 3) for n in lengths], [-1] * len(lengths))

    def read_raster():
        dataset = gdal.Open(f'ZARR:"{path}"')
        names = [name for name, _ in dataset.GetSubDatasets()]
        for raster in [dataset] if dataset.RasterCount else map(gdal.Open, names[:3]):
            band = raster.GetRasterBand(raster.RasterCount)
            for ask in (raster.GetMetadata, raster.GetGeoTransform, raster.GetSpatialRef,
                        band.GetMetadata, band.GetNoDataValue):
                ask()
            size = min(raster.RasterXSize, 12), min(raster.RasterYSize, 12)
            raster.ReadRaster(0, 0, *size, band_list=[1, raster.RasterCount])

    attempt(lambda: read_group(open_root(path)))
    attempt(read_raster)
    return problems
