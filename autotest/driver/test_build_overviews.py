"""Overviews that are built in the store."""
import json
import subprocess

import numpy as np
import pytest
import zarr
from classic import listed_arrays
from osgeo import gdal, osr
from test_programs import run
from v2_stores import write_v2

METHODS = ["NEAREST", "AVERAGE", "RMS", "GAUSS", "BILINEAR", "CUBIC", "CUBICSPLINE", "LANCZOS",
           "MODE"]
LAYOUTS = {
    "v2": [],
    "bands by pixel": ["INTERLEAVE=PIXEL", "COMPRESS=BLOSC"],
    "v3": ["FORMAT=ZARR_V3", "COMPRESS=ZSTD", "BLOCKSIZE=1,32,32"],
    "shards": ["FORMAT=ZARR_V3", "COMPRESS=GZIP", "BLOCKSIZE=1,64,64", "SHARD_CHUNK_SHAPE=1,16,16"],
}
DATA = np.random.default_rng(11).random((2, 100, 150)).astype("f4")


def in_memory(data=DATA):
    raster = gdal.GetDriverByName("MEM").Create("", data.shape[2], data.shape[1], len(data),
                                                gdal.GDT_Float32)
    raster.WriteArray(data)
    crs = osr.SpatialReference()
    crs.ImportFromEPSG(32633)
    raster.SetSpatialRef(crs)
    raster.SetGeoTransform([500000, 10, 0, 5000000, 0, -10])
    return raster


def make(path, options=(), data=DATA):
    gdal.Translate(str(path), in_memory(data), format="Zarr", creationOptions=list(options))
    return str(path)


def build(name, method, factors):
    raster = gdal.OpenEx(name, gdal.OF_RASTER | gdal.OF_UPDATE)
    assert raster.BuildOverviews(method, factors) == gdal.CE_None


def overviews(raster, band=1):
    band = raster.GetRasterBand(band)
    return [band.GetOverview(i).ReadAsArray() for i in range(band.GetOverviewCount())]


def nodes(path):
    return sorted(p.name for p in path.iterdir() if not p.name.startswith("."))


def reduced(data, method, factor):
    """A level as GDAL makes it, for each band."""
    raster = in_memory(data)
    raster.BuildOverviews(method, [factor])
    return np.stack([overviews(raster, band + 1)[0] for band in range(len(data))])


@pytest.mark.parametrize("factor", [2, 3])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_method_gives_what_gdal_gives(tmp_path, layout, method, factor):
    name = make(tmp_path / "a.zarr", LAYOUTS[layout])
    build(name, method, [factor])
    raster = gdal.Open(name)
    expected = reduced(DATA, method, factor)
    for band in (1, 2):
        (level,) = overviews(raster, band)
        np.testing.assert_array_equal(level, expected[band - 1])
    np.testing.assert_array_equal(raster.ReadAsArray(), DATA)


def test_gdaladdo_renews_the_levels_that_it_names(tmp_path):
    path = tmp_path / "a.zarr"
    name = make(path)
    before = nodes(path)
    run("gdaladdo", "-q", "-r", "AVERAGE", name, "2", "4")
    assert [o.shape for o in overviews(gdal.Open(name))] == [(50, 75), (25, 38)]
    changed = gdal.OpenEx(name, gdal.OF_RASTER | gdal.OF_UPDATE)
    changed.WriteArray(np.zeros_like(DATA))
    changed = None
    run("gdaladdo", "-q", "-r", "NEAREST", name, "8", "4")
    half, quarter, eighth = overviews(gdal.Open(name))
    assert (quarter.shape, eighth.shape) == ((25, 38), (13, 19))
    np.testing.assert_array_equal(half, reduced(DATA, "AVERAGE", 2)[0])
    assert not quarter.any() and not eighth.any()
    assert nodes(path) == sorted([*before, "ovr_2x", "ovr_4x", "ovr_8x"])
    layout = zarr.open_consolidated(name, mode="r").attrs["multiscales"]["layout"]
    assert [entry.get("resampling_method") for entry in layout] == [None, "AVERAGE", "NEAREST",
                                                                    "NEAREST"]


