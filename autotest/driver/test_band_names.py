"""Bands of arrays with more dimensions are named by their place along these dimensions."""
import json

import numpy as np
import pytest
import rasterio
import rioxarray
from classic import open_raster, write_tiff
from osgeo import gdal
from stores import write_array, write_group
from test_programs import run
from webserver import serve

DAYS = 5
DATES = tuple(f"time=2020-01-{day:02}T00:00" for day in range(1, DAYS + 1))
DATA = np.arange(DAYS * 6 * 8, dtype="f4").reshape(DAYS, 6, 8)


def names(path, *options):
    dataset = open_raster(path, *options)
    return tuple(dataset.GetRasterBand(i + 1).GetDescription() for i in range(dataset.RasterCount))


@pytest.fixture
def days(tmp_path):
    path = tmp_path / "days.zarr"
    write_group(path)
    write_array(path / "t2m", DATA, (2, 4, 4), names=["time", "y", "x"],
                attributes={"long_name": "temperature", "units": "K"})
    write_array(path / "time", np.arange(DAYS), names=["time"],
                attributes={"units": "days since 2020-01-01"})
    write_array(path / "y", 5.5 - np.arange(6.0), names=["y"])
    write_array(path / "x", 0.5 + np.arange(8.0), names=["x"])
    return path


def long_name(array):
    """The content of the document of a v2 or v3 array."""
    if (array / "zarr.json").exists():
        return json.loads((array / "zarr.json").read_text())["attributes"]["long_name"]
    return json.loads((array / ".zattrs").read_text())["long_name"]


def write_cube(path, coordinates, units=None, attributes=None):
    """A band for each element of the dimensions in `coordinates`, by name."""
    write_group(path)
    lengths = [len(values) for values in coordinates.values()]
    write_array(path / "cube", np.zeros((*lengths, 2, 3), "u1"), names=[*coordinates, "y", "x"],
                attributes=attributes)
    for name, values in coordinates.items():
        if isinstance(values, range):
            continue
        values = np.asarray(values)
        options = {"attributes": {"units": (units or {}).get(name, "")}}
        if values.dtype.kind == "S":
            options |= {"fill_value": "", "data_type": {
                "name": "null_terminated_bytes",
                "configuration": {"length_bytes": values.dtype.itemsize}}}
        write_array(path / name, values, names=[name], **options)
    return path


def test_dates(days):
    assert names(days) == DATES
    with rasterio.open(days) as dataset:
        assert dataset.descriptions == DATES
        assert dataset.tags()["long_name"] == "temperature"
    output = run("gdalinfo", days)
    assert [f"Description = {date}" in output for date in DATES] == [True] * DAYS
    assert "DIM_time_DATETIME=2020-01-05T00:00:00Z" in output


@pytest.mark.parametrize("units, values, want", [
    ("hours since 1999-12-31 23:00", [1, 1.5], ["2000-01-01T00:00", "2000-01-01T00:30"]),
    ("seconds since 2000-01-01", [1, 60.25], ["2000-01-01T00:00:01", "2000-01-01T00:01:00.25"]),
    ("hPa", [500.0, 850.0], ["500 hPa", "850 hPa"]),
    ("1", [0.1, 100000.5], ["0.1", "100000.5"]),
    ("", [-1e-7, 1 / 3], ["-1e-07", "0.3333333333333333"]),
    ("days since long ago", [3, 4], ["3 days since long ago", "4 days since long ago"]),
])
def test_values(tmp_path, units, values, want):
    path = write_cube(tmp_path / "a.zarr", {"d": np.array(values)}, {"d": units})
    assert names(path) == tuple(f"d={text}" for text in want)


def test_short_floats(tmp_path):
    """A float32 is printed with as few digits as identify it."""
    path = write_cube(tmp_path / "a.zarr", {"depth": np.array([0.1, 2.55], "f4")}, {"depth": "m"})
    assert names(path) == ("depth=0.1 m", "depth=2.55 m")


