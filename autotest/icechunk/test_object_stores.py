"""Commits in object stores are conditional. Where a server refuses, fails, is slow or loses its
answer, the branch is old or new, and a commit that was reported as done has been done."""
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from arrays import ArrayNode, contents_of, perform
from night import rounds
from osgeo import gdal
from repositories import closed, create_repository, open_root, open_to_write
from verifier import verify

CAN_COMMIT = int(gdal.VersionInfo()) >= 3100000
commits = pytest.mark.skipif(not CAN_COMMIT, reason="GDAL sends no conditions before 3.10")
PATH = "/vsis3/bucket/repo"

# Errors while an object is deleted become exceptions that Python can only print.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(autouse=True)
def fast_retries(monkeypatch):
    monkeypatch.setenv("GDAL_HTTP_RETRY_DELAY", "0.01")


@pytest.fixture(params=[1, 2])
def version(request):
    return request.param


def make(version):
    create_repository(PATH, version)
    assert write("a", 1) == []


def write(name, value):
    """Makes an array in a commit of its own. Returns the errors."""
    gdal.VSICurlClearCache()
    try:
        dataset = [open_to_write(PATH)]
    except RuntimeError as error:
        return [str(error)]
    try:
        perform(dataset[0].GetRootGroup(), "array", name, ArrayNode([200], [100], "f8"))
        perform(dataset[0].GetRootGroup(), "write", name, [0], np.full(200, value, "f8"))
    except RuntimeError as error:
        return [str(error), *closed(dataset)]
    return closed(dataset)


