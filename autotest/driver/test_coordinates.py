"""Coordinates that cannot be read: a warning names them, and no others are used instead."""
import subprocess

import numpy as np
import pytest
from osgeo import gdal
from stores import BYTES, GZIP, consolidate, write_array, write_group
from webserver import serve

STATUSES = [403, 503]


def write_store(path):
    """A raster in a group with coordinates; the root has others with the same names."""
    write_group(path)
    for group, step in ((path, 1000.0), (write_group(path / "g"), 10.0)):
        for name in "xy":
            write_array(group / name, step * np.arange(4), codecs=[BYTES, GZIP], names=[name])
    write_array(path / "g/a", np.ones((4, 4), "u2"), names=["y", "x"])
    return path


@pytest.fixture
def server(tmp_path, monkeypatch):
    write_store(tmp_path / "a.zarr")
    with serve(tmp_path, monkeypatch) as server:
        yield server


@pytest.fixture
def reports():
    """Severity and text of all errors and warnings during the test."""
    collected = []
    gdal.PushErrorHandler(lambda severity, _, message: collected.append((severity, message)))
    yield collected
    gdal.PopErrorHandler()


def assert_unplaced(name, reports, *parts):
    """The raster opens without a position, with one warning that contains these parts."""
    dataset = gdal.Open(name)
    assert dataset.GetGeoTransform(can_return_null=True) is None
    np.testing.assert_array_equal(dataset.ReadAsArray(), np.ones((4, 4)))
    assert [severity for severity, _ in reports] == [gdal.CE_Warning], reports
    for part in parts:
        assert part in reports[0][1]


def test_readable(server, reports):
    """Checks that the other coordinates would position it."""
    dataset = gdal.Open(f'ZARR:"/vsicurl/{server.url}/a.zarr":/g/a')
    assert dataset.GetGeoTransform() == (-5, 10, 0, -5, 0, 10)
    assert not reports


@pytest.mark.parametrize("is_consolidated", [False, True])
@pytest.mark.parametrize("axis", "xy")
@pytest.mark.parametrize("status", STATUSES)
def test_chunk(server, tmp_path, reports, status, axis, is_consolidated):
    if is_consolidated:
        consolidate(tmp_path / "a.zarr")
    server.faults[f"g/{axis}/c"] = status
    assert_unplaced(f'ZARR:"/vsicurl/{server.url}/a.zarr":/g/a', reports, f"array /g/{axis} ",
                    str(status))


# 403 is the answer of servers that do not say which documents exist.
@pytest.mark.parametrize("axis", "xy")
@pytest.mark.parametrize("status", [status for status in STATUSES if status != 403])
def test_metadata(server, reports, status, axis):
    server.faults[f"g/{axis}/zarr.json"] = status
    assert_unplaced(f'ZARR:"/vsicurl/{server.url}/a.zarr":/g/a', reports, f"array /g/{axis} ",
                    str(status))


@pytest.mark.parametrize("file", ["c/0", "zarr.json"])
def test_broken_file(tmp_path, reports, file):
    write_store(tmp_path / "a.zarr").joinpath("g/x", file).write_bytes(b"broken")
    assert_unplaced(f'ZARR:"{tmp_path}/a.zarr":/g/a', reports, "array /g/x ")


def test_coordinate_of_bands(tmp_path, reports):
    """One warning, not one for each band."""
    write_group(tmp_path)
    write_array(tmp_path / "a", np.ones((5, 4, 4), "u2"), names=["time", "y", "x"])
    write_array(tmp_path / "time", np.arange(5.0), codecs=[BYTES, GZIP], names=["time"])
    (tmp_path / "time/c/0").write_bytes(b"broken")
    dataset = gdal.Open(f'ZARR:"{tmp_path}":/a')
    for band in range(1, 6):
        metadata = dataset.GetRasterBand(band).GetMetadata()
        assert metadata["DIM_time_INDEX"] == str(band - 1)
        assert "DIM_time_VALUE" not in metadata
    assert [severity for severity, _ in reports] == [gdal.CE_Warning], reports
    assert "array /time " in reports[0][1]


def test_gdalinfo(tmp_path):
    (write_store(tmp_path / "a.zarr") / "g/x/c/0").write_bytes(b"broken")
    result = subprocess.run(["gdalinfo", f'ZARR:"{tmp_path}/a.zarr":/g/a'], capture_output=True,
                            text=True, timeout=60)
    assert result.returncode == 0
    assert "Origin" not in result.stdout
    assert result.stderr.count("Warning") == 1 and "ERROR" not in result.stderr
    assert "array /g/x " in result.stderr
