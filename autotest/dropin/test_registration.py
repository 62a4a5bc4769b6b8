"""`spatial:registration` and AREA_OR_POINT: whether a transform places corners of cells or their
centres."""
import json

import numpy as np
import pytest
from osgeo import gdal, osr

CONVENTIONS = [{"uuid": "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4", "name": "spatial:"}]
PLACED = (1000, 10, 0, 2000, 0, -10)


def write(path, transform=(10, 0, 1000, 0, -10, 2000), coordinates=False, **members):
    attributes = {"spatial:dimensions": ["y", "x"], "zarr_conventions": CONVENTIONS,
                  "spatial:transform_type": "affine", "spatial:shape": [4, 6]}
    if transform:
        attributes["spatial:transform"] = list(transform)
    attributes.update({f"spatial:{key}": value for key, value in members.items()})
    nodes = {"data": ([4, 6], attributes, ["y", "x"], np.zeros((4, 6)))}
    if coordinates:
        nodes["y"] = ([4], {}, ["y"], 2000 - 10 * np.arange(4))
        nodes["x"] = ([6], {}, ["x"], 1000 + 10 * np.arange(6))
    path.mkdir()
    (path / "zarr.json").write_text(
        json.dumps({"zarr_format": 3, "node_type": "group", "attributes": {}}))
    for name, (shape, node_attributes, names, data) in nodes.items():
        chunk = path / name / "c" / "/".join("0" for _ in shape)
        chunk.parent.mkdir(parents=True)
        chunk.write_bytes(data.astype("<f8").tobytes())
        (path / name / "zarr.json").write_text(json.dumps({
            "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": "float64",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
            "chunk_key_encoding": {"name": "default"}, "fill_value": 0,
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            "attributes": node_attributes, "dimension_names": names}))
    return path


def opened(path, array="data"):
    return gdal.Open(f'ZARR:"{path}":/{array}')


def memory(area_or_point=None, transform=PLACED):
    raster = gdal.GetDriverByName("MEM").Create("", 6, 4)
    raster.SetGeoTransform(transform)
    crs = osr.SpatialReference()
    crs.ImportFromEPSG(32631)
    raster.SetSpatialRef(crs)
    if area_or_point:
        raster.SetMetadataItem("AREA_OR_POINT", area_or_point)
    return raster


def spatial(path, array="a"):
    attributes = json.loads((path / array / "zarr.json").read_text())["attributes"]
    return {key.removeprefix("spatial:"): value for key, value in attributes.items()
            if key.startswith("spatial:")}


def create(path, convention="SPATIAL_PROJ", **arguments):
    return gdal.GetDriverByName("Zarr").CreateCopy(
        str(path), memory(**arguments),
        options=["FORMAT=ZARR_V3", f"GEOREFERENCING_CONVENTION={convention}"])


WORDS = [(None, "Area"), ("pixel", "Area"), ("node", "Point")]


@pytest.mark.builtin_since("3.13")
@pytest.mark.parametrize("word, expected", WORDS)
def test_read(tmp_path, word, expected):
    path = write(tmp_path / "a.zarr", **({"registration": word} if word else {}))
    raster = opened(path)
    assert raster.GetMetadataItem("AREA_OR_POINT") == expected
    assert raster.GetMetadataItem("spatial:registration") is None


@pytest.mark.builtin_since("3.13")
@pytest.mark.parametrize("word", [None, "pixel"])
def test_corners(tmp_path, word):
    path = write(tmp_path / "a.zarr", **({"registration": word} if word else {}))
    assert opened(path).GetGeoTransform() == PLACED


@pytest.mark.ours_only("it takes nodes for corners unless the grid is rotated")
def test_nodes(tmp_path):
    path = write(tmp_path / "a.zarr", registration="node")
    assert opened(path).GetGeoTransform() == (995, 10, 0, 2005, 0, -10)


@pytest.mark.builtin_since("3.13")
def test_rotated_nodes(tmp_path):
    path = write(tmp_path / "a.zarr", (10, 1, 1000, 2, -10, 2000), registration="node")
    raster = opened(path)
    assert raster.GetGeoTransform() == (994.5, 10, 1, 2004, 2, -10)
    assert raster.GetMetadataItem("AREA_OR_POINT") == "Point"


