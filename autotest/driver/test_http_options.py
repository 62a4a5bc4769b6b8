"""What programs set for requests to web servers reaches every request: options for all
paths, for one path, and in the path itself."""
import base64
import json
import urllib.parse

import numpy as np
import pytest
from osgeo import gdal
from stores import BYTES, sharding, write_array, write_group
from tls_server import make_certificate, serve_tls
from v2_stores import write_v2
from webserver import serve

DATA = np.arange(64, dtype="<i2").reshape(8, 8) + 1
SHARDS = [sharding((2, 2))]


@pytest.fixture(params=["YES", "NO"], ids=["shared", "not shared"], autouse=True)
def share_connections(request):
    gdal.SetConfigOption("ZARR_SHARE_CONNECTIONS", request.param)
    yield
    gdal.SetConfigOption("ZARR_SHARE_CONNECTIONS", None)


@pytest.fixture
def store(tmp_path):
    write_group(tmp_path / "x.zarr")
    write_array(tmp_path / "x.zarr" / "a", DATA, (4, 4), SHARDS)
    return tmp_path / "x.zarr"


@pytest.fixture
def server(store, monkeypatch):
    with serve(store.parent, monkeypatch) as server:
        yield server


def read(path):
    dataset = gdal.OpenEx(f'ZARR:"{path}"', gdal.OF_MULTIDIM_RASTER)
    return dataset.GetRootGroup().OpenMDArray("a").ReadAsArray()


def assert_reads(path):
    np.testing.assert_array_equal(read(path), DATA)


class Options:
    """Sets options for all paths or for one, while it is entered."""

    def __init__(self, path, options):
        self.path, self.options = path, options

    def set(self, name, value):
        if self.path is None:
            gdal.SetConfigOption(name, value)
        else:
            gdal.SetPathSpecificOption(self.path, name, value)

    def __enter__(self):
        for name, value in self.options.items():
            self.set(name, value)

    def __exit__(self, *_):
        for name in self.options:
            self.set(name, None)


def basic(user_and_password):
    return "Basic " + base64.b64encode(user_and_password.encode()).decode()


# The options, and the headers that the server gets.
HEADERS = {
    "user agent": ({"GDAL_HTTP_USERAGENT": "weather/1"}, {"User-Agent": "weather/1"}),
    "cookie": ({"GDAL_HTTP_COOKIE": "a=b; c=d"}, {"Cookie": "a=b; c=d"}),
    "basic": ({"GDAL_HTTP_AUTH": "BASIC", "GDAL_HTTP_USERPWD": "me:pw"},
              {"Authorization": basic("me:pw")}),
    "bearer": ({"GDAL_HTTP_AUTH": "BEARER", "GDAL_HTTP_BEARER": "t0ken"},
               {"Authorization": "Bearer t0ken"}),
    "bearer alone": ({"GDAL_HTTP_BEARER": "t0ken"}, {"Authorization": "Bearer t0ken"}),
    "headers": ({"GDAL_HTTP_HEADERS": "X-A: 1,X-B: 2"}, {"X-A": "1", "X-B": "2"}),
    "quoted headers": ({"GDAL_HTTP_HEADERS": '"X-A: 1, 2","X-B: \\"q\\""'},
                       {"X-A": "1, 2", "X-B": '"q"'}),
    "headers in lines": ({"GDAL_HTTP_HEADERS": "X-A: 1\r\nX-B: 3"}, {"X-A": "1", "X-B": "3"}),
}


@pytest.mark.parametrize("scope", ["everywhere", "path"])
@pytest.mark.parametrize("case", HEADERS)
def test_headers(server, case, scope):
    options, wanted = HEADERS[case]
    path = f"/vsicurl/{server.url}/x.zarr"
    with Options(path if scope == "path" else None, options):
        assert_reads(path)
    assert len(server.requests) > 4
    for _, headers in server.requests:
        assert wanted.items() <= headers.items()
        assert headers["Accept-Encoding"] == "identity"


def test_options_of_another_path(server):
    with Options("/vsicurl/http://example.com/", {"GDAL_HTTP_USERAGENT": "other"}):
        assert_reads(f"/vsicurl/{server.url}/x.zarr")
    assert "other" not in {headers.get("User-Agent") for _, headers in server.requests}


def test_header_file_is_read_again(server, tmp_path):
    file = tmp_path / "headers"
    for token in ("1", "22"):
        file.write_text(f"X-Token: {token}\n")
        server.requests.clear()
        with Options(f"/vsicurl/{server.url}", {"GDAL_HTTP_HEADER_FILE": str(file)}):
            assert_reads(f"/vsicurl/{server.url}/x.zarr")
        assert {headers.get("X-Token") for _, headers in server.requests} == {token}


