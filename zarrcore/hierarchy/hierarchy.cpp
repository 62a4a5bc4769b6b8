#include "zarrcore/hierarchy/hierarchy.h"

#include <algorithm>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/hierarchy/arrays.h"
#include "zarrcore/hierarchy/consolidated_copies.h"
#include "zarrcore/hierarchy/documents.h"

namespace zarrcore {
namespace {

std::optional<NodeKind> kind_of(const std::shared_ptr<const NodeMetadata>& node) {
  if (node == nullptr) return std::nullopt;
  return std::holds_alternative<ArrayMetadata>(*node) ? NodeKind::array : NodeKind::group;
}

// The keys of consolidated metadata at the root, in all formats.
std::vector<std::string> consolidated_keys() {
  std::vector<std::string> keys;
  for (const Format* format : formats()) {
    if (auto key = format->consolidated_key("")) keys.push_back(std::move(*key));
  }
  return keys;
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

bool Hierarchy::prefetch(std::span<const std::string> paths, std::optional<NodeKind> wanted) const {
  if (!is_slow()) return false;
  constexpr std::size_t kMaxNodes = 256;  // whose documents are in memory at once
  for (std::size_t start = 0; start < paths.size(); start += kMaxNodes) {
    const auto some = paths.subspan(start, std::min(kMaxNodes, paths.size() - start));
    const auto request_for = [&](std::optional<NodeKind> kind) {
      std::vector<std::string> keys;
      for (const std::string& path : some) {
        if (nodes_.find(path)) continue;
        for (std::string& key : format_->keys_to_read(path, kind)) keys.push_back(std::move(key));
      }
      return request(std::move(keys));
    };
    // Most nodes are arrays. To change them, fewer requests count more than fewer round trips.
    const bool is_array_first = !wanted && options_.is_writable;
    const auto kept_first = request_for(is_array_first ? NodeKind::array : wanted);
    if (is_array_first) prefetch_arrays(some);
    const auto answers = is_array_first ? request_for(wanted) : DocumentRequests::AnswerScope();
    for (const std::string& path : some) prefetch_node(path, wanted);
  }
  return true;
}

void Hierarchy::prefetch_arrays(std::span<const std::string> paths) const {
  for (const std::string& path : paths) {
    if (nodes_.find(path)) continue;
    try {
      auto found = format_->read_node(reader_.source(), path, NodeKind::array);
      if (found) nodes_.add(path, std::move(*found));
    } catch (const Error&) {
      // Opening the node reports the error.
    }
  }
}

// Opening the node reports errors.
void Hierarchy::prefetch_node(const std::string& path, std::optional<NodeKind> wanted) const {
  try {
    node(path, wanted);
  } catch (const Error&) {
  }
}

// Leaves out names that no node may have, which are reported once: other folders may have such
// names.
std::vector<std::string> Hierarchy::listed_names(const DocumentSource& source,
                                                 const std::string& group) const {
  std::vector<std::string> names = format_->child_names(source, group);
  std::erase_if(names, [&](const std::string& name) {
    const std::string_view problem = format_->name_problem(name);
    if (problem.empty()) return false;
    const std::string path = join_path(group, name);
    const auto keys = format_->node_keys(path);
    const bool is_node = std::any_of(keys.begin(), keys.end(),
                                     [&](const std::string& key) { return source.has(key); });
    bool is_new = false;
    {
      const std::lock_guard lock(mutex_);
      is_new = is_node && skipped_.insert(path).second;
    }
    if (is_new) {
      options_.on_problem("/" + path +
                          " is not listed because of its name: " + std::string(problem));
    }
    return true;
  });
  return names;
}

// The listed names, with their nodes read in advance where that saves waiting.
std::vector<std::string> Hierarchy::prefetched_names(const DocumentSource& source,
                                                     const std::string& group) const {
  std::vector<std::string> names = listed_names(source, group);
  std::vector<std::string> paths;
  paths.reserve(names.size());
  for (const std::string& name : names) paths.push_back(join_path(group, name));
  prefetch(paths, std::nullopt);
  return names;
}

std::vector<std::string> Hierarchy::child_names(std::string_view path, NodeKind kind) const {
  const std::string group = normalize_path(path);
  const DocumentSource source = documents();
  std::vector<std::string> names;
  if (group.empty() && kind == NodeKind::array) {
    try {
      if (root_array() != nullptr) names.emplace_back();
    } catch (const Error&) {
      names.emplace_back();  // opening it reports the error
    }
  }
  for (std::string& name : prefetched_names(source, group)) {
    const std::string child = join_path(group, name);
    std::optional<NodeKind> found = is_slow() ? kind_of(nodes_.find(child)) : std::nullopt;
    try {
      if (!found) found = format_->find_kind(source, child);
      if (!found) found = kind_of(node(child));
    } catch (const Error&) {
      found = NodeKind::array;  // opening it reports the error
    }
    if (found == kind) names.push_back(std::move(name));
  }
  return names;
}

std::vector<Child> Hierarchy::children(std::string_view path) const {
  const std::string group = normalize_path(path);
  std::vector<Child> children;
  if (group.empty()) {
    try {
      if (root_array() != nullptr) children.push_back({{}, Child::Kind::array, {}});
    } catch (const Error& error) {
      children.push_back({{}, Child::Kind::broken, error.what()});
    }
  }
  for (std::string& name : prefetched_names(documents(), group)) {
    try {
      if (const auto metadata = node(join_path(group, name))) {
        const bool is_array = std::holds_alternative<ArrayMetadata>(*metadata);
        children.push_back(
            {std::move(name), is_array ? Child::Kind::array : Child::Kind::group, {}});
      }
    } catch (const Error& error) {
      children.push_back({std::move(name), Child::Kind::broken, error.what()});
    }
  }
  return children;
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

std::shared_ptr<const Array> Hierarchy::open_array(std::string_view path,
                                                   std::shared_ptr<Context> context) const {
  auto metadata = node(path, NodeKind::array);
  if (metadata == nullptr) metadata = node(path);
  if (metadata == nullptr) {
    check_not_denied(path);
    throw Error(store_->description() + ": there is no node at /" + normalize_path(path));
  }
  const std::string name = store_->description() + ": /" + normalize_path(path);
  const auto* array = std::get_if<ArrayMetadata>(metadata.get());
  if (array == nullptr) throw Error(name + " is a group, not an array");
  with_context(name, [&] { check_is_current(normalize_path(path), *array); });
  ArrayMetadata known = with_context(name, [&] { return with_long_doubles(*array, options_); });
  return std::make_shared<const Array>(store_, normalize_path(path), std::move(known),
                                       std::move(context));
}

}  // namespace zarrcore
