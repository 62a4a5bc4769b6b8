"""Creation options: their names, defaults, values and effects."""
import json
from xml.etree import ElementTree

import numpy as np
import pytest
from osgeo import gdal

DATA = (np.arange(300 * 400) % 1000).astype("u2").reshape(300, 400)
FORMATS = ["ZARR_V2", "ZARR_V3"]

# The lists of the built-in driver of GDAL 3.13: types and defaults.
DATASET_OPTIONS = {
    "FORMAT": ("string-select", "ZARR_V2"),
    "CREATE_CONSOLIDATED_METADATA": ("boolean", "YES"),
}
ARRAY_OPTIONS = {
    "COMPRESS": ("string-select", "NONE"),
    "FILTER": ("string-select", "NONE"),
    "BLOCKSIZE": ("string", None),
    "CHUNK_MEMORY_LAYOUT": ("string-select", "C"),
    "STRING_FORMAT": ("string-select", "STRING"),
    "BLOSC_CNAME": ("string-select", "lz4"),
    "BLOSC_CLEVEL": ("int", "5"),
    "BLOSC_SHUFFLE": ("string-select", "BYTE"),
    "BLOSC_BLOCKSIZE": ("int", "0"),
    "BLOSC_NUM_THREADS": ("string", "1"),
    "ZLIB_LEVEL": ("int", "6"),
    "GZIP_LEVEL": ("int", "6"),
    "LZMA_PRESET": ("int", "6"),
    "ZSTD_LEVEL": ("int", "13"),
    "ZSTD_CHECKSUM": ("boolean", "NO"),
    "LZ4_ACCELERATION": ("int", "1"),
    "DELTA_DTYPE": ("string", None),
    "GEOREFERENCING_CONVENTION": ("string-select", "GDAL"),
}
RASTER_OPTIONS = DATASET_OPTIONS | ARRAY_OPTIONS | {
    "ARRAY_NAME": ("string", None),
    "APPEND_SUBDATASET": ("boolean", "NO"),
    "SINGLE_ARRAY": ("boolean", "YES"),
    "INTERLEAVE": ("string-select", "BAND"),
}
OPEN_OPTIONS = {
    "LIST_ALL_ARRAYS": "boolean", "USE_CONSOLIDATED_METADATA": "boolean",
    "CACHE_TILE_PRESENCE": "boolean", "CACHE_KERCHUNK_JSON": "boolean", "MULTIBAND": "boolean",
    "DIM_X": "string", "DIM_Y": "string", "LOAD_EXTRA_DIM_METADATA_DELAY": "string",
}


def option_list(item):
    xml = gdal.GetDriverByName("Zarr").GetMetadataItem(item)
    return {option.get("name"): option for option in ElementTree.fromstring(xml)}


@pytest.mark.builtin_since("3.13")
@pytest.mark.parametrize("item, expected", [
    ("DMD_CREATIONOPTIONLIST", RASTER_OPTIONS),
    ("DMD_MULTIDIM_DATASET_CREATIONOPTIONLIST", DATASET_OPTIONS),
    ("DMD_MULTIDIM_ARRAY_CREATIONOPTIONLIST", ARRAY_OPTIONS),
])
def test_creation_options_are_listed(item, expected):
    options = option_list(item)
    found = {name: (options[name].get("type"), options[name].get("default")) for name in expected}
    assert found == expected


@pytest.mark.builtin_since("3.13")
def test_open_options_are_listed():
    options = option_list("DMD_OPENOPTIONLIST")
    assert {name: options[name].get("type") for name in OPEN_OPTIONS} == OPEN_OPTIONS


@pytest.mark.builtin_since("3.13")
def test_values_of_choices_are_listed():
    options = option_list("DMD_CREATIONOPTIONLIST")
    values = {name: {value.text for value in options[name]} for name in options}
    assert {"NONE", "BLOSC", "ZLIB", "GZIP", "LZMA", "ZSTD", "LZ4"} <= values["COMPRESS"]
    assert {"NONE", "DELTA"} <= values["FILTER"]
    assert {"STRING", "UNICODE"} <= values["STRING_FORMAT"]
    assert {"GDAL", "SPATIAL_PROJ"} <= values["GEOREFERENCING_CONVENTION"]
    shuffles = {value.text: value.get("alias") for value in options["BLOSC_SHUFFLE"]}
    assert shuffles == {"NONE": "0", "BYTE": "1", "BIT": "2"}


