"""Chunks in TIFF and HDF5 files, by references as tifffile, virtual-tiff, kerchunk and VirtualiZarr
make them. The values are compared with those that GDAL reads from the files."""
import json
import subprocess

import h5py
import numpy as np
import pytest
from bad_stores import regular
from bad_stores import with_configuration as named
from classic import write_tiff
from multidim import open_root
from osgeo import gdal
from stores import write_json


def run(*command):
    subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)


def read(path):
    return open_root(path).OpenMDArray("a").ReadAsArray()


def v3_document(data, chunks, codecs):
    return {"zarr_format": 3, "node_type": "array", "shape": data.shape, "fill_value": 0,
            "data_type": data.dtype.name, "codecs": codecs,
            "chunk_grid": regular(*chunks), "chunk_key_encoding": {"name": "default"}}


# --- Chunks in TIFF files ------------------------------------------------------------------------

TIFF_DATA = {
    "uint8": np.random.default_rng(1).integers(0, 9, (3, 50, 70)).astype("u1"),
    "uint16": np.cumsum(np.random.default_rng(2).integers(0, 999, (3, 50, 70)), 2).astype("u2"),
    "int32": np.random.default_rng(3).integers(-5, 99999, (3, 50, 70)).astype("i4"),
    "float32": np.random.default_rng(4).normal(280, 5, (3, 50, 70)).astype("f4"),
    "float64": np.random.default_rng(5).normal(0, 1e9, (3, 50, 70)),
}
TILES = ("TILED=YES", "BLOCKXSIZE=32", "BLOCKYSIZE=16")
COMPRESSORS = {"LZW": "imagecodecs_lzw", "PACKBITS": "imagecodecs_packbits",
               "DEFLATE": "imagecodecs_zlib", "ZSTD": "imagecodecs_zstd",
               "LZMA": "imagecodecs_lzma"}
PREDICTORS = {2: "imagecodecs_delta", 3: "imagecodecs_floatpred"}


