"""Stores in ZIP archives, opened by the name of the archive."""
import shutil
import zipfile

import numpy as np
import pytest
import zarr
from osgeo import gdal, ogr
from stores import write_array, write_group
from v2_stores import write_v2
from webserver import serve

DATA = np.arange(48, dtype="i2").reshape(6, 8)


def write_store(path, version):
    if version == 2:
        write_v2(path, "g/a", DATA, chunks=(4, 4))
    else:
        write_group(path)
        write_group(path / "g")
        write_array(path / "g/a", DATA, (4, 4))


@pytest.fixture(params=["from within", "with its folder"])
def pack(request, tmp_path):
    """Packs the folder `path` into the file `name`.zip."""
    def pack(path, name):
        if request.param == "from within":
            return shutil.make_archive(str(tmp_path / name), "zip", path)
        return shutil.make_archive(str(tmp_path / name), "zip", path.parent, path.name)

    return pack


@pytest.fixture
def archive(tmp_path, pack):
    write_store(tmp_path / "store/some.zarr", 2)
    return pack(tmp_path / "store/some.zarr", "packed")


def arrays_of(name):
    return gdal.OpenEx(name, gdal.OF_MULTIDIM_RASTER).GetRootGroup().GetMDArrayNames()


def claims(path):
    return gdal.IdentifyDriverEx(str(path), allowed_drivers=["Zarr"]) is not None


