// Many objects of an object store at once, in as few requests as its interface allows. All
// functions throw Error. Keys are relative to a folder: the part of a path that follows its '/'.
#pragma once

#include <cpl_conv.h>
#include <cpl_error.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driver/gdal/messages.h"

namespace gdal_zarr {

// Returns true if a path is in an object store, which has keys but no folders, and lists all keys
// that start alike.
bool is_in_object_store(const std::string& path);

struct StoredObject {
  std::string key;                    // ends with '/' if the object only represents a folder
  std::optional<std::uint64_t> size;  // in bytes
};

// All objects below a folder, or the first ones; an error if the server does not send as much of
// the listing.
std::vector<StoredObject> list_objects(const std::string& folder, std::size_t max_count = SIZE_MAX);

// Listings that a server does not send to their end. Object stores list folders in pages; if one
// fails, GDAL's listing ends there as if it were complete. While this object lives, it notices on
// its thread when the server does not send a page. GDAL reports that in a debug message alone,
// which has the server's reply.
class ListingFailures {
 public:
  ListingFailures();
  ~ListingFailures();
  ListingFailures(const ListingFailures&) = delete;
  ListingFailures& operator=(const ListingFailures&) = delete;

  // Throws zarrcore::Error, which names the folder, if a page is missing.
  void check(const std::string& folder) const;

 private:
  static void CPL_STDCALL handle(CPLErr severity, CPLErrorNum number, const char* message);

  std::string user_debug_;  // the debug messages that CPL_DEBUG enables
  std::optional<CPLConfigOptionSetter> debug_;
  HeldMessages held_;
  bool has_failed_ = false;
  std::string reason_;
};

// Removes objects, and tries all of them before it throws: the error names each that could not be
// removed. Absent ones are not errors.
void remove_objects(const std::string& folder, std::span<const std::string> keys);

// Removes all objects below a folder: `first`, which need not be below it, and metadata documents
// before the others, so that no node is left without a part of its chunks.
void remove_object_folder(const std::string& folder, std::span<const std::string> first_paths = {});

// Copies all objects below `from` to the same keys below `to`: on the server, if GDAL can request
// that. Either all copies exist afterwards, or it throws and removes the copies made so far.
void copy_object_folder(const std::string& from, const std::string& to);

// The same, and then removes the objects below `from`, as remove_object_folder() does.
void rename_object_folder(const std::string& from, const std::string& to);

}  // namespace gdal_zarr
