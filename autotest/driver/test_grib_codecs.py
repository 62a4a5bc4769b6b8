"""Chunks that are GRIB messages, by the codecs of kerchunk and gribberish. eccodes makes messages
of its samples in all packings and scanning modes, and says what they hold."""
import json
import subprocess

import eccodes_library
import numpy as np
import pytest
from bad_stores import assert_fails, message_of
from eccodes_library import Message, values_of
from foreign_chunks import decode, grib_message, write_chunk
from multidim import open_array
from osgeo import gdal
from stores import write_json

needs_eccodes = pytest.mark.skipif(not eccodes_library.available(),
                                   reason="libeccodes0 is not installed")
pytestmark = pytest.mark.skipif(gdal.GetDriverByName("GRIB") is None,
                                reason="GDAL has no driver GRIB")

GRIDS = ["regular_ll_sfc_grib1", "regular_ll_sfc_grib2", "regular_gg_sfc_grib1",
         "regular_gg_sfc_grib2", "rotated_ll_sfc_grib1", "rotated_ll_sfc_grib2",
         "polar_stereographic_sfc_grib1", "polar_stereographic_sfc_grib2"]
GRIB = ("grib", {"var": "t"})


def make(sample, packing="grid_simple", scanning=0, has_bitmap=False, **keys):
    """A message and the shape of its grid. `scanning` are the bits of the scanning mode."""
    message = Message(sample).set(**keys)
    message.set(iScansNegatively=scanning >> 7 & 1, jScansPositively=scanning >> 6 & 1,
                jPointsAreConsecutive=scanning >> 5 & 1)
    if scanning & 0x10:
        message.set(alternativeRowScanning=1)
    if "polar" not in sample and "gridType" not in keys:
        for bit, axis in ((0x40, "latitude"), (0x80, "longitude")):
            first, last = f"{axis}OfFirstGridPoint", f"{axis}OfLastGridPoint"
            if scanning & bit:
                message.set(**{first: message.long(last), last: message.long(first)})
    shape = [message.long("Nj"), message.long("Ni")]
    random = np.random.default_rng(3)
    values = 250 + np.cumsum(random.normal(size=shape[0] * shape[1]))
    if has_bitmap:
        message.set(bitmapPresent=1)
        values[random.random(values.size) < 0.3] = 9999
    message.set(bitsPerValue=16).set_values(values).set(packingType=packing)
    return message.bytes(), shape


SMALL = np.random.default_rng(5).random((6, 8)) * 50 + 250


def packings():
    for sample in GRIDS:
        yield sample, "grid_simple"
        if sample.endswith("grib2"):
            for packing in ("jpeg", "ieee", "complex", "complex_spatial_differencing", "ccsds"):
                yield sample, f"grid_{packing}"


@needs_eccodes
@pytest.mark.parametrize("sample, packing", packings())
def test_values(tmp_path, sample, packing):
    """In the order of the message, bit for bit."""
    has_aec = gdal.GetDriverByName("GRIB").GetMetadataItem("HAVE_AEC") is not None
    for scanning in range(0, 256, 16):
        if sample.endswith("grib1") and scanning & 0x10:
            continue
        for has_bitmap in (False, True):
            message, shape = make(sample, packing, scanning, has_bitmap)
            folder = tmp_path / f"{scanning}{has_bitmap}"
            if packing == "grid_ccsds" and not has_aec:
                assert_fails(message_of(decode, folder, message, GRIB, shape, "f8"), "libaec")
                continue
            values = decode(folder, message, GRIB, shape, "f8", "v2 filter")
            expected = values_of(message).reshape(shape)
            assert np.isnan(expected).any() == has_bitmap
            np.testing.assert_array_equal(values, expected, hex(scanning))