def document(path):
    """The members of the array's document that its codecs follow from: (compressor, codecs)."""
    if (path / "a/.zarray").exists():
        found = json.loads((path / "a/.zarray").read_text())
        return found["compressor"], found["chunks"], found
    found = json.loads((path / "a/zarr.json").read_text())
    codecs = {codec["name"]: codec.get("configuration", {}) for codec in found["codecs"]}
    return codecs, found["chunk_grid"]["configuration"]["chunk_shape"], found


def create(path, *options, format="ZARR_V2", data=DATA, data_type=gdal.GDT_UInt16):
    """Creates a raster, reads it back, and returns document()."""
    height, width = data.shape
    dataset = gdal.GetDriverByName("Zarr").Create(
        str(path), width, height, 1, data_type, [f"FORMAT={format}", "ARRAY_NAME=a", *options])
    dataset.GetRasterBand(1).WriteArray(data)
    del dataset
    dataset = gdal.Open(str(path))
    np.testing.assert_array_equal(dataset.ReadAsArray(), data)
    return document(path)


def create_array(path, *options, shape=(300, 400), format="ZARR_V2"):
    dataset = gdal.GetDriverByName("Zarr").CreateMultiDimensional(str(path), [],
                                                                  [f"FORMAT={format}"])
    group = dataset.GetRootGroup()
    dimensions = [group.CreateDimension(f"d{i}", None, None, n) for i, n in enumerate(shape)]
    array = group.CreateMDArray("a", dimensions, gdal.ExtendedDataType.Create(gdal.GDT_UInt16),
                                list(options))
    return array.GetBlockSize() if array else None


@pytest.mark.parametrize("options, expected", [
    (["COMPRESS=ZSTD", "ZSTD_LEVEL=0"], {"id": "zstd", "level": 0}),
    (["COMPRESS=ZSTD", "ZSTD_LEVEL=-5"], {"id": "zstd", "level": -5}),
    (["COMPRESS=GZIP", "GZIP_LEVEL=0"], {"id": "gzip", "level": 0}),
    (["COMPRESS=ZLIB", "ZLIB_LEVEL=0"], {"id": "zlib", "level": 0}),
    (["COMPRESS=LZ4", "LZ4_ACCELERATION=0"], {"id": "lz4", "acceleration": 0}),
    (["COMPRESS=BLOSC", "BLOSC_CLEVEL=0"], {"id": "blosc", "clevel": 0}),
    (["COMPRESS=LZMA", "LZMA_PRESET=0"], {"id": "lzma", "preset": 0}),
], ids=lambda value: value[1] if isinstance(value, list) else "")
def test_lowest_levels(tmp_path, options, expected):
    compressor = create(tmp_path / "l.zarr", *options)[0]
    assert expected.items() <= compressor.items()


@pytest.mark.builtin_since("3.11")
@pytest.mark.parametrize("options, name", [
    (["COMPRESS=ZSTD", "ZSTD_LEVEL=0"], "zstd"),
    (["COMPRESS=GZIP", "GZIP_LEVEL=0"], "gzip"),
], ids=["zstd", "gzip"])
def test_lowest_levels_of_version_3(tmp_path, options, name):
    assert create(tmp_path / "l.zarr", *options, format="ZARR_V3")[0][name]["level"] == 0


@pytest.mark.builtin_since("3.13")
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("option, expected", [(None, False), ("NO", False), ("YES", True)])
def test_zstd_checksum(tmp_path, format, option, expected):
    options = ["COMPRESS=ZSTD"] + ([f"ZSTD_CHECKSUM={option}"] if option else [])
    codecs = create(tmp_path / "c.zarr", *options, format=format)[0]
    stored = codecs.get("checksum", False) if format == "ZARR_V2" else codecs["zstd"]["checksum"]
    assert stored in (expected, "YES" if expected else "NO")
    # The flag of a frame that has a checksum: RFC 8878, section 3.1.1.1.1.
    chunk = next(p for p in sorted((tmp_path / "c.zarr/a").rglob("*"))
                 if p.is_file() and p.name[0].isdigit())
    assert bool(chunk.read_bytes()[4] & 4) == expected


