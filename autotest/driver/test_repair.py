"""What check calls damage and what it does not, and what repair makes of it."""
import fcntl
import io
import os
import shutil
import subprocess
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
import webserver
from object_server import BUCKET, ObjectServer, options
from stores import BYTES, GZIP, edit_json, sharding, write_array, write_group
from test_commands import DATA, PROGRAM, check, failure, run, values

NEW, OLD, LOCK = ".gdal-zarr-new", ".gdal-zarr-old", ".gdal-zarr-rechunk"


@pytest.fixture
def store(tmp_path):
    path = write_group(tmp_path / "a.zarr")
    write_array(path / "plain", DATA, (4, 4), [BYTES, GZIP])
    write_array(path / "shards", DATA, (4, 4), [sharding((2, 2))])
    run("consolidate", path)
    return path


def content(path):
    return {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}


def outside(path):
    """Leaves chunks outside of an array's shape."""
    for number in "23":
        (path / f"plain/c/{number}").mkdir()
        shutil.copy(path / "plain/c/0/0", path / f"plain/c/{number}/0")


# --- What a store cannot give --------------------------------------------------------------------

KEYS = ["zarr.json", "plain/zarr.json", "shards/zarr.json", "plain/c/0/0", "shards/c/1/1"]


@pytest.fixture
def server(store, monkeypatch):
    server = ObjectServer()
    outside(store)
    edit_json(store / "shards/zarr.json", attributes={"title": "new"})
    server.load(store, "a.zarr")
    for name, value in (options(server.server_port) | {"GDAL_HTTP_MAX_RETRY": "0"}).items():
        monkeypatch.setenv(name, value)
    yield server
    server.shutdown()


@pytest.mark.parametrize("status", [503, 403])
@pytest.mark.parametrize("key", KEYS)
def test_requests_that_fail_are_no_damage(server, key, status):
    """They are errors that name the key, after which nothing has been changed."""
    objects = dict(server.objects)
    server.fail = lambda _, path: status if path.split("?")[0].endswith("a.zarr/" + key) else None
    path = f"/vsis3/{BUCKET}/a.zarr"
    assert key in failure("check", "--read", path)
    if "/c/" not in key or "shards" in key:
        assert key in failure("repair", "--apply", path)
        assert server.objects == objects
    server.fail = lambda _, path: None
    assert check(path, "--read") == [("copy", "zarr.json"), ("leftover", "plain/c/2/0")]
    assert len(run("repair", "--apply", path)["actions"]) == 3
    assert check(path, "--read") == []


def test_a_store_is_listed_once(server):
    """However many chunks it has, with the pages of one listing; and groups, to find nodes."""
    for number in range(3000):
        server.objects[f"a.zarr/plain/c/9/{number}"] = b"outside"
    server.requests.clear()
    assert run("check", f"/vsis3/{BUCKET}/a.zarr", code=1)["arrays"][0]["stored"] == 4
    listings = [path for _, _, _, path in server.requests if "/a.zarr/" not in path.split("?")[0]]
    assert 4 <= len(listings) == len(set(listings)) <= 8


@pytest.mark.parametrize("key", KEYS)
def test_files_that_cannot_be_opened_are_no_damage(store, key):
    """A loop of links: also for programs that may open everything."""
    outside(store)
    (store / key).unlink()
    (store / key).symlink_to(store / key)
    before = content(store)
    assert key in failure("check", "--read", store)
    if "plain/c" not in key:
        assert key in failure("repair", "--apply", store)
        assert content(store) == before


class ListingHandler(SimpleHTTPRequestHandler):
    """Lists folders as Apache does, unless the server has another status for one."""
    def send_head(self):
        status = self.server.status_of(self.path)
        if status is not None:
            return self.send_error(status)
        return super().send_head()

    def list_directory(self, path):
        names = sorted(entry.name + "/" * entry.is_dir() for entry in os.scandir(path))
        lines = "".join(f'<a href="{name}">{name}</a>\n' for name in names)
        title = "Index of " + self.path.rstrip("/")
        page = f"<html><head><title>{title}</title></head>\n<body>\n{lines}</body></html>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        return io.BytesIO(page)

    def log_message(self, *_):
        pass


