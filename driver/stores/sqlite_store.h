// Stores in SQLite databases, as zarr-python 2 writes them: a table `zarr(k TEXT PRIMARY KEY, v
// BLOB)` of keys and values. They are read through GDAL's driver SQLite.
#pragma once

#include <memory>
#include <string>

#include "driver/gdal/compat.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

// Returns true if the file that is being opened is a database with such a table. Other tables of a
// database are for other drivers, GeoPackages too.
bool is_sqlite_store(GDALOpenInfo* info);

// Returns true if the file at `path` is a database with any tables; on the network only if it has a
// database's usual extension.
bool is_sqlite_store(const std::string& path);

// Throws zarrcore::Error when the database cannot be read.
std::shared_ptr<zarrcore::Store> open_sqlite_store(const std::string& path);

}  // namespace gdal_zarr
