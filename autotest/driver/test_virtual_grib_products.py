"""Statistics, percentiles and ensembles in GRIB files become arrays of their own, with the values
that eccodes reads."""
import datetime
import itertools

import eccodes_library
import numpy as np
import pytest
from eccodes_library import Message, values_of
from osgeo import gdal
from test_commands import failure, run

pytestmark = pytest.mark.skipif(
    gdal.GetDriverByName("GRIB") is None or not eccodes_library.available(),
    reason="needs GDAL's driver GRIB and libeccodes0")
RANDOM = np.random.default_rng(8)


def statistics(kind, template=8, **keys):
    return {"productDefinitionTemplateNumber": template, "stepType": kind, "stepRange": "0-6",
            **keys}


# By what the description of the array says of them; most after the unit.
PRODUCTS = {
    2: {
        "[K]": {},
        "average": statistics("avg"),
        "accumulation": statistics("accum"),
        "maximum": statistics("max"),
        "minimum": statistics("min"),
        "deviation": statistics("sd"),
        "average of maximum": statistics("avg", ranges=[0, 2]),
        "average of minimum": statistics("avg", ranges=[0, 3]),
        "Percentile(10) [K]": {"productDefinitionTemplateNumber": 6, "percentileValue": 10},
        "Percentile(90) [K]": {"productDefinitionTemplateNumber": 6, "percentileValue": 90},
        "Percentile(90) [K], maximum": statistics("max", 10, percentileValue=90),
        "Percentile(90) [K], minimum": statistics("min", 10, percentileValue=90),
        "ensemble mean": {"productDefinitionTemplateNumber": 2, "derivedForecast": 0},
        "ensemble spread": {"productDefinitionTemplateNumber": 2, "derivedForecast": 4},
        "maximum, ensemble mean": statistics("max", 12, derivedForecast=0),
        "maximum, ensemble spread": statistics("max", 12, derivedForecast=4),
        "product 4.40: 5": {"productDefinitionTemplateNumber": 40, "constituentType": 5},
        "product 4.40: 8": {"productDefinitionTemplateNumber": 40, "constituentType": 8},
    },
    1: {
        "[K]": {"timeRangeIndicator": 0, "P1": 6},
        "range": {"timeRangeIndicator": 2, "P2": 6},
        "average": {"timeRangeIndicator": 3, "P2": 6},
        "accumulation": {"timeRangeIndicator": 4, "P2": 6},
        "difference": {"timeRangeIndicator": 5, "P2": 6},
        "variance": {"timeRangeIndicator": 118, "P1": 0, "P2": 6},
        "time range 7": {"timeRangeIndicator": 7, "P2": 6},
        "type 17": {"localDefinitionNumber": 1, "marsType": 17},
        "type 18": {"localDefinitionNumber": 1, "marsType": 18},
        "average, type 17": {"timeRangeIndicator": 3, "P2": 6, "localDefinitionNumber": 1,
                             "marsType": 17},
    }}


def make(edition, day, ranges=(), **keys):
    """A message with values of its own. `ranges`: kinds of statistics, the outermost first."""
    message = Message(f"regular_ll_pl_grib{edition}")
    message.set(dataDate=day, dataTime=0, level=500, shortName="t", **keys)
    if ranges:
        message.set(numberOfTimeRange=len(ranges)).set_longs("typeOfStatisticalProcessing", ranges)
    values = 250 + RANDOM.random(message.long("Ni") * message.long("Nj")) * 30
    return message.set(bitsPerValue=16).set_values(values)


def arrays(path):
    """By description."""
    root = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    found = [root.OpenMDArray(name) for name in root.GetMDArrayNames()]
    return {attribute.Read(): array for array in found for attribute in array.GetAttributes()
            if attribute.GetName() == "long_name"}


def axes(array):
    return {d.GetName(): d.GetIndexingVariable().ReadAsArray().tolist()
            for d in array.GetDimensions()[:-2]}


@pytest.mark.parametrize("edition", PRODUCTS)
def test_products_are_kept_apart(tmp_path, edition):
    """Whether they are at the same times or not: in each file one product and the next one."""
    products = PRODUCTS[edition]
    made = {product: [] for product in products}
    for i, product in enumerate(products):
        for day in (20200101 + i, 20200102 + i):
            made[product].append(make(edition, day, **products[product]))
            with open(tmp_path / f"{day}.grib", "ab") as file:
                file.write(made[product][-1].bytes())
    run("virtualize", tmp_path / "a.json", *tmp_path.glob("*.grib"))
    found = arrays(tmp_path / "a.json")
    assert len(found) == len(products)
    # GDAL 3.6 to 3.10 have another unit for a spread.
    said = {name.partition("Temperature ")[2].replace("[spread]", "[K]"): array
            for name, array in found.items()}
    for product, messages in made.items():
        array = said[product if "[K]" in product else f"[K], {product}"]
        [(first, second)] = axes(array).values()
        assert second - first == 24 * 3600
        np.testing.assert_array_equal(
            array.ReadAsArray().reshape(2, -1), [values_of(m.bytes()) for m in messages])


def test_times_are_the_ends_of_ranges(tmp_path):
    for end in (6, 12, 18):
        message = make(2, 20200101, productDefinitionTemplateNumber=8, stepType="accum",
                       stepRange=f"0-{end}")
        with open(tmp_path / "a.grib", "ab") as file:
            file.write(message.bytes())
    run("virtualize", tmp_path / "a.json", tmp_path / "a.grib")
    [array] = arrays(tmp_path / "a.json").values()
    start = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC).timestamp()
    assert axes(array) == {"time": [start + hours * 3600 for hours in (6, 12, 18)]}


MEMBERS = {1: {"values": {"localDefinitionNumber": 1, "marsType": 11, "totalNumber": 5, "P1": 6},
               "averages": {"localDefinitionNumber": 1, "marsType": 11, "totalNumber": 5,
                            "timeRangeIndicator": 3, "P2": 6}},
           2: {"values": {"productDefinitionTemplateNumber": 1},
               "averages": statistics("avg", 11)}}


@pytest.mark.parametrize("edition", MEMBERS)
def test_members(tmp_path, edition):
    """Of values at a time, and of statistics."""
    made = {}
    for (name, keys), number in itertools.product(MEMBERS[edition].items(), (1, 2, 5)):
        key = "perturbationNumber" if edition == 2 else "number"
        made[name, number] = make(edition, 20200101, **keys, **{key: number})
        with open(tmp_path / "a.grib", "ab") as file:
            file.write(made[name, number].bytes())
    run("virtualize", tmp_path / "a.json", tmp_path / "a.grib")
    found = arrays(tmp_path / "a.json")
    assert len(found) == 2
    for description, array in found.items():
        name = "averages" if description.endswith(", average") else "values"
        assert axes(array)["member"] == [1, 2, 5]
        np.testing.assert_array_equal(array.ReadAsArray().reshape(3, -1), [
            values_of(made[name, number].bytes()) for number in (1, 2, 5)])


def test_products_that_gdal_does_not_know(tmp_path):
    """Their times would be 1970."""
    (tmp_path / "a.grib").write_bytes(
        make(2, 20200101).bytes() + make(2, 20200101, productDefinitionTemplateNumber=71).bytes())
    said = failure("virtualize", tmp_path / "a.json", tmp_path / "a.grib")
    assert "message 2: GDAL does not know its product definition template 4.71" in said
    assert not (tmp_path / "a.json").exists()
