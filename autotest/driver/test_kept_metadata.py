"""Copies keep what GDAL knows of a raster, also what Zarr has no place for."""
import numpy as np
import pytest
import rasterio
import rasterio.shutil
from osgeo import gdal, osr
from rasterio.enums import ColorInterp, MaskFlags
from test_programs import run

RPC = {f"{name}_{kind}": "1" for name in ("LINE", "SAMP", "LAT", "LONG", "HEIGHT")
       for kind in ("OFF", "SCALE")}
RPC |= {f"{name}_{kind}_COEFF": " ".join(["1"] * 20) for name in ("LINE", "SAMP")
        for kind in ("NUM", "DEN")}
DOMAINS = {"OTHER": {"key": "value"}, "IMAGERY": {"ACQUISITIONDATETIME": "2024-01-01 10:20:30"},
           "RPC": RPC}
PROFILE = {"driver": "Zarr", "width": 8, "height": 6, "count": 1, "dtype": "uint8",
           "crs": "EPSG:32633", "transform": rasterio.transform.from_origin(0, 60, 10, 10)}
COLORS = {0: (0, 0, 0, 255), 1: (255, 0, 0, 255), 2: (0, 255, 0, 255)}
DATA = (np.arange(48) % 3).astype("u1").reshape(1, 6, 8)


def dynamic_crs(epoch):
    crs = osr.SpatialReference()
    crs.ImportFromEPSG(9000)  # ITRF2014
    crs.SetCoordinateEpoch(epoch)
    return crs


def make_source(path, units=("", "")):
    raster = gdal.GetDriverByName("GTiff").Create(str(path), 8, 6, 2)
    raster.SetSpatialRef(dynamic_crs(2021.3))
    raster.SetGeoTransform((0, 1, 0, 6, 0, -1))
    for domain, items in DOMAINS.items():
        raster.SetMetadata(items, domain)
    raster.SetMetadata(["<a>text</a>"], "xml:XMP")
    for index in (1, 2):
        band = raster.GetRasterBand(index)
        band.WriteArray(DATA[0] * index)
        band.SetMetadata({"of": f"band {index}"}, "OTHER")
        band.SetMetadataItem("plain", f"item {index}")
        band.SetDescription(f"name {index}")
        band.SetUnitType(units[index - 1])
        band.GetDefaultHistogram(force=1)
        band.ComputeStatistics(False)
        band = None


def check(path):
    raster = gdal.Open(str(path))
    assert raster.GetSpatialRef().GetCoordinateEpoch() == 2021.3
    for domain, items in DOMAINS.items():
        assert raster.GetMetadata(domain).items() >= items.items()
    assert raster.GetMetadata("xml:XMP")[0].strip() == "<a>text</a>"
    for index in (1, 2):
        band = raster.GetRasterBand(index)
        assert band.GetMetadata("OTHER") == {"of": f"band {index}"}
        assert band.GetMetadataItem("plain") == f"item {index}"
        assert band.GetDescription() == f"name {index}"
        assert band.GetMetadataItem("STATISTICS_MAXIMUM") == str(2 * index)
        _, _, count, buckets = band.GetDefaultHistogram(force=0)
        assert count == 256 and buckets[0] == buckets[index] == buckets[2 * index] == 16


@pytest.mark.parametrize("units", [("", ""), ("m", "km")], ids=["one array", "two arrays"])
@pytest.mark.parametrize("version", ["ZARR_V2", "ZARR_V3"])
def test_copies(tmp_path, version, units):
    make_source(tmp_path / "a.tif", units)
    for source, copy in (("a.tif", "b.zarr"), ("b.zarr", "c.zarr")):
        gdal.GetDriverByName("Zarr").CreateCopy(
            str(tmp_path / copy), gdal.Open(str(tmp_path / source)), options=["FORMAT=" + version])
        check(tmp_path / copy)
        assert (tmp_path / copy / "Band1").exists() == bool(units[0])


def test_gdal_translate(tmp_path):
    make_source(tmp_path / "a.tif")
    run("gdal_translate", "-q", "-of", "Zarr", tmp_path / "a.tif", tmp_path / "b.zarr")
    check(tmp_path / "b.zarr")


def test_a_changed_epoch(tmp_path):
    make_source(tmp_path / "a.tif")
    path = str(tmp_path / "b.zarr")
    gdal.GetDriverByName("Zarr").CreateCopy(path, gdal.Open(str(tmp_path / "a.tif")))
    for epoch in (2000.5, 0):
        raster = gdal.Open(path, gdal.GA_Update)
        raster.SetSpatialRef(dynamic_crs(epoch))
        raster = None
        crs = gdal.Open(path).GetSpatialRef()
        assert crs.GetCoordinateEpoch() == epoch and crs.GetAuthorityCode(None) == "9000"


