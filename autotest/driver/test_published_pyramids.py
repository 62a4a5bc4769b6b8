"""Pyramids as programs publish them: xcube's levels, tile matrix sets, several in one list."""
import json

import numpy as np
import pytest
from classic import open_raster
from osgeo import gdal
from stores import consolidate, write_array, write_group
from test_programs import run
from v2_stores import write_v2, write_v2_group
from webserver import serve

FINE = np.arange(64 * 48, dtype="f4").reshape(48, 64)


def write_level(group, size, version=3):
    """A dataset as xarray writes it, at 1 / size of the resolution."""
    data = FINE[::size, ::size]
    arrays = {"v": (data, ["lat", "lon"], {})}
    for name, cells, start, step, unit in (
            ("lat", data.shape[0], 50, -0.5 * size, "degrees_north"),
            ("lon", data.shape[1], 10, 0.5 * size, "degrees_east")):
        arrays[name] = (start + step * (np.arange(cells) + 0.5), [name], {"units": unit})
    if version == 2:
        write_v2_group(group)
    else:
        write_group(group)
    for name, (values, dims, attributes) in arrays.items():
        if version == 2:
            write_v2(group, name, values, {"_ARRAY_DIMENSIONS": dims} | attributes)
        else:
            write_array(group / name, values, names=dims, attributes=attributes)


def check(raster, sizes=((32, 24), (16, 12))):
    band = raster.GetRasterBand(1)
    np.testing.assert_array_equal(band.ReadAsArray(), FINE)
    overviews = [band.GetOverview(i) for i in range(band.GetOverviewCount())]
    assert tuple((o.XSize, o.YSize) for o in overviews) == sizes
    np.testing.assert_array_equal(overviews[0].ReadAsArray(), FINE[::2, ::2])
    assert raster.GetGeoTransform() == (10, 0.5, 0, 50, 0, -0.5)


def names_of_subdatasets(raster):
    """Each array is listed once, whatever its levels are."""
    return [name.rpartition(":")[2] for name, _ in raster.GetSubDatasets()]


def write_xcube(path, version=2, levels_file=True, first=0):
    for level in range(first, 3):
        write_level(path / f"{level}.zarr", 2 ** level, version)
    if levels_file:
        (path / ".zlevels").write_text(json.dumps({"version": "1.0", "num_levels": 3}))
    return path


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("levels_file", [True, False])
def test_xcube(tmp_path, version, levels_file):
    path = write_xcube(tmp_path / "cube.levels", version, levels_file)
    raster = open_raster(path)
    check(raster)
    assert names_of_subdatasets(raster) == ["/0.zarr/v"]
    assert "32x24, 16x12" in run("gdalinfo", path)


@pytest.mark.parametrize("version", [2, 3])
def test_xcube_on_the_network(tmp_path, monkeypatch, version):
    """A server that does not list: the levels are consolidated, as xarray writes them."""
    path = write_xcube(tmp_path / "cube.levels", version)
    for level in path.glob("*.zarr"):
        if version == 2:
            documents = {file.relative_to(level).as_posix(): json.loads(file.read_text())
                         for file in level.rglob(".z*")}
            (level / ".zmetadata").write_text(json.dumps(
                {"zarr_consolidated_format": 1, "metadata": documents}))
        else:
            consolidate(level)
    with serve(tmp_path, monkeypatch) as server:
        check(open_raster(f"/vsicurl/{server.url}/cube.levels"))


def test_xcube_whose_finest_level_is_a_link(tmp_path):
    path = write_xcube(tmp_path / "cube.levels", first=1)
    (path / "0.link").write_text("../cube.zarr")
    raster = open_raster(path)
    assert (raster.RasterXSize, raster.GetRasterBand(1).GetOverviewCount()) == (32, 1)


def test_xcube_is_not_written(tmp_path):
    path = write_xcube(tmp_path / "cube.levels")
    with pytest.raises(RuntimeError, match="it is a pyramid of xcube"):
        gdal.Open(str(path), gdal.GA_Update)
    assert sorted(p.name for p in path.iterdir()) == [".zlevels", "0.zarr", "1.zarr", "2.zarr"]


@pytest.mark.parametrize("text, problem", [
    ("{", ".zlevels"),
    ("{}", "num_levels is not a number"),
    ('{"num_levels": 1e9}', "num_levels is not a number"),
    ('{"num_levels": 1000000000}', "num_levels is not a number"),
    ('{"num_levels": 0}', "no levels"),
])
def test_damaged_levels_of_xcube(tmp_path, text, problem):
    path = write_xcube(tmp_path / "cube.levels")
    (path / ".zlevels").write_text(text)
    with pytest.raises(RuntimeError, match=problem):
        open_raster(path)


@pytest.mark.parametrize("multiscales", [
    {"tile_matrix_set": {"id": "utm", "tileMatrices": [
        {"id": "2", "cellSize": 2.0}, {"id": "1", "cellSize": 1.0}, {"id": "0", "cellSize": 0.5}]},
     "resampling_method": "average"},
    [{"tile_matrix_set": {"tileMatrices": [{"id": "0"}, {"id": "1"}, {"id": "2"}]}}],
    {"tile_matrix_set": "WebMercatorQuad",
     "tile_matrix_set_limits": {"0": {"tileMatrix": "0"}, "1": {}, "2": {}}},
    [{"datasets": [{"path": "other/0"}, {"path": "other/1"}]},
     {"datasets": [{"path": "0"}, {"path": "1"}, {"path": "2"}]}],
], ids=["matrices", "list of matrices", "named set", "second entry"])
def test_conventions(tmp_path, multiscales):
    path = tmp_path / "a.zarr"
    write_group(path, {"multiscales": multiscales})
    for level in range(3):
        write_level(path / str(level), 2 ** level)
    raster = open_raster(path)
    check(raster)
    assert names_of_subdatasets(raster) == ["/0/v"]
