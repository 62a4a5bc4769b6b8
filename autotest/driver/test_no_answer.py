"""Nothing waits forever: pipes, sockets and devices in place of files, and servers that never
answer, are errors that name them, immediately or after a configurable time."""
import json
import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
import webserver
from multidim import create, create_array
from night import each_value
from osgeo import gdal

ARRAY = {
    "zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "|u1", "compressor": None,
    "filters": None, "order": "C", "fill_value": 0,
}
READ = """
import sys
from osgeo import gdal
gdal.UseExceptions()
try:
    root = gdal.OpenEx(sys.argv[1], gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    root.OpenMDArray("v").Read()
except RuntimeError as error:
    sys.exit(str(error))
print("read")
"""


def error_of(name, seconds=15, **options):
    """The error of reading the array "v", by a process that is limited to this time. Its standard
    input is a pipe that nobody writes to."""
    process = subprocess.Popen([sys.executable, "-c", READ, str(name)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=os.environ | {"no_proxy": "127.0.0.1"} | options)
    try:
        assert process.wait(seconds) == 1
        return process.stderr.read()
    finally:
        process.kill()
        process.communicate()


def make_pipe(path):
    os.mkfifo(path)
    return path


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
    return path


def make_link_to_device(path):
    path.symlink_to("/dev/zero")
    return path


def make_folder(path):
    path.mkdir()
    return path


MAKERS = {
    "pipe": make_pipe, "socket": make_socket, "link to a device": make_link_to_device,
    "folder": make_folder,
}


def write_references(path, chunk):
    path.write_text(json.dumps({
        ".zgroup": '{"zarr_format": 2}', "v/.zarray": json.dumps(ARRAY), "v/0": chunk}))
    return path


@each_value()
@pytest.mark.parametrize("length", [[], [0, 4]], ids=["whole", "part"])
@pytest.mark.parametrize("kind", MAKERS)
def test_targets_of_references(tmp_path, monkeypatch, kind, length):
    monkeypatch.chdir(tmp_path)  # the path of a socket has to be short
    target = MAKERS[kind](tmp_path / "target")
    name = write_references(tmp_path / "a.json", [str(target), *length])
    error = error_of(name)
    assert f"{target}: it is a" in error and "file" in error


@pytest.mark.parametrize("target", [
    "/dev/zero", "/dev/stdin", "/vsistdin/", "/vsistdin?buffer_limit=10", "/vsigzip//dev/zero",
    "/vsisubfile/0_4,/dev/zero", "/vsizip//dev/zero/a", "/vsizip/{/dev/zero}/a", "file:///dev/zero"])
def test_devices(tmp_path, target):
    error = error_of(write_references(tmp_path / "a.json", [target]))
    assert target.removeprefix("file://") in error and "file" in error


@each_value()
@pytest.mark.parametrize("kind", ["pipe", "socket", "link to a device"])
@pytest.mark.parametrize("name", [
    'ZARR:"{}"', "/vsikerchunk_json_ref/{{{}}}", 'ZARR:"/vsikerchunk_json_ref/{{{}}}"'])
def test_documents_of_references(tmp_path, kind, name):
    document = MAKERS[kind](tmp_path / "a.json")
    assert str(document) in error_of(name.format(document))


@each_value()
@pytest.mark.parametrize("kind", ["pipe", "socket", "link to a device"])
@pytest.mark.parametrize("document", ["zarr.json", ".zgroup", "v/.zarray", "v/0"])
def test_documents_of_stores(tmp_path, kind, document):
    (tmp_path / "v").mkdir()
    if document != "zarr.json":
        (tmp_path / ".zgroup").write_text('{"zarr_format": 2}')
        (tmp_path / "v/.zarray").write_text(json.dumps(ARRAY))
    (tmp_path / document).unlink(missing_ok=True)
    MAKERS[kind](tmp_path / document)
    assert str(tmp_path) in error_of(f'ZARR:"{tmp_path}"')


@contextmanager
def silent_server():
    """Accepts connections and never answers. Returns its address."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@each_value()
@pytest.mark.parametrize("options", [
    {"GDAL_HTTP_TIMEOUT": "1"},
    {"GDAL_HTTP_LOW_SPEED_TIME": "1", "GDAL_HTTP_LOW_SPEED_LIMIT": "1"},
    {"GDAL_HTTP_LOW_SPEED_TIME": "1"},
], ids=" ".join)
@pytest.mark.parametrize("name", ["ZARR:\"/vsicurl/{}/a.zarr\"", "ZARR:\"/vsicurl?url={}/a.zarr\""])
def test_a_server_that_never_answers(options, name):
    with silent_server() as url:
        start = time.monotonic()
        error = error_of(name.format(url), seconds=30, **options)
        assert time.monotonic() - start < 15
    assert "Zarr" in error or "a.zarr" in error


def test_a_target_on_a_server_that_never_answers(tmp_path):
    with silent_server() as url:
        name = write_references(tmp_path / "a.json", [url + "/target", 0, 4])
        assert "/target" in error_of(name, seconds=30, GDAL_HTTP_LOW_SPEED_TIME="1")


WALK = """
import ctypes, os, sys, time
from osgeo import gdal
gdal.UseExceptions()
dataset = gdal.Open(sys.argv[1])
for y in range(0, 6 * 64, 64):
    dataset.ReadAsArray(0, y, 64, 64)
for i in range(1000):
    if os.path.exists(sys.argv[2]): break
    time.sleep(0.01)
"""
ENDS = {
    "close": "del dataset",
    "fork": "child = os.fork()\nif child == 0: os._exit(0)\nos.waitpid(child, 0)\ndel dataset",
    "destroy": "ctypes.CDLL(gdal._gdal.__file__).GDALDestroyDriverManager(); os._exit(0)",
    "exit": "",
}


@each_value()
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("share", ["YES", "NO"])
def test_what_was_prefetched_on_suspicion_is_not_waited_for(tmp_path, monkeypatch, end, share):
    """The server never answers for the chunks that the program has not read. Through connections
    that are not shared, nothing is prefetched."""
    root = create(tmp_path / "a.zarr").GetRootGroup()
    create_array(root, "a", (32 * 64, 64), gdal.GDT_Byte, "BLOCKSIZE=64,64").Write(
        np.ones((32 * 64, 64), "u1"))
    del root
    asked, silence = tmp_path / "asked", threading.Event()
    if share == "NO":  # The program does not wait for what is not asked for.
        end = "time.sleep(0.2)\n" + end

    def wait(path):
        name = path.rsplit("/", 1)[-1].split(".")[0]
        if name.isdigit() and int(name) > 5:
            asked.touch()
            silence.wait()

    with webserver.serve(tmp_path, monkeypatch) as server:
        server.fault = wait
        path = f'ZARR:"/vsicurl/{server.url}/a.zarr":/a'
        options = {"GDAL_NUM_THREADS": "4", "GDAL_HTTP_LOW_SPEED_TIME": "600",
                   "GDAL_HTTP_TIMEOUT": "600", "ZARR_SHARE_CONNECTIONS": share}
        try:
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", WALK + end, path,
                 asked if share == "YES" else tmp_path], timeout=60, check=False,
                env=os.environ | options, capture_output=True, text=True)
        finally:
            silence.set()
    assert (done.returncode, done.stderr) == (0, "")
    assert asked.exists() == (share == "YES")
