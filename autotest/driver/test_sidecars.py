"""What GDAL keeps of a raster outside of Zarr's documents: each array has one place for it, in its
folder, by whatever name it is opened."""
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
import zarr
from osgeo import gdal
from test_programs import run

DATA = np.arange(48, dtype="u1").reshape(6, 8)
FORMATS = ["ZARR_V2", "ZARR_V3"]
NAMES = ["{0}", "{0}/", 'ZARR:"{0}"', 'ZARR:"{0}":/a', "{0}/a", "{0}/a/{1}"]
OLD = "<Metadata><MDI key=\"who\">{0}</MDI></Metadata>"


def driver():
    return gdal.GetDriverByName("Zarr")


def described(bands=1):
    """A raster with something of everything that Zarr cannot store."""
    raster = gdal.GetDriverByName("MEM").Create("", 8, 6, bands)
    raster.SetMetadataItem("item", "of the dataset", "OTHER")
    raster.SetGCPs([gdal.GCP(1, 2, 0, 0, 0), gdal.GCP(3, 2, 0, 8, 0), gdal.GCP(1, 0, 0, 0, 6)], "")
    for i in range(1, bands + 1):
        band = raster.GetRasterBand(i)
        band.WriteArray(DATA + i)
        colors = gdal.ColorTable()
        for j in range(4):
            colors.SetColorEntry(j, (j, 2 * j, 3 * j, 255))
        band.SetColorTable(colors)
        band.SetCategoryNames(["open water", f"ice {i}"])
        table = gdal.RasterAttributeTable()
        table.CreateColumn("name", gdal.GFT_String, gdal.GFU_Name)
        table.SetRowCount(2)
        band.SetDefaultRAT(table)
        band.SetStatistics(i, 47 + i, 23.5 + i, 13.8)
        band.SetDefaultHistogram(0, 50, [1, 2, 45])
        band.SetMetadataItem("item", f"of band {i}", "OTHER")
    return raster


def facts(name, number=1):
    dataset = gdal.Open(str(name)) if not isinstance(name, gdal.Dataset) else name
    band = dataset.GetRasterBand(number)
    colors, table = band.GetColorTable(), band.GetDefaultRAT()
    histogram = band.GetDefaultHistogram(force=False)
    return {
        "colors": colors and colors.GetCount(),
        "categories": band.GetCategoryNames(),
        "attribute table": table and table.GetRowCount(),
        "statistics": band.GetMetadataItem("STATISTICS_MEAN"),
        "histogram": histogram and histogram[3],
        "of band": band.GetMetadataItem("item", "OTHER"),
        "of dataset": dataset.GetMetadataItem("item", "OTHER"),
        "points": dataset.GetGCPCount(),
    }


NOTHING = dict.fromkeys(facts(described()), None) | {"points": 0}


@pytest.fixture(params=FORMATS)
def zarr_format(request):
    return request.param


@pytest.fixture(params=[True, False], ids=["local", "vsimem"])
def folder(request, tmp_path):
    if request.param:
        yield str(tmp_path)
    else:
        yield "/vsimem/test_sidecars"
        gdal.RmdirRecursive("/vsimem/test_sidecars")


@pytest.fixture
def store(folder, zarr_format):
    path = f"{folder}/a.zarr"
    driver().CreateCopy(path, described(), options=[f"FORMAT={zarr_format}"])
    return path


@pytest.fixture
def local(tmp_path, zarr_format):
    path = tmp_path / "a.zarr"
    driver().CreateCopy(str(path), described(), options=[f"FORMAT={zarr_format}"])
    return path


def names_of(store, zarr_format):
    document = "zarr.json" if zarr_format == "ZARR_V3" else ".zarray"
    return [name.format(store, document) for name in NAMES]


def append(store, name):
    driver().CreateCopy(str(store), described(), options=["APPEND_SUBDATASET=YES",
                                                         f"ARRAY_NAME={name}"])


def statistics(name):
    dataset = gdal.Open(str(name))
    return dataset.GetRasterBand(1).GetMetadataItem("STATISTICS_MEAN")


def compute_statistics(name):
    dataset = gdal.Open(str(name))
    dataset.GetRasterBand(1).ComputeStatistics(False)


def set_categories(name, names, band=1):
    dataset = gdal.Open(str(name))
    dataset.GetRasterBand(band).SetCategoryNames(names)


def is_file(path):
    return gdal.VSIStatL(str(path)) is not None


WANT = facts(described())
WANT_HISTOGRAM = WANT["histogram"]


