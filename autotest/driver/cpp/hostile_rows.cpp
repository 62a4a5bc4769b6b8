#include "autotest/driver/cpp/hostile_rows.h"

#include <cstdint>
#include <set>

#include "zarrcore/store/store.h"

namespace gdal_zarr::test {
namespace {

const std::string kRight = "right";
const std::string kAbsent = "absent";
const std::string kReplaced = "ValueChanged: another program replaced the value while it was read";
const std::string kFromFileSystem = "right, from GDAL's file system";
const std::string kCut =
    "Error: .*(transfer closed with|Connection reset|Recv failure|"
    "end of response with [0-9]+ bytes missing).*";
const std::string kNoAnswer = "Error: .*(Empty reply|Recv failure|Connection reset).*";
const std::string kGzip =
    "Error: .*(incorrect header check|invalid stored block|Unrecognized or bad|"
    "unknown compression|Error while processing content unencoding).*";
const std::string kTooSlow = "Error: Operation too slow.*";

std::string status(int number) {
  const std::string text = std::to_string(number);
  return "Error: HTTP response code: " + text + " - Code" + text + ": So it is & stays";
}

std::string denied(int number) {
  return "AccessDenied" + status(number).substr(5) +
         R"( \(if the server answers so for files that do not exist, )"
         R"(ZARR_FORBIDDEN_IS_MISSING=YES treats them as missing\))";
}

std::string too_large(std::uint64_t max_size) {
  return "Error: the value has more than the " + std::to_string(max_size) +
         " bytes that can be right";
}

std::string whole(int size, int offset) {
  return "Error: the server sent " + std::to_string(size) + " bytes at the offset " +
         std::to_string(offset) + " where the whole value was requested";
}

std::string part(int size, int offset, int wanted_size, int wanted_offset) {
  return "Error: the server sent " + std::to_string(size) + " bytes at the offset " +
         std::to_string(offset) + " where " + std::to_string(wanted_size) + " at " +
         std::to_string(wanted_offset) + " were requested";
}

const std::vector<HostileRow>& rows_of_shared_connections() {
  static const std::vector<HostileRow> rows{
      {"204",
       "the first 0 bytes",
       {{"start", "Error: 40 bytes at offset 0 are outside a value of 0 bytes"},
        {"part", "Error: 40 bytes at offset 50 are outside a value of 0 bytes"},
        {"end", "Error: the last 20 bytes are wanted of a value of 0"},
        {"inner chunks", kReplaced},
        {"existence", kRight},
        {"version", "replaced"}}},
      {"304", "Error: HTTP response code: 304"},
      {"400", status(400)},
      {"401", denied(401)},
      {"403", denied(403)},
      {"404", kAbsent, {{"version", "replaced"}}},
      {"408", status(408)},
      {"410", kAbsent, {{"version", "replaced"}}},
      // The end is requested again, by its offset.
      {"416", status(416), {{"end", kRight}, {"existence", kRight}}},
      {"429", status(429)},
      {"500", status(500)},
      {"503", status(503)},
      {"retry after", "Error: HTTP response code: 429"},
      {"page", "NotAValue: the server sent an HTML page instead of the value"},
      {"error with the status 200",
       "NotAValue: the server sent XML instead of the value: Code500: So it is & stays"},
      {"redirect loop", R"(Error: Maximum \(10\) redirects followed)"},
      {"redirect to another host", kRight},
      {"redirect to nowhere", status(301)},
      {"empty",
       "the first 0 bytes",
       {{"start", part(0, 0, 40, 0)},
        {"part", part(0, 50, 40, 50)},
        {"end", part(0, 180, 20, 180)},
        {"inner chunks", part(0, 50, 40, 50)},
        {"existence", kRight},
        {"version", kRight}}},
      {"cut", kCut},
      {"reset", kCut},
      {"reset at once", kNoAnswer},
      {"closed at once", kNoAnswer},
      {"shorter",
       "the first 100 bytes",
       {{"start", part(20, 0, 40, 0)},
        {"part", part(20, 50, 40, 50)},
        {"end", part(10, 180, 20, 180)},
        {"inner chunks", part(20, 50, 40, 50)},
        {"existence", kRight},
        {"version", kRight}}},
      {"longer",
       "right, and 100 zeros",
       {{"chunk", too_large(200)},
        {"start", part(140, 0, 40, 0)},
        {"part", part(140, 50, 40, 50)},
        {"end", part(120, 180, 20, 180)},
        {"inner chunks", part(140, 50, 40, 50)},
        {"existence", kRight},
        {"version", kRight}}},
      {"more than announced", kRight},
      {"chunked transfer", kRight},
      {"too much",
       kFromFileSystem,
       {{"chunk", too_large(200)},
        {"document", "right, and 2097152 zeros"},
        {"existence", kRight},
        {"version", kRight}}},
      {"cut chunked transfer", kCut},
      // The range is one of the compressed value, of which 15 bytes are headers.
      {"unasked gzip",
       kGzip,
       {{"chunk", kRight},
        {"document", kRight},
        {"start", part(25, 0, 40, 0)},
        {"existence", kRight},
        {"version", kRight}}},
      {"cut gzip",
       kGzip,
       {{"chunk", "the first 196 bytes"},
        {"document", "the first 196 bytes"},
        {"start", part(25, 0, 40, 0)},
        {"existence", kRight},
        {"version", kRight}}},
      {"huge length",
       kFromFileSystem,
       {{"chunk", too_large(200)},
        {"document", too_large(std::uint64_t{256} << 20)},
        {"existence", kCut},
        {"version", kCut}}},
      {"drip", kTooSlow},
      {"no HTTP",
       "Error: .*(HTTP/0.9|Unsupported protocol|Weird server reply|"
       "Invalid status line).*"},
      {"no Content-Range", kRight},
      {"unreadable Content-Range",
       "Error: the server sent the range \"bytes all\", which cannot be read"},
      {"shifted Content-Range",
       whole(200, 1),
       {{"start", part(40, 1, 40, 0)},
        {"part", part(40, 51, 40, 50)},
        {"end", kRight},
        {"inner chunks", part(40, 51, 40, 50)},
        {"existence", kRight},
        {"version", kRight}}},
      {"wrong size",
       kRight,
       {{"chunk", whole(200, 0)},
        {"document", whole(200, 0)},
        {"end", "Error: 20 bytes at offset 184 are outside a value of 200 bytes"}}},
      {"other bytes",
       kRight,
       {{"chunk", whole(196, 4)},
        {"document", whole(196, 4)},
        {"start", part(40, 4, 40, 0)},
        {"part", part(40, 54, 40, 50)},
        {"inner chunks", part(40, 54, 40, 50)}}},
      {"whole value", kRight},
      {"another version", kRight, {{"inner chunks", kReplaced}, {"version", "replaced"}}},
  };
  return rows;
}

// The rows where connections are not shared: CPLHTTPFetch() reports no statuses below 400, and gets
// at most 2 GB.
const std::vector<HostileRow>& rows_of_own_connections() {
  static const auto rows = [] {
    std::vector<HostileRow> changed = rows_of_shared_connections();
    for (HostileRow& row : changed) {
      const std::string answer = row.answer;
      if (answer == "304") {
        row.outcome = changed.front().outcome;
        row.others = changed.front().others;
      } else if (answer == "redirect to nowhere") {
        row.outcome =
            "NotAValue: the server sent XML instead of the value: Code301: So it is & stays";
      } else if (answer == "huge length") {
        row.others["existence"] = row.others["version"] = too_large(zarrcore::kNoSizeLimit);
      }
    }
    return changed;
  }();
  return rows;
}

}  // namespace

const std::string& HostileRow::outcome_of(const StoreRequest& request) const {
  const auto other = others.find(request.name);
  return other == others.end() ? outcome : other->second;
}

bool HostileRow::may_pass(const StoreRequest& request) const {
  const std::set<std::string> statuses{"408", "429", "500", "503", "retry after"};
  const std::string& found = outcome_of(request);
  return statuses.contains(answer) || found == kCut || found == kNoAnswer;
}

const std::vector<HostileRow>& hostile_rows(bool shares_connections) {
  return shares_connections ? rows_of_shared_connections() : rows_of_own_connections();
}

}  // namespace gdal_zarr::test
