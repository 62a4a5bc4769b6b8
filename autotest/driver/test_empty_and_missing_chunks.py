"""Chunks of only fill value that are stored, and missing chunks that are errors."""
import numpy as np
import pytest
from classic import open_raster
from osgeo import gdal

FORMATS = ["ZARR_V2", "ZARR_V3"]
SHARDS = ["FORMAT=ZARR_V3", "BLOCKSIZE=20,20", "SHARD_CHUNK_SHAPE=10,10"]


def create(path, *options):
    has_blocks = any(option.startswith("BLOCKSIZE") for option in options)
    blocks = [] if has_blocks else ["BLOCKSIZE=10,10"]
    return gdal.GetDriverByName("Zarr").Create(str(path), 40, 30, 1, gdal.GDT_Byte,
                                               ["ARRAY_NAME=a", *blocks, *options])


def chunks(path):
    return sorted(str(p.relative_to(path / "a")) for p in (path / "a").rglob("*")
                  if p.is_file() and not p.name.startswith((".", "zarr")))


# --- WRITE_EMPTY_CHUNKS --------------------------------------------------------------------------

@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("value", ["YES", "NO", None])
def test_written_chunks(tmp_path, format, value):
    path = tmp_path / "a.zarr"
    options = [f"WRITE_EMPTY_CHUNKS={value}"] if value else []
    dataset = create(path, f"FORMAT={format}", *options)
    dataset.GetRasterBand(1).SetNoDataValue(7)
    dataset.GetRasterBand(1).WriteArray(np.full((20, 20), 7, "u1"))
    del dataset
    # Chunks that nothing was written to are not stored.
    assert len(chunks(path)) == (4 if value == "YES" else 0)
    assert (open_raster(path).ReadAsArray() == 7).all()


def test_multidimensional(tmp_path):
    dataset = gdal.GetDriverByName("Zarr").CreateMultiDimensional(str(tmp_path / "a.zarr"))
    root = dataset.GetRootGroup()
    dimension = root.CreateDimension("x", None, None, 10)
    byte = gdal.ExtendedDataType.Create(gdal.GDT_Byte)
    for name, option in (("a", "WRITE_EMPTY_CHUNKS=YES"), ("b", "WRITE_EMPTY_CHUNKS=NO")):
        array = root.CreateMDArray(name, [dimension], byte, ["BLOCKSIZE=5", option])
        array.SetNoDataValue(1)
        array.Write(np.ones(10, "u1"))
        del array
    del dimension, root, dataset
    assert chunks(tmp_path / "a.zarr") == ["0", "1"]
    assert not [p for p in (tmp_path / "a.zarr/b").iterdir() if p.name[0].isdigit()]


def test_in_shards(tmp_path):
    """Inner chunks are stored as well."""
    sizes = []
    for value in ("YES", "NO"):
        path = tmp_path / f"{value}.zarr"
        dataset = create(path, *SHARDS, f"WRITE_EMPTY_CHUNKS={value}")
        data = np.zeros((20, 20), "u1")
        data[:10, :10] = 1
        dataset.GetRasterBand(1).WriteArray(data)
        del dataset
        sizes.append((path / "a/c/0/0").stat().st_size)
        np.testing.assert_array_equal(open_raster(path).ReadAsArray()[:20, :20], data)
    assert sizes[0] == sizes[1] + 300


def test_reopened(tmp_path):
    """The option of an array holds until it is closed; then there is an open option."""
    path = tmp_path / "a.zarr"
    dataset = create(path, "FORMAT=ZARR_V3", "WRITE_EMPTY_CHUNKS=YES")
    dataset.GetRasterBand(1).WriteArray(np.ones((10, 10), "u1"))
    del dataset
    for options, expected in (([], 1), (["WRITE_EMPTY_CHUNKS=YES"], 2)):
        dataset = gdal.OpenEx(str(path), gdal.OF_RASTER | gdal.OF_UPDATE, open_options=options)
        dataset.GetRasterBand(1).WriteArray(np.zeros((10, 10), "u1"), 10, 0)
        del dataset
        assert len(chunks(path)) == expected


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("is_read", [False, True], ids=["unread", "read"])
def test_overwritten_with_the_fill_value(tmp_path, format, is_read):
    """The file of the chunk has the old values until the flush, also after a read from the dataset,
    which gives the new ones. The flush removes it."""
    path = tmp_path / "a.zarr"
    dataset = create(path, f"FORMAT={format}")
    band = dataset.GetRasterBand(1)
    band.SetNoDataValue(0)
    band.WriteArray(np.full((3, 3), 5, "u1"), 2, 2)
    dataset.FlushCache()
    (file,) = chunks(path)
    stored = (path / "a" / file).read_bytes()
    band.WriteArray(np.zeros((3, 3), "u1"), 2, 2)
    if is_read:
        assert not dataset.ReadAsArray().any()
    assert (path / "a" / file).read_bytes() == stored
    assert open_raster(path).ReadAsArray().sum() == 9 * 5
    dataset.FlushCache()
    assert chunks(path) == []
    assert not open_raster(path).ReadAsArray().any()


