"""Object stores for tests: s3rver and Azurite, which npm installs, and moto, where Debian has it.
All is done through GDAL's file systems. conftest.py makes the fixtures known to all tests."""
import base64
import hmac
import importlib.util
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import failing_proxy
import object_server
import pytest
from object_requests import s3_options
from osgeo import gdal
from webserver import running

SERVERS = Path(__file__).parents[1] / "object_stores/node_modules/.bin"
AZURE_KEY = ("Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/"
             "K1SZFPTOtr/KBHBeksoGMGw==")  # the key of every emulator


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def start(name, command, log):
    """Starts `command`, in which "PORT" is replaced by a port. Returns the process and its port."""
    for _ in range(5):
        port = free_port()  # which another process may take before the server does
        words = [str(port) if word == "PORT" else word for word in command]
        process = subprocess.Popen(words, stdout=log.open("wb"), stderr=subprocess.STDOUT)
        for _ in range(600):
            if process.poll() is not None:
                break
            if listens(port) and process.poll() is None:
                return process, port
            time.sleep(0.1)
        process.kill()
        process.wait()
    pytest.fail(f"{name} did not start:\n{log.read_text()}")


def start_npm(name, arguments, log):
    if shutil.which("node") is None or not (SERVERS / name).exists():
        pytest.skip(f"{name} is not installed")
    return start(name, [SERVERS / name, *arguments], log)


def stop(process):
    process.terminate()
    process.wait()


@pytest.fixture
def server(monkeypatch):
    """An object store in memory, whose bucket is /vsis3/bucket."""
    made = object_server.ObjectServer()
    for name, value in object_server.options(made.server_port).items():
        monkeypatch.setenv(name, value)
    gdal.VSICurlClearCache()
    yield made
    gdal.VSICurlClearCache()
    made.shutdown()
    made.server_close()


@pytest.fixture(scope="session")
def s3(tmp_path_factory):
    folder = tmp_path_factory.mktemp("s3")
    (folder / "data").mkdir()
    process, port = start_npm("s3rver", ["-d", folder / "data", "-a", "127.0.0.1", "-p", "PORT",
                                         "--configure-bucket", "bucket"], folder / "log")
    yield "/vsis3/bucket", s3_options(port, folder)
    stop(process)


@pytest.fixture(scope="session")
def azure(tmp_path_factory):
    folder = tmp_path_factory.mktemp("azure")
    process, port = start_npm("azurite-blob", ["--blobPort", "PORT", "--location", folder / "data",
                                               "--skipApiVersionCheck", "--loose",
                                               "--disableTelemetry"], folder / "log")
    name = "AZURE_STORAGE_CONNECTION_STRING"
    connection = (f"DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;"
                  f"AccountKey={AZURE_KEY};BlobEndpoint=http://127.0.0.1:{port}/devstoreaccount1")
    gdal.SetConfigOption(name, connection)
    made = gdal.Mkdir("/vsiaz/container", 0o755)
    gdal.SetConfigOption(name, None)
    assert made == 0
    yield "/vsiaz/container", {name: connection}
    stop(process)


@pytest.fixture(scope="session")
def azure_sas(azure):
    """The same with a token in place of the account's key."""
    folder, options = azure
    (name, connection), = options.items()
    fields = {"sv": "2019-12-12", "ss": "b", "srt": "sco", "sp": "rwdlac",
              "st": "2020-01-01T00:00:00Z", "se": "2099-01-01T00:00:00Z"}
    text = "\n".join(["devstoreaccount1", fields["sp"], fields["ss"], fields["srt"], fields["st"],
                      fields["se"], "", "", fields["sv"], ""])
    digest = hmac.digest(base64.b64decode(AZURE_KEY), text.encode(), "sha256")
    token = urllib.parse.urlencode(fields | {"sig": base64.b64encode(digest).decode()})
    endpoint = connection.rpartition("BlobEndpoint=")[2]
    return folder, {name: f"BlobEndpoint={endpoint};SharedAccessSignature={token}"}


@pytest.fixture(scope="session")
def moto(tmp_path_factory):
    for module in ("moto", "flask_cors"):  # the server of moto needs the second
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    folder = tmp_path_factory.mktemp("moto")
    process, port = start("moto", [sys.executable, "-m", "moto.server", "-p", "PORT"],
                          folder / "log")
    bucket = urllib.request.Request(f"http://127.0.0.1:{port}/bucket", method="PUT")
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(bucket).close()
    yield "/vsis3/bucket", s3_options(port, folder)
    stop(process)


@pytest.fixture(params=["s3", "azure", "azure_sas", "moto"])
def bucket(request, monkeypatch):
    """A folder of an object store, with its credentials."""
    folder, options = request.getfixturevalue(request.param)
    for name, value in options.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    gdal.VSICurlClearCache()
    yield f"{folder}/{request.node.name.partition('[')[0]}_{os.getpid()}_{time.monotonic_ns()}"
    gdal.VSICurlClearCache()


def puts_under_conditions(path):
    """Whether a part of a chunk replaces only the version that was read, by a server that is known
    to check that. GDAL sends conditions since 3.10; without a token, versions are unknown."""
    connection = os.environ.get("AZURE_STORAGE_CONNECTION_STRING", "")
    return (int(gdal.VersionInfo()) >= 3100000 and path.startswith("/vsiaz/")
            and "SharedAccessSignature" in connection)


@contextmanager
def failing_proxy_of(store, monkeypatch):
    """In front of a server. Its URL is that of the environment; the path of a store is in
    `path`."""
    folder, options = store
    port = re.search(r"127\.0\.0\.1:(\d+)", "".join(options.values()))[1]
    proxy = failing_proxy.Proxy(int(port))
    for name, value in options.items():
        monkeypatch.setenv(name, value.replace(f":{port}", f":{proxy.server_port}"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    gdal.VSICurlClearCache()
    proxy.path = f"{folder}/writes_{os.getpid()}_{time.monotonic_ns()}.zarr"
    try:
        with running(proxy):
            yield proxy
    finally:
        gdal.VSICurlClearCache()


@pytest.fixture
def proxy(s3, monkeypatch):
    with failing_proxy_of(s3, monkeypatch) as proxy:
        yield proxy


@pytest.fixture
def moto_proxy(moto, monkeypatch):
    with failing_proxy_of(moto, monkeypatch) as proxy:
        yield proxy


@pytest.fixture
def azure_proxy(azure, monkeypatch):
    with failing_proxy_of(azure, monkeypatch) as proxy:
        yield proxy


def keys(path):
    gdal.VSICurlClearCache()
    names = gdal.ReadDirRecursive(path) or []
    return sorted(name for name in names if name and not name.endswith("/"))
