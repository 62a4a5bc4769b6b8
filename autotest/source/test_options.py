"""doc/options.md lists the options of the driver: all of them, with their values and defaults.

`/usr/bin/python3 autotest/source/test_options.py` prints the tables of the driver that it finds in
build/release, with its own descriptions, to be copied into the page.
"""
import os
import re
from xml.etree import ElementTree

from tree import CPP, ROOT, files, text

if __name__ == "__main__":
    os.environ["GDAL_DRIVER_PATH"] = str(ROOT / "build/release/driver")

from osgeo import gdal

DRIVER = gdal.GetDriverByName("Zarr")
CREATION_SECTIONS = {
    "The store": "DMD_MULTIDIM_DATASET_CREATIONOPTIONLIST",
    "Georeferencing": "DMD_MULTIDIM_ARRAY_CREATIONOPTIONLIST",
    "Chunks and shards": "DMD_MULTIDIM_ARRAY_CREATIONOPTIONLIST",
    "Values": "DMD_MULTIDIM_ARRAY_CREATIONOPTIONLIST",
    "Compression": "DMD_MULTIDIM_ARRAY_CREATIONOPTIONLIST",
    "Rasters": "DMD_CREATIONOPTIONLIST",
}


def described_values(option):
    """The cell of a table for the values that the driver allows."""
    values = [value.text for value in option.iter("Value")]
    if option.get("type") == "boolean":
        values = ["YES", "NO"]
    if values:
        return ", ".join(f"`{value}`" for value in values)
    if option.get("min"):
        low, high = float(option.get("min")), float(option.get("max"))
        return f"`{low:.10g}` to `{high:.10g}`"
    return "text"


def row_of(option):
    names = [option.get("name"), *filter(None, [option.get("alias")])]
    default = option.get("default")
    return (" or ".join(f"`{name}`" for name in names), described_values(option),
            f"`{default}`" if default else "")


def driver_rows(item):
    """{first cell: the first three cells}, from one of the driver's lists."""
    options = ElementTree.fromstring(DRIVER.GetMetadataItem(item)).iter("Option")
    return {row[0]: row for row in map(row_of, options)}


def page_rows(section):
    """The rows of the first table below a heading."""
    page = text("doc/options.md")
    table = re.search(rf"^##+ {section}\n.*?^(\|.*?)\n\n", page + "\n\n", re.DOTALL | re.MULTILINE)
    rows = [[cell.strip() for cell in row.strip("|").split("|")]
            for row in table.group(1).splitlines()[2:]]
    return {row[0]: tuple(row[:3]) for row in rows}


def test_open_options():
    assert page_rows("Open options") == driver_rows("DMD_OPENOPTIONLIST")


def test_creation_options():
    rows = {section: page_rows(section) for section in CREATION_SECTIONS}
    all_rows = driver_rows("DMD_CREATIONOPTIONLIST")
    assert {name: row for section in rows.values() for name, row in section.items()} == all_rows
    for item in set(CREATION_SECTIONS.values()) - {"DMD_CREATIONOPTIONLIST"}:
        listed = {name: row for section, found in CREATION_SECTIONS.items() if found == item
                  for name, row in rows[section].items()}
        assert listed == driver_rows(item)


def test_every_option_has_a_description():
    page = text("doc/options.md")
    for row in page.splitlines():
        if row.startswith("| `"):
            assert row.strip("|").split("|")[-1].strip(), row


def test_configuration_options():
    """The names of options in string literals of the driver, apart from its metadata items, and
    from what it sets for the drivers that decode chunks."""
    used = {name for path in files("driver", suffixes=CPP) if path.name != "memory_raster.cpp"
            for name in re.findall(r'"((?:ZARR|GDAL|VSIKERCHUNK)_[A-Z_]+)"', text(path))
            if not name.startswith("GDAL_ZARR_")}
    section = text("doc/options.md").partition("## Configuration options")[2].partition("\n## ")[0]
    first_cells = [row.split("|")[1] for row in section.splitlines() if row.startswith("| `")]
    assert set(re.findall(r"`([A-Z_]+)`", " ".join(first_cells))) == used


def known_defaults():
    """From the driver's list of configuration options, or else from literals beside their names."""
    if xml := DRIVER.GetMetadataItem("GDAL_ZARR_CONFIGURATION_OPTIONS"):
        return {option.get("name"): option.get("default")
                for option in ElementTree.fromstring(xml).iter("Option") if option.get("default")}
    sources = "".join(text(path) for path in files("driver", suffixes=CPP))
    return {name: value
            for name, value in re.findall(r'"((?:ZARR|GDAL)_[A-Z_]+)",\s*"([^"]+)"', sources)
            if value[:1].isdigit() or value == "NO"}


def test_defaults_of_configuration_options():
    rows = page_rows("Of this driver") | page_rows("Of GDAL")
    defaults = {row[0].strip("`"): row[1].strip("`") for row in rows.values()}
    known = known_defaults()
    assert known
    assert {name: defaults.get(name) for name in known} == known


def print_tables():
    for item in ("DMD_OPENOPTIONLIST", "DMD_CREATIONOPTIONLIST"):
        print(f"\n{item}\n\n| option | values | default | effect |\n|---|---|---|---|")
        for option in ElementTree.fromstring(DRIVER.GetMetadataItem(item)).iter("Option"):
            print("|", " | ".join(row_of(option)), "|", option.get("description"), "|")


if __name__ == "__main__":
    print_tables()
