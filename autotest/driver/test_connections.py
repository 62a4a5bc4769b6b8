"""Connections to web servers are kept, and shared by threads and datasets; with HTTP/2, requests
run together on one. Connections are counted at the server.
"""
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import tls_server
from night import each_value, rounds
from osgeo import gdal
from stores import BYTES, sharding, write_array, write_group
from test_forks import in_child
from tls_server import KeepAlive, make_certificate, serve_tls

DATA = np.arange(64 * 64, dtype="<u2").reshape(64, 64)
REQUESTS = 16  # at the same time, by default
ROUNDS = int(os.environ.get("ZARR_FAULT_ROUNDS", rounds(1, 50)))


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A folder with stores: `a` has 64 chunks, and so has the shard of `b`."""
    root = tmp_path_factory.mktemp("stores")
    write_group(root / "x.zarr")
    write_array(root / "x.zarr" / "a", DATA, (8, 8), [BYTES])
    write_array(root / "x.zarr" / "b", DATA, (64, 64), [sharding((8, 8))])
    return root


@pytest.fixture
def options(certificate):
    options = {"GDAL_CURL_CA_BUNDLE": str(certificate[1]), "GDAL_HTTP_PROXY": "",
               "GDAL_HTTP_TIMEOUT": "20", "GDAL_DISABLE_READDIR_ON_OPEN": "EMPTY_DIR"}
    environment = {"no_proxy": os.environ.get("no_proxy")}
    os.environ["no_proxy"] = "127.0.0.1"
    for name, value in options.items():
        gdal.SetConfigOption(name, value)
    yield options
    for name in options:
        gdal.SetConfigOption(name, None)
    os.environ.pop("no_proxy")
    if environment["no_proxy"] is not None:
        os.environ.update(environment)


def serve_http2(root, certificate):
    if shutil.which("node") is None:
        pytest.skip("Node.js is not installed")
    return tls_server.serve_http2(root, *certificate)


@pytest.fixture
def tls(root, certificate, options):
    with serve_tls(root, *certificate) as server:
        yield server


@pytest.fixture
def http2(root, certificate, options):
    with serve_http2(root, certificate) as server:
        yield server


def open_array(server, name="a"):
    dataset = gdal.OpenEx(f'ZARR:"/vsicurl/{server.url}/x.zarr"', gdal.OF_MULTIDIM_RASTER)
    return dataset.GetRootGroup().OpenMDArray(name)


def assert_reads(server, name="a"):
    np.testing.assert_array_equal(open_array(server, name).ReadAsArray(), DATA)


def test_http1_connections_are_kept(tls):
    array = open_array(tls)
    opening = len(tls.connections)  # for documents that are requested at once
    assert 1 <= opening <= 4
    np.testing.assert_array_equal(array.ReadAsArray([0, 0], [8, 64]), DATA[:8])
    assert max(opening, 2) <= len(tls.connections) <= 8
    np.testing.assert_array_equal(array.ReadAsArray(), DATA)
    count = len(tls.connections)
    assert count <= REQUESTS
    # Another dataset, another array, and a dataset after all others are closed.
    assert_reads(tls, "b")
    del array
    assert_reads(tls)
    assert len(tls.connections) <= REQUESTS
    assert len(tls.requests) > 3 * count


def wait_for_connections(server, count):
    """They are opened while the program runs on."""
    deadline = time.monotonic() + 20
    while server.accepted < count and time.monotonic() < deadline:
        time.sleep(0.01)
    return server.accepted


def test_http1_connections_are_opened_early(tls):
    """As many as are used at once, before they are needed; reading opens no others."""
    array = open_array(tls)
    assert wait_for_connections(tls, REQUESTS) == REQUESTS
    assert len(tls.connections) < REQUESTS
    np.testing.assert_array_equal(array.ReadAsArray(), DATA)
    assert len(tls.connections) <= tls.accepted == REQUESTS


@pytest.mark.parametrize("name, value, most", [
    ("ZARR_PARALLEL_REQUESTS", "3", 3), ("GDAL_HTTP_MAX_TOTAL_CONNECTIONS", "3", 3),
    ("GDAL_HTTP_MAX_CACHED_CONNECTIONS", "3", 3), ("ZARR_SHARE_CONNECTIONS", "NO", 2)])
def test_limits_of_early_connections(tls, name, value, most):
    gdal.SetConfigOption(name, value)
    try:
        array = open_array(tls)
        assert wait_for_connections(tls, most) == most
        # A sequence of requests, after which no others can still be on their way.
        for _ in range(20):
            array.ReadAsArray([0, 0], [1, 1])
        assert tls.accepted == most
    finally:
        gdal.SetConfigOption(name, None)


def test_early_connections_that_the_server_closes(tls):
    """They are not used."""
    array = open_array(tls)
    assert wait_for_connections(tls, REQUESTS) == REQUESTS
    for connection in list(tls.waiting):
        connection.shutdown(socket.SHUT_RDWR)
    np.testing.assert_array_equal(array.ReadAsArray(), DATA)


def test_http2_requests_share_a_connection(http2):
    assert_reads(http2)
    assert_reads(http2, "b")
    counts = http2.counts()
    assert 1 <= counts["connections"] <= 2
    assert counts["streams"] > 64
    # None is opened early: the last one is that of http2.counts().
    assert counts["accepted"] == counts["connections"] + 1


def test_http2_shares_connections_among_threads(http2):
    """As many datasets as threads, none of which has connected before. Until it is known that
    requests run together, two connections are opened."""
    with ThreadPoolExecutor(8) as pool:
        assert len(list(pool.map(lambda _: assert_reads(http2), range(8)))) == 8
    counts = http2.counts()
    assert 1 <= counts["connections"] <= 2
    assert counts["streams"] > 8 * 64


def test_http2_connections_that_the_server_closes(http2):
    """Node.js closes a connection after about a thousand requests, with those that run on it."""
    with ThreadPoolExecutor(8) as pool:
        for _ in range(4):
            assert len(list(pool.map(lambda _: assert_reads(http2), range(8)))) == 8
    counts = http2.counts()
    assert 1 < counts["connections"] < counts["streams"] / 10


def test_error_of_a_server_that_went(root, certificate, options):
    """Not that of a connection which the server closed earlier."""
    with serve_http2(root, certificate) as server:
        array = open_array(server)
    time.sleep(1.2)  # libcurl looks at its connections once in a second
    with pytest.raises(RuntimeError, match="a/c/0/0: .*onnect to .*server"):
        array.ReadAsArray([0, 0], [8, 8])


@pytest.mark.parametrize("name, value", [
    ("GDAL_HTTP_MULTIPLEX", "NO"), ("ZARR_SHARE_CONNECTIONS", "NO"),
    ("GDAL_HTTP_VERSION", "1.1")])
@pytest.mark.parametrize("for_path", [False, True])
def test_http2_options(http2, name, value, for_path):
    path = f"/vsicurl/{http2.url}/"

    def set_option(value):
        if for_path:
            gdal.SetPathSpecificOption(path, name, value)
        else:
            gdal.SetConfigOption(name, value)

    set_option(value)
    try:
        assert_reads(http2)
    finally:
        set_option(None)
    connections = http2.counts()["connections"]
    assert connections == 0 if name == "GDAL_HTTP_VERSION" else connections > 1


def test_folder_of_certificates(tls, tmp_path):
    """The certificate is not in the file, but in the folder."""
    shutil.copy(gdal.GetConfigOption("GDAL_CURL_CA_BUNDLE"), tmp_path / "a.pem")
    subprocess.run(["openssl", "rehash", tmp_path], check=True)
    (tmp_path / "other").mkdir()
    _, other = make_certificate(tmp_path / "other")
    gdal.SetConfigOption("GDAL_CURL_CA_BUNDLE", str(other))
    with pytest.raises(RuntimeError, match="certificate|SSL"):
        assert_reads(tls)
    gdal.SetConfigOption("GDAL_HTTP_CAPATH", str(tmp_path))
    try:
        assert_reads(tls)
    finally:
        gdal.SetConfigOption("GDAL_HTTP_CAPATH", None)


def open_files():
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(sys.platform != "linux", reason="counts files as Linux lists them")
def test_datasets_leave_nothing_open(tls):
    assert_reads(tls)
    threads, files = threading.active_count(), open_files()
    for _ in range(20):
        assert_reads(tls)
    # Of each connection, the server in this process has the other end.
    assert open_files() <= files + 2 * REQUESTS
    assert threading.active_count() <= threads + REQUESTS


# Processes that fork or end.

def run(function, server, options):
    code = (f"import test_connections as t; from types import SimpleNamespace as N;"
            f"t.prepare(); t.{function.__name__}(N(url={server.url!r}))")
    result = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parent,
                            env=os.environ | options, capture_output=True, text=True, timeout=100)
    assert result.returncode == 0, result.stderr[-3000:]
    assert "finished" in result.stdout


def prepare():
    gdal.UseExceptions()


def read(server):
    assert_reads(server)
    print("finished")


def test_limit_of_connections(tls, options):
    run(read, tls, options | {"GDAL_HTTP_MAX_TOTAL_CONNECTIONS": "2"})
    assert 1 <= len(tls.connections) <= 2


class ClosingHandler(KeepAlive):
    """Closes connections after each tenth request without saying so."""

    def do_GET(self):
        self.count = getattr(self, "count", 0) + 1
        if self.count > 10:
            self.close_connection = True
            return
        super().do_GET()


def test_connections_that_a_server_closes(tls):
    tls.RequestHandlerClass = ClosingHandler
    array = open_array(tls)
    for _ in range(4):
        np.testing.assert_array_equal(array.ReadAsArray(), DATA)
        gdal.VSICurlClearCache()
        array = open_array(tls)
    assert len(tls.requests) > 4 * 64


def read_in_child(server):
    """The child has neither the thread nor the connections of the parent."""
    array = open_array(server)
    array.ReadAsArray([0, 0], [8, 8])

    def body():
        np.testing.assert_array_equal(array.ReadAsArray(), DATA)
        assert_reads(server, "b")

    in_child(body)
    body()
    in_child(lambda: in_child(body))
    body()
    print("finished")


def end_with_an_open_dataset(server):
    """All objects outlive Python's."""
    import builtins

    builtins.kept = open_array(server)
    builtins.kept.ReadAsArray()
    print("finished")