@pytest.mark.builtin_since("3.13")
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("data_type", [gdal.GDT_Byte, gdal.GDT_UInt16, gdal.GDT_Float64])
def test_blosc_shuffles_bytes_by_default(tmp_path, format, data_type):
    data = DATA.astype("u1") if data_type == gdal.GDT_Byte else DATA
    codecs = create(tmp_path / "b.zarr", "COMPRESS=BLOSC", format=format, data=data,
                    data_type=data_type)[0]
    blosc = codecs if format == "ZARR_V2" else codecs["blosc"]
    assert blosc["shuffle"] == (1 if format == "ZARR_V2" else "shuffle")


@pytest.mark.builtin_since("3.11")
@pytest.mark.parametrize("data_type", [gdal.GDT_Byte, gdal.GDT_UInt16])
@pytest.mark.parametrize("options, endian", [([], "little"), (["@ENDIAN=big"], "big"),
                                             (["@ENDIAN=little"], "little")])
def test_endian_of_version_3(tmp_path, data_type, options, endian):
    data = DATA.astype("u1") if data_type == gdal.GDT_Byte else DATA
    codecs = create(tmp_path / "e.zarr", *options, format="ZARR_V3", data=data,
                    data_type=data_type)[0]
    assert codecs["bytes"] == {"endian": endian}


@pytest.mark.ours_only("it ignores @ENDIAN in version 2")
@pytest.mark.parametrize("options", [[], ["FILTER=DELTA"], ["CHUNK_MEMORY_LAYOUT=F"],
                                     ["COMPRESS=BLOSC"], ["FILTER=SHUFFLE"]])
def test_big_endian_of_version_2(tmp_path, options):
    found = create(tmp_path / "e.zarr", "@ENDIAN=big", *options)[2]
    assert found["dtype"] == ">u2"
    zarr = pytest.importorskip("zarr")
    np.testing.assert_array_equal(zarr.open(str(tmp_path / "e.zarr"), mode="r")["a"][...], DATA)


@pytest.mark.ours_only("there, 0 is the default length, and negative lengths are errors")
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("size, expected", [("100,0", [100, 400]), ("0,0", [300, 400]),
                                            ("-1,50", [300, 50]), ("-1,-1", [300, 400])])
def test_block_size_of_a_whole_dimension(tmp_path, format, size, expected):
    assert create(tmp_path / "b.zarr", f"BLOCKSIZE={size}", format=format)[1] == expected
    assert create_array(tmp_path / "m.zarr", f"BLOCKSIZE={size}", format=format) == expected


@pytest.mark.builtin_since("3.13")
def test_block_size_zero_in_small_arrays(tmp_path):
    small = DATA[:30, :40]
    assert create(tmp_path / "b.zarr", "BLOCKSIZE=10,0", data=small)[1] == [10, 40]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("options", [
    ["BLOCKSIZE=100"], ["BLOCKSIZE=1,1,1"], ["BLOCKSIZE=-2,5"], ["BLOCKSIZE="],
    ["BLOCKSIZE=4294967296,4294967296"], ["COMPRESS=none-such"], ["FILTER=none-such"],
])
def test_values_that_no_driver_takes(tmp_path, format, options):
    with pytest.raises(RuntimeError):
        create(tmp_path / "b.zarr", *options, format=format)
    with pytest.raises((RuntimeError, AttributeError)):
        assert create_array(tmp_path / "m.zarr", *options, format=format) is not None


