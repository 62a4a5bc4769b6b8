"""The checker of copies sees each kind of loss, and excuses none that a judge does not show."""
import numpy as np
import pytest
from compare import MISSING, Difference, describe, differences
from known import KNOWN, undecided
from osgeo import gdal
from random_rasters import make_raster, random_palette, random_table
from test_copied_rasters import way_to_copy

RANDOM = np.random.default_rng(1)


def in_memory():
    dataset = gdal.GetDriverByName("MEM").Create("", 4, 3, 2, gdal.GDT_Float32)
    dataset.SetMetadata({"title": "copy"})
    return dataset


def first(dataset):
    return dataset.GetRasterBand(1)


# What a copy has more, less or different.
CHANGES = {
    "band 1: values": lambda d: first(d).Fill(1),
    "band 1: nodata": lambda d: first(d).SetNoDataValue(float("nan")),
    "band 1: scale": lambda d: first(d).SetScale(2),
    "band 1: offset": lambda d: first(d).SetOffset(2),
    "band 1: unit": lambda d: first(d).SetUnitType("m"),
    "band 1: description": lambda d: first(d).SetDescription("name"),
    "band 1: colour": lambda d: first(d).SetColorInterpretation(gdal.GCI_RedBand),
    "band 1: palette": lambda d: first(d).SetColorTable(random_palette(RANDOM)),
    "band 1: categories": lambda d: first(d).SetCategoryNames(["a", "b"]),
    "band 1: attribute table": lambda d: first(d).SetDefaultRAT(random_table(RANDOM)),
    "band 1: histogram": lambda d: first(d).SetDefaultHistogram(0, 1, [1, 2]),
    "band 1: metadata a": lambda d: first(d).SetMetadataItem("a", "b"),
    "band 1: domain D a": lambda d: first(d).SetMetadataItem("a", "b", "D"),
    "band 1: structure NBITS": lambda d: first(d).SetMetadataItem("NBITS", "1", "IMAGE_STRUCTURE"),
    "band 1: mask flags": lambda d: d.CreateMaskBand(gdal.GMF_PER_DATASET),
    "band 1: overviews": lambda d: d.BuildOverviews("NEAREST", [2]),
    "metadata title": lambda d: d.SetMetadataItem("title", "other"),
    "domain D a": lambda d: d.SetMetadataItem("a", "b", "D"),
    "domain xml:A": lambda d: d.SetMetadata(["<a/>"], "xml:A"),
    "geotransform": lambda d: d.SetGeoTransform((1, 2, 0, 3, 0, -2)),
    "GCPs": lambda d: d.SetGCPs([gdal.GCP(1, 2, 3, 4, 5)], ""),
}


@pytest.mark.parametrize("item", CHANGES)
def test_every_loss_is_seen(item):
    source, copy = describe(in_memory()), in_memory()
    CHANGES[item](copy)
    changed = describe(copy)
    for one, other in ((source, changed), (changed, source)):
        assert item in [each.item for each in differences(one, [one], other)]
        assert item not in [each.item for each in differences(one, [other], other)]


def test_a_judge_that_keeps_an_item_counts():
    source, lost = describe(in_memory()), describe(in_memory())
    del lost["metadata title"]
    assert [each.item for each in differences(source, [lost, source], lost)] == ["metadata title"]
    assert differences(source, [lost, lost], lost) == []


@pytest.mark.parametrize("item, want, got, is_decided", [
    ("band 1: structure NBITS", "4", MISSING, True),
    ("band 1: structure NBITS", MISSING, "1", False),
    ("metadata AREA_OR_POINT", MISSING, "Area", True),
    ("metadata AREA_OR_POINT", "Point", "Area", False),
    ("back in GeoTIFF: band 2: type", "CInt16", "CFloat32", False),
    ("band 2: type", "CInt16", "Int16", False),
    ("back in netCDF: /a: attribute n width", "Int16", "Int32", True),
    ("/a: attribute n", (1,), (2,), False),
    ("/a: values", "one", "other", False)])
def test_what_is_decided(item, want, got, is_decided):
    source = {"band 1: type": "CInt16"}
    assert undecided([Difference(item, want, got)], source) == (
        [] if is_decided else [Difference(item, want, got)])
    assert all(known.reason.endswith(".") for known in KNOWN)


def test_seeds_repeat(tmp_path):
    for seed in (3, 8):  # in memory
        one, other = (describe(make_raster(seed, tmp_path).open()) for _ in "ab")
        assert differences(one, [one], other) == []
        assert way_to_copy(seed, in_memory()) == way_to_copy(seed, in_memory())
