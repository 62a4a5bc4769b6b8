#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "driver/commands/examined.h"
#include "driver/gdal/worker_scope.h"
#include "zarrcore/array/stored_chunks.h"
#include "zarrcore/array/typed_values.h"
#include "zarrcore/base/error.h"
#include "zarrcore/hierarchy/documents.h"
#include "zarrcore/metadata/migration.h"

namespace gdal_zarr {

using zarrcore::ArrayMetadata;
using zarrcore::Document;
using zarrcore::Error;
using zarrcore::ExaminedArray;

namespace {

// Throws Error unless v3 readers find the values that v2 readers find: in one stored chunk.
void compare(const zarrcore::Hierarchy& hierarchy, const ExaminedArray& examined,
             const ArrayMetadata& v3) {
  const auto before = hierarchy.open_array(examined.path, shared_context());
  const zarrcore::Array after(hierarchy.store(), examined.path, v3, shared_context());
  if (before->data_type().is_variable() || !examined.first_chunk) return;
  const zarrcore::Selection selection =
      zarrcore::selection_of(before->state().grid, *examined.first_chunk);
  const std::size_t size = element_count(selection) * before->data_type().item_size;
  zarrcore::Buffer old_values(size);
  zarrcore::Buffer new_values(size);
  before->read(selection, old_values.data(), size);
  after.read(selection, new_values.data(), size);
  if (!std::ranges::equal(old_values.span(), new_values.span())) {
    throw Error("its values would not be the same in v3");
  }
}

std::vector<Document> documents_of(const zarrcore::Hierarchy& hierarchy,
                                   const ExaminedArray& array) {
  const auto& v3 = zarrcore::v3_format();
  return zarrcore::with_context('/' + array.path, [&] {
    std::vector<Document> documents =
        v3.new_array_documents(zarrcore::migrated_to_v3(array.metadata), array.path);
    zarrcore::DocumentMap map;
    for (const Document& document : documents) map.emplace(document.key, document.content);
    auto node = v3.read_node(zarrcore::documents_in(map), array.path);
    ArrayMetadata& metadata = std::get<ArrayMetadata>(*node);
    metadata.chunk_prefix = array.metadata.chunk_prefix;
    compare(hierarchy, array, metadata);
    return documents;
  });
}

}  // namespace

CommandResult run_migrate(const Arguments& arguments, const CommandProgress& progress) {
  const std::string path = store_of(arguments);
  const bool applies = arguments.has("apply");
  const auto hierarchy = open_examined(path);
  if (&hierarchy->format() != &zarrcore::v2_format()) {
    throw Error(path + " is " + std::string(hierarchy->format().name()) + ", not Zarr v2");
  }
  const zarrcore::ExaminedStore examined = examine(*hierarchy, false, progress);
  for (const zarrcore::Finding& finding : examined.findings) {
    if (finding.kind != zarrcore::Finding::Kind::document) continue;
    throw Error(path + ": " + finding.problem + "; nothing was changed");
  }
  // All of them are made before the first is put. The root's comes last: until then, readers see
  // the documents of v2 alone.
  std::vector<Document> documents;
  const auto add = [&](std::vector<Document> own) {
    std::move(own.begin(), own.end(), std::back_inserter(documents));
  };
  zarrcore::with_context(path + ": nothing was changed", [&] {
    for (const ExaminedArray& array : examined.arrays) add(documents_of(*hierarchy, array));
    for (const std::string& group : examined.groups) {
      const auto node = hierarchy->node(group, zarrcore::NodeKind::group);
      zarrcore::GroupMetadata metadata = std::get<zarrcore::GroupMetadata>(*node);
      metadata.unknown_members = zarrcore::Json::object();
      add(zarrcore::v3_format().group_documents(metadata, group));
    }
  });
  std::stable_partition(documents.begin(), documents.end(),
                        [](const Document& document) { return document.key != "zarr.json"; });
  CommandResult result;
  result.json = {{"store", path}, {"applied", applies}, {"nodes", documents.size()}};
  result.text = path + ": " + std::to_string(documents.size()) + " nodes " +
                (applies ? "have" : "would get") + " documents of Zarr v3\n";
  if (!applies) return result;

  open_changed(path);  // which throws if it cannot be written
  zarrcore::Store& store = *hierarchy->store();
  for (const Document& document : documents) put_document(store, zarrcore::v3_format(), document);
  std::vector<std::string> old_keys;
  const auto add_keys = [&](const std::string& node) {
    for (std::string& key : hierarchy->format().node_keys(node)) old_keys.push_back(std::move(key));
    if (auto key = hierarchy->format().consolidated_key(node)) old_keys.push_back(*std::move(key));
  };
  for (const std::string& group : examined.groups) add_keys(group);
  for (const ExaminedArray& array : examined.arrays) add_keys(array.path);
  store.erase_all(old_keys);
  store.flush();
  if (!examined.consolidated.empty()) open_changed(path)->consolidate(examined.consolidated);
  return result;
}

}  // namespace gdal_zarr
