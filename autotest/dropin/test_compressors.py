"""Compressors and decompressors that a program registers with GDAL at run time."""
import ctypes
import json
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from osgeo import gdal
from toolchain import COMPILER

OPTIONS = ("<Options><Option name='LEVEL' type='int' default='3'/>"
           "<Option name='mode' type='string' default='x'/>"
           "<Option name='tag' type='string'/></Options>")
DATA = np.arange(12, dtype="u2").reshape(3, 4)


@pytest.fixture(scope="module")
def register(tmp_path_factory):
    """Registers codecs of compressor_shim.c: register(id, options, directions)."""
    config = shutil.which("gdal-config")
    if config is None:
        pytest.skip("needs gdal-config")
    library = tmp_path_factory.mktemp("shim") / "compressor_shim.so"
    flags = [subprocess.check_output([config, flag], text=True).split()
             for flag in ("--cflags", "--libs")]
    source = Path(__file__).with_name("compressor_shim.c")
    subprocess.run([COMPILER, "-x", "c", "-shared", "-fPIC", "-Wall", *flags[0], source,
                    "-x", "none", "-o", library, *flags[1]], check=True)
    shim = ctypes.CDLL(str(library))

    def register(name, options=OPTIONS, directions="both"):
        shim.register_codec(name.encode(), options and options.encode(), directions.encode())

    register("reverse")
    return register


def create(path, *options, format="ZARR_V2"):
    driver = gdal.GetDriverByName("Zarr")
    dataset = driver.Create(str(path), 4, 3, 1, gdal.GDT_UInt16,
                            [f"FORMAT={format}", "ARRAY_NAME=a", *options])
    dataset.GetRasterBand(1).WriteArray(DATA)
    del dataset


def array_document(path):
    return json.loads((path / "a/.zarray").read_text())


def read(path):
    dataset = gdal.Open(str(path))
    return dataset.ReadAsArray()


@pytest.mark.parametrize("name", ["reverse", "REVERSE"])
def test_written_and_read(tmp_path, register, name):
    create(tmp_path / "r.zarr", f"COMPRESS={name}")
    document = array_document(tmp_path / "r.zarr")
    assert document["compressor"] == {"id": "reverse", "level": 3, "mode": "x"}
    assert not document["filters"]
    chunk = np.frombuffer((tmp_path / "r.zarr/a/0.0").read_bytes()[::-1], "<u2")
    np.testing.assert_array_equal(chunk.reshape(document["chunks"])[:3, :4], DATA)
    np.testing.assert_array_equal(read(tmp_path / "r.zarr"), DATA)


def test_its_options(tmp_path, register):
    create(tmp_path / "r.zarr", "COMPRESS=reverse", "REVERSE_LEVEL=7", "REVERSE_TAG=t")
    compressor = array_document(tmp_path / "r.zarr")["compressor"]
    assert compressor == {"id": "reverse", "level": 7, "mode": "x", "tag": "t"}
    np.testing.assert_array_equal(read(tmp_path / "r.zarr"), DATA)


def test_multidimensional(tmp_path, register):
    path = tmp_path / "m.zarr"
    dataset = gdal.GetDriverByName("Zarr").CreateMultiDimensional(str(path))
    group = dataset.GetRootGroup()
    dimensions = [group.CreateDimension(n, None, None, s) for n, s in zip("yx", DATA.shape)]
    array = group.CreateMDArray("a", dimensions, gdal.ExtendedDataType.Create(gdal.GDT_UInt16),
                                ["COMPRESS=reverse", "REVERSE_LEVEL=5"])
    array.Write(DATA)
    del array, dimensions, group, dataset
    assert array_document(path)["compressor"] == {"id": "reverse", "level": 5, "mode": "x"}
    np.testing.assert_array_equal(read(path), DATA)


@pytest.mark.ours_only("it lists those that were registered when it was first asked")
def test_they_are_listed(register):
    driver = gdal.GetDriverByName("Zarr")
    assert "reverse" in driver.GetMetadataItem("COMPRESSORS").split(",")
    options = ElementTree.fromstring(driver.GetMetadataItem("DMD_CREATIONOPTIONLIST"))
    by_name = {option.get("name"): option for option in options}
    assert "reverse" in [value.text.lower() for value in by_name["COMPRESS"]]
    assert by_name["REVERSE_LEVEL"].get("type") == "int"
    assert by_name["REVERSE_LEVEL"].get("default") == "3"


