"""`script/bench --programs` and `--layouts` on small rasters: that their rows run, and that all
drivers agree."""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from night import night

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = Path(os.environ.get("ZARR_PLUGIN_DIR", ROOT / "build/release/driver")).resolve()
ROWS = ("info|translate|hillshade|to-zstd|to-v2|rechunk|addo|blocks|tiles|windows|scanlines|slices|"
        "write-small-files")


def bench(script, data, results, *options):
    run = subprocess.run(
        [sys.executable, str(ROOT / "autotest/benchmark" / script), "--scale", "0.03", "--repeat",
         "1", "--build", str(PLUGIN.parent), "--data", str(data), "--json", str(results), *options],
        capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return run


@night
@pytest.mark.skipif(not (PLUGIN.parent / "autotest/benchmark/zarr_floor").exists(),
                    reason="this build has no floor")
def test_programs(tmp_path):
    results, chart = tmp_path / "results.json", tmp_path / "chart.png"
    run = bench("programs.py", tmp_path, results, "--rows", ROWS, "--chart", str(chart))
    rows = json.loads(results.read_text())
    assert set(rows) == set(ROWS.split("|"))
    for name, row in rows.items():
        assert not row["differs"] and not row["failed"], name
        assert row["runs"]["ours"]["seconds"] > 0
        assert ("built-in 1" in row["runs"]) == row["builtin_can"]
        assert name in run.stdout
    assert {"alone", "encoding"} <= set(rows["to-zstd"]["runs"])
    assert chart.read_bytes().startswith(b"\x89PNG")


# Stores that GDAL's own driver has always been able to read.
LAYOUTS = {"v2-zlib": ("whole", "rows", "10 % mean", "statistics", "copy", "write 128²"),
           "cube-none": ("slices", "100 series", "write slices")}


@night
def test_layouts(tmp_path):
    results = tmp_path / "results.json"
    names = {f"{layout} {case}" for layout, cases in LAYOUTS.items() for case in cases}
    run = bench("layouts.py", tmp_path, results, "--only", f"^({'|'.join(sorted(names))})$")
    cells = json.loads(results.read_text())
    assert set(cells) == names
    for name, cell in cells.items():
        assert not cell["differs"] and not cell["failed"], name
        assert set(cell["seconds"]) == {"ours", "built-in 1", "built-in 2"}
        assert all(seconds > 0 for seconds in cell["seconds"].values())
    for layout in LAYOUTS:
        assert f"\n{layout} " in run.stdout
    assert f"{len(names)} ratios" in run.stdout
