"""The CRS of Sentinel products in ESA's EOPF layout, which state it for all of their arrays."""
import json

import pytest
from osgeo import gdal

pytestmark = [pytest.mark.builtin_since("3.13"), pytest.mark.filterwarnings("ignore")]

WKT = ('GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],'
       'PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433],AUTHORITY["EPSG","4326"]]')
ARRAY = "measurements/reflectance/r10m/b02"


def stac(**members):
    return {"stac_discovery": members}


def properties(**members):
    return stac(properties={key.replace("__", ":"): value for key, value in members.items()})


def geometry(code):
    return stac(geometry={"type": "Polygon", "crs": {"properties": {"code": code}}})


def write_product(path, attributes, dimensions=("y", "x"), eopf=True):
    documents = {".zgroup": {"zarr_format": 2}, ".zattrs": attributes}
    groups = ARRAY.split("/")[:-1]
    for i in range(len(groups)):
        documents["/".join([*groups[:i + 1], ".zgroup"])] = {"zarr_format": 2}
    documents[f"{ARRAY}/.zarray"] = {
        "zarr_format": 2, "shape": [4, 6], "chunks": [4, 6], "dtype": "<u2", "order": "C",
        "compressor": None, "filters": None, "fill_value": 0}
    of_array = {"_eopf_attrs": {"dtype": "<u2"}} if eopf else {}
    if dimensions:
        of_array["_ARRAY_DIMENSIONS"] = list(dimensions)
    documents[f"{ARRAY}/.zattrs"] = of_array
    for name, document in documents.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(json.dumps(document))
    (path / ".zmetadata").write_text(
        json.dumps({"zarr_consolidated_format": 1, "metadata": documents}))
    return path


def epsg_of(crs):
    return None if crs is None else int(crs.GetAuthorityCode(None))


def crs_of(path):
    """By both APIs."""
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)
    array = dataset.GetRootGroup().OpenMDArrayFromFullname(f"/{ARRAY}")
    raster = gdal.Open(f'ZARR:"{path}":/{ARRAY}')
    codes = {epsg_of(array.GetSpatialRef()), epsg_of(raster.GetSpatialRef())}
    assert len(codes) == 1
    return codes.pop()


WAYS = {
    "stac": properties(proj__epsg=32633),
    "root with prefix": {"proj:epsg": 32633},
    "root": {"epsg": 32633},
    "child": {"other": {"epsg": 32633}},
    "child with prefix": {"first": {}, "other": {"proj:epsg": 32633}},
    "geometry": geometry(32633),
    "tile": properties(s2__mgrs_tile="T33UWP"),
    "tile without prefix": properties(mgrs_tile="T33UWP"),
    "tile by id": properties(tile_id="T33UWP"),
}


@pytest.mark.parametrize("dimensions", [("y", "x"), None], ids=["named", "unnamed"])
@pytest.mark.parametrize("way", WAYS)
def test_ways(tmp_path, way, dimensions):
    assert crs_of(write_product(tmp_path / "a.zarr", WAYS[way], dimensions)) == 32633


@pytest.mark.parametrize("way", [way for way in WAYS if "tile" not in way])
def test_numbers_as_text(tmp_path, way):
    text = json.loads(json.dumps(WAYS[way]).replace("32633", '"32633"'))
    assert crs_of(write_product(tmp_path / "a.zarr", text)) == 32633


@pytest.mark.parametrize("attributes", [{"spatial_ref": WKT}, properties(spatial_ref=WKT)])
def test_wkt(tmp_path, attributes):
    assert crs_of(write_product(tmp_path / "a.zarr", attributes)) == 4326


@pytest.mark.parametrize("tile, code", [("T32VLK", 32632), ("T32HLK", 32732), ("T05NKB", 32605),
                                        ("T32MLK", 32732), ("T60XDA", 32660), ("T01CDA", 32701)])
def test_tile_in_the_name(tmp_path, tile, code):
    path = tmp_path / f"S2B_MSIL2A_20240830T105619_R094_{tile}_20240830T134814.zarr"
    assert crs_of(write_product(path, {})) == code


@pytest.mark.parametrize("name", ["S2_32VLK_b.zarr", "T32VLK.zarr", "S2_T61VLK_b.zarr"])
def test_names_without_a_tile(tmp_path, name):
    assert crs_of(write_product(tmp_path / name, {})) is None


ORDER = [properties(proj__epsg=32601), {"proj:epsg": 32602}, {"epsg": 32603},
         {"child": {"epsg": 32604}}, geometry(32605), None,
         properties(s2__mgrs_tile="T07UWP"), properties(mgrs_tile="T08UWP"),
         properties(tile_id="T09UWP"), {"spatial_ref": WKT}]


@pytest.mark.parametrize("first", range(len(ORDER)))
def test_order(tmp_path, first):
    attributes = {}
    for way in reversed(ORDER[first:]):
        for key, value in (way or {}).items():
            if key == "stac_discovery":
                for member, content in value.items():
                    attributes.setdefault(key, {}).setdefault(member, {}).update(content)
            else:
                attributes[key] = value
    name = "S2_T06UWP_x.zarr" if first <= 5 else "a.zarr"
    expected = 32601 + first if first < 9 else 4326
    assert crs_of(write_product(tmp_path / name, attributes)) == expected


@pytest.mark.parametrize("value", ["far away", "", None, 0, -1, [], {}])
def test_values_that_are_none(tmp_path, value):
    gdal.PushErrorHandler("CPLQuietErrorHandler")
    path = write_product(tmp_path / "a.zarr", {**properties(proj__epsg=value), "epsg": 32631})
    assert crs_of(path) == 32631
    path = write_product(tmp_path / "S2_T33UWP_b.zarr", properties(proj__epsg=value))
    assert crs_of(path) == 32633
    gdal.PopErrorHandler()


@pytest.mark.ours_only("it tries no other way after a number that is no code")
def test_a_number_that_is_no_code(tmp_path):
    path = write_product(tmp_path / "a.zarr", {**properties(proj__epsg=99999999), "epsg": 32631})
    assert crs_of(path) == 32631


@pytest.mark.ours_only("it takes small letters for southern bands")
def test_small_letters_are_no_tile(tmp_path):
    assert crs_of(write_product(tmp_path / "S2_T32vlk_b.zarr", {})) is None


@pytest.mark.ours_only("it has the tile with T only")
def test_tile_without_t(tmp_path):
    path = write_product(tmp_path / "a.zarr", properties(s2__mgrs_tile="33UWP"))
    assert crs_of(path) == 32633


def test_other_arrays_are_not_concerned(tmp_path):
    path = write_product(tmp_path / "S2_T33UWP_b.zarr", {"epsg": 32631}, eopf=False)
    assert crs_of(path) is None
