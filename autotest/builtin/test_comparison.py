"""The numbers in the figure of doc/comparison.md, for this version of GDAL."""
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_stores_that_the_built_in_driver_reads():
    result = subprocess.run([sys.executable, ROOT / "doc/figures/count_stores.py", "--check"],
                            capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "'read': " in result.stdout
