// Removing and renaming nodes.
#include <algorithm>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/hierarchy/hierarchy_editor.h"
#include "zarrcore/hierarchy/stored_documents.h"

namespace zarrcore {

void HierarchyEditor::erase(std::span<const std::string> paths) {
  const std::lock_guard one_at_a_time(mutex_);
  const auto is_erased = [&](const std::string& node) {
    return std::ranges::any_of(paths,
                               [&](const std::string& path) { return is_at_or_below(node, path); });
  };
  with_context(
      [&] { return store_.description() + (paths.size() == 1 ? ": /" + paths.front() : ""); },
      [&] {
        std::ranges::for_each(paths, check_key);
        const auto lock = copies().lock();
        std::erase_if(updated_, [&](const auto& node) { return is_erased(node.first); });
        std::vector<std::string> groups;
        for (const std::string& path : paths) groups.emplace_back(parent_path(path));
        change_documents(groups, [&] {
          std::exception_ptr first_error;
          for (const std::string& path : paths) {
            try {
              forget_after(path, [&] { erase_values(path); });
              copies_->note_erased(path);
            } catch (const Error&) {
              if (!first_error) first_error = std::current_exception();
            }
          }
          if (first_error) std::rethrow_exception(first_error);
        });
      });
}

// Calls a function that removes a node, and forgets the node. When it throws: if it is gone.
void HierarchyEditor::forget_after(const std::string& path, const std::function<void()>& remove) {
  try {
    remove();
  } catch (...) {
    copies_->note_failure();
    if (!has_documents(path)) forget(path);
    throw;
  }
  forget(path);
}

// Documents first, those of all nodes below as well: without them no node exists, and none seems to
// have lost chunks, even if the rest fails or the process is killed.
void HierarchyEditor::erase_values(const std::string& path) {
  std::vector<std::string> first = store_.traits().lists_all_at_once
                                       ? format_.node_keys(path)
                                       : document_keys_below(store_, format_, path);
  for (const std::string& prefix : format_.node_prefixes(path)) {
    store_.erase_prefix(prefix, first);
    first.clear();
  }
}

void HierarchyEditor::rename(const std::string& path, const std::string& name) {
  const std::lock_guard one_at_a_time(mutex_);
  with_context(
      [&] { return store_.description() + ": /" + path; },
      [&] {
        check_key(path);
        // Several prefixes cannot be renamed at once, and a node must not lose its chunks.
        if (format_.node_prefixes(path) != std::vector{path}) {
          throw Error("nodes cannot be renamed in the format " + std::string(format_.name()));
        }
        if (!is_valid_segment(name)) throw Error("a node cannot be named \"" + name + '"');
        const std::string target = join_path(parent_path(path), name);
        const auto lock = copies().lock();
        with_context([&] { return "renaming to " + name; }, [&] { check_is_new(target); });
        std::vector<std::string> updated;
        std::vector<std::string> groups{std::string(parent_path(path))};
        for (const auto& [node, base] : updated_) {
          if (!is_at_or_below(node, path)) continue;
          updated.push_back(node);
          groups.push_back(group_of(node));
        }
        change_documents(groups, [&] {
          for (const std::string& node : updated) put_updated(node);
          forget_after(path, [&] { store_.rename_prefix(path, target); });
          copies_->note_renamed(path, target);
        });
      });
}

}  // namespace zarrcore
