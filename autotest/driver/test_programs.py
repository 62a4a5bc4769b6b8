"""GDAL's programs, run on stores as users run them."""
import json
import subprocess

import netCDF4
import numpy as np
import pytest
import xarray
from night import night
from osgeo import gdal, osr
from stores import BYTES, ZSTD, sharding, write_array, write_group, write_multiscale
from test_fixtures import CASES, FIXTURES

GRID = np.random.default_rng(5).integers(-500, 500, (45, 60)).astype("i2")
TEMPERATURE = np.random.default_rng(6).normal(280, 10, (4, 30, 50)).round(2)


def run(*command):
    """The output of a program that succeeds and reports no errors."""
    result = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=120
    )
    assert result.returncode == 0, result.stderr
    assert "ERROR" not in result.stderr
    return result.stdout


def wkt(code):
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(code)
    return srs.ExportToWkt()


def is_same_crs(got, want):
    return got.IsSame(want, ["IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES"])


@pytest.fixture
def utm(tmp_path):
    """Two rasters in v3, one of them in shards, and coordinates in metres, south up."""
    path = tmp_path / "utm.zarr"
    write_group(path)
    attributes = {"_CRS": {"wkt": wkt(32633)}, "units": "m", "_FillValue": -9999}
    write_array(path / "height", GRID, (16, 32), [sharding((8, 16), [BYTES, ZSTD])],
                fill_value=-9999, names=["y", "x"], attributes=attributes)
    write_array(path / "depth", -GRID, (16, 32), fill_value=-9999, names=["y", "x"],
                attributes=attributes)
    write_array(path / "x", 300_005 + 10.0 * np.arange(60), names=["x"],
                attributes={"standard_name": "projection_x_coordinate", "units": "m"})
    write_array(path / "y", 5_000_005 + 10.0 * np.arange(45), names=["y"],
                attributes={"standard_name": "projection_y_coordinate", "units": "m"})
    return path


@pytest.fixture
def climate(tmp_path):
    """xarray's form of packed data on three axes, in v2."""
    path = tmp_path / "climate.zarr"
    dataset = xarray.Dataset(
        {"t2m": (("time", "lat", "lon"), TEMPERATURE,
                 {"units": "K", "standard_name": "air_temperature", "cell_methods": "time: mean",
                  "valid_range": np.array([-9000, 9000], "i2"), "grid_mapping": "crs"})},
        coords={
            "time": ("time", np.arange(4.0), {"units": "days since 2000-01-01", "axis": "T"}),
            "lat": ("lat", np.linspace(60, 45.5, 30),
                    {"units": "degrees_north", "standard_name": "latitude"}),
            "lon": ("lon", np.linspace(0, 24.5, 50),
                    {"units": "degrees_east", "standard_name": "longitude"}),
            "crs": ((), 0, {"grid_mapping_name": "latitude_longitude", "crs_wkt": wkt(4258)}),
        },
        attrs={"title": "made for a test", "Conventions": "CF-1.8"},
    )
    packing = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 280.0, "_FillValue": -32768,
               "chunks": (2, 16, 16)}
    dataset.to_zarr(path, encoding={"t2m": packing})
    return path


# --- gdalinfo and gdalmdiminfo, on what others wrote ----------------------------------------------

def load_json(text):
    """Without the words that Python accepts and JSON does not have."""
    def refuse(word):
        raise ValueError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


def find_array(group, path):
    *groups, name = path.strip("/").split("/")
    for part in groups:
        group = group["groups"][part]
    return group["arrays"][name or next(iter(group["arrays"]))]


def flatten(values):
    """The elements of nested lists, in C order."""
    return [x for part in values for x in flatten(part)] if isinstance(values, list) else [values]


def as_number(value, dtype):
    """Complex numbers are objects; NaN and the infinities are strings."""
    if isinstance(value, dict):
        return complex(float(value["real"]), float(value["imag"]))
    return dtype.type(value)


# By day a part of the stores, which other tests read through the library.
SOME = [case if i % 9 == 0 else pytest.param(*case.values, id=case.id, marks=night)
        for i, case in enumerate(CASES)]


