"""The option CODECS: any chain of codecs, as JSON."""
import json
import struct

import numpy as np
import pytest
from osgeo import gdal

DATA = (np.arange(30 * 40) % 100).astype("u2").reshape(30, 40)
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
BIG = {"name": "bytes", "configuration": {"endian": "big"}}
ZSTD = {"name": "zstd", "configuration": {"level": 3, "checksum": True}}
CRC = {"name": "crc32c"}


def sharding(shape, codecs, index_codecs=(LITTLE, CRC), location="end"):
    return {"name": "sharding_indexed",
            "configuration": {"chunk_shape": shape, "codecs": codecs,
                              "index_codecs": list(index_codecs), "index_location": location}}


def transpose(*order):
    return {"name": "transpose", "configuration": {"order": list(order)}}


def create(path, codecs, *options, format="ZARR_V3", data=DATA, data_type=gdal.GDT_UInt16):
    value = codecs if isinstance(codecs, str) else json.dumps(codecs)
    dataset = gdal.GetDriverByName("Zarr").CreateMultiDimensional(str(path), [],
                                                                  [f"FORMAT={format}"])
    root = dataset.GetRootGroup()
    dimensions = [root.CreateDimension(f"d{i}", None, None, n) for i, n in enumerate(data.shape)]
    array = root.CreateMDArray("a", dimensions, gdal.ExtendedDataType.Create(data_type),
                               [f"CODECS={value}", *options])
    assert array.WriteArray(data) == gdal.CE_None
    del array, dimensions, root, dataset


def read(path):
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    return dataset.GetRootGroup().OpenMDArray("a").ReadAsArray()


@pytest.mark.parametrize("codecs", [
    [LITTLE],
    [BIG, ZSTD],
    [transpose(1, 0), LITTLE, {"name": "gzip", "configuration": {"level": 0}}],
    [LITTLE, ZSTD, CRC],
    [LITTLE, {"name": "blosc", "configuration": {"cname": "zstd", "clevel": 3, "typesize": 2,
                                                 "shuffle": "bitshuffle", "blocksize": 0}}],
    [sharding([5, 8], [transpose(1, 0), BIG, ZSTD], location="start")],
    [sharding([5, 8], [LITTLE], [BIG])],
    [transpose(1, 0), sharding([10, 5], [LITTLE, ZSTD])],
    [sharding([10, 20], [sharding([5, 4], [LITTLE, ZSTD])])],
    [sharding([5, 8], [LITTLE, CRC]), CRC],
], ids=json.dumps)
def test_version_3(tmp_path, codecs):
    create(tmp_path / "a.zarr", codecs, "BLOCKSIZE=10,40")
    document = json.loads((tmp_path / "a.zarr/a/zarr.json").read_text())
    assert document["codecs"] == codecs
    assert document["chunk_grid"]["configuration"]["chunk_shape"] == [10, 40]
    np.testing.assert_array_equal(read(tmp_path / "a.zarr"), DATA)
    zarr = pytest.importorskip("zarr")
    if not zarr.__version__.startswith("2."):
        array = zarr.open_group(str(tmp_path / "a.zarr"), mode="r")["a"]
        np.testing.assert_array_equal(array[...], DATA)


@pytest.mark.parametrize("codecs, compressor, filters", [
    ({}, None, None),
    ({"compressor": None, "filters": None}, None, None),
    ({"compressor": {"id": "zlib", "level": 1}}, {"id": "zlib", "level": 1}, None),
    ({"filters": [{"id": "delta", "dtype": "<u2"}], "compressor": {"id": "zstd", "level": 2}},
     {"id": "zstd", "level": 2}, [{"id": "delta", "dtype": "<u2"}]),
    ({"filters": [{"id": "shuffle", "elementsize": 2}, {"id": "crc32"}]}, None,
     [{"id": "shuffle", "elementsize": 2}, {"id": "crc32"}]),
], ids=json.dumps)
def test_version_2(tmp_path, codecs, compressor, filters):
    create(tmp_path / "a.zarr", codecs, format="ZARR_V2")
    document = json.loads((tmp_path / "a.zarr/a/.zarray").read_text())
    assert (document["compressor"], document["filters"]) == (compressor, filters)
    np.testing.assert_array_equal(read(tmp_path / "a.zarr"), DATA)
    zarr = pytest.importorskip("zarr")
    np.testing.assert_array_equal(zarr.open(str(tmp_path / "a.zarr"), mode="r")["a"][...], DATA)


