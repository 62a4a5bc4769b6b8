"""Icechunk repositories: names, options, virtual chunks, errors, and the file system."""
import hashlib
import os
from urllib.parse import unquote

import numpy as np
import pytest
from icechunk_writer import GROUP, Inline, Native, Repository, Virtual
from osgeo import gdal
from webserver import serve

DATA = np.arange(24, dtype="<u2").reshape(4, 6)
TOP, BOTTOM = DATA[:2].tobytes(), DATA[2:].tobytes()
ALLOW_LOCAL = "GDAL_ALLOW_REMOTE_RESOURCE_TO_ACCESS_LOCAL_FILE"


def array(**members):
    return {
        "zarr_format": 3, "node_type": "array", "shape": [4, 6], "data_type": "uint16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 6]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": 9,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "dimension_names": ["y", "x"],
    } | members


def nodes(top, bottom=None):
    chunks = {(0, 0): top} | ({} if bottom is None else {(1, 0): bottom})
    return {"": GROUP, "g": GROUP, "g/a": (array(), chunks)}


def read(name, *options):
    dataset = gdal.OpenEx(str(name), gdal.OF_MULTIDIM_RASTER, open_options=options)
    return dataset.GetRootGroup().OpenMDArrayFromFullname("/g/a").ReadAsArray()


def error_of(name, *options):
    with pytest.raises(RuntimeError) as caught:
        read(name, *options)
    return str(caught.value)


@pytest.fixture(params=[1, 2])
def repository(request, tmp_path):
    """A tag with half the array, and the branches main and dev."""
    made = Repository(tmp_path / "repository", request.param)
    made.tags["it works!"] = made.commit(nodes(Native(TOP)))
    made.commit(nodes(Inline(b"\1\0" * 12)), "dev")
    made.commit(nodes(Native(TOP), Inline(BOTTOM)))
    made.deleted_tags.append("old")
    made.write()
    return made


HALF = np.where(np.arange(4)[:, None] < 2, DATA, 9)
ONES = np.where(np.arange(4)[:, None] < 2, np.ones_like(DATA), 9)


def test_names(repository):
    path, tag = repository.path, repository.tags["it works!"]
    for name, want in {
        f"{path}": DATA, f"{path}/": DATA, f'ZARR:"{path}"': DATA, f"ICECHUNK:{path}": DATA,
        f"file://{path}": DATA, f"ICECHUNK:file://{path}?branch=dev": ONES,
        f"ICECHUNK:{path}?branch=main": DATA, f"icechunk:{path}?branch=dev": ONES,
        f"ICECHUNK:{path}?tag=it works!": HALF, f"ICECHUNK:{path}?tag=it%20works%21": HALF,
        f'ICECHUNK:"{path}?snapshot={tag}"': HALF, f"/vsiicechunk/{{{path}}}": DATA,
        f"/vsiicechunk/{{{path}?branch=dev}}": ONES,
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


def test_is_read_only(repository):
    with pytest.raises(RuntimeError, match="commits"):
        gdal.OpenEx(str(repository.path), gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
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


@pytest.fixture
def virtual(tmp_path):
    """Makes a repository whose second chunk is in a file; `url` may name it otherwise."""
    folder = tmp_path / "data with space"
    folder.mkdir()
    (folder / "blob.bin").write_bytes(b"-----" + BOTTOM + b"---")

    def make(url=None, offset=5, length=24, **more):
        repository = Repository(tmp_path / "repository")
        chunk = Virtual(url or f"file://{tmp_path}/data%20with%20space/blob.bin", offset, length,
                        **more)
        repository.commit(nodes(Native(TOP), chunk))
        return repository.write()

    make.file = folder / "blob.bin"
    return make


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

        def requests():
            paths = [path.removeprefix("/repository/") for path, _ in server.requests]
            server.requests.clear()
            return paths

        np.testing.assert_array_equal(read(main), DATA)
        asked = requests()
        probe = [] if repository.version == 2 else ["repo"]
        refs = "repo" if repository.version == 2 else "refs/branch.main/ref.json"
        assert asked[:-2] == [*probe, refs, f"snapshots/{repository.branches['main']}"]
        assert [path.partition("/")[0] for path in asked[-2:]] == ["manifests", "chunks"]

        dataset = gdal.OpenEx(main, gdal.OF_MULTIDIM_RASTER)
        values = dataset.GetRootGroup().OpenMDArrayFromFullname("/g/a")
        values.ReadAsArray([2, 0], [2, 6])  # inline
        requests()
        values.ReadAsArray([0, 0], [2, 6])
        assert [path.partition("/")[0] for path in requests()] == ["chunks"]

        np.testing.assert_array_equal(read(name), ONES)
        np.testing.assert_array_equal(
            read(f"ICECHUNK:/vsicurl/{server.url}/repository?tag=it works!"), HALF)
        np.testing.assert_array_equal(read(f'ZARR:"/vsicurl/{server.url}/repository"'), DATA)


# --- The file system -----------------------------------------------------------------------------


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


def test_repositories_inside_of_repositories(virtual):
    """Names that lead through others end with an error."""
    name = f"/vsiicechunk/{{{virtual()}}}"
    for _ in range(20):
        name = f"/vsiicechunk/{{{name}/g}}"
        with pytest.raises(RuntimeError, match="no Icechunk repository|too many"):
            gdal.VSIStatL(f"{name}/zarr.json")


def test_virtual_chunks_of_the_file_system(virtual):
    file = gdal.VSIFOpenL(f"/vsiicechunk/{{{virtual()}}}/g/a/c/1/0", "rb")
    assert bytes(gdal.VSIFReadL(1, 100, file)) == BOTTOM
    gdal.VSIFCloseL(file)