@pytest.mark.parametrize("entry", SOME)
def test_gdalmdiminfo(entry):
    """All metadata of a store, and all its values."""
    info = load_json(run("gdalmdiminfo", "-detailed", FIXTURES / entry["store"]))
    assert info["driver"] == "Zarr"
    array = find_array(info, entry["array"])
    if "expected_json" in entry:
        assert array["values"] == json.loads((FIXTURES / entry["expected_json"]).read_text())
    if "expected" in entry:
        want = np.load(FIXTURES / entry["expected"])
        want = want.view("i8") if want.dtype.kind in "mM" else want
        assert array.get("dimension_size", []) == list(want.shape)
        got = np.array([as_number(v, want.dtype) for v in flatten(array["values"])], want.dtype)
        np.testing.assert_array_equal(got.reshape(want.shape), want)


@pytest.mark.parametrize("entry", SOME)
def test_gdalinfo(entry):
    """Statistics of each band; an error if the store has no raster."""
    # Without PAM, no statistics are left beside the store.
    command = ["gdalinfo", "-json", "-stats", "--config", "GDAL_PAM_ENABLED", "NO",
               str(FIXTURES / entry["store"])]
    # Not by run(): gdalinfo reports a band without valid pixels as an error, and continues.
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    want = np.load(FIXTURES / entry["expected"]) if "expected" in entry else None
    if "expected_json" in entry or (want is not None and want.dtype.kind in "SU"):
        assert result.returncode == 1
        assert "has no array that can be shown as a raster" in result.stderr
        return
    if want is not None and want.size == 0:
        assert result.returncode == 1
        assert "a dimension of length 0 cannot be an axis of a raster" in result.stderr
        return

    assert result.returncode == 0, result.stderr
    info = load_json(result.stdout)
    assert info["driverShortName"] == "Zarr" and info["bands"]
    if want is not None and want.dtype.kind != "c":
        want = want.view("i8") if want.dtype.kind in "mM" else want
        columns, rows = info["size"]
        for band, data in zip(info["bands"], want.reshape(-1, rows, columns), strict=True):
            assert_statistics(band, data)


def assert_statistics(band, data):
    valid = data[data == data]
    if "noDataValue" in band:
        valid = valid[valid != data.dtype.type(band["noDataValue"])]
    if valid.size == 0:
        assert "minimum" not in band
        return
    got = [float(band["metadata"][""][f"STATISTICS_{name}"]) for name in ("MINIMUM", "MAXIMUM")]
    assert got == pytest.approx([float(valid.min()), float(valid.max())], rel=1e-12)


def test_gdalmanage(utm):
    assert run("gdalmanage", "identify", utm).strip() == f"{utm}: Zarr"


# --- gdal_translate ------------------------------------------------------------------------------

def test_subdatasets(utm, tmp_path):
    names = [f'ZARR:"{utm}":/depth', f'ZARR:"{utm}":/height']
    info = json.loads(run("gdalinfo", "-json", utm))
    listed = info["metadata"]["SUBDATASETS"]
    assert [listed["SUBDATASET_1_NAME"], listed["SUBDATASET_2_NAME"]] == names
    run("gdal_translate", "-q", "-sds", utm, tmp_path / "out.tif")
    for i, want in ((1, -GRID), (2, GRID)):
        np.testing.assert_array_equal(gdal.Open(str(tmp_path / f"out_{i}.tif")).ReadAsArray(), want)


def test_subdataset_keeps_its_place(utm, tmp_path):
    run("gdal_translate", "-q", f'ZARR:"{utm}":/height', tmp_path / "out.tif")
    copy = gdal.Open(str(tmp_path / "out.tif"))
    assert copy.GetGeoTransform() == (300_000, 10, 0, 5_000_000, 0, 10)
    assert is_same_crs(copy.GetSpatialRef(), gdal.Open(f'ZARR:"{utm}":/height').GetSpatialRef())
    assert copy.GetRasterBand(1).GetNoDataValue() == -9999
    assert copy.GetRasterBand(1).GetUnitType() == "m"