@pytest.mark.ours_only("it needs the compressor as well")
def test_what_has_only_a_decompressor_is_read(tmp_path, register):
    create(tmp_path / "r.zarr", "COMPRESS=reverse")
    register("reader", None, "decompress")
    document = array_document(tmp_path / "r.zarr")
    document["compressor"] = {"id": "reader"}
    (tmp_path / "r.zarr/a/.zarray").write_text(json.dumps(document))
    (tmp_path / "r.zarr/.zmetadata").unlink()
    np.testing.assert_array_equal(read(tmp_path / "r.zarr"), DATA)


def test_nothing_registered(tmp_path, register):
    with pytest.raises(RuntimeError):
        create(tmp_path / "r.zarr", "COMPRESS=forward")
    create(tmp_path / "s.zarr", "COMPRESS=reverse")
    document = array_document(tmp_path / "s.zarr")
    document["compressor"] = {"id": "forward"}
    (tmp_path / "s.zarr/a/.zarray").write_text(json.dumps(document))
    (tmp_path / "s.zarr/.zmetadata").unlink()
    with pytest.raises(RuntimeError):
        gdal.Open(f'ZARR:"{tmp_path}/s.zarr":/a')


@pytest.mark.ours_only("it does not store the codec of a compressor that declares no options")
def test_without_declared_options(tmp_path, register):
    register("plain", None)
    create(tmp_path / "p.zarr", "COMPRESS=plain")
    assert array_document(tmp_path / "p.zarr")["compressor"] == {"id": "plain"}
    np.testing.assert_array_equal(read(tmp_path / "p.zarr"), DATA)


@pytest.mark.ours_only("it lists those that were registered when it was first asked")
def test_registered_late(tmp_path, register):
    gdal.GetDriverByName("Zarr").GetMetadataItem("COMPRESSORS")
    register("late", None)
    driver = gdal.GetDriverByName("Zarr")
    assert "late" in driver.GetMetadataItem("COMPRESSORS").split(",")
    create(tmp_path / "l.zarr", "COMPRESS=late")
    np.testing.assert_array_equal(read(tmp_path / "l.zarr"), DATA)


@pytest.mark.ours_only("v3 takes its own codecs only")
def test_version_3(tmp_path, register):
    create(tmp_path / "r.zarr", "COMPRESS=reverse", format="ZARR_V3")
    codecs = json.loads((tmp_path / "r.zarr/a/zarr.json").read_text())["codecs"]
    assert codecs[-1] == {"name": "numcodecs.reverse",
                          "configuration": {"level": 3, "mode": "x"}}
    np.testing.assert_array_equal(read(tmp_path / "r.zarr"), DATA)


@pytest.mark.ours_only("it writes 0")
def test_option_that_is_no_number(tmp_path, register):
    with pytest.raises(RuntimeError, match='REVERSE_LEVEL is "high", not an integer'):
        create(tmp_path / "r.zarr", "COMPRESS=reverse", "REVERSE_LEVEL=high")
    assert not (tmp_path / "r.zarr").exists()


@pytest.mark.gdal_since("3.11")  # before, Python frees a dataset twice whose Close() fails
@pytest.mark.ours_only("its message does not name the codec")
def test_function_that_fails(tmp_path, register):
    dataset = gdal.GetDriverByName("Zarr").Create(
        str(tmp_path / "r.zarr"), 4, 3, 1, gdal.GDT_UInt16, ["COMPRESS=reverse", "REVERSE_LEVEL=9"])
    with pytest.raises(RuntimeError, match="registered codec reverse: the chunk cannot be encoded"):
        dataset.GetRasterBand(1).WriteArray(DATA)
        dataset.FlushCache()
    with pytest.raises(RuntimeError, match="cannot be encoded"):
        dataset.Close()


@pytest.mark.ours_only("its message is another one")
def test_arrays_are_read_in_a_new_process_only_with_the_codec(tmp_path, register):
    create(tmp_path / "r.zarr", "COMPRESS=reverse")
    code = f"from osgeo import gdal; gdal.UseExceptions(); gdal.Open({str(tmp_path / 'r.zarr')!r})"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode != 0
    assert 'the codec "numcodecs.reverse" is not supported' in result.stderr