def assert_reads(name):
    dataset = gdal.Open(name)
    assert dataset.GetDriver().ShortName == "Zarr"
    np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)
    root = gdal.OpenEx(name, gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    np.testing.assert_array_equal(root.OpenMDArrayFromFullname("/g/a").ReadAsArray(), DATA)


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("form", ["{}", 'ZARR:"{}"', "/vsizip/{}", 'ZARR:"/vsizip/{}"',
                                  "/vsizip/{{{}}}", 'ZARR:"/vsizip/{{{}}}/"'])
def test_names(tmp_path, pack, version, form):
    write_store(tmp_path / "store/some.zarr", version)
    assert_reads(form.format(pack(tmp_path / "store/some.zarr", "packed.zarr")))


def test_one_array(archive):
    for name in (f'ZARR:"{archive}":/g/a', f'ZARR:"/vsizip/{archive}":/g/a'):
        np.testing.assert_array_equal(gdal.Open(name).ReadAsArray(), DATA)


def test_subdatasets(tmp_path, pack):
    for name in "ab":
        write_v2(tmp_path / "store/some.zarr", name, DATA)
    file = pack(tmp_path / "store/some.zarr", "packed")
    names = [name for name, _ in gdal.Open(file).GetSubDatasets()]
    assert names == [f'ZARR:"{file}":/a', f'ZARR:"{file}":/b']
    for name in names:
        np.testing.assert_array_equal(gdal.Open(name).ReadAsArray(), DATA)


@pytest.mark.parametrize("name", ["heights", "heights.zarr"])
def test_array_at_the_root(tmp_path, pack, name):
    """It is named after the file, not after the folder in it."""
    write_array(tmp_path / "store/some.zarr", DATA)
    file = pack(tmp_path / "store/some.zarr", name)
    for form in ("{}", 'ZARR:"{}"', "/vsizip/{}", "/vsizip/{{{}}}"):
        assert arrays_of(form.format(file)) == ["heights"]
    np.testing.assert_array_equal(gdal.Open(f'ZARR:"{file}":/heights').ReadAsArray(), DATA)


def test_written_by_zarr(tmp_path):
    """Without entries for folders."""
    path = str(tmp_path / "a.ZIP")
    with zarr.storage.ZipStore(path, mode="w") as store:
        zarr.group(store).create_group("g")
        zarr.array(DATA, store=store, path="g/a")
    assert_reads(path)


@pytest.mark.parametrize("form", ["{}", 'ZARR:"{}":/g/a'])
def test_file_list(tmp_path, archive, form):
    files = gdal.Open(form.format(archive)).GetFileList()
    assert files[0] == archive
    inside = [file for file in files if file.startswith(f"/vsizip/{{{archive}}}/")]
    assert sorted([archive, *inside]) == sorted(files)
    names = {file.rpartition("/")[2] for file in inside}
    assert {".zgroup", ".zarray"} <= names <= {".zgroup", ".zarray", ".zattrs"}
    assert all(gdal.VSIStatL(file) for file in files)


@pytest.mark.skipif(not hasattr(gdal.MDArray, "GetRawBlockInfo"), reason="GDAL is too old")
def test_raw_block(archive):
    root = gdal.OpenEx(archive, gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    block = root.OpenMDArrayFromFullname("/g/a").GetRawBlockInfo([1, 0])
    assert block.GetFilename().startswith(f"/vsizip/{{{archive}}}/")
    assert block.GetFilename().endswith("/g/a/1.0")
    assert (block.GetOffset(), block.GetSize()) == (0, gdal.VSIStatL(block.GetFilename()).size)


def test_beside_other_folders(tmp_path, archive):
    """As archives of macOS have them."""
    with zipfile.ZipFile(archive, "a") as file:
        file.writestr("__MACOSX/._some.zarr", b"x")
        file.writestr("README", b"x")
    assert_reads(archive)


def test_several_stores(tmp_path):
    for name in ("one", "two"):
        write_store(tmp_path / "store" / name, 2)
    file = shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path / "store")
    for name in (file, f'ZARR:"{file}"', f"/vsizip/{file}"):
        with pytest.raises(RuntimeError,
                           match=r'more than one Zarr: name one of them.*/(one|two)"'):
            gdal.Open(name)
    assert_reads(f"/vsizip/{file}/two")


def test_archive_in_an_archive(tmp_path, archive):
    outer = str(tmp_path / "outer.zip")
    with zipfile.ZipFile(outer, "w") as file:
        file.write(archive, "inner.zip")
    assert not claims(outer)
    assert_reads(f"/vsizip/{outer}/inner.zip")
    assert_reads(f'ZARR:"/vsizip/{outer}/inner.zip"')


def test_folder_with_the_name_of_an_archive(tmp_path):
    write_store(tmp_path / "some.zip", 3)
    assert_reads(str(tmp_path / "some.zip"))


def test_http(tmp_path, archive, monkeypatch):
    with serve(tmp_path, monkeypatch) as server:
        for form in ("/vsicurl/{}", 'ZARR:"/vsicurl/{}"', "/vsizip//vsicurl/{}",
                     'ZARR:"/vsizip//vsicurl/{}"', "/vsizip/{{/vsicurl/{}}}"):
            assert_reads(form.format(f"{server.url}/packed.zip"))
        assert "bytes=" in str([headers for _, headers in server.requests])


def test_other_archives_are_not_claimed(tmp_path, archive):
    folder = tmp_path / "shapes"
    folder.mkdir()
    layer = ogr.GetDriverByName("ESRI Shapefile").CreateDataSource(str(folder / "a.shp"))
    layer.CreateLayer("a", geom_type=ogr.wkbPoint)
    del layer
    shapes = shutil.make_archive(str(tmp_path / "shapes.shp"), "zip", folder)
    assert not claims(shapes)
    assert not claims(f"/vsizip/{shapes}")
    assert gdal.OpenEx(shapes, gdal.OF_VECTOR).GetDriver().ShortName == "ESRI Shapefile"
    with pytest.raises(RuntimeError, match="there is no Zarr group or array"):
        gdal.Open(f'ZARR:"{shapes}"')


def test_other_extensions_are_not_claimed(tmp_path, archive):
    """Otherwise, every office document would be opened."""
    shutil.copy(archive, tmp_path / "packed.docx")
    assert not claims(tmp_path / "packed.docx")


def test_damaged(tmp_path, archive):
    content = open(archive, "rb").read()
    (tmp_path / "cut.zip").write_bytes(content[: len(content) // 2])
    (tmp_path / "text.zip").write_bytes(b"no archive")
    for name in ("cut.zip", "text.zip", "absent.zip"):
        assert not claims(tmp_path / name)
        with pytest.raises(RuntimeError, match=name):
            gdal.Open(f'ZARR:"{tmp_path / name}"')


# --- one by one, as QGIS opens the files that it lists --------------------------------------------

def offered(archive):
    """The files of an archive that the driver claims."""
    names = [name for name in gdal.ReadDirRecursive(f"/vsizip/{archive}") if name[-1] != "/"]
    return [name for name in names if claims(f"/vsizip/{archive}/{name}")]


@pytest.mark.parametrize("version, document", [(2, ".zgroup"), (3, "zarr.json")])
def test_a_document_of_a_store_with_one_raster(tmp_path, pack, version, document):
    write_store(tmp_path / "store/some.zarr", version)
    write_v2(tmp_path / "store/some.zarr", "g/x", np.arange(8.0))
    file = pack(tmp_path / "store/some.zarr", "packed")
    (name,) = offered(file)
    assert name in (document, f"some.zarr/{document}")
    np.testing.assert_array_equal(gdal.Open(f"/vsizip/{file}/{name}").ReadAsArray(), DATA)


@pytest.mark.parametrize("version, document", [(2, ".zarray"), (3, "zarr.json")])
def test_a_document_for_each_raster(tmp_path, pack, version, document):
    """With the position from its coordinates, which are in the group around it."""
    path = tmp_path / "store/some.zarr"
    if version == 3:
        write_group(path)
    for name, data, dimensions in (
        ("a", DATA, ["y", "x"]), ("b", DATA + 1, ["y", "x"]), ("x", 100.5 + np.arange(8.0), ["x"]),
        ("y", 49.5 - np.arange(6.0), ["y"]),
    ):
        if version == 3:
            write_array(path / name, data, names=dimensions)
        else:
            write_v2(path, name, data, {"_ARRAY_DIMENSIONS": dimensions})
    file = pack(path, "packed")
    names = sorted(offered(file))
    assert [name.removeprefix("some.zarr/") for name in names] == [f"a/{document}", f"b/{document}"]
    for i, name in enumerate(names):
        dataset = gdal.Open(f"/vsizip/{file}/{name}")
        np.testing.assert_array_equal(dataset.ReadAsArray(), DATA + i)
        assert dataset.GetGeoTransform() == (100, 1, 0, 50, 0, -1)
    # By prefix, and as hierarchies, the same documents open as in folders.
    for name in (names[0], names[0].removesuffix(f"a/{document}") + f"x/{document}"):
        assert gdal.Open(f'ZARR:"/vsizip/{file}/{name}"').RasterCount == 1
        assert gdal.OpenEx(f"/vsizip/{file}/{name}", gdal.OF_MULTIDIM_RASTER) is not None