@pytest.fixture
def web_server(store, monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    handler = partial(ListingHandler, directory=store.parent)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.status_of = lambda path: None
    with webserver.running(server):
        yield server


@pytest.mark.parametrize("folder", ["", "plain/", "plain/c/1/"])
def test_folders_that_a_web_server_does_not_list_are_no_empty_ones(web_server, folder):
    path = f"/vsicurl/http://127.0.0.1:{web_server.server_port}/a.zarr"
    assert check(path, "--read") == []
    web_server.status_of = lambda asked: 503 if asked == "/a.zarr/" + folder else None
    message = failure("check", path)
    assert "503" in message and f"/a.zarr/{folder} cannot be listed" in message
    # A folder that does not exist says nothing of others.
    web_server.status_of = {"/a.zarr/plain/c/0/": 404, "/a.zarr/plain/c/1/": 503}.get
    assert "503" in failure("check", path)
    # Many servers list no folders.
    web_server.status_of = lambda asked: 403 if asked.endswith("/") else None
    assert "does not list its values" in failure("check", path)
    assert "does not list its values" in failure("info", path)


# --- Repair --------------------------------------------------------------------------------------

def zipped(path):
    archive = path.with_suffix(".zip")
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as file:
        for name, data in content(path).items():
            file.writestr(str(name.relative_to(path)), data)
    return archive


def test_repair_of_archives(store):
    outside(store)
    edit_json(store / "shards/zarr.json", attributes={"title": "new"})
    archive = zipped(store)
    found = [("copy", "zarr.json"), ("leftover", "plain/c/2/0")]
    before = archive.read_bytes()
    planned = run("repair", archive, code=1)
    assert archive.read_bytes() == before and check(archive) == found
    assert run("repair", archive, "--apply")["actions"] == planned["actions"]
    assert check(archive, "--read") == []
    with zipfile.ZipFile(archive) as file:
        assert file.testzip() is None
        names = {str(name.relative_to(store)) for name in content(store)}
        assert set(file.namelist()) == names - {"plain/c/2/0", "plain/c/3/0"}
    run("unconsolidate", archive)
    assert not run("info", archive)["consolidated"]
    run("consolidate", archive)
    assert run("info", archive)["consolidated"]
    (store / "zarr.json").write_text("{")
    assert check(zipped(store)) == [("document", "")]


def test_damage_in_archives(store):
    """It is no failure of the store to give a value."""
    archive = zipped(store)
    data = bytearray(archive.read_bytes())
    at = data.index((store / "plain/c/0/1").read_bytes())
    data[at + 12] ^= 1
    archive.write_bytes(data)
    assert check(archive, "--read") == [("chunk", "plain/c/0/1")]


def test_the_exit_code_says_what_remains(store):
    outside(store)
    assert len(run("repair", store, code=1)["actions"]) == 2
    run("repair", "--apply", store)
    assert run("repair", store)["actions"] == []


# --- Interrupted rechunks ------------------------------------------------------------------------

def rename(path, old, new):
    (path / old).rename(path / new)


def interrupted_copy(path):
    shutil.copytree(path / "plain", path / ("plain" + NEW))
    shutil.rmtree(path / ("plain" + NEW) / "c/1")


def interrupted_chunks(path):
    """Of an array whose document has not been put."""
    interrupted_copy(path)
    (path / ("plain" + NEW) / "zarr.json").unlink()


def interrupted_first_rename(path):
    shutil.copytree(path / "plain", path / ("plain" + NEW))
    rename(path, "plain", "plain" + OLD)


def interrupted_rename(path):
    rename(path, "plain", "plain" + OLD)


def interrupted_removal(path):
    shutil.copytree(path / "plain", path / ("plain" + OLD))


@pytest.mark.parametrize("interrupt", [
    interrupted_copy, interrupted_chunks, interrupted_first_rename, interrupted_rename,
    interrupted_removal])
def test_interrupted_rechunks(store, interrupt):
    run("unconsolidate", store)
    interrupt(store)
    (store / LOCK).mkdir()
    names = {name.name for name in store.iterdir() if ".gdal-zarr-" in name.name}
    assert set(check(store)) == {("leftover", name) for name in names}
    before = sorted(store.rglob("*"))
    planned = run("repair", store, code=1)
    assert sorted(store.rglob("*")) == before
    assert run("repair", "--apply", store)["actions"] == planned["actions"]
    assert check(store, "--read") == [] and not list(store.glob("*.gdal-zarr-*"))
    np.testing.assert_array_equal(values(store, "/plain"), DATA)
    assert run("repair", store)["actions"] == []


def test_a_rechunk_that_runs_has_left_nothing(store):
    run("unconsolidate", store)
    interrupted_copy(store)
    (store / LOCK).mkdir()
    folder = os.open(store / LOCK, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    before = content(store)
    assert check(store) == []
    assert run("repair", "--apply", store)["actions"] == []
    os.close(folder)
    assert content(store) == before


def test_only_one_of_two_arrays_may_be_good(store):
    run("unconsolidate", store)
    interrupted_first_rename(store)
    (store / ("plain" + OLD) / "zarr.json").write_text("{")
    before = content(store)
    assert run("repair", "--apply", store, code=1)["left"] == 2
    assert content(store) == before


# --- Messages ------------------------------------------------------------------------------------

def test_what_a_store_says_does_not_control_terminals(store):
    edit_json(store / "plain/zarr.json", attributes={"coordinates": "\x1b[31mred \x9b31mred"})
    (store / "re\x1b[31mad").write_text("")
    for command in ("check", "info", "repair"):
        done = subprocess.run([PROGRAM, command, store], capture_output=True, text=True,
                              timeout=120)
        assert done.returncode in (0, 1) and "red" in done.stdout + "red"
        assert not {"\x1b", "\x9b"} & set(done.stdout + done.stderr)
    error = failure("rechunk", store, "--array=/\x1b[31m", "BLOCKSIZE=2,2")
    assert "\x1b" not in error


def test_errors_are_reported_once(store):
    (store / "plain/c/0/0").write_bytes(b"no gzip")
    error = failure("rechunk", store, "BLOCKSIZE=2,2")
    assert error.count("plain/c/0/0") == 1 and len(error.splitlines()) == 1
