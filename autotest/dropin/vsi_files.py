"""Files of GDAL's virtual file systems, read as a program would."""
import os

from osgeo import gdal


def content(name):
    file = gdal.VSIFOpenL(name, "rb")
    assert file is not None, name
    gdal.VSIFSeekL(file, 0, os.SEEK_END)
    size = gdal.VSIFTellL(file)
    gdal.VSIFSeekL(file, 0, os.SEEK_SET)
    data = bytes(gdal.VSIFReadL(1, size, file)) if size else b""
    gdal.VSIFCloseL(file)
    return data


def status(name):
    found = gdal.VSIStatL(name)
    return found and (("folder" if found.IsDirectory() else "file"), found.size)


def is_error(function, *arguments):
    """Whether the call fails and says so."""
    try:
        function(*arguments)
    except RuntimeError as error:
        assert str(error) != "unknown error occurred"
        return True
    return False
