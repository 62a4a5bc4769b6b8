"""GRIB files as cubes: each element becomes an array, with times, levels and members."""
import datetime
import itertools

import eccodes_library
import numpy as np
import pytest
from eccodes_library import Message, values_of
from foreign_chunks import grib_message
from osgeo import gdal
from test_commands import failure, run
from virtual_sources import references

pytestmark = pytest.mark.skipif(gdal.GetDriverByName("GRIB") is None,
                                reason="GDAL has no driver GRIB")
RANDOM = np.random.default_rng(6)
DAYS = ["2020-01-01", "2020-01-02", "2020-02-01"]
RH, UGRD, HGT, TMP = (1, 1), (2, 2), (3, 5), (0, 0)
HTGL, ISBL, BELOW = 103, 100, 106


def virtualize(target, *inputs, fails=False):
    return (failure if fails else run)("virtualize", target, *inputs)


def message(data, parameter, level, day=DAYS[0], member=None):
    """`level`: the type of a surface and its value, or two values."""
    kind, *values = level
    second = [kind, 0, values[1]] if len(values) > 1 else [255, -127, -2147483647]
    template = [*parameter, 2, 0, 96, 0, 0, 1, 0, kind, 0, values[0], *second]
    if member is not None:
        template += [3, member, 10]
    return grib_message(
        data, "DISCIPLINE=0", f"IDS_REF_TIME={day}T00:00:00Z",
        f"PDS_PDTN={0 if member is None else 1}",
        "PDS_TEMPLATE_ASSEMBLED_VALUES=" + " ".join(map(str, template)))


def field():
    return RANDOM.integers(0, 99, (6, 8)).astype("f8")


def opened(path):
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    return dataset.GetRootGroup()


def coordinates(array):
    return {d.GetName(): d.GetIndexingVariable().ReadAsArray().tolist()
            for d in array.GetDimensions()[:-2]}


def seconds(days):
    return [int(datetime.datetime.fromisoformat(day + "T00:00:00+00:00").timestamp())
            for day in days]


def count_of_chunks(path, name):
    found = [value for key, value in references(path).items()
             if key.startswith(name + "/") and key[len(name) + 1].isdigit()]
    assert all(isinstance(value, list) for value in found)
    return len(found)


@pytest.mark.parametrize("files", ["one", "one a day"])
def test_elements_levels_and_times(tmp_path, files):
    kinds = [(RH, (HTGL, 2)), *((RH, (ISBL, p)) for p in (50000, 85000, 100000)),
             (UGRD, (ISBL, 85000)), (UGRD, (ISBL, 50000)), (HGT, (ISBL, 50000))]
    data = {(*kind, day): field() for kind, day in itertools.product(kinds, DAYS)}
    keys = list(data)
    RANDOM.shuffle(keys)
    for key in keys:
        name = key[2] if files == "one a day" else "all"
        with open(tmp_path / f"{name}.grib2", "ab") as file:
            file.write(message(data[key], *key))
    virtualize(tmp_path / "a.json", *tmp_path.glob("*.grib2"))
    root = opened(tmp_path / "a.json")
    names = {"RH_HTGL", "RH_ISBL", "UGRD", "HGT"}
    assert names <= set(root.GetMDArrayNames())
    for name, parameter, kind, levels in [
            ("RH_HTGL", RH, HTGL, [2]), ("RH_ISBL", RH, ISBL, [50000, 85000, 100000]),
            ("UGRD", UGRD, ISBL, [50000, 85000]), ("HGT", HGT, ISBL, [50000])]:
        array = root.OpenMDArray(name)
        expected = np.array([[data[parameter, (kind, level), day] for level in levels]
                             for day in DAYS])
        if len(levels) == 1:
            expected = expected[:, 0]
        np.testing.assert_allclose(array.ReadAsArray(), expected, 1e-6)
        assert count_of_chunks(tmp_path / "a.json", name) == 3 * len(levels)
        found = coordinates(array)
        assert found.pop("time") == seconds(DAYS)
        assert list(found.values()) == ([levels] if len(levels) > 1 else [])
        assert np.isnan(array.GetNoDataValue())
        assert array.GetSpatialRef() is not None
    assert "umidity" in root.OpenMDArray("RH_HTGL").GetAttribute("long_name").Read()
    assert [d.GetName() for d in root.OpenMDArray("RH_HTGL").GetDimensions()] == [
        "time", "Y", "X"]
    assert root.OpenMDArray("UGRD").GetDimensions()[1].GetName() in ("ISBL", "ISBL_UGRD")


