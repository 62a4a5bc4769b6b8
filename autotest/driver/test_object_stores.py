"""Stores in S3 and in Azure's blob storage, served by s3rver and Azurite: programs for tests that
npm installs. All is done through GDAL's file systems."""
import os
import subprocess

import icechunk_writer
import numpy as np
import pytest
from object_stores import AZURE_KEY
from osgeo import gdal

DATA = np.arange(100 * 80, dtype="u2").reshape(80, 100)


def open_array(path, name="a", flags=0):
    root = gdal.OpenEx(f'ZARR:"{path}"', gdal.OF_MULTIDIM_RASTER | flags).GetRootGroup()
    return root.OpenMDArray(name)


def listing(path):
    gdal.VSICurlClearCache()
    return sorted(name for name in gdal.ReadDirRecursive(path) or [] if not name.endswith("/"))


@pytest.mark.parametrize("options", [
    ["FORMAT=ZARR_V2"], ["FORMAT=ZARR_V3"], ["FORMAT=ZARR_V2", "CREATE_CONSOLIDATED_METADATA=NO"],
    ["FORMAT=ZARR_V3", "BLOCKSIZE=64,64", "SHARD_CHUNK_SHAPE=16,16", "COMPRESS=ZSTD"],
], ids=["v2", "v3", "unconsolidated", "shards"])
def test_create_and_update(bucket, options):
    """Sparse, so that chunks are missing."""
    path = f"{bucket}.zarr"
    dataset = gdal.GetDriverByName("Zarr").Create(
        path, 100, 80, 1, gdal.GDT_UInt16,
        options if "BLOCKSIZE=64,64" in options else [*options, "BLOCKSIZE=32,32"])
    want = np.zeros_like(DATA)
    want[:32, :32] = DATA[:32, :32]
    dataset.GetRasterBand(1).WriteArray(want)
    del dataset
    gdal.VSICurlClearCache()
    np.testing.assert_array_equal(gdal.Open(path).ReadAsArray(), want)

    dataset = gdal.Open(path, gdal.GA_Update)
    dataset.GetRasterBand(1).WriteArray(DATA[40:60, 50:90], 50, 40)
    dataset.SetGeoTransform((500000, 10, 0, 4100000, 0, -10))
    dataset.SetMetadataItem("made", "here")
    del dataset
    want[40:60, 50:90] = DATA[40:60, 50:90]
    gdal.VSICurlClearCache()
    dataset = gdal.Open(path)
    np.testing.assert_array_equal(dataset.ReadAsArray(), want)
    assert dataset.GetGeoTransform() == (500000, 10, 0, 4100000, 0, -10)
    assert dataset.GetMetadataItem("made") == "here"


def test_programs(bucket, tmp_path):
    source, back, path = tmp_path / "a.tif", tmp_path / "back.tif", f"{bucket}.zarr"
    gdal.GetDriverByName("GTiff").Create(str(source), 100, 80, 1, gdal.GDT_UInt16).WriteArray(DATA)
    run = [["gdal_translate", "-q", "-of", "Zarr", "-co", "FORMAT=ZARR_V3", source, path],
           ["gdaladdo", "-q", "-r", "nearest", path, "2", "4"],
           ["gdal_translate", "-q", path, back]]
    for command in run:
        done = subprocess.run(command, capture_output=True, text=True)
        # GDAL 3.6 itself says so of each folder that it opens for changes.
        errors = done.stderr.replace("ERROR 1: Only read-only mode is supported for /vsicurl", "")
        assert done.returncode == 0 and "ERROR" not in errors, done.stderr
    np.testing.assert_array_equal(gdal.Open(str(back)).ReadAsArray(), DATA)
    gdal.VSICurlClearCache()
    dataset = gdal.Open(path)
    assert dataset.GetRasterBand(1).GetOverviewCount() == 2
    overview = dataset.GetRasterBand(1).GetOverview(0)
    np.testing.assert_array_equal(overview.ReadAsArray(), DATA[::2, ::2])
    subprocess.run(["gdalmanage", "delete", path], check=True, capture_output=True)
    assert listing(path) == []


