"""The names that open a Zarr, the errors for others, and what is not a Zarr."""
import json
import re
import shutil

import numpy as np
import pytest
import zarr
from osgeo import gdal
from stores import write_array, write_group, write_json
from v2_stores import write_v2

GRID = np.arange(12, dtype="u1").reshape(3, 4)


def open_raster(name, *options):
    return gdal.OpenEx(str(name), gdal.OF_RASTER, open_options=options)


def assert_opens(name, want=GRID):
    dataset = open_raster(name)
    assert dataset.GetDriver().ShortName == "Zarr"
    np.testing.assert_array_equal(dataset.ReadAsArray(), want)


def error_of(name, **options):
    with pytest.raises(RuntimeError) as caught:
        gdal.OpenEx(str(name), gdal.OF_RASTER, **options)
    return str(caught.value)


@pytest.fixture
def v2(tmp_path):
    path = tmp_path / "two.zarr"
    write_v2(path, "sub/grid", GRID)
    zarr.consolidate_metadata(str(path))
    return path


@pytest.fixture
def v3(tmp_path):
    path = tmp_path / "three.zarr"
    write_group(path)
    write_group(path / "sub")
    write_array(path / "sub/grid", GRID)
    return path


@pytest.mark.parametrize("version", ["v2", "v3"])
@pytest.mark.parametrize("form", [
    "{}", "{}/", "{}//", 'ZARR:"{}"', 'ZARR:"{}/"', "ZARR:{}", 'zarr:"{}"', 'ZARR:"{}":/sub/grid',
    "ZARR:{}:/sub/grid", 'ZARR:"{}":/sub/grid/', 'ZARR:"{}"://sub//grid', "{}/sub", "{}/sub/grid",
    'ZARR:"{}/sub":/grid', 'ZARR:"{}/sub/grid":/grid', 'ZARR:"{}/sub/grid"',
])
def test_names_that_open(request, version, form):
    assert_opens(form.format(request.getfixturevalue(version)))


def test_a_path_with_a_quotation_mark(tmp_path):
    path = tmp_path / 'the "good" one.zarr'
    write_group(path)
    for name in ("a", "b"):
        write_array(path / name, GRID)
    names = [name for name, _ in open_raster(path).GetSubDatasets()]
    assert len(names) == 2
    for name in names:
        assert_opens(name)


@pytest.mark.parametrize("file", [".zgroup", ".zmetadata", "sub/.zgroup", "sub/grid/.zarray"])
@pytest.mark.parametrize("form", ["{}", 'ZARR:"{}"'])
def test_metadata_file_v2(v2, file, form):
    assert_opens(form.format(v2 / file))


@pytest.mark.parametrize("file", ["zarr.json", "sub/zarr.json", "sub/grid/zarr.json"])
@pytest.mark.parametrize("form", ["{}", 'ZARR:"{}"'])
def test_metadata_file_v3(v3, file, form):
    assert_opens(form.format(v3 / file))


def test_array_after_a_metadata_file(v2, v3):
    assert_opens(f'ZARR:"{v2}/.zmetadata":/sub/grid')
    assert_opens(f'ZARR:"{v3}/sub/zarr.json":/grid')


@pytest.mark.parametrize("form", ["{}", 'ZARR:"{}"'])
def test_attributes_file(v2, tmp_path, form):
    """Attributes may have any content: the files beside them identify the Zarr."""
    for folder in ("", "sub", "sub/grid"):
        write_json(v2 / folder / ".zattrs", {"title": "a grid"})
        assert_opens(form.format(v2 / folder / ".zattrs"))
    write_json(tmp_path / ".zattrs", {"title": "a grid"})
    alone = form.format(tmp_path / ".zattrs")
    assert re.search("not recognized|no Zarr group or array", error_of(alone))


@pytest.mark.parametrize("form", ["{}", 'ZARR:"{}"'])
def test_metadata_file_v1(tmp_path, form):
    path = tmp_path / "one.zarr"
    write_json(path / "meta", {
        "zarr_format": 1, "shape": GRID.shape, "chunks": GRID.shape, "dtype": "|u1",
        "compression": None, "compression_opts": None, "fill_value": None, "order": "C"})
    write_json(path / "attrs", {})
    (path / "0.0").write_bytes(GRID.tobytes())
    assert_opens(path)
    assert_opens(form.format(path / "meta"))
    assert_opens(f'ZARR:"{path}/meta":/one')