@pytest.mark.builtin_since("3.13")
def test_coordinates_place_nodes(tmp_path):
    path = write(tmp_path / "a.zarr", None, coordinates=True, registration="node")
    raster = opened(path)
    assert raster.GetGeoTransform() == (995, 10, 0, 2005, 0, -10)
    assert raster.GetMetadataItem("AREA_OR_POINT") == "Point"


@pytest.mark.builtin_since("3.13")
@pytest.mark.parametrize("word", ["pixel", "node"])
def test_attribute_of_the_array(tmp_path, word):
    path = write(tmp_path / "a.zarr", registration=word)
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    array = dataset.GetRootGroup().OpenMDArray("data")
    assert array.GetAttribute("spatial:registration").Read() == word
    assert "spatial:registration" in [a.GetName() for a in array.GetAttributes()]
    expected = "Point" if word == "node" else "Area"
    assert array.AsClassicDataset(1, 0).GetMetadataItem("AREA_OR_POINT") == expected


@pytest.mark.builtin_since("3.13")
def test_other_words_are_shown(tmp_path):
    raster = opened(write(tmp_path / "a.zarr", registration="vertex"))
    assert raster.GetMetadataItem("AREA_OR_POINT") is None
    assert raster.GetMetadataItem("spatial:registration") == "vertex"
    assert raster.GetGeoTransform() == PLACED


@pytest.mark.builtin_since("3.13")
@pytest.mark.parametrize("transform", [None, (10, 0, 1000, 0, -10, 2000)])
def test_coordinates_of_dimensions(tmp_path, transform):
    """The transform gives them to dimensions without a variable."""
    path = write(tmp_path / "a.zarr", transform)
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    root = dataset.GetRootGroup()
    y, x = root.OpenMDArray("data").GetDimensions()
    if transform:
        variable = x.GetIndexingVariable()
        assert variable.ReadAsArray().tolist() == [1005, 1015, 1025, 1035, 1045, 1055]
        assert y.GetIndexingVariable().ReadAsArray().tolist() == [1995, 1985, 1975, 1965]
    else:
        assert x.GetIndexingVariable() is None
    assert root.GetMDArrayNames() == ["data"]


@pytest.mark.ours_only("it computes them even where the store has them")
def test_coordinates_in_the_store_stay(tmp_path):
    path = write(tmp_path / "a.zarr", coordinates=True)
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    y, x = dataset.GetRootGroup().OpenMDArray("data").GetDimensions()
    assert x.GetIndexingVariable().GetFullName() == "/x"
    assert x.GetIndexingVariable().ReadAsArray().tolist() == [1000, 1010, 1020, 1030, 1040, 1050]


@pytest.mark.ours_only("it takes nodes for corners unless the grid is rotated")
def test_coordinates_of_nodes(tmp_path):
    path = write(tmp_path / "a.zarr", registration="node")
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    _, x = dataset.GetRootGroup().OpenMDArray("data").GetDimensions()
    assert x.GetIndexingVariable().ReadAsArray().tolist() == [1000, 1010, 1020, 1030, 1040, 1050]


@pytest.mark.gdal_since("3.13")
@pytest.mark.parametrize("coordinates", [False, True])
def test_parts_are_placed(tmp_path, coordinates):
    transform = None if coordinates else (10, 0, 995, 0, -10, 2005)
    path = write(tmp_path / "a.zarr", transform, coordinates)
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    part = dataset.GetRootGroup().OpenMDArray("data").GetView("[1:3,2:5]")
    assert part.AsClassicDataset(1, 0).GetGeoTransform() == (1015, 10, 0, 1995, 0, -10)


@pytest.mark.builtin_since("3.13")
@pytest.mark.parametrize("word, registration, transform, box", [
    ("Area", "pixel", [10, 0, 1000, 0, -10, 2000], [1000, 1960, 1060, 2000]),
    ("Point", "node", [10, 0, 1005, 0, -10, 1995], [1005, 1965, 1055, 1995])])
def test_copy(tmp_path, word, registration, transform, box):
    path = tmp_path / "a.zarr"
    create(path, area_or_point=word)
    written = spatial(path)
    assert written["registration"] == registration
    assert written["transform"] == transform
    assert written["bbox"] == box
    assert opened(path, "a").GetMetadataItem("AREA_OR_POINT") == word


