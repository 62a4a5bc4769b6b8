"""Strings: lengths, nodata values and copies."""
import json
import struct

import pytest
from multidim_stores import FORMATS, create, create_array, open_store
from osgeo import gdal

UINT16 = gdal.ExtendedDataType.Create(gdal.GDT_UInt16)


def text(length=0):
    return gdal.ExtendedDataType.CreateString(length)


def write_v2(path, dtype, chunk, fill_value=None):
    (path / "a").mkdir(parents=True)
    (path / ".zgroup").write_text('{"zarr_format": 2}')
    (path / "a" / ".zarray").write_text(json.dumps({
        "zarr_format": 2, "shape": [2], "chunks": [2], "dtype": dtype, "compressor": None,
        "fill_value": fill_value, "filters": None, "order": "C"}))
    (path / "a" / "0").write_bytes(chunk)


def open_array(path):
    dataset = open_store(path)
    return dataset, dataset.GetRootGroup().OpenMDArray("a")


def copy(source, target, version):
    gdal.MultiDimTranslate(str(target), str(source), format="Zarr",
                           creationOptions=[f"FORMAT={version}"])
    return open_array(target)


@pytest.mark.builtin_since("3.8")
def test_lengths_in_bytes(tmp_path):
    write_v2(tmp_path / "a.zarr", "|S3", b"abcde\0", "QUJD")
    _dataset, array = open_array(tmp_path / "a.zarr")
    assert array.GetDataType().GetMaxStringLength() == 3
    assert array.Read() == ["abc", "de"]
    assert array.GetNoDataValueAsString() == "ABC"


@pytest.mark.builtin_since("3.8")
def test_copies_keep_a_fixed_length(tmp_path):
    write_v2(tmp_path / "a.zarr", "|S3", b"abcde\0")
    _dataset, array = copy(tmp_path / "a.zarr", tmp_path / "b.zarr", "ZARR_V2")
    assert array.GetDataType().GetMaxStringLength() == 3
    assert array.Read() == ["abc", "de"]


@pytest.mark.ours_only("in v3 its strings have any length")
def test_copies_to_v3_keep_a_fixed_length(tmp_path):
    write_v2(tmp_path / "a.zarr", "|S3", b"abcde\0")
    _dataset, array = copy(tmp_path / "a.zarr", tmp_path / "b.zarr", "ZARR_V3")
    assert array.GetDataType().GetMaxStringLength() == 3
    assert array.Read() == ["abc", "de"]


@pytest.mark.ours_only("it gives 0, no length, for Unicode")
@pytest.mark.parametrize("version", FORMATS)
def test_unicode_needs_four_bytes_a_character(tmp_path, version):
    write_v2(tmp_path / "a.zarr", "<U2", "éa\U0001f600\U0001f600".encode("utf-32-le"))
    for _dataset, array in (open_array(tmp_path / "a.zarr"),
                            copy(tmp_path / "a.zarr", tmp_path / "b.zarr", version)):
        assert array.GetDataType().GetMaxStringLength() == 8
        assert array.Read() == ["éa", "\U0001f600\U0001f600"]


@pytest.mark.ours_only("it cannot copy structures")
@pytest.mark.parametrize("version", FORMATS)
def test_strings_in_structures_are_copied(tmp_path, version):
    chunk = b"".join(word + struct.pack("<H", number) + wide.encode("utf-32-le")
                     for word, number, wide in ((b"abc", 1, "éa"), (b"d\0\0", 2, "xy")))
    write_v2(tmp_path / "a.zarr", [["s", "|S3"], ["n", "<u2"], ["u", "<U2"]], chunk)
    got = []
    for _dataset, array in (open_array(tmp_path / "a.zarr"),
                            copy(tmp_path / "a.zarr", tmp_path / "b.zarr", version)):
        fields = {one.GetName(): one for one in array.GetDataType().GetComponents()}
        assert fields["s"].GetType().GetMaxStringLength() == 3
        assert fields["u"].GetType().GetMaxStringLength() == 8
        numbers = gdal.ExtendedDataType.CreateCompound(
            "", 2, [gdal.EDTComponent.Create("n", 0, UINT16)])
        got.append(array.Read(buffer_datatype=numbers))
    assert got == [struct.pack("<2H", 1, 2)] * 2


