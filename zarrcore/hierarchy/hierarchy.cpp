#include "zarrcore/hierarchy/hierarchy.h"

#include <algorithm>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/hierarchy/document_writer.h"

namespace zarrcore {
namespace {

// The keys of consolidated metadata at the root, in all formats.
std::vector<std::string> consolidated_keys() {
  std::vector<std::string> keys;
  for (const Format* format : formats()) {
    if (auto key = format->consolidated_key("")) keys.push_back(std::move(*key));
  }
  return keys;
}

void check_makes_nodes(const Format& format) {
  if (format.new_array_rules() != nullptr) return;
  throw Error("new nodes cannot be written in the format " + std::string(format.name()));
}

}  // namespace

Hierarchy::Hierarchy(std::shared_ptr<Store> store, HierarchyOptions options)
    : store_(std::move(store)),
      options_(std::move(options)),
      reader_(*store_, options_.on_problem, options_.run_together,
              std::exchange(options_.root_documents, {})) {
  const DocumentSource own = reader_.source();
  auto root_listing = std::exchange(options_.root_listing, {});
  if (options_.is_writable && options_.lists_root && !root_listing) {
    root_listing = list_for_changes(*store_);
  }
  const bool reads_copies = options_.use_consolidated && !(options_.is_writable && root_listing);
  if (root_listing) {
    kept_until_opened_ = keep_listings();
    reader_.set_root_listing(std::move(*root_listing));
  }
  // Consolidated metadata describes most, in any format.
  const auto kept_first = request(reads_copies ? consolidated_keys() : std::vector<std::string>());
  std::vector<std::string> faults;  // of consolidated metadata
  for (const Format* format : formats()) {
    own_format_ = format->for_store(own);
    format_ = own_format_ ? own_format_.get() : format;
    nodes_.set_root_array(std::nullopt);
    const auto read_copies = [&] {
      try {
        return copied_.read(*format_, own);
      } catch (const Error& error) {
        faults.emplace_back(error.what());
        return false;
      }
    };
    bool has_copies = reads_copies && read_copies();
    if (!has_copies) {
      const auto answers = request_expected();
      const bool is_found = has("", NodeKind::group) || has("", NodeKind::array);
      if (is_found) read_expected();
      if (!is_found && options_.use_consolidated && !reads_copies) has_copies = read_copies();
      if (!is_found && !has_copies) continue;
    }
    if (has_copies) {
      for (const std::string& problem : copied_.problems()) options_.on_problem(problem);
      reader_.forget_root();  // the store is not read any more
      // A consolidated hierarchy has a root group even without a document for it.
      if (node("") == nullptr) nodes_.add("", GroupMetadata{});
    } else if (options_.use_consolidated && !reads_copies) {
      copied_.read_later();
    }
    for (const std::string& fault : faults) options_.on_problem(fault + "; it is not used");
    if (options_.is_writable) restore_at_opening();
    return;
  }
  if (options_.empty_is_group && !store_->has_prefix("")) {
    format_ = &v3_format();
    nodes_.add("", GroupMetadata{});
    return;
  }
  if (std::string reason = denied(""); !reason.empty()) throw AccessDenied(std::move(reason));
  std::string message = store_->description() + ": there is no Zarr group or array";
  for (const std::string& fault : faults) message.append("; ").append(fault);
  throw Error(std::move(message));
}

Hierarchy::Hierarchy(std::shared_ptr<Store> store, HierarchyOptions options, const Format& format)
    : store_(std::move(store)),
      options_(std::move(options)),
      format_(&format),
      reader_(*store_, options_.on_problem, options_.run_together, {}) {}

Hierarchy::~Hierarchy() = default;

std::unique_ptr<Hierarchy> Hierarchy::create(std::shared_ptr<Store> store, const Format& format,
                                             const NodeMetadata& root, HierarchyOptions options) {
  options.is_writable = true;
  std::unique_ptr<Hierarchy> hierarchy(new Hierarchy(std::move(store), std::move(options), format));
  hierarchy->create_root(root);
  return hierarchy;
}

void Hierarchy::end_opening() {
  is_new_ = false;
  kept_until_opened_.reset();
}

DocumentSource Hierarchy::documents() const {
  return is_consolidated() ? copied_.source() : reader_.source();
}

DocumentRequests::AnswerScope Hierarchy::request(std::vector<std::string> keys) const {
  return is_consolidated() ? DocumentRequests::AnswerScope() : reader_.request(std::move(keys));
}

// The documents of the root, and those on the way to the expected array.
DocumentRequests::AnswerScope Hierarchy::request_expected() const {
  const std::string& expected = options_.expected_array;
  auto keys =
      format_->keys_to_read("", expected.empty() ? std::nullopt : std::optional(NodeKind::group));
  const auto is_missing = [this](const std::string& key) {
    return reader_.is_missing_at_root(key);
  };
  if (std::ranges::any_of(keys, is_missing)) return {};  // the root is of another format
  const auto add = [&](const std::string& path, NodeKind kind) {
    for (std::string& key : format_->keys_to_read(path, kind)) keys.push_back(std::move(key));
  };
  if (!expected.empty()) add(expected, NodeKind::array);
  for (std::string group(parent_path(expected)); !group.empty(); group = parent_path(group)) {
    add(group, NodeKind::group);
  }
  return request(std::move(keys));
}

// The nodes of these documents.
void Hierarchy::read_expected() const {
  if (options_.expected_array.empty() || !is_slow()) return;
  prefetch_node(options_.expected_array, NodeKind::array);
  for (std::string group(parent_path(options_.expected_array)); !group.empty();
       group = parent_path(group)) {
    prefetch_node(group, NodeKind::group);
  }
}

// For changes: reads a node that is described by consolidated metadata alone, if its path exists.
// Documents read earlier may not show that another program has removed the node.
std::optional<NodeMetadata> Hierarchy::read_copied_node(const std::string& path) const {
  if (is_consolidated() || store_->is_known_absent(path)) return std::nullopt;
  if (!copied_.find(*format_, reader_.source(), options_.on_problem)) return std::nullopt;
  for (const std::string& key : format_->node_keys(path)) {
    if (key != format_->consolidated_key(path) && store_->has(key)) return std::nullopt;
  }
  if (!format_->read_node(copied_.source(), path)) return std::nullopt;
  if (store_->list(path).is_empty()) return std::nullopt;
  if (!copied_.read(*format_, stored_documents(*store_))) return std::nullopt;
  return format_->read_node(copied_.source(), path);
}

std::shared_ptr<const NodeMetadata> Hierarchy::root_array() const {
  if (auto known = nodes_.root_array()) return *known;
  auto found = with_context([this] { return store_->description(); },
                            [&] { return format_->read_root_array(documents()); });
  auto array = found ? std::make_shared<const NodeMetadata>(std::move(*found)) : nullptr;
  nodes_.set_root_array(array);
  return array;
}

std::shared_ptr<const NodeMetadata> Hierarchy::node(std::string_view path,
                                                    std::optional<NodeKind> wanted) const {
  const std::string normalized = normalize_path(path);
  if (normalized.empty() && wanted == NodeKind::array) {
    if (auto array = root_array()) return array;
  }
  if (auto known = nodes_.find(normalized)) return known;
  const std::uint64_t changes = changes_;
  const auto answers = request(format_->keys_to_read(normalized, wanted));
  const auto of_store = [this] { return store_->description(); };
  auto found = with_context(of_store, [&] {
    auto own = format_->read_node(documents(), normalized, wanted);
    return own ? std::move(own) : read_copied_node(normalized);
  });
  if (found) note_read(normalized, changes);
  return found ? nodes_.add(normalized, std::move(*found)) : nullptr;
}

bool Hierarchy::has(std::string_view path, NodeKind kind) const {
  const std::string normalized = normalize_path(path);
  if (kind == NodeKind::group && nodes_.find(normalized) == nullptr) {
    if (nodes_.has_group(normalized)) return true;
    const auto answers = request(format_->keys_to_read(normalized, NodeKind::group));
    const auto of_store = [this] { return store_->description(); };
    const auto found =
        with_context(of_store, [&] { return format_->find_group(documents(), normalized); });
    if (found == true) {
      nodes_.add_group(normalized);
      // The group's attributes have been requested with the document that shows the group.
      if (is_slow()) prefetch_node(normalized, NodeKind::group);
    }
    const auto may_be_copied = [&] { return copied_.may_exist() && !is_consolidated(); };
    if (found && (*found || !may_be_copied())) return *found;
  }
  return kind_of(node(normalized, kind)) == kind;
}

std::string Hierarchy::denied(std::string_view path) const {
  return reader_.denied(normalize_path(path));
}

void Hierarchy::check_not_denied(std::string_view path) const {
  const std::string reason = denied(path);
  if (reason.empty()) return;
  throw AccessDenied(store_->description() + ": there is no node at /" + normalize_path(path) +
                     ": " + reason);
}

// Restores consolidated metadata that another program has left out of date. If that fails, the
// next program tries it. Where each request waits, groups around the store are left to the first
// change of a node.
void Hierarchy::restore_at_opening() {
  if (!store_->traits().read_only_reason.empty() || !format_->read_only_reason().empty()) return;
  try {
    const bool has_note =
        is_slow() ? ConsolidatedCopies::has_note_in(*store_) : writer().has_note();
    if (!has_note) return;
    const auto lock = writer().lock();
    writer_->restore();
  } catch (const Error& error) {
    options_.on_problem(std::string("consolidated metadata: ") + error.what());
  }
}

DocumentWriter& Hierarchy::writer() {
  if (!options_.is_writable) throw Error("it was opened for reading only");
  if (!writer_) {
    writer_ = std::make_unique<DocumentWriter>(store_, *format_, reader_, copied_, nodes_,
                                               options_.on_problem, options_.run_together);
  }
  return *writer_;
}

void Hierarchy::create_root(const NodeMetadata& root) {
  with_context(store_->description(), [&] {
    check_makes_nodes(*format_);
    is_new_ = is_new_store();
    const auto documents = writer().new_documents(root, "");
    const auto lock = writer_->lock();
    const bool is_empty = is_new_ && !writer_->has_groups_around();
    if (!is_empty) writer_->remove_copies({""});
    writer_->put(documents);
    // A single array does not need it.
    const bool is_group = std::holds_alternative<GroupMetadata>(root);
    if (!options_.use_consolidated || !is_group) return;
    writer_->want_root(is_empty ? documents : std::vector<Document>());
  });
  nodes_.replace("", root);
}

// One listing can show that the store is empty. It counts as empty until the root has been created.
// Throws Error if there is a node at the root.
bool Hierarchy::is_new_store() {
  store_->use_listings();
  if (store_->is_known_absent("")) {
    kept_until_opened_ = keep_listings();
    reader_.set_root_listing({});
    return true;
  }
  for (const Format* other : formats()) {
    if (other->read_node(reader_.source(), "")) throw Error("a Zarr already exists here");
  }
  reader_.forget_root();
  return false;
}

void Hierarchy::create_node(const std::string& path, NodeMetadata metadata) {
  const std::lock_guard one_at_a_time(change_mutex_);
  if (auto* array = std::get_if<ArrayMetadata>(&metadata)) {
    array->chunk_prefix = format_->node_prefixes(path).back();
  }
  with_context(name_of(path), [&] {
    check_makes_nodes(*format_);
    const auto lock = writer().lock();
    check_is_new(path);
    const auto documents = writer_->new_documents(metadata, path);
    writer_->change({std::string(parent_path(path))}, [&] { writer_->put_new(path, documents); });
  });
  nodes_.replace(path, std::move(metadata));
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
  // Another program may have removed a group that is known.
  if (!is_new_ && !writer_->has_documents(group) && !read_copied_node(group) &&
      !read_stored_node(stored_documents(*store_), *format_, group).metadata) {
    throw Error("the group /" + group + " has been removed");
  }
  const bool is_known = nodes_.find(path) != nullptr;
  // Most formats have the documents of a node below its path.
  const std::vector<std::string> prefixes = format_->node_prefixes(path);
  const auto is_taken = [&] {
    return std::ranges::any_of(prefixes,
                               [&](const auto& prefix) { return store_->has_prefix(prefix); }) ||
           (prefixes.size() > 1 && writer_->has_documents(path));
  };
  if (!is_known && (is_new_ || !is_taken())) return;
  for (const std::string& key : format_->node_keys(path)) store_->refresh(key);
  if (is_known || node(path)) throw Error("a node of this name already exists");
  throw Error("something else than a node exists here");
}

void Hierarchy::erase_documents() {
  store_->erase_all(document_keys_below(*store_, *format_, ""));
}

void Hierarchy::erase_nodes(std::span<const std::string> paths) {
  const std::lock_guard one_at_a_time(change_mutex_);
  const auto is_erased = [&](const std::string& node) {
    return std::ranges::any_of(paths,
                               [&](const std::string& path) { return is_at_or_below(node, path); });
  };
  with_context(paths.size() == 1 ? name_of(paths.front()) : store_->description(), [&] {
    std::ranges::for_each(paths, check_key);
    const auto lock = writer().lock();
    std::vector<std::string> groups;
    for (const std::string& path : paths) groups.emplace_back(parent_path(path));
    writer_->change(groups, [&] {
      std::exception_ptr first_error;
      for (const std::string& path : paths) {
        try {
          writer_->erase(path);
        } catch (const Error&) {
          if (!first_error) first_error = std::current_exception();
        }
      }
      // A node that could not be erased keeps its changes.
      std::erase_if(updated_, [&](const auto& node) {
        return is_erased(node.first) && !(first_error && writer_->has_documents(node.first));
      });
      if (first_error) std::rethrow_exception(first_error);
    });
  });
}

void Hierarchy::rename_node(const std::string& path, const std::string& name) {
  const std::lock_guard one_at_a_time(change_mutex_);
  with_context(name_of(path), [&] {
    check_key(path);
    if (!is_valid_segment(name)) throw Error("a node cannot be named \"" + name + '"');
    const std::string target = join_path(parent_path(path), name);
    const auto lock = writer().lock();
    with_context("renaming to " + name, [&] { check_is_new(target); });
    std::vector<std::string> updated;
    std::vector<std::string> groups{std::string(parent_path(path))};
    for (const auto& [node, base] : updated_) {
      if (!is_at_or_below(node, path)) continue;
      updated.push_back(node);
      groups.push_back(group_of(node));
    }
    writer_->change(groups, [&] {
      for (const std::string& node : updated) put_updated(node);
      writer_->rename(path, target);
    });
  });
}

bool Hierarchy::exchange_nodes(const std::string& path, const std::string& other) {
  // Documents and chunks would be two operations.
  if (format_->node_prefixes(path) != std::vector{path}) return false;
  const std::lock_guard one_at_a_time(change_mutex_);
  return with_context(name_of(path), [&] {
    const auto lock = writer().lock();
    bool are_exchanged = false;
    writer_->change({std::string(parent_path(path))},
                    [&] { are_exchanged = writer_->exchange(path, other); });
    return are_exchanged;
  });
}

}  // namespace zarrcore
