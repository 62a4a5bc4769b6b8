#include "driver/commands/migration.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "driver/conventions/gdal_attributes.h"
#include "driver/conventions/packing.h"
#include "driver/gdal/worker_scope.h"
#include "zarrcore/array/stored_chunks.h"
#include "zarrcore/array/typed_values.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/hierarchy/documents.h"
#include "zarrcore/metadata/document_names.h"

namespace gdal_zarr {

using zarrcore::ArrayMetadata;
using zarrcore::Document;
using zarrcore::Error;
using zarrcore::ExaminedArray;
using zarrcore::Json;
using zarrcore::NodeKind;

namespace {

// Throws Error unless v3 readers find the values that readers of the old version find: where chunks
// are missing, and in one that is stored.
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

// v3 has two more rules than the older versions.
void check_path(const std::string& path) {
  const std::string_view problem = zarrcore::v3_format().name_problem(zarrcore::last_segment(path));
  if (!path.empty() && !problem.empty()) {
    throw Error("v3 cannot have this name: " + std::string(problem));
  }
}

std::vector<Document> documents_of(const zarrcore::Hierarchy& hierarchy,
                                   const ExaminedArray& array) {
  const auto& v3 = zarrcore::v3_format();
  ArrayMetadata migrated = zarrcore::migrated_to_v3(array.metadata);
  // Older readers mask the fill value; in v3, only what `_FillValue` states.
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
  metadata.chunk_prefix = array.metadata.chunk_prefix;  // where its chunks are now
  metadata.chunk_key_encoding = array.metadata.chunk_key_encoding;
  compare(hierarchy, array, metadata);
  return documents;
}

// In the draft, documents and chunks of a node are in other folders than in v3.
void check_place(const zarrcore::Hierarchy& hierarchy, const std::string& path, NodeKind kind) {
  zarrcore::Store& store = *hierarchy.store();
  const auto is_used = [&](const std::string& key) { return store.has(key); };
  bool is_taken =
      !path.empty() && std::ranges::any_of(zarrcore::v3_format().node_keys(path), is_used);
  for (const std::string_view folder : kDraftFolders) {
    const std::string root = std::string(folder) + "/root";
    is_taken = is_taken || zarrcore::is_at_or_below(path, root);
  }
  if (kind == NodeKind::array) {
    const std::string chunks = zarrcore::join_path(path, "c");
    is_taken = is_taken || store.has(chunks) || store.has_prefix(chunks);
    const bool has_nodes = path.empty()
                               ? hierarchy.has("", NodeKind::group)
                               : store.has_prefix(hierarchy.format().node_prefixes(path).front());
    if (has_nodes) throw Error("v3 has no nodes below an array");
  }
  if (is_taken) throw Error("in v3, its keys would be those of other values of the store");
}

ChunkMove move_of(const ExaminedArray& array) {
  std::string to = zarrcore::join_path(array.path, "c");
  if (!array.metadata.shape.empty()) to += array.metadata.chunk_key_encoding.separator;
  return {array.metadata.chunk_prefix, std::move(to)};
}

// All documents of v3. The root's comes last: until it is put, readers see the old documents alone.
void plan_documents(const zarrcore::Hierarchy& hierarchy, const zarrcore::ExaminedStore& examined,
                    MigrationPlan& plan) {
  const auto add = [&](const std::string& path, NodeKind kind, const auto& make) {
    zarrcore::with_context('/' + path, [&] {
      check_path(path);
      if (plan.is_of_draft) check_place(hierarchy, path, kind);
      std::ranges::move(make(), std::back_inserter(plan.documents));
    });
  };
  for (const ExaminedArray& array : examined.arrays) {
    add(array.path, NodeKind::array, [&] { return documents_of(hierarchy, array); });
    if (plan.is_of_draft) plan.moves.push_back(move_of(array));
  }
  for (const std::string& group : examined.groups) {
    const auto node = hierarchy.node(group, NodeKind::group);
    zarrcore::GroupMetadata metadata = std::get<zarrcore::GroupMetadata>(*node);
    metadata.unknown_members = Json::object();
    add(group, NodeKind::group,
        [&] { return zarrcore::v3_format().group_documents(metadata, group); });
  }
  const auto root = std::stable_partition(
      plan.documents.begin(), plan.documents.end(),
      [](const Document& document) { return document.key != zarrcore::kNodeDocument; });
  if (std::ranges::count(examined.consolidated, "") == 0) return;
  zarrcore::DocumentMap all;
  for (const Document& document : plan.documents) all.emplace(document.key, document.content);
  *root = zarrcore::v3_format().consolidated_document(all, "");
}

// The keys of the documents that these nodes may have, the root's last; that without which v1 has
// no node is the very last.
std::vector<std::string> old_keys(const zarrcore::ExaminedStore& examined,
                                  const zarrcore::Format& format) {
  std::vector<std::string> keys;
  const auto add = [&](const std::string& node) {
    if (auto key = format.consolidated_key(node)) keys.push_back(*std::move(key));
    std::ranges::reverse_copy(format.node_keys(node), std::back_inserter(keys));
  };
  for (const ExaminedArray& array : examined.arrays) add(array.path);
  for (const std::string& group : examined.groups) add(group);
  std::stable_partition(keys.begin(), keys.end(),
                        [](const std::string& key) { return key.find('/') != std::string::npos; });
  return keys;
}

// The format of the documents that a killed command has left in a store that is of v3 now; null if
// there are none. Other files than documents may have the names that v1 has.
const zarrcore::Format* left_format(const zarrcore::Hierarchy& hierarchy) {
  zarrcore::Store& store = *hierarchy.store();
  const auto is_left = [&](const std::string& key) { return store.has(key); };
  if (std::ranges::any_of(zarrcore::v2_format().node_keys(""), is_left)) {
    return &zarrcore::v2_format();
  }
  const auto array = zarrcore::as_array(hierarchy.node("", NodeKind::array));
  if (!array || !store.has(zarrcore::kV1ArrayDocument)) return nullptr;
  try {
    const auto node = zarrcore::v1_format().read_node(zarrcore::stored_documents(store), "");
    const auto& old = std::get<ArrayMetadata>(*node);
    const bool is_same = old.shape == array->shape && old.chunk_shape == array->chunk_shape &&
                         old.data_type == array->data_type &&
                         old.chunk_key_encoding == array->chunk_key_encoding;
    return is_same ? &zarrcore::v1_format() : nullptr;
  } catch (const zarrcore::AccessFailure&) {
    throw;
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace

MigrationPlan plan_migration(const std::string& path, const CommandProgress& progress) {
  const auto hierarchy = open_examined(path);
  const zarrcore::Format* format = &hierarchy->format();
  MigrationPlan plan;
  plan.is_of_draft = format->name() == zarrcore::draft_format().name();
  if (format == &zarrcore::v3_format()) {
    format = left_format(*hierarchy);
    plan.is_continued = true;
  } else if (format != &zarrcore::v1_format() && format != &zarrcore::v2_format() &&
             !plan.is_of_draft) {
    format = nullptr;
  }
  if (format == nullptr) {
    throw Error(path + " is " + std::string(hierarchy->format().name()) +
                ", not Zarr v1, Zarr v2 or the draft of 2020");
  }
  return zarrcore::with_context(path + ": nothing was changed", [&] {
    const zarrcore::ExaminedStore examined = examine(*hierarchy, ExaminedParts::names, progress);
    for (const zarrcore::Finding& finding : examined.findings) {
      if (finding.kind == zarrcore::Finding::Kind::document) throw Error(finding.problem);
    }
    if (!plan.is_continued) plan_documents(*hierarchy, examined, plan);
    plan.old_keys = old_keys(examined, *format);
    return std::move(plan);
  });
}

}  // namespace gdal_zarr
