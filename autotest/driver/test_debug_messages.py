"""CPL_DEBUG=ZARR says what each read took, and what all reads of a dataset did; GDAL's statistics
of the network count what the driver requests.
"""
import json
import os
import re
import subprocess
import sys
import time

import numpy as np
import pytest
import webserver
from stores import BYTES, sharding, write_array, write_group
from webserver import HTTP_OPTIONS, serve

DATA = np.arange(64 * 64, dtype="<u2").reshape(64, 64)
DATA[32:, 32:] = 0
CHUNK = 8 * 8 * 2  # bytes


@pytest.fixture
def root(tmp_path):
    write_group(tmp_path / "x.zarr")
    write_array(tmp_path / "x.zarr" / "a", DATA, (8, 8), [BYTES])
    write_array(tmp_path / "x.zarr" / "b", DATA, (64, 64), [sharding((8, 8))])
    for file in (tmp_path / "x.zarr" / "a").glob("c/[4567]/[4567]"):
        file.unlink()  # chunks of the fill value
    return tmp_path


@pytest.fixture
def server(root, monkeypatch):
    for name, value in HTTP_OPTIONS.items():
        monkeypatch.setenv(name, value)
    with serve(root, monkeypatch) as server:
        yield server


NUMBER = r"(\d+(?:\.\d+)?)"
STAGES = (rf"chunks: {NUMBER} fetched, {NUMBER} decoded, {NUMBER} from the cache, "
          rf"{NUMBER} missing; "
          rf"seconds of all threads: {NUMBER} fetching, {NUMBER} decoding")
REQUESTS = rf"(?:; requests: {NUMBER} in {NUMBER} round trips, {NUMBER} bytes)?"
READ = re.compile(rf"ZARR: (read .*) in {NUMBER} s; {STAGES}{REQUESTS}$")
CLOSING = re.compile(
    rf"ZARR: closing (.*): {NUMBER} reads; {STAGES}{REQUESTS}; open for {NUMBER} s$")


class Message:
    def __init__(self, match):
        self.what, *numbers = match.groups()
        self.numbers = [float(number or "nan") for number in numbers]
        (self.seconds_or_reads, self.fetched, self.decoded, self.cached, self.missing,
         self.fetching, self.decoding, self.requests, self.round_trips, self.bytes) = \
            self.numbers[:10]

    def chunks(self):
        return self.fetched, self.decoded, self.cached, self.missing