@pytest.mark.parametrize("index", [0, 3])
def test_slice(climate, tmp_path, index):
    run("gdal_translate", "-q", f'ZARR:"{climate}":/t2m:{index}', tmp_path / "out.tif")
    copy = gdal.Open(str(tmp_path / "out.tif"))
    band = copy.GetRasterBand(1)
    assert (band.GetScale(), band.GetOffset(), band.GetNoDataValue()) == (0.01, 280, -32768)
    assert (band.GetUnitType(), band.DataType) == ("K", gdal.GDT_Int16)
    np.testing.assert_allclose(band.ReadAsArray() * 0.01 + 280, TEMPERATURE[index], atol=0.006)


def test_bands_of_a_place(climate, tmp_path):
    """Two of the bands, unpacked; corners in degrees."""
    run("gdal_translate", "-q", "-b", 4, "-b", 2, "-unscale", "-ot", "Float64",
        "-projwin", 2.25, 57.75, 12.25, 50.25, climate, tmp_path / "out.tif")
    copy = gdal.Open(str(tmp_path / "out.tif"))
    assert copy.GetGeoTransform() == pytest.approx((2.25, 0.5, 0, 57.75, 0, -0.5))
    np.testing.assert_allclose(copy.ReadAsArray(), TEMPERATURE[[3, 1], 5:20, 5:25], atol=0.006)


# --- gdalwarp, gdalbuildvrt, gdallocationinfo -----------------------------------------------------

@pytest.mark.parametrize("options", [
    ["-t_srs", "EPSG:4326", "-r", "cubic"],
    ["-te", 300_100, 5_000_100, 300_500, 5_000_400, "-tr", 7, 13, "-r", "bilinear"],
    ["-ts", 20, 15, "-r", "average"],
], ids=lambda options: options[0])
def test_gdalwarp_south_up(utm, tmp_path, options):
    run("gdal_translate", "-q", f'ZARR:"{utm}":/height', tmp_path / "twin.tif")
    for source, name in ((f'ZARR:"{utm}":/height', "got.tif"), (tmp_path / "twin.tif", "want.tif")):
        run("gdalwarp", "-q", *options, source, tmp_path / name)
    got, want = (gdal.Open(str(tmp_path / name)) for name in ("got.tif", "want.tif"))
    # The result starts in the north.
    assert got.GetGeoTransform() == want.GetGeoTransform() and got.GetGeoTransform()[5] < 0
    assert (want.ReadAsArray() != -9999).mean() > 0.5
    np.testing.assert_array_equal(got.ReadAsArray(), want.ReadAsArray())


def test_gdalwarp_of_bands(climate, tmp_path):
    run("gdal_translate", "-q", climate, tmp_path / "twin.tif")
    for source, name in ((climate, "got.tif"), (tmp_path / "twin.tif", "want.tif")):
        run("gdalwarp", "-q", "-t_srs", "EPSG:3035", "-r", "bilinear", "-multi", "-wo",
            "NUM_THREADS=2", source, tmp_path / name)
    got, want = (gdal.Open(str(tmp_path / name)) for name in ("got.tif", "want.tif"))
    assert (got.RasterCount, got.GetGeoTransform()) == (4, want.GetGeoTransform())
    assert (got.ReadAsArray() != -32768).mean() > 0.5
    np.testing.assert_array_equal(got.ReadAsArray(), want.ReadAsArray())


def test_gdalwarp_by_geolocation(tmp_path):
    """A grid that is rotated by 30 degrees: two arrays give the position of its pixels."""
    row, column = np.indices((60, 80))
    angle = np.radians(30)
    lon = 10 + 0.1 * (column * np.cos(angle) + row * np.sin(angle))
    lat = 50 + 0.1 * (column * np.sin(angle) - row * np.cos(angle))
    xarray.Dataset(
        {"height": (("row", "column"), 100 * lat + lon)},
        coords={"lon": (("row", "column"), lon, {"units": "degrees_east"}),
                "lat": (("row", "column"), lat, {"units": "degrees_north"})},
    ).to_zarr(tmp_path / "a.zarr", encoding={"height": {"dtype": "f4"}})
    run("gdalwarp", "-q", "-geoloc", "-t_srs", "EPSG:4326", "-r", "bilinear", "-tr", 0.1, 0.1,
        "-te", 12, 49, 15, 51, tmp_path / "a.zarr", tmp_path / "a.tif")
    warped = gdal.Open(str(tmp_path / "a.tif")).ReadAsArray()
    want = 100 * (51 - 0.1 * (np.arange(20)[:, None] + 0.5)) + 12 + 0.1 * (np.arange(30) + 0.5)
    # From row to row it changes by 10; GDAL's index is accurate to a fifth of a pixel.
    np.testing.assert_allclose(warped, want, rtol=0, atol=2)


