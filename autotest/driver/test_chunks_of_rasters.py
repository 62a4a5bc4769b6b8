"""How the pixels of a raster are stored: coverage by chunks, and IMAGE_STRUCTURE."""
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