@pytest.mark.builtin_since("3.11")
@pytest.mark.parametrize("length", [0, 10])
def test_texts_of_v3_have_any_length(tmp_path, length):
    dataset = create(tmp_path / "a.zarr", ["FORMAT=ZARR_V3"])
    array = create_array(dataset, [2], data_type=text(length))
    array.Write(["a" * 12, "äöü"])
    del array, dataset
    document = json.loads((tmp_path / "a.zarr/a/zarr.json").read_text())
    assert document["data_type"] == "string"
    assert "vlen-utf8" in [codec["name"] for codec in document["codecs"]]
    _dataset, array = open_array(tmp_path / "a.zarr")
    assert array.Read() == ["a" * 12, "äöü"]


@pytest.mark.ours_only("it cannot write structures with texts")
def test_texts_in_structures_of_v3_are_unicode(tmp_path):
    parts = [gdal.EDTComponent.Create("n", 0, UINT16), gdal.EDTComponent.Create("s", 8, text(3))]
    dataset = create(tmp_path / "a.zarr", ["FORMAT=ZARR_V3"])
    create_array(dataset, [2], data_type=gdal.ExtendedDataType.CreateCompound("", 16, parts))
    del dataset
    document = json.loads((tmp_path / "a.zarr/a/zarr.json").read_text())
    assert "fixed_length_utf32" in json.dumps(document["data_type"])


@pytest.mark.gdal_since("3.7")
@pytest.mark.builtin_since("3.11")
@pytest.mark.parametrize("version", FORMATS)
@pytest.mark.parametrize("length", [0, 10])
def test_nodata(tmp_path, version, length):
    if version == "ZARR_V2" and length == 0 and gdal.GetDriverByName("Zarr").GetMetadataItem(
            "GDAL_ZARR_VERSION") is None:
        pytest.skip("the built-in driver has no strings of any length in v2")
    dataset = create(tmp_path / "a.zarr", [f"FORMAT={version}"])
    array = create_array(dataset, [3], data_type=text(length))
    assert array.SetNoDataValueString("none") == gdal.CE_None
    assert array.GetNoDataValueAsString() == "none"
    assert array.Read() == ["none"] * 3
    assert array.Write(["ab", "none", ""]) == gdal.CE_None
    del array, dataset
    _dataset, array = open_array(tmp_path / "a.zarr")
    assert array.GetNoDataValueAsString() == "none"
    assert array.Read() == ["ab", "none", ""]
    _dataset, array = copy(tmp_path / "a.zarr", tmp_path / "b.zarr", version)
    assert array.GetNoDataValueAsString() == "none"


@pytest.mark.gdal_since("3.7")
@pytest.mark.ours_only("it cuts texts that are too long")
@pytest.mark.parametrize("version", FORMATS)
def test_too_long(tmp_path, version):
    dataset = create(tmp_path / "a.zarr", [f"FORMAT={version}"])
    array = create_array(dataset, [1], ["STRING_FORMAT=ASCII"], text(4))
    for use in (lambda: array.Write(["12345"]), lambda: array.SetNoDataValueString("12345")):
        with pytest.raises(RuntimeError, match="longer than the 4"):
            use()
    assert array.GetNoDataValueAsString() is None


@pytest.mark.ours_only("it sets the value of missing chunks, which changes data")
@pytest.mark.gdal_since("3.7")
@pytest.mark.parametrize("version", FORMATS)
@pytest.mark.parametrize("length", [0, 10])
def test_nodata_of_an_array_with_data(tmp_path, version, length):
    dataset = create(tmp_path / "a.zarr", [f"FORMAT={version}"])
    array = create_array(dataset, [4], ["BLOCKSIZE=2"], text(length))
    array.Write(["a", "b"], [0], [2])
    array.SetNoDataValueString("b")
    del array, dataset
    _dataset, array = open_array(tmp_path / "a.zarr")
    assert array.GetNoDataValueAsString() == "b"
    assert array.Read() == ["a", "b", "", ""]