@needs_eccodes
@pytest.mark.parametrize("options", [
    ["SIMPLE_PACKING"], ["COMPLEX_PACKING"], ["IEEE_FLOATING_POINT"], ["PNG"], ["JPEG2000"],
    ["COMPLEX_PACKING", "SPATIAL_DIFFERENCING_ORDER=1"],
    ["COMPLEX_PACKING", "SPATIAL_DIFFERENCING_ORDER=2"]], ids="-".join)
def test_packings_that_gdal_writes(tmp_path, options):
    encoding = [f"DATA_ENCODING={options[0]}", *options[1:]]
    encoding += [] if options[0].startswith("IEEE") else ["NBITS=16"]
    message = grib_message(SMALL, *encoding)
    values = decode(tmp_path / "a", message, GRIB, [6, 8], "f8", "v3 array to bytes")
    np.testing.assert_array_equal(values, values_of(message).reshape(6, 8))
    np.testing.assert_allclose(values[::-1], SMALL, atol=0.01)
    if options[0] == "COMPLEX_PACKING":  # which has missing values of its own
        holes = SMALL.copy()
        holes[1, 2:5] = -7777
        message = grib_message(holes, *encoding, nodata=-7777)
        for codec in ("grib", "gribberish"):
            values = decode(tmp_path / codec, message, (codec, {"var": "t"}), [6, 8], "f8")
            np.testing.assert_array_equal(np.isnan(values[::-1]), holes == -7777)


@needs_eccodes
def test_places_and_types(tmp_path):
    message, shape = make("regular_ll_sfc_grib2", has_bitmap=True)
    expected = values_of(message).reshape(shape)
    cases = [(GRIB, "f4", "v2 filter"), (GRIB, "f4", "v2 compressor"),
             (GRIB, "f4", "v3 array to bytes"), (GRIB, "f4", "v3 bytes to bytes"),
             (("grib", {"var": "t", "dtype": "float32"}), "f4", "v2 filter"),
             (("grib", {"var": "t", "dtype": "<f8"}), "f8", "v2 filter"),
             (("gribberish", {"var": "t"}), "f8", "v3 array to bytes"),
             (("gribberish", {}), "f4", "v2 filter")]
    for index, (codec, dtype, place) in enumerate(cases):
        values = decode(tmp_path / str(index), message, codec, [1, *shape], dtype, place)
        np.testing.assert_array_equal(values[0], expected.astype(dtype), str(codec))


@needs_eccodes
def test_9999_is_missing_for_kerchunk_alone(tmp_path):
    values = np.full(16 * 31, 9990.0)
    values[3] = 9999
    message = Message("regular_ll_sfc_grib2").set(bitsPerValue=8).set_values(values).bytes()
    found = decode(tmp_path / "a", message, GRIB, [31, 16], "f8")
    assert np.isnan(found[0, 3]) and np.isnan(found).sum() == 1
    found = decode(tmp_path / "b", message, ("gribberish", {"var": "t"}), [31, 16], "f8")
    np.testing.assert_array_equal(found.ravel(), values)


@needs_eccodes
def test_missing_values_whose_number_is_among_the_values(tmp_path):
    """GDAL takes another number for them, which it does not tell."""
    values = 9000 + np.arange(72).reshape(9, 8) * 30.0
    values[1, 1] = 9999
    message = grib_message(values, "DATA_ENCODING=COMPLEX_PACKING", nodata=9999)
    expected = np.asarray(values_of(message)).reshape(9, 8)
    expected[expected == 9999] = np.nan
    assert np.isnan(expected).sum() == 1
    for number, codec in enumerate((GRIB, ("gribberish", {"var": "t"}))):
        found = decode(tmp_path / str(number), message, codec, [9, 8], "f8")
        np.testing.assert_array_equal(found, expected)


# --- Positions -----------------------------------------------------------------------------------

LAMBERT = {
    "gridType": "lambert", "Nx": 12, "Ny": 9, "latitudeOfFirstGridPointInDegrees": 20.0,
    "longitudeOfFirstGridPointInDegrees": 240.0, "LoVInDegrees": 265.0, "DxInMetres": 60000.0,
    "DyInMetres": 60000.0, "Latin1InDegrees": 25.0, "Latin2InDegrees": 50.0}
