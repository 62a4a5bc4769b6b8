"""Many files as one virtual array: side by side, and one after the other along a dimension."""
import shutil
import subprocess
import sys

import numpy as np
import pytest
from foreign_chunks import grib_message
from night import rounds
from osgeo import gdal
from request_log import log_requests
from test_commands import PROGRAM, failure, run
from virtual_sources import chunks, make_virtual, read_with_zarr, references, write_tiff
from webserver import serve

RANDOM = np.random.default_rng(5)
TILED = ["TILED=YES", "BLOCKXSIZE=32", "BLOCKYSIZE=32", "COMPRESS=DEFLATE"]
DAYS = ["20200101", "20200229", "20201231"]


def virtualize(target, *arguments, fails=False):
    """The result of the command, or its message if it fails."""
    return (failure if fails else run)("virtualize", target, *arguments)


def scene(path, shape=(1, 64, 96), place=(500, 10, 0, 900, 0, -10), options=TILED, **more):
    data = RANDOM.integers(1, 200, shape).astype("u1")
    write_tiff(path, data, *options, place=place, **more)
    return data


def read(path, name="data"):
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    return dataset.GetRootGroup().OpenMDArray(name).ReadAsArray()


def scenes(folder):
    """A file for each day, of which the last comes first."""
    data = {day: scene(folder / f"S_{day}_T1.tif")[0] for day in reversed(DAYS)}
    return [folder / f"S_{day}_T1.tif" for day in reversed(DAYS)], np.stack(
        [data[day] for day in DAYS])


@pytest.mark.parametrize("name", ["a.json", "a.parq", "ICECHUNK:{}/repository"])
def test_a_stack_by_the_times_in_names(tmp_path, name):
    files, data = scenes(tmp_path)
    target = name.format(tmp_path) if ":" in name else tmp_path / name
    virtualize(target, *files, "--time-pattern", "S_%Y%m%d")
    np.testing.assert_array_equal(read(target), data)
    dataset = gdal.OpenEx(str(target), gdal.OF_MULTIDIM_RASTER)
    array = dataset.GetRootGroup().OpenMDArray("data")
    time, rows, columns = array.GetDimensions()
    assert [d.GetName() for d in (time, rows, columns)] == ["time", "Y", "X"]
    variable = time.GetIndexingVariable()
    expected = np.array(["2020-01-01", "2020-02-29", "2020-12-31"], "M8[s]").astype("i8")
    np.testing.assert_array_equal(variable.ReadAsArray(), expected)
    assert variable.GetUnit() == "seconds since 1970-01-01 00:00:00"
    np.testing.assert_array_equal(columns.GetIndexingVariable().ReadAsArray(),
                                  505 + 10 * np.arange(96))
    if name == "a.json":
        found = chunks(target)
        assert sum(key.startswith("data/") for key in found) == 3 * 2 * 3
        assert all(isinstance(found[key], list) for key in found if key.startswith("data/"))
        np.testing.assert_array_equal(read_with_zarr(target, "data")[:], data)


def test_xarray_decodes_the_times(tmp_path):
    xarray = pytest.importorskip("xarray")
    files, data = scenes(tmp_path)
    virtualize(tmp_path / "a.json", *files, "--time-pattern", "%Y%m%d", "--var", "reflectance")
    opened = xarray.open_dataset(
        "reference://", engine="zarr",
        backend_kwargs={"consolidated": False, "storage_options": {"fo": str(tmp_path / "a.json")}})
    np.testing.assert_array_equal(
        opened.time.values.astype("M8[D]").astype(str), ["2020-01-01", "2020-02-29", "2020-12-31"])
    np.testing.assert_array_equal(opened.reflectance.values, data)
    assert opened.reflectance.dims == ("time", "Y", "X")
    np.testing.assert_array_equal(opened.sel(time="2020-02-29").reflectance.values.squeeze(),
                                  data[1])


