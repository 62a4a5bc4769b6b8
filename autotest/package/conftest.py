"""zarrcore, built without GDAL and installed into a folder of its own, static and shared."""
import pytest
from prefix import CONFIGURE, ROOT, Installed, run


@pytest.fixture(scope="session", params=["static", "shared"])
def installed(request, tmp_path_factory):
    """There is one build tree, which later runs use again: only the first run compiles them."""
    is_shared = request.param == "shared"
    build = ROOT / "build/package"
    prefix = tmp_path_factory.mktemp(request.param) / "prefix"
    run("cmake", *CONFIGURE, "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=Debug",
        "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DBUILD_DRIVER=OFF", "-DBUILD_TESTING=OFF",
        f"-DBUILD_SHARED_LIBS={'ON' if is_shared else 'OFF'}", f"-DCMAKE_INSTALL_PREFIX={prefix}",
        "-DCMAKE_INSTALL_LIBDIR=lib")
    run("cmake", "--build", build)
    run("cmake", "--install", build)
    return Installed(prefix, build, is_shared)