def test_other_files_named_meta(tmp_path, v3):
    (tmp_path / "meta").write_text("zarr_format is a word")
    assert gdal.IdentifyDriverEx(str(tmp_path / "meta"), allowed_drivers=["Zarr"]) is None
    shutil.copytree(v3, tmp_path / "store/meta")  # a folder
    assert_opens(tmp_path / "store/meta")
    assert_opens(f'ZARR:"{tmp_path}/store/meta"')


def test_metadata_file_in_the_working_directory(v3, monkeypatch):
    monkeypatch.chdir(v3)
    for name in ("zarr.json", ".", "sub", "./sub/grid/zarr.json", 'ZARR:"."', "ZARR:.:/sub/grid"):
        assert_opens(name)


def test_multidim_through_any_name(v3):
    for form in ("{}", 'ZARR:"{}"', "{}/zarr.json"):
        dataset = gdal.OpenEx(form.format(v3), gdal.OF_MULTIDIM_RASTER)
        assert dataset.GetRootGroup().GetGroupNames() == ["sub"]


def test_consolidated_without_a_group_document(v2):
    (v2 / ".zgroup").unlink()
    assert_opens(v2)
    assert "no Zarr" in error_of(v2, open_options=["USE_CONSOLIDATED_METADATA=NO"])


@pytest.mark.parametrize("folder", ['with space', "ünï", "a:b", "C:", "x:1", "a'b", "#%?&"])
def test_odd_folders(tmp_path, folder):
    path = tmp_path / folder / "s.zarr"
    write_array(path, GRID)
    assert_opens(path)
    assert_opens(f'ZARR:"{path}":/s')


@pytest.mark.parametrize("name", ["with space", "高さ", "a:b", "1:2:3", "x.y", '"', "~a"])
def test_odd_arrays(tmp_path, name):
    """A name may look like a slice, if no other array has a slice of that name."""
    write_group(tmp_path)
    write_array(tmp_path / name, GRID)
    write_array(tmp_path / "other", GRID)
    names = [n for n, _ in open_raster(tmp_path).GetSubDatasets()]
    (own,) = (n for n in names if "other" not in n)
    assert_opens(own)


def test_slice(tmp_path):
    path = tmp_path / "s.zarr"
    data = np.arange(120, dtype="u1").reshape(2, 5, 3, 4)
    write_array(path, data)
    assert_opens(f'ZARR:"{path}":/s:1:3', data[1, 3])
    assert_opens(f"ZARR:{path}:/s:0:4", data[0, 4])


# --- Errors --------------------------------------------------------------------------------------

@pytest.mark.parametrize("name, problem", [
    ("ZARR:", "contains no path"),
    ('ZARR:""', "contains no path"),
    ('ZARR:"/data/s.zarr', "has an unclosed quotation mark"),
    ('ZARR:"/data/s.zarr:/a', "has an unclosed quotation mark"),
    ('ZARR:"/data/s.zarr"/a', 'continues with "/a" after the path, where :/array is expected'),
    ('ZARR:"/data/s.zarr":', "/data/s.zarr: there is no Zarr group or array"),
    ('ZARR:"/data/s.zarr":a', "/data/s.zarr: there is no Zarr group or array"),
    ('ZARR:"file://elsewhere/data/s.zarr"', "a file of the computer elsewhere"),
    ('ZARR:"https://example.com/s.zarr"',
     r'a URL needs the prefix /vsicurl/: ZARR:"/vsicurl/https://example.com/s.zarr"'),
    ("ZARR:http://example.com/s.zarr", 'ZARR:"/vsicurl/http://example.com/s.zarr"'),
    ('ZARR:"s3://bucket/s.zarr":/a', 'open this URL as ZARR:"/vsis3/bucket/s.zarr"'),
    ('ZARR:"gs://bucket/s.zarr"', 'open this URL as ZARR:"/vsigs/bucket/s.zarr"'),
    ('ZARR:"/nowhere/s.zarr"', "/nowhere/s.zarr: there is no Zarr group or array"),
    ('ZARR:"/nowhere/s.zarr":/a', "/nowhere/s.zarr: there is no Zarr group or array"),
])
def test_helpful_errors(name, problem):
    message = error_of(name)
    assert re.search(problem, message), message


def test_path_is_a_file(tmp_path):
    (tmp_path / "file.txt").write_text("hello")
    message = error_of(f'ZARR:"{tmp_path}/file.txt"')
    assert f"{tmp_path}/file.txt: there is no Zarr group or array" in message


