#include "driver/stores/references/reference_store.h"

#include "driver/stores/vsi/vsi_path.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::ByteRange;
using zarrcore::Error;

// Calls `read` with the file of `reference`, open, and the byte range of the value in it.
template <typename Read>
auto read_target(VsiFilePool& files, const TargetPaths& targets, const Reference& reference,
                 Read&& read) {
  const std::string path = targets.resolve(reference.target);
  return zarrcore::with_context(
      [&] { return path; },
      [&] {
        File file = files.take(path);
        if (!file) throw Error("this file, which a reference names, does not exist");
        auto result = read(file.get(), find_value(file.get(), reference));
        files.put_back(path, std::move(file));
        return result;
      });
}

}  // namespace

ByteRange find_value(VSILFILE* file, const Reference& reference) {
  const std::uint64_t size = file_size(file);
  ByteRange value = ByteRange::at(reference.offset, 0);
  zarrcore::resolve_range(value, size);
  value.length = reference.length.value_or(size - reference.offset);
  zarrcore::resolve_range(value, size);
  return value;
}

ReferenceStore::ReferenceStore(std::shared_ptr<const References> references, TargetPaths targets,
                               std::string description, std::string prefix)
    : references_(std::move(references)),
      targets_(std::move(targets)),
      description_(std::move(description)),
      prefix_(std::move(prefix)) {}

std::optional<Buffer> ReferenceStore::get(std::string_view key, std::uint64_t max_size) {
  auto reference = references_->find(zarrcore::join_path(prefix_, key));
  if (!reference) return std::nullopt;
  if (reference->target.empty()) {
    zarrcore::check_value_size(reference->value.size(), max_size);
    return std::move(reference->value);
  }
  return read_target(files_, targets_, *reference, [&](VSILFILE* file, const ByteRange& value) {
    zarrcore::check_value_size(value.length, max_size);
    return read_bytes(file, value.offset, value.length);
  });
}

std::optional<std::vector<Buffer>> ReferenceStore::get_ranges(std::string_view key,
                                                              std::span<const ByteRange> ranges) {
  const auto reference = references_->find(zarrcore::join_path(prefix_, key));
  if (!reference) return std::nullopt;
  if (reference->target.empty()) {
    std::vector<Buffer> parts;
    for (const ByteRange& range : ranges) {
      const std::uint64_t offset = zarrcore::resolve_range(range, reference->value.size());
      parts.push_back(Buffer::copy_of(reference->value.span().subspan(offset, range.length)));
    }
    return parts;
  }
  return read_target(files_, targets_, *reference, [&](VSILFILE* file, const ByteRange& value) {
    std::vector<ByteRange> in_file;
    for (const ByteRange& range : ranges) {
      const std::uint64_t offset = zarrcore::resolve_range(range, value.length);
      in_file.push_back(ByteRange::at(value.offset + offset, range.length));
    }
    return read_ranges(file, in_file, has_foreign_file_system(targets_.resolve(reference->target)));
  });
}

std::optional<ReferenceStore::Place> ReferenceStore::locate(std::string_view key) const {
  auto reference = references_->find(zarrcore::join_path(prefix_, key));
  if (!reference) return std::nullopt;
  if (reference->target.empty()) return Place{{}, 0, {}, std::move(reference->value)};
  return Place{targets_.resolve(reference->target), reference->offset, reference->length, {}};
}

zarrcore::DirectoryListing ReferenceStore::list(std::string_view prefix,
                                                const zarrcore::ListOptions& /*options*/) {
  return references_->list(zarrcore::join_path(prefix_, prefix));
}

}  // namespace gdal_zarr
