"""Stores in GDAL's virtual file systems: some can be written, others report that they
cannot."""
import shutil

import numpy as np
import pytest
from classic import REPLACES_STORES, open_raster, write_tiff
from osgeo import gdal
from webserver import serve

DATA = np.random.default_rng(4).integers(0, 1000, (3, 50, 60)).astype("i2")
LAYOUTS = {
    "v2": [], "v3": ["FORMAT=ZARR_V3", "COMPRESS=ZSTD", "BLOCKSIZE=1,16,16"],
    "shards": ["FORMAT=ZARR_V3", "BLOCKSIZE=1,32,32", "SHARD_CHUNK_SHAPE=1,8,8"],
}


@pytest.fixture
def source(tmp_path):
    return gdal.Open(str(write_tiff(tmp_path / "a.tif", DATA, place=(0, 10, 0, 500, 0, -10),
                                    crs=32633)))


@pytest.fixture
def memory():
    yield "/vsimem/test_write_vsi"
    gdal.RmdirRecursive("/vsimem/test_write_vsi")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_in_memory(memory, source, layout):
    driver = gdal.GetDriverByName("Zarr")
    path = f"{memory}/a.zarr"
    driver.CreateCopy(path, source, options=LAYOUTS[layout])
    dataset = open_raster(path)
    np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)
    assert dataset.GetGeoTransform() == source.GetGeoTransform()
    dataset = gdal.Open(path, gdal.GA_Update)
    dataset.GetRasterBand(2).WriteArray(-DATA[1, :20, :30], 5, 10)
    dataset.SetMetadataItem("new", "item")
    dataset = None
    want = DATA.copy()
    want[1, 10:30, 5:35] = -DATA[1, :20, :30]
    dataset = open_raster(path)
    np.testing.assert_array_equal(dataset.ReadAsArray(), want)
    assert dataset.GetMetadataItem("new") == "item"
    dataset = None
    driver.CreateCopy(path, source, options=["APPEND_SUBDATASET=YES", "ARRAY_NAME=b"])
    np.testing.assert_array_equal(gdal.Open(f'ZARR:"{path}":/b').ReadAsArray(), DATA)
    if not REPLACES_STORES:
        with pytest.raises(RuntimeError, match="already exists"):
            driver.CreateCopy(path, source)
    driver.Rename(f"{memory}/b.zarr", path)
    np.testing.assert_array_equal(gdal.Open(f'ZARR:"{memory}/b.zarr":/b').ReadAsArray(), DATA)
    driver.CopyFiles(path, f"{memory}/b.zarr")
    driver.Delete(f"{memory}/b.zarr")
    assert gdal.VSIStatL(f"{memory}/b.zarr") is None
    np.testing.assert_array_equal(gdal.Open(f'ZARR:"{path}":/b').ReadAsArray(), DATA)
    driver.Delete(path)
    assert not gdal.ReadDirRecursive(memory)


def test_cancelled_in_memory(memory, source):
    with pytest.raises(RuntimeError):
        gdal.GetDriverByName("Zarr").CreateCopy(f"{memory}/a.zarr", source,
                                                callback=lambda *arguments: 0)
    assert not gdal.ReadDirRecursive(memory)


@pytest.mark.parametrize("prefix", ["", "/vsizip/"])
def test_archive(tmp_path, source, prefix):
    """No store replaces one in an existing archive, which stays as it is. What may change in it is
    in test_update_zip.py."""
    gdal.GetDriverByName("Zarr").CreateCopy(str(tmp_path / "a.zarr"), source)
    shutil.make_archive(tmp_path / "b", "zip", tmp_path / "a.zarr")
    before = (tmp_path / "b.zip").read_bytes()
    path = f"{prefix}{tmp_path}/b.zip"
    np.testing.assert_array_equal(open_raster(path).ReadAsArray(), DATA)
    if prefix:
        with pytest.raises(RuntimeError, match="b.zip"):
            gdal.GetDriverByName("Zarr").CreateCopy(path, source)
    assert (tmp_path / "b.zip").read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.tif", "a.zarr", "b.zip"]


def test_web(tmp_path, source, monkeypatch):
    gdal.GetDriverByName("Zarr").CreateCopy(str(tmp_path / "a.zarr"), source)
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    with serve(tmp_path, monkeypatch) as server:
        path = f'ZARR:"/vsicurl/{server.url}/a.zarr"'
        np.testing.assert_array_equal(open_raster(path).ReadAsArray(), DATA)
        with pytest.raises(RuntimeError, match="a.zarr"):
            dataset = gdal.Open(path, gdal.GA_Update)
            dataset.GetRasterBand(1).Fill(3)
            dataset.FlushCache()
        dataset = None
        for options in ([], ["APPEND_SUBDATASET=YES", "ARRAY_NAME=b"]):
            with pytest.raises(RuntimeError, match="a.zarr|b.zarr"):
                gdal.GetDriverByName("Zarr").CreateCopy(
                    f"/vsicurl/{server.url}/{'a' if options else 'b'}.zarr", source,
                    options=options)
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before
