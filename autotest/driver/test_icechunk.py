"""Icechunk repositories: names, options, virtual chunks, errors."""
import hashlib
import json
import os
from urllib.parse import unquote

import numpy as np
import pytest
from icechunk_stores import BOTTOM, DATA, HALF, ONES, TOP, array, error_of, nodes, read
from icechunk_writer import GROUP, Inline, Native, Repository
from osgeo import gdal
from request_log import log_requests
from webserver import serve

ALLOW_LOCAL = "GDAL_ALLOW_REMOTE_RESOURCE_TO_ACCESS_LOCAL_FILE"


def test_names(repository):
    path, tag = repository.path, repository.tags["it works!"]
    for name, want in {
        f"{path}": DATA, f"{path}/": DATA, f'ZARR:"{path}"': DATA, f"ICECHUNK:{path}": DATA,
        f"file://{path}": DATA, f"ICECHUNK:file://{path}?branch=dev": ONES,
        f"ICECHUNK:{path}?branch=main": DATA, f"icechunk:{path}?branch=dev": ONES,
        f"ICECHUNK:{path}?tag=it works!": HALF, f"ICECHUNK:{path}?tag=it%20works%21": HALF,
        f'ICECHUNK:"{path}?snapshot={tag}"': HALF, f"/vsiicechunk/{{{path}}}": DATA,
        f"/vsiicechunk/{{{path}?branch=dev}}": ONES,
        f'ZARR:"ICECHUNK:{path}":/g/a': DATA, f'ZARR:"ICECHUNK:{path}?branch=dev":/g/a': ONES,
        f"ZARR:ICECHUNK:{path}?branch=dev:/g/a": ONES, f"ZARR:ICECHUNK:{path}": DATA,
        f'ZARR:"/vsiicechunk/{{{path}?snapshot={tag}&ignore-timestamp-etag=yes}}"': HALF,
    }.items():
        np.testing.assert_array_equal(read(name), want, name)
    np.testing.assert_array_equal(read(path, "BRANCH=dev"), ONES)
    np.testing.assert_array_equal(read(f'ZARR:"{path}"', "TAG=it works!"), HALF)
    np.testing.assert_array_equal(read(f"ICECHUNK:{path}", f"SNAPSHOT={tag}"), HALF)
    dataset = gdal.Open(str(path))
    np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)
    assert dataset.GetFileList() == [str(path)]
    np.testing.assert_array_equal(gdal.Open(f'ZARR:"/vsiicechunk/{{{path}}}/g"').ReadAsArray(),
                                  DATA)


def test_names_that_are_wrong(repository):
    path = repository.path
    for name, parts in {
        f"ICECHUNK:{path}?branch=none": [str(path), "branch none does not exist"],
        f"ICECHUNK:{path}?tag=none": ["tag none does not exist"],
        f"ICECHUNK:{path}?tag=old": ["tag old was deleted"],
        f"ICECHUNK:{path}?snapshot=1CECHNKREP0F1RSTCMT0": ["1CECHNKREP0F1RSTCMT0"],
        f"ICECHUNK:{path}?brnch=dev": ["?branch=NAME"],
        f"ICECHUNK:{path}?branch=dev&tag=old": ["more than one"],
        f"ICECHUNK:{path}?branch=": ["no name"],
        "ICECHUNK:": ["no path"],
        "ICECHUNK:https://host/r": ["/vsicurl/https://host/r"],
        f"ICECHUNK:{path.parent}": ["no Icechunk repository"],
        f"/vsiicechunk/{path}": ["braces"],
    }.items():
        message = error_of(name)
        assert all(part in message for part in parts), message
    assert "exclude" in error_of(path, "BRANCH=dev", "TAG=old")
    assert "another" in error_of(f"ICECHUNK:{path}?branch=dev", "BRANCH=main")
    # Not every folder with a file of this name is a repository.
    (path.parent / "other").mkdir()
    (path.parent / "other/repo").write_bytes(b"ICE".ljust(100))
    assert gdal.IdentifyDriver(str(path.parent / "other")) is None
    assert gdal.IdentifyDriver(str(path)).GetDescription() == "Zarr"


