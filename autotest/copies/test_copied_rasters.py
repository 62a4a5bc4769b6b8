"""A copy of a raster loses nothing that the program that copies it keeps in GeoTIFF or memory.

A seed makes one raster (random_rasters.py) and one way to copy it: a program, its options, creation
options and a version of Zarr. The copy is then translated to GeoTIFF, where it must be what a
translated GeoTIFF is.
"""
import numpy as np
import pytest
from compare import Difference, describe, differences, report
from known import undecided
from night import rounds
from osgeo import gdal
from random_rasters import make_raster, pick
from raster_programs import PROGRAMS, TRANSLATE_OPTIONS, Refused, copy_with

CREATION_OPTIONS = [
    [], [], [],
    ["COMPRESS=ZSTD"],
    ["COMPRESS=BLOSC", "BLOSC_CNAME=zstd"],
    ["COMPRESS=ZLIB", "FILTER=SHUFFLE"],
    ["BLOCKSIZE={bands}16,16"],
    ["SINGLE_ARRAY=NO"],
    ["INTERLEAVE=PIXEL"],
    ["CHUNK_MEMORY_LAYOUT=F"],
    ["GEOREFERENCING_CONVENTION=CF"],
    ["GEOREFERENCING_CONVENTION=SPATIAL_PROJ"],
    ["CHUNKS=AUTO"],
    ["WRITE_EMPTY_CHUNKS=YES"],
    ["ARRAY_NAME=named"],
    ["CREATE_CONSOLIDATED_METADATA=NO"],
    ["CHECKSUM=CRC32"],
]
OF_V3 = [
    ["SHARDING=AUTO"],
    ["BLOCKSIZE={bands}32,32", "SHARD_CHUNK_SHAPE={bands}8,16"],
    ["BLOCKSIZE={bands}512,256", "SHARD_CHUNK_SHAPE={bands}64,128", "COMPRESS=GZIP"],
    ["CHECKSUM=CRC32C"],
]


class Copied:
    """A copy as the source of the next one. With SINGLE_ARRAY=NO its arrays were requested, and the
    raster of them all is one of the subdatasets."""
    def __init__(self, path):
        self.path = str(path)
        if gdal.Open(self.path).RasterCount == 0:
            self.path = f'ZARR:"{path}":/'

    def open(self):
        return gdal.Open(self.path)


def way_to_copy(seed, dataset):
    """Successive seeds take all programs and both versions. The raster of a group has bands of one
    type."""
    random = np.random.default_rng([seed, 2])
    program = PROGRAMS[seed % len(PROGRAMS)]
    is_v3 = seed // len(PROGRAMS) % 2 == 1
    creation = pick(random, CREATION_OPTIONS + (OF_V3 * 2 if is_v3 else []))
    types = {dataset.GetRasterBand(i + 1).DataType for i in range(dataset.RasterCount)}
    options = pick(random, TRANSLATE_OPTIONS) if program == "gdal_translate" else []
    bands = options.count("-b") or dataset.RasterCount
    creation = [each.format(bands="" if bands == 1 else "1,") for each in creation
                if each != "SINGLE_ARRAY=NO" or len(types) == 1]
    return program, [f"FORMAT=ZARR_V{3 if is_v3 else 2}", *creation], options


def judges_of(program, source, folder, options):
    """Descriptions of what the program makes in other formats, the GeoTIFF, and its warnings."""
    found, tiff, warnings = [], None, []
    try:
        warnings = copy_with(program, source, f"{folder}/judge.tif", "GTiff", [], options)
        tiff = Copied(f"{folder}/judge.tif")
        found.append(describe(tiff.open()))
    except Refused:
        pass
    try:
        in_memory = copy_with(program, source, "", "MEM", [], options)
        found.append(describe(in_memory))
    except Refused:
        pass
    return found, tiff, warnings


def losses_back(want, judges, copied, tiff, folder):
    """What a GeoTIFF made of the copy has lost, and one made of the judge's GeoTIFF has not."""
    copy_with("gdal_translate", copied, f"{folder}/back.tif", "GTiff")
    copy_with("gdal_translate", tiff, f"{folder}/again.tif", "GTiff")
    back, again = (describe(gdal.Open(f"{folder}/{name}.tif"))
                   for name in ("back", "again"))
    steps = [*judges, describe(copied.open())]
    return undecided(differences(want, [again], back, steps), want)


def check(seed, folder):
    """The source and the way in words, and the differences."""
    source = make_raster(seed, folder)
    program, creation, options = way_to_copy(seed, source.open())
    words = f"seed {seed}: {program} {' '.join([*creation, *options])}; {source}"
    want = describe(source.open())
    judges, tiff, known_warnings = judges_of(program, source, folder, options)
    target = f"{folder}/copy.zarr"
    try:
        warnings = copy_with(program, source, target, "Zarr", creation, options)
    except Refused as error:
        refused = [Difference("refused", "", str(error))] if tiff else []
        return words, undecided(refused, want)
    copied = Copied(target)
    lost = undecided(differences(want, judges, describe(copied.open())), want)
    if not lost:
        lost = undecided([Difference("warning without a loss", "", text)
                          for text in warnings if text not in known_warnings], want)
    known = {each.item for each in lost}
    if tiff:
        lost += [each._replace(item="back in GeoTIFF: " + each.item)
                 for each in losses_back(want, judges, copied, tiff, folder)
                 if each.item not in known]
    return words, lost


@pytest.mark.parametrize("seed", range(rounds(30, 300)))
def test_a_copied_raster_loses_nothing(tmp_path, seed):
    words, lost = check(seed, tmp_path)
    assert len(lost) == 0, report(words, lost)