def test_under_every_name(store, folder, zarr_format):
    assert WANT["statistics"] is not None and WANT_HISTOGRAM == [1, 2, 45]
    for name in names_of(store, zarr_format):
        assert facts(name) == WANT, name
    assert is_file(store + "/a/gdal.aux.xml") and not is_file(store + ".aux.xml")


@pytest.mark.parametrize("index", range(len(NAMES)))
def test_changed_under_every_name(store, zarr_format, index):
    """For a raster that is opened for reading as well."""
    names = names_of(store, zarr_format)
    set_categories(names[index], ["changed"])
    for name in names:
        assert facts(name) == WANT | {"categories": ["changed"]}, name


def test_array_at_the_root(local, tmp_path):
    root = tmp_path / "root" / "a.zarr"
    shutil.copytree(local / "a", root)
    compute_statistics(root)
    assert [file.name for file in root.parent.iterdir()] == ["a.zarr"]
    for name in (root, f"{root}/", f'ZARR:"{root}"', f'ZARR:"{root}":/a'):
        assert facts(name) == WANT, name


def test_other_arrays_come(store):
    append(store, "b")
    compute_statistics(f'ZARR:"{store}":/b')
    for name in (f'ZARR:"{store}":/a', f"{store}/a"):
        assert facts(name) == WANT, name
    assert facts(f'ZARR:"{store}":/b') == WANT | {"statistics": statistics(f"{store}/b")}


@pytest.mark.skipif(not hasattr(gdal.Group, "DeleteMDArray"), reason="GDAL before 3.8")
def test_deleted_and_renamed(store):
    append(store, "b")
    root = gdal.OpenEx(store, gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE).GetRootGroup()
    root.OpenMDArray("b").Rename("c")
    root.DeleteMDArray("a")
    del root
    assert facts(f'ZARR:"{store}":/c') == WANT
    driver().Create(store, 8, 6, options=["APPEND_SUBDATASET=YES", "ARRAY_NAME=a"])
    assert facts(f'ZARR:"{store}":/a') == NOTHING
    driver().Create(store, 8, 6, options=["APPEND_SUBDATASET=YES", "ARRAY_NAME=b"])
    assert facts(f'ZARR:"{store}":/b') == NOTHING


def test_deleted_by_others(local):
    append(local, "b")
    shutil.rmtree(local / "a")
    driver().Create(str(local), 8, 6, options=["APPEND_SUBDATASET=YES", "ARRAY_NAME=a"])
    assert facts(f'ZARR:"{local}":/a') == NOTHING
    assert facts(f'ZARR:"{local}":/b') == WANT


def test_moved_folder(local, tmp_path):
    shutil.move(local, tmp_path / "b.zarr")
    assert facts(tmp_path / "b.zarr") == WANT


def test_copied_folder(local, tmp_path):
    shutil.copytree(local, tmp_path / "b.zarr")
    shutil.copytree(local / "a", tmp_path / "c.zarr")
    assert facts(tmp_path / "b.zarr") == facts(tmp_path / "c.zarr") == WANT


def test_managed_by_gdal(store, folder):
    driver().CopyFiles(f"{folder}/b.zarr", store)
    assert facts(f"{folder}/b.zarr") == facts(store) == WANT
    driver().Rename(f"{folder}/c.zarr", f"{folder}/b.zarr")
    assert facts(f"{folder}/c.zarr") == WANT
    driver().Delete(f"{folder}/c.zarr")
    driver().Delete(store)
    assert not gdal.ReadDir(folder) or set(gdal.ReadDir(folder)) <= {".", ".."}


def test_new_raster_at_an_old_path(local, zarr_format):
    for is_old in (False, True):
        shutil.rmtree(local)
        if is_old:
            Path(f"{local}.aux.xml").write_text(f"<PAMDataset>{OLD}</PAMDataset>")
        driver().Create(str(local), 8, 6, options=[f"FORMAT={zarr_format}"])
        assert facts(local) == NOTHING
        assert gdal.Open(str(local)).GetMetadataItem("who") is None
        assert not Path(f"{local}.aux.xml").exists()


def test_new_hierarchy_at_an_old_path(tmp_path):
    beside = tmp_path / "a.zarr.aux.xml"
    beside.write_text(f"<PAMDataset>{OLD}</PAMDataset>")
    driver().CreateMultiDimensional(str(tmp_path / "a.zarr"))
    assert not beside.exists()


def test_failed_copy_removes_nothing(tmp_path):
    beside = tmp_path / "a.zarr.aux.xml"
    beside.write_text(f"<PAMDataset>{OLD}</PAMDataset>")
    with pytest.raises(RuntimeError):
        driver().CreateCopy(str(tmp_path / "a.zarr"), described(), callback=lambda *_: 0)
    assert [path.name for path in tmp_path.iterdir()] == ["a.zarr.aux.xml"]