@pytest.mark.parametrize("version", [2, 3])
def test_multidim(bucket, version):
    path = f"{bucket}.zarr"
    dataset = gdal.GetDriverByName("Zarr").CreateMultiDimensional(
        path, [], [f"FORMAT=ZARR_V{version}"])
    root = dataset.GetRootGroup()
    group = root.CreateGroup("g")
    dimensions = [root.CreateDimension(name, None, None, length)
                  for name, length in (("y", 80), ("x", 100))]
    number = gdal.ExtendedDataType.Create(gdal.GDT_UInt16)
    array = root.CreateMDArray("a", dimensions, number, ["BLOCKSIZE=32,32"])
    assert array.Write(DATA) == 0
    attribute = array.CreateAttribute("title", [], gdal.ExtendedDataType.CreateString())
    attribute.Write("sea")
    group.CreateMDArray("b", dimensions, number)
    del attribute, array, group, root, dimensions, dataset

    gdal.VSICurlClearCache()
    array = open_array(path)
    np.testing.assert_array_equal(array.ReadAsArray(), DATA)
    assert array.GetAttribute("title").Read() == "sea"
    del array

    if int(gdal.VersionInfo()) >= 3080000:
        dataset = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
        root = dataset.GetRootGroup()
        root.OpenMDArray("a").Resize([120, 100])
        root.OpenGroup("g").Rename("h")
        root.OpenMDArray("a").Rename("c")
        assert root.DeleteGroup("h") == 0
        del root, dataset
        gdal.VSICurlClearCache()
        array = open_array(path, "c")
        want = np.zeros((120, 100), "u2")
        want[:80] = DATA
        np.testing.assert_array_equal(array.ReadAsArray(), want)
        assert not any(name.startswith(("a/", "g/", "h/")) for name in listing(path))


@pytest.mark.parametrize("version", [1, 2])
def test_icechunk(bucket, tmp_path, version):
    codecs = [{"name": "bytes", "configuration": {"endian": "little"}}]
    document = {"zarr_format": 3, "node_type": "array", "shape": DATA.shape, "codecs": codecs,
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": DATA.shape}},
                "chunk_key_encoding": {"name": "default"}, "fill_value": 0, "data_type": "uint16"}
    repository = icechunk_writer.Repository(tmp_path / "r", version)
    chunk = icechunk_writer.Native(DATA.tobytes())
    commit = repository.commit({"": icechunk_writer.GROUP, "a": (document, {(0, 0): chunk})})
    repository.tags["it works!"] = commit
    for file in repository.write().rglob("*"):
        if file.is_file():
            copy = gdal.VSIFOpenL(f"{bucket}/{file.relative_to(repository.path)}", "wb")
            content = file.read_bytes()
            assert gdal.VSIFWriteL(content, 1, len(content), copy) == len(content)
            assert gdal.VSIFCloseL(copy) == 0
    gdal.VSICurlClearCache()
    for name in (f"ICECHUNK:{bucket}", f"ICECHUNK:{bucket}?tag=it works!", f'ZARR:"{bucket}"'):
        dataset = gdal.Open(name)
        np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)
        assert dataset.GetMetadataItem("TAG_1_NAME", "ICECHUNK") == "it works!"
    with pytest.raises(RuntimeError, match="branch none does not exist"):
        gdal.Open(f"ICECHUNK:{bucket}?branch=none")


def test_missing_store(bucket):
    with pytest.raises(RuntimeError, match="nothing.zarr"):
        gdal.OpenEx(f'ZARR:"{bucket}/nothing.zarr"')


def test_wrong_credentials(azure, monkeypatch):
    """s3rver does not check signatures."""
    folder, options = azure
    for name, value in options.items():
        monkeypatch.setenv(name, value)
    path = f"{folder}/credentials_{os.getpid()}.zarr"
    dataset = gdal.GetDriverByName("Zarr").Create(path, 4, 3)
    del dataset
    gdal.VSICurlClearCache()
    for name, value in options.items():
        monkeypatch.setenv(name, value.replace(AZURE_KEY, "d3Jvbmc="))
    with pytest.raises(RuntimeError, match="403"):
        gdal.OpenEx(f'ZARR:"{path}"')
    gdal.VSICurlClearCache()
