"""A process that is killed while it changes the position of a raster leaves the old position, the
new one, or none. The CRS always matches the coordinates, and the pixels are whole."""
import numpy as np
import pytest
from classic import write_tiff
from killed_changes import NEW_CRS, NEW_PLACE, stores_after_kills
from osgeo import gdal

DATA = np.random.default_rng(3).integers(0, 1000, (2, 20, 30)).astype("i2")
OLD_PLACE, OLD_CRS = (10, 0.5, 0, 50, 0, -0.5), 4326
LAYOUTS = {
    "v2": [],
    "v3": ["FORMAT=ZARR_V3"],
    "CF": ["GEOREFERENCING_CONVENTION=CF"],
    "CF in v3": ["GEOREFERENCING_CONVENTION=CF", "FORMAT=ZARR_V3"],
    "proj": ["GEOREFERENCING_CONVENTION=SPATIAL_PROJ"],
    "without consolidated metadata": ["CREATE_CONSOLIDATED_METADATA=NO"],
}


@pytest.fixture(scope="module")
def shim(build_shim):
    return build_shim("kill_shim")


def place_of(dataset):
    crs = dataset.GetSpatialRef()
    return dataset.GetGeoTransform(can_return_null=True), crs and int(crs.GetAuthorityCode(None))


def places_after_kills(shim, store, folder):
    places = []
    for copy in stores_after_kills(shim, store, folder, "set_georeferencing"):
        dataset = gdal.Open(str(copy))
        places.append(place_of(dataset))
        np.testing.assert_array_equal(dataset.ReadAsArray(), DATA)
    return places


@pytest.mark.parametrize("layout", LAYOUTS)
def test_old_or_new(tmp_path, shim, layout):
    write_tiff(tmp_path / "a.tif", DATA, place=OLD_PLACE, crs=OLD_CRS)
    gdal.Translate(str(tmp_path / "a.zarr"), str(tmp_path / "a.tif"), format="Zarr",
                   creationOptions=LAYOUTS[layout])
    places = places_after_kills(shim, tmp_path / "a.zarr", tmp_path / "after")
    old, new = (OLD_PLACE, OLD_CRS), (NEW_PLACE, NEW_CRS)
    assert len(places) > 5
    assert (places[0], places[-1]) == (old, new)
    assert set(places) == {old, new}
    assert places == sorted(places, key=[old, new].index)  # never back


def test_of_a_raster_without_a_place(tmp_path, shim):
    write_tiff(tmp_path / "a.tif", DATA)
    gdal.Translate(str(tmp_path / "a.zarr"), str(tmp_path / "a.tif"), format="Zarr")
    places = places_after_kills(shim, tmp_path / "a.zarr", tmp_path / "after")
    assert set(places) == {(None, None), (NEW_PLACE, NEW_CRS)}


def test_of_a_raster_of_several_arrays(tmp_path, shim):
    """These share their coordinates."""
    write_tiff(tmp_path / "a.tif", DATA, place=OLD_PLACE, crs=OLD_CRS)
    source = gdal.Translate("", str(tmp_path / "a.tif"), format="MEM")
    source.GetRasterBand(2).SetScale(0.5)
    gdal.Translate(str(tmp_path / "a.zarr"), source, format="Zarr")
    places_after_kills(shim, tmp_path / "a.zarr", tmp_path / "after")
    seen = set()
    for store in (tmp_path / "after").iterdir():
        bands = [gdal.Open(f'ZARR:"{store}":/Band{i}') for i in (1, 2)]
        seen |= {place_of(band) for band in bands}
    assert seen == {(OLD_PLACE, OLD_CRS), (NEW_PLACE, NEW_CRS)}


def test_variables_are_replaced_in_place(tmp_path, shim):
    """Nothing of theirs is removed, not even for a moment."""
    write_tiff(tmp_path / "a.tif", DATA, place=OLD_PLACE, crs=OLD_CRS)
    gdal.Translate(str(tmp_path / "a.zarr"), str(tmp_path / "a.tif"), format="Zarr")
    places_after_kills(shim, tmp_path / "a.zarr", tmp_path / "after")
    for store in (tmp_path / "after").iterdir():
        for name in ("X/.zarray", "X/0", "Y/.zarray", "Y/0"):
            assert (store / name).is_file()
