"""Icechunk repositories with the array /g/a of two chunks. conftest.py makes the fixtures known to
all tests."""
import numpy as np
import pytest
from icechunk_writer import GROUP, Inline, Native, Repository, Virtual
from osgeo import gdal

DATA = np.arange(24, dtype="<u2").reshape(4, 6)
TOP, BOTTOM = DATA[:2].tobytes(), DATA[2:].tobytes()


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


HALF = np.where(np.arange(4)[:, None] < 2, DATA, 9)
ONES = np.where(np.arange(4)[:, None] < 2, np.ones_like(DATA), 9)
