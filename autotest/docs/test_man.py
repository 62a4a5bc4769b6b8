"""The man page: what the tools for man pages say of it, and the options that it names."""
import re
import subprocess

import pytest
from places import ROOT

PAGE = ROOT / "doc/man/gdal_zarr.7"


@pytest.mark.parametrize("page", [PAGE, PAGE.with_suffix(".1")], ids=["7", "1"])
@pytest.mark.parametrize("command", [["mandoc", "-Tlint", "-Wstyle"],
                                     ["man", "--warnings", "-E", "UTF-8", "-l", "-Z"]])
def test_no_warnings(command, page):
    result = subprocess.run([*command, page], capture_output=True, text=True)
    # Of the list of all man pages on this computer, which may be older than the pages.
    printed = result.stderr + result.stdout * (command[0] == "mandoc")
    lines = [line for line in printed.splitlines()
             if "mandoc.db" not in line and "referenced manual not found" not in line]
    assert not lines


def test_it_reads_as_a_page():
    result = subprocess.run(["man", "-l", PAGE], capture_output=True, text=True, check=True)
    text = " ".join(re.sub(r".\x08", "", result.stdout).split())
    assert 'ZARR:"name":/group/array:3:0' in text
    assert "-co COMPRESS=ZSTD -co ZSTD_LEVEL=3 source.tif target.zarr" in text


def test_options_exist():
    """As doc/options.md lists them, which is compared with the driver."""
    known = set(re.findall(r"`([A-Z][A-Z_]+)`", (ROOT / "doc/options.md").read_text()))
    known |= {"GDAL_DRIVER_PATH", "GDAL_CACHEMAX", "CPL_DEBUG"}
    text = PAGE.read_text()
    named = set(re.findall(r"Cm ([A-Z_0-9]{4,}) Ns = ", text))
    named |= set(re.findall(r"^\.(?:It Ev|Cm) ([A-Z_]{4,})\b", text, re.MULTILINE))
    assert len(named) > 20
    assert named <= known, named - known
