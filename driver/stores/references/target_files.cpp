#include "driver/stores/references/target_files.h"

#include <cpl_conv.h>
#include <cpl_string.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "driver/gdal/config_options.h"
#include "driver/stores/vsi/http_options.h"
#include "driver/stores/vsi/vsi_path.h"
#include "driver/stores/vsi/vsi_store.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::ByteRange;
using zarrcore::Error;

// Of values that are read by one request, in bytes; and between them.
constexpr std::uint64_t kMaxRunBytes = std::uint64_t{4} << 20;
constexpr std::uint64_t kMaxNeighbourBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kMaxGap = std::uint64_t{16} << 10;

// Not CPLTestBool, which takes every word that it does not know for yes.
bool is_yes(const char* value) {
  return EQUAL(value, "YES") || EQUAL(value, "TRUE") || EQUAL(value, "ON") || EQUAL(value, "1");
}

bool is_absolute(std::string_view path) {
  return path.starts_with('/') || path.starts_with('\\') || (path.size() > 1 && path[1] == ':');
}

struct RelativePath {
  std::string path;
  bool leaves_folder = false;
};

// `target` below `folder`, with "." and, if the folder's name allows it, ".." resolved.
RelativePath join(const std::string& folder, const std::string& target) {
  RelativePath result{folder, false};
  std::size_t below = 0;  // segments added to the folder
  for (std::size_t start = 0; start <= target.size();) {
    const std::size_t end = std::min(target.find('/', start), target.size());
    const std::string segment = target.substr(start, end - start);
    start = end + 1;
    if (segment.empty() || segment == ".") continue;
    if (segment == "..") {
      if (below == 0) {
        result.leaves_folder = true;
      } else {
        --below;
      }
      const auto slash = result.path.rfind('/');
      const std::string last =
          slash == std::string::npos ? result.path : result.path.substr(slash + 1);
      if (result.path == "/") continue;
      if (!last.empty() && last != "." && last != "..") {
        result.path.erase(slash == std::string::npos ? 0 : std::max<std::size_t>(slash, 1));
        continue;
      }
    } else {
      ++below;
    }
    if (!result.path.empty() && result.path.back() != '/') result.path += '/';
    result.path += segment;
  }
  return result;
}

}  // namespace

TargetFiles::TargetFiles(const std::string& document)
    : has_document_(!document.empty()),
      is_in_archive_((document.starts_with("/vsizip/") || document.starts_with("/vsitar/")) &&
                     document.find('?') == std::string::npos),
      allows_local_(!is_network_path(document) ||
                    is_yes(config_option(ConfigOption::allow_local_targets))) {
  // The query of a URL is not part of its path.
  const bool is_url = document.starts_with("/vsicurl/");
  folder_ = CPLGetPath(document.substr(0, is_url ? document.find('?') : document.npos).c_str());
}

std::string TargetFiles::resolve(const std::string& target) const {
  if (target.find('\0') != std::string::npos) throw Error("the name of a file contains a NUL");
  std::string path = path_of_url(target);
  bool is_allowed = allows_local_;
  if (!is_absolute(path)) {
    RelativePath joined = join(folder_, path);
    path = std::move(joined.path);
    // A path inside an archive cannot leave it.
    is_allowed = is_allowed || (is_in_archive_ && !joined.leaves_folder);
  }
  if (is_allowed || is_only_on_network(path)) return path;
  throw Error("references from the network name the local file " + path +
              ", which is not read unless the configuration option " +
              std::string(config_option_name(ConfigOption::allow_local_targets)) +
              " is set to YES");
}

ByteRange find_value(VSILFILE* file, const Reference& reference) {
  const std::uint64_t size = file_size(file);
  ByteRange value = ByteRange::at(reference.offset, 0);
  zarrcore::resolve_range(value, size);
  value.length = reference.length.value_or(size - reference.offset);
  zarrcore::resolve_range(value, size);
  return value;
}

// Null when the file is absent.
File TargetFiles::take_file(const std::string& path) {
  {
    const std::lock_guard lock(mutex_);
    const auto it = std::ranges::find(idle_files_, path, &NamedFile::first);
    if (it != idle_files_.end()) {
      File file = std::move(it->second);
      idle_files_.erase(it);
      return file;
    }
  }
  return open_file(path);
}

void TargetFiles::put_back(const std::string& path, File file) {
  constexpr std::size_t kMaxIdle = 32;
  File oldest;  // closed after the lock is released
  const std::lock_guard lock(mutex_);
  idle_files_.emplace_front(path, std::move(file));
  if (idle_files_.size() > kMaxIdle) {
    oldest = std::move(idle_files_.back().second);
    idle_files_.pop_back();
  }
}

// Calls `read` with the file, open, and the range of the value in it. A file that cannot be read is
// not used again.
template <typename Read>
auto TargetFiles::read(const Reference& reference, const Read& read) {
  const std::string& path = reference.target;
  return zarrcore::with_context({path}, [&] {
    File file = take_file(path);
    if (!file) throw Error("this file, which a reference names, does not exist");
    auto result = read(file.get(), find_value(file.get(), reference));
    put_back(path, std::move(file));
    return result;
  });
}

