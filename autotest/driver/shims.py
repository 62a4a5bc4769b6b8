"""Libraries that are preloaded into programs. conftest.py makes the fixture known to all tests."""
import subprocess
import sys
from pathlib import Path

import pytest
from toolchain import COMPILER


@pytest.fixture(scope="session")
def build_shim(tmp_path_factory):
    """Compiles a source file of this folder into a library for LD_PRELOAD."""
    def build(name):
        if not sys.platform.startswith("linux"):
            pytest.skip("needs Linux")
        library = tmp_path_factory.mktemp("shim") / f"{name}.so"
        subprocess.run([COMPILER, "-std=c++17", "-O1", "-fPIC", "-shared", "-o", library,
                        Path(__file__).parent / f"{name}.cpp", "-ldl"], check=True)
        return library

    return build
