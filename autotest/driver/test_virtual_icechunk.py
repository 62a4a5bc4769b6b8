"""Virtual chunks of Icechunk repositories: copies whose chunks are parts of the source's files."""
import os

import numpy as np
import pytest
from osgeo import gdal
from request_log import log_requests
from virtual_sources import make_virtual, pixels, write_tiff
from webserver import serve

RANDOM = np.random.default_rng(7)
DATA = RANDOM.integers(0, 30000, (2, 90, 100)).astype("u2")
TILES = ["TILED=YES", "BLOCKXSIZE=32", "BLOCKYSIZE=48"]
EARLIER = 1_600_000_000


@pytest.fixture(params=[1, 2])
def repo(request, tmp_path):
    """The name of a repository that a copy makes, and the format that it is made in."""
    return f"ICECHUNK:{tmp_path}/repo", f"ICECHUNK_FORMAT={request.param}"


@pytest.fixture
def source(tmp_path):
    path = write_tiff(tmp_path / "a.tif", DATA, "COMPRESS=DEFLATE", *TILES)
    os.utime(path, (EARLIER, EARLIER))
    return path


def names(tmp_path, folder):
    return sorted(os.listdir(tmp_path / "repo" / folder))


def configuration(tmp_path):
    """The file that has it, whose texts are readable in both formats once it is decompressed."""
    import numcodecs
    yaml = tmp_path / "repo/config.yaml"
    if yaml.exists():
        return yaml.read_bytes()
    return numcodecs.Zstd().decode((tmp_path / "repo/repo").read_bytes()[39:])


@pytest.mark.parametrize("interleave", ["PIXEL", "BAND"])
@pytest.mark.parametrize("compression", [
    ["NONE"], ["DEFLATE"], ["ZSTD"], ["LZW"], ["DEFLATE", "PREDICTOR=2"], ["ZSTD", "PREDICTOR=2"]])
def test_chunks_are_parts_of_the_file(tmp_path, repo, compression, interleave):
    path = write_tiff(tmp_path / "a b#ü%.tif", DATA, "COMPRESS=" + compression[0], *compression[1:],
                      "INTERLEAVE=" + interleave, *TILES)
    assert make_virtual(path, *repo) is not None
    np.testing.assert_array_equal(pixels(repo[0]), DATA)
    snapshots = names(tmp_path, "snapshots")
    assert len(snapshots) == 2, "the first, empty one and the copy's"
    small = sum(file.stat().st_size for file in tmp_path.rglob("repo/**/*") if file.is_file())
    assert small < os.path.getsize(path) / 2
    assert f"file://{tmp_path}/".encode() in configuration(tmp_path)
    os.truncate(path, 1000)
    os.utime(path, (EARLIER, EARLIER))
    with pytest.raises(RuntimeError, match="a b#ü%.tif"):
        pixels(repo[0])


def test_overviews_are_virtual(tmp_path, repo, source):
    dataset = gdal.Open(source, gdal.GA_Update)
    dataset.BuildOverviews("NEAREST", [2])
    dataset = None
    os.utime(source, (EARLIER, EARLIER))
    assert make_virtual(source, *repo) is not None
    copy, dataset = gdal.Open(repo[0]), gdal.Open(source)
    np.testing.assert_array_equal(copy.GetRasterBand(2).GetOverview(0).ReadAsArray(),
                                  dataset.GetRasterBand(2).GetOverview(0).ReadAsArray())
    os.utime(source)
    copy = gdal.Open(repo[0])
    with pytest.raises(RuntimeError, match="the file has changed"):
        copy.GetRasterBand(2).GetOverview(0).ReadAsArray()


@pytest.mark.parametrize("fraction, is_noticed", [(0, False), (500_000_000, False), (None, True)])
def test_a_source_that_has_changed_is_an_error(tmp_path, repo, source, fraction, is_noticed):
    time = EARLIER * 10**9 + (fraction or 0)
    os.utime(source, ns=(time, time))
    assert make_virtual(source, *repo) is not None
    if is_noticed:
        os.utime(source, (EARLIER + 1, EARLIER + 1))
        with pytest.raises(RuntimeError, match="the file has changed.*a virtual chunk"):
            pixels(repo[0])
        dataset = gdal.OpenEx(repo[0], open_options=["IGNORE_TIMESTAMP_ETAG=YES"])
        np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)
    else:
        np.testing.assert_array_equal(pixels(repo[0]), DATA)


def test_etags_of_servers(tmp_path, repo, source, monkeypatch):
    with serve(tmp_path, monkeypatch) as server:
        url = f"/vsicurl/{server.url}/a.tif"
        assert make_virtual(url, *repo) is not None
        assert f"{server.url}/".encode() in configuration(tmp_path)
        np.testing.assert_array_equal(pixels(repo[0]), DATA)
        write_tiff(source, DATA + 1, "COMPRESS=DEFLATE", *TILES)
        gdal.VSICurlClearCache()
        with pytest.raises(RuntimeError, match="the file has changed"):
            pixels(repo[0])


