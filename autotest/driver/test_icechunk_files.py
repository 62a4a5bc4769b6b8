"""The file system of Icechunk repositories, /vsiicechunk/."""
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from icechunk_stores import BOTTOM, TOP, array, nodes
from icechunk_writer import Inline
from osgeo import gdal


def test_file_system(repository):
    root = f"/vsiicechunk/{{{repository.path}}}"
    assert sorted(gdal.ReadDir(root)) == ["g", "zarr.json"]
    assert sorted(gdal.ReadDir(f"{root}/g/a")) == ["c", "zarr.json"]
    assert gdal.ReadDir(f"{root}/g/a/c/0") == ["0"]
    assert gdal.VSIStatL(f"{root}/g/a").IsDirectory()
    assert gdal.VSIStatL(f"{root}/g/a/c/0/0").size == 24
    assert gdal.VSIStatL(f"{root}/g/a/c/9/0") is None
    for key, content in {"g/a/c/0/0": TOP, "g/a/c/1/0": BOTTOM}.items():
        file = gdal.VSIFOpenL(f"{root}/{key}", "rb")
        assert bytes(gdal.VSIFReadL(1, 100, file)) == content
        gdal.VSIFCloseL(file)
    dev = f"/vsiicechunk/{{{repository.path}?branch=dev}}"
    assert gdal.VSIStatL(f"{dev}/g/a/c/1/0") is None
    repository.commit(nodes(Inline(BOTTOM)))
    repository.write()
    assert gdal.VSIStatL(f"{root}/g/a/c/1/0") is None


def test_all_files(repository):
    root = f"/vsiicechunk/{{{repository.path}?tag=it%20works!}}"
    names = gdal.ReadDirRecursive(root)
    assert [name for name in sorted(names) if not name.endswith("/")] == \
        ["g/a/c/0/0", "g/a/zarr.json", "g/zarr.json", "zarr.json"]
    for name in names:
        assert gdal.VSIStatL(f"{root}/{name}").IsDirectory() == name.endswith("/")
    file = gdal.VSIFOpenL(f"{root}/g/a/zarr.json", "rb")
    assert json.loads(gdal.VSIFReadL(1, 10000, file)) == array()
    gdal.VSIFCloseL(file)


def test_bad_paths_of_the_file_system(repository):
    root = f"/vsiicechunk/{{{repository.path}}}"
    for key in ("none", "g/a/c/0", "g/a/c/0/0/0", "../repo", "g/../zarr.json", "g//zarr.json", ".",
                "g/a/c/00/0", "g/a/c/-1/0", "g/a/c/99999999999999999999/0"):
        status = gdal.VSIStatL(f"{root}/{key}")
        assert status is None or (status.IsDirectory() and key == "g/a/c/0"), key
        assert gdal.VSIFOpenL(f"{root}/{key}", "rb") is None, key
    for name in ("/vsiicechunk/", "/vsiicechunk/{", "/vsiicechunk/{}", "/vsiicechunk/x",
                 f"/vsiicechunk/{{{repository.path}", f"/vsiicechunk/{{{repository.path}?tag=no}}",
                 f"/vsiicechunk/{{{repository.path}/none}}/zarr.json"):
        with pytest.raises(RuntimeError):
            gdal.VSIStatL(name)
        with pytest.raises(RuntimeError):
            gdal.OpenEx(name, gdal.OF_MULTIDIM_RASTER)


def test_the_file_system_is_read_only(repository):
    root = f"/vsiicechunk/{{{repository.path}}}"
    before = sorted(repository.path.rglob("*"))
    for mode in ("wb", "ab", "r+b"):
        assert gdal.VSIFOpenL(f"{root}/g/a/c/0/0", mode) is None
        assert gdal.VSIFOpenL(f"{root}/new", mode) is None
    with pytest.raises(RuntimeError):
        gdal.Mkdir(f"{root}/new", 0o755)
    with pytest.raises(RuntimeError):
        gdal.Unlink(f"{root}/g/a/c/0/0")
    assert sorted(repository.path.rglob("*")) == before


def test_threads_read_the_file_system(repository):
    names = {f"/vsiicechunk/{{{repository.path}?branch={branch}}}/g/a/c/0/0": content
             for branch, content in (("main", TOP), ("dev", b"\1\0" * 12))}

    def read_file(name):
        file = gdal.VSIFOpenL(name, "rb")
        content = bytes(gdal.VSIFReadL(1, 100, file))
        gdal.VSIFCloseL(file)
        return content == names[name] and gdal.VSIStatL(name).size == 24

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(read_file, [*names] * 100))


def test_repositories_inside_of_repositories(virtual):
    """Names that lead through others end with an error."""
    name = f"/vsiicechunk/{{{virtual()}}}"
    for _ in range(20):
        name = f"/vsiicechunk/{{{name}/g}}"
        with pytest.raises(RuntimeError, match="no Icechunk repository|are within one another"):
            gdal.VSIStatL(f"{name}/zarr.json")


def test_virtual_chunks_of_the_file_system(virtual):
    file = gdal.VSIFOpenL(f"/vsiicechunk/{{{virtual()}}}/g/a/c/1/0", "rb")
    assert bytes(gdal.VSIFReadL(1, 100, file)) == BOTTOM
    gdal.VSIFCloseL(file)
