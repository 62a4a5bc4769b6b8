// The files that references name: which path of GDAL a name means, whether it may be opened, as
// references from the network must not make a program read local files, and reading parts of it.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "driver/stores/references/reference.h"
#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

// The bytes of `file` to which `reference` refers. Throws zarrcore::Error if they are not inside
// it.
zarrcore::ByteRange find_value(VSILFILE* file, const Reference& reference);

// Safe to use from several threads at once.
class TargetFiles {
 public:
  // For the references in the file `document`. A document from the network may refer to local files
  // only if GDAL_ALLOW_REMOTE_RESOURCE_TO_ACCESS_LOCAL_FILE is set at this time. An empty name is
  // for files that GDAL has open as well: they are read through its cache.
  explicit TargetFiles(const std::string& document);

  // The path of `target`: a URL, an absolute path, or a path relative to the folder of the
  // document. Throws zarrcore::Error when GDAL cannot open it or it is not allowed.
  std::string resolve(const std::string& target) const;

  // The bytes to which `reference` refers, or ranges of them. Its target is a path. Throws
  // zarrcore::Error, which names the file, also when it does not exist.
  zarrcore::Buffer get(const Reference& reference, std::uint64_t max_size);
  std::vector<zarrcore::Buffer> get_ranges(const Reference& reference,
                                           std::span<const zarrcore::ByteRange> ranges);

  // Each of these will be read once, while the result lives: neighbours in a file on the network
  // are then read by one request. Targets are paths; parts of local files, large ones and values
  // are passed over.
  std::shared_ptr<void> expect(std::vector<Reference> parts);

 private:
  using NamedFile = std::pair<std::string, File>;
  struct Run;
  using Place = std::tuple<std::string, std::uint64_t, std::uint64_t>;  // file, offset, length
  using Runs = std::multimap<Place, std::shared_ptr<Run>>;

  static Place place_of(const Reference& part) {
    return {part.target, part.offset, part.length.value_or(0)};
  }
  File take_file(const std::string& path);
  void put_back(const std::string& path, File file);
  template <typename Read>
  auto read(const Reference& reference, const Read& read);
  zarrcore::Buffer get_alone(const Reference& reference, std::uint64_t max_size);
  std::optional<zarrcore::Buffer> get_expected(const Reference& part, std::uint64_t max_size);
  std::optional<zarrcore::Buffer> get_by_request(const Reference& reference,
                                                 std::uint64_t max_size);

  std::string folder_;
  bool has_document_;
  bool is_in_archive_;  // whether the folder is in an archive
  bool allows_local_;
  std::mutex mutex_;  // guards the members below
  // Open files, the most recently used first: many values may be parts of one file. One thread uses
  // a file at a time, so a path may be open several times.
  std::list<NamedFile> idle_files_;
  std::set<std::string> seen_;  // files of which something has been read
  std::map<std::string, std::shared_ptr<zarrcore::Store>> web_folders_;
  Runs runs_;  // of the values that are expected
};

}  // namespace gdal_zarr
