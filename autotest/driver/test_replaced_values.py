"""Readers that stay open while another program replaces the values that they read."""
import itertools
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from multidim import open_array
from night import each_value, rounds
from osgeo import gdal
from stores import BLOSC, BYTES, CRC32C, GZIP, ZSTD, encode, sharding, write_array
from webserver import serve

SHAPE = (64, 64)
INNER = (16, 16)
LAYOUTS = {
    "no shard": [BYTES, ZSTD],
    "raw": [sharding(INNER)],
    "zstd": [sharding(INNER, [BYTES, ZSTD])],
    "blosc": [sharding(INNER, [BYTES, BLOSC])],
    "index at the start": [sharding(INNER, [BYTES, ZSTD], index_location="start")],
    "nested": [sharding((32, 32), [sharding(INNER, [BYTES, GZIP])])],
    "checked as a whole": [sharding(INNER, [BYTES, ZSTD]), CRC32C],
}
SECONDS = rounds(8, 200) / len(LAYOUTS)

# Renames one prepared file after the other over the chunk, until its input ends.
WRITER = """
import itertools, os, shutil, sys, threading
chunk, *states = sys.argv[1:]
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0))).start()
for count in itertools.count():
    for state in states:
        shutil.copyfile(state, chunk + ".new")
        os.replace(chunk + ".new", chunk)
    if count == 0:
        print("running", flush=True)
"""


def make_states():
    """Of a chunk; each has other absent inner chunks, and all have different sizes."""
    random = np.random.default_rng(14)
    states = []
    for number in range(6):
        state = random.integers(0, 2 ** (2 * number + 1), SHAPE).astype("u2") + number
        for y, x in itertools.product(range(0, 64, 16), repeat=2):
            if random.random() < 0.2:
                state[y : y + 16, x : x + 16] = 0
        states.append(state)
    return states


def write_state(path, codecs, state):
    new = path.with_name(path.name + ".new")
    new.write_bytes(encode(state, codecs, 0))
    return new.replace(path)


@pytest.mark.parametrize("codecs", LAYOUTS.values(), ids=LAYOUTS)
def test_readers_beside_a_writer(tmp_path, codecs):
    """One read sees a single state of a chunk or an error, and never a mixture."""
    states = make_states()
    write_array(tmp_path / "a", states[0], SHAPE, codecs)
    files = [write_state(tmp_path / f"state{i}", codecs, s) for i, s in enumerate(states)]
    array = open_array(tmp_path / "a")
    windows = [np.s_[0:64, 0:64], np.s_[8:40, 8:24], np.s_[15:17, 0:64]]
    seen, errors, reads = set(), 0, 0
    with subprocess.Popen([sys.executable, "-c", WRITER, tmp_path / "a/c/0/0", *files],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        writer.stdout.readline()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            for window in windows:
                reads += 1
                try:
                    got = array.ReadAsArray([s.start for s in window],
                                            [s.stop - s.start for s in window])
                except RuntimeError as error:
                    assert "another program replaced the value" in str(error)
                    errors += 1
                    continue
                (number,) = [i for i, s in enumerate(states) if np.array_equal(s[window], got)]
                seen.add(number)
        writer.stdin.close()
    assert len(seen) > 1 and errors < reads / 10


@pytest.mark.parametrize("codecs", LAYOUTS.values(), ids=LAYOUTS)
def test_an_open_handle_sees_what_is_replaced(tmp_path, codecs):
    states = make_states()
    write_array(tmp_path / "a", states[0], SHAPE, codecs)
    array = open_array(tmp_path / "a")
    for state in [*states, *states]:
        write_state(tmp_path / "a/c/0/0", codecs, state)
        np.testing.assert_array_equal(array.ReadAsArray([3, 3], [2, 2]), state[3:5, 3:5])
        np.testing.assert_array_equal(array.ReadAsArray(), state)
    os.remove(tmp_path / "a/c/0/0")
    assert not array.ReadAsArray().any()


@each_value("codecs")
@pytest.mark.parametrize("before, after", [(4, 1), (2, 3)])
@pytest.mark.parametrize("codecs", LAYOUTS.values(), ids=LAYOUTS)
def test_a_value_on_a_web_server(tmp_path, monkeypatch, codecs, before, after):
    """Replaced by a smaller or larger one between two requests of one read; and what an open handle
    sees after FlushCache."""
    states = make_states()
    chunk = tmp_path / "a/c/0/0"
    write_array(tmp_path / "a", states[0], SHAPE, codecs)
    with serve(tmp_path, monkeypatch) as server:
        name = f'ZARR:"/vsicurl/{server.url}/a"'
        dataset = gdal.OpenEx(name, gdal.OF_MULTIDIM_RASTER)
        group = dataset.GetRootGroup()
        array = group.OpenMDArray(group.GetMDArrayNames()[0])
        array.ReadAsArray([0, 0], [2, 2])  # from here on, an index or a chunk is cached

        write_state(chunk, codecs, states[before])
        dataset.FlushCache()
        replaced, once = threading.Event(), threading.Lock()

        def replace(path):
            with once:  # the server answers requests in parallel
                if path.endswith("/c/0/0") and not replaced.is_set():
                    write_state(chunk, codecs, states[after])
                    replaced.set()

        server.after_answer = replace
        got = array.ReadAsArray([48, 0], [16, 64])  # of the larger value, behind the smaller one
        assert replaced.wait(10)
        assert any(np.array_equal(got, states[i][48:]) for i in (before, after))
        dataset.FlushCache()
        np.testing.assert_array_equal(array.ReadAsArray(), states[after])

        raster = gdal.Open(name)
        np.testing.assert_array_equal(raster.ReadAsArray(), states[after])
        write_state(chunk, codecs, states[5])
        raster.FlushCache()
        np.testing.assert_array_equal(raster.ReadAsArray(), states[5])


def test_absent_chunks_on_a_web_server_that_come(tmp_path, monkeypatch):
    write_array(tmp_path / "a", np.zeros(SHAPE, "u2"), SHAPE)
    with serve(tmp_path, monkeypatch) as server:
        raster = gdal.Open(f'ZARR:"/vsicurl/{server.url}/a"')
        assert not raster.ReadAsArray().any()
        write_array(tmp_path / "a", np.ones(SHAPE, "u2"), SHAPE)
        raster.FlushCache()
        assert raster.ReadAsArray().all()
