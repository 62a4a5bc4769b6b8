"""The example of doc/dask.md: workers in processes of their own write one sharded store."""
import filecmp
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import rioxarray  # noqa: F401, the accessor `rio`
import xarray
from osgeo import gdal

pytest.importorskip("distributed", reason="python3-distributed is not installed")

from dask.distributed import Client, LocalCluster

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/dask"
sys.path.insert(0, str(EXAMPLE))

import anomalies  # noqa: E402
import shard_writers  # noqa: E402

SIDE = 32
GIGABYTES = 0.006  # 120 × 112 × 224 integers: 28 shards, of which those at the edges are smaller


@pytest.fixture
def client():
    with LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=":0") as cluster, Client(
            cluster) as client:
        yield client


@pytest.fixture
def cube(client, tmp_path):
    path = str(tmp_path / "cube.zarr")
    anomalies.make(client, path, GIGABYTES, SIDE)
    return path


def files_of(folder):
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*")
                  if path.is_file())


def assert_same_files(folder, other):
    names = files_of(folder)
    assert names == files_of(other)
    _, different, unreadable = filecmp.cmpfiles(folder, other, names, shallow=False)
    assert (different, unreadable) == ([], [])


class Killer:
    """Kills a worker that has tasks to do, with signal 9, when some shards are done."""

    def __init__(self, client, after):
        self.client, self.after = client, after
        self.killed = []

    def __call__(self, done, total):
        if done != self.after:
            return
        pids = self.client.run(os.getpid)
        busy = [address for address, tasks in self.client.processing().items() if tasks]
        self.killed.append(pids[busy[0]])
        os.kill(pids[busy[0]], signal.SIGKILL)


def test_a_killed_worker_changes_nothing(client, cube, tmp_path):
    anomalies.run(client, cube, str(tmp_path / "a.zarr"), SIDE)
    killer = Killer(client, after=5)
    anomalies.run(client, cube, str(tmp_path / "b.zarr"), SIDE, report=killer)
    (pid,) = killer.killed
    assert pid not in client.run(os.getpid).values()
    assert_same_files(tmp_path / "a.zarr", tmp_path / "b.zarr")

    values = anomaly_values(cube)
    got = gdal.Open(str(tmp_path / "b.zarr")).ReadAsArray()
    np.testing.assert_allclose(got, values, atol=1e-4)
    root = json.loads((tmp_path / "b.zarr/zarr.json").read_text())
    documents = root["consolidated_metadata"]["metadata"]
    assert sorted(documents) == ["anomaly", "time", "x", "y"]
    for name, document in documents.items():
        assert json.loads((tmp_path / "b.zarr" / name / "zarr.json").read_text()) == document


def anomaly_values(cube):
    values = gdal.Open(cube).ReadAsArray() * 0.01
    assert values.std() > 1
    years = values.reshape(10, 12, *values.shape[1:])
    return (years - years.mean(axis=0)).reshape(values.shape)


def test_an_interrupted_run_goes_on(client, cube, tmp_path, capfd):
    """An error in one task ends the run; the next one writes what is missing."""
    whole, path = str(tmp_path / "a.zarr"), str(tmp_path / "b.zarr")
    anomalies.run(client, cube, whole, SIDE)
    shutil.copytree(whole, path)
    for index in ("0/1/2", "0/3/6"):
        (tmp_path / "b.zarr/anomaly/c" / index).unlink()
    capfd.readouterr()
    anomalies.run(client, cube, path, SIDE)
    assert "2 of 28 shards of " in capfd.readouterr().out
    assert_same_files(whole, path)


def fail(box):
    raise OSError(f"no room for {box[2].start}")


def test_errors_of_tasks_are_raised(client):
    with pytest.raises(OSError, match="no room for 0"):
        shard_writers.run(client, fail, shard_writers.shard_boxes((1, 4, 4), (1, 4, 4)))


def test_workers_without_the_driver_are_found(monkeypatch):
    """GDAL_DRIVER_PATH of this process reaches workers that were started without it."""
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0",
                      env={"GDAL_DRIVER_PATH": "disable"}) as cluster, Client(cluster) as client:
        (worker,) = client.scheduler_info()["workers"]
        with pytest.raises(RuntimeError, match=f"is not the driver of {worker}: install"):
            shard_writers.require_driver(client)
        shard_writers.share_environment(client, "GDAL_DRIVER_PATH")
        client.wait_for_workers(1)
        shard_writers.require_driver(client)


def test_boxes_cover_an_array():
    boxes = shard_writers.shard_boxes((5, 7), (2, 4))
    covered = np.zeros((5, 7), "i4")
    for box in boxes:
        covered[box] += 1
    assert len(boxes) == 6 and (covered == 1).all()


def test_program(tmp_path):
    def program(*words):
        result = subprocess.run([sys.executable, EXAMPLE / "anomalies.py", *map(str, words)],
                                capture_output=True, text=True, timeout=300)
        assert result.returncode == 0, result.stderr
        return result.stdout

    options = ("--side", SIDE, "--workers", 2)
    program("make", tmp_path / "a.zarr", "--gigabytes", 0.001, *options)
    assert "6 of 6 shards" in program("run", tmp_path / "a.zarr", tmp_path / "b.zarr", *options)
    np.testing.assert_allclose(gdal.Open(str(tmp_path / "b.zarr")).ReadAsArray(),
                               anomaly_values(str(tmp_path / "a.zarr")), atol=1e-4)
    raster = gdal.Open(str(tmp_path / "b.zarr"))
    assert raster.GetRasterBand(3).GetDescription() == "time=2015-03-01T00:00"


def test_xarray_reads_it(cube):
    zarr = pytest.importorskip("zarr", minversion="3")  # reads shards
    assert zarr.__version__
    there = xarray.open_zarr(cube, chunks=None)
    np.testing.assert_allclose(there["temperature"],
                               gdal.Open(cube).ReadAsArray() * 0.01, atol=1e-4)
    assert there["temperature"].rio.crs.to_epsg() == 4326
