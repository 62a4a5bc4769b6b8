"""Stores damaged at random: check names each damage that can be detected and nothing else, a dry
run changes no byte, and what was repaired is read by zarr-python and GDAL's built-in driver."""
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import zarr
from damaged_stores import DamagedStore
from night import rounds
from osgeo import gdal
from test_commands import PROGRAM

SEEDS = int(os.environ.get("ZARR_DAMAGED_STORES", rounds(25, 200)))
IS_ZARR_3 = hasattr(zarr, "config")
BUILTIN_READS_V3 = int(gdal.VersionInfo()) >= 3130000
BUILTIN = """
import json, sys
from osgeo import gdal
gdal.UseExceptions()
for line in sys.stdin:
    path, names = json.loads(line)
    root = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER, allowed_drivers=["Zarr"]).GetRootGroup()
    values = [root.OpenMDArrayFromFullname("/" + name).ReadAsArray().tolist() for name in names]
    print(json.dumps(values), flush=True)
"""


@pytest.fixture(scope="module")
def builtin():
    """A process that reads arrays with GDAL's own driver."""
    with subprocess.Popen([sys.executable, "-c", BUILTIN], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True,
                          env=os.environ | {"GDAL_DRIVER_PATH": "disable"}) as process:
        yield process
        process.stdin.close()


def command(*words):
    """The exit code, and the result or the error."""
    done = subprocess.run([PROGRAM, *map(str, words), "--json"], capture_output=True, text=True,
                          timeout=60)
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


def found(result):
    return {(finding["kind"], finding["place"]) for finding in result["findings"]}


def state(path):
    """All files, with their content and times."""
    files = [path] if path.is_file() else sorted(path.rglob("*"))
    return [(file, file.stat().st_mtime_ns, file.read_bytes() if file.is_file() else None)
            for file in files]


def read_with_zarr(path):
    if path.is_dir():
        has_copy = (path / ".zmetadata").exists()
        return (zarr.open_consolidated if has_copy else zarr.open_group)(str(path), mode="r")
    store = zarr.storage.ZipStore(str(path), mode="r")
    return zarr.open_group(store, mode="r")


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_damage(tmp_path, builtin, seed):
    store = DamagedStore(tmp_path, seed)
    path, context = store.path, (seed, store.in_order)
    code, result = command("check", "--read", path)
    assert found(result) == store.findings, context
    assert code == (1 if store.findings else 0), context
    missing = {array["path"][1:]: array["missing"] for array in result["arrays"]}
    if not store.is_root_broken:
        assert {name: store.missing.get(name, 0) for name in missing} == missing, context
    before = state(path)
    code, planned = command("repair", path)
    seen = {finding for finding in store.findings if finding[0] != "chunk"}  # without reading
    assert code == (2 if store.is_root_broken else 1 if seen else 0), context
    assert state(path) == before, context
    code, done = command("repair", "--apply", path)
    if store.is_root_broken:
        assert code == 2 and state(path) == before, context
        return
    left = {finding for finding in store.remaining if finding[0] != "chunk"}
    assert code == (1 if left else 0) and done["actions"] == planned["actions"], context
    code, result = command("check", "--read", path)
    assert found(result) == store.remaining, context
    if not left:
        assert command("repair", path)[1]["actions"] == [], context
    # Others read the copy instead of the documents.
    if ("copy", store.copy_key) in store.remaining or (
            store.was_consolidated and store.is_unknown):
        return
    names = sorted(store.values)
    if store.is_v2 or IS_ZARR_3:
        group = read_with_zarr(path)
        for name in names:
            np.testing.assert_array_equal(group[name][:], store.values[name], str(context))
    if store.is_v2 or BUILTIN_READS_V3:
        opened = f"/vsizip/{path}" if path.is_file() else str(path)
        builtin.stdin.write(json.dumps([opened, names]) + "\n")
        builtin.stdin.flush()
        for name, values in zip(names, json.loads(builtin.stdout.readline())):
            np.testing.assert_array_equal(values, store.values[name], str(context))