def test_neighbours_in_a_file_are_read_together(tmp_path, repo, source, monkeypatch):
    with serve(tmp_path, monkeypatch) as server:
        assert make_virtual(f"/vsicurl/{server.url}/a.tif", *repo) is not None
        gdal.VSICurlClearCache()
        with log_requests(server) as log:
            np.testing.assert_array_equal(pixels(repo[0]), DATA)
    # 16 chunks.
    assert sum(method == "GET" and path == "/a.tif" for _, _, method, path in log.entries) <= 2


def test_manifests_of_virtual_chunks_are_read_at_once(tmp_path, monkeypatch):
    data = RANDOM.integers(0, 99, (16, 32, 32)).astype("u2")
    write_tiff(tmp_path / "a.tif", data, "INTERLEAVE=BAND", "BLOCKYSIZE=32")
    with serve(tmp_path, monkeypatch) as server:
        repo = (f"ICECHUNK:{tmp_path}/repo", "ICECHUNK_FORMAT=1")
        assert make_virtual(str(tmp_path / "a.tif"), *repo, mode="NO") is not None
        (tmp_path / "repo/config.yaml").write_text(
            "manifest:\n  splitting:\n    split_sizes:\n    - - any_array\n"
            "      - - condition: !Axis 0\n          num_chunks: 1\n")
        source = f"/vsicurl/{server.url}/a.tif"
        assert make_virtual(source, repo[0], "ARRAY_NAME=v") is not None
        dataset = gdal.OpenEx(f"ICECHUNK:/vsicurl/{server.url}/repo", gdal.OF_MULTIDIM_RASTER)
        array = dataset.GetRootGroup().OpenMDArray("v")
        with log_requests(server) as log:
            np.testing.assert_array_equal(array.ReadAsArray(), data)
    waves = [sum("/manifests/" in request for request in wave) for wave in log.waves]
    assert sum(waves) == 16 and max(waves) >= 8, log


def test_containers_are_reused_and_the_rest_is_kept(tmp_path, repo, source):
    inner = tmp_path / "inner"
    inner.mkdir()
    for number, folder in enumerate((tmp_path, inner, tmp_path)):
        path = write_tiff(folder / f"{number}.tif", DATA, *TILES)
        assert make_virtual(path, *repo, f"ARRAY_NAME=a{number}") is not None
    found = configuration(tmp_path)
    assert b"inner" not in found, "the container around it contains it"
    if repo[1].endswith("1"):
        assert found.decode() == f"""virtual_chunk_containers:
  file://{tmp_path}/:
    name: null
    url_prefix: file://{tmp_path}/
    store: !local_file_system {tmp_path}
"""
        assert len(names(tmp_path, "snapshots")) == 4


@pytest.mark.parametrize("before", [
    "", "virtual_chunk_containers: {}\nmanifest: null\n", "manifest: null\n",
    ("inline_chunk_threshold_bytes: 7\nvirtual_chunk_containers:\n    s3://b/:\n"
     "        name: own\n        url_prefix: s3://b/\n        store: !s3\n"
     "            region: null\nmanifest: null")])
def test_configurations_of_format_1(tmp_path, source, before):
    name = f"ICECHUNK:{tmp_path}/repo"
    assert make_virtual(source, name, "ICECHUNK_FORMAT=1", mode="NO") is not None
    (tmp_path / "repo/config.yaml").write_text(before)
    assert make_virtual(source, name, "ARRAY_NAME=b") is not None
    after = (tmp_path / "repo/config.yaml").read_text()
    assert after.count(f"url_prefix: file://{tmp_path}/\n") == 1
    kept = [line for line in before.splitlines() if "virtual_chunk_containers" not in line]
    rest = iter(after.splitlines())
    assert all(line in rest for line in kept), "the other lines stay, in their order"
    backups = [(tmp_path / "repo/overwritten" / name).read_text()
               for name in names(tmp_path, "overwritten")]
    assert backups == [before]


def test_a_configuration_of_unknown_form_is_an_error(tmp_path, source):
    name = f"ICECHUNK:{tmp_path}/repo"
    assert make_virtual(source, name, "ICECHUNK_FORMAT=1", mode="NO") is not None
    (tmp_path / "repo/config.yaml").write_text("virtual_chunk_containers: {a: {b: c}}\n")
    with pytest.raises(RuntimeError, match="config.yaml"):
        make_virtual(source, name, "ARRAY_NAME=b")
    assert len(names(tmp_path, "snapshots")) == 2


