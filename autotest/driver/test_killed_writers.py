"""Killed writers: every chunk and document is either the old or the new one, and the next writer
repairs the rest.

ZARR_FAULT_ROUNDS says how often each kind of writer is killed, by night 200 times.
"""
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from classic import write_tiff
from multidim import create, create_array, numeric, open_root, open_to_write
from night import rounds
from osgeo import gdal

ROUNDS = int(os.environ.get("ZARR_FAULT_ROUNDS", rounds(9, 200)))
CHUNK = 32
DATA = np.random.default_rng(8).integers(0, 1 << 30, (96, 128), "i4")
LAYOUTS = {
    "v2": ["BLOCKSIZE=32,32", "COMPRESS=ZLIB"],
    "v3": ["FORMAT=ZARR_V3", "BLOCKSIZE=32,32", "COMPRESS=ZSTD"],
    "shards": ["FORMAT=ZARR_V3", "BLOCKSIZE=32,32", "SHARD_CHUNK_SHAPE=8,8"],
}
DOCUMENTS = (".zarray", ".zgroup", ".zattrs", ".zmetadata", "zarr.json")


@pytest.fixture(params=LAYOUTS)
def options(request):
    return LAYOUTS[request.param]


def rounds_of(layouts):
    return -(-ROUNDS // len(layouts))


def start(function, *arguments):
    """A process that runs a function of this file."""
    code = f"import test_killed_writers as t; t.{function.__name__}(*{arguments!r})"
    return subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parent,
                            stdout=subprocess.PIPE, text=True)


def assert_killed(process):
    """Returns its output."""
    process.kill()
    output, _ = process.communicate()
    assert process.returncode == -signal.SIGKILL
    return output


def blocks(values):
    """The chunks of an array, one after the other."""
    rows, columns = values.shape
    split = values.reshape(rows // CHUNK, CHUNK, columns // CHUNK, CHUNK)
    return split.swapaxes(1, 2).reshape(-1, CHUNK * CHUNK)


def assert_whole_documents(path):
    """Each is JSON, and consolidated metadata agrees with the documents."""
    documents = {
        str(file.relative_to(path)): json.loads(file.read_text())
        for file in path.rglob("*") if file.name in DOCUMENTS
    }
    consolidated = documents.pop(".zmetadata", {"metadata": {}})["metadata"]
    root = documents.get("zarr.json", {})
    for name, document in (root.pop("consolidated_metadata", None) or {"metadata": {}})[
            "metadata"].items():
        consolidated[f"{name}/zarr.json"] = document
    for name, document in consolidated.items():
        assert documents[name] == document, name


# --- Updates -------------------------------------------------------------------------------------

def write_for_ever(path, first):
    """Writes one state after the other: DATA plus its number. Prints the numbers of complete
    states."""
    for number in itertools.count(first):
        dataset = open_to_write(path)
        root = dataset.GetRootGroup()
        array = root.OpenMDArray("a")
        if number % 2:
            array.Write(DATA + number)
        else:
            for row in range(0, DATA.shape[0], 12):  # pending parts of chunks
                array.Write(DATA[row:row + 12] + number, [row, 0])
        for node in (root, array):
            node.GetAttribute("number").Write(number)
        if number % 3:
            dataset.FlushCache()
        del dataset, root, array, node
        print(number, flush=True)


def make_store(path, options):
    root = create(path, *options).GetRootGroup()
    array = create_array(root, "a", DATA.shape, gdal.GDT_Int32, *options)
    array.Write(DATA)
    for node in (root, array):
        node.CreateAttribute("number", [], numeric(gdal.GDT_Int32)).Write(0)


def test_updates(tmp_path, options):
    path = tmp_path / "a.zarr"
    make_store(path, options)
    complete = 0
    for _ in range(rounds_of(LAYOUTS)):
        writer = start(write_for_ever, str(path), complete + 1)
        writer.stdout.readline()  # it has started
        time.sleep(random.uniform(0, 0.05))
        printed = assert_killed(writer).split()
        complete = int(printed[-1]) if printed else complete + 1

        assert_whole_documents(path)
        root = open_root(path)
        array = root.OpenMDArray("a")
        states = blocks(array.ReadAsArray()) - blocks(DATA)
        assert (states == states[:, :1]).all()
        numbers = {node.GetAttribute("number").Read() for node in (root, array)}
        assert numbers | set(states[:, 0]) <= {complete, complete + 1}
        complete += 1  # perhaps


# --- New stores ----------------------------------------------------------------------------------

def test_copies(tmp_path, options):
    """gdal_translate leaves a store that opens and can be deleted, or at most an empty folder, in
    which the next store can be made."""
    data = np.tile(DATA, (8, 8))
    tif, path = write_tiff(tmp_path / "a.tif", data), tmp_path / "a.zarr"
    creation = [word for option in options for word in ("-co", option)]
    command = ["gdal_translate", "-q", "-of", "Zarr", tif, path, *creation]
    begin = time.monotonic()
    subprocess.run(command, check=True)
    duration = time.monotonic() - begin
    for _ in range(rounds_of(LAYOUTS)):
        gdal.GetDriverByName("Zarr").Delete(str(path))
        copy = subprocess.Popen(command)
        time.sleep(random.uniform(0.3, 1) * duration)
        copy.kill()
        copy.wait()
        if any(file.name in DOCUMENTS for file in path.rglob("*")):
            assert_whole_documents(path)
            root = open_root(path)
            if "a" not in (root.GetMDArrayNames() or []):
                continue
            got = blocks(root.OpenMDArray("a").ReadAsArray())
            assert ((got == blocks(data)).all(axis=1) | (got == 0).all(axis=1)).all()
        else:
            if path.exists() and not list(path.iterdir()):
                path.rmdir()
            subprocess.run(command, check=True)


# --- What is left --------------------------------------------------------------------------------

def change_and_die(path):
    dataset = open_to_write(path)
    dataset.GetRootGroup().CreateGroup("new")
    os.kill(os.getpid(), signal.SIGKILL)


def is_consolidated(path):
    if (path / ".zgroup").exists():
        return (path / ".zmetadata").exists()
    return "consolidated_metadata" in json.loads((path / "zarr.json").read_text())


def test_consolidated_metadata_is_made_again(tmp_path, options):
    path = tmp_path / "a.zarr"
    make_store(path, options)
    assert is_consolidated(path)
    assert start(change_and_die, str(path)).wait() == -signal.SIGKILL
    assert_whole_documents(path)
    dataset = open_to_write(path)
    dataset.FlushCache()
    del dataset
    assert is_consolidated(path)
    assert_whole_documents(path)
    assert open_root(path).GetGroupNames() == ["new"]