def test_members_and_missing_messages(tmp_path):
    data = {(member, level): field() for member in (1, 2, 5) for level in (50000, 85000)}
    del data[2, 85000]
    (tmp_path / "a.grib2").write_bytes(b"".join(
        message(values, RH, (ISBL, level), member=member)
        for (member, level), values in data.items()))
    virtualize(tmp_path / "a.json", tmp_path / "a.grib2")
    array = opened(tmp_path / "a.json").OpenMDArray("RH")
    assert coordinates(array) == {"time": seconds(DAYS[:1]), "ISBL": [50000, 85000],
                                  "member": [1, 2, 5]}
    read = array.ReadAsArray()
    for (i, level), (j, member) in itertools.product(enumerate((50000, 85000)),
                                                     enumerate((1, 2, 5))):
        values = data.get((member, level), np.full((6, 8), np.nan))
        np.testing.assert_allclose(read[0, i, j], values, 1e-6)


def statistics(data, process, hours):
    """A message of the maximum, for example, of the first hours of a day."""
    values = [*TMP, 2, 0, 96, 0, 0, 1, 0, HTGL, 0, 2, 255, -127, -2147483647,
              2020, 1, 1, hours, 0, 0, 1, 0, process, 2, 1, hours, 255, 0]
    return grib_message(data, "DISCIPLINE=0", f"IDS_REF_TIME={DAYS[0]}T00:00:00Z", "PDS_PDTN=8",
                        "PDS_TEMPLATE_ASSEMBLED_VALUES=" + " ".join(map(str, values)))


def test_statistics_are_not_values_at_a_time(tmp_path):
    """Also where their times are the same."""
    data = [field() for _ in range(4)]
    (tmp_path / "a.grib2").write_bytes(
        message(data[0], TMP, (HTGL, 2)) + statistics(data[1], 2, 6) + statistics(data[2], 3, 6) +
        statistics(data[3], 2, 12))
    virtualize(tmp_path / "a.json", tmp_path / "a.grib2")
    root = opened(tmp_path / "a.json")
    found = {}
    for name in root.GetMDArrayNames():
        array = root.OpenMDArray(name)
        if name.startswith("TMP"):
            found[array.GetAttribute("long_name").Read().rpartition(", ")[2]] = array.ReadAsArray()
    kelvin = np.array(data) + 273.15  # GDAL takes what it writes for °C
    assert len(found) == 3
    np.testing.assert_allclose(found["maximum"], kelvin[[1, 3]], atol=1e-2)
    np.testing.assert_allclose(found["minimum"], kelvin[[2]], atol=1e-2)


def test_layers_and_one_name(tmp_path):
    """Levels with two values are no coordinates: each is an array."""
    upper, lower = field(), field()
    (tmp_path / "a.grib2").write_bytes(message(upper, RH, (BELOW, 0, 1)) +
                                       message(lower, RH, (BELOW, 1, 2)))
    virtualize(tmp_path / "a.json", tmp_path / "a.grib2")
    root = opened(tmp_path / "a.json")
    for name, values in (("RH_0-1-DBLL", upper), ("RH_1-2-DBLL", lower)):
        np.testing.assert_allclose(root.OpenMDArray(name).ReadAsArray()[0], values, 1e-6)
    said = virtualize(tmp_path / "b.json", tmp_path / "a.grib2", "--var", "t", fails=True)
    assert "2 variables, which cannot have one name" in said


