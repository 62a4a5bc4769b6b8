// Values that a ZIP archive has several times. Programs that append to an archive leave the old
// value in it; the last one counts, as in Python. GDAL reads the first.
#include <map>
#include <utility>

#include "driver/stores/vsi/vsi_call.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/zip_directory.h"
#include "driver/stores/vsi/zip_store.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/store/forwarding_store.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::Error;

class LastEntries final : public zarrcore::ForwardingStore {
 public:
  using Entries = std::map<std::string, ZipDirectory::Record, std::less<>>;

  LastEntries(std::shared_ptr<zarrcore::Store> store, std::string archive, Entries entries)
      : ForwardingStore(std::move(store)),
        archive_(std::move(archive)),
        entries_(std::move(entries)) {}

  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override {
    const auto it = entries_.find(key);
    if (it == entries_.end()) return ForwardingStore::get(key, max_size);
    return zarrcore::with_context({archive_, ": ", it->second.name}, [&] {
      const VsiCall call;
      const File file(VSIFOpenL(archive_.c_str(), "rb"));
      if (!file) throw Error("the archive cannot be opened");
      return std::make_optional(read_zip_entry(file.get(), it->second, max_size));
    });
  }

  std::optional<std::vector<Buffer>> get_ranges(
      std::string_view key, std::span<const zarrcore::ByteRange> ranges) override {
    return entries_.contains(key) ? Store::get_ranges(key, ranges)
                                  : ForwardingStore::get_ranges(key, ranges);
  }

  std::shared_ptr<zarrcore::OpenValue> open(std::string_view key) override {
    return entries_.contains(key) ? Store::open(key) : ForwardingStore::open(key);
  }

 private:
  const std::string archive_;
  const Entries entries_;
};

}  // namespace

std::shared_ptr<zarrcore::Store> with_last_entries(std::shared_ptr<zarrcore::Store> store,
                                                   const ZipTarget& target) {
  std::map<std::string, const ZipDirectory::Record*, std::less<>> known;
  LastEntries::Entries entries;
  ZipDirectory directory;
  try {
    const VsiCall call;
    const File file(VSIFOpenL(target.archive.c_str(), "rb"));
    if (!file) return store;
    directory = read_zip_directory(file.get());
  } catch (const Error&) {
    return store;  // GDAL reports archives that it cannot read
  }
  for (const ZipDirectory::Record& record : directory.records) {
    const auto key = zarrcore::key_below(target.prefix, record.name);
    if (!key || key->empty() || key->ends_with('/')) continue;
    if (!known.try_emplace(std::string(*key), &record).second) {
      entries.insert_or_assign(std::string(*key), record);
    }
  }
  if (entries.empty()) return store;
  return std::make_shared<LastEntries>(std::move(store), target.archive, std::move(entries));
}

}  // namespace gdal_zarr