@pytest.mark.ours_only("it takes most values as they are")
@pytest.mark.parametrize("options, name", [
    (["COMPRESS=ZSTD", "ZSTD_CHECKSUM=maybe"], "ZSTD_CHECKSUM"),
    (["COMPRESS=ZSTD", "ZSTD_LEVEL=23"], "ZSTD_LEVEL"),
    (["BLOCKSIZE=abc,5"], "BLOCKSIZE"),
    (["SHARD_CHUNK_SHAPE=0,5", "FORMAT=ZARR_V3"], "SHARD_CHUNK_SHAPE"),
    (["@ENDIAN=middle"], "@ENDIAN"),
    (["CHUNK_MEMORY_LAYOUT=Z"], "CHUNK_MEMORY_LAYOUT"),
    (["GEOREFERENCING_CONVENTION=none"], "GEOREFERENCING_CONVENTION"),
    (["SINGLE_ARRAY=maybe"], "SINGLE_ARRAY"),
    (["INTERLEAVE=LINE"], "INTERLEAVE"),
    (["FORMAT=ZARR_V4"], "FORMAT"),
])
def test_bad_values_are_errors_that_name_the_option(tmp_path, options, name):
    with pytest.raises(RuntimeError, match=f"creation option {name} is "):
        gdal.GetDriverByName("Zarr").Create(str(tmp_path / "b.zarr"), 4, 3, options=options)
    assert not (tmp_path / "b.zarr").exists()


class Warnings:
    """The messages of GDAL while it is entered."""

    def __enter__(self):
        self.texts = []
        gdal.PushErrorHandler(lambda severity, number, text: self.texts.append(text))
        return self.texts

    def __exit__(self, *error):
        gdal.PopErrorHandler()


def test_unknown_options_of_datasets_are_named(tmp_path):
    with Warnings() as texts:
        gdal.GetDriverByName("Zarr").Create(str(tmp_path / "a.zarr"), 4, 3, options=["NONESUCH=1"])
        gdal.GetDriverByName("Zarr").CreateMultiDimensional(str(tmp_path / "m.zarr"), [],
                                                            ["NONESUCH=1"])
        gdal.OpenEx(str(tmp_path / "a.zarr"), open_options=["NONESUCH=1"])
    assert len(texts) == 3 and all("NONESUCH" in text for text in texts)


@pytest.mark.ours_only("it ignores them")
def test_unknown_options_of_arrays_are_named(tmp_path):
    with Warnings() as texts:
        create_array(tmp_path / "a.zarr", "NONESUCH=1", "COMPRESSION=ZSTD", "@INTERNAL=1")
    assert texts == [
        '"NONESUCH=1" is not a creation option here and is ignored',
        '"COMPRESSION=ZSTD" is not a creation option here and is ignored; did you mean COMPRESS?']


@pytest.mark.ours_only("it makes no suggestions")
@pytest.mark.parametrize("given, meant", [
    ("BLOCKSIZES=1,1", "BLOCKSIZE"), ("ZSTDLEVEL=3", "ZSTD_LEVEL"), ("COMPRES=ZSTD", "COMPRESS"),
    ("ARRAYNAME=b", "ARRAY_NAME"), ("FORMATS=ZARR_V3", "FORMAT"),
])
def test_the_nearest_name_of_a_dataset(tmp_path, given, meant):
    with Warnings() as texts:
        gdal.GetDriverByName("Zarr").Create(str(tmp_path / "a.zarr"), 4, 3, options=[given])
    assert f"did you mean {meant}?" in texts[-1]


@pytest.mark.ours_only("it makes no suggestions")
@pytest.mark.parametrize("given, meant", [
    ("MULTIBANDS=NO", "MULTIBAND"), ("DIMX=1", "DIM_X"), ("LIST_ALL_ARRAY=YES", "LIST_ALL_ARRAYS"),
])
def test_the_nearest_name_of_an_open_option(tmp_path, given, meant):
    create(tmp_path / "a.zarr")
    with Warnings() as texts:
        gdal.OpenEx(str(tmp_path / "a.zarr"), open_options=[given])
    assert f"did you mean {meant}?" in texts[-1]


@pytest.mark.ours_only("it takes any value for YES but NO")
@pytest.mark.parametrize("option", ["MULTIBAND", "CACHE_TILE_PRESENCE", "LIST_ALL_ARRAYS",
                                    "USE_CONSOLIDATED_METADATA", "USE_ZMETADATA"])
def test_bad_values_of_open_options(tmp_path, option):
    create(tmp_path / "a.zarr")
    with pytest.raises(RuntimeError, match='open option .* is "maybe", not YES or NO'):
        gdal.OpenEx(str(tmp_path / "a.zarr"), open_options=[f"{option}=maybe"])