def test_several_dimensions(tmp_path):
    path = write_cube(tmp_path / "a.zarr",
                      {"time": np.array([0, 31]), "level": np.array([b"low", b"top"]),
                       "run": range(2)},
                      {"time": "days since 2020-01-01"})
    assert names(path) == tuple(
        f"time={date}T00:00, level={level}, run={run}" for date in ("2020-01-01", "2020-02-01")
        for level in ("low", "top") for run in (0, 1))
    assert names(f'ZARR:"{path}":/cube:1:0:1') == ("time=2020-02-01T00:00, level=low, run=1",)


def test_numbers_of_bands_are_not_names(tmp_path):
    """A dimension Band without values only gives the number of each band."""
    path = write_cube(tmp_path / "a.zarr", {"band": range(3)})
    assert names(path) == ("",) * 3
    path = write_cube(tmp_path / "b.zarr", {"band": np.array([b"red", b"nir"])})
    assert names(path) == ("band=red", "band=nir")
    path = write_cube(tmp_path / "c.zarr", {"scenario": range(2)})
    assert names(path) == ("scenario=0", "scenario=1")


def test_names_in_the_store(tmp_path):
    """rioxarray's spelling of band names; other lists are not names."""
    with rasterio.open(tmp_path / "a.tif", "w", driver="GTiff", width=8, height=6, count=2,
                       dtype="uint8") as dataset:
        dataset.descriptions = ("red", "near infrared")
    rioxarray.open_rasterio(tmp_path / "a.tif").to_dataset(name="a").to_zarr(tmp_path / "a.zarr")
    assert names(tmp_path / "a.zarr") == ("red", "near infrared")
    assert names(f'ZARR:"{tmp_path}/a.zarr":/a:1') == ("near infrared",)
    for i, other in enumerate((["red"], ["red", 2], "red")):
        path = write_cube(tmp_path / f"{i}.zarr", {"band": np.array([1, 2])},
                          attributes={"long_name": other})
        assert names(path)[1] == "band=2"


def test_without_time_to_read_values(days):
    assert names(days, "LOAD_EXTRA_DIM_METADATA_DELAY=0") == tuple(f"time={i}" for i in range(DAYS))


def test_names_cost_what_metadata_costs(days, monkeypatch):
    """One request, for the chunk of the coordinates; opening costs none for them."""
    def count(look):
        with serve(days.parent, monkeypatch) as server:
            dataset = gdal.Open(f'ZARR:"/vsicurl/{server.url}/days.zarr":/t2m')
            opening = len(server.requests)
            assert not any("time/c/0" in path for path, _ in server.requests)
            for i in range(DAYS):
                look(dataset.GetRasterBand(i + 1))
            return [path for path, _ in server.requests[opening:]]

    assert count(lambda band: band.GetDescription()) == ["/days.zarr/time/c/0"]
    assert count(lambda band: band.GetMetadata()) == ["/days.zarr/time/c/0"]


# --- copies --------------------------------------------------------------------------------------

def test_geotiff_and_back(tmp_path, days):
    """A GeoTIFF has no dimensions: only the names are left of them, and they are kept."""
    run("gdal_translate", "-q", days, tmp_path / "a.tif")
    assert names(tmp_path / "a.tif") == DATES
    run("gdal_translate", "-q", "-of", "Zarr", tmp_path / "a.tif", tmp_path / "b.zarr")
    run("gdal_translate", "-q", "-of", "Zarr", tmp_path / "b.zarr", tmp_path / "c.zarr")
    assert names(tmp_path / "b.zarr") == names(tmp_path / "c.zarr") == DATES
    for name in "bc":
        document = tmp_path / f"{name}.zarr/{name}/.zattrs"
        assert long_name(document.parent) == "temperature" and "2020" not in document.read_text()
        np.testing.assert_array_equal(open_raster(tmp_path / f"{name}.zarr").ReadAsArray(), DATA)