def end_after_the_drivers(server):
    """The connections are closed with the driver; other drivers continue."""
    from ctypes import CDLL

    assert_reads(server)
    count = len(os.listdir("/proc/self/task"))
    library = next(line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines()
                   if "libgdal.so" in line)
    CDLL(library).GDALDestroyDriverManager()
    assert len(os.listdir("/proc/self/task")) < count
    print("finished")
    sys.stdout.flush()
    os._exit(0)


def end_while_others_read(server):
    """Threads that read when the program ends do not make it crash. They read through rasterio:
    Python ends threads in the middle of GDAL's own bindings, which then abort with any driver."""
    for _ in range(2):
        threading.Thread(target=read_for_ever, args=(server,), daemon=True).start()
    assert_reads(server)
    print("finished")


def read_for_ever(server):
    import rasterio

    while True:
        with rasterio.open(f'ZARR:"/vsicurl/{server.url}/x.zarr":/a') as dataset:
            dataset.read()


@pytest.mark.parametrize("share", ["YES", "NO"])
def test_programs_that_end_while_their_threads_read(tls, options, share):
    for _ in range(ROUNDS):
        run(end_while_others_read, tls, options | {"ZARR_SHARE_CONNECTIONS": share})


@each_value()
@pytest.mark.parametrize("protocol", ["tls", "http2"])
@pytest.mark.parametrize("scenario", [
    read_in_child, end_with_an_open_dataset, end_after_the_drivers, end_while_others_read])
def test_process(scenario, protocol, request, options):
    run(scenario, request.getfixturevalue(protocol), options)