def test_cookie_file(server, tmp_path):
    file = tmp_path / "cookies"
    file.write_text("127.0.0.1\tFALSE\t/\tFALSE\t0\tname\tvalue\n")
    with Options(None, {"GDAL_HTTP_COOKIEFILE": str(file)}):
        assert_reads(f"/vsicurl/{server.url}/x.zarr")
    assert {headers.get("Cookie") for _, headers in server.requests} == {"name=value"}


def test_proxy(server):
    """The server is asked for a URL of another host, as a proxy is."""
    with Options("/vsicurl/http://example.com/", {"GDAL_HTTP_PROXY": server.url}):
        server.rewrite = lambda path: path.removeprefix("http://example.com")
        assert_reads("/vsicurl/http://example.com/x.zarr")
    asked = {path for path, _ in server.requests if path.startswith("http")}
    assert asked and all(path.startswith("http://example.com/x.zarr/") for path in asked)


# Queries of URLs.

def queries(server):
    return {urllib.parse.urlsplit(path).query for path, _ in server.requests}


def test_query_of_the_path(server):
    assert_reads(f"/vsicurl/{server.url}/x.zarr?sig=a%2Bb&se=1")
    assert queries(server) == {"sig=a%2Bb&se=1"}


@pytest.mark.parametrize("scope", ["everywhere", "path"])
@pytest.mark.parametrize("query", ["", "?v=1"])
def test_query_string_option(server, scope, query):
    path = f"/vsicurl/{server.url}/x.zarr{query}"
    prefix = f"/vsicurl/{server.url}" if scope == "path" else None
    with Options(prefix, {"VSICURL_QUERY_STRING": "sig=secret"}):
        assert_reads(path)
    assert queries(server) == {"v=1&sig=secret" if query else "sig=secret"}


def test_long_form(server):
    url = urllib.parse.quote(f"{server.url}/x.zarr?sig=1", safe="")
    assert_reads(f"/vsicurl?use_head=no&useragent=me&cookie=a%3Db&header.X-A=1%2C2&referer=r&url={url}")
    for path, headers in server.requests:
        assert path.endswith("?sig=1")
        assert {"User-Agent": "me", "Cookie": "a=b", "X-A": "1,2", "Referer": "r"}.items() <= \
            headers.items()


def test_raster_with_a_query(server):
    """GDAL's own files beside the raster are looked for as well."""
    dataset = gdal.OpenEx(f'ZARR:"/vsicurl/{server.url}/x.zarr?sig=1":/a')
    np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)


def test_names_in_a_store_with_a_query(server, store):
    """A signature may have slashes. Only what the name shows to be in a store has groups above."""
    path = f"/vsicurl/{server.url}/x.zarr{{}}?sig=a/b"
    assert gdal.OpenEx(path.format("/a/zarr.json")).RasterXSize == DATA.shape[1]
    write_array(store / "a", DATA, (4, 4), names=["y", "x"])
    write_array(store / "x", np.arange(8) + 40.0, names=["x"])
    dataset = gdal.OpenEx(f'ZARR:"{path.format("/a")}"', gdal.OF_MULTIDIM_RASTER)
    x = dataset.GetRootGroup().OpenMDArray("a").GetDimensions()[1].GetIndexingVariable()
    np.testing.assert_array_equal(x.ReadAsArray(), np.arange(8) + 40.0)
    server.requests.clear()
    assert_reads(path.format(""))
    assert all(path.startswith("/x.zarr/") for path, _ in server.requests)


# Retries.

@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 0])
def test_retries(server, status):
    """Status 0 is an empty reply."""
    failures = []

    def fault(path):
        if path.endswith("a/c/0/0") and len(failures) < 3:
            failures.append(path)
            return status
        return None

    server.fault = fault
    path = f"/vsicurl/{server.url}/x.zarr"
    with Options(path, {"GDAL_HTTP_MAX_RETRY": "2", "GDAL_HTTP_RETRY_DELAY": "0.01"}):
        with pytest.raises(RuntimeError, match="a/c/0/0"):
            read(path)
        assert len(failures) == 3
        failures[:] = failures[:1]
        assert_reads(path)


