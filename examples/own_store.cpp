// Reads Zarr from a tar archive, through a store of our own: a class with three functions, and a
// fourth so that a part of a value is read without the rest.
//
// usage: own_store ARCHIVE [ARRAY]
//        tar -C air.zarr -cf air.tar . && own_store air.tar temperature
#include <zarrcore/zarrcore.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

class TarStore final : public zarrcore::Store {
 public:
  explicit TarStore(std::string path) : path_(std::move(path)), file_(path_, std::ios::binary) {
    // Blocks of 512 bytes: a header with the name and, in octal, the size; then the bytes.
    std::string header(512, '\0');
    std::uint64_t at = 0;
    while (file_.seekg(static_cast<std::streamoff>(at)).read(header.data(), 512) && header[0]) {
      std::string name = header.substr(0, header.find('\0'));
      const std::uint64_t size = std::stoull(header.substr(124, 11), nullptr, 8);
      if (name.starts_with("./")) name.erase(0, 2);
      if (header[156] == '0') files_[name] = {at + 512, size};
      at += 512 + (size + 511) / 512 * 512;
    }
    if (files_.empty()) throw zarrcore::Error(path_ + " is not a tar archive of files");
    file_.clear();
  }

  std::optional<zarrcore::Buffer> get(std::string_view key, std::uint64_t max_size) override {
    const auto file = files_.find(key);
    if (file == files_.end()) return std::nullopt;
    if (file->second.size > max_size) throw zarrcore::Error("the value is too large");
    return read(file->second.start, file->second.size);
  }

  std::optional<std::vector<zarrcore::Buffer>> get_ranges(
      std::string_view key, std::span<const zarrcore::ByteRange> ranges) override {
    const auto file = files_.find(key);
    if (file == files_.end()) return std::nullopt;
    std::vector<zarrcore::Buffer> parts;
    for (const zarrcore::ByteRange& range : ranges) {
      const std::uint64_t offset = zarrcore::resolve_range(range, file->second.size);
      parts.push_back(read(file->second.start + offset, range.length));
    }
    return parts;
  }

  zarrcore::DirectoryListing list(std::string_view prefix,
                                  const zarrcore::ListOptions& /*options*/) override {
    return zarrcore::list_sorted(prefix, files_);
  }

  std::string description() const override { return path_; }

 private:
  struct File {
    std::uint64_t start;
    std::uint64_t size;
  };

  // Stores are called from several threads at once.
  zarrcore::Buffer read(std::uint64_t start, std::uint64_t size) {
    const std::lock_guard lock(mutex_);
    zarrcore::Buffer bytes(size);
    file_.seekg(static_cast<std::streamoff>(start));
    file_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
    if (!file_) throw zarrcore::Error(path_ + " ends early");
    return bytes;
  }

  std::string path_;
  std::mutex mutex_;
  std::ifstream file_;
  std::map<std::string, File, std::less<>> files_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::cerr << "usage: own_store ARCHIVE [ARRAY]\n";
    return 2;
  }
  try {
    const zarrcore::Hierarchy hierarchy(std::make_shared<TarStore>(argv[1]));
    if (argc == 2) {
      for (const std::string& name : hierarchy.child_names("", zarrcore::NodeKind::array))
        std::cout << name << '\n';
      return 0;
    }
    const auto array = hierarchy.open_array(argv[2], std::make_shared<zarrcore::Context>());
    const zarrcore::Shape origin(array->shape().size(), 0);
    const auto values =
        zarrcore::read_values<double>(*array, {origin, array->shape()}, {.threads = 4});
    const auto [low, high] = std::ranges::minmax(values);
    std::cout << values.size() << " values from " << low << " to " << high << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
