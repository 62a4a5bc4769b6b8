"""Copies mean what their sources mean: what is placed, what is valid, which band is which."""
import json
import subprocess

import numpy as np
import pytest
from classic import open_raster
from osgeo import gdal, osr
from stores import write_array, write_group
from test_programs import run


def crs_named(code):
    crs = osr.SpatialReference()
    crs.ImportFromEPSG(code)
    crs.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    return crs


def in_memory(bands=1, data_type=gdal.GDT_Int32):
    return gdal.GetDriverByName("MEM").Create("", 4, 3, bands, data_type)


def copy(source, path, *options):
    gdal.GetDriverByName("Zarr").CreateCopy(str(path), source, False, list(options))
    return open_raster(path)


def test_a_crs_beside_arrays_is_that_of_rasters(tmp_path):
    """Not of coordinates, nor of other arrays of one dimension, which a copy leaves as they are."""
    path = tmp_path / "a.zarr"
    write_group(path)
    stated = {"lat": {"units": "degrees_north", "standard_name": "latitude"},
              "lon": {"units": "degrees_east", "standard_name": "longitude"},
              "level": {"units": "hPa"}}
    for name, attributes in stated.items():
        write_array(path / name, np.arange(10, 12, 0.25), names=[name], attributes=attributes)
        write_array(path / f"mean_of_{name}", np.arange(8.0), names=[name])
    write_array(path / "v", np.zeros((8, 8)), names=["lat", "lon"])
    write_array(path / "crs", np.array(0), names=[],
                attributes={"crs_wkt": crs_named(4326).ExportToWkt()})
    root = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    placed = [name for name in root.GetMDArrayNames() if root.OpenMDArray(name).GetSpatialRef()]
    assert placed == ["v"]
    run("gdalmdimtranslate", "-of", "Zarr", "-co", "FORMAT=ZARR_V3", path, tmp_path / "b.zarr")
    for file in path.glob("*/zarr.json"):
        copied = tmp_path / "b.zarr" / file.relative_to(path)
        assert (json.loads(copied.read_text())["attributes"]
                == json.loads(file.read_text())["attributes"]), file


def test_setting_a_crs_leaves_coordinates_alone(tmp_path):
    """Of an array of one dimension, which is on no axis of the CRS."""
    path = tmp_path / "a.zarr"
    write_group(path)
    write_array(path / "level", np.arange(3.0), names=["level"], attributes={"units": "hPa"})
    write_array(path / "mean", np.arange(3.0), names=["level"])
    before = (path / "level/zarr.json").read_text()
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
    array = dataset.GetRootGroup().OpenMDArray("mean")
    array.SetSpatialRef(crs_named(4326))
    del array, dataset
    assert (path / "level/zarr.json").read_text() == before


@pytest.mark.parametrize("name", ["_FillValue", "missing_value", "valid_min", "valid_range",
                                  "scale_factor", "add_offset", "units", "_Unsigned"])
@pytest.mark.parametrize("options", [["FORMAT=ZARR_V2"], ["FORMAT=ZARR_V3"]], ids=str)
def test_metadata_say_nothing_of_values(tmp_path, name, options):
    source = in_memory()
    source.GetRasterBand(1).Fill(7)
    source.SetMetadataItem(name, "7")
    raster = copy(source, tmp_path / "a.zarr", *options)
    band = raster.GetRasterBand(1)
    assert band.GetNoDataValue() is None and band.GetUnitType() == ""
    assert (band.GetScale() or 1, band.GetOffset() or 0) == (1, 0)
    assert band.GetMaskBand().ReadAsArray().all()
    assert raster.GetMetadataItem(name) == "7"
    raster = gdal.Open(str(tmp_path / "a.zarr"), gdal.GA_Update)
    raster.SetMetadata({"other": "1"})
    del raster
    assert open_raster(tmp_path / "a.zarr").GetMetadataItem(name) is None


@pytest.mark.parametrize("code", [2065, 5513, 2193, 4326, 32633, 3031])
@pytest.mark.parametrize("options", [[], ["GEOREFERENCING_CONVENTION=CF"]], ids=str)
def test_axes_of_the_crs(tmp_path, code, options):
    source = in_memory()
    source.SetSpatialRef(crs_named(code))
    source.SetGeoTransform((10, 1, 0, 50, 0, -1))
    crs = copy(source, tmp_path / "a.zarr", *options).GetSpatialRef()
    assert crs.IsSame(source.GetSpatialRef())
    assert crs.GetDataAxisToSRSAxisMapping() == source.GetSpatialRef().GetDataAxisToSRSAxisMapping()


@pytest.mark.parametrize("data_type, nodata", [
    (gdal.GDT_CFloat32, [7]), (gdal.GDT_Int32, [7, 0]), (gdal.GDT_Int32, [7, None]),
    (gdal.GDT_Int32, [None, None]), (gdal.GDT_Int32, [7, 7])])
@pytest.mark.parametrize("options", [["FORMAT=ZARR_V2"], ["FORMAT=ZARR_V3"]], ids=str)
def test_valid_zeros_stay_valid(tmp_path, data_type, nodata, options):
    """gdal_translate leaves out what GetDataCoverageStatus() calls empty."""
    source = in_memory(len(nodata), data_type)
    for number, value in enumerate(nodata, 1):
        if value is not None:
            source.GetRasterBand(number).SetNoDataValue(value)
    copy(source, tmp_path / "a.zarr", *options)
    run("gdal_translate", "-q", tmp_path / "a.zarr", tmp_path / "a.tif")
    assert not gdal.Open(str(tmp_path / "a.tif")).ReadAsArray().any()


