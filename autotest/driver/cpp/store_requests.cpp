#include "autotest/driver/cpp/store_requests.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <optional>
#include <vector>

#include "driver/stores/vsi/object_put.h"
#include "driver/stores/vsi/vsi_path.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr::test {
namespace {

using zarrcore::Buffer;
using zarrcore::ByteRange;
using zarrcore::Store;

constexpr std::uint64_t kMaxDocumentBytes = std::uint64_t{256} << 20;
const ByteRange kStart = ByteRange::at(0, 40);
const ByteRange kPart = ByteRange::at(50, 40);
const ByteRange kLaterPart = ByteRange::at(150, 30);
const ByteRange kEnd = ByteRange::suffix(20);

std::string comparison(std::string_view bytes, std::string_view wanted) {
  if (bytes == wanted) return "right";
  if (wanted.starts_with(bytes)) return "the first " + std::to_string(bytes.size()) + " bytes";
  const std::string_view more = bytes.substr(std::min(bytes.size(), wanted.size()));
  if (bytes.starts_with(wanted) && more.find_first_not_of('\0') == std::string_view::npos) {
    return "right, and " + std::to_string(more.size()) + " zeros";
  }
  return std::to_string(bytes.size()) + " other bytes";
}

std::string comparison(const std::optional<Buffer>& value) {
  return value ? comparison(value->text(), served_value()) : "absent";
}

std::string comparison(const std::optional<std::vector<Buffer>>& parts,
                       std::initializer_list<ByteRange> ranges) {
  if (!parts) return "absent";
  if (parts->size() != ranges.size()) return "another number of ranges";
  auto part = parts->begin();
  for (const ByteRange& range : ranges) {
    const std::string value = served_value();
    const std::size_t offset = range.from_end ? value.size() - range.length : range.offset;
    const std::string found = comparison(part->text(), value.substr(offset, range.length));
    if (found != "right") return found;
    ++part;
  }
  return "right";
}

// What `body` returns, or its error.
template <typename Body>
std::string outcome(const Store& store, const Body& body) {
  const auto error = [&](const std::string& kind, const std::exception& caught) {
    const std::string context = join_vsi_path(store.description(), kKey) + ": ";
    const std::string text = caught.what();
    return kind + ": " +
           (text.starts_with(context) ? text.substr(context.size())
                                      : "without the name of the value: " + text);
  };
  try {
    return body();
  } catch (const zarrcore::NotAValue& caught) {
    return error("NotAValue", caught);
  } catch (const zarrcore::AccessDenied& caught) {
    return error("AccessDenied", caught);
  } catch (const zarrcore::ValueChanged& caught) {
    return error("ValueChanged", caught);
  } catch (const zarrcore::Error& caught) {
    return error("Error", caught);
  }
}

std::string range_outcome(Store& store, const ByteRange& range) {
  return outcome(store, [&] { return comparison(store.get_ranges(kKey, {&range, 1}), {range}); });
}

// As a reader of shards does: the index at the end, then inner chunks of the same version.
std::string inner_outcome(Store& store) {
  return outcome(store, [&] {
    const auto value = store.open(kKey);
    if (comparison(value->get_ranges({&kEnd, 1}), {kEnd}) != "right")
      return std::string("no index");
    const std::vector<ByteRange> parts{kPart, kLaterPart};
    return comparison(value->get_ranges(parts), {kPart, kLaterPart});
  });
}

bool is_suffix(const ValueRequest& request) {
  return request.is_suffix();
}

bool is_no_suffix(const ValueRequest& request) {
  return !request.is_suffix();
}

constexpr StoreRequest kRequests[] = {
    // As for a chunk of this size, and for a metadata document.
    {"chunk",
     [](Store& store) {
       return outcome(store, [&] { return comparison(store.get(kKey, served_value().size())); });
     }},
    {"document",
     [](Store& store) {
       return outcome(store, [&] { return comparison(store.get(kKey, kMaxDocumentBytes)); });
     }},
    {"start", [](Store& store) { return range_outcome(store, kStart); }},
    {"part", [](Store& store) { return range_outcome(store, kPart); }},
    {"end", [](Store& store) { return range_outcome(store, kEnd); }, &is_suffix},
    {"inner chunks", &inner_outcome, &is_no_suffix},
    {"existence",
     [](Store& store) {
       return outcome(store, [&] { return std::string(store.has(kKey) ? "right" : "absent"); });
     }},
    // Before a value is erased that must still be the one that was read.
    {"version",
     [](Store& store) {
       return outcome(store, [&] {
         const bool is_same = store.erase(kKey, {version_of_tag(kTag)});
         return std::string(is_same ? "right" : "replaced");
       });
     }},
};

}  // namespace

std::string served_value() {
  std::string value;
  for (int i = 0; i < 200; ++i) value += static_cast<char>((7 * i + 3) % 256);
  return value;
}

std::span<const StoreRequest> store_requests() {
  return kRequests;
}

}  // namespace gdal_zarr::test
