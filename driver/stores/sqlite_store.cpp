// Stores in SQLite databases; see foreign_stores.h.
#include <cpl_conv.h>
#include <cpl_string.h>
#include <ogrsf_frmts.h>

#include <algorithm>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/stores/foreign_stores.h"
#include "driver/stores/vsi/vsi_call.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_path.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using zarrcore::AccessFailure;
using zarrcore::Buffer;

// Pages of a database are as large as this at most. The first one has its tables.
constexpr int kMaxPage = 1 << 16;

// Lengths are in bytes; length() of a text would count characters. The length of a blob is known
// without reading it, the length of a cast value is not.
constexpr const char* kValue = "CAST(v AS BLOB)";
constexpr const char* kLength =
    "CASE typeof(v) WHEN 'blob' THEN length(v) ELSE length(CAST(v AS BLOB)) END";

bool is_database(std::string_view start) {
  constexpr std::string_view kApplication = "GPKG";
  constexpr std::size_t kApplicationOffset = 68;
  return start.starts_with(std::string_view("SQLite format 3\0", 16)) &&
         start.substr(std::min(kApplicationOffset, start.size()), 4) != kApplication;
}

// `start` are the first bytes of a database. The size of its pages is at offset 16; 1 is 65536.
bool has_table(std::string_view start) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(start[at]); };
  const std::size_t size = byte(16) * 256U + byte(17);
  const std::string_view page = start.substr(0, size == 1 ? kMaxPage : size);
  return page.find("CREATE TABLE zarr(k TEXT PRIMARY KEY, v BLOB)") != page.npos;
}

// Converts the result of SQL's hex(); nullopt if it is not the digits of `size` bytes.
std::optional<Buffer> bytes_of_digits(std::string_view digits, std::uint64_t size) {
  if (digits.size() != 2 * size) return std::nullopt;
  Buffer bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    const auto value = zarrcore::parse_digits(digits.substr(2 * i, 2), 16);
    if (!value) return std::nullopt;
    bytes.data()[i] = static_cast<std::byte>(*value);
  }
  return bytes;
}

std::string sql_text(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted.append(c == '\'' ? 2 : 1, c);
  return quoted + '\'';
}

std::string value_where(std::string_view what, std::string_view key) {
  return "SELECT " + std::string(what) + " FROM zarr WHERE k = " + sql_text(key);
}

class SqliteStore final : public zarrcore::Store {
 public:
  explicit SqliteStore(std::string path) : path_(std::move(path)) {
    idle_.push_back(open_dataset());
  }

  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override {
    // Does not read a value that is too large.
    std::string columns = kLength;
    columns += ", CASE WHEN " + columns + " <= ";
    columns += std::to_string(std::min<std::uint64_t>(max_size, INT64_MAX)) + " THEN ";
    columns += kValue;
    std::optional<std::uint64_t> found;
    std::optional<Buffer> value;
    query(value_where(columns + " END", key), [&](const OGRFeature& row) {
      const std::optional<std::uint64_t> size = size_in(row);
      if (!size) return;
      zarrcore::check_value_size(*size, max_size);
      found = size;
      value = bytes_in(row, 1, *size);
    });
    return found && !value ? read(kValue, key, *found) : std::move(value);
  }

  std::optional<std::vector<Buffer>> get_ranges(
      std::string_view key, std::span<const zarrcore::ByteRange> ranges) override {
    std::optional<std::uint64_t> size;
    query(value_where(kLength, key), [&](const OGRFeature& row) { size = size_in(row); });
    if (!size) return std::nullopt;
    std::vector<Buffer> parts;
    for (const zarrcore::ByteRange& range : ranges) {
      std::string part = "substr(";
      part += kValue;
      part += ", " + std::to_string(zarrcore::resolve_range(range, *size) + 1);
      part += ", " + std::to_string(range.length) + ")";
      parts.push_back(read(part, key, range.length));
    }
    return parts;
  }

  zarrcore::DirectoryListing list(std::string_view prefix,
                                  const zarrcore::ListOptions& options) override {
    const std::string folder = prefix.empty() ? std::string() : std::string(prefix) + '/';
    // The character after "/" is "0".
    const std::string range = prefix.empty() ? std::string()
                                             : " WHERE k >= " + sql_text(folder) + " AND k < " +
                                                   sql_text(std::string(prefix) + '0');
    std::string names = "SELECT DISTINCT substr(rest, 1, CASE instr(rest, '/') WHEN 0 THEN ";
    names += "length(rest) ELSE instr(rest, '/') END) FROM (SELECT substr(k, length(";
    names += sql_text(folder) + ") + 1) AS rest FROM zarr" + range + ")";
    if (options.max_names != SIZE_MAX) names += " LIMIT " + std::to_string(options.max_names);
    zarrcore::DirectoryListing listing;
    query(names, [&](const OGRFeature& row) {
      std::string name = row.GetFieldAsString(0);
      const bool is_prefix = name.ends_with('/');
      if (is_prefix) name.pop_back();
      if (zarrcore::is_valid_segment(name)) {
        (is_prefix ? listing.prefixes : listing.keys).push_back(std::move(name));
      }
    });
    std::ranges::sort(listing.keys);
    std::ranges::sort(listing.prefixes);
    return listing;
  }

