"""The reference implementation, and zarrcore's transactions without GDAL."""
import pytest

# Rewritten like tests, so that failed assertions show their values.
pytest.register_assert_rewrite("flat_buffers", "history", "verifier")

from judge import Calls, find_judge  # noqa: E402
from object_stores import server  # noqa: E402, F401
from shims import build_shim  # noqa: E402, F401
from toolchain import ROOT  # noqa: E402

PROGRAM = ROOT / "build/release/autotest/icechunk/icechunk_transactions"


@pytest.fixture(scope="session")
def judge():
    found = find_judge()
    if found is None:
        pytest.skip("the reference implementation of Icechunk does not run here: see judge.py")
    return found


@pytest.fixture(scope="session")
def judge_if_any():
    return find_judge()


@pytest.fixture(scope="session")
def start_core():
    """A function that starts a process of zarrcore."""
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} has not been built")
    started = []

    def start():
        started.append(Calls(PROGRAM))
        return started[-1]

    yield start
    for calls in started:
        calls.close()


@pytest.fixture(scope="session")
def core(start_core):
    return start_core()
