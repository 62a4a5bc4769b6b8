"""Where virtual stores can be made, how they name files, and their limits."""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import pytest
from osgeo import gdal
from virtual_sources import (
    change_fields,
    check_same,
    chunks,
    make_virtual,
    pixels,
    read_with_zarr,
    write_tiff,
)
from webserver import serve

DATA = np.arange(400).reshape(1, 20, 20).astype("u1")


@pytest.mark.parametrize("mode", ["YES", "AUTO"])
@pytest.mark.parametrize("kind", ["appended"])
def test_only_new_documents_hold_references(tmp_path, mode, kind):
    source = write_tiff(tmp_path / "a.tif", DATA)
    target, options, flags = f"ICECHUNK:{tmp_path}/repository", [], gdal.OF_RASTER
    if kind == "appended":
        target, options = str(tmp_path / "a.zarr"), ["APPEND_SUBDATASET=YES", "ARRAY_NAME=b"]
        assert gdal.GetDriverByName("Zarr").CreateCopy(target, gdal.Open(source)) is not None
    if kind == "hierarchy":
        assert make_virtual(source, tmp_path / "a.json") is not None
        source, flags = str(tmp_path / "a.json"), gdal.OF_MULTIDIM_RASTER
    code = (f"from osgeo import gdal; gdal.UseExceptions()\n"
            f"source = gdal.OpenEx({source!r}, {flags})\n"
            f"gdal.GetDriverByName('Zarr').CreateCopy({target!r}, source, "
            f"options={['VIRTUAL=' + mode, *options]!r})")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and "VIRTUAL is an option of copies" in done.stderr
    assert not (tmp_path / "repository").exists()
    if kind == "appended":
        assert not (tmp_path / "a.zarr/b").exists()
        np.testing.assert_array_equal(pixels(target), DATA)