  zarrcore::StoreTraits traits() const override {
    return {.read_only_reason = "it is an SQLite database"};
  }
  std::string description() const override { return path_; }

 private:
  using Dataset = std::unique_ptr<GDALDataset>;

  Dataset open_dataset() const {
    const QuietCall call;
    const char* const drivers[] = {"SQLite", nullptr};
    Dataset dataset(GDALDataset::Open(path_.c_str(), GDAL_OF_VECTOR | GDAL_OF_READONLY, drivers));
    if (dataset) return dataset;
    const bool has_driver = GDALGetDriverByName("SQLite") != nullptr;
    throw AccessFailure(
        path_ + " cannot be opened: " +
        (has_driver ? QuietCall::reason() : "GDAL's driver SQLite is not available"));
  }

  // For one thread at a time, as datasets of GDAL are.
  Dataset take_dataset() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return open_dataset();
    Dataset dataset = std::move(idle_.back());
    idle_.pop_back();
    return dataset;
  }

  // Calls `use` with each row.
  template <typename Use>
  void query(const std::string& sql, const Use& use) {
    Dataset dataset = take_dataset();
    {
      const QuietCall call;
      const auto release = [&](OGRLayer* layer) { dataset->ReleaseResultSet(layer); };
      CPLErrorReset();
      const std::unique_ptr<OGRLayer, decltype(release)> rows(
          dataset->ExecuteSQL(sql.c_str(), nullptr, nullptr), release);
      if (rows) {
        for (const auto& row : *rows) use(*row);
      }
      if (CPLGetLastErrorType() == CE_Failure) {
        throw AccessFailure(path_ + ": " + QuietCall::reason());
      }
    }
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(dataset));
  }

  // In bytes; nullopt if there is no value.
  static std::optional<std::uint64_t> size_in(const OGRFeature& row) {
    if (!row.IsFieldSetAndNotNull(0)) return std::nullopt;
    return static_cast<std::uint64_t>(row.GetFieldAsInteger64(0));
  }

  // The result of an SQL expression for a value.
  Buffer read(const std::string& what, std::string_view key, std::uint64_t size) {
    std::optional<Buffer> bytes;
    query(value_where(what, key), [&](const OGRFeature& row) { bytes = bytes_in(row, 0, size); });
    if (bytes) return std::move(*bytes);
    query(value_where("hex(" + what + ")", key),
          [&](const OGRFeature& row) { bytes = bytes_of_digits(row.GetFieldAsString(0), size); });
    if (!bytes) throw AccessFailure(path_ + " was changed while it was read");
    return std::move(*bytes);
  }

  // Nullopt if GDAL takes the bytes for a geometry, and shows no such column.
  static std::optional<Buffer> bytes_in(const OGRFeature& row, int column, std::uint64_t size) {
    if (row.GetFieldCount() <= column) return std::nullopt;
    Buffer bytes(size);
    if (size == 0) return bytes;
    int count = 0;
    const GByte* data = row.GetFieldAsBinary(column, &count);
    if (data == nullptr || static_cast<std::uint64_t>(count) != size) {
      throw AccessFailure("GDAL reads " + std::to_string(count) + " bytes of a value where " +
                          std::to_string(size) + " are expected");
    }
    std::copy_n(reinterpret_cast<const std::byte*>(data), size, bytes.data());
    return bytes;
  }

  const std::string path_;
  std::mutex mutex_;  // guards the member below
  std::vector<Dataset> idle_;
};

}  // namespace

bool is_sqlite_store(GDALOpenInfo* info) {
  const auto start = [info] {
    return std::string_view(reinterpret_cast<const char*>(info->pabyHeader),
                            static_cast<std::size_t>(info->nHeaderBytes));
  };
  if (info->nHeaderBytes == 0 || !is_database(start())) return false;
  return info->TryToIngest(kMaxPage) != 0 && has_table(start());
}

bool is_sqlite_store(const std::string& path) {
  const std::string extension = CPLGetExtension(without_query(path).c_str());
  const bool is_named = STARTS_WITH_CI(extension.c_str(), "sql") || EQUAL(extension.c_str(), "db");
  if ((is_network_path(path) && !is_named) || !is_file(path)) return false;
  const File file = open_file(path);
  if (!file) return false;
  const auto size = std::min<std::uint64_t>(file_size(file.get()), 128);
  return is_database(read_bytes(file.get(), 0, size).text());
}

std::shared_ptr<zarrcore::Store> open_sqlite_store(const std::string& path) {
  return std::make_shared<SqliteStore>(path);
}

}  // namespace gdal_zarr
