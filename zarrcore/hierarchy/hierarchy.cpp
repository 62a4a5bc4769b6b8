#include "zarrcore/hierarchy/hierarchy.h"

#include <algorithm>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace zarrcore {
namespace {

// No metadata document is larger; a file that is must be something else.
constexpr std::uint64_t kMaxDocumentBytes = std::uint64_t{256} << 20;

}  // namespace

Hierarchy::Hierarchy(std::shared_ptr<Store> store, HierarchyOptions options)
    : store_(std::move(store)), options_(std::move(options)) {
  // Formats ask for the same documents more than once while the root is looked for.
  std::map<std::string, std::optional<Json>> seen;
  const DocumentSource documents = [&](const std::string& key) {
    const auto it = seen.find(key);
    return it != seen.end() ? it->second : seen.emplace(key, stored_document(key)).first->second;
  };
  for (const Format* format : formats()) {
    format_ = format;
    if (options_.use_consolidated) {
      try {
        consolidated_ = format->read_consolidated(documents, "");
      } catch (const Error& error) {
        options_.on_problem(std::string(error.what()) + "; it is not used");
      }
    }
    if (consolidated_) {
      for (const std::string& problem : consolidated_->problems) options_.on_problem(problem);
      // A consolidated hierarchy has a root group even if nobody wrote a document for it.
      if (node("") == nullptr) nodes_[""] = std::make_shared<const NodeMetadata>(GroupMetadata{});
      return;
    }
    if (auto root = with_context([this] { return store_->description(); },
                                 [&] { return format->read_node(documents, ""); })) {
      nodes_[""] = std::make_shared<const NodeMetadata>(std::move(*root));
      return;
    }
  }
  throw Error(store_->description() + ": there is no Zarr group or array");
}

std::optional<Json> Hierarchy::stored_document(const std::string& key) const {
  return with_context([&] { return key; },
                      [&]() -> std::optional<Json> {
                        const auto text = store_->get(key, kMaxDocumentBytes);
                        return text ? std::optional(parse_json(text->text())) : std::nullopt;
                      });
}

std::optional<Json> Hierarchy::read_document(const std::string& key) const {
  if (!consolidated_) return stored_document(key);
  const auto it = consolidated_->documents.find(key);
  return it == consolidated_->documents.end() ? std::nullopt : std::optional(it->second);
}

std::shared_ptr<const NodeMetadata> Hierarchy::node(std::string_view path) const {
  const std::string normalized = normalize_path(path);
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = nodes_.find(normalized); it != nodes_.end()) return it->second;
  }
  auto found = with_context([this] { return store_->description(); },
                            [&] {
    return format_->read_node([this](const std::string& key) { return read_document(key); },
                              normalized);
  });
  if (!found) return nullptr;
  auto metadata = std::make_shared<const NodeMetadata>(std::move(*found));
  const std::lock_guard lock(mutex_);
  return nodes_.emplace(normalized, std::move(metadata)).first->second;
}

std::vector<std::string> Hierarchy::child_names(const std::string& path) const {
  if (!consolidated_) return store_->list(path).prefixes;
  const std::string start = path.empty() ? std::string() : path + '/';
  const auto& documents = consolidated_->documents;
  std::vector<std::string> names;
  for (auto it = documents.lower_bound(start);
       it != documents.end() && it->first.starts_with(start);) {
    const std::string_view rest = std::string_view(it->first).substr(start.size());
    const auto slash = rest.find('/');
    if (slash == std::string_view::npos) {
      ++it;
      continue;
    }
    names.emplace_back(rest.substr(0, slash));
    // '0' follows '/': the first key past this child.
    it = documents.lower_bound(start + names.back() + '0');
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<Child> Hierarchy::children(std::string_view path) const {
  const std::string group = normalize_path(path);
  std::vector<Child> children;
  for (std::string& name : child_names(group)) {
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

std::shared_ptr<const Array> Hierarchy::open_array(std::string_view path,
                                                   std::shared_ptr<Context> context) const {
  const auto metadata = node(path);
  if (metadata == nullptr) {
    throw Error(store_->description() + ": there is no node at /" + normalize_path(path));
  }
  const auto* array = std::get_if<ArrayMetadata>(metadata.get());
  if (array == nullptr) {
    throw Error(store_->description() + ": /" + normalize_path(path) + " is a group, not an array");
  }
  return std::make_shared<const Array>(store_, normalize_path(path), *array, std::move(context));
}

}  // namespace zarrcore