def test_gdaladdo_cleans(tmp_path):
    path = tmp_path / "a.zarr"
    name = make(path)
    before = nodes(path)
    for level in ("2", "8"):
        run("gdaladdo", "-q", name, level)
    run("gdaladdo", "-q", "-clean", name)
    assert overviews(gdal.Open(name)) == []
    assert nodes(path) == before
    assert "multiscales" not in zarr.open_consolidated(name, mode="r").attrs


def test_a_cancelled_build_keeps_the_other_levels(tmp_path):
    name = make(tmp_path / "a.zarr")
    build(name, "NEAREST", [2, 4])
    raster = gdal.OpenEx(name, gdal.OF_RASTER | gdal.OF_UPDATE)
    with pytest.raises(RuntimeError, match="stopped by the user"):
        raster.BuildOverviews("AVERAGE", [4, 8], lambda done, *_: done < 0.5)
    raster = None
    assert [o.shape for o in overviews(gdal.Open(name))] == [(50, 75)]


def test_creation_options_are_warned_of(tmp_path):
    raster = gdal.OpenEx(make(tmp_path / "a.zarr"), gdal.OF_RASTER | gdal.OF_UPDATE)
    warnings = []
    gdal.PushErrorHandler(lambda severity, number, message: warnings.append(message))
    raster.BuildOverviews("NEAREST", [2], options=["COMPRESS=ZSTD"])
    gdal.PopErrorHandler()
    assert len(warnings) == 1 and "COMPRESS=ZSTD has no effect" in warnings[0]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_levels_lie_where_the_raster_lies(tmp_path, layout):
    path = tmp_path / "a.zarr"
    build(make(path, LAYOUTS[layout]), "NEAREST", [2])
    level = gdal.Open(f'ZARR:"{path}":/ovr_2x/a')
    assert level.GetGeoTransform() == (500000, 20, 0, 5000000, 0, -20)
    assert level.GetSpatialRef().GetAuthorityCode(None) == "32633"
    # A level by itself also states it, for readers that do not know the pyramid.
    alone = gdal.Open(str(path / "ovr_2x"))
    assert alone.GetGeoTransform() == level.GetGeoTransform()


def test_the_layout_says_what_is_derived_from_what(tmp_path):
    path = tmp_path / "a.zarr"
    build(make(path, ["FORMAT=ZARR_V3"]), "CUBIC", [2, 4])
    attributes = json.loads((path / "zarr.json").read_text())["attributes"]
    assert "d35379db-88df-4056-af3a-620245f8e347" in json.dumps(attributes["zarr_conventions"])
    finest, half, quarter = attributes["multiscales"]["layout"]
    assert finest == {"asset": "a", "transform": {"scale": [1, 1, 1]}}
    assert (half["asset"], half["derived_from"]) == ("ovr_2x", "a")
    assert half["transform"] == {"scale": [1, 2, 2], "translation": [0, 0, 0]}
    assert half["spatial:shape"] == [50, 75]
    assert half["spatial:transform"] == [20, 0, 500000, 0, -20, 5000000]
    assert half["resampling_method"] == "CUBIC"
    assert (quarter["asset"], quarter["derived_from"]) == ("ovr_4x", "ovr_2x")


def test_arrays_of_one_group_share_the_levels(tmp_path):
    path = tmp_path / "a.zarr"
    make(path, ["SINGLE_ARRAY=NO"])
    for array in ("Band1", "Band2"):
        build(f'ZARR:"{path}":/{array}', "NEAREST", [2])
    for i, array in enumerate(("Band1", "Band2")):
        (half,) = overviews(gdal.Open(f'ZARR:"{path}":/{array}'))
        np.testing.assert_array_equal(half, reduced(DATA, "NEAREST", 2)[i])
    assert len(listed_arrays(path)) == 2
    first = gdal.OpenEx(f'ZARR:"{path}":/Band1', gdal.OF_RASTER | gdal.OF_UPDATE)
    first.BuildOverviews("NONE", [])
    first = None
    assert overviews(gdal.Open(f'ZARR:"{path}":/Band1')) == []
    assert len(overviews(gdal.Open(f'ZARR:"{path}":/Band2'))) == 1


def finest_asset(path):
    return json.loads((path / ".zattrs").read_text())["multiscales"]["layout"][0]["asset"]


