"""Virtual chunks that gdal_translate writes, as the reference reads them: it finds containers for
them, and the values of the source."""
import base64

import numpy as np
import pytest
from verifier import verify
from virtual_sources import make_virtual, write_tiff

DATA = np.random.default_rng(3).integers(0, 30000, (2, 90, 100)).astype("u2")
TILES = ["TILED=YES", "BLOCKXSIZE=32", "BLOCKYSIZE=48", "INTERLEAVE=BAND"]


def read(judge, tmp_path, **words):
    return judge.describe(at=tmp_path / "repo", allowed=[f"file://{tmp_path}/"], **words)


@pytest.mark.parametrize("version", [1, 2])
def test_the_reference_reads_them(tmp_path, judge, version):
    source = write_tiff(tmp_path / "a b#ü%.tif", DATA, *TILES)
    assert make_virtual(source, f"ICECHUNK:{tmp_path}/repo", "ARRAY_NAME=v",
                        f"ICECHUNK_FORMAT={version}") is not None
    found = read(judge, tmp_path)
    assert found["format"] == version
    values = base64.b64decode(found["branches"]["main"]["values"]["/v"])
    np.testing.assert_array_equal(np.frombuffer(values, "u2").reshape(DATA.shape), DATA)
    verify(tmp_path / "repo")


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("compression", ["DEFLATE", "ZSTD", "LZW"])
def test_the_reference_reads_their_bytes(tmp_path, judge, version, compression):
    source = write_tiff(tmp_path / "a.tif", DATA, "COMPRESS=" + compression, *TILES)
    assert make_virtual(source, f"ICECHUNK:{tmp_path}/repo", "ARRAY_NAME=v",
                        f"ICECHUNK_FORMAT={version}") is not None
    chunks = {key: base64.b64decode(value) for key, value
              in read(judge, tmp_path, of="bytes")["branches"]["main"]["bytes"].items()
              if key.startswith("v/c/")}
    content = open(source, "rb").read()
    assert len(chunks) == 2 * 2 * 4 and all(chunk in content for chunk in chunks.values())


@pytest.mark.parametrize("version", [1, 2])
def test_its_own_configuration_is_kept(tmp_path, judge, version):
    """It commits to the repository afterwards, and reads both containers."""
    at, other = tmp_path / "repo", tmp_path / "other"
    other.mkdir()
    container = {"urlPrefix": f"file://{other}/",
                 "store": {"type": "LocalFileSystem", "field0": str(other)}}
    judge.create(at=at, format=version, config={
        "inlineChunkThresholdBytes": 100,
        "virtualChunkContainers": {f"file://{other}/": container}})
    for folder in (other, tmp_path):
        source = write_tiff(folder / "a.tif", DATA, *TILES)
        assert make_virtual(source, f"ICECHUNK:{at}", f"ARRAY_NAME={folder.name[:5]}a") is not None
    judge.commit(at=at, branch="main", changes=[
        ["set", "g/zarr.json",
         base64.b64encode(b'{"zarr_format":3,"node_type":"group","attributes":{}}').decode()]])
    found = judge.describe(at=at, allowed=[f"file://{other}/", f"file://{tmp_path}/"])
    values = found["branches"]["main"]["values"]
    for name in (other.name[:5], tmp_path.name[:5]):
        array = np.frombuffer(base64.b64decode(values[f"/{name}a"]), "u2").reshape(DATA.shape)
        np.testing.assert_array_equal(array, DATA)
    verify(at, is_ours=False)