@pytest.mark.parametrize("behind", ["YES", "NO"])
def test_whole_chunks_overwritten_with_the_fill_value(tmp_path, monkeypatch, behind):
    """They may be removed before the flush; without background writing, when the write returns."""
    monkeypatch.setenv("ZARR_WRITE_BEHIND", behind)
    path = tmp_path / "a.zarr"
    dataset = create(path)
    band = dataset.GetRasterBand(1)
    band.SetNoDataValue(0)
    band.WriteArray(np.full((10, 20), 5, "u1"))
    dataset.FlushCache()
    band.WriteArray(np.zeros((10, 10), "u1"))
    if behind == "NO":
        assert chunks(path) == ["0.1"]
    assert dataset.ReadAsArray().sum() == 100 * 5
    dataset.FlushCache()
    assert chunks(path) == ["0.1"]


# --- MISSING_CHUNKS ------------------------------------------------------------------------------

def read(path, *window, option="MISSING_CHUNKS=ERROR", name=None):
    dataset = gdal.OpenEx(name or str(path), open_options=[option])
    return dataset.ReadAsArray(*window)


@pytest.mark.parametrize("options, name", [
    (["FORMAT=ZARR_V2"], "a/1.3"), (["FORMAT=ZARR_V3"], "a/c/1/3"),
    (["FORMAT=ZARR_V3", "COMPRESS=ZSTD"], "a/c/1/3"),
])
def test_missing_chunk(tmp_path, options, name):
    path = tmp_path / "a.zarr"
    dataset = create(path, *options)
    dataset.GetRasterBand(1).Fill(5)
    del dataset
    assert (read(path) == 5).all()
    (path / name).unlink()
    with pytest.raises(RuntimeError, match=f"array /a: chunk {name}: it is missing"):
        read(path)
    with pytest.raises(RuntimeError, match=f"chunk {name}: it is missing"):
        read(path, 35, 15, 1, 1)
    assert (read(path, 0, 0, 30, 30) == 5).all()
    assert (read(path, option="MISSING_CHUNKS=FILL")[10:20, 30:] == 0).all()
    assert gdal.Open(str(path)).RasterXSize == 40


def test_missing_inner_chunk_and_shard(tmp_path):
    path = tmp_path / "a.zarr"
    dataset = create(path, *SHARDS)
    data = np.ones((30, 40), "u1")
    data[:10, 10:20] = 0
    dataset.GetRasterBand(1).WriteArray(data)
    del dataset
    with pytest.raises(RuntimeError, match="array /a: inner chunk 1 of shard a/c/0/0 is missing"):
        read(path)
    assert (read(path, 20, 0, 20, 30) == 1).all()
    (path / "a/c/1/1").unlink()
    with pytest.raises(RuntimeError, match="shard a/c/1/1 is missing"):
        read(path, 20, 0, 20, 30)


def test_multidimensional_reading_and_writing(tmp_path):
    path = tmp_path / "a.zarr"
    dataset = create(path, "FORMAT=ZARR_V3")
    dataset.GetRasterBand(1).WriteArray(np.ones((10, 40), "u1"))
    del dataset
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE,
                          open_options=["MISSING_CHUNKS=ERROR"])
    array = dataset.GetRootGroup().OpenMDArray("a")
    assert array.ReadAsArray([0, 0], [10, 40]).all()
    with pytest.raises(RuntimeError, match="chunk a/c/1/0: it is missing"):
        array.ReadAsArray()
    # A part of a missing chunk can be written.
    array.Write(np.ones((1, 1), "u1"), [10, 0], [1, 1])
    assert array.ReadAsArray([10, 0], [1, 2]).tolist() == [[1, 0]]
