// A store in front of another one, to which it forwards everything. Stores that add something to
// another store derive from it and override what they change: functions that Store gets later are
// forwarded as well.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "zarrcore/store/store.h"

namespace zarrcore {

class ZARRCORE_API ForwardingStore : public Store {
 public:
  explicit ForwardingStore(std::shared_ptr<Store> inner) : inner_(std::move(inner)) {}

  std::string description() const override { return inner_->description(); }
  StoreTraits traits() const override { return inner_->traits(); }
  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override {
    return inner_->get(key, max_size);
  }
  std::optional<std::vector<Buffer>> get_ranges(std::string_view key,
                                                std::span<const ByteRange> ranges) override {
    return inner_->get_ranges(key, ranges);
  }
  std::shared_ptr<OpenValue> open(std::string_view key) override { return inner_->open(key); }
  std::shared_ptr<void> expect(std::span<const std::string_view> keys) override {
    return inner_->expect(keys);
  }
  ValueVersion current_version(std::string_view key) override {
    return inner_->current_version(key);
  }
  void check_node(std::string_view prefix) override { inner_->check_node(prefix); }
  void refresh(std::optional<std::string_view> key) override { inner_->refresh(key); }
  DirectoryListing list(std::string_view prefix, const ListOptions& options) override {
    return inner_->list(prefix, options);
  }
  void visit_values(std::string_view prefix, const VisitValue& visit,
                    const VisitOptions& options) override {
    inner_->visit_values(prefix, visit, options);
  }
  bool put_parts(std::string_view key, std::span<const ValuePart> parts,
                 const PutOptions& options) override {
    return inner_->put_parts(key, parts, options);
  }
  bool erase(std::string_view key, const EraseOptions& options) override {
    return inner_->erase(key, options);
  }
  void erase_all(std::span<const std::string> keys) override { inner_->erase_all(keys); }
  void erase_prefix(std::string_view prefix, std::span<const std::string> first) override {
    inner_->erase_prefix(prefix, first);
  }
  bool rename_prefix(std::string_view from, std::string_view to,
                     const RenameOptions& options) override {
    return inner_->rename_prefix(from, to, options);
  }
  std::unique_ptr<StoreLock> lock(std::string_view prefix) override { return inner_->lock(prefix); }
  void flush() override { inner_->flush(); }
  void remove_leftovers() override { inner_->remove_leftovers(); }
  std::optional<Parent> parent() const override { return inner_->parent(); }

 protected:
  Store& inner() const { return *inner_; }

 private:
  std::shared_ptr<Store> inner_;
};

}  // namespace zarrcore