def without_sidecar(path, zarr_format, *arrays):
    for name in arrays:
        options = [f"FORMAT={zarr_format}"] if name == arrays[0] else ["APPEND_SUBDATASET=YES"]
        driver().Create(str(path), 8, 6, options=[*options, f"ARRAY_NAME={name}"]).WriteArray(DATA)


def who(name):
    return gdal.Open(str(name)).GetMetadataItem("who")


def older(*parts, whole=""):
    """A file of an older version."""
    inner = "".join(f'<Subdataset name="{name}"><PAMDataset>{OLD.format(name)}</PAMDataset>'
                    "</Subdataset>" for name in parts)
    return f"<PAMDataset>{OLD.format(whole) if whole else ''}{inner}</PAMDataset>"


def test_older_sidecar_of_a_whole_store(tmp_path, zarr_format):
    path = tmp_path / "a.zarr"
    without_sidecar(path, zarr_format, "a")
    beside = tmp_path / "a.zarr.aux.xml"
    beside.write_text(older(whole="store"))
    assert who(path) == "store"
    assert str(beside) in gdal.Open(str(path)).GetFileList()
    # What is changed is in the new place, with all the rest.
    before = beside.read_bytes()
    compute_statistics(path)
    for name in names_of(path, zarr_format):
        assert who(name) == "store" and statistics(name) is not None
    assert beside.read_bytes() == before
    files = gdal.Open(str(path)).GetFileList()
    assert str(path / "a/gdal.aux.xml") in files and str(beside) not in files


def test_older_sidecar_of_arrays(tmp_path, zarr_format):
    path = tmp_path / "a.zarr"
    without_sidecar(path, zarr_format, "a", "b")
    (tmp_path / "a.zarr.aux.xml").write_text(older("/a", whole="store"))
    assert who(f'ZARR:"{path}":/a') == "/a"
    assert who(f'ZARR:"{path}":/b') is None
    without_sidecar(tmp_path / "c.zarr", zarr_format, "a")
    (tmp_path / "c.zarr.aux.xml").write_text(older("/a", whole="store"))
    assert who(tmp_path / "c.zarr") == "/a"


def test_appended_array_inherits_nothing(tmp_path, zarr_format):
    path = tmp_path / "a.zarr"
    without_sidecar(path, zarr_format, "a")
    (tmp_path / "a.zarr.aux.xml").write_text(older("/b"))
    driver().Create(str(path), 8, 6, options=["APPEND_SUBDATASET=YES", "ARRAY_NAME=b"])
    assert who(f'ZARR:"{path}":/b') is None


def test_removed_statistics_stay_removed(tmp_path, zarr_format):
    """Also those of an older version, whose file stays as it is."""
    path = tmp_path / "a.zarr"
    without_sidecar(path, zarr_format, "a")
    (tmp_path / "a.zarr.aux.xml").write_text(
        "<PAMDataset><PAMRasterBand band=\"1\"><Metadata><MDI key=\"STATISTICS_MEAN\">5</MDI>"
        "</Metadata></PAMRasterBand></PAMDataset>")
    assert statistics(path) == "5"
    dataset = gdal.Open(str(path), gdal.GA_Update)
    dataset.GetRasterBand(1).Fill(3)
    del dataset
    assert statistics(path) is None
    compute_statistics(path)
    assert statistics(path) == "3"


@pytest.mark.parametrize("text", ["", "<PAMDataset>", "<html/>", "\0\1", "<PAMDataset/>"])
def test_malformed(local, text):
    (local / "a/gdal.aux.xml").write_text(text)
    gdal.ErrorReset()
    assert facts(local) == NOTHING
    assert gdal.GetLastErrorMsg() == ""
    compute_statistics(local)
    assert float(statistics(local)) == (DATA + 1.0).mean()


def cube(path, zarr_format):
    raster = driver().Create(str(path), 8, 6, 4, options=[f"FORMAT={zarr_format}",
                                                           "SINGLE_ARRAY=YES"])
    raster.WriteArray(np.stack([DATA + i for i in range(4)]))


def test_slices(tmp_path, zarr_format):
    """They share the file with their array, and each changes its own part of it."""
    path = tmp_path / "a.zarr"
    cube(path, zarr_format)
    names = [f'ZARR:"{path}":/a:{i}' for i in (1, 2)]
    for name in names:
        compute_statistics(name)
    mean = DATA.mean()
    compute_statistics(path)
    assert [float(statistics(name)) for name in (path, *names)] == [mean, mean + 1, mean + 2]
    set_categories(path, ["x"], band=4)
    assert [float(statistics(name)) for name in (path, *names)] == [mean, mean + 1, mean + 2]
    gdal.Open(names[0]).ClearStatistics()
    assert statistics(names[0]) is None and float(statistics(names[1])) == mean + 2
    shutil.move(path, tmp_path / "b.zarr")
    assert float(statistics(f'ZARR:"{tmp_path}/b.zarr":/a:2')) == mean + 2
    assert float(statistics(f'ZARR:"{tmp_path}/b.zarr/a":/a:2')) == mean + 2