def test_nodata_of_complex_bands_that_differ(tmp_path):
    source = in_memory(2, gdal.GDT_CFloat32)
    for number in (1, 2):
        source.GetRasterBand(number).SetNoDataValue(-9999)
        source.GetRasterBand(number).SetScale(number)
    copy(source, tmp_path / "a.zarr")
    raster = open_raster(tmp_path / "a.zarr")
    assert [raster.GetRasterBand(number).GetNoDataValue() for number in (1, 2)] == [-9999, -9999]


@pytest.mark.parametrize("size, place", [((4, 3), (5, 1, 0, 6, 0, -1)),
                                         ((4, 3), (5, 1, 0.5, 6, 0.5, -1)),
                                         ((4, 1), (5, 1, 0, 6, 0, -1))])
@pytest.mark.parametrize("convention", ["GDAL", "CF", "SPATIAL_PROJ"])
@pytest.mark.parametrize("kind", ["Point", "Area"])
def test_points_stay_points(tmp_path, size, place, convention, kind):
    source = gdal.GetDriverByName("MEM").Create("", *size)
    source.SetGeoTransform(place)
    source.SetSpatialRef(crs_named(32633))
    source.SetMetadataItem("AREA_OR_POINT", kind)
    raster = copy(source, tmp_path / "a.zarr", f"GEOREFERENCING_CONVENTION={convention}")
    assert raster.GetMetadataItem("AREA_OR_POINT") == kind
    assert raster.GetGeoTransform() == pytest.approx(place)


def test_bands_of_a_group_are_in_the_order_of_their_numbers(tmp_path):
    source = in_memory(12)
    for number in range(1, 13):
        source.GetRasterBand(number).Fill(number)
    copy(source, tmp_path / "a.zarr", "SINGLE_ARRAY=NO")
    raster = gdal.Open(f'ZARR:"{tmp_path}/a.zarr":/')
    assert raster.ReadAsArray()[:, 0, 0].tolist() == list(range(1, 13))


def test_control_points_of_several_arrays(tmp_path):
    source = in_memory(2)
    source.SetGCPs([gdal.GCP(1, 2, 0, 0, 0), gdal.GCP(3, 2, 0, 4, 0), gdal.GCP(1, 0, 0, 0, 3)],
                   crs_named(32633))
    raster = copy(source, tmp_path / "a.zarr", "GEOREFERENCING_CONVENTION=CF", "SINGLE_ARRAY=NO")
    assert raster.GetSpatialRef() is None
    for name in (f'ZARR:"{tmp_path}/a.zarr":/Band2', f'ZARR:"{tmp_path}/a.zarr":/'):
        raster = gdal.Open(name)
        assert (raster.GetGCPCount(), raster.GetSpatialRef()) == (3, None)


@pytest.mark.parametrize("place", [(500000.5, 37.037034, 0, 4999980.25, 0, -37.037034),
                                   (-180, 0.1, 0, 90, 0, -0.1), (0.1, 0.3, 0, 0.7, 0, -0.3),
                                   (443720.123, 30.25, 0, 3751320.987, 0, -30.125)], ids=str)
@pytest.mark.parametrize("convention", ["GDAL", "CF", "SPATIAL_PROJ"])
def test_geotransforms_keep_their_digits(tmp_path, place, convention):
    """Coordinates have rounding errors, which their decimals do not have."""
    source = gdal.GetDriverByName("MEM").Create("", 700, 500)
    source.SetGeoTransform(place)
    raster = copy(source, tmp_path / "a.zarr", f"GEOREFERENCING_CONVENTION={convention}")
    assert raster.GetGeoTransform() == place


def test_a_copy_of_one_array_warns_of_nothing(tmp_path):
    source = in_memory()
    source.SetSpatialRef(crs_named(32633))
    source.SetGeoTransform((500000, 10, 0, 5000000, 0, -10))
    copy(source, tmp_path / "a.zarr", "GEOREFERENCING_CONVENTION=CF")
    result = subprocess.run(["gdalmdimtranslate", "-q", "-of", "Zarr", "-array", "/a",
                             tmp_path / "a.zarr", tmp_path / "b.zarr"],
                            capture_output=True, text=True, check=True)
    assert result.stderr == ""
    root = gdal.OpenEx(str(tmp_path / "b.zarr"), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    assert root.OpenMDArray("a").GetSpatialRef().GetAuthorityCode(None) == "32633"


@pytest.mark.parametrize("nodata, share", [([None], 0), ([0], 0), ([7, 0], 100)], ids=str)
def test_share_of_valid_zeros(tmp_path, nodata, share):
    """Missing chunks count as data where they are not what programs take empty pixels for."""
    source = in_memory(len(nodata))
    for number, value in enumerate(nodata, 1):
        if value is not None:
            source.GetRasterBand(number).SetNoDataValue(value)
    raster = copy(source, tmp_path / "a.zarr", "FORMAT=ZARR_V3")
    expected = (gdal.GDAL_DATA_COVERAGE_STATUS_DATA if share
                else gdal.GDAL_DATA_COVERAGE_STATUS_EMPTY)
    assert raster.GetRasterBand(1).GetDataCoverageStatus(0, 0, 4, 3) == [expected, share]
