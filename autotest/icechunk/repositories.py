"""Icechunk repositories through GDAL."""
import gc
import sys

import pytest
from osgeo import gdal


def create_repository(path, version):
    dataset = [gdal.GetDriverByName("Zarr").CreateMultiDimensional(
        f"ICECHUNK:{path}", [], [f"ICECHUNK_FORMAT={version}"])]
    assert not closed(dataset)


def open_to_write(path, branch="main", *options):
    return gdal.OpenEx(f"ICECHUNK:{path}?branch={branch}",
                       gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE, open_options=list(options))


def open_root(name):
    """The root group, which outlives its dataset."""
    return gdal.OpenEx(str(name), gdal.OF_MULTIDIM_RASTER).GetRootGroup()


def closed(dataset):
    """Closes the dataset in the list, of which no other object exists. Returns the errors; newer
    bindings raise them where they are not caught."""
    errors = []
    patch = pytest.MonkeyPatch()
    patch.setattr(sys, "unraisablehook", lambda thrown: errors.append(str(thrown.exc_value)))
    gdal.PushErrorHandler(lambda level, _, text: level == gdal.CE_Failure and errors.append(text))
    try:
        dataset.clear()
        gc.collect()
    except RuntimeError as error:
        errors.append(str(error))
    finally:
        gdal.PopErrorHandler()
        patch.undo()
    return errors


class RefsByGdal:
    """Branches and tags as commands of the metadata domain ICECHUNK."""

    def call(self, kind, at, name, snapshot=None):
        value = name if snapshot is None else f"{name}={snapshot}"
        dataset = open_to_write(at)
        assert dataset.SetMetadataItem(kind.upper(), value, "ICECHUNK") == gdal.CE_None

    def reset_branch(self, **words):
        self.call("reset_branch", **words)


refs_by_gdal = RefsByGdal()
