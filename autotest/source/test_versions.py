"""One version in all files, and what a release has to be."""
import re
import subprocess

import pytest
from tree import ROOT, files, text

VERSION = re.search(r"project\(gdal-zarr VERSION (\d+\.\d+\.\d+)", text("CMakeLists.txt"))[1]


def sections():
    """The headings of the changelog for versions, from the newest on."""
    return re.findall(r"^## (.*)", text("CHANGELOG.md"), re.MULTILINE)


def test_the_changelog_keeps_its_form():
    first, *older = sections()
    assert first == "[Unreleased]" or first.startswith(f"[{VERSION}] - ")
    for heading in older:
        assert re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", heading), heading
    kinds = set(re.findall(r"^### (.*)", text("CHANGELOG.md"), re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_a_tagged_commit_is_its_release():
    tags = subprocess.run(["git", "tag", "--points-at", "HEAD", "--list", "v[0-9]*"], cwd=ROOT,
                          capture_output=True, text=True, check=False).stdout.split()
    if not tags:
        pytest.skip("no tag, no release")
    assert tags == [f"v{VERSION}"]
    assert sections()[0].startswith(f"[{VERSION}] - ")


def test_other_files_state_the_same_version():
    """Where a version must be written: the conda recipe, and what gdalinfo prints."""
    assert f'version = "{VERSION}"' in text("packaging/conda/meta.yaml")
    assert f"gdal-zarr {VERSION})" in text("README.md")
    for example in files("examples", suffixes=["CMakeLists.txt"]):
        minor = VERSION.rsplit(".", 1)[0]
        assert f"find_package(zarrcore {minor} " in text(example)


def test_the_recipe_is_yaml():
    """Without jinja2's expressions, which conda-build replaces."""
    yaml = pytest.importorskip("yaml")
    lines = [line for line in text("packaging/conda/meta.yaml").splitlines()
             if not line.startswith("{%")]
    recipe = yaml.safe_load(re.sub(r"\{\{.*?\}\}", "text", "\n".join(lines)))
    assert [output["name"] for output in recipe["outputs"]] == ["libgdal-zarr-plugin",
                                                                 "libzarrcore"]
    for output in recipe["outputs"]:
        assert (ROOT / "packaging/conda" / output["script"]).exists()
        assert output["test"]["commands"] and output["requirements"]["host"]
