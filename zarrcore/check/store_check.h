// Examines a whole store: what it holds, and what is wrong with it. Every document is read once and
// every value listed once; memory does not grow with the number of chunks.
//
//   document   a node whose documents cannot be read or used, or contradict each other
//   copy       consolidated metadata that is not what the documents say
//   leftover   chunks outside of an array's grid, which an interrupted change of its shape has
//   left;
//              what an interrupted change of an array's layout has left beside it
//   index      a shard whose index cannot be read, or has entries that overlap or are outside of it
//   chunk      a chunk that cannot be decoded, or whose checksum is not right
//
// Missing chunks are legal: they have the fill value, and are counted. So are values that belong to
// no node, which other programs may have put there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/array/array.h"
#include "zarrcore/base/api.h"
#include "zarrcore/hierarchy/hierarchy.h"
#include "zarrcore/metadata/array_metadata.h"

namespace zarrcore {

struct Finding {
  // Conventions are those of callers.
  enum class Kind : std::uint8_t { document, copy, leftover, index, chunk, convention };

  Kind kind;
  std::string place;  // a key of the store, or the path of a node ("" for the root)
  std::string problem;
};
// "document", "copy"…
ZARRCORE_API std::string_view name_of(Finding::Kind kind);

struct ExaminedArray {
  std::string path;
  ArrayMetadata metadata;
  std::uint64_t grid_chunks = 0;  // that the grid has, at most UINT64_MAX
  std::uint64_t chunks = 0;       // that are stored
  // Of these; nullopt if listing does not show all sizes, or they are not to be counted.
  std::optional<std::uint64_t> bytes = 0;
  std::optional<std::uint64_t> inner_chunks = {};              // of shards, by their indexes
  std::optional<std::vector<std::uint64_t>> first_chunk = {};  // one that is stored
  std::vector<std::string> outside = {};                       // keys of chunks outside of the grid
  // Consolidated metadata describes the array otherwise: perhaps with another shape.
  bool has_other_copy = false;
};

struct ExaminedStore {
  std::vector<std::string> groups;        // their paths
  std::vector<std::string> consolidated;  // paths of the groups that have consolidated metadata
  std::vector<ExaminedArray> arrays;
  std::vector<Finding> findings;
  // Whether a change of nodes was interrupted before consolidated metadata was put again.
  bool lacks_copy = false;
  // What interrupted changes of the layout have left, by their paths.
  std::set<std::string, std::less<>> leftovers = {};
  std::vector<std::string> temporary_files;  // of writers, by their keys
  // Values that belong to no node: how many, and the first.
  std::uint64_t foreign_values = 0;
  std::vector<std::string> first_foreign;
};

struct ExamineOptions {
  // How the names of nodes end that are made for a time while an array gets another layout.
  std::vector<std::string_view> temporary_names = {};
  bool counts_bytes = true;   // of stored chunks
  bool reads_indexes = true;  // of shards
  bool reads_chunks = false;  // decodes all chunks
  ReadOptions read = {};
  RunTogether run_together = {};  // how documents of slow stores are read
  // Called with the number of values that have been listed and examined, and that of the chunks of
  // all grids, of which some may be missing. May throw, which ends the examination.
  std::function<void(std::uint64_t values, double expected)> progress = [](std::uint64_t /*values*/,
                                                                           double /*expected*/) {};
};

// `hierarchy` has been opened for reading, without consolidated metadata. Throws Error when its
// store cannot be listed, and AccessFailure when it does not give a value.
ZARRCORE_API ExaminedStore examine_store(const Hierarchy& hierarchy,
                                         const std::shared_ptr<Context>& context,
                                         const ExamineOptions& options);

}  // namespace zarrcore
