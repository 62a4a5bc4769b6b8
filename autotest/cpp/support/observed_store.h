// Stores that stand before another one: one notes what is asked of it, one fails.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "zarrcore/base/error.h"
#include "zarrcore/store/store.h"

namespace zarrcore::test {

// A store that knows no versions, in front of another one: all requests pass the functions here.
class StoreWrapper : public Store {
 public:
  explicit StoreWrapper(std::shared_ptr<Store> inner) : inner_(std::move(inner)) {}

  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override {
    return inner_->get(key, max_size);
  }
  std::optional<std::vector<Buffer>> get_ranges(std::string_view key,
                                                std::span<const ByteRange> ranges) override {
    return inner_->get_ranges(key, ranges);
  }
  bool put_parts(std::string_view key, std::span<const ValuePart> parts,
                 const PutOptions& /*options*/) override {
    return inner_->put_parts(key, parts);
  }
  bool erase(std::string_view key, const EraseOptions& /*options*/) override {
    return inner_->erase(key);
  }
  DirectoryListing list(std::string_view prefix, const ListOptions& options = {}) override {
    return inner_->list(prefix, options);
  }
  StoreTraits traits() const override {
    const StoreTraits traits = inner_->traits();
    return {.parallel_requests = traits.parallel_requests,
            .bytes_per_range = traits.bytes_per_range};
  }
  std::string description() const override { return inner_->description(); }

 private:
  std::shared_ptr<Store> inner_;
};

// Notes every request.
class ObservedStore final : public StoreWrapper {
 public:
  struct Request {
    std::string key;
    bool is_whole;        // a get, not get_ranges
    std::uint64_t bytes;  // received
  };

  using StoreWrapper::StoreWrapper;

  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override {
    auto value = StoreWrapper::get(key, max_size);
    note({std::string(key), true, value ? value->size() : 0});
    return value;
  }

  std::optional<std::vector<Buffer>> get_ranges(std::string_view key,
                                                std::span<const ByteRange> ranges) override {
    auto parts = StoreWrapper::get_ranges(key, ranges);
    std::uint64_t bytes = 0;
    if (parts) {
      for (const Buffer& part : *parts) bytes += part.size();
    }
    note({std::string(key), false, bytes});
    return parts;
  }

  bool put_parts(std::string_view key, std::span<const ValuePart> parts,
                 const PutOptions& options) override {
    const bool is_put = StoreWrapper::put_parts(key, parts, options);
    const std::lock_guard lock(mutex_);
    ++puts_[std::string(key)];
    return is_put;
  }

  // How often each key has been put.
  std::map<std::string, int> put_counts() const {
    const std::lock_guard lock(mutex_);
    return puts_;
  }

  DirectoryListing list(std::string_view prefix, const ListOptions& options) override {
    const std::lock_guard lock(mutex_);
    ++lists_;
    return StoreWrapper::list(prefix, options);
  }

  // What has been asked since the last call.
  std::vector<Request> take_requests() {
    const std::lock_guard lock(mutex_);
    return std::exchange(requests_, {});
  }
  std::size_t list_count() const {
    const std::lock_guard lock(mutex_);
    return lists_;
  }

 private:
  void note(Request request) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(std::move(request));
  }

  mutable std::mutex mutex_;
  std::vector<Request> requests_;
  std::map<std::string, int> puts_;
  std::size_t lists_ = 0;
};

// Calls a function before each put of a key ("+key") and each erasure ("-key"). It may throw.
class NotifyingStore final : public StoreWrapper {
 public:
  NotifyingStore(std::shared_ptr<Store> inner,
                 std::function<void(const std::string& change)> before_change)
      : StoreWrapper(std::move(inner)), before_change_(std::move(before_change)) {}

  bool put_parts(std::string_view key, std::span<const ValuePart> parts,
                 const PutOptions& options) override {
    before_change_('+' + std::string(key));
    return StoreWrapper::put_parts(key, parts, options);
  }
  bool erase(std::string_view key, const EraseOptions& options) override {
    before_change_('-' + std::string(key));
    return StoreWrapper::erase(key, options);
  }

 private:
  std::function<void(const std::string&)> before_change_;
};

// Fails to read and to write the keys that `is_broken` says.
class FailingStore final : public StoreWrapper {
 public:
  FailingStore(std::shared_ptr<Store> inner, std::function<bool(std::string_view key)> is_broken)
      : StoreWrapper(std::move(inner)), is_broken_(std::move(is_broken)) {}

  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override {
    check(key);
    return StoreWrapper::get(key, max_size);
  }
  std::optional<std::vector<Buffer>> get_ranges(std::string_view key,
                                                std::span<const ByteRange> ranges) override {
    check(key);
    return StoreWrapper::get_ranges(key, ranges);
  }
  bool put_parts(std::string_view key, std::span<const ValuePart> parts,
                 const PutOptions& options) override {
    check(key);
    return StoreWrapper::put_parts(key, parts, options);
  }

 private:
  void check(std::string_view key) const {
    if (is_broken_(key)) throw Error("the disk is on fire");
  }

  std::function<bool(std::string_view)> is_broken_;
};

}  // namespace zarrcore::test
