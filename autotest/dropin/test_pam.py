"""What programs set on arrays of a store that is opened for reading is kept beside it."""
import pytest
from multidim_stores import FORMATS, create, create_array, fails, open_store
from osgeo import gdal, osr


@pytest.fixture(params=FORMATS)
def path(request, tmp_path):
    dataset = create(tmp_path / "a.zarr", [f"FORMAT={request.param}"])
    array = create_array(dataset, [4, 6])
    array.Write(bytes(range(24)))
    return tmp_path / "a.zarr"


def wgs84():
    crs = osr.SpatialReference()
    crs.ImportFromEPSG(4326)
    return crs


def open_array(path):
    dataset = open_store(path)
    return dataset, dataset.GetRootGroup().OpenMDArray("a")


def documents(path):
    return {file: file.read_bytes() for file in path.rglob("*")
            if file.name in ("zarr.json", ".zarray", ".zattrs", ".zgroup", ".zmetadata")}


def crs_name(owner):
    crs = owner.GetSpatialRef()
    return crs.GetName() if crs else None


def test_crs(path):
    before = documents(path)
    dataset, array = open_array(path)
    assert array.SetSpatialRef(wgs84()) == gdal.CE_None
    assert crs_name(array) == "WGS 84"
    del array, dataset
    assert (path / "pam.aux.xml").exists()
    dataset, array = open_array(path)
    assert crs_name(array) == "WGS 84"
    assert list(array.GetSpatialRef().GetDataAxisToSRSAxisMapping()) == [1, 2]
    del array, dataset
    raster = gdal.Open(str(path))
    assert crs_name(raster) == "WGS 84"
    del raster
    dataset, array = open_array(path)
    assert array.SetSpatialRef(None) == gdal.CE_None
    assert crs_name(array) is None
    del array, dataset
    dataset, array = open_array(path)
    assert crs_name(array) is None
    assert documents(path) == before


@pytest.mark.builtin_since("3.8")
def test_scale_and_offset(path):
    dataset, array = open_array(path)
    assert array.SetScale(2.5) == gdal.CE_None
    assert array.SetOffset(-3) == gdal.CE_None
    assert (array.GetScale(), array.GetOffset()) == (2.5, -3)
    del array, dataset
    dataset, array = open_array(path)
    assert (array.GetScale(), array.GetOffset()) == (2.5, -3)
    del array, dataset
    raster = gdal.Open(str(path))
    band = raster.GetRasterBand(1)
    assert (band.GetScale(), band.GetOffset()) == (2.5, -3)


@pytest.mark.ours_only("it writes scale and offset into the store, which was opened for reading")
def test_the_store_stays_as_it_is(path):
    before = documents(path)
    for _ in range(2):
        dataset, array = open_array(path)
        # GDAL writes the same file for the CRS and for statistics.
        array.SetSpatialRef(wgs84())
        array.SetScale(2.5)
        array.ComputeStatistics(False)
        del dataset
        del array
        dataset, array = open_array(path)
        assert (array.GetScale(), crs_name(array)) == (2.5, "WGS 84")
        assert array.GetStatistics(False, False).max == 23
        array.SetOffset(1)
        array.SetSpatialRef(None)
        del array
        dataset = None
        dataset, array = open_array(path)
        assert (array.GetScale(), array.GetOffset(), crs_name(array)) == (2.5, 1, None)
        del array, dataset
    assert documents(path) == before


@pytest.mark.ours_only("it writes scale and offset into the store, which was opened for reading")
def test_values_of_an_updated_store(path):
    dataset, array = open_array(path)
    array.SetScale(2.5)
    array.SetSpatialRef(wgs84())
    del array, dataset
    dataset = open_store(path, update=True)
    array = dataset.GetRootGroup().OpenMDArray("a")
    assert (array.GetScale(), crs_name(array)) == (2.5, "WGS 84")
    utm = osr.SpatialReference()
    utm.ImportFromEPSG(32631)
    array.SetScale(7)
    array.SetSpatialRef(utm)
    del array, dataset
    dataset, array = open_array(path)
    assert (array.GetScale(), crs_name(array)) == (7, utm.GetName())


def test_what_cannot_be_set(path):
    _dataset, array = open_array(path)
    fails(lambda: array.SetUnit("m"))
    fails(lambda: array.SetNoDataValueDouble(3))
    fails(lambda: array.CreateAttribute("a", [], gdal.ExtendedDataType.CreateString()))
