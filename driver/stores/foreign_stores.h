// Stores in forms that other programs have given them, for reading.
#pragma once

#include <memory>
#include <string>

#include "driver/gdal/compat.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

// Stores in SQLite databases, as zarr-python 2 writes them: a table `zarr(k TEXT PRIMARY KEY, v
// BLOB)` of keys and values. They are read through GDAL's driver SQLite.

// Returns true if the file that is being opened is a database with such a table. Other tables of a
// database are for other drivers, GeoPackages too.
bool is_sqlite_store(GDALOpenInfo* info);

// Returns true if the file at `path` is a database with any tables; on the network only if it has a
// database's usual extension.
bool is_sqlite_store(const std::string& path);

// Throws zarrcore::Error when the database cannot be read.
std::shared_ptr<zarrcore::Store> open_sqlite_store(const std::string& path);

// Pyramids of xcube: a folder, usually named x.levels, with a Zarr for each level.
//
//   x.levels/.zlevels        {"version": "1.0", "num_levels": 3, …}; may be missing
//   x.levels/0.zarr          a group with the arrays at the finest level
//   x.levels/1.zarr …        the same arrays at half the resolution
//
// https://xcube.readthedocs.io/en/latest/mldatasets.html

// Returns true if the folder is such a pyramid, by the file that it then has, or by its name; on
// the network only folders of that name are.
bool is_xcube_pyramid(const std::string& folder);

// The folder as a store whose root is a group with a pyramid of the levels, consolidated if they
// are. Not for writing. A level that is a link to another place is left out. Throws zarrcore::Error
// if the file is not as above.
std::shared_ptr<zarrcore::Store> open_xcube_pyramid(std::shared_ptr<zarrcore::Store> folder);

}  // namespace gdal_zarr