def test_units_are_those_of_the_messages(tmp_path):
    """GDAL shows temperatures in °C unless a configuration option says that it does not."""
    (tmp_path / "a.grib2").write_bytes(message(field(), TMP, (ISBL, 50000)))
    said = virtualize(tmp_path / "a.json", tmp_path / "a.grib2", "--config",
                      "GRIB_NORMALIZE_UNITS", "YES", fails=True)
    assert "GRIB_NORMALIZE_UNITS is NO" in said
    virtualize(tmp_path / "a.json", tmp_path / "a.grib2")
    array = opened(tmp_path / "a.json").OpenMDArray("TMP")
    assert array.GetUnit() == "K" and array.ReadAsArray().min() > 200


def test_two_messages_for_one_place_are_an_error(tmp_path):
    (tmp_path / "a.grib2").write_bytes(message(field(), RH, (ISBL, 50000)) * 2)
    said = virtualize(tmp_path / "a.json", tmp_path / "a.grib2", fails=True)
    assert "overlaps" in said and not (tmp_path / "a.json").exists()


@pytest.mark.skipif(not eccodes_library.available(), reason="libeccodes0 is not installed")
@pytest.mark.parametrize("edition, packing", [
    (1, "grid_simple"), (2, "grid_simple"), (2, "grid_ieee"), (2, "grid_complex")])
def test_eccodes_reads_the_same_cube(tmp_path, edition, packing):
    """Values, times, levels and positions of two files with two messages each."""
    messages = {}
    for date, level in itertools.product((20200101, 20200103), (500, 850)):
        made = Message(f"regular_ll_pl_grib{edition}")
        made.set(dataDate=date, dataTime=600, level=level, shortName="t", bitmapPresent=1)
        values = 250 + RANDOM.random(made.long("Ni") * made.long("Nj")) * 30
        values[RANDOM.random(values.size) < 0.2] = 9999
        made.set(bitsPerValue=16).set_values(values).set(packingType=packing)
        messages[date, level] = made
        with open(tmp_path / f"{date}.grib", "ab") as file:
            file.write(made.bytes())
    virtualize(tmp_path / "a.parq", *tmp_path.glob("*.grib"))
    array = opened(tmp_path / "a.parq").OpenMDArray("T" if edition == 1 else "TMP")
    axes = [d.GetIndexingVariable().ReadAsArray() for d in array.GetDimensions()]
    times, levels, y, x = axes
    assert times.tolist() == [1577858400, 1578031200]  # at 06:00
    read = array.ReadAsArray()
    assert read.shape == (2, 2, 31, 16)
    hectopascals = levels / (100 if levels.max() > 2000 else 1)
    for (i, date), (j, level) in itertools.product(
            enumerate((20200101, 20200103)), enumerate(hectopascals)):
        judge = messages[date, round(level)]
        np.testing.assert_allclose(read[i, j].ravel(), values_of(judge.bytes()), 1e-6)
        np.testing.assert_allclose(np.repeat(y, x.size), judge.doubles("latitudes"))
        np.testing.assert_allclose(np.tile(x, y.size), judge.doubles("longitudes"))


def test_a_year_opens_as_one_cube(tmp_path):
    first = datetime.date(2021, 1, 1)
    kinds = [(RH, (HTGL, 2)), (UGRD, (HTGL, 10)), (HGT, (ISBL, 50000))]
    days = [str(first + datetime.timedelta(day)) for day in range(0, 365, 5)]
    values = {(kind, day): field() for kind, day in itertools.product(kinds, days)}
    for day in days:
        (tmp_path / f"{day}.grib2").write_bytes(
            b"".join(message(values[kind, day], *kind, day) for kind in kinds))
    virtualize(tmp_path / "a.parq", *sorted(tmp_path.glob("*.grib2")))
    root = opened(tmp_path / "a.parq")
    for kind, name in zip(kinds, ("RH", "UGRD", "HGT")):
        array = root.OpenMDArray(name)
        assert coordinates(array) == {"time": seconds(days)}
        np.testing.assert_allclose(
            array.ReadAsArray(), [values[kind, day] for day in days], 1e-6)
