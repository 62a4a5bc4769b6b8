#include "driver/vsi_store.h"

#include <cpl_string.h>
#include <cpl_vsi.h>

#include <algorithm>

#include "driver/vsi_file.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/store/byte_range.h"
#include "zarrcore/store/file_system_store.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::ByteRange;
using zarrcore::Error;

struct CloseDirectory {
  void operator()(VSIDIR* directory) const { VSICloseDir(directory); }
};

class VsiStore final : public zarrcore::Store {
 public:
  explicit VsiStore(std::string root) : root_(std::move(root)) {}

  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override {
    const std::string path = path_of(key);
    return zarrcore::with_context([&] { return path; },
                                  [&]() -> std::optional<Buffer> {
                                    const File file = open_file(path);
                                    if (!file) return std::nullopt;
                                    const std::uint64_t size = file_size(file.get());
                                    zarrcore::check_value_size(size, max_size);
                                    return read_bytes(file.get(), 0, size);
                                  });
  }

  std::optional<std::vector<Buffer>> get_ranges(std::string_view key,
                                                std::span<const ByteRange> ranges) override {
    const std::string path = path_of(key);
    return zarrcore::with_context([&] { return path; },
                                  [&]() -> std::optional<std::vector<Buffer>> {
                                    const File file = open_file(path);
                                    if (!file) return std::nullopt;
                                    return read_ranges(file.get(), ranges);
                                  });
  }

  // What has to be fetched is, before the old value goes: it may be a part of that.
  void put_parts(std::string_view key, std::span<const zarrcore::ValuePart> parts) override {
    const std::string path = path_of(key);
    zarrcore::with_context([&] { return path; },
                           [&] {
      std::vector<Buffer> fetched(parts.size());
      for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].fetch) fetched[i] = parts[i].fetch();
      }
      File file(VSIFOpenExL(path.c_str(), "wb", TRUE));
      if (!file) throw Error("cannot be opened for writing");
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const zarrcore::ByteSpan bytes = parts[i].fetch ? fetched[i].span() : parts[i].bytes;
        if (VSIFWriteL(bytes.data(), 1, bytes.size(), file.get()) != bytes.size()) {
          throw Error("writing " + std::to_string(bytes.size()) + " bytes failed");
        }
      }
      // Object stores take the value only now.
      if (VSIFCloseL(file.release()) != 0) throw Error("cannot be written");
    });
  }

  bool erase(std::string_view key) override { return VSIUnlink(path_of(key).c_str()) == 0; }

  zarrcore::DirectoryListing list(std::string_view prefix) override {
    const std::string path = prefix.empty() ? root_ : path_of(prefix);
    zarrcore::DirectoryListing listing;
    const char* const options[] = {"NAME_AND_TYPE_ONLY=YES", nullptr};
    const std::unique_ptr<VSIDIR, CloseDirectory> directory(VSIOpenDir(path.c_str(), 0, options));
    if (!directory) return listing;
    while (const VSIDIREntry* entry = VSIGetNextDirEntry(directory.get())) {
      if (!zarrcore::is_valid_segment(entry->pszName)) continue;
      bool is_directory = VSI_ISDIR(entry->nMode);
      if (!entry->bModeKnown) {
        VSIStatBufL status;
        const std::string child = path + '/' + entry->pszName;
        is_directory = VSIStatL(child.c_str(), &status) == 0 && VSI_ISDIR(status.st_mode);
      }
      (is_directory ? listing.prefixes : listing.keys).emplace_back(entry->pszName);
    }
    std::sort(listing.keys.begin(), listing.keys.end());
    std::sort(listing.prefixes.begin(), listing.prefixes.end());
    return listing;
  }

  std::string description() const override { return root_; }

 private:
  std::string path_of(std::string_view key) const {
    zarrcore::check_key(key);
    return root_ + '/' + std::string(key);
  }

  std::string root_;
};

}  // namespace

std::shared_ptr<zarrcore::Store> make_store(const std::string& path) {
  if (STARTS_WITH(path.c_str(), "/vsi")) return std::make_shared<VsiStore>(path);
  return std::make_shared<zarrcore::FileSystemStore>(path);
}

}  // namespace gdal_zarr