def messages_of(path, array, *windows, **options):
    """Opens an array and reads windows of it: a message for each, and that for closing."""
    code = ("import sys, json; from osgeo import gdal; gdal.UseExceptions();"
            "path, array, windows = json.loads(sys.argv[1]);"
            "dataset = gdal.OpenEx(f'ZARR:\"{path}\"', gdal.OF_MULTIDIM_RASTER);"
            "a = dataset.GetRootGroup().OpenMDArray(array);"
            "[a.ReadAsArray(*window) for window in windows]; del a, dataset")
    result = subprocess.run([sys.executable, "-c", code, json.dumps([str(path), array, windows])],
                            env=os.environ | {"CPL_DEBUG": "ZARR", **options},
                            capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    lines = [line for line in result.stderr.splitlines() if line.startswith("ZARR")]
    if not lines:
        return [], None, result.stderr
    *reads, closing = (line for line in lines if PROPOSAL not in line)
    return ([Message(READ.match(line)) for line in reads], Message(CLOSING.match(closing)),
            result.stderr)


WINDOW = [0, 0], [16, 32]  # 2 x 4 chunks
PART = [1, 1], [10, 4]  # parts of two chunks
SPARSE = [24, 32], [16, 8]  # a chunk, and a missing one


def test_local(root):
    (window, part, again, sparse), closing, _ = messages_of(
        root / "x.zarr", "a", WINDOW, PART, PART, SPARSE)
    assert window.what == "read /a [0+16, 0+32]"
    assert window.chunks() == (8, 8, 0, 0)
    assert part.chunks() in {(2, 2, 0, 0), (2, 0, 0, 0)}
    assert again.fetched + again.cached == 2
    assert sparse.missing == 1
    assert np.isnan(window.requests)  # only requests to networks are counted
    assert closing.what == str(root / "x.zarr")
    assert closing.seconds_or_reads == 4
    reads = window, part, again, sparse
    assert closing.chunks() == tuple(map(sum, zip(*(read.chunks() for read in reads))))


def test_requests(server):
    (window, sparse), closing, _ = messages_of(
        f"/vsicurl/{server.url}/x.zarr", "a", WINDOW, SPARSE)
    assert (window.requests, window.bytes) == (8, 8 * CHUNK)
    assert window.chunks() == (8, 8, 0, 0)
    assert 1 <= window.round_trips <= 8
    assert (sparse.requests, sparse.bytes, sparse.missing) == (2, CHUNK, 1)
    asked = [path for path, _ in server.requests if path.startswith("/x.zarr/")]
    assert closing.requests == len(asked)


def test_shards(server):
    (first, second), _, _ = messages_of(f"/vsicurl/{server.url}/x.zarr", "b", WINDOW, PART)
    assert first.fetched == first.decoded == 8
    assert first.requests >= 2  # the index, and chunks together
    assert second.fetched + second.cached == 2


class Slow(webserver.Handler):
    def do_GET(self):
        time.sleep(0.1)
        super().do_GET()


@pytest.mark.parametrize("limit", [1, 8])
def test_round_trips(server, limit):
    """Requests that run together are one round trip."""
    server.RequestHandlerClass = Slow
    (window,), _, _ = messages_of(f"/vsicurl/{server.url}/x.zarr", "a", WINDOW,
                                  ZARR_PARALLEL_REQUESTS=str(limit), GDAL_NUM_THREADS="1")
    assert window.requests == 8
    assert window.round_trips == 8 if limit == 1 else window.round_trips < 8


def test_retries_count(server):
    failures = []

    def fault(path):
        if path.endswith("a/c/0/0") and not failures:
            failures.append(path)
            return 503
        return None

    server.fault = fault
    (window,), _, _ = messages_of(f"/vsicurl/{server.url}/x.zarr", "a", WINDOW,
                                  GDAL_HTTP_MAX_RETRY="2", GDAL_HTTP_RETRY_DELAY="0.01")
    assert window.requests == 9


def test_no_secrets(server):
    reads, closing, text = messages_of(
        f"/vsicurl/{server.url.replace('//', '//me:Secret@')}/x.zarr?sig=Secret", "a", WINDOW)
    assert len(reads) == 1
    assert closing.what.endswith(f"***@127.0.0.1:{server.server_port}/x.zarr?sig=***")
    assert "Secret" not in text


@pytest.mark.parametrize("value", ["OFF", "OTHER"])
def test_without_debugging(server, value):
    assert messages_of(f"/vsicurl/{server.url}/x.zarr", "a", WINDOW, CPL_DEBUG=value)[0] == []


PROPOSAL = "CACHE_TILE_PRESENCE=YES"


@pytest.mark.parametrize("present, reads, proposes", [
    (0.4, [144], True), (0.6, [144], False), (0.4, [90], False), (0.4, [72, 36, 36], True)])
def test_proposal_to_list_chunks(server, present, reads, proposes):
    """Once, when at least 100 requests were made, and more than half for missing chunks."""
    write_array(server.root / "x.zarr" / "s", np.ones(144, "u1"), (1,), [BYTES])
    for i in range(144):
        if i % 10 >= 10 * present:
            (server.root / f"x.zarr/s/c/{i}").unlink()
    windows = [([sum(reads[:i])], [count]) for i, count in enumerate(reads)]
    _, _, text = messages_of(f"/vsicurl/{server.url}/x.zarr", "s", *windows)
    assert text.count(PROPOSAL) == proposes
    if proposes:
        found = re.search(r"x\.zarr: (\d+) of (\d+) requests were for missing chunks", text)
        missing, requests = map(int, found.groups())
        assert requests >= 100 and requests / 2 < missing < requests


def test_no_proposal_for_local_stores(root):
    write_array(root / "x.zarr" / "s", np.zeros(200, "u1"), (1,), [BYTES])
    (read,), _, text = messages_of(root / "x.zarr", "s", ([0], [200]))
    assert read.missing == 200 and PROPOSAL not in text


def test_reading_in_advance(root):
    code = ("from osgeo import gdal; gdal.UseExceptions(); import sys;"
            "d = gdal.OpenEx(sys.argv[1], gdal.OF_MULTIDIM_RASTER);"
            "a = d.GetRootGroup().OpenMDArray('a'); a.AdviseRead([0, 0], [16, 16]);"
            "a.ReadAsArray([0, 0], [16, 16])")
    text = subprocess.run([sys.executable, "-c", code, root / "x.zarr"], capture_output=True,
                          text=True, env=os.environ | {"CPL_DEBUG": "ZARR"}, check=True).stderr
    advised, read = (Message(READ.match(line)) for line in text.splitlines()
                     if line.startswith("ZARR: read"))
    assert advised.what == "read in advance /a [0+16, 0+16]"
    assert advised.chunks() == (4, 4, 0, 0)
    assert read.chunks() == (0, 0, 4, 0)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_large_image_is_not_loaded_in_advance(root, threads):
    """By one thread neither, which would decode it no earlier than the program reads it."""
    write_array(root / "x.zarr" / "large", np.ones((4096, 4096), "u2"), (512, 512), [BYTES])
    code = ("from osgeo import gdal; gdal.UseExceptions(); import sys;"
            "d = gdal.Open(f'ZARR:\"{sys.argv[1]}\":/large'); d.AdviseRead(0, 0, 4096, 4096);"
            "d.ReadAsArray(0, 0, 512, 512)")
    environment = os.environ | {"CPL_DEBUG": "ZARR", "GDAL_NUM_THREADS": str(threads)}
    text = subprocess.run([sys.executable, "-c", code, root / "x.zarr"], capture_output=True,
                          text=True, env=environment, check=True).stderr
    messages = [Message(READ.match(line)) for line in text.splitlines()
                if line.startswith("ZARR: read")]
    assert [message.what.split(" /")[0] for message in messages] == ["read"]


def test_statistics_of_gdal(root, monkeypatch):
    """GDAL counts the requests of its own file systems alone, so all go through them."""
    code = ("from osgeo import gdal; import sys; gdal.UseExceptions();"
            "d = gdal.OpenEx(sys.argv[1], gdal.OF_MULTIDIM_RASTER);"
            "d.GetRootGroup().OpenMDArray('a').ReadAsArray([0, 0], [16, 32]);"
            "print(gdal.NetworkStatsGetAsSerializedJSON())")
    with serve(root, monkeypatch) as server:
        environment = os.environ | HTTP_OPTIONS | {"CPL_VSIL_NETWORK_STATS_ENABLED": "YES"}
        text = subprocess.run([sys.executable, "-c", code, f'ZARR:"/vsicurl/{server.url}/x.zarr"'],
                              capture_output=True, text=True, env=environment, check=True).stdout
        counts = json.loads(text)["methods"]
        counted = sum(counts[method]["count"] for method in counts)
        assert counted == len(server.requests)
        assert counts["GET"]["downloaded_bytes"] >= 8 * CHUNK