@pytest.mark.parametrize("interleave", ["PIXEL", "BAND"])
def test_bands_stay_together(tmp_path, interleave):
    data = [scene(tmp_path / f"{i}.tif", (3, 64, 96), options=TILED + ["INTERLEAVE=" + interleave])
            for i in range(2)]
    virtualize(tmp_path / "a.json", tmp_path / "0.tif", tmp_path / "1.tif", "--dim", "scene")
    stack = np.stack(data)
    np.testing.assert_array_equal(read(tmp_path / "a.json"),
                                  np.moveaxis(stack, 1, 3) if interleave == "PIXEL" else stack)
    assert all(isinstance(value, list) for key, value in chunks(tmp_path / "a.json").items()
               if key.startswith("data/"))


def mosaic(folder, **more):
    """Two tiles of each of two days, and none in a corner; and what they show together."""
    whole = np.zeros((2, 128, 160), "u1")
    for step, day in enumerate(DAYS[:2]):
        for tile, (x, y) in enumerate([(0, 0), (96, 64)]):
            tile_data = scene(folder / f"T{tile}_{day}.tif", (1, 64, 96 if x == 0 else 64),
                              (500 + 10 * x, 10, 0, 900 - 10 * y, 0, -10), **more)
            whole[step, y:y + 64, x:x + tile_data.shape[2]] = tile_data
    return whole


def test_files_of_one_time_are_side_by_side(tmp_path):
    whole = mosaic(tmp_path)
    files = sorted(tmp_path.glob("*.tif"), reverse=True)
    virtualize(tmp_path / "a.json", *files, "--time-pattern", "%Y%m%d")
    np.testing.assert_array_equal(read(tmp_path / "a.json"), whole)
    assert gdal.Open(str(tmp_path / "a.json")).GetGeoTransform() == (500, 10, 0, 900, 0, -10)
    assert "data/0.0.4" not in chunks(tmp_path / "a.json")
    virtualize(tmp_path / "m.json", tmp_path / "T0_20200101.tif", tmp_path / "T1_20200101.tif")
    np.testing.assert_array_equal(read(tmp_path / "m.json"), whole[0])


def test_gaps_read_as_nodata(tmp_path):
    whole = mosaic(tmp_path, nodata=250)
    whole[whole == 0] = 250
    virtualize(tmp_path / "a.json", *tmp_path.glob("*.tif"), "--time-pattern", "%Y%m%d")
    np.testing.assert_array_equal(read(tmp_path / "a.json"), whole)
    assert gdal.Open(str(tmp_path / "a.json")).GetRasterBand(1).GetNoDataValue() == 250


@pytest.mark.parametrize("form", ["list", "index"])
def test_lists_and_tile_indexes(tmp_path, form):
    whole = mosaic(tmp_path)
    names = sorted(path.name for path in tmp_path.glob("*.tif"))
    if form == "list":
        (tmp_path / "files.txt").write_text("".join(f"{tmp_path}/{name}\n" for name in names))
    else:
        subprocess.run(["gdaltindex", "tiles.shp", *names], cwd=tmp_path, check=True)
    source = tmp_path / ("files.txt" if form == "list" else "tiles.shp")
    virtualize(tmp_path / "a.json", f"--{form}", source, "--time-pattern", "%Y%m%d")
    np.testing.assert_array_equal(read(tmp_path / "a.json"), whole)


def test_times_in_metadata(tmp_path):
    data = {}
    for name, time in [("a", "2021:05:06 07:08:09"), ("b", "2021:05:06 07:08:08")]:
        data[time] = scene(tmp_path / f"{name}.tif")[0]
        gdal.Open(str(tmp_path / f"{name}.tif"), gdal.GA_Update).SetMetadataItem(
            "TIFFTAG_DATETIME", time)
    virtualize(tmp_path / "s.json", tmp_path / "a.tif", tmp_path / "b.tif", "--time-item",
               "TIFFTAG_DATETIME")
    np.testing.assert_array_equal(read(tmp_path / "s.json"),
                                  np.stack([data[time] for time in sorted(data)]))
    seconds = np.array(["2021-05-06T07:08:08", "2021-05-06T07:08:09"], "M8[s]").astype("i8")
    np.testing.assert_array_equal(read(tmp_path / "s.json", "time"), seconds)


