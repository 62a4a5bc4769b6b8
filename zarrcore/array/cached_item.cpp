#include "zarrcore/array/cached_item.h"

namespace zarrcore {

bool CachedItem::is_current(Store& store, const std::string& key, std::uint64_t moment) const {
  ValueWatch* const watch = store.traits().watch;
  const std::uint64_t stamp = watch != nullptr ? watch->stamp(key, moment) : 0;
  if (stamp != 0 && stamp_ == stamp) return true;
  const ValueVersion current = store.current_version(key);
  if (!is_good_for(current)) return false;
  if (stamp != 0 && !current.is_absent() && watch->is_stamped(key)) stamp_ = stamp;
  return true;
}

}  // namespace zarrcore
