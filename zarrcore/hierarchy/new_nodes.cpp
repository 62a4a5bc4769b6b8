// New hierarchies and new nodes.
#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/hierarchy/hierarchy_editor.h"

namespace zarrcore {
namespace {

void check_makes_nodes(const Format& format) {
  if (format.new_array_rules() != nullptr) return;
  throw Error("new nodes cannot be written in the format " + std::string(format.name()));
}

}  // namespace

void HierarchyEditor::create_root(const NodeMetadata& root) {
  with_context([&] { return store_.description(); },
               [&] {
                 check_makes_nodes(format_);
                 is_new_ = is_new_store();
                 const auto documents = new_documents_of(root, "");
                 const auto lock = copies().lock();
                 const bool is_empty = is_new_ && !copies_->has_groups_around();
                 if (!is_empty) remove_copies({""});
                 put_documents(documents);
                 // A single array does not need it.
                 const bool is_group = std::holds_alternative<GroupMetadata>(root);
                 if (!hierarchy_.options_.use_consolidated || !is_group) return;
                 lacks_copies_ = true;
                 copies_->want_root(is_empty ? documents : std::vector<Document>());
               });
  hierarchy_.nodes_.replace("", root);
}

// One listing can show that the store is empty. It is taken for that until creating it ends. Throws
// Error if there is a node at the root.
bool HierarchyEditor::is_new_store() {
  store_.use_listings();
  if (store_.is_known_absent("")) {
    hierarchy_.kept_until_opened_ = hierarchy_.keep_listings();
    hierarchy_.reader_.set_root_listing({});
    return true;
  }
  for (const Format* other : formats()) {
    if (other->read_node(hierarchy_.reader_.source(), ""))
      throw Error("a Zarr already exists here");
  }
  hierarchy_.reader_.forget_root();
  return false;
}

void HierarchyEditor::create(const std::string& path, NodeMetadata metadata) {
  const std::lock_guard one_at_a_time(mutex_);
  if (auto* array = std::get_if<ArrayMetadata>(&metadata)) array->chunk_prefix = path;
  with_context([&] { return store_.description() + ": /" + path; },
               [&] {
                 check_makes_nodes(format_);
                 const auto lock = copies().lock();
                 check_is_new(path);
                 const auto documents = new_documents_of(metadata, path);
                 change_documents({std::string(parent_path(path))},
                                  [&] { put_new_documents(path, documents); });
               });
  hierarchy_.nodes_.replace(path, std::move(metadata));
}

// Where each request waits, without attributes if there are none.
std::vector<Document> HierarchyEditor::new_documents_of(const NodeMetadata& metadata,
                                                        const std::string& path) const {
  std::vector<Document> documents = documents_of(metadata, path);
  const auto is_dispensable = [](const Document& document) {
    return document.content.is_object() && document.content.empty();
  };
  if (hierarchy_.is_slow()) {
    documents.erase(std::remove_if(documents.begin() + 1, documents.end(), is_dispensable),
                    documents.end());
  }
  return documents;
}

// Leaves none of them when one cannot be put.
void HierarchyEditor::put_new_documents(const std::string& path,
                                        const std::vector<Document>& documents) {
  try {
    put_documents(documents);
  } catch (...) {
    const std::exception_ptr error = std::current_exception();
    copies_->note_failure();
    try {
      store_.erase_all(format_.node_keys(path));
    } catch (const Error&) {
      // The first error is the cause.
    }
    forget(path);
    std::rethrow_exception(error);
  }
}

void HierarchyEditor::check_is_new(const std::string& path) const {
  check_key(path);
  const std::string_view name = last_segment(path);
  if (format_.is_document(name)) throw Error("a metadata document of the format has this name");
  if (const std::string_view problem = format_.name_problem(name); !problem.empty()) {
    throw Error("\"" + std::string(name) +
                "\" is not a valid name of a node: " + std::string(problem));
  }
  const std::string group(parent_path(path));
  const auto parent = hierarchy_.node(group);
  if (!parent || !std::holds_alternative<GroupMetadata>(*parent)) {
    throw Error("the group /" + group + " does not exist");
  }
  // Another program may have removed a group that is known.
  if (!is_new_ && !has_documents(group) && !hierarchy_.read_copied_node(group)) {
    throw Error("the group /" + group + " has been removed");
  }
  const bool is_known = hierarchy_.nodes_.find(path) != nullptr;
  if (!is_known && (is_new_ || !store_.has_prefix(path))) return;
  for (const std::string& key : format_.node_keys(path)) store_.refresh(key);
  if (is_known || hierarchy_.node(path)) throw Error("a node of this name already exists");
  throw Error("something else than a node exists here");
}

}  // namespace zarrcore
