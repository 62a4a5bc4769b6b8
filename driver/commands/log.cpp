#include <cpl_time.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <utility>

#include "driver/commands/examined.h"
#include "driver/commands/repository.h"
#include "driver/stores/vsi/vsi_store.h"
#include "zarrcore/icechunk/refs.h"

namespace gdal_zarr {

using zarrcore::Json;
using zarrcore::icechunk::SnapshotInfo;
using zarrcore::icechunk::VersionName;

namespace {

// "2026-11-27T09:30:00Z"
std::string time_text(std::uint64_t microseconds) {
  std::tm parts{};
  CPLUnixTimeToYMDHMS(static_cast<GIntBig>(microseconds / 1'000'000), &parts);
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02dZ", parts.tm_year + 1900,
                parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
  return text.data();
}

std::string lines_of(const std::string& text, const std::string& indentation) {
  std::string lines = indentation;
  for (const char c : text) {
    lines += c;
    if (c == '\n') lines += indentation;
  }
  return lines + '\n';
}

}  // namespace

OpenedRepository open_repository(const Arguments& arguments) {
  const std::string name = store_of(arguments);
  OpenedRepository opened{
      has_icechunk_prefix(name) ? parse_icechunk_path(name) : IcechunkPath{name}, {}, {}};
  opened.files = make_store(opened.path.repository);
  opened.files->refresh();  // branches and tags may have changed
  opened.repository = zarrcore::icechunk::Repository::open(opened.files, opened.path.version);
  return opened;
}

Json history_json(zarrcore::Store& files, const std::string& snapshot, std::size_t most) {
  Json history = Json::array();
  for (const SnapshotInfo& info : zarrcore::icechunk::ancestry(files, snapshot, most)) {
    Json properties = Json::object();
    for (const auto& [name, value] : info.properties) properties[name] = value;
    history.push_back({{"id", info.id},
                       {"parent", info.parent.empty() ? Json() : Json(info.parent)},
                       {"time", time_text(info.time)},
                       {"message", info.message},
                       {"properties", std::move(properties)}});
  }
  return history;
}

std::string history_text(const Json& history, const std::string& indentation) {
  std::string text;
  const std::string below = indentation + "    ";
  for (const Json& snapshot : history) {
    text += indentation + snapshot["id"].get<std::string>() + "  " +
            snapshot["time"].get<std::string>() + '\n' +
            lines_of(snapshot["message"].get<std::string>(), below);
    for (const auto& [name, value] : snapshot["properties"].items()) {
      text += lines_of(name + ": " + value.get<std::string>(), below);
    }
  }
  return text;
}

CommandResult run_log(const Arguments& arguments, const CommandProgress& /*progress*/) {
  OpenedRepository opened = open_repository(arguments);
  if (arguments.has("branch")) {
    opened.path.version = {VersionName::Kind::branch, arguments.text("branch")};
  }
  const Json history =
      history_json(*opened.files, opened.repository->find_snapshot(opened.path.version));
  return {{{"store", opened.path.repository},
           {"version", describe(opened.path.version)},
           {"snapshots", history}},
          history_text(history)};
}

}  // namespace gdal_zarr
