"""The creation options of a driver, from its own lists, and values to try for each."""
from xml.etree import ElementTree

LISTS = {
    "dataset": "DMD_MULTIDIM_DATASET_CREATIONOPTIONLIST",
    "array": "DMD_MULTIDIM_ARRAY_CREATIONOPTIONLIST",
    "raster": "DMD_CREATIONOPTIONLIST",
}

# For options that take any text, for arrays of three dimensions; and for numbers without limits.
TEXTS = {
    "ARRAY_NAME": ["other"],
    "BLOCKSIZE": ["1,2,3", "2,5,7", "2,3,5"],
    "BLOSC_BLOCKSIZE": ["0", "64"],
    "CHUNK_ASPECT_RATIO": ["1,2,4"],
    "CHUNK_ELEMENTS": ["1", "24"],
    "BLOSC_NUM_THREADS": ["1", "2", "ALL_CPUS"],
    "DELTA_DTYPE": ["<i2", "<u2"],
    "DIM_SEPARATOR": [".", "/"],
    "LZ4_ACCELERATION": ["1", "9"],
    "LZMA_DELTA": ["1", "2", "8"],
    "SHARD_CHUNK_SHAPE": ["1,2,4"],
}
# A raster has two dimensions unless its bands are one array.
RASTER_TEXTS = TEXTS | {"BLOCKSIZE": ["2,3", "5,7"], "SHARD_CHUNK_SHAPE": ["2,4"],
                        "CHUNK_ASPECT_RATIO": ["1,2"]}

# Options about an existing store, another file or Icechunk repositories, and those that round
# values, which tests of the codecs check.
LEFT_OUT = {
    "BRANCH", "COMMIT", "COMMIT_MESSAGE", "COMMIT_PROPERTIES", "ICECHUNK_FORMAT", "LOCATIONS",
    "NEW_BRANCH", "OVERWRITE", "VIRTUAL",
    "APPEND_SUBDATASET", "CODECS", "CONVERT_TO_KERCHUNK_PARQUET_REFERENCE",
    "KEEPBITS", "ZFP_PRECISION", "ZFP_RATE", "ZFP_TOLERANCE",
}

# What makes an option take effect.
NEEDS = {
    "BLOSC_": ["COMPRESS=BLOSC"],
    "BZ2_": ["COMPRESS=BZ2"],
    "ZLIB_": ["COMPRESS=ZLIB"],
    "GZIP_": ["COMPRESS=GZIP"],
    "LZMA_": ["COMPRESS=LZMA"],
    "ZSTD_": ["COMPRESS=ZSTD"],
    "LZ4_": ["COMPRESS=LZ4"],
    "DELTA_DTYPE": ["FILTER=DELTA"],
    "CHUNK_ELEMENTS": ["CHUNKS=AUTO"],
}
SHARD = {"array": "BLOCKSIZE=2,4,8", "raster": "BLOCKSIZE=4,8"}


def option_list(driver, kind):
    """The values to try for each option: all of a choice, the limits and the default of a
    number."""
    texts = RASTER_TEXTS if kind == "raster" else TEXTS
    options = {}
    for option in ElementTree.fromstring(driver.GetMetadataItem(LISTS[kind])):
        name = option.get("name")
        if name in LEFT_OUT:
            continue
        values = [value.text for value in option.iter("Value")
                  if value.text != "ZARR_V1"]  # GDAL's own driver does not have it
        if option.get("type") == "boolean":
            values = ["YES", "NO"]
        elif not values and name in texts:
            values = texts[name]
        elif not values:
            assert option.get("type") == "int", f"{name} is new: add it to TEXTS or to LEFT_OUT"
            values = [option.get(key) for key in ("min", "default", "max")]
        options[name] = list(dict.fromkeys(values))
    return options


def with_needs(kind, name, value):
    """The option, and the options that it needs to take effect."""
    needs = [option for start, needed in NEEDS.items() if name.startswith(start)
             for option in needed]
    if name == "SHARD_CHUNK_SHAPE":
        needs = [SHARD[kind]]
    return [*needs, f"{name}={value}"]


def is_number(driver, kind, name):
    """Whether a value is one of many similar ones, so that one data type is enough."""
    option = ElementTree.fromstring(driver.GetMetadataItem(LISTS[kind])).find(
        f"Option[@name='{name}']")
    return option.get("type") in ("int", "string") and option.find("Value") is None


def formats(driver):
    return option_list(driver, "dataset")["FORMAT"]
