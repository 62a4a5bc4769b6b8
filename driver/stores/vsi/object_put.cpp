#include "driver/stores/vsi/object_put.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>  // IWYU pragma: keep, for GDAL 3.10 and newer
#include <optional>
#include <random>  // IWYU pragma: keep, for GDAL 3.10 and newer
#include <string_view>
#include <vector>

#include "driver/gdal/compat.h"
#include "driver/gdal/config_options.h"
#include "driver/stores/vsi/http_options.h"
#include "driver/stores/vsi/object_store.h"
#include "driver/stores/vsi/vsi_call.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_path.h"
#include "zarrcore/base/error.h"
#include "zarrcore/store/local_files.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::ByteSpan;
using zarrcore::Error;
using zarrcore::ValuePart;
using zarrcore::ValueVersion;

constexpr std::uint64_t kMegabyte = std::uint64_t{1} << 20;
constexpr std::uint64_t kOnlyHash = ~std::uint64_t{0};  // no text of a tag

bool is_in_s3(const std::string& path) {
  return STARTS_WITH(path.c_str(), "/vsis3/");
}

// The text between the quotes of an ETag, if the version contains it.
std::string tag_of(const ValueVersion& version) {
  const ValueVersion::Identity& identity = version.identity();
  if (identity[0] == 0 || identity[1] == kOnlyHash) return {};
  const auto* text = reinterpret_cast<const char*>(identity.data());
  return {text, std::find(text, text + sizeof identity, '\0')};
}

// GDAL_HTTP_HEADERS with one more header, separated by line breaks: GDAL preserves quotes in lines.
std::string headers_with(const std::string& path, const std::string& header) {
  std::string headers = path_option(path, config_option_name(ConfigOption::headers)).value_or("");
  headers = parse_headers(headers);
  return headers.empty() ? header + "\r\n" : headers + "\r\n" + header;
}

// While it lives, GDAL sends the condition with the requests of this thread, unless it is empty.
class ConditionScope {
 public:
  ConditionScope(const std::string& path, const std::string& condition) {
    if (condition.empty()) return;
    headers_.emplace(config_option_name(ConfigOption::headers),
                     headers_with(path, condition).c_str(), false);
  }

 private:
  std::optional<CPLConfigOptionSetter> headers_;
};

std::uint64_t size_of(std::span<const ValuePart> parts) {
  std::uint64_t size = 0;
  for (const ValuePart& part : parts) size += part.bytes.size();
  return size;
}

// The ETag of an object; empty if it does not exist or has none.
std::string stored_tag(const std::string& path) {
  const VsiCall call;
  VSICurlPartialClearCache(path.c_str());
  const CPLStringList headers(VSIGetFileMetadata(path.c_str(), "HEADERS", nullptr));
  return CSLFetchNameValueDef(headers.List(), "ETag", "");
}

bool is_stored(const std::string& path, std::span<const ValuePart> parts, bool compares_bytes) {
  VSICurlPartialClearCache(path.c_str());
  const File file = open_file(path);
  if (!file || file_size(file.get()) != size_of(parts)) return false;
  if (!compares_bytes) return true;
  std::uint64_t start = 0;
  for (const ValuePart& part : parts) {
    for (std::uint64_t done = 0; done < part.bytes.size(); done += kMegabyte) {
      const ByteSpan some = part.bytes.subspan(done, std::min(kMegabyte, part.bytes.size() - done));
      const Buffer stored = read_bytes(file.get(), start + done, some.size());
      if (!std::ranges::equal(stored.span(), some)) return false;
    }
    start += part.bytes.size();
  }
  return true;
}

// A server may report that it could not put the parts together in an answer with the status 200,
// which GDAL takes for a success.
void put_in_parts(const std::string& path, std::span<const ValuePart> parts) {
  const std::string old_tag = stored_tag(path);
  write_file(path, parts);
  const std::string tag = stored_tag(path);
  if (!is_stored(path, parts, tag.empty() || tag == old_tag)) {
    throw Error("the server has not stored it, but reported no failure");
  }
}

#if GDAL_ZARR_AT_LEAST(3, 10)
// GDAL's own way would replace the old object by an empty one and append to it.
void put_blocks(const std::string& path, ByteSpan bytes, const std::string& condition) {
  constexpr std::uint64_t kBlock = 8 * kMegabyte;
  // Blocks are named by their numbers: blocks of two writers must not be mixed.
  std::random_device random;
  const int first = std::uniform_int_distribution(1, 2'000'000'000)(random);
  const VsiCall call;
  const GdalText id(VSIMultipartUploadStart(path.c_str(), nullptr));
  if (!id) throw Error("cannot be written");
  CPLStringList blocks;
  for (std::uint64_t done = 0; done < bytes.size(); done += kBlock) {
    const ByteSpan some = bytes.subspan(done, std::min(kBlock, bytes.size() - done));
    char* const block = VSIMultipartUploadAddPart(path.c_str(), id.get(), first + blocks.size(),
                                                  done, some.data(), some.size(), nullptr);
    if (block == nullptr) throw Error("cannot be written");
    blocks.AddStringDirectly(block);
  }
  const ConditionScope scope(path, condition);
  if (!VSIMultipartUploadEnd(path.c_str(), id.get(), static_cast<std::size_t>(blocks.size()),
                             blocks.List(), bytes.size(), nullptr)) {
    throw Error("cannot be written");
  }
}
#endif

// Values of this size or more are uploaded in parts.
std::uint64_t min_size_in_parts(const std::string& path) {
  if (!is_in_object_store(path)) return zarrcore::kNoSizeLimit;
  std::uint64_t size = (is_in_azure(path) ? 4 : 50) * kMegabyte;
  const std::string prefix = path.substr(1, path.find('/', 1) - 1);
  const std::string name = CPLString(prefix).toupper() + "_CHUNK_SIZE";
  const auto lower = [&](const std::string& option, std::uint64_t unit) {
    const int value = std::atoi(path_option(path, option.c_str()).value_or("0").c_str());
    if (value > 0) size = std::min(size, static_cast<std::uint64_t>(value) * unit);
  };
  lower(name, kMegabyte);
  lower(name + "_BYTES", 1);
  return size;
}

void put(const std::string& path, std::span<const ValuePart> parts, const std::string& condition) {
  if (size_of(parts) < min_size_in_parts(path)) {
    const ConditionScope scope(path, condition);
    write_file(path, parts);
    return;
  }
  if (!is_in_azure(path)) return put_in_parts(path, parts);
#if GDAL_ZARR_AT_LEAST(3, 10)
  const Buffer joined = parts.size() > 1 ? zarrcore::join_parts(parts) : Buffer();
  put_blocks(path, parts.size() > 1 ? joined.span() : parts.front().bytes, condition);
#else
  write_file(path, parts);
#endif
}

}  // namespace

