"""Installing the plugin, and finding out whether a program uses it."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from osgeo import gdal
from toolchain import CONFIGURE

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = Path(os.environ["GDAL_DRIVER_PATH"]) / "gdal_Zarr.so"
# With the prefix of Debian's libgdal.
BESIDE = ["usr/bin/gdal_zarr", "usr/share/bash-completion/completions/gdal_zarr",
          "usr/share/man/man1/gdal_zarr.1", "usr/share/man/man7/gdal_zarr.7"]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for libraries in /proc")


def run(*command, code=0, **environment):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            timeout=300, env=os.environ | environment)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout + result.stderr


@pytest.fixture
def build(tmp_path):
    """Configures a separate build, with the plugin that was built before."""
    def configure(*options):
        run("cmake", *CONFIGURE, "-S", ROOT, "-B", tmp_path / "build", *options)
        for file in (PLUGIN, PLUGIN.with_name("gdal_zarr")):
            shutil.copy(file, tmp_path / "build/driver")
        return tmp_path / "build"
    return configure


def installed(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def plugin_folder():
    """Beside the libgdal of this process, in the folder that Debian compiles into it."""
    library = re.search(r"(/\S*)/libgdal\.so", Path("/proc/self/maps").read_text())
    folder = f"{library[1]}/gdalplugins"
    minor = ".".join(gdal.VersionInfo("RELEASE_NAME").split(".")[:2])
    return f"{folder}/{minor}" if os.path.isdir(f"{folder}/{minor}") else folder


def test_installs_where_libgdal_looks_and_uninstalls(build, tmp_path):
    folder, stage = build(), tmp_path / "stage"
    run("cmake", "--install", folder, DESTDIR=str(stage))
    plugin = stage / plugin_folder().lstrip("/") / "gdal_Zarr.so"
    assert installed(stage) == sorted([str(plugin.relative_to(stage)), *BESIDE])
    # libgdal contains the name of the folder.
    library = re.search(r"/\S*/libgdal\.so\S*", Path("/proc/self/maps").read_text())[0]
    assert f"{os.path.dirname(library)}/gdalplugins".encode() in Path(library).read_bytes()

    assert f"Removed: {plugin}" in run(
        "cmake", "--build", folder, "--target", "uninstall", DESTDIR=str(stage))
    assert installed(stage) == []
    assert "Nothing to uninstall" in run(
        "cmake", "--build", folder, "--target", "uninstall", code=1)


@pytest.mark.parametrize("how", ["configured", "at installation", "plugin folder"])
def test_installs_where_it_is_told(build, tmp_path, how):
    prefix = tmp_path / "prefix"
    options = {"configured": [f"-DCMAKE_INSTALL_PREFIX={prefix}"],
               "plugin folder": [f"-DGDAL_PLUGIN_DIR={prefix}/plugins"]}
    folder = build(*options.get(how, []))
    run("cmake", "--install", folder, *["--prefix", prefix] * (how == "at installation"))
    files = installed(prefix)
    (plugin,) = (file for file in files if file.endswith(".so"))
    others = [file for file in files if file != plugin]
    if how == "plugin folder":
        assert (plugin, others) == ("plugins/gdal_Zarr.so", [])
    else:
        assert re.fullmatch(r"lib.*/gdalplugins(/3\.\d+)?/gdal_Zarr\.so", plugin)
        assert others == [file.removeprefix("usr/") for file in BESIDE]
    got = run("gdalinfo", ROOT / "data/geoid_v3_sharded.zarr",
              GDAL_DRIVER_PATH=str((prefix / plugin).parent))
    assert got.startswith("Driver: Zarr/Zarr (gdal-zarr ")


def test_uninstall_leaves_what_is_gone_already(build, tmp_path):
    folder = build(f"-DGDAL_PLUGIN_DIR={tmp_path}/plugins")
    run("cmake", "--install", folder)
    (tmp_path / "plugins/gdal_Zarr.so").unlink()
    got = run("cmake", "--build", folder, "--target", "uninstall")
    assert f"Not there any more: {tmp_path}/plugins/gdal_Zarr.so" in got


def test_pages_of_the_package_link_to_what_it_has(build, tmp_path):
    folder = build(f"-DCMAKE_INSTALL_PREFIX={tmp_path}/usr", "-DINSTALL_DEBIAN_DOCUMENTS=ON")
    run("cmake", "--install", folder, "--component", "plugin")
    pages = list((tmp_path / "usr/share/doc/gdal-plugin-zarr").rglob("*.md"))
    links = [(page, link) for page in pages
             for link in re.findall(r"\]\((?!http|#)([^)\s#]+)[)#]", page.read_text())]
    assert len(links) > 50
    missing = [f"{page.name}: {link}" for page, link in links if not (page.parent / link).exists()]
    assert not missing


def test_programs_tell_which_driver_they_have():
    got = run("gdalinfo", "--format", "Zarr")
    version = re.search(r"project\(gdal-zarr VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())
    assert f"Long Name: Zarr (gdal-zarr {version[1]})\n" in got
    assert f"GDAL_ZARR_VERSION={version[1]}\n" in got
    build = re.search(r"GDAL_ZARR_BUILD=(.*)", got)[1]
    assert re.search(r"(GNU|Clang) \d+\.\d+.*, GDAL 3\.\d+\.\d+", build)
    assert build.endswith(f", GDAL {gdal.VersionInfo('RELEASE_NAME')}")

    # A folder without plugins: no error, but the built-in driver.
    assert "gdal-zarr" not in run("gdalinfo", "--format", "Zarr",
                                  GDAL_DRIVER_PATH="/no/such/folder")


def test_the_plugin_exports_its_entry_point_alone():
    """libgdal and other plugins in the process have classes and libraries of the same names."""
    lines = run("nm", "--dynamic", "--defined-only", PLUGIN).splitlines()
    assert [line.split()[-1] for line in lines] == ["GDALRegister_Zarr"]


# A GDAL of another version, in one library: it loads the plugin with the functions that it has.
OTHER_GDAL = """
#include <dlfcn.h>
#include <cstdarg>
#include <cstdio>

extern "C" const char* GDALVersionInfo(const char*) { return "9.9.9"; }
extern "C" void CPLError(int severity, int, const char* format, ...) {
  va_list values;
  va_start(values, format);
  std::printf("severity %d: ", severity);
  std::vprintf(format, values);
  va_end(values);
}
extern "C" int load_plugin(const char* path) {
  void* plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) return 1;
  reinterpret_cast<void (*)()>(dlsym(plugin, "GDALRegister_Zarr"))();
  return 0;
}
"""


def test_a_gdal_of_another_version_warns(tmp_path):
    """As in a Python with the GDAL of one Debian and, for the plugin, of the one before."""
    (tmp_path / "gdal.cpp").write_text(OTHER_GDAL)
    other = tmp_path / "libgdal_of_another_version.so"
    run("c++", "-std=c++20", "-fPIC", "-shared", tmp_path / "gdal.cpp", "-o", other, "-ldl")
    program = (f"import ctypes; other = ctypes.CDLL({str(other)!r})\n"
               f"assert other.load_plugin({str(PLUGIN)!r}.encode()) == 0")
    got = run(sys.executable, "-c", program)
    ours = gdal.VersionInfo("RELEASE_NAME")
    # A warning, because an error would be an exception in Python, and end the program.
    assert f"severity {gdal.CE_Warning}: " in got
    assert f"is built for GDAL {ours}, but GDAL 9.9.9 loads it" in got