@pytest.mark.parametrize("text, time", [
    ("2021-05-06T07:08:09Z", "2021-05-06T07:08:09"), ("2021-05-06 07:08", "2021-05-06T07:08:00"),
    ("2021/05/06", "2021-05-06"), ("1620284889 sec UTC", "2021-05-06T07:08:09"),
    ("2021-05-06T07:08:09+00:00", "2021-05-06T07:08:09"), ("2021-05-06T07:08:09-02:00", None),
    ("2021-02-30", None), ("2021-05-06 25:00", None), ("20210506", "2021-05-06"), ("soon", None),
    ("2021-05-06T07:08:09+0200", None), ("2021-05-06 07:08:09 CET", None),
    ("20210506T070809-05", None), ("2021-05-06 07:08:75", None), ("2021:05:06 07:08:09 PM", None),
    ("2021-05-06+02:00", None), ("2021-05-06T07:08:09.5Z", "2021-05-06T07:08:09")])
def test_forms_of_times(tmp_path, text, time):
    scene(tmp_path / "a.tif")
    gdal.Open(str(tmp_path / "a.tif"), gdal.GA_Update).SetMetadataItem("WHEN", text)
    words = (tmp_path / "s.json", tmp_path / "a.tif", "--time-item", "WHEN")
    if time is None:
        assert f"WHEN={text} is not a time" in virtualize(*words, fails=True)
        return
    virtualize(*words)
    seconds = int(np.datetime64(time, "s").astype("i8"))
    assert read(tmp_path / "s.json", "time").tolist() == [seconds]


@pytest.mark.parametrize("words, problem", [
    (["--list", "no.txt"], "no.txt cannot be opened"), (["--list", "list.txt"], "/no/file.tif"),
    (["--index", "list.txt"], "list.txt"), (["--index", "points.csv"], "no field location"),
    (["--index", "empty.csv"], "names no file"), ([], "no inputs")])
def test_bad_lists_and_indexes(tmp_path, monkeypatch, words, problem):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list.txt").write_text("\n/no/file.tif\r\n/no/other.tif")
    (tmp_path / "points.csv").write_text("name,x\na.tif,1\n")
    (tmp_path / "empty.csv").write_text('location,x\n"",1\n')
    assert problem in virtualize("a.json", *words, "--dim", "d", fails=True)
    assert not (tmp_path / "a.json").exists()


def test_times_of_the_bands_of_a_vrt(tmp_path):
    files, data = scenes(tmp_path)
    subprocess.run(["gdalbuildvrt", "-q", "-separate", tmp_path / "s.vrt", *files], check=True)
    virtualize(tmp_path / "a.json", tmp_path / "s.vrt", "--time-pattern", "%Y%m%d")
    np.testing.assert_array_equal(read(tmp_path / "a.json"), data)


def problem_of(folder, name):
    """Two files that do not fit together, by what is wrong with the second."""
    first, second = folder / "a_20200101.tif", folder / "b_20200102.tif"
    scene(first)
    place = (500, 10, 0, 900, 0, -10)
    makers = {
        "its blocks have another shape": lambda: scene(second, options=["COMPRESS=DEFLATE"]),
        "in its data type": lambda: write_tiff(second, np.ones((1, 64, 96), "i2"), *TILED,
                                               place=place),
        "in its number of bands": lambda: scene(second, (2, 64, 96)),
        "in its nodata value": lambda: scene(second, nodata=3),
        "in its pixel size": lambda: scene(second, place=(500, 20, 0, 900, 0, -20)),
        "between those of the first": lambda: scene(second, place=(505, 10, 0, 900, 0, -10)),
        "not aligned": lambda: scene(second, place=(510, 10, 0, 900, 0, -10)),
        "too far from the first": lambda: scene(second, place=(5e8, 10, 0, 900, 0, -10)),
        "do not run along": lambda: scene(second, place=(500, 10, 1, 900, 0, -10)),
        "overlaps another": lambda: shutil.copy(first, folder / "b_20200101.tif"),
        "cannot be opened": lambda: second.write_text("no raster"),
    }
    makers[name]()
    return sorted(folder.glob("*.tif"))