def test_relative_locations_from_the_root(tmp_path):
    """Of files that share no folder with the document."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        source = write_tiff(os.path.join(folder, "a.tif"), DATA)
        for name in ("a.json", "a.parq"):
            assert make_virtual(source, tmp_path / name, "LOCATIONS=RELATIVE") is not None
            check_same(tmp_path / name, source)
        names = {value[0] for value in chunks(tmp_path / "a.json").values()}
        assert names == {os.path.relpath(source, tmp_path)}


@pytest.mark.parametrize("target, source, name", [
    ("{}/a.json", "/vsimem/a/b.tif", "/vsimem/a/b.tif"),
    ("/vsimem/c/a.json", "/vsimem/a/b.tif", "../a/b.tif"),
    ("/vsimem/a.json", "{}/b.tif", "{}/b.tif"),
])
def test_relative_locations_on_other_file_systems(tmp_path, target, source, name):
    target, source, name = (text.format(tmp_path) for text in (target, source, name))
    write_tiff(source, DATA)
    assert make_virtual(source, target, "LOCATIONS=RELATIVE") is not None
    check_same(target, source)
    document = gdal.VSIFOpenL(target, "rb")
    text = bytes(gdal.VSIFReadL(1, 1 << 20, document)).decode()
    gdal.VSIFCloseL(document)
    assert {value[0] for key, value in json.loads(text)["refs"].items()
            if isinstance(value, list)} == {name}
    for path in (source, target):
        gdal.Unlink(path)


def test_relative_locations_on_the_network(tmp_path, monkeypatch):
    source = write_tiff(tmp_path / "a.tif", DATA)
    with serve(tmp_path, monkeypatch) as server:
        remote = f"/vsicurl/{server.url}/a.tif"
        assert make_virtual(remote, tmp_path / "a.json", "LOCATIONS=RELATIVE") is not None
        names = {value[0] for value in chunks(tmp_path / "a.json").values()}
        assert names == {f"{server.url}/a.tif"}
        check_same(tmp_path / "a.json", source)


@pytest.mark.parametrize("shape, levels", [
    ((1, 1, 4000), [2, 4]), ((1, 3, 4000), [2, 4, 8]), ((1, 4000, 1), [2, 4]),
    ((3, 4000, 2), [2, 4, 8])])
def test_overviews_of_few_rows_or_columns(tmp_path, shape, levels):
    data = (np.arange(np.prod(shape)).reshape(shape) % 251).astype("u1")
    source = write_tiff(tmp_path / "a.tif", data, "COMPRESS=DEFLATE", "TILED=YES",
                        "BLOCKXSIZE=64", "BLOCKYSIZE=64")
    assert gdal.Open(source, gdal.GA_Update).BuildOverviews("NEAREST", levels) == 0
    for mode in ("YES", "AUTO"):
        target = str(tmp_path / f"{mode}.json")
        assert make_virtual(source, target, mode=mode) is not None
        assert all(isinstance(value, list) for key, value in chunks(target).items()
                   if os.path.basename(os.path.dirname(key)) not in ("X", "Y"))
        copy, original = gdal.Open(target), gdal.Open(source)
        for i in range(1, len(data) + 1):
            a, b = copy.GetRasterBand(i), original.GetRasterBand(i)
            assert a.GetOverviewCount() == b.GetOverviewCount() == len(levels)
            for level in range(len(levels)):
                np.testing.assert_array_equal(a.GetOverview(level).ReadAsArray(),
                                              b.GetOverview(level).ReadAsArray())


@pytest.mark.parametrize("scales, options", [
    ((1, 2), []), ((1, 1), ["SINGLE_ARRAY=NO"])])
def test_bands_by_pixel_share_an_array_or_are_copied(tmp_path, scales, options):
    source = write_tiff(tmp_path / "a.tif", np.stack([DATA[0], DATA[0] + 1]), "INTERLEAVE=PIXEL")
    dataset = gdal.Open(source, gdal.GA_Update)
    for i, scale in enumerate(scales, 1):
        dataset.GetRasterBand(i).SetScale(scale)
    dataset = None
    with pytest.raises(RuntimeError, match="do not share an array"):
        make_virtual(source, tmp_path / "a.json", *options)
    assert not (tmp_path / "a.json").exists()
    assert make_virtual(source, tmp_path / "a.json", *options, mode="AUTO") is not None
    for i, scale in enumerate(scales, 1):
        copy = gdal.Open(f'ZARR:"{tmp_path}/a.json":/Band{i}')
        np.testing.assert_array_equal(copy.ReadAsArray(), DATA[0] + i - 1)
        assert (copy.GetRasterBand(1).GetScale() or 1) == scale
    if not options:
        check_same(tmp_path / "a.json", source)
        assert make_virtual(source, tmp_path / "one.json", "SINGLE_ARRAY=YES") is not None
        check_same(tmp_path / "one.json", source)


def run_with_memory(code, *arguments, limit=3 << 30):
    """Python code, with so much memory; its output."""
    code = (f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))\n"
            "import sys; from osgeo import gdal; gdal.UseExceptions()\n" + code)
    done = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True,
                          text=True)
    return done.stdout + done.stderr


COPY = ("driver = gdal.GetDriverByName('Zarr'); source = gdal.Open(sys.argv[1])\n"
        "copy = driver.CreateCopy(sys.argv[2], source, options=['VIRTUAL=YES'])\n"
        "print(copy.ReadAsArray(0, 0, 2, 2).tolist())")


def test_a_mosaic_of_billions_of_blocks(tmp_path):
    write_tiff(tmp_path / "a.tif", DATA[:, :16, :16], "TILED=YES", "BLOCKXSIZE=16",
               "BLOCKYSIZE=16", place=(0, 1, 0, 0, 0, 1))
    rectangle = 'xOff="0" yOff="0" xSize="16" ySize="16"'
    (tmp_path / "m.vrt").write_text(
        f'<VRTDataset rasterXSize="{2**31 - 1}" rasterYSize="{2**31 - 1}">'
        f'<VRTRasterBand dataType="Byte" band="1"><SimpleSource><SourceFilename relativeToVRT="1">'
        f"a.tif</SourceFilename><SrcRect {rectangle}/><DstRect {rectangle}/></SimpleSource>"
        f"</VRTRasterBand></VRTDataset>")
    assert "[[0, 1], [20, 21]]" in run_with_memory(COPY, tmp_path / "m.vrt", tmp_path / "m.json")


def test_a_strip_that_is_too_long_to_be_padded(tmp_path):
    source = str(tmp_path / "a.tif")
    dataset = gdal.GetDriverByName("GTiff").Create(
        source, 20, 61, 1, options=["COMPRESS=DEFLATE", "BLOCKYSIZE=60", "SPARSE_OK=YES"])
    dataset.GetRasterBand(1).WriteArray(np.ones((1, 20), "u1"), 0, 60)
    dataset = None
    change_fields(source, {256: 100_000, 257: 60_001, 278: 60_000})
    assert "too long to pad" in run_with_memory(COPY, source, tmp_path / "a.json")


@pytest.mark.parametrize("name", ["a.json", "a.parq"])
@pytest.mark.parametrize("locations", ["ABSOLUTE", "RELATIVE"])
def test_large_copies_are_beside_the_references(tmp_path, name, locations):
    """Memory does not hold them, and readers load what they
    need. Up to 16 MiB are in the document."""
    code = ("import numpy; from osgeo import gdal_array\n"
            "data = numpy.random.default_rng(1).bytes(210 << 20)\n"
            "data = numpy.frombuffer(data, 'u1').reshape(-1, 1 << 15)\n"
            "driver = gdal.GetDriverByName('Zarr')\n"
            "options = ['VIRTUAL=AUTO', 'COMPRESS=NONE', 'BLOCKSIZE=512,32768',\n"
            "           'ARRAY_NAME=v', 'LOCATIONS=' + sys.argv[2]]\n"
            "driver.CreateCopy(sys.argv[1], gdal_array.OpenArray(data), options=options)\n"
            "print((gdal.Open(sys.argv[1]).ReadAsArray() == data).all())")
    target = tmp_path / name
    assert run_with_memory(code, target, locations).strip() == "True"
    beside, = tmp_path.glob("a.json.chunks-*" if name == "a.json" else "a.parq/.chunks-*")
    assert beside.stat().st_size == 224 << 20  # 14 chunks
    if name == "a.json":
        assert target.stat().st_size < 1 << 20
        assert {value[0] for value in chunks(target).values() if isinstance(value, list)} == {
            str(beside) if locations == "ABSOLUTE" else beside.name}
        if locations == "ABSOLUTE":
            assert read_with_zarr(target, "v")[-1, -1] == pixels(target)[0, -1, -1]
    driver = gdal.GetDriverByName("Zarr")
    for move in [driver.Rename, driver.CopyFiles]:
        with pytest.raises(RuntimeError, match="by its path"):
            move(str(tmp_path / "b.json"), str(target))
    other = tmp_path / (beside.name[:-1] + "-")  # of a store that had this name before
    if name == "a.json":
        other.touch()
    assert driver.Delete(str(target)) == 0
    assert not beside.exists() and not target.exists()
    assert other.exists() == (name == "a.json")


@pytest.mark.parametrize("name", ["a.json", "a.parq"])
def test_a_stopped_copy_leaves_nothing_behind(tmp_path, name):
    code = ("import numpy; from osgeo import gdal_array\n"
            "data = numpy.random.default_rng(1).bytes(80 << 20)\n"
            "data = numpy.frombuffer(data, 'u1').reshape(-1, 1 << 14)\n"
            "gdal.GetDriverByName('Zarr').CreateCopy(sys.argv[1], gdal_array.OpenArray(data),\n"
            "    options=['VIRTUAL=AUTO', 'COMPRESS=NONE', 'BLOCKSIZE=512,16384'],\n"
            "    callback=lambda done, *_: done < 0.9)")
    assert "RuntimeError" in run_with_memory(code, tmp_path / name)
    assert list(tmp_path.iterdir()) == []
