// What is known of the value that something was cached from.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "zarrcore/store/store.h"
#include "zarrcore/store/value_version.h"

namespace zarrcore {

// The version of the value, and whether it was prefetched: then it is still used after the value
// has been removed. Safe to use from several threads at once.
class KeptState {
 public:
  explicit KeptState(const ValueVersion& version, bool is_prefetched = false)
      : version_(version), is_prefetched_(is_prefetched) {}
  KeptState(const KeptState& other) : KeptState(other.version_, other.is_prefetched_) {}
  KeptState& operator=(const KeptState&) = delete;

  const ValueVersion& version() const { return version_; }
  bool is_prefetched() const { return is_prefetched_; }

  // Whether it may be used when the value has the version `current`.
  bool is_good_for(const ValueVersion& current) const {
    if (!is_prefetched_) return version_.is_good_for(current);
    return current.is_absent() || !version_.differs_from(current);
  }
  // Whether it may be used in a request that began at `moment` (Store::moment). The value is at
  // `key` of the store.
  bool is_current(Store& store, const std::string& key, std::uint64_t moment) const;

 private:
  ValueVersion version_;
  bool is_prefetched_;
  // That of the value when it was last seen to have this version (Store::stamp).
  mutable std::atomic<std::uint64_t> stamp_ = 0;
};

}  // namespace zarrcore