@pytest.mark.parametrize("bands", [1, 2])
def test_the_name_of_an_array_is_no_description(tmp_path, bands):
    write_tiff(tmp_path / "a.tif", DATA[:bands])
    for source, copy, driver in (("a.tif", "b.zarr", "Zarr"), ("b.zarr", "c.zarr", "Zarr"),
                                 ("c.zarr", "d.tif", "GTiff")):
        run("gdal_translate", "-q", "-of", driver, tmp_path / source, tmp_path / copy)
        assert names(tmp_path / copy) == ("",) * bands
    assert "long_name" not in (tmp_path / "c.zarr/.zmetadata").read_text()


def test_the_name_of_an_array_can_be_its_description(tmp_path):
    write_tiff(tmp_path / "a.tif", DATA[:1])
    run("gdal_translate", "-q", "-of", "Zarr", tmp_path / "a.tif", tmp_path / "b.zarr")
    dataset = gdal.Open(str(tmp_path / "b.zarr"), gdal.GA_Update)
    dataset.GetRasterBand(1).SetDescription("b")
    dataset = None
    assert names(tmp_path / "b.zarr") == ("b",)
    assert long_name(tmp_path / "b.zarr/b") == "b"


@pytest.mark.parametrize("options", [["-b", "3"], ["-co", "SINGLE_ARRAY=NO"]], ids=" ".join)
def test_copied_arrays_keep_their_long_name(tmp_path, days, options):
    run("gdal_translate", "-q", "-of", "Zarr", *options, days, tmp_path / "a.zarr")
    arrays = [array for array in (tmp_path / "a.zarr").glob("*/") if array.name[0] in "aB"]
    assert [long_name(array) for array in arrays] == ["temperature"] * len(arrays)
    bands = [2] if "-b" in options else range(DAYS)
    assert len(arrays) == len(bands)
    # GDAL names the sidecar of a store with one array after the store.
    opened = [tmp_path / "a.zarr"] if len(arrays) == 1 else [
        f'ZARR:"{tmp_path}/a.zarr":/{array.name}' for array in sorted(arrays)]
    assert [names(name) for name in opened] == [(DATES[i],) for i in bands]


def test_a_slice_is_copied(tmp_path, days):
    """With the programs that copy pixels, and those that warp them."""
    source = f'ZARR:"{days}":/t2m:2'
    assert names(source) == ("time=2020-01-03T00:00",)
    run("gdal_translate", "-q", "-of", "Zarr", source, tmp_path / "a.zarr")
    run("gdalwarp", "-q", "-of", "Zarr", source, tmp_path / "b.zarr")
    for name in "ab":
        dataset = open_raster(tmp_path / f"{name}.zarr")
        np.testing.assert_array_equal(dataset.ReadAsArray(), DATA[2])
        assert dataset.GetMetadataItem("long_name") == "temperature"


# --- updates -------------------------------------------------------------------------------------

def test_opening_for_update_changes_nothing(days):
    before = {p: p.read_bytes() for p in days.parent.rglob("*") if p.is_file()}
    dataset = gdal.Open(str(days), gdal.GA_Update)
    assert dataset.GetRasterBand(1).GetDescription() == DATES[0]
    dataset = None
    assert {p: p.read_bytes() for p in days.parent.rglob("*") if p.is_file()} == before


@pytest.mark.parametrize("access", [gdal.GA_ReadOnly, gdal.GA_Update])
def test_a_name_of_its_own(days, access):
    dataset = gdal.Open(str(days), access)
    dataset.GetRasterBand(2).SetDescription("the second")
    dataset = None
    want = (DATES[0], "the second", *DATES[2:])
    assert names(days) == want
    dataset = gdal.Open(str(days), access)
    assert dataset.GetRasterBand(2).GetDescription() == "the second"
    dataset.GetRasterBand(2).SetDescription("")
    dataset = None
    assert names(days) == DATES
    assert long_name(days / "t2m") == "temperature"


