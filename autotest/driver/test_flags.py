"""Flags of CF as category names and as an attribute table."""
import json

import numpy as np
import pytest
from classic import open_raster
from osgeo import gdal, osr
from stores import write_array
from test_programs import run

WATER = {"flag_values": [0, 1, 4], "flag_meanings": "water land ice"}


def write(path, data_type="u1", **attributes):
    write_array(path, np.arange(12).reshape(3, 4).astype(data_type) % 5, attributes=attributes)
    return path


@pytest.fixture
def open_band():
    """Opens the band of a raster, which exists as long as its dataset."""
    datasets = []

    def opened(path):
        datasets.append(open_raster(path))
        return datasets[-1].GetRasterBand(1)

    return opened


def rows(table):
    names = [table.GetNameOfCol(i) for i in range(table.GetColumnCount())]
    return [dict(zip(names, (table.GetValueAsString(row, i) for i in range(len(names)))))
            for row in range(table.GetRowCount())]


@pytest.mark.parametrize("attributes, names", [
    (WATER, ["water", "land", "", "", "ice"]),
    ({"flag_values": [2.0, 0.0], "flag_meanings": "land water"}, ["water", "", "land"]),
    ({"flag_values": 1, "flag_meanings": "land"}, ["", "land"]),
    ({"flag_meanings": "land sea"}, None),
    ({"flag_values": [0, 1]}, None),
    ({"flag_values": [0, 0.5], "flag_meanings": "a b"}, None),
    ({"flag_values": [0, 70000], "flag_meanings": "a b"}, None),
    ({"flag_values": {"a": 1}, "flag_meanings": "a"}, None),
], ids=json.dumps)
def test_categories(tmp_path, open_band, attributes, names):
    band = open_band(write(tmp_path / "a.zarr", "u2", **attributes))
    assert band.GetCategoryNames() == names


def test_table(tmp_path, open_band):
    path = write(tmp_path / "a.zarr", **WATER, flag_colors="#0000ff #00ff00 #FFFFFF")
    table = open_band(path).GetDefaultRAT()
    assert rows(table)[1] == {
        "Value": "1", "Class": "land", "Red": "0", "Green": "255", "Blue": "0"}
    assert [table.GetUsageOfCol(i) for i in range(5)] == [
        gdal.GFU_MinMax, gdal.GFU_Name, gdal.GFU_Red, gdal.GFU_Green, gdal.GFU_Blue]
    assert table.GetTableType() == gdal.GRTT_THEMATIC


def test_masks(tmp_path, open_band):
    """Values that are combinations of flags have no categories."""
    band = open_band(write(tmp_path / "a.zarr", flag_masks=[1, 2, 2], flag_values=[1, 0, 2],
                           flag_meanings="cloud night day"))
    assert band.GetCategoryNames() is None
    assert rows(band.GetDefaultRAT()) == [
        {"Value": "1", "Mask": "1", "Class": "cloud"},
        {"Value": "0", "Mask": "2", "Class": "night"},
        {"Value": "2", "Mask": "2", "Class": "day"}]
    band = open_band(write(tmp_path / "b.zarr", flag_masks=[1, 2], flag_meanings="cloud night"))
    assert [row["Value"] for row in rows(band.GetDefaultRAT())] == ["1", "2"]


def test_values_of_the_unsigned_type(tmp_path, open_band):
    """Attributes of netCDF have the stored type."""
    band = open_band(write(tmp_path / "a.zarr", "i1", _Unsigned="true", flag_values=[0, -1],
                           flag_meanings="clear cloud"))
    assert band.GetCategoryNames()[255] == "cloud" and len(band.GetCategoryNames()) == 256


@pytest.mark.parametrize("attributes, problem", [
    ({"flag_values": [0, 1], "flag_meanings": "a b c"},
     "flag_meanings has 3 words, and flag_values 2 numbers"),
    ({"flag_values": [0, 1], "flag_masks": [1], "flag_meanings": "a b"},
     "flag_meanings has 2 words, and flag_masks 1 numbers"),
])
def test_contradictions(tmp_path, open_band, warnings, attributes, problem):
    band = open_band(write(tmp_path / "a.zarr", **attributes))
    assert band.GetCategoryNames() is None
    assert band.GetDefaultRAT() is None
    assert len(warnings) == 1 and problem in warnings[0]


def test_flags_of_others_are_changed(tmp_path, open_band):
    path = write(tmp_path / "a.zarr", **WATER)
    dataset = gdal.Open(str(path), gdal.GA_Update)
    dataset.GetRasterBand(1).SetCategoryNames(["sea", "land"])
    del dataset
    assert open_band(path).GetCategoryNames() == ["sea", "land"]
    attributes = json.loads((path / "zarr.json").read_text())["attributes"]
    assert attributes == {"flag_values": [0, 1], "flag_meanings": "sea land"}


