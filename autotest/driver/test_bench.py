"""`script/bench --programs` on small rasters: that its rows run, and that all drivers agree."""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = Path(os.environ.get("ZARR_PLUGIN_DIR", ROOT / "build/release/driver")).resolve()
ROWS = ("info|translate|hillshade|to-zstd|to-v2|rechunk|addo|blocks|tiles|windows|scanlines|slices|"
        "write-small-files")


@pytest.mark.skipif(not (PLUGIN.parent / "autotest/benchmark/zarr_floor").exists(),
                    reason="this build has no floor")
def test_programs(tmp_path):
    results, chart = tmp_path / "results.json", tmp_path / "chart.png"
    run = subprocess.run(
        [sys.executable, str(ROOT / "autotest/benchmark/programs.py"), "--scale", "0.03",
         "--repeat", "1", "--rows", ROWS, "--build", str(PLUGIN.parent), "--data", str(tmp_path),
         "--json", str(results), "--chart", str(chart)], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    rows = json.loads(results.read_text())
    assert set(rows) == set(ROWS.split("|"))
    for name, row in rows.items():
        assert not row["differs"] and not row["failed"], name
        assert row["runs"]["ours"]["seconds"] > 0
        assert ("built-in 1" in row["runs"]) == row["builtin_can"]
        assert name in run.stdout
    assert {"alone", "encoding"} <= set(rows["to-zstd"]["runs"])
    assert chart.read_bytes().startswith(b"\x89PNG")
