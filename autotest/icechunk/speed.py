"""Compares commits with what they cost elsewhere, and prints a table. With one argument: a
folder for the data, 4 GB. Both cores should be idle.

    autotest/icechunk/speed.py FOLDER
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "autotest"), str(ROOT / "autotest/driver")]
PLUGIN = os.environ.get("ZARR_PLUGIN_DIR") or str(ROOT / "build/release/driver")
os.environ["GDAL_DRIVER_PATH"] = PLUGIN

from judge import encoded, find_judge  # noqa: E402
from model import GROUP, array, for_call  # noqa: E402

PROGRAM = ROOT / "build/release/autotest/icechunk/icechunk_transactions"
OPTIONS = {"zstd": ["BLOCKSIZE=512,512", "COMPRESS=ZSTD", "ZSTD_LEVEL=3"],
           "none": ["BLOCKSIZE=512,512", "COMPRESS=NONE"]}
SIDE = 16384  # columns and rows of uint32: 1 GB
ROUNDS = 5


def make_raster(path):
    import numpy as np
    from osgeo import gdal
    gdal.UseExceptions()
    dataset = gdal.GetDriverByName("GTiff").Create(
        str(path), SIDE, SIDE, 1, gdal.GDT_UInt32,
        ["TILED=YES", "BLOCKXSIZE=512", "BLOCKYSIZE=512"])
    random = np.random.default_rng(1)
    for top in range(0, SIDE, 512):
        dataset.GetRasterBand(1).WriteArray(
            random.integers(0, 5000, (512, SIDE), "u4"), 0, top)


def seconds(source, target, options):
    creation = [word for option in ["FORMAT=ZARR_V3", *options] for word in ("-co", option)]
    start = time.monotonic()
    subprocess.run(["gdal_translate", "-q", "-of", "Zarr", *creation, source, target], check=True)
    return time.monotonic() - start


def measure_rasters(folder):
    source = folder / "source.tif"
    if not source.exists():
        make_raster(source)
    for name, options in OPTIONS.items():
        times = {"plain": [], "commit": []}
        for _ in range(ROUNDS):
            for kind, target in (("plain", "plain.zarr"), ("commit", "ICECHUNK:" + str(
                    folder / "repository"))):
                for old in ("plain.zarr", "repository"):
                    shutil.rmtree(folder / old, ignore_errors=True)
                os.sync()
                target = target if kind == "commit" else folder / target
                times[kind].append(seconds(source, target, options))
        plain, commit = (statistics.median(times[kind]) for kind in ("plain", "commit"))
        print(f"1 GB, {name}: plain v3 {plain:.2f} s, commit {commit:.2f} s, "
              f"{commit / plain:.2f} ×, lowest {min(times['commit']) / min(times['plain']):.2f} ×")


def measure_chunks(folder, count, content):
    """Through zarrcore alone, and through the reference."""
    size = "inline" if len(content) <= 512 else "own files"
    path = folder / "chunks"
    shutil.rmtree(path, ignore_errors=True)
    calls = [{"call": "create", "at": str(path), "format": 2},
             {"call": "begin", "session": "s", "at": str(path), "branch": "main"},
             {"call": "change", "session": "s", "changes": for_call(
                 [("set", "zarr.json", GROUP), ("set", "a/zarr.json", array([count], [1]))])},
             {"call": "put_chunks", "session": "s", "count": count, "content": encoded(content)},
             {"call": "commit", "session": "s"}]
    process = subprocess.Popen([str(PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True, bufsize=1)
    times = []
    for call in calls:
        start = time.monotonic()
        process.stdin.write(json.dumps(call) + "\n")
        answer = json.loads(process.stdout.readline())
        assert "result" in answer, answer
        times.append(time.monotonic() - start)
    status = Path(f"/proc/{process.pid}/status").read_text()
    peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024
    process.stdin.close()
    process.wait()
    line = (f"{count} chunks of {len(content)} bytes ({size}): put {times[3]:.1f} s, "
            f"commit {times[4]:.2f} s, peak {peak:.0f} MB")
    if judge := find_judge():
        # Until all is measured, nothing is removed: ext4 is slow to make files soon after that.
        path = folder / "reference"
        shutil.rmtree(path, ignore_errors=True)
        judge.create(at=path, format=2)
        theirs = judge.write_chunks(at=path, count=count, content=encoded(content),
                                    document=json.loads(array([count], [1])))
        line += (f"; the reference: put {theirs['write']:.1f} s, commit {theirs['commit']:.2f} s, "
                 f"{theirs['memory'] / 2 ** 20:.0f} MB")
    print(line, flush=True)
    for name in ("chunks", "reference"):
        shutil.rmtree(folder / name, ignore_errors=True)


def run(*command, **environment):
    """Returns its seconds and its peak of memory in MB."""
    start = time.monotonic()
    process = subprocess.Popen(list(map(str, command)), env=os.environ | environment,
                               stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, command
    return time.monotonic() - start, used.ru_maxrss / 1024


def measure_programs(folder, side, block):
    """Many chunks by gdal_translate, whose source is not cached."""
    from osgeo import gdal
    source, path = folder / f"{side}.tif", folder / "many"
    if not source.exists():
        dataset = gdal.GetDriverByName("GTiff").Create(str(source), side, side,
                                                       options=["TILED=YES"])
        dataset.GetRasterBand(1).Fill(1)
        dataset = None
    shutil.rmtree(path, ignore_errors=True)
    took, peak = run("gdal_translate", "-q", "-of", "Zarr", "-co", f"BLOCKSIZE={block},{block}",
                     "-co", "COMPRESS=NONE", source, f"ICECHUNK:{path}", GDAL_CACHEMAX="64")
    print(f"gdal_translate of {(side // block) ** 2} chunks of {block ** 2} bytes: {took:.1f} s, "
          f"peak {peak:.0f} MB", flush=True)
    shutil.rmtree(path)


def measure_history(folder, version, count=1100):
    """What programs take at first, and after many commits."""
    from osgeo import gdal
    gdal.UseExceptions()
    path, source = folder / "history", folder / "small.tif"
    shutil.rmtree(path, ignore_errors=True)
    gdal.GetDriverByName("GTiff").Create(str(source), 30, 20)

    def add(name):
        return run("gdal_translate", "-q", "-of", "Zarr", "-co", f"ARRAY_NAME={name}", "-co",
                   f"ICECHUNK_FORMAT={version}", source, f"ICECHUNK:{path}")[0]

    def programs(name):
        times = {"gdalinfo": run("gdalinfo", f"ICECHUNK:{path}")[0],
                 "log": run(Path(PLUGIN) / "gdal_zarr", "log", path)[0], "commit": add(name)}
        return ", ".join(f"{name} {took:.2f} s" for name, took in times.items())

    add("first")
    print(f"format {version}, first: {programs('second')}")
    start = time.monotonic()
    dataset = gdal.OpenEx(str(path), gdal.OF_UPDATE | gdal.OF_RASTER)
    for i in range(count):
        dataset.SetMetadataItem("n", str(i))
        dataset.SetMetadataItem("COMMIT", str(i), "ICECHUNK")
    dataset = None
    took = time.monotonic() - start
    print(f"format {version}, after {count} commits in {took:.1f} s: {programs('last')}",
          flush=True)
    shutil.rmtree(path)


def main(folder):
    folder.mkdir(exist_ok=True)
    for count in (100_000, 1_000_000):
        measure_chunks(folder, count, b"x" * 20)
    measure_chunks(folder, 100_000, b"x" * 600)
    measure_programs(folder, 5120, 16)
    measure_programs(folder, 16384, 16)
    measure_programs(folder, 10240, 32)
    for version in (1, 2):
        measure_history(folder, version)
    measure_rasters(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