@pytest.mark.parametrize("inner", [[], ["bytes"], [transpose(1, 0)]], ids=json.dumps)
def test_blocks_of_n5_are_big_endian_and_transposed(tmp_path, inner):
    create(tmp_path / "a.zarr", [{"name": "n5_default", "configuration": {"codecs": inner}}],
           "BLOCKSIZE=30,40")
    document = json.loads((tmp_path / "a.zarr/a/zarr.json").read_text())
    assert document["codecs"][0]["configuration"]["codecs"] == [transpose(1, 0), BIG]
    block = (tmp_path / "a.zarr/a/c/0/0").read_bytes()
    assert block == struct.pack(">HHII", 0, 2, 30, 40) + DATA.T.astype(">u2").tobytes()
    np.testing.assert_array_equal(read(tmp_path / "a.zarr"), DATA)


def test_default_chunks_are_multiples_of_inner_chunks(tmp_path):
    create(tmp_path / "a.zarr", [sharding([7, 9], [LITTLE])])
    document = json.loads((tmp_path / "a.zarr/a/zarr.json").read_text())
    assert document["chunk_grid"]["configuration"]["chunk_shape"] == [35, 45]
    np.testing.assert_array_equal(read(tmp_path / "a.zarr"), DATA)


@pytest.mark.parametrize("format", ["ZARR_V2", "ZARR_V3"])
def test_of_a_raster(tmp_path, format):
    codecs = [BIG, ZSTD] if format == "ZARR_V3" else {"compressor": {"id": "bz2", "level": 1}}
    dataset = gdal.GetDriverByName("Zarr").Create(
        str(tmp_path / "a.zarr"), 40, 30, 1, gdal.GDT_UInt16,
        [f"FORMAT={format}", f"CODECS={json.dumps(codecs)}"])
    dataset.GetRasterBand(1).WriteArray(DATA)
    del dataset
    np.testing.assert_array_equal(gdal.Open(str(tmp_path / "a.zarr")).ReadAsArray(), DATA)


INNER = ('CODECS=[{"name": "sharding_indexed", "configuration": '
         '{"chunk_shape": [8, 8], %s}}]')


