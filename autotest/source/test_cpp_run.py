"""autotest/cpp/run.py, with a program that stands for one of GoogleTest."""
import subprocess
from xml.etree import ElementTree

from tree import ROOT

PROGRAM = """#!/usr/bin/env bash
for option; do
  case $option in
    --gtest_list_tests)
      printf 'Suite.\\n'
      printf '  Test%s\\n' {0..19}
      exit ;;
    --gtest_filter=*) name=${option#*=Suite.} ;;
    --gtest_output=xml:*) report=${option#*:} ;;
  esac
done
if [[ ${GTEST_SHARD_INDEX-} == 1 ]]; then kill -ABRT $$; fi
printf '<testsuite><testcase classname="Suite" name="%s" status="run"/></testsuite>' \\
  "${name-part$GTEST_SHARD_INDEX}" >"$report"
"""


def test_process_that_crashes_though_each_test_passes(tmp_path):
    program = tmp_path / "autotest/cpp/some_tests"
    program.parent.mkdir(parents=True)
    program.write_text(PROGRAM)
    program.chmod(0o755)
    report = tmp_path / "report.xml"
    done = subprocess.run(["/usr/bin/python3", ROOT / "autotest/cpp/run.py", tmp_path, report,
                           "some_tests"], check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert "some_tests, part 1 of " in done.stdout, done.stdout
    assert "1 failed" in done.stdout
    cases = list(ElementTree.parse(report).iter("testcase"))
    failed = [case.get("name") for case in cases if case.find("failure") is not None]
    assert failed == ["part 1"]
    # The tests of the process that crashed, each once, and nobody else's.
    alone = [case.get("name") for case in cases if case.get("name").startswith("Test")]
    count = sum(case.get("name").startswith("part") for case in cases)
    assert alone == [f"Test{i}" for i in range(1, 20, count)]
