"""Requests with credentials: signatures and tokens of Google Cloud Storage, and those of Planetary
Computer. A local server looks at what arrives."""
import base64
import hashlib
import hmac
import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from osgeo import gdal
from stores import BYTES, write_array, write_group
from webserver import running, serve

DATA = np.arange(64, dtype="<i2").reshape(8, 8) + 1


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Serves the bucket, or the container, `data`."""
    store = tmp_path / "data" / "x.zarr"
    store.mkdir(parents=True)
    write_group(store)
    write_array(store / "a", DATA, (4, 4), [BYTES])
    with serve(tmp_path, monkeypatch) as server:
        yield server


@contextmanager
def options(**values):
    for name, value in values.items():
        gdal.SetConfigOption(name, value)
    try:
        yield
    finally:
        for name in values:
            gdal.SetConfigOption(name, None)
        gdal.VSICurlClearCache()


def assert_reads(path):
    dataset = gdal.OpenEx(f'ZARR:"{path}"', gdal.OF_MULTIDIM_RASTER)
    np.testing.assert_array_equal(dataset.GetRootGroup().OpenMDArray("a").ReadAsArray(), DATA)


def signature_of(text):
    return base64.b64encode(hmac.new(b"SECRET", text.encode(), hashlib.sha1).digest()).decode()


def assert_is_signed(path, headers):
    """In the URL or in a header, in version 2 of signatures."""
    url = urlsplit(path)
    query = {name: values[0] for name, values in parse_qs(url.query).items()}
    if "Authorization" in headers:
        signed = "\n".join(["GET", "", "", headers["Date"], url.path])
        assert headers["Authorization"] == f"GOOG1 KEY:{signature_of(signed)}"
    else:
        assert query["GoogleAccessId"] == "KEY"
        signed = "\n".join(["GET", "", "", query["Expires"], url.path])
        assert query["Signature"] == signature_of(signed)


@pytest.mark.parametrize("share", ["YES", "NO"])
def test_google_keys(server, share):
    """Each chunk is one request."""
    with options(CPL_GS_ENDPOINT=f"{server.url}/", GS_ACCESS_KEY_ID="KEY",
                 GS_SECRET_ACCESS_KEY="SECRET", ZARR_SHARE_CONNECTIONS=share):
        assert_reads("/vsigs/data/x.zarr")
    for path, headers in server.requests:
        assert_is_signed(path, headers)
    paths = [urlsplit(path).path for path, _ in server.requests]
    assert sorted(path for path in paths if "/c/" in path) == [
        f"/data/x.zarr/a/c/{y}/{x}" for y in (0, 1) for x in (0, 1)]


@pytest.mark.parametrize("token", [{"GDAL_HTTP_HEADERS": "Authorization: Bearer t0ken"},
                                   {"GDAL_HTTP_BEARER": "t0ken"}])
def test_google_tokens(server, token):
    with options(CPL_GS_ENDPOINT=f"{server.url}/", GS_NO_SIGN_REQUEST="YES", **token):
        assert_reads("/vsigs/data/x.zarr")
    assert len(server.requests) > 4
    assert {headers.get("Authorization") for _, headers in server.requests} == {"Bearer t0ken"}


def test_google_without_credentials(server):
    with options(CPL_GS_ENDPOINT=f"{server.url}/", GS_NO_SIGN_REQUEST="YES"):
        assert_reads("/vsigs/data/x.zarr")
    assert not [headers for _, headers in server.requests if "Authorization" in headers]
    assert not [path for path, _ in server.requests if "?" in path]


class Signer(BaseHTTPRequestHandler):
    """Signs URLs, and gives tokens of collections, as Planetary Computer does."""

    def do_GET(self):
        target = urlsplit(self.path)
        self.server.requests.append(target.path)
        answer = {"msft:expiry": "2999-01-01T00:00:00Z", "token": "sig=s3cret"}
        if href := parse_qs(target.query).get("href"):
            answer["href"] = f"{href[0]}?sig=s3cret"
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def signer():
    signer = ThreadingHTTPServer(("127.0.0.1", 0), Signer)
    signer.requests = []
    url = f"http://127.0.0.1:{signer.server_port}"
    with running(signer), options(VSICURL_PC_SAS_TOKEN_URL=f"{url}/token/",
                                  VSICURL_PC_SAS_SIGN_HREF_URL=f"{url}/sign?href="):
        yield signer


HAS_SIGNING_OPTION = int(gdal.VersionInfo()) >= 3070000


@pytest.mark.parametrize("how, collection", [
    ("in the path", "weather"), ("in the path", None), ("option", None), ("of the path", None)])
def test_planetary_computer(server, signer, tmp_path, how, collection):
    """GDAL itself asks for the token of a collection, or for a signature of each URL."""
    if how != "in the path" and not HAS_SIGNING_OPTION:
        pytest.skip("GDAL has no option for all paths")
    server.fault = lambda path: None if "sig=s3cret" in path else 403
    # GDAL keeps signatures of URLs.
    name = "".join(filter(str.isalpha, f"{how}{collection}")) + ".zarr"
    (tmp_path / "data" / "x.zarr").rename(tmp_path / "data" / name)
    path = f"/vsicurl/{server.url}/data/{name}"
    if how == "in the path":
        named = f"&pc_collection={collection}" if collection else ""
        path = f"/vsicurl?pc_url_signing=yes{named}&url={server.url}/data/{name}"
    with options(**{"VSICURL_PC_URL_SIGNING": "YES"} if how == "option" else {}):
        if how == "of the path":
            gdal.SetPathSpecificOption(path, "VSICURL_PC_URL_SIGNING", "YES")
        try:
            assert_reads(path)
        finally:
            gdal.ClearPathSpecificOptions(path)
    assert set(signer.requests) == {"/token/weather" if collection else "/sign"}
    chunks = [path for path, _ in server.requests if "/a/c/" in path]
    assert len(chunks) >= 4
    assert all("sig=s3cret" in path for path in chunks)
