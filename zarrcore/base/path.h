// Rules for keys and node paths. They come from files and must not lead out of a store.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zarrcore {

// Deeper hierarchies are refused: recursion over them is not safe.
inline constexpr std::size_t kMaxNodeDepth = 128;

// Returns true if `name` can be one segment of a key or path: not empty, not "." or "..", without
// '/', '\\' or NUL.
bool is_valid_segment(std::string_view name);

// Throws Error when `key` is not a sequence of valid segments.
void check_key(std::string_view key);

// Returns the node path ("a/b", "" for the root) that a user or a document means: leading, trailing
// and doubled slashes are dropped. Throws Error on "..", "." and NUL, and when it is too deep.
std::string normalize_path(std::string_view path);

// "prefix/name", without the slash when one of them is empty.
std::string join_path(std::string_view prefix, std::string_view name);

// The node path that a name with slashes ("/a/b", "../b", "./b") means in a group; empty if it
// leads out of the store.
std::string resolved_path(std::string_view group, std::string_view name);

// "b/c" of the key "a/b/c" below the path "a"; nullopt when the key is not below it.
std::optional<std::string_view> key_below(std::string_view path, std::string_view key);

// Returns true if the key or path is `path` or below it.
bool is_at_or_below(std::string_view key, std::string_view path);

// Returns the path of a node after the node at `old_path` was moved to `new_path`. A path that is
// not at or below `old_path` is returned unchanged.
std::string moved_path(std::string_view path, std::string_view old_path, std::string_view new_path);

// "a/b" of "a/b/c", "" of "a".
std::string_view parent_path(std::string_view path);

// "c" of "a/b/c".
std::string_view last_segment(std::string_view path);

}  // namespace zarrcore