MERCATOR = {
    "gridType": "mercator", "Ni": 12, "Nj": 9, "latitudeOfFirstGridPointInDegrees": -5.0,
    "longitudeOfFirstGridPointInDegrees": 100.0, "latitudeOfLastGridPointInDegrees": 20.0,
    "longitudeOfLastGridPointInDegrees": 150.0, "LaDInDegrees": 10.0, "DiInMetres": 60000.0,
    "DjInMetres": 60000.0}
AZIMUTHAL = {
    "gridType": "lambert_azimuthal_equal_area", "Nx": 12, "Ny": 9,
    "latitudeOfFirstGridPointInDegrees": 50.0, "longitudeOfFirstGridPointInDegrees": 5.0,
    "standardParallelInDegrees": 52.0, "centralLongitudeInDegrees": 10.0,
    "xDirectionGridLengthInMetres": 60000.0, "yDirectionGridLengthInMetres": 60000.0}


def positions():
    """Scanning modes that eccodes' latitudes and longitudes heed."""
    for sample in GRIDS:
        for scanning in (0, 0x40, 0x80, 0xc0) + ((0x20, 0xe0) if "gg" not in sample else ()):
            yield sample, scanning, {}
    for sample in ("regular_ll_sfc_grib1", "regular_ll_sfc_grib2"):
        yield sample, 0x40, LAMBERT
        yield sample, 0x40, MERCATOR
    for scanning in (0, 0x40, 0x80, 0xc0):
        yield "regular_ll_sfc_grib2", scanning, AZIMUTHAL


@needs_eccodes
@pytest.mark.parametrize("sample, scanning, keys", positions(),
                         ids=lambda value: value.get("gridType", "-") if isinstance(value, dict)
                         else str(value))
def test_positions(tmp_path, sample, scanning, keys):
    if keys:
        message = Message(sample).set(**keys).set(
            iScansNegatively=scanning >> 7 & 1, jScansPositively=scanning >> 6 & 1)
        message = message.set_values(np.arange(108.0)).bytes()
        shape = [9, 12]
    else:
        message, shape = make(sample, scanning=scanning)
    for name in ("latitude", "longitude"):
        codec = ("grib", {"var": name, "dtype": "float64"})
        values = decode(tmp_path / name, message, codec, shape, "f8").ravel()
        expected = Message(message=message).doubles(name + "s")
        difference = abs(values - expected)
        if name == "longitude":
            difference = np.minimum(difference, abs(difference - 360))
        # Messages of edition 1 have thousandths of a degree, and eccodes adds up rounded steps.
        assert difference.max() < (1e-3 if sample.endswith("grib1") else 1e-5)
        assert values.min() >= (0 if name == "longitude" else -90)


@needs_eccodes
def test_alternating_rows(tmp_path):
    """Positions belong to the values."""
    message, shape = make("regular_ll_sfc_grib2", scanning=0x10)
    values = decode(tmp_path, message, ("grib", {"var": "longitude"}), shape, "f8")
    np.testing.assert_allclose(values, [np.arange(0, 32, 2), np.arange(30, -2, -2)] * 15
                               + [np.arange(0, 32, 2)])


@needs_eccodes
def test_axes_of_regular_grids(tmp_path):
    message, shape = make("regular_gg_sfc_grib2")
    latitudes = Message(message=message).doubles("latitudes").reshape(shape)[:, 0]
    longitudes = Message(message=message).doubles("longitudes").reshape(shape)[0]
    for name, expected in (("latitude", latitudes), ("longitude", longitudes)):
        values = decode(tmp_path / name, message, ("gribberish", {"var": name}),
                        [len(expected)], "f8", "v3 array to bytes")
        np.testing.assert_allclose(values, expected, atol=1e-6)