def make_named_bands(path, version):
    """An array for each band, because the scales differ."""
    raster = gdal.GetDriverByName("MEM").Create("", 8, 6, 3)
    raster.SetMetadataItem("sensor", "MSI")
    for index in (1, 2, 3):
        band = raster.GetRasterBand(index)
        band.SetDescription(f"B0{index}")
        band.SetScale(index / 10)
        band.WriteArray(DATA[0])
    gdal.GetDriverByName("Zarr").CreateCopy(str(path), raster, options=["FORMAT=" + version])


def edit_with_gdal(path):
    raster = gdal.Open(str(path), gdal.GA_Update)
    metadata = raster.GetMetadata()
    metadata["edited"] = "1"
    raster.SetMetadata(metadata)


def edit_with_rasterio(path):
    with rasterio.open(path, "r+") as raster:
        raster.update_tags(edited=1)


def edit_one_item(path):
    gdal.Open(str(path), gdal.GA_Update).SetMetadataItem("edited", "1")


@pytest.mark.parametrize("edit", [edit_with_gdal, edit_with_rasterio, edit_one_item])
@pytest.mark.parametrize("version", ["ZARR_V2", "ZARR_V3"])
def test_editing_metadata_keeps_the_names_of_bands(tmp_path, version, edit):
    path = tmp_path / "a.zarr"
    make_named_bands(path, version)
    edit(path)
    raster = gdal.Open(str(path))
    assert [raster.GetRasterBand(i).GetDescription() for i in (1, 2, 3)] == ["B01", "B02", "B03"]
    assert raster.GetMetadata() == {"sensor": "MSI", "edited": "1"}
    third = gdal.Open(f'ZARR:"{path}":/Band3')
    assert third.GetMetadata() == {"sensor": "MSI", "edited": "1", "long_name": "B03"}


def test_an_item_that_is_called_like_the_names_of_bands(tmp_path):
    path = tmp_path / "a.zarr"
    make_named_bands(path, "ZARR_V3")
    for value, metadata in (("scene", {"sensor": "MSI", "long_name": "scene"}),
                            (None, {"sensor": "MSI"})):
        gdal.Open(str(path), gdal.GA_Update).SetMetadataItem("long_name", value)
        raster = gdal.Open(str(path))
        assert raster.GetMetadata() == metadata
        assert raster.GetRasterBand(2).GetDescription() == "B02"


def test_a_new_name_outlives_the_next_edit_of_metadata(tmp_path):
    path = tmp_path / "a.zarr"
    with rasterio.open(path, "w", **PROFILE) as raster:
        raster.descriptions = ("old",)
    with rasterio.open(path, "r+") as raster:
        raster.descriptions = ("new",)
        raster.update_tags(edited=1)
    with rasterio.open(path) as raster:
        assert raster.descriptions == ("new",)


def test_rasterio(tmp_path):
    """A raster with all that rasterio sets; a copy keeps it."""
    with rasterio.open(tmp_path / "a.zarr", "w", **PROFILE) as raster:
        raster.write_colormap(1, COLORS)
        raster.write(DATA)
        raster.write_mask(DATA[0] > 0)
        raster.update_tags(ns="OTHER", key="value")
        raster.update_tags(1, ns="OTHER", of="band 1")
        raster.update_tags(1, plain="item 1")
        raster.descriptions, raster.units = ("name",), ("class",)
    rasterio.shutil.copy(tmp_path / "a.zarr", tmp_path / "c.zarr", driver="Zarr")
    for name in ("a.zarr", "c.zarr"):
        with rasterio.open(tmp_path / name) as raster:
            np.testing.assert_array_equal(raster.read(), DATA)
            assert raster.colorinterp == (ColorInterp.palette,)
            assert {value: raster.colormap(1)[value] for value in COLORS} == COLORS
            assert raster.mask_flag_enums == ([MaskFlags.per_dataset],)
            np.testing.assert_array_equal(raster.read_masks(1) > 0, DATA[0] > 0)
            assert raster.tags(ns="OTHER") == {"key": "value"}
            assert raster.tags(1, ns="OTHER") == {"of": "band 1"}
            assert raster.tags(1)["plain"] == "item 1"
            assert (raster.descriptions, raster.units) == (("name",), ("class",))


def test_rasterio_replaces_a_store(tmp_path):
    """Nothing of the old one is left, neither its mask nor what was beside it."""
    path = tmp_path / "a.zarr"
    with rasterio.open(path, "w", **PROFILE) as raster:
        raster.write(DATA)
        raster.write_mask(DATA[0] > 0)
        raster.write_colormap(1, COLORS)
        raster.update_tags(ns="OTHER", key="value")
    assert list(path.rglob("gdal.aux.xml"))
    with rasterio.open(path, "w", **PROFILE) as raster:
        raster.write(DATA + 1)
    assert list(tmp_path.iterdir()) == [path] and not list(path.rglob("gdal.aux.xml"))
    with rasterio.open(path) as raster:
        np.testing.assert_array_equal(raster.read(), DATA + 1)
        assert raster.mask_flag_enums == ([MaskFlags.all_valid],)
        assert raster.tags(ns="OTHER") == {}
