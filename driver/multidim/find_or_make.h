// Objects that exist at most once for a key, held weakly.
#pragma once

#include <mutex>

namespace gdal_zarr {

// The live object for `key` in `objects`, a map to weak pointers guarded by `mutex`; or else the
// one that `make` returns, which runs without the lock.
template <typename Map, typename Key, typename Make>
auto find_or_make(std::mutex& mutex, Map& objects, const Key& key, const Make& make) {
  {
    const std::lock_guard lock(mutex);
    if (const auto it = objects.find(key); it != objects.end()) {
      if (auto object = it->second.lock()) return object;
    }
  }
  auto made = make();
  const std::lock_guard lock(mutex);
  auto& slot = objects[key];
  if (auto object = slot.lock()) return object;  // another thread was faster
  slot = made;
  return made;
}

}  // namespace gdal_zarr
