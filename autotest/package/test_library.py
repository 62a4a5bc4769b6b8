"""zarrcore as other programs use it: installed headers and library, CMake, pkg-config."""
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from prefix import COMPILER, CONFIGURE, ROOT, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads the symbols of ELF files")

DATA = ROOT / "data"
VERSION = re.search(r"project\(gdal-zarr VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]


@pytest.fixture(scope="module")
def examples(installed, tmp_path_factory):
    """The programs of examples/, built by a copy of that folder and nothing else of the sources."""
    folder = tmp_path_factory.mktemp("examples")
    shutil.copytree(ROOT / "examples", folder / "source")
    run("cmake", *CONFIGURE, "-S", folder / "source", "-B", folder / "build",
        f"-DCMAKE_PREFIX_PATH={installed.prefix}", "-DCMAKE_BUILD_TYPE=Debug",
        "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wshadow -Werror")
    run("cmake", "--build", folder / "build")
    return folder / "build"


def test_reads_a_window(examples):
    lines = run(examples / "read_window", DATA / "geoid_v3_sharded.zarr", "geoid", 80, 360, 2, 3)
    *names, values = lines.splitlines()
    assert "geoid" in names
    got = [float(value) for value in values.split()]
    want = run("gdal_translate", "-q", "-of", "XYZ", "-srcwin", 360, 80, 3, 2,
               DATA / "geoid_v2.zarr", "/vsistdout/").split()[2::3]
    assert got == pytest.approx([float(value) for value in want], rel=1e-4)

    message = run(examples / "read_window", DATA / "geoid_v3_sharded.zarr", "none", code=1)
    assert "none" in message and "geoid_v3_sharded.zarr" in message


def test_writes_shards_and_appends(examples, tmp_path):
    import numpy as np
    from osgeo import gdal

    store = tmp_path / "new.zarr"
    run(examples / "write_shards", store)
    keys = sorted(str(path.relative_to(store)) for path in store.rglob("*") if path.is_file())
    assert keys == sorted(["zarr.json", "temperature/zarr.json",
                           *(f"temperature/c/{t}/{y}/{x}" for t in range(6)
                             for y in range(2) for x in range(2))])
    time, y, x = np.indices((6, 512, 512), dtype=np.float32)
    root = gdal.OpenEx(str(store), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    got = root.OpenMDArray("temperature").ReadAsArray()
    np.testing.assert_array_equal(got, 1000 * time + y + x)
    assert "already exists" in run(examples / "write_shards", store, code=1)


def test_reads_through_a_store_of_its_own(examples, tmp_path):
    archive = tmp_path / "geoid.tar"
    with tarfile.open(archive, "w", format=tarfile.USTAR_FORMAT) as tar:
        tar.add(DATA / "geoid_v3_sharded.zarr", ".")
    assert "geoid" in run(examples / "own_store", archive).split()
    got = re.fullmatch(r"(\d+) values from (\S+) to (\S+)\n",
                       run(examples / "own_store", archive, "geoid"))
    assert float(got[2]) == pytest.approx(-106.97, abs=0.01)
    assert float(got[3]) == pytest.approx(84.63, abs=0.01)

    damaged = tmp_path / "damaged.tar"
    damaged.write_bytes(archive.read_bytes()[:5000])
    assert "damaged.tar" in run(examples / "own_store", damaged, "geoid", code=1)
    (tmp_path / "empty.tar").touch()
    assert "is not a tar archive" in run(examples / "own_store", tmp_path / "empty.tar", code=1)


def test_every_stable_function_links(installed, tmp_path):
    """With pkg-config, which also tells of the codec libraries if zarrcore is static."""
    program = installed.compile(ROOT / "autotest/package/stable_api.cpp", tmp_path / "stable_api")
    assert run(program, tmp_path / "store.zarr") == f"zarrcore {VERSION}\n"
    assert installed.pkg_config("--modversion") == [VERSION]


def test_the_program_of_the_page_compiles(installed, tmp_path):
    page = (ROOT / "doc/library.md").read_text()
    program = max(re.findall(r"```cpp\n(.*?)```", page, re.DOTALL), key=len)
    source = tmp_path / "page.cpp"
    source.write_text("#include <zarrcore/zarrcore.h>\n#include <iostream>\n"
                      f"int main() {{\n{program}}}\n")
    installed.compile(source, tmp_path / "page")


def test_the_headers_need_no_gdal(installed, tmp_path):
    """Every file that the compiler reads is of zarrcore, of nlohmann_json or of the system."""
    source = tmp_path / "all.cpp"
    source.write_text("#include <zarrcore/zarrcore.h>\nint main() {}\n")
    got = run(COMPILER, "-std=c++20", "-M", source, *installed.pkg_config("--cflags"))
    files = {Path(name).resolve() for name in re.findall(r"/[^\s\\]+", got)} - {source.resolve()}
    assert installed.prefix.resolve() / "include/zarrcore/zarrcore.h" in files
    names = " ".join(map(str, files)).replace(str(ROOT), "")
    assert not re.search(r"gdal|cpl_|ogr_|proj", names)
    assert not any(file.is_relative_to(ROOT / "zarrcore") for file in files)


def test_each_installed_header_compiles_alone(installed, tmp_path):
    headers = sorted(path.relative_to(installed.prefix / "include")
                     for path in installed.prefix.glob("include/**/*.h"))
    assert Path("zarrcore/store/store.h") in headers
    named = set(re.findall(r'#include "(zarrcore/[^"]+)"',
                           (ROOT / "zarrcore/zarrcore.h").read_text()))
    assert named < {str(header) for header in headers}
    if installed.is_shared:
        pytest.skip("the headers are those of the static library")
    # Two are enough here: the build compiles sources that include each of them first.
    for header in (headers[0], headers[-1]):
        source = tmp_path / "alone.cpp"
        source.write_text(f"#include <{header}>\n")
        run(COMPILER, "-std=c++20", "-fsyntax-only", source, *installed.pkg_config("--cflags"))


OURS = re.compile(r"((vtable|typeinfo|typeinfo name|guard variable) for )?zarrcore::")


def test_the_static_library_defines_zarrcore_alone(installed):
    """Templates of other libraries are weak: the linker keeps one copy of each."""
    if installed.is_shared:
        pytest.skip("the next test is for it")
    lines = run("nm", "-gC", "--defined-only", installed.library).splitlines()
    strong = [line.split(" ", 2)[2] for line in lines if re.match(r"[0-9a-f]+ [TDBR] ", line)]
    assert len(strong) > 500
    assert not [name for name in strong if not OURS.match(name)]


def test_the_shared_library_exports_zarrcore_alone(installed):
    if not installed.is_shared:
        pytest.skip("a static library has no exports")
    names = run("nm", "-DC", "--defined-only", installed.library).splitlines()
    exported = {line.split(" ", 2)[2] for line in names}
    assert len(exported) > 100
    assert not [name for name in exported if not OURS.match(name)]
    # Details stay inside.
    assert not [name for name in exported if re.search(r"PosixFile|ChunkReader|make_zstd", name)]
    dynamic = run("readelf", "-d", installed.library)
    minor = ".".join(VERSION.split(".")[:2])
    assert f"Library soname: [libzarrcore.so.{minor}]" in dynamic
    assert installed.library.resolve().name == f"libzarrcore.so.{VERSION}"
    assert "libgdal" not in dynamic


@pytest.mark.parametrize("asked, answer", [
    ("zarrcore 1.0 REQUIRED COMPONENTS zfp blosc", None),
    ("zarrcore 2.0 REQUIRED", "version 1.0.0|compatible"),
    ("zarrcore 1.0 REQUIRED COMPONENTS pcodec", "no component pcodec"),
])
def test_find_package(installed, tmp_path, asked, answer):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(user LANGUAGES CXX)\n"
        f"find_package({asked})\nget_target_property(where zarrcore::zarrcore LOCATION)\n"
        "message(STATUS \"found ${where}\")\n")
    got = run("cmake", *CONFIGURE, "-S", tmp_path, "-B", tmp_path / "build",
              f"-DCMAKE_PREFIX_PATH={installed.prefix}", code=1 if answer else 0)
    assert re.search(answer or f"found {installed.prefix}/lib", got)


def test_an_installed_tree_can_be_moved(installed, tmp_path):
    moved = tmp_path / "moved"
    shutil.copytree(installed.prefix, moved, symlinks=True)
    flags = run("pkg-config", "--cflags", "zarrcore",
                PKG_CONFIG_PATH=str(moved / "lib/pkgconfig"))
    folder = Path(re.search(r"-I(\S+)", flags)[1]).resolve()
    assert folder == moved / "include"
    texts = [path.read_text() for path in (*moved.rglob("*.cmake"), *moved.rglob("*.pc"))]
    assert texts and not [text for text in texts if str(installed.prefix) in text]


def test_a_build_without_a_codec_says_so(tmp_path):
    """Configuring is enough: the file that stands in for codecs is compiled by itself."""
    build = tmp_path / "build"
    run("cmake", *CONFIGURE, "-S", ROOT, "-B", build, "-DBUILD_DRIVER=OFF",
        "-DINSTALL_ZARRCORE=ON", "-DZARRCORE_ZFP=OFF", "-DZARRCORE_LZMA=OFF")
    assert 'set(zarrcore_CODECS "blosc;bz2;lz4")' in (
        build / "zarrcore/zarrcoreConfig.cmake").read_text()
    pc = (build / "zarrcore/zarrcore.pc").read_text()
    assert "liblzma" not in pc and "zfp" not in pc
    compiled = "".join(unit.read_text() for unit in build.rglob("Unity/*.cxx"))
    assert "codec/zstd.cpp" in compiled and "codec/zfp" not in compiled
    object_file = tmp_path / "missing.o"
    run(COMPILER, "-std=c++20", "-c", "-I", ROOT, "-DZARRCORE_WITHOUT_ZFP",
        "-DZARRCORE_WITHOUT_LZMA", ROOT / "zarrcore/codec/registry.cpp", "-o", object_file)
    got = run("nm", "-C", object_file)
    assert {"zfp", "zfpy", "lzma"} == set(re.findall(r" T zarrcore::make_(\w+)\(", got))

    got = subprocess.run(["cmake", *CONFIGURE, "-S", ROOT, "-B", tmp_path / "driver",
                          "-DZARRCORE_LZ4=OFF"],
                         capture_output=True, text=True, check=False)
    assert got.returncode and "ZARRCORE_LZ4 is OFF, but the driver" in got.stderr