@pytest.mark.ours_only("it reads nodes as corners")
@pytest.mark.parametrize("transform", [PLACED, (1000, 10, 1, 2000, 2, -10)])
def test_what_is_written_is_read(tmp_path, transform):
    path = tmp_path / "a.zarr"
    create(path, area_or_point="Point", transform=transform)
    raster = opened(path, "a")
    assert raster.GetGeoTransform() == transform
    assert raster.GetMetadataItem("AREA_OR_POINT") == "Point"
    copy = tmp_path / "b.zarr"
    gdal.Translate(str(copy), raster, format="Zarr",
                   creationOptions=["FORMAT=ZARR_V3", "GEOREFERENCING_CONVENTION=SPATIAL_PROJ"])
    assert spatial(copy, "b") == spatial(path)


@pytest.mark.builtin_since("3.13")
@pytest.mark.parametrize("word", ["Area", "Point"])
def test_gdals_convention_has_an_attribute(tmp_path, word):
    path = tmp_path / "a.zarr"
    create(path, "GDAL", area_or_point=word)
    assert json.loads((path / "a/zarr.json").read_text())["attributes"]["AREA_OR_POINT"] == word
    raster = opened(path, "a")
    assert raster.GetMetadataItem("AREA_OR_POINT") == word
    assert raster.GetGeoTransform() == PLACED


@pytest.mark.builtin_since("3.13")
def test_update(tmp_path):
    path = tmp_path / "a.zarr"
    create(path)
    for word in ("Point", "Area"):
        raster = gdal.Open(str(path), gdal.GA_Update)
        raster.SetMetadataItem("AREA_OR_POINT", word)
        assert raster.GetGeoTransform() == PLACED
        del raster
        raster = opened(path, "a")
        assert raster.GetMetadataItem("AREA_OR_POINT") == word
        assert raster.GetGeoTransform() == PLACED


@pytest.mark.ours_only("it keeps what is set after creation beside the store")
@pytest.mark.parametrize("order", ["first", "last", "update"])
def test_set(tmp_path, order):
    path = tmp_path / "a.zarr"
    raster = gdal.GetDriverByName("Zarr").Create(
        str(path), 6, 4, options=["FORMAT=ZARR_V3", "GEOREFERENCING_CONVENTION=SPATIAL_PROJ"])
    if order == "first":
        raster.SetMetadataItem("AREA_OR_POINT", "Point")
    raster.SetGeoTransform(PLACED)
    raster.SetMetadataItem("OTHER", "value")
    if order == "update":
        del raster
        raster = gdal.Open(str(path), gdal.GA_Update)
    if order != "first":
        raster.SetMetadataItem("AREA_OR_POINT", "Point")
    assert raster.GetMetadataItem("AREA_OR_POINT") == "Point"
    del raster
    written = spatial(path)
    assert (written["registration"], written["transform"]) == (
        "node", [10, 0, 1005, 0, -10, 1995])
    assert "AREA_OR_POINT" not in json.loads((path / "a/zarr.json").read_text())["attributes"]
    raster = opened(path, "a")
    assert raster.GetGeoTransform() == PLACED
    assert raster.GetMetadata() == {"AREA_OR_POINT": "Point", "OTHER": "value"}
    assert not list(tmp_path.rglob("*.aux.xml"))


@pytest.mark.ours_only("it keeps what is set after creation beside the store")
def test_a_new_transform_keeps_the_registration(tmp_path):
    path = write(tmp_path / "a.zarr", registration="node")
    raster = gdal.Open(f'ZARR:"{path}":/data', gdal.GA_Update)
    raster.SetGeoTransform((3000, 20, 0, 4000, 0, -20))
    del raster
    written = spatial(path, "data")
    assert (written["registration"], written["transform"]) == (
        "node", [20, 0, 3010, 0, -20, 3990])
    assert opened(path).GetGeoTransform() == (3000, 20, 0, 4000, 0, -20)
    raster = gdal.Open(f'ZARR:"{path}":/data', gdal.GA_Update)
    raster.SetMetadata({"OTHER": "value"})
    del raster
    assert spatial(path, "data")["transform"] == [20, 0, 3000, 0, -20, 4000]
    raster = opened(path)
    assert raster.GetMetadata() == {"AREA_OR_POINT": "Area", "OTHER": "value"}
    assert raster.GetGeoTransform() == (3000, 20, 0, 4000, 0, -20)