def test_sidecar_comes_first(tmp_path, open_band):
    path = write(tmp_path / "a.zarr", **WATER)
    dataset = open_raster(path)
    dataset.GetRasterBand(1).SetCategoryNames(["one", "two"])
    del dataset
    assert open_band(path).GetCategoryNames() == ["one", "two"]


def write_categories(path, names, data_type=gdal.GDT_Byte, bands=1, **options):
    options = {"FORMAT": "ZARR_V3", "GEOREFERENCING_CONVENTION": "CF", **options}
    dataset = gdal.GetDriverByName("Zarr").Create(
        str(path), 4, 3, bands, data_type, [f"{key}={value}" for key, value in options.items()])
    crs = osr.SpatialReference()
    crs.ImportFromEPSG(4326)
    dataset.SetSpatialRef(crs)
    dataset.GetRasterBand(1).SetCategoryNames(names)


def attributes_of(path):
    return json.loads((path / path.stem / "zarr.json").read_text())["attributes"]


def has_sidecar(path):
    sidecar = path / path.stem / "gdal.aux.xml"
    return sidecar.exists() and "Category" in sidecar.read_text()


@pytest.mark.parametrize("names, meanings, is_exact", [
    (["water", "", "ice"], "water ice", True),
    (["open water", "ice"], "open_water ice", False),
    (["water", "ice", ""], "water ice", False),
    (["Eis/Wasser", "\u0130ce"], "Eis_Wasser __ce", False),
])
def test_written_for_other_programs(tmp_path, open_band, names, meanings, is_exact):
    path = tmp_path / "a.zarr"
    write_categories(path, names)
    attributes = attributes_of(path)
    assert attributes["flag_values"] == [i for i, name in enumerate(names) if name]
    assert attributes["flag_meanings"] == meanings
    assert has_sidecar(path) == (not is_exact)
    assert open_band(path).GetCategoryNames() == names


def test_written_and_removed(tmp_path, open_band):
    path = tmp_path / "a.zarr"
    write_categories(path, ["water", "open ice"])
    dataset = gdal.Open(str(path), gdal.GA_Update)
    dataset.GetRasterBand(1).SetCategoryNames([])
    assert dataset.GetRasterBand(1).GetCategoryNames() is None
    del dataset
    assert "flag_values" not in attributes_of(path) and "flag_meanings" not in attributes_of(path)
    assert open_band(path).GetCategoryNames() is None


@pytest.mark.parametrize("data_type, bands, convention", [
    (gdal.GDT_Float32, 1, "CF"), (gdal.GDT_Byte, 2, "CF"), (gdal.GDT_Byte, 1, "GDAL")])
def test_other_categories_stay_beside_the_store(tmp_path, open_band, data_type, bands, convention):
    """Of values that are no integers, of bands that share an array, and of other conventions."""
    path = tmp_path / "a.zarr"
    write_categories(path, ["water", "ice"], data_type, bands,
                     GEOREFERENCING_CONVENTION=convention)
    assert "flag_values" not in attributes_of(path)
    assert open_band(path).GetCategoryNames() == ["water", "ice"]


def test_written_beside_masks(tmp_path, open_band):
    path = write(tmp_path / "a.zarr", flag_masks=[1, 2], flag_meanings="cloud night")
    dataset = gdal.Open(str(path), gdal.GA_Update)
    dataset.GetRasterBand(1).SetCategoryNames(["clear", "cloud"])
    del dataset
    assert json.loads((path / "zarr.json").read_text())["attributes"]["flag_masks"] == [1, 2]
    assert open_band(path).GetCategoryNames() == ["clear", "cloud"]


def test_copies(tmp_path, open_band):
    """The flags of a copy are its attributes; other formats keep categories and table beside it."""
    path = write(tmp_path / "a.zarr", **WATER)
    run("gdal_translate", "-q", "-of", "Zarr", path, tmp_path / "b.zarr")
    assert open_band(tmp_path / "b.zarr").GetCategoryNames()[4] == "ice"
    gdal.GetDriverByName("GTiff").CreateCopy(str(tmp_path / "c.tif"), open_raster(path))
    # GDAL 3.6 does not read back the categories of GeoTIFF.
    assert "<Category>ice</Category>" in (tmp_path / "c.tif.aux.xml").read_text()
    tiff = gdal.Open(str(tmp_path / "c.tif"))
    table = tiff.GetRasterBand(1).GetDefaultRAT()
    assert [row["Class"] for row in rows(table)] == ["water", "land", "ice"]