@pytest.mark.parametrize("codes, is_retried", [("418", True), ("ALL", True), ("400,503", False)])
def test_retry_codes(server, codes, is_retried):
    failures = []

    def fault(path):
        if path.endswith("a/c/0/0") and not failures:
            failures.append(path)
            return 418
        return None

    server.fault = fault
    path = f"/vsicurl/{server.url}/x.zarr"
    with Options(None, {"GDAL_HTTP_MAX_RETRY": "1", "GDAL_HTTP_RETRY_DELAY": "0.01",
                        "GDAL_HTTP_RETRY_CODES": codes}):
        if is_retried:
            assert_reads(path)
        else:
            with pytest.raises(RuntimeError, match="418"):
                read(path)


# TLS.

@pytest.fixture
def tls(server, tmp_path):
    """Another port of the server, with a certificate that nobody knows."""
    key, certificate = make_certificate(tmp_path)
    with serve_tls(server.root, key, certificate) as secure:
        yield f"/vsicurl/{secure.url}/x.zarr", certificate


@pytest.mark.parametrize("scope", ["everywhere", "path"])
def test_tls(tls, scope):
    path, certificate = tls
    with pytest.raises(RuntimeError, match="certificate|SSL"):
        read(path)
    for options in ({"GDAL_CURL_CA_BUNDLE": str(certificate)}, {"GDAL_HTTP_UNSAFESSL": "YES"}):
        with Options(path if scope == "path" else None, options):
            assert_reads(path)


# Servers that do not give what they do not have.

@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("version", [2, 3])
def test_forbidden_is_missing(tmp_path, monkeypatch, version, status):
    """Object stores whose users may not list answer so for keys that do not exist."""
    sparse = DATA.copy()
    sparse[:4, :4] = 9
    if version == 2:
        write_v2(tmp_path / "x.zarr", "a", sparse, chunks=(4, 4), fill_value=9)
    else:
        write_group(tmp_path / "x.zarr")
        write_array(tmp_path / "x.zarr" / "a", sparse, (4, 4), [BYTES], fill_value=9)
    chunk = "a/0.0" if version == 2 else "a/c/0/0"
    (tmp_path / "x.zarr" / chunk).unlink(missing_ok=True)
    with serve(tmp_path, monkeypatch) as server:
        server.missing_status = status
        path = f"/vsicurl/{server.url}/x.zarr"
        with pytest.raises(RuntimeError) as caught:
            read(path)
        message = str(caught.value)
        assert chunk in message and str(status) in message
        assert "ZARR_FORBIDDEN_IS_MISSING=YES" in message
        for scope in (None, path):
            with Options(scope, {"ZARR_FORBIDDEN_IS_MISSING": "YES"}):
                np.testing.assert_array_equal(read(path), sparse)
        with pytest.raises(RuntimeError, match=str(status)):
            read(f"/vsicurl/{server.url}/nothing.zarr")


# Unusual answers.

@pytest.mark.parametrize("answers", [
    "no ranges from the end", "unknown size", "no Content-Range", "no ranges", "other part"])
def test_answers_to_ranges(server, answers):
    server.answers = answers
    path = f"/vsicurl/{server.url}/x.zarr"
    if answers == "other part":
        with pytest.raises(RuntimeError, match="a/c/[01]/[01]: the server sent 68 bytes"):
            read(path)
    else:
        assert_reads(path)


@pytest.mark.parametrize("key", ["x.zarr/a/c/0/0", "x.zarr/a/zarr.json"])
def test_html_page(server, store, key):
    """Portals send a page with status 200 instead of an error."""
    page = b"<!DOCTYPE html><html>please log in</html>"
    (store.parent / key).write_bytes(page)
    server.html = key
    with pytest.raises(RuntimeError) as caught:
        read(f"/vsicurl/{server.url}/x.zarr")
    if key.endswith("c/0/0"):
        assert "HTML page" in str(caught.value)
    assert json.loads((store / "zarr.json").read_text())["node_type"] == "group"


@pytest.mark.parametrize("prefix", ["/vsicurl_streaming/", "/vsicurl/"])
@pytest.mark.parametrize("status, problem", [(503, "503"), (404, None)])
def test_streaming(server, prefix, status, problem):
    """GDAL's streaming file systems report nothing for a file that cannot be read."""
    server.faults["a/c/0/0"] = status
    path = f"{prefix}{server.url}/x.zarr"
    if problem:
        with pytest.raises(RuntimeError, match=f"a/c/0/0: HTTP response code: {problem}"):
            read(path)
    else:
        want = DATA.copy()
        want[:4, :4] = 0
        np.testing.assert_array_equal(read(path), want)