def test_a_dataset_stays_at_its_snapshot(repository):
    dataset = gdal.OpenEx(str(repository.path), gdal.OF_MULTIDIM_RASTER)
    repository.commit(nodes(Inline(b"\1\0" * 12)))
    repository.write()
    before = dataset.GetRootGroup().OpenMDArrayFromFullname("/g/a")
    np.testing.assert_array_equal(before.ReadAsArray(), DATA)
    np.testing.assert_array_equal(read(repository.path), ONES)


def test_metadata_domain(repository):
    path, tag = repository.path, repository.tags["it works!"]
    main, dev = repository.branches["main"], repository.branches["dev"]
    want = {"FORMAT": str(repository.version), "SNAPSHOT": main, "BRANCH": "main",
            "BRANCH_1_NAME": "dev", "BRANCH_1_SNAPSHOT": dev, "BRANCH_2_NAME": "main",
            "BRANCH_2_SNAPSHOT": main, "TAG_1_NAME": "it works!", "TAG_1_SNAPSHOT": tag}
    for flags in (gdal.OF_MULTIDIM_RASTER, gdal.OF_RASTER):
        dataset = gdal.OpenEx(str(path), flags)
        assert "ICECHUNK" in dataset.GetMetadataDomainList()
        assert dataset.GetMetadata("ICECHUNK") == want
        assert dataset.GetMetadataItem("BRANCH_1_NAME", "ICECHUNK") == "dev"
    dataset = gdal.Open(f"ICECHUNK:{path}?tag=it works!")
    assert dataset.GetMetadataItem("TAG", "ICECHUNK") == "it works!"
    assert dataset.GetMetadataItem("BRANCH", "ICECHUNK") is None


def test_subdatasets(tmp_path):
    repository = Repository(tmp_path / "r")
    other = array(shape=[2, 6])
    repository.commit({"": GROUP, "a": (array(), {(0, 0): Native(TOP), (1, 0): Native(BOTTOM)}),
                       "b": (other, {(0, 0): Native(TOP)})}, "dev")
    repository.commit({"": GROUP})
    dataset = gdal.Open(f"ICECHUNK:{repository.write()}?branch=dev")
    names = [name for name, _ in dataset.GetSubDatasets()]
    assert len(names) == 2
    np.testing.assert_array_equal(gdal.Open(names[0]).ReadAsArray(), DATA)
    np.testing.assert_array_equal(gdal.Open(names[1]).ReadAsArray(), DATA[:2])


def test_overviews(tmp_path):
    """Of a pyramid in a branch."""
    levels = [{"path": "0"}, {"path": "1", "transform": [2, 2]}]
    axes = [{"name": "y", "type": "space"}, {"name": "x", "type": "space"}]
    multiscales = [{
        "version": "0.4", "axes": axes,
        "datasets": [{"path": level["path"], "coordinateTransformations": [
            {"type": "scale", "scale": level.get("transform", [1, 1])}]} for level in levels]}]
    repository = Repository(tmp_path / "r")
    small = np.full((2, 3), 7, "<u2")
    repository.commit({
        "": GROUP | {"attributes": {"multiscales": multiscales}},
        "0": (array(), {(0, 0): Native(TOP), (1, 0): Native(BOTTOM)}),
        "1": (array(shape=[2, 3], chunk_grid={
            "name": "regular", "configuration": {"chunk_shape": [2, 3]}}),
            {(0, 0): Native(small.tobytes())})}, "dev")
    repository.branches["main"] = repository.branches["dev"]
    path = repository.write()
    for name in (str(path), f"ICECHUNK:{path}?branch=dev"):
        dataset = gdal.Open(name)
        band = dataset.GetRasterBand(1)
        assert band.GetOverviewCount() == 1, name
        np.testing.assert_array_equal(band.GetOverview(0).ReadAsArray(), small)


