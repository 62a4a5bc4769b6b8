#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "driver/commands/examined.h"
#include "driver/conventions/attribute_change.h"
#include "driver/conventions/packing.h"
#include "driver/entry/manage.h"
#include "driver/gdal/worker_scope.h"
#include "zarrcore/array/stored_chunks.h"
#include "zarrcore/array/typed_values.h"
#include "zarrcore/base/error.h"
#include "zarrcore/hierarchy/documents.h"
#include "zarrcore/metadata/format.h"

namespace gdal_zarr {

using zarrcore::ArrayMetadata;
using zarrcore::Document;
using zarrcore::Error;
using zarrcore::ExaminedArray;

namespace {

// Throws Error unless v3 readers find the values that v2 readers find: where chunks are missing,
// and in one that is stored.
void compare(const zarrcore::Hierarchy& hierarchy, const ExaminedArray& examined,
             const ArrayMetadata& v3) {
  const auto before = hierarchy.open_array(examined.path, shared_context());
  const zarrcore::Array after(hierarchy.store(), examined.path, v3, shared_context());
  if (examined.metadata.fill_value && examined.metadata.fill_value != v3.fill_value) {
    throw Error("its fill value would not be the same in v3");
  }
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
    ArrayMetadata migrated = zarrcore::migrated_to_v3(array.metadata);
    // Readers of v2 mask the fill value; in v3, only what `_FillValue` states.
    const Packing packing = read_packing(array.metadata);
    // xarray cannot decode a `_FillValue` of times.
    if (packing.nodata && !migrated.data_type.is_time() &&
        !migrated.attributes.contains("_FillValue") &&
        !migrated.attributes.contains("missing_value")) {
      const AttributeChange change = write_packing(migrated, packing, true).attributes;
      migrated.attributes = apply_change(std::move(migrated.attributes), change);
    }
    std::vector<Document> documents = v3.new_array_documents(migrated, array.path);
    zarrcore::DocumentMap map;
    for (const Document& document : documents) map.emplace(document.key, document.content);
    auto node = v3.read_node(zarrcore::documents_in(map), array.path);
    ArrayMetadata& metadata = std::get<ArrayMetadata>(*node);
    metadata.chunk_prefix = array.metadata.chunk_prefix;
    compare(hierarchy, array, metadata);
    return documents;
  });
}

// The keys of the documents of v2 that these nodes may have, the root's last.
std::vector<std::string> old_keys(const zarrcore::ExaminedStore& examined) {
  std::vector<std::string> keys;
  const auto add = [&](const std::string& node) {
    for (std::string& key : zarrcore::v2_format().node_keys(node)) keys.push_back(std::move(key));
    if (auto key = zarrcore::v2_format().consolidated_key(node)) keys.push_back(*std::move(key));
  };
  for (const ExaminedArray& array : examined.arrays) add(array.path);
  for (const std::string& group : examined.groups) add(group);
  std::stable_partition(keys.begin(), keys.end(),
                        [](const std::string& key) { return key.find('/') != std::string::npos; });
  return keys;
}

// Ends a migration: makes consolidated metadata if the root had it, then erases the documents of
// v2. Those of the root are erased last, so that a migration that was killed can be continued.
void end_migration(const std::string& path, const zarrcore::ExaminedStore& examined) {
  const auto hierarchy = open_changed(path);
  zarrcore::Store& store = *hierarchy->store();
  const std::vector<std::string> keys = old_keys(examined);
  const auto at_root = std::ranges::find_if(
      keys, [](const std::string& key) { return key.find('/') == std::string::npos; });
  const bool is_group = hierarchy->has("", zarrcore::NodeKind::group);
  if (is_group && store.has(*zarrcore::v2_format().consolidated_key(""))) hierarchy->consolidate();
  store.erase_all(std::span(keys.begin(), at_root));
  store.flush();
  store.erase_all(std::span(at_root, keys.end()));
  store.flush();
}

// A migration that was killed leaves them.
bool has_old_root(zarrcore::Store& store) {
  return std::ranges::any_of(zarrcore::v2_format().node_keys(""),
                             [&](const std::string& key) { return store.has(key); });
}

// All documents of v3. The root's comes last: until it is put, readers see the documents of v2
// alone.
std::vector<Document> new_documents(const zarrcore::Hierarchy& hierarchy,
                                    const zarrcore::ExaminedStore& examined) {
  std::vector<Document> documents;
  const auto add = [&](std::vector<Document> own) {
    std::move(own.begin(), own.end(), std::back_inserter(documents));
  };
  for (const ExaminedArray& array : examined.arrays) add(documents_of(hierarchy, array));
  for (const std::string& group : examined.groups) {
    const auto node = hierarchy.node(group, zarrcore::NodeKind::group);
    zarrcore::GroupMetadata metadata = std::get<zarrcore::GroupMetadata>(*node);
    metadata.unknown_members = zarrcore::Json::object();
    add(zarrcore::v3_format().group_documents(metadata, group));
  }
  std::stable_partition(documents.begin(), documents.end(),
                        [](const Document& document) { return document.key != "zarr.json"; });
  return documents;
}

}  // namespace

CommandResult run_migrate(const Arguments& arguments, const CommandProgress& progress) {
  const std::string path = store_of(arguments);
  const bool applies = applies_changes(arguments);
  check_is_whole(path);
  const auto hierarchy = open_examined(path);
  zarrcore::Store& store = *hierarchy->store();
  const zarrcore::Format& format = hierarchy->format();
  const bool is_continued = &format == &zarrcore::v3_format() && has_old_root(store);
  if (&format != &zarrcore::v2_format() && !is_continued) {
    throw Error(path + " is " + std::string(format.name()) + ", not Zarr v2");
  }
  const zarrcore::ExaminedStore examined = examine(*hierarchy, false, progress);
  for (const zarrcore::Finding& finding : examined.findings) {
    if (finding.kind != zarrcore::Finding::Kind::document) continue;
    throw Error(path + ": " + finding.problem + "; nothing was changed");
  }
  // All of them are made before the first is put.
  std::vector<Document> documents;
  if (!is_continued) {
    documents = zarrcore::with_context(path + ": nothing was changed",
                                       [&] { return new_documents(*hierarchy, examined); });
  }
  CommandResult result;
  result.json = {{"store", path},
                 {"applied", applies},
                 {"nodes", documents.size()},
                 {"continued", is_continued}};
  result.text = path + ": " +
                (is_continued ? std::string("the migration that was interrupted ") +
                                    (applies ? "has ended" : "would be ended")
                              : std::to_string(documents.size()) + " nodes " +
                                    (applies ? "have" : "would get") + " documents of Zarr v3") +
                '\n';
  if (!applies) return result;

  if (!is_continued) {
    const auto changed = open_changed(path);
    for (const Document& document : documents)
      put_document(*changed->store(), zarrcore::v3_format(), document);
    changed->store()->flush();
  }
  end_migration(path, examined);
  return result;
}

}  // namespace gdal_zarr