def test_overviews(tmp_path):
    """gdalinfo lists them; gdalwarp and gdallocationinfo read from them."""
    path = write_multiscale(tmp_path / "a.zarr")
    (band,) = json.loads(run("gdalinfo", "-json", path))["bands"]
    assert [overview["size"] for overview in band["overviews"]] == [[48, 32], [24, 16]]
    for level in (0, 1):
        got = run("gdallocationinfo", "-valonly", "-overview", level + 1, path, 50, 50)
        assert int(got) == 20 * 2**level
    for size, factor in ((96, 1), (48, 2), (24, 4), (12, 4)):
        target = tmp_path / f"{size}.tif"
        run("gdalwarp", "-q", "-t_srs", "EPSG:3857", "-ts", size, 0, path, target)
        assert set(gdal.Open(str(target)).ReadAsArray().ravel()) - {255} == {10 * factor}


def test_gdalbuildvrt_mosaic(tmp_path):
    """Stores beside each other."""
    crs = {"_CRS": {"wkt": wkt(32633)}}
    for i in range(2):
        tile = tmp_path / f"{i}.zarr"
        write_group(tile)
        write_array(tile / "a", GRID + i, (16, 32), names=["y", "x"], attributes=crs)
        write_array(tile / "x", 600 * i + 10.0 * np.arange(60) + 5, names=["x"])
        write_array(tile / "y", 10.0 * np.arange(45)[::-1] + 5, names=["y"])
    run("gdalbuildvrt", "-q", tmp_path / "all.vrt", tmp_path / "0.zarr", tmp_path / "1.zarr")
    mosaic = gdal.Open(str(tmp_path / "all.vrt"))
    assert mosaic.GetGeoTransform() == (0, 10, 0, 450, 0, -10)
    np.testing.assert_array_equal(mosaic.ReadAsArray(), np.hstack([GRID, GRID + 1]))


def test_gdalbuildvrt_stack(climate, tmp_path):
    """Slices of an array as the bands of a raster."""
    slices = [f'ZARR:"{climate}":/t2m:{i}' for i in (3, 0)]
    run("gdalbuildvrt", "-q", "-separate", tmp_path / "stack.vrt", *slices)
    got = gdal.Open(str(tmp_path / "stack.vrt")).ReadAsArray()
    np.testing.assert_allclose(got * 0.01 + 280, TEMPERATURE[[3, 0]], atol=0.006)


def test_gdallocationinfo(utm, climate):
    height = f'ZARR:"{utm}":/height'
    assert run("gdallocationinfo", "-valonly", height, 13, 37) == f"{GRID[37, 13]}\n"
    got = run("gdallocationinfo", "-valonly", "-geoloc", height, 300_135, 5_000_375)
    assert got == f"{GRID[37, 13]}\n"
    got = run("gdallocationinfo", "-valonly", "-b", 4, "-b", 1, "-wgs84", climate, 10.0, 52.5)
    packed = [round((TEMPERATURE[i, 15, 20] - 280) * 100) for i in (3, 0)]
    assert [int(line) for line in got.split()] == packed


# --- gdalmdimtranslate ---------------------------------------------------------------------------

def open_root(path):
    return gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER).GetRootGroup()


def attributes(node):
    return {attribute.GetName(): attribute.Read() for attribute in node.GetAttributes()}


def assert_same_array(got, want):
    assert [(d.GetName(), d.GetSize()) for d in got.GetDimensions()] == [
        (d.GetName(), d.GetSize()) for d in want.GetDimensions()
    ]
    assert got.GetDataType().GetNumericDataType() == want.GetDataType().GetNumericDataType()
    np.testing.assert_array_equal(got.ReadAsArray(), want.ReadAsArray())
    for what in ("GetUnit", "GetScale", "GetOffset"):
        assert getattr(got, what)() == getattr(want, what)()
    assert got.GetNoDataValue() == pytest.approx(want.GetNoDataValue(), nan_ok=True)