def test_programs(repository, tmp_path):
    name = f"ICECHUNK:{repository.path}?tag=it works!"
    copy = gdal.Translate(str(tmp_path / "copy.tif"), name)
    np.testing.assert_array_equal(copy.ReadAsArray(), HALF)
    copy = gdal.Translate(str(tmp_path / "main.tif"), gdal.OpenEx(
        str(repository.path), open_options=["BRANCH=dev"]))
    np.testing.assert_array_equal(copy.ReadAsArray(), ONES)
    assert "it works!" in gdal.Info(name, extraMDDomains=["ICECHUNK"])
    rasterio = pytest.importorskip("rasterio")
    with rasterio.open(name) as dataset:
        assert dataset.tags(ns="ICECHUNK")["TAG"] == "it works!"
        np.testing.assert_array_equal(dataset.read(1), HALF)
    with rasterio.open(f"{repository.path}", branch="dev") as dataset:
        np.testing.assert_array_equal(dataset.read(1), ONES)


def test_reading_changes_nothing(repository):
    before = sorted(repository.path.rglob("*"))
    dataset = gdal.Open(str(repository.path))
    dataset.GetRasterBand(1).ComputeStatistics(False)
    del dataset
    assert sorted(repository.path.rglob("*")) == before


def test_missing_files(repository):
    for folder in ("chunks", "manifests"):
        for file in (repository.path / folder).iterdir():
            file.unlink()
        message = error_of(repository.path)
        # Several threads read; the first chunk that fails is named.
        assert all(name in message for name in (str(repository.path), "g/a/c/", f"{folder}/")), \
            message
    for file in (repository.path / "snapshots").iterdir():
        file.unlink()
    assert "snapshots/" in error_of(repository.path)


# --- Virtual chunks ------------------------------------------------------------------------------


def test_virtual_chunks(virtual, tmp_path):
    np.testing.assert_array_equal(read(virtual()), DATA)
    dotted = f"file://{tmp_path}/x/../data%20with%20space/./blob.bin"
    np.testing.assert_array_equal(read(virtual(dotted)), DATA)


def test_virtual_chunks_that_cannot_be_read(virtual, tmp_path):
    for options, parts in [
        ({"url": f"file://{tmp_path}/none.bin"}, ["none.bin", "does not exist"]),
        ({"offset": 10}, ["blob.bin"]),
        ({"offset": 2**63}, ["blob.bin"]),
        ({"length": 0}, ["no length"]),
        ({"url": "tigris://bucket/key"}, ["tigris://"]),
        ({"url": "vcc://none/key"}, ['called "none"']),
        ({"url": "blob.bin"}, ["blob.bin", "not a URL"]),
        ({"url": f"{tmp_path}/blob.bin"}, ["not a URL"]),
        ({"url": "file://server/blob.bin"}, ["file://"]),
    ]:
        path = virtual(**options)
        message = error_of(path)
        wanted = [str(path), "branch main", "g/a/c/1/0", *parts]
        assert all(part in message for part in wanted), (options, message)
        # Other chunks stay readable.
        dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
        values = dataset.GetRootGroup().OpenMDArrayFromFullname("/g/a")
        assert values.ReadAsArray([0, 0], [2, 6]).tobytes() == TOP


def test_changed_files(virtual):
    os.utime(virtual.file, (1_000_000, 1_000_000))
    np.testing.assert_array_equal(read(virtual(last_modified=1_000_000)), DATA)
    np.testing.assert_array_equal(read(virtual(last_modified=4294111232)), DATA)
    path = virtual(last_modified=999_999)
    message = error_of(path)
    assert "g/a/c/1/0" in message and "has changed" in message
    assert "IGNORE_TIMESTAMP_ETAG" in message
    np.testing.assert_array_equal(read(path, "IGNORE_TIMESTAMP_ETAG=YES"), DATA)
    np.testing.assert_array_equal(read(f"ICECHUNK:{path}?ignore-timestamp-etag=yes"), DATA)
    # Local files have no ETag.
    np.testing.assert_array_equal(read(virtual(etag="abc")), DATA)


