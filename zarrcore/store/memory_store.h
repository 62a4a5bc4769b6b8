// A store in memory, for tests and for programs that build an array on the fly.
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "zarrcore/base/api.h"
#include "zarrcore/base/process.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

class ZARRCORE_API MemoryStore final : public Store {
 public:
  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override;
  std::optional<std::vector<Buffer>> get_ranges(std::string_view key,
                                                std::span<const ByteRange> ranges) override;
  std::shared_ptr<OpenValue> open(std::string_view key) override;
  ValueVersion current_version(std::string_view key) override;
  StoreTraits traits() const override {
    return {.knows_versions = true, .puts_conditionally = true};
  }
  bool put_parts(std::string_view key, std::span<const ValuePart> parts,
                 const PutOptions& options = {}) override;
  bool erase(std::string_view key, const EraseOptions& options = {}) override;
  DirectoryListing list(std::string_view prefix, const ListOptions& options = {}) override;
  std::string description() const override { return "memory"; }

 private:
  class Value;

  std::shared_ptr<Value> find(std::string_view key);
  // The mutex must be held.
  bool has_version(std::string_view key, const PutOptions& options) const;

  SharedMutex mutex_;
  std::map<std::string, std::shared_ptr<Value>, std::less<>> values_;
  std::uint64_t puts_ = 0;  // the number of puts; the last version
};

}  // namespace zarrcore