def test_files_without_a_url(tmp_path, repo):
    source = write_tiff("/vsimem/a.tif", DATA, "COMPRESS=DEFLATE", *TILES)
    with pytest.raises(RuntimeError, match="/vsimem/a.tif: .*that have a URL.*VIRTUAL=AUTO"):
        make_virtual(source, *repo)
    assert not (tmp_path / "repo").exists()
    assert make_virtual(source, *repo, mode="AUTO") is not None
    np.testing.assert_array_equal(pixels(repo[0]), DATA)
    assert names(tmp_path, "chunks")
    assert len(names(tmp_path, "snapshots")) == 2
    gdal.Unlink(source)
    np.testing.assert_array_equal(pixels(repo[0]), DATA)


@pytest.mark.parametrize("options, message", [
    (["LOCATIONS=RELATIVE"], "names files by URL"), (["FORMAT=ZARR_V2"], "FORMAT=ZARR_V3")])
def test_options_that_repositories_do_not_have(tmp_path, repo, source, options, message):
    with pytest.raises(RuntimeError, match=message):
        make_virtual(source, *repo, *options)
    assert not (tmp_path / "repo").exists()


def test_offsets_beyond_the_file(tmp_path, repo, source):
    os.truncate(source, os.path.getsize(source) - 10)
    with pytest.raises(RuntimeError, match="a.tif"):
        make_virtual(source, *repo)
    assert not (tmp_path / "repo").exists()


def test_only_copies_are_virtual(tmp_path, repo):
    for create in (lambda driver: driver.Create(repo[0], 4, 4, options=["VIRTUAL=YES"]),
                   lambda driver: driver.CreateMultiDimensional(repo[0], [], ["VIRTUAL=YES"])):
        with pytest.raises(RuntimeError, match="VIRTUAL is an option of copies"):
            create(gdal.GetDriverByName("Zarr"))
    assert not (tmp_path / "repo").exists()


def test_a_mosaic(tmp_path, repo):
    tiles = []
    for i in range(2):
        (tmp_path / f"t{i}").mkdir()
        tiles.append(write_tiff(tmp_path / f"t{i}/a.tif", DATA[:, :, :96] + i, "COMPRESS=DEFLATE",
                                *TILES, place=(500 + 960 * i, 10, 0, 900, 0, -10)))
    mosaic = gdal.BuildVRT(str(tmp_path / "a.vrt"), tiles)
    assert make_virtual(mosaic, *repo) is not None
    np.testing.assert_array_equal(pixels(repo[0]), mosaic.ReadAsArray())
    for i in range(2):
        assert f"file://{tmp_path}/t{i}/".encode() in configuration(tmp_path)


@pytest.mark.parametrize("change", [
    lambda times: times.SetUnit("m"), lambda times: times.SetScale(0.5),
    lambda times: times.SetOffset(2),
    lambda times: times.CreateAttribute(
        "calendar", [], gdal.ExtendedDataType.CreateString()).Write("360_day"),
    None], ids=["unit", "scale", "offset", "calendar", "equal"])
def test_coordinates_of_another_meaning_are_not_taken(tmp_path, repo, change):
    """Though their numbers are equal."""
    driver = gdal.GetDriverByName("Zarr")
    for name in "ab":
        source = gdal.GetDriverByName("MEM").CreateMultiDimensional("")
        root = source.GetRootGroup()
        time = root.CreateDimension("t", "", "", 4)
        for at in ("t", name):
            made = root.CreateMDArray(at, [time], gdal.ExtendedDataType.Create(gdal.GDT_Float64))
            assert made.Write(np.arange(4.0)) == 0
            if at == "t" and name == "b" and change:
                change(made)
        if name == "b" and change:
            with pytest.raises(RuntimeError, match="t already exists"):
                driver.CreateCopy(repo[0], source)
        else:
            assert driver.CreateCopy(repo[0], source) is not None


@pytest.mark.skipif(int(gdal.VersionInfo()) < 3_120_000,
                    reason="GDAL does not tell where blocks are")
@pytest.mark.parametrize("mode", ["YES", "AUTO"])
def test_hierarchies(tmp_path, repo, mode):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("g/v", data=DATA, chunks=(1, 32, 64), compression="gzip", shuffle=True)
        file.create_dataset("raw", data=DATA.astype(">f4"))
        if mode == "AUTO":
            file.create_dataset("scaled", data=DATA, chunks=(1, 32, 64), scaleoffset=16)
    dataset = gdal.OpenEx(str(tmp_path / "a.h5"), gdal.OF_MULTIDIM_RASTER)
    assert make_virtual(dataset, *repo, mode=mode) is not None
    dataset = gdal.OpenEx(repo[0], gdal.OF_MULTIDIM_RASTER)
    for name in ["g/v", "raw"] + ["scaled"] * (mode == "AUTO"):
        array = dataset.GetRootGroup().OpenMDArrayFromFullname("/" + name)
        np.testing.assert_array_equal(array.ReadAsArray(), DATA)
    assert len(names(tmp_path, "snapshots")) == 2
    assert (tmp_path / "repo/chunks").exists() == (mode == "AUTO")