def test_other_stores_have_no_changed_files(repository, tmp_path, monkeypatch):
    """The option applies where there are references, and to nothing else."""
    option = "IGNORE_TIMESTAMP_ETAG=YES"
    with serve(tmp_path, monkeypatch) as server:
        for folder in (tmp_path, f"/vsicurl/{server.url}"):
            np.testing.assert_array_equal(
                read(f'ZARR:"{folder}/repository"', option), DATA)
            path = tmp_path / "other.zarr"
            path.mkdir(exist_ok=True)
            (path / "zarr.json").write_text(json.dumps(array(shape=[2, 6])))
            (path / "c/0").mkdir(parents=True, exist_ok=True)
            (path / "c/0/0").write_bytes(TOP)
            dataset = gdal.OpenEx(f'ZARR:"{folder}/other.zarr"', open_options=[option])
            np.testing.assert_array_equal(dataset.ReadAsArray(), DATA[:2])
            with pytest.raises(RuntimeError, match="no Icechunk repository"):
                gdal.OpenEx(f'ZARR:"{folder}/other.zarr"', open_options=["BRANCH=main"])


def test_etags(virtual, tmp_path, monkeypatch):
    tag = hashlib.md5(virtual.file.read_bytes()).hexdigest()
    with serve(virtual.file.parent, monkeypatch) as server:
        for etag in (tag, f'"{tag}"'):
            np.testing.assert_array_equal(
                read(virtual(f"{server.url}/blob.bin", etag=etag)), DATA)
        path = virtual(f"{server.url}/blob.bin", etag="other")
        message = error_of(path)
        assert "has changed" in message and tag in message and "other" in message
        np.testing.assert_array_equal(read(path, "IGNORE_TIMESTAMP_ETAG=YES"), DATA)


def test_repositories_on_the_network_may_not_name_local_files(virtual, tmp_path, monkeypatch):
    path = virtual()
    with serve(tmp_path, monkeypatch) as server:
        name = f"ICECHUNK:/vsicurl/{server.url}/{path.name}"
        message = error_of(name)
        assert ALLOW_LOCAL in message and "g/a/c/1/0" in message
        monkeypatch.setenv(ALLOW_LOCAL, "YES")
        np.testing.assert_array_equal(read(name), DATA)


# --- Over HTTP -----------------------------------------------------------------------------------


def test_requests(repository, tmp_path, monkeypatch):
    """Four round trips to the first window; then chunks alone."""
    with serve(tmp_path, monkeypatch) as server:
        server.rewrite = unquote
        name = f"ICECHUNK:/vsicurl/{server.url}/repository?branch=dev"
        main = f"ICECHUNK:/vsicurl/{server.url}/repository"

        with log_requests(server) as log:
            np.testing.assert_array_equal(read(main), DATA)
        waves = [sorted(name.removeprefix("GET /repository/") for name in wave)
                 for wave in log.waves]
        assert waves[:2] == [["refs/branch.main/ref.json", "repo"],
                             [f"snapshots/{repository.branches['main']}"]]
        assert [[name.partition("/")[0] for name in wave] for wave in waves[2:]] == \
            [["manifests"], ["chunks"]]
        # A tag of format 1 may have been deleted.
        with log_requests(server) as log:
            np.testing.assert_array_equal(read(f"{main}?tag=it works!"), HALF)
        assert (log.count, log.round_trips) == (6, 4), str(log)

        dataset = gdal.OpenEx(main, gdal.OF_MULTIDIM_RASTER)
        values = dataset.GetRootGroup().OpenMDArrayFromFullname("/g/a")
        values.ReadAsArray([2, 0], [2, 6])  # inline
        server.requests.clear()
        values.ReadAsArray([0, 0], [2, 6])
        assert [path.split("/")[2] for path, _ in server.requests] == ["chunks"]

        np.testing.assert_array_equal(read(name), ONES)
        np.testing.assert_array_equal(read(f'ZARR:"/vsicurl/{server.url}/repository"'), DATA)


def test_servers_that_deny_absent_files(repository, tmp_path, monkeypatch):
    """As object stores do that do not list."""
    with serve(tmp_path, monkeypatch) as server:
        server.rewrite, server.missing_status = unquote, 403
        name = f"ICECHUNK:/vsicurl/{server.url}/repository"
        np.testing.assert_array_equal(read(name), DATA)
        np.testing.assert_array_equal(read(f"{name}?tag=it works!"), HALF)
        assert "403" in error_of(f"ICECHUNK:/vsicurl/{server.url}/none")
