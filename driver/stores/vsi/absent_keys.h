// Keys that a server has reported as absent, so that they are not requested again: single keys, and
// metadata documents that a listing of a folder around them does not have. Listings do not count
// for chunks, which other programs may put at any time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "zarrcore/base/path.h"
#include "zarrcore/store/requests.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

// Safe to use from several threads at once.
class AbsentKeys final : public zarrcore::KnownListings {
 public:
  // `statistics` may be null. Otherwise it counts the chunks among the keys.
  explicit AbsentKeys(std::shared_ptr<zarrcore::RequestStatistics> statistics)
      : statistics_(std::move(statistics)) {}

  bool contains(std::string_view key) const;
  bool is_known_absent(std::string_view path) const override;

  // After a request for the key.
  void add(std::string_view key);
  // After the key has been put, or another program may have put it.
  void remove(std::string_view key);
  void clear();

  void use_listings() override;
  // Called before and after a folder is listed. The listing does not count if something has been
  // put in between.
  std::uint64_t begin_listing() const;
  void end_listing(std::uint64_t begun, std::string_view folder,
                   const zarrcore::DirectoryListing& listing);

 private:
  static constexpr std::size_t kMaxKeys = 100'000;

  // The contents of a folder that concern metadata.
  struct Names {
    std::set<std::string, std::less<>> keys;
    std::set<std::string, std::less<>> prefixes;
  };

  bool is_unlisted(std::string_view path, bool is_key) const;
  void clear_with_lock();

  std::shared_ptr<zarrcore::RequestStatistics> statistics_;
  mutable std::mutex mutex_;
  std::unordered_set<std::string> keys_;
  bool uses_listings_ = false;
  std::map<std::string, Names, std::less<>> listings_;  // by folder
  std::size_t listed_names_ = 0;
  std::uint64_t changes_ = 0;
};

}  // namespace gdal_zarr