def test_names_follow_the_coordinates(days):
    """A sidecar, such as one with statistics, does not keep outdated names."""
    dataset = gdal.Open(str(days))
    dataset.GetRasterBand(1).GetStatistics(False, True)
    assert dataset.GetRasterBand(1).GetDescription() == DATES[0]
    dataset = None
    beside = (days / "t2m/gdal.aux.xml").read_text()
    assert "STATISTICS_MAXIMUM" in beside and "<Description>" not in beside
    root = gdal.OpenEx(str(days), gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE).GetRootGroup()
    root.OpenMDArray("time").WriteArray(np.arange(DAYS) + 366)
    del root
    assert names(days)[0] == "time=2021-01-01T00:00"


def test_nothing_to_keep_beside_a_store(tmp_path):
    """A copy of bands without names, and removing names that do not exist."""
    write_tiff(tmp_path / "a.tif", DATA)
    run("gdal_translate", "-q", "-of", "Zarr", tmp_path / "a.tif", tmp_path / "a.zarr")
    dataset = gdal.Open(str(tmp_path / "a.zarr"), gdal.GA_Update)
    dataset.GetRasterBand(1).SetDescription("")
    dataset = None
    assert names(tmp_path / "a.zarr") == ("",) * DAYS
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.tif", "a.zarr"]


def test_name_of_an_array_of_two_dimensions(tmp_path):
    write_array(tmp_path / "a.zarr", np.zeros((4, 5), "u1"), attributes={"long_name": "nothing"})
    assert names(tmp_path / "a.zarr") == ("nothing",)


OMERO = {"channels": [{"label": "DAPI", "color": "0000FF"}, {"label": "GFP", "color": "00FF00"},
                      {"color": "none"}]}


def write_image(path, axes, version="0.5", omero=OMERO):
    """An image of OME-Zarr with a channel axis of length 4 and others of length 2."""
    image = {"datasets": [{"path": "0"}],
             "axes": [{"name": name, "type": "channel" if name == "channel" else "space"}
                      for name in axes]}
    members = {"multiscales": [image], "omero": omero}
    write_group(path, {"ome": {"version": version, **members}} if version == "0.5" else members)
    shape = [4 if name == "channel" else 2 for name in axes]
    write_array(path / "0", np.zeros(shape, "u1"))
    return path


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_channels(tmp_path, version):
    dataset = open_raster(write_image(tmp_path / "a.zarr", ["channel", "y", "x"], version))
    bands = [dataset.GetRasterBand(i) for i in (1, 2, 3, 4)]
    assert [band.GetDescription() for band in bands] == ["DAPI", "GFP", "channel=2", "channel=3"]
    assert [band.GetColorInterpretation() for band in bands] == [
        gdal.GCI_BlueBand, gdal.GCI_GreenBand, gdal.GCI_Undefined, gdal.GCI_Undefined]
    assert bands[1].GetMetadata() == {"DIM_channel_INDEX": "1", "DIM_channel_VALUE": "GFP",
                                      "DIM_channel_COLOR": "#00FF00"}


def test_channels_beside_other_dimensions(tmp_path):
    path = write_image(tmp_path / "a.zarr", ["z", "channel", "y", "x"])
    assert names(path)[:5] == ("z=0, channel=DAPI", "z=0, channel=GFP", "z=0, channel=2",
                               "z=0, channel=3", "z=1, channel=DAPI")
    # Only the axis of the image is one.
    write_array(tmp_path / "b.zarr", np.zeros((2, 2, 2), "u1"), names=["channel", "y", "x"])
    assert names(tmp_path / "b.zarr") == ("channel=0", "channel=1")


@pytest.mark.parametrize("omero", [None, 3, [], {"channels": 3}, {"channels": [3, None, []]},
                                   {"channels": [{"label": 3, "color": "zzzzzz"}] * 9}])
def test_useless_channels(tmp_path, omero):
    path = write_image(tmp_path / "a.zarr", ["channel", "y", "x"], omero=omero)
    assert names(path) == tuple(f"channel={i}" for i in range(4))
