"""How the pixels of a raster are stored: coverage by chunks, and IMAGE_STRUCTURE."""
import json

import numpy as np
import pytest
from osgeo import gdal

LAYOUTS = {
    "v2": ["BLOCKSIZE=2,3"],
    "v3": ["FORMAT=ZARR_V3", "BLOCKSIZE=2,3"],
    "shards": ["FORMAT=ZARR_V3", "BLOCKSIZE=4,6", "SHARD_CHUNK_SHAPE=2,3"],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_coverage(tmp_path, layout):
    path = str(tmp_path / "a.zarr")
    dataset = gdal.GetDriverByName("Zarr").Create(path, 6, 4, 1, gdal.GDT_UInt16, LAYOUTS[layout])
    dataset.GetRasterBand(1).WriteArray(np.ones((2, 3), "u2"))
    dataset = None
    dataset = gdal.Open(path)
    band = dataset.GetRasterBand(1)
    data, empty = gdal.GDAL_DATA_COVERAGE_STATUS_DATA, gdal.GDAL_DATA_COVERAGE_STATUS_EMPTY
    for window, status, percentage in [((0, 0, 3, 2), data, 100), ((3, 0, 3, 4), empty, 0),
                                       ((0, 0, 6, 4), data | empty, 25),
                                       ((2, 1, 2, 2), data | empty, 25)]:
        assert tuple(band.GetDataCoverageStatus(*window)) == (status, percentage)


def sharded_array(path, more_codecs, fill_value):
    index = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
    shard = {"chunk_shape": [2, 2], "codecs": [{"name": "bytes"}], "index_codecs": index}
    path.mkdir()
    (path / "zarr.json").write_text(json.dumps({
        "zarr_format": 3, "node_type": "array", "shape": [8, 8], "data_type": "uint8",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 4]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": fill_value,
        "codecs": [{"name": "sharding_indexed", "configuration": shard}, *more_codecs],
        "attributes": {"_FillValue": fill_value}}))
    return str(path)


@pytest.mark.parametrize("more_codecs", [[], [{"name": "gzip", "configuration": {"level": 1}}]])
def test_shards_compressed_as_a_whole_are_stored(tmp_path, more_codecs):
    path = sharded_array(tmp_path / "a.zarr", more_codecs, 5)
    values = np.full((8, 8), 5, "u1")
    values[0, :2] = 9
    dataset = gdal.OpenEx(path, gdal.OF_RASTER | gdal.OF_UPDATE)
    dataset.GetRasterBand(1).WriteArray(values)
    dataset = None
    dataset = gdal.Open(path)
    band = dataset.GetRasterBand(1)
    both = gdal.GDAL_DATA_COVERAGE_STATUS_DATA | gdal.GDAL_DATA_COVERAGE_STATUS_EMPTY
    assert tuple(band.GetDataCoverageStatus(0, 0, 8, 8)) == (both, 6.25)
    copy = gdal.Translate(str(tmp_path / "a.tif"), dataset, creationOptions=["SPARSE_OK=YES"])
    assert (copy.ReadAsArray() == values).all()
    band = copy = dataset = None

    dataset = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
    array = dataset.GetRootGroup().OpenMDArray("a")
    with pytest.raises(RuntimeError, match="chunks that are not stored"):
        array.SetNoDataValueDouble(7)
    array = dataset = None
    # Of what is stored as a whole, nothing depends on the fill value.
    dataset = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE,
                          open_options=["WRITE_EMPTY_CHUNKS=YES"])
    array = dataset.GetRootGroup().OpenMDArray("a")
    array.SetNoDataValueDouble(7)
    array = dataset = None
    assert (gdal.Open(path).ReadAsArray() == values).all()


@pytest.mark.parametrize("interleave", ["BAND", "PIXEL"])
def test_image_structure(tmp_path, interleave):
    path = str(tmp_path / "a.zarr")
    options = [f"INTERLEAVE={interleave}", "COMPRESS=ZSTD"]
    gdal.GetDriverByName("Zarr").Create(path, 6, 4, 3, gdal.GDT_Byte, options).FlushCache()
    dataset = gdal.Open(path)
    assert dataset.GetMetadata("IMAGE_STRUCTURE") == {"INTERLEAVE": interleave,
                                                      "COMPRESSION": "ZSTD"}
    assert dataset.GetRasterBand(1).GetMetadata("IMAGE_STRUCTURE") == {"COMPRESSION": "ZSTD"}
    dataset = None
    assert [file.name for file in tmp_path.iterdir()] == ["a.zarr"]


def test_plain_raster(tmp_path):
    path = str(tmp_path / "a.zarr")
    gdal.GetDriverByName("Zarr").Create(path, 6, 4, 1, gdal.GDT_Byte).FlushCache()
    dataset = gdal.Open(path)
    assert not dataset.GetMetadata("IMAGE_STRUCTURE")
