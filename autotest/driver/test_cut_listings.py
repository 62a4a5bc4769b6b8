"""A listing of an object store that the server does not send to its end must not look complete."""
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from osgeo import gdal
from stores import BYTES, write_array, write_group
from webserver import running

DATA = np.arange(64, dtype="<i2").reshape(8, 8) + 1
PAGE = 2  # names of a page


class Bucket(BaseHTTPRequestHandler):
    """The bucket `bucket`, of files. Of each listing, `whole_pages` are sent; the next has
    `fault` instead, as (status, body), or None for no answer."""
    protocol_version = "HTTP/1.1"

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        self.server.requests.append(self.path)
        if "prefix" in query or url.path.rstrip("/") == "/bucket":
            self.list(query)
            return
        file = self.server.root / url.path.removeprefix("/bucket/")
        self.send(200 if file.is_file() else 404, file.read_bytes() if file.is_file() else b"")

    def list(self, query):
        prefix = query.get("prefix", "")
        folder = self.server.root / prefix
        names = sorted(folder.iterdir()) if folder.is_dir() else []
        names = [prefix + path.name + "/" * path.is_dir() for path in names]
        start = int(query.get("marker", query.get("continuation-token", 0)))
        if start // PAGE >= self.server.whole_pages:
            if self.server.fault is None:
                self.close_connection = True
            else:
                self.send(*self.server.fault)
            return
        more = start + PAGE < len(names)
        after = "".join(f"<{name}>{start + PAGE}</{name}>"
                        for name in ("NextMarker", "NextContinuationToken"))
        found = "".join(
            f"<CommonPrefixes><Prefix>{name}</Prefix></CommonPrefixes>" if name.endswith("/") else
            f"<Contents><Key>{name}</Key><LastModified>2020-01-01T00:00:00.000Z</LastModified>"
            f"<Size>1</Size></Contents>" for name in names[start : start + PAGE])
        self.send(200, (
            '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult>'
            f"<Name>bucket</Name><Prefix>{prefix}</Prefix><MaxKeys>{PAGE}</MaxKeys>"
            f"<Delimiter>/</Delimiter><IsTruncated>{'true' if more else 'false'}</IsTruncated>"
            f"{after if more else ''}{found}</ListBucketResult>").encode())

    def send(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_):
        pass


ERROR = (b'<?xml version="1.0"?>'
         b"<Error><Code>InternalError</Code><Message>Try again</Message></Error>")


@pytest.fixture
def bucket(tmp_path, monkeypatch):
    """With the store x.zarr, whose arrays are a1 to a5."""
    write_group(tmp_path / "x.zarr")
    for number in range(1, 6):
        write_array(tmp_path / f"x.zarr/a{number}", DATA, (2, 8), [BYTES])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Bucket)
    server.daemon_threads = True
    server.root, server.requests, server.whole_pages, server.fault = tmp_path, [], 100, None
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    values = {"AWS_ACCESS_KEY_ID": "K", "AWS_SECRET_ACCESS_KEY": "S", "AWS_HTTPS": "NO",
              "AWS_S3_ENDPOINT": f"127.0.0.1:{server.server_port}", "AWS_VIRTUAL_HOSTING": "FALSE",
              "CPL_AWS_CREDENTIALS_FILE": str(tmp_path / "none"), "GDAL_HTTP_PROXY": "",
              "AWS_CONFIG_FILE": str(tmp_path / "none"), "GDAL_HTTP_MAX_RETRY": "0"}
    for name, value in values.items():
        gdal.SetConfigOption(name, value)
    with running(server):
        yield server
    for name in values:
        gdal.SetConfigOption(name, None)
    gdal.VSICurlClearCache()


PATH = 'ZARR:"/vsis3/bucket/x.zarr"'


def names():
    dataset = gdal.OpenEx(PATH, gdal.OF_MULTIDIM_RASTER)
    return dataset.GetRootGroup().GetMDArrayNames()


@pytest.mark.parametrize("debug", [None, "ON", "OFF", "ZARR"])
def test_whole_listing(bucket, debug):
    gdal.SetConfigOption("CPL_DEBUG", debug)
    try:
        assert names() == [f"a{number}" for number in range(1, 6)]
    finally:
        gdal.SetConfigOption("CPL_DEBUG", None)
    assert len([path for path in bucket.requests if "delimiter" in path]) >= 3


@pytest.mark.parametrize("debug", [None, "ON", "OFF", "ZARR"])
@pytest.mark.parametrize("fault", [(500, ERROR), (403, ERROR), (503, b""), None],
                         ids=["500", "403", "503", "no answer"])
@pytest.mark.parametrize("pages", [0, 1, 2])
def test_cut_listing(bucket, pages, fault, debug):
    bucket.whole_pages, bucket.fault = pages, fault
    gdal.SetConfigOption("CPL_DEBUG", debug)
    try:
        with pytest.raises(RuntimeError, match="did not send the listing") as raised:
            names()
    finally:
        gdal.SetConfigOption("CPL_DEBUG", None)
    assert "/vsis3/bucket/x.zarr" in str(raised.value)
    assert (fault is None) or (fault[1] == b"") or ("Try again" in str(raised.value))


def test_chunks_of_a_cut_listing(bucket):
    """None of them is treated as missing: each is requested."""
    bucket.whole_pages = 1
    dataset = gdal.OpenEx(PATH, gdal.OF_MULTIDIM_RASTER, open_options=["CACHE_TILE_PRESENCE=YES"])
    np.testing.assert_array_equal(
        dataset.GetRootGroup().OpenMDArray("a1").ReadAsArray(), DATA)