def state(server, folder):
    """What is in the repository, checked, also by a copy of its files."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in server.objects.items():
        file = folder / name.removeprefix("repo/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    # A lost answer may leave the file that proves that the server checks conditions.
    verify(folder, may_have_leftovers=True)
    gdal.VSICurlClearCache()
    found = contents_of(open_root(f"ICECHUNK:{PATH}"))
    assert found == contents_of(open_root(f"ICECHUNK:{folder}"))
    return found


@pytest.mark.skipif(CAN_COMMIT, reason="GDAL sends conditions since 3.10")
def test_without_conditions(server, version):
    """Nothing is written."""
    with pytest.raises(RuntimeError):
        create_repository(PATH, version)
    assert not server.objects
    assert not [method for _, _, method, _ in server.requests if method in ("PUT", "POST")]


@commits
def test_commits(server, version, tmp_path, judge_if_any):
    make(version)
    assert write("b", 2) == []
    assert set(state(server, tmp_path / "copy")) == {"", "a", "b"}
    if judge_if_any:
        at = {"bucket": "bucket", "prefix": "repo",
              "endpoint": f"http://127.0.0.1:{server.server_port}"}
        found = judge_if_any.describe(at=at, of="values", history=True)
        assert set(found["branches"]["main"]["documents"]) == {"/", "/a", "/b"}
        assert found["branches"]["main"]["values"]["/b"]


@commits
def test_another_writer(server, version, tmp_path):
    """Both commits are kept."""
    make(version)
    first, second = [open_to_write(PATH)], [open_to_write(PATH)]
    for name, dataset in (("b", first), ("c", second)):
        perform(dataset[0].GetRootGroup(), "array", name, ArrayNode([2], [2], "u1"))
    assert closed(first) == closed(second) == []
    assert set(state(server, tmp_path / "copy")) == {"", "a", "b", "c"}


def failures(server, version, folder, fault):
    """For each request that changes something or reads what does: a fault there, and the branch is
    old or new. `fault(server, n)` arranges that for the n-th."""
    make(version)
    objects = dict(server.objects)
    before = state(server, folder)
    for n in range(0, 200, rounds(3, 1)):
        server.objects = dict(objects)
        has_happened = fault(server, n)
        errors = write("b", 2)
        server.fail, server.lose = (lambda *_: None), (lambda *_: False)
        after = state(server, folder)
        if errors:
            assert after == before or "b" in after, errors
        else:
            assert set(after) == {"", "a", "b"}
        assert write("c", 3) == []
        assert set(state(server, folder)) - {"b"} == {"", "a", "c"}
        if not has_happened():
            return
    pytest.fail("there is no end of requests")


@commits
@pytest.mark.parametrize("status", [403, 500, 503])
def test_failures(server, version, tmp_path, status):
    def fault(server, n):
        seen = []

        def fail(method, path):
            if method == "PUT":
                seen.append(path)
                # Repeated requests fail as well.
                return status if len(seen) > n and path == seen[n] else None
            return None

        server.fail = fail
        return lambda: len(seen) > n

    failures(server, version, tmp_path / "copy", fault)


@commits
def test_lost_answers(server, version, tmp_path):
    """A put takes effect, and the connection is closed."""
    def fault(server, n):
        seen = []

        def lose(method, path):
            seen.extend([path] * (method == "PUT"))
            return method == "PUT" and len(seen) == n + 1

        server.lose = lose
        return lambda: len(seen) > n

    failures(server, version, tmp_path / "copy", fault)


@commits
@pytest.mark.parametrize("since", ["more", "undone"])
def test_a_commit_that_succeeds_late(server, version, tmp_path, monkeypatch, since):
    """The server reports an error, and replaces the branch when the program has gone on."""
    make(version)
    monkeypatch.setenv("CPL_TMPDIR", str(tmp_path))
    handler, late = server.RequestHandlerClass, {}
    put = handler.put

    def put_late(self, key, query, body):
        if key not in ("repo/repo", "repo/refs/branch.main/ref.json"):
            return put(self, key, query, body)
        late[key] = body
        return self.answer(500)

    def add(name):
        perform(dataset[0].GetRootGroup(), "array", name, ArrayNode([4], [2], "u1"))
        perform(dataset[0].GetRootGroup(), "write", name, [0], np.full(4, 7, "u1"))

    dataset = [open_to_write(PATH)]
    add("b")
    monkeypatch.setattr(handler, "put", put_late)
    with pytest.raises(RuntimeError):
        dataset[0].SetMetadataItem("COMMIT", "b", "ICECHUNK")
    monkeypatch.setattr(handler, "put", put)
    if since == "more":
        add("c")
    else:
        perform(dataset[0].GetRootGroup(), "remove", "b")
    server.objects.update(late)
    errors = closed(dataset)
    assert errors and "has succeeded after an error" in errors[-1]
    assert set(state(server, tmp_path / "copy")) == {"", "a", "b"}
    session = errors[-1].split("SESSION=")[1].split()[0]  # not that of the first commit
    dataset = [open_to_write(PATH, "main", f"SESSION={session}", "NEW_BRANCH=again")]
    assert closed(dataset) == []
    found = set(contents_of(open_root(f"ICECHUNK:{PATH}?branch=again")))
    assert found == {"", "a"} | ({"b", "c"} if since == "more" else set())


@commits
def test_a_slow_server(server, version, tmp_path):
    make(version)

    def wait(*_):
        time.sleep(0.05)

    server.fail = wait
    assert write("b", 2) == []
    assert set(state(server, tmp_path / "copy")) == {"", "a", "b"}


def commit_names(count, writer):
    gdal.UseExceptions()
    for i in range(count):
        assert (errors := write(f"{writer} {i}", i)) == [], errors


@commits
def test_many_writers(server, version, tmp_path):
    make(version)
    count = rounds(4, 25)
    code = "import test_object_stores as t; t.commit_names({}, {})"
    writers = [subprocess.Popen([sys.executable, "-c", code.format(count, writer)],
                                cwd=Path(__file__).parent) for writer in range(4)]
    assert [writer.wait(600) for writer in writers] == [0] * 4
    names = {f"{writer} {i}" for writer in range(4) for i in range(count)}
    assert set(state(server, tmp_path / "copy")) == {"", "a", *names}


@commits
def test_a_server_that_ignores_conditions(server, version, tmp_path, monkeypatch):
    """Puts that nobody checks could undo one another: nothing is written."""
    make(version)
    monkeypatch.setattr(server.RequestHandlerClass, "meets_conditions", lambda *_: True)
    before = state(server, tmp_path / "copy")
    gdal.VSICurlClearCache()
    with pytest.raises(RuntimeError, match="ignores conditions"):
        open_to_write(PATH)
    assert state(server, tmp_path / "copy") == before


@commits
def test_a_busy_server_proves_nothing(server, version, tmp_path, monkeypatch):
    """It ignores conditions, and has no time when that is tried."""
    make(version)
    monkeypatch.setattr(server.RequestHandlerClass, "meets_conditions", lambda *_: True)
    before = state(server, tmp_path / "copy")
    seen = []

    def fail(method, path):
        if method == "PUT" and "zarr-partial" in path:
            seen.append(path)
        return 503 if method == "PUT" and len(seen) > 1 else None

    server.fail = fail
    gdal.VSICurlClearCache()
    with pytest.raises(RuntimeError):
        open_to_write(PATH)
    server.fail = lambda *_: None
    assert seen and state(server, tmp_path / "copy") == before
