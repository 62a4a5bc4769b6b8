"""CACHE_TILE_PRESENCE: half-empty stores cost the chunks that exist, documents and listings."""
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
import webserver
from osgeo import gdal
from stores import BYTES, write_array
from webserver import HTTP_OPTIONS, serve

LENGTH = 16  # chunks along both dimensions, of one element
DATA = np.arange(1, LENGTH * LENGTH + 1, dtype="<u2").reshape(LENGTH, LENGTH)
HALF = np.where(np.indices(DATA.shape).sum(0) % 2, DATA, 0)
HALF[8:] = 0  # folders that do not exist
STORED = np.count_nonzero(HALF)
LISTINGS = 2 + 8  # of the root, "c" and the folders below it

CODE = """
import json, sys
from osgeo import gdal
gdal.UseExceptions()
dataset = gdal.OpenEx(sys.argv[1], gdal.OF_MULTIDIM_RASTER, open_options=sys.argv[2:])
root = dataset.GetRootGroup()
print(root.OpenMDArray(root.GetMDArrayNames()[0]).ReadAsArray().tolist())
print((gdal.NetworkStatsGetAsSerializedJSON() or "{}").replace("\\n", " "))
"""


def read(path, *options, **environment):
    done = subprocess.run([sys.executable, "-c", CODE, path, *options], capture_output=True,
                          text=True, env=os.environ | environment, timeout=120)
    assert done.returncode == 0, done.stderr
    values, statistics = done.stdout.splitlines()
    return np.array(json.loads(values)), json.loads(statistics).get("methods", {})


class Lister(webserver.Handler):
    """Lists folders as web servers do."""

    def do_GET(self):
        if self.command == "GET":  # GDAL sends HEAD for each entry of a listing
            self.server.gets.append(self.path)
        folder = self.server.root / self.path.strip("/")
        if not folder.is_dir():
            super().do_GET()
            return
        if not self.server.lists:
            self.fail(403)
            return
        names = [child.name + "/" * child.is_dir() for child in sorted(folder.iterdir())]
        page = (f"<html><head><title>Index of {self.path}</title></head><body><pre>"
                '<a href="../">../</a>\n')
        page += "".join(f'<a href="{name}">{name}</a>  22-Nov-2025 10:00  2\n' for name in names)
        body = (page + "</pre></body></html>").encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)


@pytest.fixture
def server(tmp_path, monkeypatch):
    write_array(tmp_path / "x.zarr", HALF, (1, 1), [BYTES])
    assert len(list(tmp_path.glob("x.zarr/c/*/*"))) == STORED
    for name, value in HTTP_OPTIONS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GDAL_DISABLE_READDIR_ON_OPEN", "NO")
    with serve(tmp_path, monkeypatch) as server:
        server.RequestHandlerClass = Lister
        server.lists, server.gets = True, []
        yield server


def is_chunk(path):
    return re.search(r"/c/\d+/\d+$", path) is not None


def test_web_server(server):
    values, _ = read(f'ZARR:"/vsicurl/{server.url}/x.zarr"', "CACHE_TILE_PRESENCE=YES")
    np.testing.assert_array_equal(values, HALF)
    assert sum(map(is_chunk, server.gets)) == STORED
    assert len(server.gets) <= STORED + LISTINGS + 2  # documents


def test_server_without_listings(server):
    """Every chunk is requested: none is treated as missing because its folder cannot be listed."""
    server.lists = False
    values, _ = read(f'ZARR:"/vsicurl/{server.url}/x.zarr"', "CACHE_TILE_PRESENCE=YES")
    np.testing.assert_array_equal(values, HALF)
    assert sum(is_chunk(path) for path in server.gets) == DATA.size


@pytest.mark.parametrize("version", [2, 3])
def test_object_store(bucket, version):
    """s3rver does not list folders that hold nothing but folders, as in v3."""
    path = f"{bucket}.zarr"
    dataset = gdal.GetDriverByName("Zarr").Create(
        path, LENGTH, LENGTH, 1, gdal.GDT_UInt16, [f"FORMAT=ZARR_V{version}", "BLOCKSIZE=1,1"])
    dataset.GetRasterBand(1).WriteArray(HALF)
    del dataset
    for key in gdal.ReadDirRecursive(path):
        chunk = re.search(r"/(\d+)\.(\d+)$", key)
        if chunk and HALF[int(chunk[1]), int(chunk[2])] == 0:
            gdal.Unlink(f"{path}/{key}")
    gets = {}
    for option in "YES", "NO":
        values, methods = read(f'ZARR:"{path}"', f"CACHE_TILE_PRESENCE={option}",
                               CPL_VSIL_NETWORK_STATS_ENABLED="YES")
        np.testing.assert_array_equal(values, HALF)
        gets[option] = methods["GET"]["count"]
    assert STORED + 2 <= gets["YES"] <= STORED + 2 + 16  # two listings, and documents
    assert gets["NO"] >= DATA.size