bool is_in_azure(const std::string& path) {
  return STARTS_WITH(path.c_str(), "/vsiaz/");
}

ValueVersion version_of_tag(std::string_view tag) {
  // Servers mark tags of files that they compress as weak.
  if (tag.starts_with("W/")) tag.remove_prefix(2);
  ValueVersion::Identity identity{};
  const auto is_plain = [](char c) { return c > ' ' && c <= '~' && c != '"' && c != '\\'; };
  if (tag.size() > 2 && tag.size() <= sizeof identity + 2 && tag.front() == '"' &&
      tag.back() == '"' && std::all_of(tag.begin() + 1, tag.end() - 1, is_plain)) {
    std::memcpy(identity.data(), tag.data() + 1, tag.size() - 2);
  } else {
    identity = {std::hash<std::string_view>()(tag), kOnlyHash, kOnlyHash, kOnlyHash};
  }
  return ValueVersion(identity);
}

bool checks_conditions(const std::string& path) {
  if (!GDAL_ZARR_AT_LEAST(3, 10)) return false;
  const std::string server = path_option(path, "AWS_S3_ENDPOINT").value_or("s3.amazonaws.com");
  return is_in_azure(path) ||
         (is_in_s3(path) && server.find(".amazonaws.com") != std::string::npos);
}

bool can_put_conditionally(const std::string& path) {
  return GDAL_ZARR_AT_LEAST(3, 10) && (is_in_azure(path) || is_in_s3(path));
}

void prove_conditions(const std::string& folder) {
  if (!can_put_conditionally(folder) || checks_conditions(folder)) return;
  const std::string path = join_vsi_path(folder, "overwritten/" + zarrcore::make_temporary_name());
  const auto put = [&](const ValueVersion& expected) {
    const std::string text = "conditions";
    put_object_if(path, condition_of(path, expected, text.size()), std::as_bytes(std::span(text)));
  };
  const auto is_refused = [&](const ValueVersion& expected) {
    try {
      put(expected);
      return false;
    } catch (const Error&) {
      return true;
    }
  };
  put(ValueVersion::absent());
  bool is_checked = true;
  for (const ValueVersion& wrong : {ValueVersion::absent(), version_of_tag("\"0\"")}) {
    is_checked = is_checked && is_refused(wrong);
    // A server that is busy refuses this as well, which throws.
    put(version_of_tag(stored_tag(path)));
  }
  {
    const QuietCall call;
    VSIUnlink(path.c_str());
  }
  if (!is_checked) {
    throw Error(folder +
                ": the server ignores conditions of puts (If-Match, If-None-Match), which "
                "changing an Icechunk repository takes");
  }
}

std::string condition_of(const std::string& path, const ValueVersion& expected,
                         std::uint64_t size) {
  if (!GDAL_ZARR_AT_LEAST(3, 10)) return {};
  // Servers differ in how they treat conditions of an upload in parts to S3.
  const bool can_check = is_in_azure(path) || (is_in_s3(path) && size < min_size_in_parts(path));
  if (!can_check) return {};
  {
    // Tests whether headers that are set for the path would replace the thread's.
    const char* const name = config_option_name(ConfigOption::headers);
    const CPLConfigOptionSetter setter(name, "X-Test: 1", false);
    if (path_option(path, name) != "X-Test: 1") return {};
  }
  if (expected.is_absent()) return "If-None-Match: *";
  if (expected.is_unknown()) return {};
  const std::string tag = tag_of(expected);
  return tag.empty() ? tag : "If-Match: \"" + tag + '"';
}

void put_object(const std::string& path, std::span<const ValuePart> parts) {
  // Fetched before the object is opened: parts may come from the value that is replaced.
  std::vector<Buffer> fetched;
  std::vector<ValuePart> bytes;
  for (const ValuePart& part : parts) {
    if (part.fetch) fetched.push_back(part.fetch());
    bytes.push_back({part.fetch ? fetched.back().span() : part.bytes, {}});
  }
  put(path, bytes, {});
}

void put_object_if(const std::string& path, const std::string& condition, ByteSpan bytes) {
  const QuietCall call;
  try {
    const ValuePart whole{bytes};
    put(path, {&whole, 1}, condition);
  } catch (const Error& error) {
    const std::string reason = QuietCall::server_reason();
    throw Error(error.what() + (reason.empty() ? reason : ": " + reason));
  }
}

}  // namespace gdal_zarr
