"""No damage to a store makes a program crash: random damage to all of its files."""
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zarr
from bad_stores import DATA, read_everything
from night import night, rounds
from numcodecs import Zlib
from osgeo import gdal
from stores import BLOSC, BYTES, CRC32C, GZIP, ZSTD, sharding, transpose, write_array, write_group
from v2_stores import write_v2


def mutated(content, random):
    """`content` after one of many kinds of damage."""
    content = bytearray(content)
    at = int(random.integers(len(content) + 1))
    end = min(len(content), at + int(random.integers(1, 20)))
    match int(random.integers(7)):
        case 0 if content:
            content[at - 1] ^= 1 << int(random.integers(8))
        case 1 if content:
            content[at - 1] = int(random.integers(256))
        case 2:
            del content[at:end]
        case 3:
            content[at:at] = content[at:end] * int(random.integers(1, 4))
        case 4:
            del content[at:]
        case 5:
            content[at:end] = bytes(random.choice([0, 255]) for _ in range(end - at))
        case _:
            # A different number, if the content has one.
            numbers = list(re.finditer(rb"-?\d+", content))
            if numbers:
                number = numbers[int(random.integers(len(numbers)))]
                value = random.choice(["0", "1", "-1", "3", "65537", "4294967296", "1e9", "1e400",
                                       "9223372036854775807", "18446744073709551616", '"x"'])
                content[slice(*number.span())] = str(value).encode()
    return bytes(content)


def random_damage(files, seed, rounds):
    random = np.random.default_rng(seed)
    for _ in range(rounds):
        file = files[int(random.integers(len(files)))]
        yield file, mutated(file.read_bytes(), random)


def damage_of_every_byte(files, part, parts):
    """Every `parts`-th byte of all files, from the byte `part` on, with its lowest bit turned."""
    number = 0
    for file in files:
        content = file.read_bytes()
        for at in range(len(content)):
            number += 1
            if number % parts == part:
                yield file, content[:at] + bytes([content[at] ^ 1]) + content[at + 1:]


def damage_stores(folder, damage, *arguments):
    """Damages files of the stores in `folder`, one at a time, as damage(files, …) yields them.
    Runs in a process of its own."""
    import faulthandler
    import resource

    faulthandler.enable()
    gdal.UseExceptions()
    gdal.PushErrorHandler("CPLQuietErrorHandler")
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
    files = sorted(file for file in Path(folder).rglob("*") if file.is_file())
    untouched = [read_everything(store) for store in sorted(Path(folder).iterdir())]
    assert untouched == [[]] * len(untouched), untouched
    failed = 0
    for i, (file, content) in enumerate(damage(files, *arguments)):
        original = file.read_bytes()
        print(i, file, content[:3000], file=sys.stderr, flush=True)
        file.write_bytes(content)
        problems = read_everything(Path(folder) / file.relative_to(folder).parts[0])
        failed += bool(problems)
        assert all(problems), "a failure without a message"
        file.write_bytes(original)
    print(failed)


def write_targets(folder):
    """Small stores that together use most of the driver."""
    attributes = {"scale_factor": 0.5, "units": "m", "_FillValue": 3, "grid_mapping": "crs",
                  "list": [1, 2.5, None], "text": ["ä", "b"]}
    for name, options in {
        "blosc": {}, "zlib": {"compressor": Zlib(), "order": "F"}, "raw": {"compressor": None}
    }.items():
        write_v2(folder / "v2", name, DATA, attributes | {"_ARRAY_DIMENSIONS": ["y", "x"]},
                 chunks=(4, 4), **options)
    write_v2(folder / "v2", "text", np.array(["ab", "cü"]))
    zarr.consolidate_metadata(str(folder / "v2"))

    v3 = folder / "v3"
    write_group(v3, attributes)
    write_array(v3 / "y", np.arange(8.0), names=["y"], attributes={"standard_name": "latitude"})
    write_array(v3 / "x", np.arange(8.0), names=["x"], attributes={"axis": "X"})
    write_array(v3 / "crs", np.int8(0), (), attributes={
        "grid_mapping_name": "lambert_conformal_conic", "standard_parallel": [43, 62],
        "longitude_of_central_meridian": 10, "latitude_of_projection_origin": 52,
        "semi_major_axis": 6378137, "inverse_flattening": 298.257, "GeoTransform": "0 1 0 8 0 -1",
    })
    for name, codecs in {
        "gzip": [transpose(1, 0), BYTES, GZIP],
        "zstd": [BYTES, ZSTD, CRC32C],
        "blosc": [BYTES, BLOSC],
        "shard": [sharding((2, 2), [BYTES, ZSTD], index_codecs=[BYTES])],
        "shards": [sharding((4, 2), [sharding((2, 1), index_location="start")]), CRC32C],
    }.items():
        write_array(v3 / name, DATA, (4, 4), codecs, names=["y", "x"], attributes=attributes)
    write_array(folder / "cube", DATA.reshape(2, 2, 4, 4), (1, 2, 2, 4), [sharding((1, 1, 2, 2))])


def failures_of(folder, damage, *arguments, timeout):
    """How often the stores could not be read. The process must survive."""
    write_targets(folder)
    call = f"damage_stores({str(folder)!r}, {damage.__name__}, *{arguments!r})"
    result = subprocess.run([sys.executable, "-c", f"from test_any_damage import *; {call}"],
                            cwd=Path(__file__).parent, timeout=timeout, capture_output=True,
                            text=True)
    assert result.returncode == 0, result.stderr[-6000:]
    return int(result.stdout)


@pytest.mark.parametrize("seed", range(rounds(1, 100)))
def test_any_damage(tmp_path, seed):
    """With one damaged file at a time, the store reads or fails, and the process survives."""
    assert failures_of(tmp_path, random_damage, seed, 150, timeout=120) > 30


PARTS = 16


@night
@pytest.mark.parametrize("part", range(PARTS))
def test_damage_of_every_byte(tmp_path, part):
    assert failures_of(tmp_path, damage_of_every_byte, part, PARTS, timeout=3600) > 30