@pytest.mark.parametrize("problem", [
    "its blocks have another shape", "in its data type", "in its number of bands",
    "in its nodata value", "in its pixel size", "between those of the first", "not aligned",
    "too far from the first", "do not run along", "overlaps another", "cannot be opened"])
def test_what_does_not_fit_is_an_error(tmp_path, problem):
    files = problem_of(tmp_path, problem)
    message = virtualize(tmp_path / "a.json", *files, "--time-pattern", "%Y%m%d", fails=True)
    assert problem in message and "b_2020010" in message
    assert not (tmp_path / "a.json").exists()


@pytest.mark.parametrize("pattern, problem", [
    ("%Y%m%dX", "does not match"), ("%Q", "unknown code %Q"), ("x", "no code"),
    ("%Y%", "ends within a code"), ("%j", "does not match")])
def test_patterns_that_do_not_match(tmp_path, pattern, problem):
    scene(tmp_path / "a_20200101.tif")
    assert problem in virtualize(tmp_path / "a.json", tmp_path / "a_20200101.tif",
                                 "--time-pattern", pattern, fails=True)


@pytest.mark.parametrize("problem", ["its blocks have another shape", "not aligned"])
def test_only_what_cannot_be_referred_to_is_copied(tmp_path, problem):
    files = problem_of(tmp_path, problem)
    virtualize(tmp_path / "a.json", *files, "--time-pattern", "%Y%m%d", "--auto")
    found = {key: value for key, value in chunks(tmp_path / "a.json").items()
             if key.startswith("data/")}
    referred = {key.split("/")[1][0] for key, value in found.items() if isinstance(value, list)}
    assert referred == {"0"}
    whole = read(tmp_path / "a.json")
    x = 1 if problem == "not aligned" else 0
    for step, file in enumerate(files):
        np.testing.assert_array_equal(whole[step, :, x * step:x * step + 96],
                                      gdal.Open(str(file)).ReadAsArray())


