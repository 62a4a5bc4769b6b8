"""URL pipelines, as zarr-python and Neuroglancer write them."""
import shutil
import subprocess
import zipfile
from urllib.parse import unquote

import numpy as np
import pytest
from bad_stores import assert_fails, message_of, open_root
from n5_stores import write_array as write_n5
from n5_stores import write_root
from osgeo import gdal
from stores import write_array, write_group
from v2_stores import write_v2
from webserver import serve

DATA = np.arange(48, dtype="i2").reshape(6, 8)


@pytest.fixture
def folder(tmp_path):
    for name in ("v3.zarr", "packed"):
        write_group(tmp_path / name)
        write_array(tmp_path / name / "a b", DATA, (4, 4))
    write_v2(tmp_path / "v2.zarr", "a b", DATA, chunks=(4, 4))
    write_root(tmp_path / "x.n5")
    write_n5(tmp_path / "x.n5/a b", DATA, (4, 4))
    shutil.make_archive(str(tmp_path / "flat"), "zip", tmp_path / "packed")
    shutil.make_archive(str(tmp_path / "nested"), "zip", tmp_path, "v3.zarr")
    with zipfile.ZipFile(tmp_path / "outer.any", "w") as archive:
        archive.write(tmp_path / "nested.zip", "in/nested.zip")
    return tmp_path


NAMES = ["flat.zip|zip:|zarr3:", "flat.zip|zip:|zarr3:a%20b/", "flat.zip|zip:a%20b/|zarr3:",
         "nested.zip|zip:v3.zarr/|zarr3:", "nested.zip|zip:/v3.zarr|zarr:", "flat.zip|zip:",
         "outer.any|zip:in/nested.zip|zip:v3.zarr/|zarr3:a%20b", "v2.zarr/|zarr2:",
         "v3.zarr|zarr3:", "x.n5/|n5:", "x.n5|n5:a%20b/"]


@pytest.mark.parametrize("root", ["file://{}/", "{}/", "FILE://{}/"])
@pytest.mark.parametrize("name", NAMES)
def test_local_names(folder, root, name):
    pipeline = root.format(folder) + name
    for form in (pipeline, f'ZARR:"{pipeline}"'):
        dataset = gdal.Open(form)
        assert dataset.GetDriver().ShortName == "Zarr"
        np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)


def test_arrays_and_programs(folder):
    name = f'ZARR:"file://{folder}/flat.zip|zip:|zarr3:":/a b'
    np.testing.assert_array_equal(gdal.Open(name).ReadAsArray(), DATA)
    copy = folder / "copy.tif"
    subprocess.run(["gdal_translate", "-q", name, copy], check=True)
    np.testing.assert_array_equal(gdal.Open(str(copy)).ReadAsArray(), DATA)
    relative = subprocess.run(["gdalinfo", "file:flat.zip|zip"], cwd=folder, check=True,
                              capture_output=True, text=True).stdout
    assert "Size is 8, 6" in relative


def test_over_http(folder, monkeypatch):
    with serve(folder, monkeypatch) as server:
        server.rewrite = unquote
        for name in ("v3.zarr/|zarr3:a%20b", "flat.zip|zip:a%20b/|zarr3:"):
            dataset = gdal.Open(f"{server.url}/{name}")
            np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)


@pytest.mark.parametrize("name, path", [
    ("s3://bucket/x.zarr/|zarr3:", "/vsis3/bucket/x.zarr"),
    ("gs://bucket/x.zip|zip:a/|zarr2:", "/vsizip/{/vsigs/bucket/x.zip}/a"),
    ("gcs://bucket/x%20y|zarr3:", "/vsigs/bucket/x y"),
    ("az://container/x|zarr3:", "/vsiaz/container/x"),
])
def test_object_stores(name, path, monkeypatch):
    monkeypatch.setenv("GDAL_HTTP_PROXY", "127.0.0.1:9")
    for option in ("AWS_NO_SIGN_REQUEST", "GS_NO_SIGN_REQUEST", "AZURE_NO_SIGN_REQUEST"):
        monkeypatch.setenv(option, "YES")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", "a")
    assert path in message_of(gdal.OpenEx, name, gdal.OF_MULTIDIM_RASTER)


@pytest.mark.parametrize("name, problem", [
    ("file:///x.zip|tar:|zarr3:", '"tar:" is not supported; zip:, icechunk:'),
    ("file:///x|ocdbt:a/|zarr3:", '"ocdbt:a/" is not supported'),
    ("/x.zip|zip:|gzip:", '"gzip:" is not supported'),
    ("file:///x|zarr3:|zip:", '"zip:" follows "zarr3:"'),
    ("file:///x%7Czip:a|zarr3:", "paths with"),
    ("file:///x|icechunk://main/|zarr3:", "No such|cannot|no Icechunk|not exist|snapshot"),
    ("file:///x|icechunk://branches.main/|zarr3:", "neither branch.NAME nor tag.NAME"),
    ("s3+https://host/x|zarr3:", r"\"s3\+https://host/x\" is not supported; file://"),
])
def test_what_is_not_known(name, problem):
    assert_fails(message_of(gdal.Open, name), problem)


@pytest.mark.parametrize("name", ["/x|layername=a", "a|b", "PG:a|b:c", "|zip:"])
def test_other_names_are_left_alone(name):
    assert gdal.IdentifyDriverEx(name, allowed_drivers=["Zarr"]) is None


def test_icechunk(repository):
    path = repository.path
    expected = open_root(f"ICECHUNK:{path}").GetMDArrayNames()
    for name in ("icechunk:|zarr3:", "icechunk://branch.main/|zarr3:"):
        assert open_root(f"file://{path}|{name}").GetMDArrayNames() == expected
    assert_fails(message_of(open_root, f"file://{path}|icechunk://tag.none/|zarr3:"), "none")


def test_repositories_within_one_another(tmp_path):
    assert_fails(message_of(gdal.Open, f"{tmp_path}/x" + "|icechunk:a|zip:b" * 9),
                 "more than 3 repositories are within one another")


def test_ozx(folder):
    shutil.copy(folder / "flat.zip", folder / "x.ome.ozx")
    for form in ("{}", 'ZARR:"{}"', 'ZARR:"{}":/a b', "/vsizip/{{{}}}"):
        np.testing.assert_array_equal(
            gdal.Open(form.format(folder / "x.ome.ozx")).ReadAsArray(), DATA)
    (folder / "other.ozx").write_bytes(b"PK\3\4 and more")
    assert gdal.IdentifyDriverEx(str(folder / "other.ozx"), allowed_drivers=["Zarr"]) is None


@pytest.mark.parametrize("parts", ["|icechunk:|zip:", "|icechunk://tag.a/x|zip:a"])
def test_an_archive_in_a_repository_in_an_archive(tmp_path, parts):
    done = subprocess.run(["gdalinfo", f"/vsizip/{{{tmp_path}/none.zip}}{parts}"], timeout=60,
                          stderr=subprocess.PIPE, text=True)
    assert "gdalinfo failed - unable to open" in done.stderr
