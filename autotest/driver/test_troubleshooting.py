"""The messages of doc/troubleshooting.md: each of its commands prints what the page says.

A block is a command after `$` and lines of its output, in which `…` matches any text.
"""
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from osgeo import gdal
from test_readme import ROOT, parse_blocks

PAGE = ROOT / "doc/troubleshooting.md"


def examples():
    """(command, lines) of each block."""
    for language, lines in parse_blocks(PAGE.read_text()):
        if language == "text":
            assert lines[0].startswith("$ "), lines
            yield lines[0][2:], lines[1:]


def pattern(line):
    return ".*".join(re.escape(part) for part in line.split("…"))


def change(path, **members):
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | members))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The stores that the page is about."""
    here = tmp_path_factory.mktemp("troubles")
    shutil.copytree(ROOT / "data", here / "data")
    (here / "empty.zarr").mkdir()
    (here / "group.zarr").mkdir()
    (here / "group.zarr/.zgroup").write_text('{"zarr_format": 2}')
    for name in ("damaged", "lost", "exists"):
        shutil.copytree(ROOT / "data/geoid_v2.zarr", here / f"{name}.zarr")
    chunk = here / "damaged.zarr/geoid/0.0"
    chunk.write_bytes(chunk.read_bytes()[:-1000])
    (here / "lost.zarr/geoid/0.0").unlink()
    for name in ("geoid", "slope"):
        gdal.Translate(str(here / "several.zarr"), str(ROOT / "data/geoid_v2.zarr"), format="Zarr",
                       creationOptions=[f"ARRAY_NAME={name}"] + ["APPEND_SUBDATASET=YES"] * (
                           name != "geoid"))
    shutil.copytree(ROOT / "data/geoid_v3.zarr", here / "pcodec.zarr")
    change(here / "pcodec.zarr/geoid/zarr.json", codecs=[{"name": "pcodec"}])
    root = json.loads((here / "pcodec.zarr/zarr.json").read_text())
    del root["consolidated_metadata"]
    (here / "pcodec.zarr/zarr.json").write_text(json.dumps(root))
    return here


@pytest.mark.parametrize("command, lines", examples())
def test_message(folder, command, lines):
    if "already exists" in lines[0] and int(gdal.VersionInfo()) >= 3130000:
        pytest.skip("GDAL deletes the existing store")
    before = {path: path.stat().st_mtime_ns for path in Path(folder).iterdir()}
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=folder,
                            timeout=100, env=os.environ | {"GDAL_PAM_ENABLED": "NO"})
    printed = result.stdout + result.stderr
    assert lines
    for line in lines:
        assert re.search(f"^{pattern(line)}$", printed, re.MULTILINE), f"{line}\n\n{printed}"
    new = {path for path in Path(folder).iterdir() if path not in before}
    assert {path.name for path in new} <= {"plain.zarr", "typo.zarr"}
    assert all(path.stat().st_mtime_ns == time for path, time in before.items())


def test_the_page_has_messages():
    assert len(list(examples())) > 20