def test_options_of_gribberish(tmp_path):
    columns = np.arange(36.0) * 10
    message = grib_message(columns + np.arange(18.0)[:, np.newaxis])

    def read(name, *shape, **options):
        return decode(tmp_path / (name + "-".join(options)), message,
                      ("gribberish", {"var": name, **options}), list(shape), "f8",
                      "v3 array to bytes")

    plain = read("t", 18, 36)
    assert plain[0, 0] > plain[-1, 0]  # the rows of the message begin in the south
    np.testing.assert_array_equal(read("t", 18, 36, north_up=True), plain[::-1])
    both = {"north_up": True, "adjust_longitude_range": True}
    longitudes = read("longitude", 36)
    west = np.argmax(longitudes >= 180)
    np.testing.assert_array_equal(read("t", 18, 36, **both), np.roll(plain[::-1], -west, 1))
    wrapped = read("longitude", 36, **both)
    np.testing.assert_allclose(wrapped, np.roll((longitudes + 180) % 360 - 180, -west))
    assert (np.diff(wrapped) > 0).all() and -180 <= wrapped[0] < -170
    latitudes = read("latitude", 18, **both)
    assert (np.diff(latitudes) < 0).all()
    np.testing.assert_array_equal(latitudes, read("latitude", 18)[::-1])


# --- References ----------------------------------------------------------------------------------

@needs_eccodes
def test_references_to_a_file_of_messages(tmp_path, monkeypatch):
    monkeypatch.setenv("GDAL_NUM_THREADS", "8")
    messages = [make("regular_ll_sfc_grib2", has_bitmap=index == 1, level=index)[0]
                for index in range(40)]
    (tmp_path / "a.grib2").write_bytes(b"".join(messages))
    array = {"zarr_format": 2, "shape": [40, 31, 16], "chunks": [1, 31, 16], "dtype": "<f8",
             "order": "C", "fill_value": 0.0, "compressor": None,
             "filters": [{"id": "grib", "var": "t", "dtype": "float64"}]}
    refs = {".zgroup": '{"zarr_format": 2}', "t/.zarray": json.dumps(array),
            "t/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": ["step", "y", "x"]})}
    offset = 0
    for index, message in enumerate(messages):
        refs[f"t/{index}.0.0"] = ["a.grib2", offset, len(message)]
        offset += len(message)
    write_json(tmp_path / "refs.json", {"version": 1, "refs": refs})
    copy = tmp_path / "copy.tif"
    subprocess.run(["gdal_translate", "-q", str(tmp_path / "refs.json"), str(copy)], check=True)
    raster = gdal.Open(str(copy))
    np.testing.assert_array_equal(
        raster.ReadAsArray(), [values_of(message).reshape(31, 16) for message in messages])


# --- Wrong chunks --------------------------------------------------------------------------------

