"""Commits to Icechunk repositories in object stores: under conditions, or not at all."""
import numpy as np
import pytest
from object_stores import keys
from osgeo import gdal
from test_two_writers_of_objects import SENDS_CONDITIONS, checking_bucket  # noqa: F401
from test_write_faults import errors

DATA = np.arange(20 * 30, dtype=np.uint16).reshape(20, 30)


def create(name, array, *options):
    dataset = gdal.GetDriverByName("Zarr").Create(
        name, 30, 20, 1, gdal.GDT_UInt16, ["ARRAY_NAME=" + array, *options])
    dataset.WriteArray(DATA)
    return dataset


def read(name, array):
    gdal.VSICurlClearCache()
    return gdal.Open(f'ZARR:"/vsiicechunk/{{{name}}}":/{array}').ReadAsArray()


def test_without_conditions_nothing_is_written(bucket):
    if SENDS_CONDITIONS:
        pytest.skip("GDAL sends conditions")
    with pytest.raises(RuntimeError, match="condition"):
        create(f"ICECHUNK:{bucket}repo", "a")
    assert keys(f"{bucket}repo") == []


def test_google_cloud_storage(server, repository, monkeypatch):
    """GDAL sends it no conditions: repositories there can be read, and nothing is written."""
    monkeypatch.setenv("CPL_GS_ENDPOINT", f"http://127.0.0.1:{server.server_port}/")
    monkeypatch.setenv("GS_NO_SIGN_REQUEST", "YES")
    server.load(repository.path, "repo")
    name = "/vsigs/bucket/repo"
    assert gdal.OpenEx(f"ICECHUNK:{name}", gdal.OF_MULTIDIM_RASTER)
    for action in (lambda: gdal.OpenEx(f"ICECHUNK:{name}", gdal.OF_UPDATE),
                   lambda: gdal.OpenEx(f"ICECHUNK:{name}?branch=dev", gdal.OF_UPDATE),
                   lambda: create(f"ICECHUNK:{name}", "a"),
                   lambda: create("ICECHUNK:/vsigs/bucket/new", "a")):
        with pytest.raises(RuntimeError, match="condition"):
            action()
    assert {method for _, _, method, _ in server.requests} <= {"GET", "HEAD"}


@pytest.mark.parametrize("version", ["1", "2"])
def test_commits(checking_bucket, version):  # noqa: F811
    name = f"{checking_bucket}repo{version}"
    create(f"ICECHUNK:{name}", "a", "ICECHUNK_FORMAT=" + version)
    np.testing.assert_array_equal(read(name, "a"), DATA)
    one, two = (create(f"ICECHUNK:{name}", array) for array in ("b", "c"))
    del one
    del two
    for array in ("a", "b", "c"):
        np.testing.assert_array_equal(read(name, array), DATA)
    assert not [key for key in keys(name) if "partial" in key]


def test_conflicts(checking_bucket, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setenv("CPL_TMPDIR", str(tmp_path))
    name = f"{checking_bucket}repo"
    create(f"ICECHUNK:{name}", "a").Close()
    both = [gdal.OpenEx(f"ICECHUNK:{name}", gdal.OF_UPDATE) for _ in range(2)]
    for i, dataset in enumerate(both):
        dataset.WriteArray(DATA + i + 1)
    both[0].Close()
    with errors() as messages:
        both[1].Close()
    assert "others have changed it" in messages[-1]
    np.testing.assert_array_equal(read(name, "a"), DATA + 1)
