"""One version in all files, and what a release has to be."""
import os
import re
import shutil
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


def test_packages_have_their_version_and_date_from_git(tmp_path):
    tree = tmp_path / "tree"
    shutil.copytree(ROOT / "packaging", tree / "packaging")
    shutil.copy(ROOT / "CMakeLists.txt", tree)
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("GIT_")}

    def git(*words):
        return subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words], cwd=tree,
            check=True, capture_output=True, text=True,
            env=environment | {"GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z",
                               "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z"}).stdout.strip()

    def release():
        result = subprocess.run(
            ["cmake", f"-DOUTPUT={tree}/RELEASE", "-P", "packaging/write_release.cmake"], cwd=tree,
            env=environment, capture_output=True, text=True, check=False)
        if result.returncode:
            return result.stderr
        lines = (tree / "RELEASE").read_text().splitlines()
        (tree / "RELEASE").unlink()
        return lines

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    commit = git("rev-parse", "--short", "HEAD")
    seconds = "1767323045"
    assert release() == [f"{VERSION}~git20260102.{commit}", seconds, commit]
    git("tag", "v9.9.9")
    assert f"is v9.9.9, but project() says {VERSION}" in " ".join(release().split())
    git("tag", "-d", "v9.9.9")
    git("tag", f"v{VERSION}")
    assert release() == [VERSION, seconds, commit]
    git("commit", "-qm", "second", "--allow-empty")
    commit = git("rev-parse", "--short", "HEAD")
    assert release() == [f"{VERSION}+git20260102.{commit}", seconds, commit]


@pytest.mark.parametrize("option, reason", [
    ("-DGIT=installed", "not a git repository"), ("-DCMAKE_DISABLE_FIND_PACKAGE_Git=ON", "")])
def test_packages_are_no_release_if_git_does_not_answer(tmp_path, option, reason):
    (tmp_path / ".git").mkdir()
    script = tmp_path / "version.cmake"
    script.write_text(f'set(PROJECT_SOURCE_DIR "{tmp_path}")\nset(PROJECT_VERSION 1.2.3)\n'
                      f'include("{ROOT}/packaging/version.cmake")\n'
                      'message("version ${GDAL_ZARR_PACKAGE_VERSION}")\n')
    result = subprocess.run(["cmake", option, "-P", script], capture_output=True, text=True,
                            check=True,
                            env=os.environ | {"GIT_CEILING_DIRECTORIES": str(tmp_path.parent)})
    assert result.stderr == "version 1.2.3~unknown\n"
    assert "git does not answer" in result.stdout and reason in result.stdout


def test_other_files_state_the_same_version():
    """Where a version must be written: what gdalinfo prints, and what programs ask for."""
    assert f"gdal-zarr {VERSION})" in text("README.md")
    for example in files("examples", suffixes=["CMakeLists.txt"]):
        minor = VERSION.rsplit(".", 1)[0]
        assert f"find_package(zarrcore {minor} " in text(example)


def test_the_conda_recipe_renders():
    """With functions that return what conda-build's return in its place."""
    jinja2, yaml = pytest.importorskip("jinja2"), pytest.importorskip("yaml")
    template = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(
        text("packaging/conda/meta.yaml"))
    recipe = yaml.safe_load(template.render(
        compiler=lambda language: f"g{language}_linux-64", stdlib=lambda _: "sysroot_linux-64",
        pin_compatible=lambda package, max_pin: f"{package} >=1.2,<1.3",
        pin_subpackage=lambda package, max_pin: f"{package} >=1.0,<1.1"))
    assert recipe["package"]["version"] == VERSION
    assert [output["name"] for output in recipe["outputs"]] == ["libgdal-zarr-plugin",
                                                                 "libzarrcore"]
    for output in recipe["outputs"]:
        assert (ROOT / "packaging/conda" / output["script"]).exists()
        assert output["test"]["commands"] and output["requirements"]["host"]