def test_a_source_that_is_gone_or_shorter_is_an_error(tmp_path):
    files, _ = scenes(tmp_path)
    virtualize(tmp_path / "a.json", *files, "--time-pattern", "%Y%m%d")
    files[0].write_bytes(files[0].read_bytes()[:400])
    files[1].unlink()
    array = gdal.OpenEx(str(tmp_path / "a.json"),
                        gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("data")
    for step in (1, 2):
        with pytest.raises(RuntimeError, match="S_2020"):
            array.ReadAsArray([step, 32, 64], [1, 32, 32])
    assert array.ReadAsArray([0, 0, 0], [1, 32, 32]) is not None


def test_one_input_becomes_as_by_a_copy(tmp_path):
    data = scene(tmp_path / "s.tif")
    result = virtualize(tmp_path / "a.json", tmp_path / "s.tif", "--relative", "--v3")
    assert result == {"store": str(tmp_path / "a.json"), "inputs": 1}
    assert {value[0] for value in references(tmp_path / "a.json").values()
            if isinstance(value, list)} == {"s.tif"}
    np.testing.assert_array_equal(read(tmp_path / "a.json"), data[0])
    assert "already exists" in virtualize(tmp_path / "a.json", tmp_path / "s.tif", fails=True)
    assert "no inputs" in virtualize(tmp_path / "b.json", fails=True)


def cogs(folder, count):
    """Of 100 tiles of 16 KiB and two overviews each."""
    driver = gdal.GetDriverByName("COG")
    for i in range(count):
        write_tiff(folder / "plain.tif", RANDOM.integers(0, 60000, (1, 1280, 1280)).astype("u2"))
        made = driver.CreateCopy(str(folder / f"c_2020010{i + 1}.tif"),
                                 gdal.Open(str(folder / "plain.tif")),
                                 options=["BLOCKSIZE=128", "COMPRESS=DEFLATE"])
        assert made is not None
        made = None
    return [f"c_2020010{i + 1}.tif" for i in range(count)]


def test_sources_on_the_network(tmp_path, monkeypatch):
    """Making the store reads headers and one block; a window costs a request for each run of
    chunks that are adjacent in a file."""
    names = cogs(tmp_path, 3)
    with serve(tmp_path, monkeypatch) as server:
        inputs = [f"/vsicurl/{server.url}/{name}" for name in names]
        with log_requests(server) as log:
            virtualize(tmp_path / "a.json", *inputs, "--time-pattern", "%Y%m%d")
        paths = [path for _, _, _, path in log.entries]
        found = chunks(tmp_path / "a.json")
        assert {value[0] for key, value in found.items() if key.startswith("data/")} == {
            f"{server.url}/{name}" for name in names}
        # HEAD, the header, and a block of the first file; GDAL looks for others beside each.
        assert [paths.count("/" + name) for name in names] == [3, 2, 2]
        assert len(paths) <= 3 * 10
        gdal.VSICurlClearCache()
        dataset = gdal.OpenEx(str(tmp_path / "a.json"), gdal.OF_MULTIDIM_RASTER)
        array = dataset.GetRootGroup().OpenMDArray("data")
        for window, requests in [(([1, 300, 0], [1, 10, 1280]), 1),
                                 (([1, 600, 200], [1, 200, 200]), 3),
                                 (([0, 0, 0], [3, 10, 10]), 3)]:
            with log_requests(server) as log:
                values = array.ReadAsArray(*window)
            # None for the size of a file.
            assert {method for _, _, method, _ in log.entries} == {"GET"}
            assert log.count == requests
            for step in range(window[1][0]):
                source = gdal.Open(str(tmp_path / names[window[0][0] + step]))
                np.testing.assert_array_equal(
                    values[step], source.ReadAsArray(window[0][2], window[0][1],
                                                     window[1][2], window[1][1]))


@pytest.mark.parametrize("name", ["a.json", "a.parq", "ICECHUNK:{}/repository"])
def test_parts_of_many_files_are_requested_at_once(tmp_path, monkeypatch, name):
    """Sixteen, or as many as an option says; each costs one request. A repository asks for the
    ETag of each file before."""
    target = name.format(tmp_path) if ":" in name else str(tmp_path / name)
    data = [scene(tmp_path / f"{i:02}.tif", (1, 64, 64), options=["BLOCKYSIZE=64"])
            for i in range(20)]
    with serve(tmp_path, monkeypatch) as server:
        virtualize(target, *(f"/vsicurl/{server.url}/{i:02}.tif" for i in range(20)), "--dim=n")
        for at_once in (16, 4):
            gdal.VSICurlClearCache()
            gdal.SetConfigOption("ZARR_PARALLEL_REQUESTS", str(at_once))
            with log_requests(server) as log:
                values = read(target)
            gdal.SetConfigOption("ZARR_PARALLEL_REQUESTS", None)
            np.testing.assert_array_equal(values, np.concatenate(data))
            of_files = [path for path in log.paths if path.endswith(".tif")]
            kinds = 2 if ":" in name else 1
            assert len(of_files) == 20 * kinds, log
            assert len(log.waves) <= -(-20 // at_once) * kinds + 1, log
            assert max(map(len, log.waves)) <= at_once, log


@pytest.mark.skipif(gdal.GetDriverByName("GRIB") is None, reason="GDAL has no driver GRIB")
@pytest.mark.parametrize("option", ["--time-pattern=%Y%m%d", "--dim=time"])
def test_a_stack_of_grib_files(tmp_path, option):
    data = RANDOM.integers(0, 99, (3, 6, 8)).astype("f8")
    for step, day in enumerate(DAYS):
        (tmp_path / f"{day}.grib").write_bytes(grib_message(data[step]))
    virtualize(tmp_path / "a.json", *sorted(tmp_path.glob("*.grib")), option, "--var=data")
    np.testing.assert_allclose(read(tmp_path / "a.json"), data, 1e-6)
    found = {key: value for key, value in chunks(tmp_path / "a.json").items()
             if key.startswith("data/")}
    assert len(found) == 3 and all(isinstance(value, list) for value in found.values())


@pytest.mark.skipif(not hasattr(gdal, "Run"), reason="GDAL has no algorithms")
def test_the_indexes_and_mosaics_of_newer_versions(tmp_path, monkeypatch):
    """`gdal driver gti create`, `gdal mdim mosaic` and `gdal driver zarr virtualize`."""
    whole = mosaic(tmp_path)
    monkeypatch.chdir(tmp_path)
    files = sorted(path.name for path in tmp_path.glob("*.tif"))
    gdal.Run(["driver", "gti", "create"], input=files, output="tiles.gti.gpkg").Finalize()
    algorithm = gdal.Run(["driver", "zarr", "virtualize"], store="a.json", index="tiles.gti.gpkg",
                         **{"time-pattern": "%Y%m%d"})
    assert algorithm is not None
    np.testing.assert_array_equal(read("a.json"), whole)
    h5py = pytest.importorskip("h5py")
    for i in range(3):
        with h5py.File(f"{i}.nc", "w") as file:
            for axis, length in zip("tyx", (1, 4, 5), strict=True):
                file[axis] = np.arange(length) + float(i if axis == "t" else 0)
                file[axis].make_scale(axis)
            file.create_dataset("v", data=np.full((1, 4, 5), i, "i4"), chunks=(1, 4, 5))
            for k, axis in enumerate("tyx"):
                file["v"].dims[k].attach_scale(file[axis])
    gdal.Run(["mdim", "mosaic"], input=[f"{i}.nc" for i in range(3)], output="m.vrt").Finalize()
    virtualize("m.json", "m.vrt")
    np.testing.assert_array_equal(read("m.json", "v")[:, 0, 0], [0, 1, 2])
    assert {value[0] for key, value in chunks("m.json").items() if key.startswith("v/")} == {
        str(tmp_path / f"{i}.nc") for i in range(3)}


def test_sources_in_an_object_store(tmp_path, server):
    data = scene(tmp_path / "a.tif")[0]
    content = (tmp_path / "a.tif").read_bytes()
    file = gdal.VSIFOpenL("/vsis3/bucket/a.tif", "wb")
    assert gdal.VSIFWriteL(content, 1, len(content), file) == len(content)
    assert gdal.VSIFCloseL(file) == 0
    assert make_virtual("/vsis3/bucket/a.tif", tmp_path / "a.json") is not None
    assert {value[0] for value in references(tmp_path / "a.json").values()
            if isinstance(value, list)} == {"s3://bucket/a.tif"}
    np.testing.assert_array_equal(read(tmp_path / "a.json", "a"), data)


def test_many_scenes_take_little_memory(tmp_path):
    """10,000 by night."""
    count = rounds(500, 10_000)
    data = scene(tmp_path / "scene.tif", (1, 64, 64))[0]
    days = np.datetime64("2000-01-01") + np.arange(count)
    for day in days:
        shutil.copy(tmp_path / "scene.tif", tmp_path / f"S_{day}.tif")
    (tmp_path / "list.txt").write_text("".join(f"{tmp_path}/S_{day}.tif\n" for day in days))
    for name in ("a.json", "a.parq", f"ICECHUNK:{tmp_path}/repository"):
        target = name if ":" in name else str(tmp_path / name)
        done = subprocess.run(
            [sys.executable, "-c", ("import resource, subprocess, sys; "
             "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
             "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"),
             PROGRAM, "virtualize", target, "--list", tmp_path / "list.txt",
             "--time-pattern", "%Y-%m-%d"],
            capture_output=True, text=True, check=True)
        assert int(done.stdout) < 120 << 10  # KiB
        last = gdal.OpenEx(target, gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("data")
        np.testing.assert_array_equal(last.ReadAsArray([count - 1, 0, 0], [1, 64, 64])[0], data)
