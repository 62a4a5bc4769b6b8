// A store that lists each folder once and then knows which keys are absent without a request:
// useful if requests are slow and most chunks are absent. Values that other programs put after a
// folder has been listed are not seen. In folders that cannot be listed, every key is requested.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "zarrcore/store/forwarding_store.h"

namespace zarrcore {

class ListedStore final : public ForwardingStore {
 public:
  explicit ListedStore(std::shared_ptr<Store> store);

  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override;
  std::optional<std::vector<Buffer>> get_ranges(std::string_view key,
                                                std::span<const ByteRange> ranges) override;
  std::shared_ptr<OpenValue> open(std::string_view key) override;
  ValueVersion current_version(std::string_view key) override;
  void refresh(std::optional<std::string_view> key) override;
  bool put_parts(std::string_view key, std::span<const ValuePart> parts,
                 const PutOptions& options = {}) override;
  bool erase(std::string_view key, const EraseOptions& options = {}) override;
  void erase_all(std::span<const std::string> keys) override;
  void erase_prefix(std::string_view prefix, std::span<const std::string> first) override;
  bool rename_prefix(std::string_view from, std::string_view to,
                     const RenameOptions& options) override;

 private:
  using Names = std::set<std::string, std::less<>>;

  // The names directly below a prefix.
  struct Folder {
    // held while the folder is listed; the mutex of its parent may be locked after it
    std::mutex mutex;
    bool is_known = false;
    bool is_listed = false;  // otherwise it may hold any name
    bool has_all_prefixes = false;
    Names keys;
    Names prefixes;
  };

  bool is_present(std::string_view key);
  void add(std::string_view key);
  void add_folder(std::string_view prefix);
  void add_name(std::string_view prefix, Names Folder::* names, std::string_view name);
  void remove(std::string_view key);
  void forget_folders();
  // Returns true if a folder has the name among its keys or prefixes, or may have it. Lists the
  // folder if no other thread has done so or is doing so.
  bool may_have(std::string_view prefix, Names Folder::* names, std::string_view name);
  void know_folder(std::string_view prefix, Folder& folder);
  void know_prefixes(std::string_view prefix, Folder& folder);
  // Null if no thread has requested the folder.
  std::shared_ptr<Folder> find_folder(std::string_view prefix);
  std::shared_ptr<Folder> find_or_add_folder(std::string_view prefix);

  std::mutex mutex_;  // of the map alone: no folder is locked while it is held
  std::map<std::string, std::shared_ptr<Folder>, std::less<>> folders_;
};

}  // namespace zarrcore