@pytest.mark.parametrize("array, problem", [
    ("/grid", "three.zarr: array /grid does not exist"),
    ("/sub/nothing", "three.zarr: array /sub/nothing does not exist"),
    ("/", "three.zarr: group / has no arrays of numbers with two dimensions"),
    ("/sub/grid/more", "three.zarr: array /sub/grid/more does not exist"),
    ("/../two.zarr/sub/grid", '"/../two.zarr/sub/grid" is not a valid node path'),
    ("/sub/./grid", '"/sub/./grid" is not a valid node path'),
])
def test_absent_array(v2, v3, array, problem):
    assert problem in error_of(f'ZARR:"{v3}":{array}')


def test_wrong_option_values(v3):
    """GDAL warns of options that the driver does not declare."""
    warnings = []
    gdal.PushErrorHandler(lambda severity, number, message: warnings.append(message))
    open_raster(v3, "NO_SUCH_OPTION=1")
    open_raster(v3, "LIST_ALL_ARRAYS=NO", "MULTIBAND=YES", "DIM_X=1", "DIM_Y=0",
                "USE_CONSOLIDATED_METADATA=YES", "USE_ZMETADATA=NO")
    gdal.PopErrorHandler()
    assert len(warnings) == 1 and "NO_SUCH_OPTION" in warnings[0]


# --- What is no Zarr -----------------------------------------------------------------------------

def identified(path):
    driver = gdal.IdentifyDriverEx(str(path))
    return driver.ShortName if driver else None


def test_identify(v2, v3):
    for name in (v2, v2 / "sub", v2 / ".zgroup", v2 / "sub/grid/.zarray", v3, v3 / "sub/grid",
                 v3 / "zarr.json", f'ZARR:"{v3}"', "ZARR:/nowhere"):
        assert identified(name) == "Zarr", name


def test_folders_that_are_no_zarr(tmp_path):
    (tmp_path / "empty.zarr").mkdir()
    (tmp_path / "text.zarr").mkdir()
    (tmp_path / "text.zarr/readme.txt").write_text("nothing")
    for folder in (tmp_path, tmp_path / "empty.zarr", tmp_path / "text.zarr"):
        assert identified(folder) is None
        with pytest.raises(RuntimeError, match="not recognized"):
            gdal.Open(str(folder))
    assert identified(tmp_path / "absent.zarr") is None


def test_files_that_are_no_zarr(tmp_path):
    """The name alone is not enough, and neither is the content."""
    metadata = {"zarr_format": 3, "node_type": "group"}
    for name, text in (("zarr.json", '{"type": "FeatureCollection", "features": []}'),
                       ("zarr.json", ""),
                       (".zgroup", "not json"),
                       ("other.json", json.dumps(metadata)),
                       ("zarr.json.bak", json.dumps(metadata))):
        (tmp_path / name).write_text(text)
        assert identified(tmp_path / name) != "Zarr", name
        (tmp_path / name).unlink()


def test_files_of_other_drivers(tmp_path):
    """Inside and beside stores, and with names that end in .zarr."""
    write_group(tmp_path / "s.zarr")
    write_json(tmp_path / "a.geojson", {"type": "FeatureCollection", "features": []})
    assert identified(tmp_path / "a.geojson") == "GeoJSON"
    memory = gdal.GetDriverByName("MEM").Create("", 4, 3)
    memory.WriteArray(GRID)
    for name in ("a.tif", "a.zarr", "s.zarr/picture.tif"):
        gdal.GetDriverByName("GTiff").CreateCopy(str(tmp_path / name), memory)
        assert identified(tmp_path / name) == "GTiff"
        dataset = gdal.Open(str(tmp_path / name))
        assert dataset.GetDriver().ShortName == "GTiff"
        np.testing.assert_array_equal(dataset.ReadAsArray(), GRID)


def test_driver_list():
    """There is one driver of this name, which states its abilities."""
    drivers = [gdal.GetDriver(i) for i in range(gdal.GetDriverCount())]
    (driver,) = (d for d in drivers if d.ShortName == "Zarr")
    for capability in ("DCAP_OPEN", "DCAP_RASTER", "DCAP_MULTIDIM_RASTER", "DCAP_VIRTUALIO",
                       "DCAP_CREATE", "DCAP_CREATECOPY", "DCAP_CREATE_MULTIDIMENSIONAL"):
        assert driver.GetMetadataItem(capability) == "YES"
    assert driver.GetMetadataItem("DMD_EXTENSIONS") == "zarr"