def tiles_of(path, bands):
    """Offset and size of each tile, by the chunk's index in an array of (row, column[, band]) or
    (band, row, column)."""
    raster = gdal.Open(str(path))
    by_pixel = raster.GetMetadataItem("INTERLEAVE", "IMAGE_STRUCTURE") == "PIXEL"
    assert raster.GetRasterBand(1).GetBlockSize() == [32, 16]
    tiles = {}
    for number in range(1 if by_pixel else bands):
        band = raster.GetRasterBand(number + 1)
        for y in range(-(-raster.RasterYSize // 16)):
            for x in range(-(-raster.RasterXSize // 32)):
                offset, size = (int(band.GetMetadataItem(f"BLOCK_{part}_{x}_{y}", "TIFF"))
                                for part in ("OFFSET", "SIZE"))
                tiles[(y, x, 0) if by_pixel else (number, y, x)] = [path.name, offset, size]
    return tiles


def write_tile_references(path, document, tiles):
    separator = "." if "compressor" in document else "/"
    is_v2 = document["zarr_format"] == 2
    separator = "." if is_v2 else "/"
    refs = {"a/.zarray" if is_v2 else "a/zarr.json": json.dumps(document)}
    refs |= {".zgroup": '{"zarr_format": 2}'} if is_v2 else {
        "zarr.json": '{"zarr_format": 3, "node_type": "group"}'}
    for index, part in tiles.items():
        refs["a/" + ("" if is_v2 else "c/") + separator.join(map(str, index))] = part
    write_json(path, {"version": 1, "refs": refs})
    return path


def file_options(endian, predictor):
    """Of a GeoTIFF. libtiff 4.5 writes big-endian files with predictor 3 that it cannot read; the
    bytes of a tile do not depend on the order of the file."""
    if predictor == 1:
        return [f"ENDIANNESS={endian}"]
    return [f"ENDIANNESS={endian if predictor == 2 else 'LITTLE'}", f"PREDICTOR={predictor}"]


def tile_document(data, chunks, endian, compress, predictor, axis, filter_endian="<"):
    """What tifffile writes; the type in filters has the host's byte order in that of 2023."""
    dtype = data.dtype.newbyteorder(endian).str
    in_filter = data.dtype.newbyteorder(filter_endian).str
    filters = [{"id": PREDICTORS[predictor], "shape": chunks, "dtype": in_filter, "axis": axis,
                "dist": 1}] if predictor > 1 else None
    return {"zarr_format": 2, "shape": data.shape, "chunks": chunks, "dtype": dtype, "order": "C",
            "fill_value": 0, "filters": filters, "compressor": {"id": COMPRESSORS[compress]}}


@pytest.mark.parametrize("endian", ["LITTLE", "BIG"])
@pytest.mark.parametrize("interleave", ["BAND", "PIXEL"])
@pytest.mark.parametrize("dtype, compress, predictor", [
    ("uint8", "LZW", 1), ("uint8", "LZW", 2), ("uint16", "LZW", 2), ("int32", "DEFLATE", 2),
    ("float32", "LZW", 3), ("float64", "DEFLATE", 3), ("uint8", "PACKBITS", 1),
    ("float32", "PACKBITS", 1), ("uint16", "ZSTD", 2), ("uint16", "LZMA", 1),
])
def test_tiff_tiles(tmp_path, dtype, compress, predictor, interleave, endian):
    """References as tifffile writes them, to tiles of files that gdal_translate made."""
    data = TIFF_DATA[dtype]
    write_tiff(tmp_path / "plain.tif", data)
    options = [*TILES, f"COMPRESS={compress}", f"INTERLEAVE={interleave}",
               *file_options(endian, predictor)]
    run("gdal_translate", "-q", *(word for o in options for word in ("-co", o)),
        tmp_path / "plain.tif", tmp_path / "a.tif")
    tiles = tiles_of(tmp_path / "a.tif", 3)
    shown, chunks, axis = (np.moveaxis(data, 0, 2), (16, 32, 3), -2) if interleave == "PIXEL" \
        else (data, (1, 16, 32), -1)
    order = "<" if endian == "LITTLE" else ">"
    for filter_order in {"<", order}:
        document = tile_document(shown, chunks, order, compress, predictor, axis, filter_order)
        path = write_tile_references(tmp_path / "a.json", document, tiles)
        np.testing.assert_array_equal(read(path), shown)
    if interleave == "BAND":
        run("gdal_translate", "-q", f'ZARR:"{path}":/a', tmp_path / "out.tif")
        np.testing.assert_array_equal(gdal.Open(str(tmp_path / "out.tif")).ReadAsArray(), data)


@pytest.mark.parametrize("endian", ["LITTLE", "BIG"])
@pytest.mark.parametrize("interleave", ["BAND", "PIXEL"])
@pytest.mark.parametrize("dtype, predictor", [
    ("uint16", 1), ("uint16", 2), ("float32", 3), ("float64", 3), ("int32", 2)])
def test_tiff_tiles_in_v3(tmp_path, dtype, predictor, interleave, endian):
    """Predictors before `bytes`: shape and type are those of the array there."""
    data = TIFF_DATA[dtype]
    write_tiff(tmp_path / "a.tif", data, options=[
        *TILES, "COMPRESS=LZW", f"INTERLEAVE={interleave}", *file_options(endian, predictor)])
    tiles = tiles_of(tmp_path / "a.tif", 3)
    codecs = [named("bytes", endian=endian.lower()), named("imagecodecs_lzw")]
    if predictor > 1:
        axis = -2 if interleave == "PIXEL" else -1
        codecs.insert(0, named(PREDICTORS[predictor], axis=axis))
    chunks = (1, 16, 32)
    if interleave == "PIXEL":
        codecs.insert(0, named("transpose", order=[1, 2, 0]))
        chunks = (3, 16, 32)
        tiles = {(0, y, x): part for (y, x, _), part in tiles.items()}
    document = v3_document(data, chunks, codecs)
    np.testing.assert_array_equal(
        read(write_tile_references(tmp_path / "a.json", document, tiles)), data)


@pytest.mark.parametrize("predictor", [1, 2])
@pytest.mark.parametrize("endian", ["LITTLE", "BIG"])
def test_tiff_tiles_of_virtual_tiff(tmp_path, endian, predictor):
    """Its predictor and its codec for pixel interleaving."""
    data = TIFF_DATA["uint16"]
    write_tiff(tmp_path / "a.tif", data, options=[
        *TILES, "COMPRESS=DEFLATE", "INTERLEAVE=PIXEL", *file_options(endian, predictor)])
    tiles = {(0, y, x): part for (y, x, _), part in tiles_of(tmp_path / "a.tif", 3).items()}
    codecs = [{"name": "HorizontalDeltaCodec"}] if predictor == 2 else []
    chunky = {"name": "ChunkyCodec"} if endian == "LITTLE" else named("ChunkyCodec", endian="big")
    codecs += [named("transpose", order=[0, 2, 1]), chunky, named("imagecodecs_deflate")]
    document = v3_document(data, (3, 16, 32), codecs)
    np.testing.assert_array_equal(
        read(write_tile_references(tmp_path / "a.json", document, tiles)), data)


@pytest.mark.parametrize("dtype, bits", [("uint16", 12), ("uint16", 9), ("uint8", 3), ("uint8", 1)])
@pytest.mark.parametrize("place", ["v2", "v3"])
def test_tiff_samples_of_few_bits(tmp_path, dtype, bits, place):
    data = TIFF_DATA[dtype][:1] % (1 << bits)
    write_tiff(tmp_path / "a.tif", data, options=[*TILES, f"NBITS={bits}"])
    members = {"bitspersample": bits, "runlen": 32, "dtype": dtype, "bitorder": None}
    tiles = tiles_of(tmp_path / "a.tif", 1)
    if place == "v2":
        document = tile_document(data, (1, 16, 32), "<", "LZW", 1, -1)
        document["compressor"] = {"id": "imagecodecs_packints", **members}
    else:
        document = v3_document(data, (1, 16, 32), [named("imagecodecs_packints", **members)])
    np.testing.assert_array_equal(
        read(write_tile_references(tmp_path / "a.json", document, tiles)), data)


# --- Chunks in HDF5 files ------------------------------------------------------------------------

HDF5_FILTERS = {1: "zlib", 2: "shuffle", 4: "imagecodecs_szip", 32000: "imagecodecs_lzf"}
SZIP_MEMBERS = ("options_mask", "pixels_per_block", "bits_per_pixel", "pixels_per_scanline")


def hdf5_references(path, name="a"):
    """As VirtualiZarr and kerchunk make them."""
    with h5py.File(path) as h5:
        dataset = h5[name]
        plist = dataset.id.get_create_plist()
        filters = []
        for number in range(plist.get_nfilters()):
            code, _, values, _ = plist.get_filter(number)
            members = {2: {"elementsize": dataset.dtype.itemsize},
                       4: dict(zip(SZIP_MEMBERS, values))}.get(code, {})
            filters.append({"id": HDF5_FILTERS[code], **members})
        refs = {".zgroup": '{"zarr_format": 2}', "a/.zarray": json.dumps({
            "zarr_format": 2, "shape": dataset.shape, "chunks": dataset.chunks, "order": "C",
            "dtype": dataset.dtype.str, "fill_value": 0, "filters": filters, "compressor": None})}
        for number in range(dataset.id.get_num_chunks()):
            info = dataset.id.get_chunk_info(number)
            assert info.filter_mask == 0
            index = [o // c for o, c in zip(info.chunk_offset, dataset.chunks)]
            refs["a/" + ".".join(map(str, index))] = [path.name, info.byte_offset, info.size]
    write_json(path.with_suffix(".json"), {"version": 1, "refs": refs})
    return path.with_suffix(".json")


@pytest.mark.parametrize("dtype", ["|u1", "<u2", ">i2", "<i4", "<f4", ">f8", "<i8"])
@pytest.mark.parametrize("options", [
    {"compression": "lzf"}, {"compression": "lzf", "shuffle": True},
    {"compression": "szip", "compression_opts": ("nn", 16)},
    {"compression": "szip", "compression_opts": ("ec", 8)},
    {"compression": "szip", "compression_opts": ("nn", 32), "shuffle": True},
], ids=lambda options: "-".join(map(str, options.values())))
def test_hdf5_chunks(tmp_path, options, dtype):
    """Of whole, rough, sparse and noisy data, compared with what the HDF5 driver reads."""
    random = np.random.default_rng(1)
    data = np.zeros((90, 110))
    data[:30] = np.cumsum(random.integers(0, 2, (30, 110)), 1) % 12
    data[30:40, ::50] = 100
    data[40:60, :8] = random.integers(-2 ** 15, 2 ** 15, (20, 8))
    data = data.astype(dtype)
    with h5py.File(tmp_path / "a.h5", "w") as h5:
        h5.create_dataset("a", data=data, chunks=(16, 35), **options)
    path = hdf5_references(tmp_path / "a.h5")
    np.testing.assert_array_equal(read(path), data)
    run("gdal_translate", "-q", f'ZARR:"{path}":/a', tmp_path / "out.tif")
    expected = gdal.Open(f'HDF5:"{tmp_path / "a.h5"}"://a').ReadAsArray()
    np.testing.assert_array_equal(gdal.Open(str(tmp_path / "out.tif")).ReadAsArray(), expected)