def test_older_sidecar_of_a_slice(tmp_path, zarr_format):
    path = tmp_path / "a.zarr"
    cube(path, zarr_format)
    (tmp_path / "a.zarr.aux.xml").write_text(older("/a:2", "/a"))
    assert who(f'ZARR:"{path}":/a:2') == "/a:2"
    assert who(f'ZARR:"{path}":/a:1') is None
    assert who(path) == "/a"


def test_bands_of_several_arrays(folder, zarr_format):
    """Each has its own, which the raster of all shows."""
    path = f"{folder}/bands.zarr"
    source = described(3)
    for number in (1, 2, 3):  # an array has one scale
        source.GetRasterBand(number).SetScale(number)
    driver().CreateCopy(path, source, options=[f"FORMAT={zarr_format}"])
    for number in (1, 2, 3):
        want = facts(source, number)
        assert facts(path, number) == want
        assert facts(f'ZARR:"{path}":/Band{number}') == want
        assert is_file(f"{path}/Band{number}/gdal.aux.xml")
    assert not is_file(path + ".aux.xml")
    compute_statistics(f'ZARR:"{path}":/Band1')
    set_categories(path, ["changed"], band=2)
    assert facts(path, 2)["categories"] == ["changed"]
    assert statistics(path) == statistics(f'ZARR:"{path}":/Band1')
    files = gdal.Open(path).GetFileList()
    assert [f for f in files if f.endswith("aux.xml")] == [
        f"{path}/Band{i}/gdal.aux.xml" for i in (1, 2, 3)]


def test_packed_folder(local, tmp_path):
    """An archive of the folder shows what is in it; changes are beside the archive."""
    with zipfile.ZipFile(tmp_path / "a.zarr.zip", "w") as archive:
        for file in sorted(local.rglob("*")):
            archive.write(file, file.relative_to(local))
    path = tmp_path / "a.zarr.zip"
    assert facts(path) == facts(f'ZARR:"{path}":/a') == WANT
    set_categories(path, ["changed"])
    assert Path(f"{path}.aux.xml").exists()
    for name in (path, f'ZARR:"{path}":/a'):
        assert facts(name) == WANT | {"categories": ["changed"]}


def test_read_only_folder_with_proxies(tmp_path):
    """GDAL_PAM_PROXY_DIR, which GDAL reads once, gets what cannot be written into the store."""
    driver().Create(str(tmp_path / "a.zarr"), 8, 6).WriteArray(DATA)
    proxies = tmp_path / "proxies"
    proxies.mkdir()
    archive = tmp_path / "a.tar"
    run("tar", "-cf", archive, "-C", tmp_path, "a.zarr")
    name = f"/vsitar/{archive}/a.zarr"
    run("gdalinfo", "-stats", name, "--config", "GDAL_PAM_PROXY_DIR", proxies)
    assert "STATISTICS_MEAN" in run("gdalinfo", name, "--config", "GDAL_PAM_PROXY_DIR", proxies)
    assert "STATISTICS_MEAN" not in run("gdalinfo", name)


def test_other_readers(tmp_path):
    """zarr-python lists, reads, resizes and consolidates as if the file did not exist."""
    path = tmp_path / "a.zarr"
    driver().CreateCopy(str(path), described())
    append(path, "b")
    group = zarr.open_group(str(path))
    assert sorted(group.array_keys()) == ["a", "b"] and not list(group.group_keys())
    np.testing.assert_array_equal(group["a"][:], DATA + 1)
    zarr.consolidate_metadata(str(path))
    assert "aux" not in (path / ".zmetadata").read_text()
    array = group["a"]
    array.resize((3, 4))
    assert (path / "a/gdal.aux.xml").exists()
    np.testing.assert_array_equal(array[:], DATA[:3, :4] + 1)
    assert facts(f'ZARR:"{path}":/a') == WANT
    del group["a"]
    assert not (path / "a").exists()


def test_hierarchies_of_gdal(store):
    root = gdal.OpenEx(store, gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    assert root.GetMDArrayNames() == ["a"] and not root.GetGroupNames()
    dataset = gdal.Open(store)
    assert [file for file in dataset.GetFileList() if file.endswith("aux.xml")] == [
        f"{store}/a/gdal.aux.xml"]