def test_a_pyramid_of_one_array_becomes_shared_and_back(tmp_path):
    """GDAL's built-in driver sees that of one array only by its name."""
    path = tmp_path / "a.zarr"
    make(path, ["SINGLE_ARRAY=NO"])
    build(f'ZARR:"{path}":/Band1', "NEAREST", [2])
    assert finest_asset(path) == "Band1"
    assert overviews(gdal.Open(f'ZARR:"{path}":/Band2')) == []
    build(f'ZARR:"{path}":/Band2', "NEAREST", [2, 4])
    assert finest_asset(path) == "."
    assert len(overviews(gdal.Open(f'ZARR:"{path}":/Band1'))) == 1
    assert len(overviews(gdal.Open(f'ZARR:"{path}":/Band2'))) == 2
    build(f'ZARR:"{path}":/Band1', "NEAREST", [])
    assert finest_asset(path) == "Band2"
    assert len(overviews(gdal.Open(f'ZARR:"{path}":/Band2'))) == 2


def test_stores_with_a_group_as_finest_level(tmp_path):
    """Earlier versions of this driver wrote the group even for one array."""
    path = tmp_path / "a.zarr"
    build(make(path), "NEAREST", [2])
    (path / ".zmetadata").unlink()
    attributes = json.loads((path / ".zattrs").read_text())
    layout = attributes["multiscales"]["layout"]
    layout[0]["asset"] = layout[1]["derived_from"] = "."
    (path / ".zattrs").write_text(json.dumps(attributes))
    (half,) = overviews(gdal.Open(str(path)))
    np.testing.assert_array_equal(half, reduced(DATA, "NEAREST", 2)[0])
    build(str(path), "NEAREST", [4])
    assert [o.shape for o in overviews(gdal.Open(str(path)))] == [(50, 75), (25, 38)]
    assert finest_asset(path) == "a"


@pytest.mark.parametrize("stop_at", [0.1, 0.9])
def test_a_cancelled_build_leaves_no_levels(tmp_path, stop_at):
    path = tmp_path / "a.zarr"
    name = make(path)
    before = nodes(path)
    build(name, "NEAREST", [2])
    raster = gdal.OpenEx(name, gdal.OF_RASTER | gdal.OF_UPDATE)
    with pytest.raises(RuntimeError):
        raster.BuildOverviews("AVERAGE", [2, 4], lambda done, *_: done < stop_at)
    assert raster.GetRasterBand(1).GetOverviewCount() == 0
    raster = None
    assert nodes(path) == before
    assert "multiscales" not in zarr.open_consolidated(name, mode="r").attrs


def test_bad_arguments_change_nothing(tmp_path):
    name = make(tmp_path / "a.zarr")
    build(name, "NEAREST", [2])
    raster = gdal.OpenEx(name, gdal.OF_RASTER | gdal.OF_UPDATE)
    with pytest.raises(RuntimeError, match="1 is not a valid overview factor"):
        raster.BuildOverviews("AVERAGE", [4, 1])
    with pytest.raises(RuntimeError, match="NONSENSE"):
        raster.BuildOverviews("NONSENSE", [4])
    assert [o.shape for o in overviews(raster)] == [(50, 75)]
    raster = None
    assert [o.shape for o in overviews(gdal.Open(name))] == [(50, 75)]


def test_old_handles_of_overviews_are_safe(tmp_path):
    """They see new values, or say that the array they are of has been replaced."""
    name = make(tmp_path / "a.zarr")
    build(name, "NEAREST", [2])
    raster = gdal.OpenEx(name, gdal.OF_RASTER | gdal.OF_UPDATE)
    band = raster.GetRasterBand(1)
    old = band.GetOverview(0)
    old.ReadBlock(0, 0)
    old.ReadAsArray()
    raster.BuildOverviews("AVERAGE", [2])
    for level in (band.GetOverview(0), old):
        np.testing.assert_array_equal(level.ReadAsArray(), reduced(DATA, "AVERAGE", 2)[0])
    raster.BuildOverviews("NONE", [])
    with pytest.raises(RuntimeError, match="has been deleted"):
        old.ReadAsArray()


