"""ZARR_FSYNC=YES: data that was put would survive a loss of power."""
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from osgeo import gdal

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="there is no strace")

CALL = re.compile(r"(?:\d+ +)?(\w+)\((.*)\) += (-?\d+)(?:<(.*)>)?")
PATH = re.compile(r"<([^>]*)>")
NAMES = re.compile(r'"([^"]*)"')
LAYOUTS = {
    "v2": ["-co", "BLOCKSIZE=16,16"],
    "v3": ["-co", "FORMAT=ZARR_V3", "-co", "BLOCKSIZE=16,16", "-co", "COMPRESS=ZSTD"],
    "shards": ["-co", "FORMAT=ZARR_V3", "-co", "BLOCKSIZE=32,32", "-co",
               "SHARD_CHUNK_SHAPE=16,16"],
}


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "source.tif"
    dataset = gdal.GetDriverByName("GTiff").Create(str(path), 40, 40, 1, gdal.GDT_UInt16)
    dataset.GetRasterBand(1).WriteArray(
        np.arange(1, 1 + 40 * 40, dtype=np.uint16).reshape(40, 40))
    return path


def trace(tmp_path, *command):
    """(call, path, new path) of each successful fsync, mkdir and rename, in order."""
    log = tmp_path / "strace.log"
    subprocess.run(["strace", "-f", "-y", "-s", "4096", "-o", str(log), "-e",
                    "trace=fsync,fdatasync,syncfs,rename,renameat,renameat2,mkdir,mkdirat,unlink",
                    *command], check=True, stdout=subprocess.DEVNULL)
    calls = []
    begun = {}  # by thread: calls that others have interrupted in the log
    for line in log.read_text().splitlines():
        thread = line.split(maxsplit=1)[0]
        if line.endswith("<unfinished ...>"):
            begun[thread] = line.removesuffix("<unfinished ...>")
            continue
        if " resumed>" in line:
            line = begun.pop(thread, "") + line.split(" resumed>", 1)[1]
        found = CALL.match(line)
        if not found or found[3] != "0":
            continue
        call, arguments = found[1], found[2]
        if "sync" in call:
            calls.append((call.replace("fdatasync", "fsync"), PATH.search(arguments)[1], None))
        elif call.startswith("renameat"):
            folders, names = PATH.findall(arguments), NAMES.findall(arguments)
            calls.append(("rename", f"{folders[0]}/{names[0]}", f"{folders[1]}/{names[1]}"))
        else:
            calls.append((call, *NAMES.findall(arguments), None)[:3])
    return calls


def translate(tmp_path, source, layout, **config):
    target = tmp_path / "new" / "a.zarr"
    target.parent.mkdir()
    options = [text for name, value in config.items() for text in ("--config", name, value)]
    calls = trace(tmp_path, "gdal_translate", *options, "-of", "Zarr", "--config",
                  "GDAL_NUM_THREADS", "1", *LAYOUTS[layout], str(source), str(target))
    np.testing.assert_array_equal(gdal.Open(str(target)).ReadAsArray(),
                                  gdal.Open(str(source)).ReadAsArray())
    return target, calls


@pytest.mark.parametrize("layout", LAYOUTS)
def test_file_then_name_then_folder(tmp_path, source, layout):
    target, calls = translate(tmp_path, source, layout, ZARR_FSYNC="YES")
    put = set()
    for i, (call, path, new_path) in enumerate(calls):
        if call != "rename":
            continue
        put.add(new_path)
        assert ("fsync", path, None) in calls[:i], f"{new_path} is not on the disk"
        folder = new_path.rpartition("/")[0]
        until_next = list(calls[i + 1:])
        next_put = next((k for k, c in enumerate(until_next) if c[0] == "rename"),
                        len(until_next))
        assert ("fsync", folder, None) in until_next[:next_put], f"the name of {new_path} is not"
    files = {str(path) for path in target.rglob("*") if path.is_file()}
    assert put >= files and len(files) > 3  # marks that are removed again are put as well


# The content of a folder is useless if the folder is lost.
@pytest.mark.parametrize("layout", LAYOUTS)
def test_folders_that_were_made(tmp_path, source, layout):
    target, calls = translate(tmp_path, source, layout, ZARR_FSYNC="YES")
    folders = [target, *(path for path in target.rglob("*") if path.is_dir())]
    for folder in folders:
        made = next(i for i, call in enumerate(calls) if call[:2] == ("mkdir", str(folder)))
        assert ("fsync", str(folder.parent), None) in calls[made:], folder


def test_what_is_erased(tmp_path, source):
    target, _ = translate(tmp_path, source, "v3")
    program = (f"from osgeo import gdal; d = gdal.OpenEx({str(target)!r}, gdal.OF_UPDATE); "
               "d.GetRasterBand(1).Fill(0); d = None")
    # One thread, so that no call is logged in two parts.
    calls = trace(tmp_path, "env", "ZARR_FSYNC=YES", "GDAL_NUM_THREADS=1", "/usr/bin/python3",
                  "-c", program)
    erased = [i for i, (call, path, _) in enumerate(calls)
              if call == "unlink" and "/c/" in path and "partial" not in path]
    assert len(erased) == 9
    for i in erased:
        assert ("fsync", calls[i][1].rpartition("/")[0], None) in calls[i:i + 3]


def test_without_it_nothing_waits_for_the_disk(tmp_path, source):
    _, calls = translate(tmp_path, source, "v2")
    assert not [call for call in calls if call[0] == "fsync"]


# Elsewhere there is no syncfs().
@pytest.mark.skipif(sys.platform != "linux", reason="each file is synchronized")
def test_commits_of_icechunk(tmp_path, source):
    """All that a snapshot needs is on the disk before its branch moves."""
    repository = tmp_path / "repository"
    for array in ("a", "b"):
        calls = trace(tmp_path, "gdal_translate", "-of", "Zarr", "--config",
                      "GDAL_NUM_THREADS", "1", "-co", "BLOCKSIZE=16,16", "-co", "COMPRESS=NONE",
                      "-co", f"ARRAY_NAME={array}",
                      str(source), f"ICECHUNK:{repository}")
        moves = [i for i, call in enumerate(calls)
                 if call[0] == "rename" and call[2] == f"{repository}/repo"]
        move = moves[-1]
        names = [call[2] for call in calls if call[0] == "rename"]
        for folder in ("manifests", "snapshots", "transactions"):
            assert any(name.startswith(f"{repository}/{folder}/") for name in names), folder
        last = max(i for i, call in enumerate(calls[:move]) if call[0] == "rename" and
                   "/overwritten/" not in call[2])
        assert ("syncfs", str(repository), None) in calls[last:move]
        assert ("fsync", calls[move][1], None) in calls[last:move]
        assert ("fsync", str(repository), None) in calls[move:]
        assert len([call for call in calls if "sync" in call[0]]) <= 8  # not one for each chunk