def wrong_messages():
    plain = grib_message(SMALL, "DATA_ENCODING=SIMPLE_PACKING", "NBITS=16")
    yield "two", plain * 2, GRIB, [6, 8], "f4", "several GRIB messages"
    yield "truncated", plain[:-9], GRIB, [6, 8], "f4", "truncated"
    yield "no end", plain[:-4] + b"7776", GRIB, [6, 8], "f4", "no end"
    yield "head", plain[:30], GRIB, [6, 8], "f4", "truncated"
    yield "empty", b"", GRIB, [6, 8], "f4", "does not start as a GRIB message"
    yield "VRT", b"<VRTDataset rasterXSize='1'/>", GRIB, [6, 8], "f4", "does not start as"
    yield "path", b"/vsicurl/http://localhost/a.grb", GRIB, [6, 8], "f4", "does not start as"
    yield "edition", plain[:7] + b"\3" + plain[8:], GRIB, [6, 8], "f4", "edition 3"
    yield "larger", plain, GRIB, [6, 7], "f4", "6 x 8 points where the chunk has 6 x 7"
    yield "smaller", plain, GRIB, [6, 800], "f4", "6 x 8 points where the chunk has 6 x 800"
    yield "integers", plain, GRIB, [6, 8], "i4", "float32 and float64, not as int32"
    yield ("another type", plain, ("grib", {"dtype": "float64"}), [6, 8], "f4",
           '"dtype" is "float64"')
    yield "byte order", plain, GRIB, [6, 8], ">f4", "this byte order"
    grid = plain.index(b"\0\0\0\x48\3") + 12
    for name, template in (("spectral", 50), ("reduced rotated", 41), ("unknown", 999)):
        other = plain[:grid] + template.to_bytes(2, "big") + plain[grid + 2:]
        yield name, other, GRIB, [6, 8], "f4", f"a grid of the template {template}, which is not"
    packing = plain.index(b"\0\0\0\x15\5") + 9
    other = plain[:packing] + (50002).to_bytes(2, "big") + plain[packing + 2:]
    values = plain[:packing - 4] + b"\xff" * 4 + plain[packing:]
    yield "many values", values, GRIB, [6, 8], "f4", "more values than its grid has points"
    yield "packing", other, GRIB, [6, 8], "f4", "in the packing 50002"


@pytest.mark.parametrize("chunk, codec, shape, dtype, problem",
                         [case[1:] for case in wrong_messages()],
                         ids=[case[0] for case in wrong_messages()])
def test_wrong_messages(tmp_path, chunk, codec, shape, dtype, problem):
    message = message_of(decode, tmp_path, chunk, codec, shape, dtype)
    assert_fails(message, "grib", problem)
    assert "/vsimem/" not in message
    assert not gdal.ReadDirRecursive("/vsimem/")


@needs_eccodes
@pytest.mark.parametrize("sample, keys, problem", [
    ("reduced_gg_pl_32_grib1", {}, "rows of different lengths"),
    ("reduced_gg_pl_32_grib2", {}, "rows of different lengths"),
    ("sh_ml_grib1", {}, "template 50"), ("sh_ml_grib2", {}, "template 50"),
])
def test_messages_that_are_refused(tmp_path, sample, keys, problem):
    chunk = Message(sample).set(**keys).bytes()
    assert_fails(message_of(decode, tmp_path, chunk, GRIB, [6, 8], "f4"), "chunk 0.0: grib: ",
                 problem)


@needs_eccodes
@pytest.mark.parametrize("packing", ["grid_second_order", "grid_ieee"])
def test_packings_that_gdal_reads_wrongly(tmp_path, packing):
    chunk, shape = make("regular_ll_sfc_grib1", packing)
    assert_fails(message_of(decode, tmp_path, chunk, GRIB, shape, "f8"), "not in simple packing")


def test_a_missing_driver_is_named(tmp_path):
    message = grib_message(SMALL, "DATA_ENCODING=SIMPLE_PACKING")
    store = write_chunk(tmp_path / "a", message, GRIB, [6, 8], "f4")
    done = subprocess.run(
        ["gdal_translate", "-q", "--config", "GDAL_SKIP", "GRIB", str(store),
         str(tmp_path / "copy.tif")], capture_output=True, text=True)
    assert done.returncode != 0
    assert_fails(done.stderr, "grib: GDAL has no driver GRIB")


def test_messages_are_not_written(tmp_path):
    array = open_array(write_chunk(tmp_path, grib_message(SMALL), GRIB, [6, 8], "f4"))
    assert array.ReadAsArray().shape == (6, 8)
    script = ("from osgeo import gdal; import sys; gdal.DontUseExceptions()\n"
              "raster = gdal.Open(sys.argv[1], gdal.GA_Update)\n"
              "raster.GetRasterBand(1).Fill(7)\n")
    done = subprocess.run(["/usr/bin/python3", "-c", script, str(tmp_path)], check=True,
                          capture_output=True, text=True)
    assert_fails(done.stderr, "chunk 0.0: .*chunks that are GRIB messages are not written")
