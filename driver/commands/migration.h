// How a store of an older version of Zarr becomes one of v3, by new documents for the same chunks.
// The chunks of v1 and v2 keep their keys, so readers find the old or the new version at any time.
// Those of the draft of 2020 get other keys. While they are moved, the document at the root is the
// plan of all changes, which no reader mistakes for Zarr, and by which a command that was killed is
// continued.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "driver/commands/examined.h"
#include "zarrcore/metadata/format.h"

namespace gdal_zarr {

// The chunk `from`/cNAME gets the key `to` + NAME; the single chunk of an array of rank 0, the
// key `to`, which then ends with "c".
struct ChunkMove {
  std::string from;
  std::string to;
};

struct MigrationPlan {
  std::vector<zarrcore::Document> documents = {};  // of v3, the root's last
  std::vector<ChunkMove> moves = {};               // of arrays of the draft
  std::vector<std::string> old_keys = {};          // of documents to erase, the root's last
  bool is_of_draft = false;
  // A command was killed: without documents, when it only had to erase the old ones.
  bool is_continued = false;
};

// All is made and tried before the first change: of each array, a stored chunk is decoded by the
// old and the new metadata. Throws zarrcore::Error for what v3 cannot express.
MigrationPlan plan_migration(const std::string& path, const CommandProgress& progress);

// The folders of the draft, which have its documents and chunks in "root".
inline constexpr std::array<std::string_view, 2> kDraftFolders{"data", "meta"};

}  // namespace gdal_zarr
