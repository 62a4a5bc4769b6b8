// Pyramids of xcube; see foreign_stores.h.
#include <cpl_conv.h>
#include <cpl_port.h>
#include <cpl_vsi.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/stores/foreign_stores.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_path.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/path.h"
#include "zarrcore/hierarchy/documents.h"
#include "zarrcore/metadata/document_names.h"
#include "zarrcore/store/forwarding_store.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::Json;

constexpr const char* kLevelsFile = ".zlevels";
constexpr const char* kConsolidated = "consolidated_metadata";  // a member of documents of v3
// Enough to halve the largest size that Zarr can state to one pixel.
constexpr std::uint64_t kMaxLevels = 64;

class XcubeLevels final : public zarrcore::ForwardingStore {
 public:
  XcubeLevels(std::shared_ptr<zarrcore::Store> folder, std::vector<std::string> levels, bool is_v3)
      : ForwardingStore(std::move(folder)), levels_(std::move(levels)) {
    Json datasets = Json::array();
    for (const std::string& level : levels_) datasets.push_back({{"path", level}});
    const Json attributes = {{"multiscales", Json::array({{{"datasets", std::move(datasets)}}})}};
    // The root is consolidated if all levels are: servers that cannot list show no other documents.
    if (is_v3) {
      Json root = {{"zarr_format", 3}, {"node_type", "group"}, {"attributes", attributes}};
      if (auto documents = with_levels(Json::object(), is_v3)) {
        root[kConsolidated] = {
            {"kind", "inline"}, {"must_understand", false}, {"metadata", *std::move(documents)}};
      }
      add(zarrcore::kNodeDocument, root);
      return;
    }
    const Json group = {{"zarr_format", 2}};
    add(zarrcore::kV2GroupDocument, group);
    add(zarrcore::kV2AttributesDocument, attributes);
    if (auto documents = with_levels({{std::string(zarrcore::kV2GroupDocument), group},
                                      {std::string(zarrcore::kV2AttributesDocument), attributes}},
                                     is_v3)) {
      add(zarrcore::kV2ConsolidatedDocument,
          {{"zarr_consolidated_format", 1}, {"metadata", *std::move(documents)}});
    }
  }

  zarrcore::StoreTraits traits() const override {
    zarrcore::StoreTraits traits = ForwardingStore::traits();
    traits.read_only_reason = "it is a pyramid of xcube";
    traits.is_folder = false;  // levels have folders of other names
    return traits;
  }

  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override {
    const auto it = documents_.find(key);
    if (it == documents_.end()) return ForwardingStore::get(key, max_size);
    return Buffer::copy_of(it->second);
  }

  std::optional<std::vector<Buffer>> get_ranges(
      std::string_view key, std::span<const zarrcore::ByteRange> ranges) override {
    return documents_.contains(key) ? Store::get_ranges(key, ranges)
                                    : ForwardingStore::get_ranges(key, ranges);
  }

  std::shared_ptr<zarrcore::OpenValue> open(std::string_view key) override {
    return documents_.contains(key) ? Store::open(key) : ForwardingStore::open(key);
  }

  zarrcore::DirectoryListing list(std::string_view prefix,
                                  const zarrcore::ListOptions& options) override {
    if (!prefix.empty()) return ForwardingStore::list(prefix, options);
    zarrcore::DirectoryListing listing;
    for (const auto& [key, text] : documents_) listing.keys.push_back(key);
    listing.prefixes = levels_;
    std::ranges::sort(listing.prefixes);
    return listing;
  }
  void visit_values(std::string_view prefix, const VisitValue& visit,
                    const zarrcore::VisitOptions& options) override {
    Store::visit_values(prefix, visit, options);
  }

 private:
  // `documents` with the documents of all levels, by key; nullopt unless all levels are
  // consolidated.
  std::optional<Json> with_levels(Json documents, bool is_v3) {
    for (const std::string& level : levels_) {
      auto document = read(zarrcore::join_path(
          level, is_v3 ? zarrcore::kNodeDocument : zarrcore::kV2ConsolidatedDocument));
      const Json* copy = document ? &*document : nullptr;
      if (is_v3 && copy != nullptr) copy = zarrcore::find_member(*copy, kConsolidated);
      const Json* members = copy != nullptr ? zarrcore::find_member(*copy, "metadata") : nullptr;
      if (members == nullptr || !members->is_object()) return std::nullopt;
      for (const auto& [name, member] : members->items()) {
        documents[zarrcore::join_path(level, name)] = member;
      }
      if (!is_v3) continue;
      document->erase(kConsolidated);
      documents[level] = *std::move(document);
    }
    return std::optional<Json>(std::in_place, std::move(documents));
  }

  std::optional<Json> read(const std::string& key) {
    const auto text = inner().get(key, zarrcore::kMaxDocumentBytes);
    if (!text) return std::nullopt;
    return std::optional<Json>(std::in_place, zarrcore::with_context(key, [&] {
                                 return zarrcore::parse_json(text->text());
                               }));
  }
  void add(std::string_view key, const Json& document) {
    documents_.emplace(key, zarrcore::dump_json(document));
  }

  std::vector<std::string> levels_;
  std::map<std::string, std::string, std::less<>> documents_;  // of the root
};

// The number of levels that the file states; empty without the file.
std::optional<std::uint64_t> stated_levels(zarrcore::Store& folder) {
  const auto text = folder.get(kLevelsFile, zarrcore::kMaxDocumentBytes);
  if (!text) return std::nullopt;
  const Json document =
      zarrcore::with_context(kLevelsFile, [&] { return zarrcore::parse_json(text->text()); });
  const Json* count = zarrcore::find_member(document, "num_levels");
  if (count == nullptr || !count->is_number_unsigned() ||
      count->get<std::uint64_t>() > kMaxLevels) {
    throw zarrcore::Error(std::string(kLevelsFile) + ": num_levels is not a number up to " +
                          std::to_string(kMaxLevels));
  }
  return count->get<std::uint64_t>();
}

}  // namespace

bool is_xcube_pyramid(const std::string& folder) {
  const bool is_named = EQUAL(CPLGetExtension(folder.c_str()), "levels");
  // GDAL calls this for each folder that is opened, and requests cost time.
  if (!is_named && !VSIIsLocal(folder.c_str())) return false;
  const auto has = [&](const char* name) { return path_exists(join_vsi_path(folder, name)); };
  return has(kLevelsFile) || (is_named && (has("0.zarr") || has("0.link")));
}

std::shared_ptr<zarrcore::Store> open_xcube_pyramid(std::shared_ptr<zarrcore::Store> folder) {
  const std::optional<std::uint64_t> count = stated_levels(*folder);
  std::vector<std::string> levels;
  bool is_v3 = false;
  for (std::uint64_t level = 0; level < count.value_or(kMaxLevels); ++level) {
    const std::string name = std::to_string(level) + ".zarr";
    const auto has = [&](std::string_view document) {
      return folder->has(zarrcore::join_path(name, document));
    };
    const bool level_is_v3 = has(zarrcore::kNodeDocument);
    if (level_is_v3 || has(zarrcore::kV2GroupDocument)) {
      if (levels.empty()) is_v3 = level_is_v3;
      levels.push_back(name);
    } else if (level > 0 && !count) {
      break;
    }
  }
  if (levels.empty()) throw zarrcore::Error("it has no levels");
  return std::make_shared<XcubeLevels>(std::move(folder), std::move(levels), is_v3);
}

}  // namespace gdal_zarr