@pytest.mark.parametrize("options, problem", [
    (['CODECS=['], "creation option CODECS: "),
    (['CODECS=7'], "creation option CODECS: .*where a list of codecs is expected"),
    (['CODECS={}'], 'creation option CODECS: a codec has no "name" that is a string'),
    (['CODECS=["transpose"]'],
     'creation option CODECS: codec "transpose": the member "order" is missing'),
    (['CODECS=["zstd", "bytes"]'],
     'creation option CODECS: codec "bytes": it takes an array, but a codec before it has made'),
    (['CODECS=[{"name": "zstd", "configuration": {"level": 23}}]'],
     'creation option CODECS: codec "zstd": "level" is 23, which is not from -131072 to 22'),
    (['CODECS=[{"name": "zstd", "configuration": {"checksum": 1}}]'],
     'creation option CODECS: codec "zstd": "checksum" is 1 where true or false is expected'),
    (['CODECS=[{"name": "blosc", "configuration": {"typesize": 0}}]'],
     'creation option CODECS: codec "blosc": "typesize" is 0'),
    (['CODECS=[{"name": "gzip", "configuration": {"levels": 1}}]'],
     'creation option CODECS: codec "gzip": .*"levels" that is not supported'),
    ([('CODECS=[{"name": "n5_default", "configuration": {"codecs": [{"name": "bytes", '
       '"configuration": {"endian": "little"}}]}}]')],
     'creation option CODECS: codec "n5_default": .*blocks of N5 are big-endian'),
    (['CODECS=["sharding_indexed"]'],
     'creation option CODECS: codec "sharding_indexed": the member "chunk_shape" is missing'),
    ([INNER % '"codecs": 5'],
     'CODECS: codec "sharding_indexed": "codecs" is .* where a list of codecs is expected'),
    ([INNER % '"codecs": {"name": "gzip", "configuration": {"level": -1}}'],
     'CODECS: codec "sharding_indexed": "codecs": codec "gzip": "level" is -1'),
    ([INNER % '"index_codecs": ["zstd"]'], 'codec "sharding_indexed": "index_codecs" do not give'),
    (['CODECS=["none-such"]'], 'the codec "none-such" is not supported'),
    (['CODECS=[{"name": "none-such", "must_understand": false}]'], 'codec "none-such" is not'),
    ([f'CODECS={json.dumps([transpose(0, 0), LITTLE])}'], "creation option CODECS: .*transpose"),
    ([f'CODECS={json.dumps([transpose(0, 1, 2), LITTLE])}'], "creation option CODECS: .*transpose"),
    ([f'CODECS={json.dumps([LITTLE | {"configuration": {"endian": "middle"}}])}'], "middle"),
    ([f'CODECS={json.dumps([sharding([7, 7], [LITTLE])])}', "BLOCKSIZE=10,10"],
     "creation option CODECS: .*sharding_indexed"),
    ([f'CODECS={json.dumps([sharding([5, 5], [LITTLE], location="middle")])}', "BLOCKSIZE=10,10"],
     "middle"),
    ([f'CODECS={json.dumps([sharding([5, 5], ["none-such"])])}', "BLOCKSIZE=10,10"], "none-such"),
    ([f'CODECS={json.dumps([LITTLE])}', "COMPRESS=ZSTD"], "CODECS and COMPRESS exclude each other"),
    ([f'CODECS={json.dumps([LITTLE])}', "SHARD_CHUNK_SHAPE=1,1"], "CODECS and SHARD_CHUNK_SHAPE"),
    ([f'CODECS={json.dumps([LITTLE])}', "FILTER=DELTA"], "CODECS and FILTER"),
    ([f'CODECS={json.dumps([LITTLE])}', "CHUNK_MEMORY_LAYOUT=F"], "CODECS and CHUNK_MEMORY_LAYOUT"),
    ([f'CODECS={json.dumps([LITTLE])}', "CHECKSUM=CRC32C"], "CODECS and CHECKSUM"),
    ([f'CODECS={json.dumps([LITTLE])}', "SHARDING=AUTO"], "CODECS and SHARDING=AUTO"),
    ([f'CODECS={json.dumps([LITTLE])}', "@ENDIAN=big"], "CODECS and @ENDIAN"),
])
def test_errors_of_version_3(tmp_path, options, problem):
    with pytest.raises(RuntimeError, match=problem):
        gdal.GetDriverByName("Zarr").Create(str(tmp_path / "a.zarr"), 40, 30, 1, gdal.GDT_UInt16,
                                            ["FORMAT=ZARR_V3", *options])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("codecs, problem", [
    ([LITTLE], "it is not an object with the members filters and compressor"),
    ({"compressors": []}, '"compressors" that is not supported'),
    ({"compressor": {"id": "none-such"}}, "none-such"),
    ({"compressor": {"level": 1}}, "creation option CODECS: the compressor"),
    ({"filters": 5}, "creation option CODECS: .*filters"),
    ({"filters": {"id": "none-such"}}, "creation option CODECS: .*none-such"),
    ({"compressor": {"id": "zlib", "level": 10}}, 'CODECS: codec "numcodecs.zlib": "level" is 10'),
])
def test_errors_of_version_2(tmp_path, codecs, problem):
    with pytest.raises(RuntimeError, match=problem):
        gdal.GetDriverByName("Zarr").Create(str(tmp_path / "a.zarr"), 40, 30, 1, gdal.GDT_UInt16,
                                            [f"CODECS={json.dumps(codecs)}"])
    assert not list(tmp_path.iterdir())


BLOSC = {"cname": "lz4", "clevel": 5, "blocksize": 0, "typesize": 2, "shuffle": "shuffle"}
SHARDS = {"chunk_shape": [5, 8], "codecs": [LITTLE], "index_codecs": [LITTLE, CRC],
          "index_location": "end"}


def with_defaults(name, **configuration):
    return {"name": name, "configuration": configuration}


