"""Processes limited to little memory, few files or no threads: reading and writing either succeed
or fail with an error. Nothing crashes and nothing hangs.

ZARR_FAULT_ROUNDS is the number of memory limits to try, by night 200.
"""
import os
import resource
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from multidim import create, create_array
from night import rounds
from osgeo import gdal, gdal_array  # noqa: F401 (loaded before memory runs out)

ROUNDS = int(os.environ.get("ZARR_FAULT_ROUNDS", rounds(8, 200)))
NOBODY = 65534
# Large enough for memory to matter: 4 MB.
BEFORE = np.random.default_rng(10).integers(0, 1000, (1024, 1024), "i4")
LAYOUTS = {
    "v2": ["BLOCKSIZE=256,256", "COMPRESS=ZLIB"],
    "v3": ["FORMAT=ZARR_V3", "BLOCKSIZE=256,256", "COMPRESS=ZSTD"],
    "shards": ["FORMAT=ZARR_V3", "BLOCKSIZE=512,512", "SHARD_CHUNK_SHAPE=64,64"],
}


@pytest.fixture(params=LAYOUTS)
def path(request):
    """In a folder that everybody may write to."""
    options = LAYOUTS[request.param]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.zarr"
        root = create(path, *options).GetRootGroup()
        create_array(root, "a", BEFORE.shape, gdal.GDT_Int32, *options).Write(BEFORE)
        del root
        for place in (path.parent, *path.rglob("*"), path):
            place.chmod(0o777 if place.is_dir() else 0o666)
        yield path


def run(path, kind, value):
    """Reads and writes under a limit, in a process of its own. Returns the error."""
    code = f"import test_limits as t; t.read_and_write({str(path)!r}, {kind!r}, {value})"
    environment = os.environ | {"GDAL_NUM_THREADS": "4", "GDAL_PAM_ENABLED": "NO"}
    result = subprocess.run([sys.executable, "-B", "-c", code], cwd=Path(__file__).parent,
                            env=environment, capture_output=True, text=True)
    # The C library ends a process if a new thread cannot get its thread-local data, or a thread no
    # memory to destroy it.
    if result.returncode == 127 and "\ncannot allocate memory for thread" in "\n" + result.stderr:
        return result.stderr
    if "Fatal glibc error: failed to register TLS destructor: out of memory" in result.stderr:
        return result.stderr
    # GDAL ends it when another thread has just taken what a few bytes of its own need.
    if "FATAL: CPLMalloc(): Out of memory allocating a small number of bytes" in result.stderr:
        return result.stderr
    assert result.returncode == 0, result.stderr[-3000:]
    return result.stdout


@contextmanager
def limit(kind, value):
    """For memory, the limit in addition to the present use; else the limit itself."""
    if kind == "AS":
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        value += pages * resource.getpagesize()
    elif kind == "NPROC" and os.geteuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)  # root may have any number
    number = getattr(resource, "RLIMIT_" + kind)
    before = resource.getrlimit(number)
    resource.setrlimit(number, (value, before[1]))
    yield
    resource.setrlimit(number, before)


def read_and_write(path, kind, value):
    """Prints all errors, raised or reported. Values are right, or there was an error."""
    told = []
    gdal.UseExceptions()
    gdal.PushErrorHandler(lambda level, _, text: level >= gdal.CE_Failure and told.append(text))
    sys.unraisablehook = lambda thrown: told.append(str(thrown.exc_value))
    signal.alarm(60)
    got = np.zeros_like(BEFORE)
    after = -BEFORE
    with limit(kind, value):
        is_read = tell(told, lambda: gdal.Open(path).ReadAsArray(buf_obj=got))
        tell(told, lambda: gdal.OpenEx(path, gdal.OF_RASTER | gdal.OF_UPDATE).WriteArray(after))
    if is_read:
        np.testing.assert_array_equal(got, BEFORE)
    print(*told, sep="\n", end="")


def tell(told, body):
    """False if there was an error."""
    count = len(told)
    try:
        body()
    except (RuntimeError, MemoryError) as error:
        told.append(repr(error))
    return len(told) == count


def assert_written(path, told):
    got = gdal.Open(str(path)).ReadAsArray()
    if not told:
        assert (got == -BEFORE).all()
    # Blocks of 64 are whole chunks in any layout.
    blocks = [values.reshape(16, 64, 16, 64).swapaxes(1, 2).reshape(-1, 64 * 64)
              for values in (got, BEFORE, -BEFORE)]
    is_before, is_after = ((blocks[0] == of).all(axis=1) for of in blocks[1:])
    assert (is_before | is_after).all()


def restore(path):
    gdal.OpenEx(str(path), gdal.OF_RASTER | gdal.OF_UPDATE).WriteArray(BEFORE)


def test_memory(path):
    """From none to enough."""
    outcomes = []
    for value in np.geomspace(1 << 16, 1 << 29, max(4, ROUNDS // len(LAYOUTS))):
        told = run(path, "AS", int(value))
        assert_written(path, told)
        restore(path)
        outcomes.append(bool(told))
    assert outcomes[0] and not outcomes[-1]


@pytest.mark.parametrize("files", [32, 64])
def test_few_files(path, files):
    assert run(path, "NOFILE", files) == ""
    assert_written(path, "")


def test_no_files(path):
    assert run(path, "NOFILE", 3)
    assert_written(path, "told")


def test_no_threads(path):
    """The process has only its first one."""
    assert run(path, "NPROC", 1) == ""
    assert_written(path, "")
