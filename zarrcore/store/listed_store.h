// A store that lists each folder once and then knows which keys are absent without a request:
// useful if requests are slow and most chunks are absent. Values that other programs put after a
// folder has been listed are not seen. In folders that cannot be listed, every key is requested.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "zarrcore/store/store.h"

namespace zarrcore {

class ListedStore final : public Store {
 public:
  explicit ListedStore(std::shared_ptr<Store> store);

  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override;
  bool has(std::string_view key) override;
  std::optional<std::vector<Buffer>> get_ranges(std::string_view key,
                                                std::span<const ByteRange> ranges) override;
  std::shared_ptr<OpenValue> open(std::string_view key) override;
  ValueVersion current_version(std::string_view key) override;
  std::uint64_t moment() override { return store_->moment(); }
  std::uint64_t stamp(std::string_view key, std::uint64_t moment) override {
    return store_->stamp(key, moment);
  }
  bool is_stamped(std::string_view key) override { return store_->is_stamped(key); }
  bool knows_versions() const override { return store_->knows_versions(); }
  std::size_t max_open_values() const override { return store_->max_open_values(); }
  void refresh() override;
  void refresh_value(std::string_view key) override;
  void put_parts(std::string_view key, std::span<const ValuePart> parts) override;
  std::unique_ptr<StoreLock> lock(std::string_view prefix) override { return store_->lock(prefix); }
  bool put_if(std::string_view key, const ValueVersion& expected,
              std::span<const ValuePart> parts) override;
  bool erase(std::string_view key) override;
  void erase_all(std::span<const std::string> keys) override;
  bool erase_if(std::string_view key, const ValueVersion& expected) override;
  void note_dependent_put() override { store_->note_dependent_put(); }
  void flush() override { store_->flush(); }
  void remove_leftovers() override { store_->remove_leftovers(); }
  DirectoryListing list(std::string_view prefix) override;
  std::vector<std::string> list_all(std::string_view prefix) override {
    return store_->list_all(prefix);
  }
  bool lists_all_at_once() const override { return store_->lists_all_at_once(); }
  bool has_prefix(std::string_view prefix) override { return store_->has_prefix(prefix); }
  void erase_prefix(std::string_view prefix, std::span<const std::string> first) override;
  void rename_prefix(std::string_view from, std::string_view to) override;
  std::string read_only_reason() const override { return store_->read_only_reason(); }
  std::uint64_t bytes_per_range() const override { return store_->bytes_per_range(); }
  bool ranges_are_requests() const override { return store_->ranges_are_requests(); }
  std::size_t parallel_requests() const override { return store_->parallel_requests(); }
  std::optional<Parent> parent() const override { return store_->parent(); }
  const RequestStatistics* request_statistics() const override {
    return store_->request_statistics();
  }
  std::string description() const override { return store_->description(); }

 private:
  using Names = std::set<std::string, std::less<>>;

  // The names directly below a prefix.
  struct Folder {
    std::mutex mutex;  // held while the folder is listed; that of its parent may be locked after it
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
  // Whether a folder has the name among its keys or prefixes, or may have it. Lists the folder if
  // no other thread has done so or is doing so.
  bool may_have(std::string_view prefix, Names Folder::* names, std::string_view name);
  void know_folder(std::string_view prefix, Folder& folder);
  void know_prefixes(std::string_view prefix, Folder& folder);
  // Null if no thread has asked for the folder.
  std::shared_ptr<Folder> find_folder(std::string_view prefix);
  std::shared_ptr<Folder> find_or_add_folder(std::string_view prefix);

  std::shared_ptr<Store> store_;
  std::mutex mutex_;  // of the map alone: no folder is locked while it is held
  std::map<std::string, std::shared_ptr<Folder>, std::less<>> folders_;
};

}  // namespace zarrcore