// GDAL's file systems request the size of a file before they read it, and then cache what is around
// small values: of those, only the first is requested here. Nullopt if GDAL is to read the value.
std::optional<Buffer> TargetFiles::get_by_request(const Reference& reference,
                                                  std::uint64_t max_size) {
  constexpr std::size_t kMaxNames = 100'000;
  constexpr std::uint64_t kSmall = std::uint64_t{16} << 10;
  const std::string& path = reference.target;
  const auto slash = path.rfind('/');
  const bool is_plain =
      has_document_ && slash != std::string::npos && path.find_first_of("?#%") == path.npos &&
      zarrcore::is_valid_segment(path.substr(slash + 1)) && is_only_on_network(path);
  if (!is_plain || reference.length.value_or(0) == 0) {
    return std::nullopt;
  }
  const std::string folder = path.substr(0, slash);
  std::shared_ptr<zarrcore::Store> store;
  {
    const std::lock_guard lock(mutex_);
    if (seen_.size() >= kMaxNames) seen_.clear();
    if (!seen_.insert(path).second && *reference.length < kSmall) return std::nullopt;
    if (web_folders_.size() >= kMaxNames) web_folders_.clear();
    const auto [found, is_new] = web_folders_.try_emplace(folder);
    if (is_new && HttpFolder::parse(folder)) found->second = make_store(folder);
    store = found->second;
  }
  if (!store) return std::nullopt;
  zarrcore::check_value_size(*reference.length, max_size);
  const ByteRange range = ByteRange::at(reference.offset, *reference.length);
  auto parts = store->get_ranges(path.substr(slash + 1), {&range, 1});
  if (!parts) throw Error(path + ": this file, which a reference names, does not exist");
  return std::move(parts->front());
}

Buffer TargetFiles::get_alone(const Reference& reference, std::uint64_t max_size) {
  if (auto value = get_by_request(reference, max_size)) return *std::move(value);
  return read(reference, [&](VSILFILE* file, const ByteRange& value) {
    zarrcore::check_value_size(value.length, max_size);
    return read_bytes(file, value.offset, value.length);
  });
}

// Neighbours in a file, which the first one that is read fetches for all.
struct TargetFiles::Run {
  Reference all;
  std::size_t count = 0;  // of the values that are still to be read
  std::mutex mutex;
  std::optional<Buffer> bytes;
  bool is_over = false;

  // Nullopt if the value is to be read by itself: all have been read, or the run cannot be.
  std::optional<Buffer> get(const Reference& part, TargetFiles& files) {
    const std::lock_guard lock(mutex);
    if (is_over) return std::nullopt;
    try {
      if (!bytes) bytes = files.get_alone(all, kMaxRunBytes);
    } catch (const Error&) {
      is_over = true;
      return std::nullopt;
    }
    Buffer value = Buffer::copy_of(bytes->span().subspan(part.offset - all.offset, *part.length));
    is_over = --count == 0;
    if (is_over) bytes.reset();
    return value;
  }
};

// Nullopt if the value is to be read by itself: it is not expected, or cannot be read with others.
std::optional<Buffer> TargetFiles::get_expected(const Reference& part, std::uint64_t max_size) {
  std::shared_ptr<Run> run;
  {
    const std::lock_guard lock(mutex_);
    if (runs_.empty()) return std::nullopt;
    if (const auto found = runs_.find(place_of(part)); found != runs_.end()) run = found->second;
  }
  if (!run) return std::nullopt;
  zarrcore::check_value_size(*part.length, max_size);
  return run->get(part, *this);
}

std::shared_ptr<void> TargetFiles::expect(std::vector<Reference> parts) {
  std::erase_if(parts, [](const Reference& part) {
    const std::uint64_t length = part.length.value_or(0);
    return length == 0 || length > kMaxNeighbourBytes || !is_network_path(part.target);
  });
  std::ranges::sort(parts, {}, place_of);
  const auto places = std::make_shared<std::vector<Runs::iterator>>();
  std::shared_ptr<void> expected(nullptr, [this, places](void* /*none*/) {
    const std::lock_guard lock(mutex_);
    for (const auto& place : *places) runs_.erase(place);
  });
  for (std::size_t first = 0, end = 0; first < parts.size(); first = end) {
    auto run = std::make_shared<Run>();
    run->all.target = parts[first].target;
    run->all.offset = parts[first].offset;
    std::uint64_t length = *parts[first].length;
    for (end = first + 1; end < parts.size(); ++end) {
      const Reference& next = parts[end];
      const std::uint64_t distance = next.offset - run->all.offset;
      if (next.target != run->all.target || distance > length + kMaxGap ||
          distance + *next.length > kMaxRunBytes) {
        break;
      }
      length = std::max(length, distance + *next.length);
    }
    if (end == first + 1) continue;
    run->all.length = length;
    run->count = end - first;
    const std::lock_guard lock(mutex_);
    for (std::size_t i = first; i < end; ++i) {
      places->push_back(runs_.emplace(place_of(parts[i]), run));
    }
  }
  return expected;
}

Buffer TargetFiles::get(const Reference& reference, std::uint64_t max_size) {
  if (auto value = get_expected(reference, max_size)) return *std::move(value);
  return get_alone(reference, max_size);
}

std::vector<Buffer> TargetFiles::get_ranges(const Reference& reference,
                                            std::span<const ByteRange> ranges) {
  if (ranges.size() == 1 && !ranges[0].from_end && !reference.length) {
    Reference part;
    part.target = reference.target;
    part.offset = reference.offset + ranges[0].offset;
    part.length = ranges[0].length;
    auto value = get_expected(part, ranges[0].length);
    if (!value) value = get_by_request(part, ranges[0].length);
    if (value) {
      std::vector<Buffer> values;
      values.push_back(*std::move(value));
      return values;
    }
  }
  return read(reference, [&](VSILFILE* file, const ByteRange& value) {
    std::vector<ByteRange> in_file;
    for (const ByteRange& range : ranges) {
      const std::uint64_t offset = zarrcore::resolve_range(range, value.length);
      in_file.push_back(ByteRange::at(value.offset + offset, range.length));
    }
    return read_ranges(file, in_file, has_foreign_file_system(reference.target));
  });
}

}  // namespace gdal_zarr
