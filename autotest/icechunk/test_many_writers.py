"""Processes that commit to one branch again and again lose no commit."""
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from arrays import ArrayNode, perform
from flat_buffers import base32
from model import GROUP, array, for_call
from night import rounds
from osgeo import gdal
from repositories import closed, create_repository, open_root, open_to_write
from verifier import verify

WRITERS, COMMITS = 8, rounds(10, 50)


def commit_rows(path, writer):
    """Each commit writes an element of the writer's row."""
    gdal.UseExceptions()
    for i in range(COMMITS):
        dataset = [open_to_write(path, "main", f"COMMIT_MESSAGE={writer} {i}")]
        perform(dataset[0].GetRootGroup(), "write", "a", [writer, i], np.array([[i + 1]], "u2"))
        errors = closed(dataset)
        assert not errors, errors


def start(path, writer):
    code = f"import test_many_writers as t; t.commit_rows({str(path)!r}, {writer})"
    return subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parent)


def check(path, judge, commit_count=COMMITS):
    repository = verify(path)
    ids = {base32(name): name for name in repository.snapshots}
    name, messages = ids[repository.branches["main"]], []
    while name is not None:
        messages.append(repository.snapshots[name].message)
        name = repository.snapshots[name].parent
    commits = {f"{writer} {i}" for writer in range(WRITERS) for i in range(commit_count)}
    assert commits <= set(messages) and len(messages) <= len(commits) + 3
    if judge:
        assert len(judge.ancestry(at=path, branch="main")) == len(messages)


@pytest.mark.parametrize("version", [1, 2])
def test_programs_on_gdal(tmp_path, judge_if_any, version):
    path = tmp_path / "repository"
    create_repository(path, version)
    dataset = [open_to_write(path)]
    perform(dataset[0].GetRootGroup(), "array", "a", ArrayNode([WRITERS, COMMITS], [1, 1], "u2"))
    assert not closed(dataset)
    writers = [start(path, writer) for writer in range(WRITERS)]
    assert [writer.wait(1200) for writer in writers] == [0] * WRITERS
    expected = np.broadcast_to(np.arange(1, COMMITS + 1, dtype="u2"), (WRITERS, COMMITS))
    root = open_root(f"ICECHUNK:{path}")
    np.testing.assert_array_equal(root.OpenMDArray("a").ReadAsArray(), expected)
    check(path, judge_if_any)


@pytest.mark.parametrize("version", [1, 2])
def test_c_programs(tmp_path, judge_if_any, version):
    """Each run of gdal_translate adds an array."""
    path, count = tmp_path / "repository", rounds(2, 50)
    create_repository(path, version)
    for writer in range(WRITERS):
        source = gdal.GetDriverByName("GTiff").Create(f"{tmp_path}/{writer}.tif", 30, 20)
        source.GetRasterBand(1).Fill(writer + 1)
        source = None

    def add_arrays(writer):
        for i in range(count):
            done = subprocess.run(
                ["gdal_translate", "-q", "-of", "Zarr", "-co", f"ARRAY_NAME=a{writer}_{i}",
                 "-co", f"COMMIT_MESSAGE={writer} {i}", f"{tmp_path}/{writer}.tif",
                 f"ICECHUNK:{path}"], capture_output=True, text=True)
            assert (done.returncode, done.stderr) == (0, "")

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(add_arrays, range(WRITERS)))
    check(path, judge_if_any, count)
    root = open_root(f"ICECHUNK:{path}")
    for name in root.GetMDArrayNames():
        want = int(name[1:].partition("_")[0]) + 1
        assert (root.OpenMDArray(name).ReadAsArray() == want).all(), name
    assert len(root.GetMDArrayNames()) == WRITERS * count


@pytest.mark.parametrize("version", [1, 2])
def test_transactions(tmp_path, start_core, judge_if_any, version):
    """Without GDAL, as fast as they can."""
    path = tmp_path / "repository"
    main = start_core()
    main.create(at=path, format=version)
    main.begin(session="main", at=path, branch="main")
    main.change(session="main", changes=for_call([
        ("set", "zarr.json", GROUP), ("set", "a/zarr.json", array([WRITERS, COMMITS], [1, 1]))]))
    main.commit(session="main")

    def commit_row(writer):
        calls = start_core()
        for i in range(COMMITS):
            calls.begin(session="s", at=path, branch="main")
            calls.change(session="s", changes=for_call([("set", f"a/c/{writer}/{i}", b"x")]))
            calls.commit(session="s", message=f"{writer} {i}")

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(commit_row, range(WRITERS)))
    check(path, judge_if_any)
    main.begin(session="main", at=path, branch="main")
    assert len(main.dump(session="main")) == WRITERS * COMMITS + 2


@pytest.mark.parametrize("version", [1, 2])
def test_a_long_history(tmp_path, core, judge_if_any, version):
    """The log of operations of format 2 is cut after 1,000, and earlier ones are in its backups."""
    path = tmp_path / "repository"
    count = rounds(40, 1100)
    core.create(at=path, format=version)
    core.begin(session="s", at=path, branch="main")
    for i in range(count):
        core.change(session="s", changes=for_call([("set", "zarr.json", GROUP[:-1] + (
            b', "attributes": {"n": %d}}' % i))]))
        core.commit(session="s", message=str(i))
    core.end(session="s")
    repository = verify(path)
    assert len(repository.snapshots) == count + 1
    if judge_if_any:
        chain = judge_if_any.ancestry(at=path, branch="main")
        assert [each["message"] for each in chain[:-1]] == [str(i) for i in range(count)][::-1]
        judge_if_any.commit(at=path, branch="main", changes=for_call([("set", "zarr.json", GROUP)]))
        core.begin(session="s", at=path, branch="main")
        core.change(session="s", changes=for_call([("set", "g/zarr.json", GROUP)]))
        core.commit(session="s")
        core.end(session="s")
        verify(path)
