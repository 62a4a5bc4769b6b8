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
#include "zarrcore/hierarchy/consolidated_copies.h"
#include "zarrcore/hierarchy/hierarchy.h"

namespace zarrcore {
namespace {

void check_makes_nodes(const Format& format) {
  if (format.new_array_rules() != nullptr) return;
  throw Error("new nodes cannot be written in the format " + std::string(format.name()));
}

}  // namespace

std::unique_ptr<Hierarchy> Hierarchy::create(std::shared_ptr<Store> store, const Format& format,
                                             const NodeMetadata& root, HierarchyOptions options) {
  options.is_writable = true;
  std::unique_ptr<Hierarchy> hierarchy(new Hierarchy(std::move(store), std::move(options), format));
  with_context([&] { return hierarchy->store_->description(); },
               [&] {
                 check_makes_nodes(format);
                 hierarchy->check_is_new_store();
                 const auto documents = hierarchy->new_documents_of(root, "");
                 ConsolidatedCopies& copies = hierarchy->copies();
                 const auto lock = copies.lock();
                 const bool is_empty = hierarchy->is_new_ && !copies.has_groups_around();
                 if (!is_empty) hierarchy->remove_copies({""});
                 hierarchy->put_documents(documents);
                 // A single array does not need it.
                 const bool is_group = std::holds_alternative<GroupMetadata>(root);
                 if (!hierarchy->options_.use_consolidated || !is_group) return;
                 hierarchy->lacks_copies_ = true;
                 copies.want_root(is_empty ? documents : std::vector<Document>());
               });
  hierarchy->nodes_[""] = std::make_shared<const NodeMetadata>(root);
  return hierarchy;
}

// One listing can show that the store is empty. It is taken for that until creating it ends.
void Hierarchy::check_is_new_store() {
  store_->use_listings();
  is_new_ = store_->is_known_absent("");
  if (is_new_) {
    kept_until_opened_ = keep_listings();
    listings_.emplace("", DirectoryListing());
    return;
  }
  for (const Format* other : formats()) {
    if (other->read_node(own_documents(), "")) throw Error("a Zarr already exists here");
  }
  root_texts_.clear();
}

void Hierarchy::create_node(const std::string& path, NodeMetadata metadata) {
  const std::lock_guard one_at_a_time(change_mutex_);
  if (auto* array = std::get_if<ArrayMetadata>(&metadata)) array->chunk_prefix = path;
  with_context([&] { return store_->description() + ": /" + path; },
               [&] {
                 check_makes_nodes(*format_);
                 const auto lock = copies().lock();
                 check_is_new(path);
                 auto documents = new_documents_of(metadata, path);
                 change_documents({std::string(parent_path(path))},
                                  [&] { put_new_documents(path, std::move(documents)); });
               });
  const std::lock_guard lock(mutex_);
  nodes_[path] = std::make_shared<const NodeMetadata>(std::move(metadata));
}

void Hierarchy::consolidate() {
  {
    const std::lock_guard one_at_a_time(change_mutex_);
    with_context([&] { return store_->description() + ": consolidated metadata"; },
                 [&] {
                   ConsolidatedCopies& made = copies();
                   if (!has("", NodeKind::group)) throw Error("there is no group at the root");
                   if (!format_->consolidated_key("")) {
                     throw Error("the format " + std::string(format_->name()) + " has none");
                   }
                   const auto lock = made.lock();
                   remove_copies({""});
                   made.want_root({});
                 });
  }
  flush();
}

// Where each request waits, without attributes if there are none.
std::vector<Document> Hierarchy::new_documents_of(const NodeMetadata& metadata,
                                                  const std::string& path) const {
  std::vector<Document> documents = documents_of(metadata, path);
  const auto is_dispensable = [](const Document& document) {
    return document.content.is_object() && document.content.empty();
  };
  if (is_slow()) {
    documents.erase(std::remove_if(documents.begin() + 1, documents.end(), is_dispensable),
                    documents.end());
  }
  return documents;
}

// Leaves none of them when one cannot be put.
void Hierarchy::put_new_documents(const std::string& path, std::vector<Document> documents) {
  try {
    put_documents(std::move(documents));
  } catch (...) {
    const std::exception_ptr error = std::current_exception();
    copies_->note_failure();
    try {
      store_->erase_all(format_->node_keys(path));
    } catch (const Error&) {
      // The first error is the cause.
    }
    forget(path);
    std::rethrow_exception(error);
  }
}

void Hierarchy::check_is_new(const std::string& path) const {
  check_key(path);
  const std::string_view name = last_segment(path);
  if (format_->is_document(name)) throw Error("a metadata document of the format has this name");
  if (const std::string_view problem = format_->name_problem(name); !problem.empty()) {
    throw Error("\"" + std::string(name) +
                "\" is not a valid name of a node: " + std::string(problem));
  }
  const std::string group(parent_path(path));
  const auto parent = node(group);
  if (!parent || !std::holds_alternative<GroupMetadata>(*parent)) {
    throw Error("the group /" + group + " does not exist");
  }
  if (!is_new_ && !is_still_there(group)) {
    throw Error("the group /" + group + " has been removed");
  }
  const bool is_known = known_node(path) != nullptr;
  if (!is_known && (is_new_ || !store_->has_prefix(path))) return;
  for (const std::string& key : format_->node_keys(path)) store_->refresh_value(key);
  if (is_known || node(path)) throw Error("a node of this name already exists");
  throw Error("something else than a node exists here");
}

// Whether a known node still exists: another program may have removed it.
bool Hierarchy::is_still_there(const std::string& path) const {
  return has_documents(path) || read_copied_node(path);
}

bool Hierarchy::has_documents(const std::string& path) const {
  const auto keys = format_->node_keys(path);
  return std::any_of(keys.begin(), keys.end(),
                     [&](const std::string& key) { return store_->has(key); });
}

}  // namespace zarrcore