@pytest.mark.parametrize("codecs, complete", [
    ([], [LITTLE]),
    (["bytes"], [LITTLE]),
    ("bytes", [LITTLE]),
    ([{"name": "endian"}], [LITTLE]),
    ([with_defaults("bytes", endian=None)], [LITTLE]),
    ({"name": "zstd"}, [LITTLE, with_defaults("zstd", level=3, checksum=False)]),
    (["zstd", "crc32c"], [LITTLE, with_defaults("zstd", level=3, checksum=False), CRC]),
    ([{"name": "blosc"}], [LITTLE, with_defaults("blosc", **BLOSC)]),
    ([with_defaults("blosc", cname="zstd", typesize=1)],
     [LITTLE, with_defaults("blosc", cname="zstd", typesize=1, clevel=5, blocksize=0,
                            shuffle="bitshuffle")]),
    (["gzip"], [LITTLE, with_defaults("gzip", level=6)]),
    ([with_defaults("transpose", order="F")], [transpose(1, 0), LITTLE]),
    ([with_defaults("transpose", order="C"), "bytes"], [transpose(0, 1), LITTLE]),
    ([with_defaults("cast_value", data_type="uint8"), "blosc"],
     [with_defaults("cast_value", data_type="uint8"), LITTLE,
      with_defaults("blosc", cname="lz4", clevel=5, blocksize=0, typesize=1,
                    shuffle="bitshuffle")]),
    (["numcodecs.delta", "numcodecs.zlib"],
     [with_defaults("numcodecs.delta", dtype="<u2"), LITTLE,
      with_defaults("numcodecs.zlib", level=1)]),
    (["numcodecs.shuffle", "zstd"],
     [LITTLE, with_defaults("numcodecs.shuffle", elementsize=2),
      with_defaults("zstd", level=3, checksum=False)]),
    ([with_defaults("sharding_indexed", chunk_shape=[5, 8])],
     [with_defaults("sharding_indexed", **SHARDS)]),
    (with_defaults("sharding_indexed", chunk_shape=[5, 8], codecs="zstd", index_codecs="bytes"),
     [with_defaults("sharding_indexed", chunk_shape=[5, 8],
                    codecs=[LITTLE, with_defaults("zstd", level=3, checksum=False)],
                    index_codecs=[LITTLE], index_location="end")]),
    ([with_defaults("sharding_indexed", chunk_shape=[10, 20],
                    codecs=[with_defaults("sharding_indexed", chunk_shape=[5, 4])])],
     [with_defaults("sharding_indexed", **SHARDS | {
         "chunk_shape": [10, 20],
         "codecs": [with_defaults("sharding_indexed", **SHARDS | {"chunk_shape": [5, 4]})]})]),
], ids=json.dumps)
def test_what_is_left_out_of_version_3(tmp_path, codecs, complete):
    create(tmp_path / "a.zarr", json.dumps(codecs), "BLOCKSIZE=10,40")
    document = json.loads((tmp_path / "a.zarr/a/zarr.json").read_text())
    assert document["codecs"] == complete
    np.testing.assert_array_equal(read(tmp_path / "a.zarr"), DATA)


@pytest.mark.parametrize("codecs, compressor, filters", [
    ({"compressor": "zlib"}, {"id": "zlib", "level": 1}, None),
    ({"compressor": {"id": "blosc"}},
     {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}, None),
    ({"filters": "delta", "compressor": "zstd"}, {"id": "zstd", "level": 3},
     [{"id": "delta", "dtype": "<u2"}]),
    ({"filters": [{"id": "shuffle"}, "crc32"]}, None,
     [{"id": "shuffle", "elementsize": 2}, {"id": "crc32"}]),
], ids=json.dumps)
def test_what_is_left_out_of_version_2(tmp_path, codecs, compressor, filters):
    create(tmp_path / "a.zarr", codecs, format="ZARR_V2")
    document = json.loads((tmp_path / "a.zarr/a/.zarray").read_text())
    assert (document["compressor"], document["filters"]) == (compressor, filters)
    zarr = pytest.importorskip("zarr")
    np.testing.assert_array_equal(zarr.open(str(tmp_path / "a.zarr"), mode="r")["a"][...], DATA)


@pytest.mark.parametrize("option, shard, inner", [
    ("SHARD_CHUNK_SHAPE=5,8", [30, 40], [5, 8]),
    ("SHARDING=AUTO", [30, 40], [15, 20]),
])
def test_inner_chunks_by_another_option(tmp_path, option, shard, inner):
    options = ["BLOCKSIZE=30,40"] if option.startswith("SHARD_") else ["CHUNK_ELEMENTS=400"]
    create(tmp_path / "a.zarr", ["sharding_indexed"], option, *options)
    document = json.loads((tmp_path / "a.zarr/a/zarr.json").read_text())
    assert document["chunk_grid"]["configuration"]["chunk_shape"] == shard
    assert document["codecs"][0]["configuration"]["chunk_shape"] == inner
    np.testing.assert_array_equal(read(tmp_path / "a.zarr"), DATA)


def test_strings(tmp_path):
    for format, codecs in [("ZARR_V3", [{"name": "vlen-utf8"}, ZSTD]), ("ZARR_V3", ["blosc"]),
                           ("ZARR_V2", {"compressor": {"id": "zlib", "level": 1}}),
                           ("ZARR_V2", {"filters": [{"id": "vlen-utf8"}]})]:
        driver = gdal.GetDriverByName("Zarr")
        path = f"/vsimem/codecs_{format}.zarr"
        dataset = driver.CreateMultiDimensional(path, [], [f"FORMAT={format}"])
        root = dataset.GetRootGroup()
        array = root.CreateMDArray("a", [root.CreateDimension("x", None, None, 2)],
                                   gdal.ExtendedDataType.CreateString(),
                                   [f"CODECS={json.dumps(codecs)}"])
        array.Write(["one", "twö"])
        del array, root, dataset
        dataset = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER)
        assert dataset.GetRootGroup().OpenMDArray("a").Read() == ["one", "twö"]
        del dataset
        gdal.RmdirRecursive(path)