def test_to_netcdf(climate, tmp_path):
    """As another library reads it."""
    run("gdalmdimtranslate", "-q", climate, tmp_path / "a.nc")
    with netCDF4.Dataset(tmp_path / "a.nc") as copy:
        assert copy.title == "made for a test"
        sizes = {name: dimension.size for name, dimension in copy.dimensions.items()}
        assert sizes == {"time": 4, "lat": 30, "lon": 50}
        t2m = copy["t2m"]
        assert (t2m.dimensions, t2m.dtype) == (("time", "lat", "lon"), np.dtype("i2"))
        assert (t2m.scale_factor, t2m.add_offset, t2m._FillValue) == (0.01, 280, -32768)
        assert (t2m.units, t2m.standard_name) == ("K", "air_temperature")
        assert (t2m.cell_methods, t2m.valid_range.tolist()) == ("time: mean", [-9000, 9000])
        np.testing.assert_allclose(t2m[:], TEMPERATURE, atol=0.006)
        assert copy["time"].units == "days since 2000-01-01"
        np.testing.assert_array_equal(copy["lat"][:], np.linspace(60, 45.5, 30))
        assert copy[t2m.grid_mapping].grid_mapping_name == "latitude_longitude"


def test_netcdf_through_gdal(climate, tmp_path):
    run("gdalmdimtranslate", "-q", climate, tmp_path / "a.nc")
    want, got = open_root(climate), open_root(tmp_path / "a.nc")
    assert attributes(want).items() <= attributes(got).items()
    for name in ("t2m", "time", "lat", "lon"):
        source, copy = want.OpenMDArray(name), got.OpenMDArray(name)
        assert_same_array(copy, source)
        # These two have become the unit and the CRS of the array.
        own = {k: v for k, v in attributes(source).items() if k not in ("units", "grid_mapping")}
        assert own.items() <= attributes(copy).items()
    crs = [root.OpenMDArray("t2m").GetSpatialRef() for root in (got, want)]
    assert is_same_crs(*crs)


def test_netcdf_and_back(climate, tmp_path):
    run("gdalmdimtranslate", "-q", climate, tmp_path / "a.nc")
    run("gdalmdimtranslate", "-q", "-of", "Zarr", tmp_path / "a.nc", tmp_path / "back.zarr")
    want, got = open_root(climate), open_root(tmp_path / "back.zarr")
    for name in ("t2m", "time", "lat", "lon"):
        assert_same_array(got.OpenMDArray(name), want.OpenMDArray(name))
    crs = [root.OpenMDArray("t2m").GetSpatialRef() for root in (got, want)]
    assert is_same_crs(*crs)


@pytest.mark.parametrize("options, index", [
    (["-array", "name=t2m,view=[2]"], np.s_[2]),
    (["-array", "name=t2m,view=[:,15]"], np.s_[:, 15]),
    (["-array", "name=t2m,transpose=[2,0,1]"], np.s_[:]),
    (["-array", "t2m", "-subset", "lat(50,55)", "-subset", "time(1,2)"], np.s_[1:3, 10:21]),
    (["-array", "t2m", "-scaleaxes", "lon(2)"], np.s_[:, :, ::2]),
], ids=["time", "row", "transpose", "subset", "scaleaxes"])
def test_part_to_netcdf(climate, tmp_path, options, index):
    run("gdalmdimtranslate", "-q", *options, climate, tmp_path / "a.nc")
    want = TEMPERATURE[index]
    if "transpose" in options[1]:
        want = want.transpose(2, 0, 1)
    with netCDF4.Dataset(tmp_path / "a.nc") as copy:
        np.testing.assert_allclose(copy["t2m"][:], want, atol=0.006)


def test_unnamed_dimensions_to_netcdf(tmp_path):
    """They belong to no group, so no search for one is made."""
    write_group(tmp_path / "a.zarr")
    write_group(tmp_path / "a.zarr/deep")
    write_array(tmp_path / "a.zarr/deep/grid", GRID)
    run("gdalmdimtranslate", "-q", tmp_path / "a.zarr", tmp_path / "a.nc")
    with netCDF4.Dataset(tmp_path / "a.nc") as copy:
        np.testing.assert_array_equal(copy["deep/grid"][:], GRID)