def test_chunks_are_no_larger_than_their_level(tmp_path):
    path = tmp_path / "a.zarr"
    build(make(path, LAYOUTS["shards"]), "NEAREST", [2, 16])
    grids = [json.loads((path / level / "a/zarr.json").read_text())["chunk_grid"]
             for level in ("ovr_2x", "ovr_16x")]
    assert [g["configuration"]["chunk_shape"] for g in grids] == [[1, 64, 64], [1, 16, 16]]


def test_of_more_dimensions_only_x_and_y_shrink(tmp_path):
    data = np.random.default_rng(5).integers(0, 99, (2, 3, 40, 60)).astype("i2")
    names = {"_ARRAY_DIMENSIONS": ["time", "level", "y", "x"]}
    write_v2(tmp_path / "a.zarr", "a", data, names, chunks=(1, 2, 16, 16))
    name = str(tmp_path / "a.zarr")
    build(name, "NEAREST", [2])
    half = zarr.open(name, mode="r")["ovr_2x/a"]
    assert half.shape == (2, 3, 20, 30)
    expected = reduced(data.reshape(6, 40, 60).astype("f4"), "NEAREST", 2)
    np.testing.assert_array_equal(half[:], expected.reshape(half.shape))


def test_Band_alone_is_renewed(tmp_path):
    name = make(tmp_path / "a.zarr")
    build(name, "NEAREST", [2])
    raster = gdal.OpenEx(name, gdal.OF_RASTER | gdal.OF_UPDATE)
    raster.WriteArray(DATA + 1)
    gdal.RegenerateOverviews(raster.GetRasterBand(2), [raster.GetRasterBand(2).GetOverview(0)],
                             "NEAREST")
    raster = None
    expected = reduced(DATA, "NEAREST", 2)
    np.testing.assert_array_equal(overviews(gdal.Open(name), 1)[0], expected[0])
    np.testing.assert_array_equal(overviews(gdal.Open(name), 2)[0], expected[1] + 1)


def test_a_slice_has_no_overviews_of_its_own(tmp_path):
    path = tmp_path / "a.zarr"
    make(path)
    raster = gdal.OpenEx(f'ZARR:"{path}":/a:1', gdal.OF_RASTER | gdal.OF_UPDATE)
    with pytest.raises(RuntimeError, match="not for a slice"):
        raster.BuildOverviews("NEAREST", [2])
    raster = None
    assert overviews(gdal.Open(str(path))) == []


def test_a_store_of_several_rasters_is_no_raster(tmp_path):
    """The error names its arrays in the form in which they open."""
    path = make(tmp_path / "several.zarr", ["ARRAY_NAME=height"])
    make(path, ["APPEND_SUBDATASET=YES", "ARRAY_NAME=slope"])
    result = subprocess.run(["gdaladdo", "-r", "average", path, "2"], capture_output=True,
                            text=True)
    assert result.returncode != 0
    names = [f'ZARR:"{path}":/{name}' for name in ("height", "slope")]
    assert f"{path} has several rasters" in result.stderr and ", ".join(names) in result.stderr
    for name in names:
        run("gdaladdo", "-q", "-r", "average", name, "2")
        dataset = gdal.Open(name)
        assert dataset.GetRasterBand(1).GetOverviewCount() == 1
    for name in "abcdefghijkl":
        make(path, ["APPEND_SUBDATASET=YES", f"ARRAY_NAME={name}"])
    with pytest.raises(RuntimeError, match="several rasters.*…$"):
        gdal.Open(str(path), gdal.GA_Update).BuildOverviews("AVERAGE", [2])


@pytest.mark.parametrize("tool", [gdal.Translate, gdal.Warp])
def test_overviews_come_by_themselves(tmp_path, tool):
    data = np.random.default_rng(5).random((1, 600, 700)).astype("f4")
    name = str(tmp_path / "a.zarr")
    tool(name, in_memory(data), format="Zarr", creationOptions=["OVERVIEWS=AUTO"])
    raster = gdal.Open(name)
    shapes = [o.shape for o in overviews(raster)]
    assert shapes == [(300, 350), (150, 175)]
    np.testing.assert_array_equal(overviews(raster)[0], reduced(data, "AVERAGE", 2)[0])
