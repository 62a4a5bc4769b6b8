"""The numbers of figures that can be counted again on this computer."""
import subprocess
import sys

from places import ROOT


def test_stores_that_the_built_in_driver_reads():
    """Compares with the number that the figure shows for this version of GDAL."""
    result = subprocess.run([sys.executable, ROOT / "doc/figures/count_stores.py", "--check"],
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "'read': " in result.stdout
