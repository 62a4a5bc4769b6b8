#include "zarrcore/icechunk/repository_info.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <span>

#include "zarrcore/icechunk/repository.h"

namespace zarrcore::icechunk {
namespace {

constexpr int kFormat = 2;
constexpr std::size_t kMaxUpdates = 1000;

// The fields of each type of update: s a text, i an id, b a byte, h two bytes, r a status.
constexpr std::string_view kUpdateFields[] = {"",   "",   "bb",  "",  "", "s", "si",  "s", "si",
                                              "si", "si", "sii", "i", "", "",  "hbb", "r"};

std::optional<std::string> owned(std::optional<std::string_view> text) {
  return text ? std::optional<std::string>(*text) : std::nullopt;
}

std::optional<std::string> owned_bytes(std::optional<ByteSpan> bytes) {
  return bytes ? std::optional<std::string>(text_of(*bytes)) : std::nullopt;
}

ObjectId id_in(const FlatTable& table, unsigned field) {
  return id_of<ObjectId>(required(table.structure(field, kObjectIdSize), "id"));
}

std::vector<std::uint16_t> numbers_in(const FlatTable& table, unsigned field) {
  std::vector<std::uint16_t> numbers;
  for (const std::uint16_t number :
       table.vector<std::uint16_t>(field).value_or(FlatVector<std::uint16_t>())) {
    numbers.push_back(number);
  }
  return numbers;
}

Update::Status read_status(const FlatTable& table) {
  return {table.number<std::uint8_t>(0), table.number<std::uint64_t>(1), owned(table.text(2))};
}

FlatTarget write_status(FlatBuilder& builder, const Update::Status& status) {
  FlatFields fields;
  fields.number(1, status.set_at).number(0, status.availability);
  if (status.reason) fields.offset(2, builder.text(*status.reason));
  return builder.table(fields);
}

Update read_update(const FlatTable& table) {
  Update update{
      table.number<std::uint8_t>(0), table.number<std::uint64_t>(2), owned(table.text(3)), {}};
  if (update.type == 0 || update.type >= std::size(kUpdateFields)) {
    throw Error("its log has an update of the unknown type " + std::to_string(update.type));
  }
  const FlatTable content = required(table.table(1), "content of an update");
  unsigned id = 0;
  for (const char kind : kUpdateFields[update.type]) {
    switch (kind) {
      case 's':
        update.fields.emplace_back(std::string(required(content.text(id), "name in an update")));
        break;
      case 'i':
        update.fields.emplace_back(id_in(content, id));
        break;
      case 'b':
        update.fields.emplace_back(content.number<std::uint8_t>(id));
        break;
      case 'h':
        update.fields.emplace_back(content.number<std::uint16_t>(id));
        break;
      default:
        update.fields.emplace_back(read_status(required(content.table(id), "status")));
    }
    ++id;
  }
  return update;
}

FlatTarget write_update(FlatBuilder& builder, const Update& update) {
  FlatFields content;
  for (unsigned i = 0; i < update.fields.size(); ++i) {
    const Update::Field& each = update.fields[i];
    if (const auto* text = std::get_if<std::string>(&each)) {
      content.offset(i, builder.text(*text));
    } else if (const auto* id = std::get_if<ObjectId>(&each)) {
      content.structure(i, *id);
    } else if (const auto* byte = std::get_if<std::uint8_t>(&each)) {
      content.number(i, *byte);
    } else if (const auto* number = std::get_if<std::uint16_t>(&each)) {
      content.number(i, *number);
    } else {
      content.offset(i, write_status(builder, std::get<Update::Status>(each)));
    }
  }
  FlatFields fields;
  fields.number(2, update.time).number(0, update.type).offset(1, builder.table(content));
  if (update.backup) fields.offset(3, builder.text(*update.backup));
  return builder.table(fields);
}

std::uint64_t now() {
  const auto time = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

}  // namespace

RepositoryInfo::RepositoryInfo(const ObjectId& snapshot, const SnapshotRecord& record)
    : branches{{"main", snapshot}}, snapshots{{snapshot, record}}, status{0, record.time, {}} {
  updates.push_back({static_cast<std::uint8_t>(UpdateType::initialized), record.time, {}, {}});
}

RepositoryInfo::RepositoryInfo(ByteSpan file) {
  const Buffer content = open_envelope(file, FileType::repository);
  const FlatTable info = FlatTable::root(content.span());
  check_not_newer(info.number<std::uint8_t>(info_field::kVersion));
  status = read_status(required(info.table(info_field::kStatus), "status"));
  const FlatTables records = required(info.tables(info_field::kSnapshots), "snapshots");
  std::vector<ObjectId> ids;
  ids.reserve(records.size());
  for (const FlatTable record : records) ids.push_back(id_in(record, 0));
  const auto id_at = [&](std::int64_t index) {
    if (index < 0 || index >= static_cast<std::int64_t>(ids.size())) {
      throw Error("it has " + std::to_string(ids.size()) + " snapshots; one is numbered " +
                  std::to_string(index));
    }
    return ids[static_cast<std::size_t>(index)];
  };
  for (const FlatTable record : records) {
    SnapshotRecord snapshot;
    const auto parent = static_cast<std::int32_t>(record.number<std::uint32_t>(1));
    if (parent != -1) snapshot.parent = id_at(parent);
    snapshot.time = record.number<std::uint64_t>(2);
    snapshot.message = required(record.text(3), "message of a snapshot");
    snapshot.properties = read_properties(record, 4);
    for (const ByteSpan log :
         record.vector<ByteSpan>(5, kObjectIdSize).value_or(FlatVector<ByteSpan>())) {
      snapshot.pruned_logs.push_back(id_of<ObjectId>(log));
    }
    const ObjectId id = id_in(record, 0);
    if (!snapshots.emplace(id, std::move(snapshot)).second) {
      throw Error("it has snapshot " + id_text(id) + " twice");
    }
  }
  for (auto [refs, number] :
       {std::pair(&tags, info_field::kTags), {&branches, info_field::kBranches}}) {
    for (const FlatTable ref : required(info.tables(number), "branches or tags")) {
      const auto name = required(ref.text(0), "name of a branch or tag");
      (*refs)[std::string(name)] = id_at(ref.number<std::uint32_t>(1));
    }
  }
  for (const std::string_view tag :
       required(info.vector<std::string_view>(info_field::kDeletedTags), "deleted tags")) {
    deleted_tags.emplace_back(tag);
  }
  properties = read_properties(info, info_field::kProperties);
  for (const FlatTable update : required(info.tables(info_field::kUpdates), "log")) {
    updates.push_back(read_update(update));
  }
  if (updates.empty()) throw Error("its log is empty");
  older_updates = owned(info.text(info_field::kOlderUpdates));
  config = owned_bytes(info.bytes(info_field::kConfig));
  enabled_features = numbers_in(info, info_field::kEnabled);
  disabled_features = numbers_in(info, info_field::kDisabled);
  extra = owned_bytes(info.bytes(info_field::kExtra));
}

RepositoryInfo RepositoryInfo::read(Store& files) {
  const auto file = files.get(kRepositoryFile);
  if (!file) throw Error("the repository has been removed");
  return RepositoryInfo(file->span());
}

void RepositoryInfo::check_online() const {
  if (status.availability == 0) return;
  const std::string reason = status.reason.value_or("");
  throw Error(std::string("the repository is ") +
              (status.availability == 1 ? "read-only" : "offline") +
              (reason.empty() ? reason : ": " + reason));
}

bool RepositoryInfo::is_enabled(std::uint16_t feature) const {
  return std::ranges::find(disabled_features, feature) == disabled_features.end();
}

void RepositoryInfo::check_enabled(std::uint16_t feature, std::string_view what) const {
  if (!is_enabled(feature)) throw Error("the repository does not allow " + std::string(what));
}

// The newest entry has no backup: the next update adds it.
void RepositoryInfo::note(UpdateType type, std::vector<Update::Field> fields,
                          const std::string& backup) {
  updates.front().backup = backup;
  updates.insert(
      updates.begin(),
      {static_cast<std::uint8_t>(type), time_after(updates.front().time), {}, std::move(fields)});
  if (updates.size() <= kMaxUpdates) return;
  const auto cut = std::find_if(updates.begin() + kMaxUpdates, updates.end(),
                                [](const Update& update) { return update.backup.has_value(); });
  if (cut == updates.end()) return;
  older_updates = cut->backup;
  updates.erase(cut, updates.end());
}

Buffer RepositoryInfo::file() const {
  std::map<ObjectId, std::uint32_t> indexes;
  for (const auto& [id, record] : snapshots) {
    indexes.emplace_hint(indexes.end(), id, static_cast<std::uint32_t>(indexes.size()));
  }
  FlatBuilder builder;
  const auto write_text = [&](const std::string& text) { return builder.text(text); };
  const auto write_ref = [&](const auto& ref) {
    const auto& [name, id] = ref;
    return builder.table(FlatFields().offset(0, builder.text(name)).number(1, indexes.at(id)));
  };
  const auto write_snapshot = [&](const auto& snapshot) {
    const auto& [id, record] = snapshot;
    FlatFields own;
    own.number(2, record.time)
        .structure(0, id)
        .number(1, record.parent ? indexes.at(*record.parent) : UINT32_MAX)
        .offset(3, builder.text(record.message))
        .offset(4, write_properties(builder, record.properties));
    if (!record.pruned_logs.empty()) {
      const auto logs = std::as_bytes(std::span(record.pruned_logs));
      own.offset(5, builder.structures(logs, kObjectIdSize, 1));
    }
    return builder.table(own);
  };
  FlatFields fields;
  fields.number(info_field::kVersion, static_cast<std::uint8_t>(kFormat))
      .offset(info_field::kTags, builder.vector(tags, write_ref))
      .offset(info_field::kBranches, builder.vector(branches, write_ref))
      .offset(info_field::kDeletedTags, builder.vector(deleted_tags, write_text))
      .offset(info_field::kSnapshots, builder.vector(snapshots, write_snapshot))
      .offset(info_field::kStatus, write_status(builder, status))
      .offset(info_field::kProperties, write_properties(builder, properties))
      .offset(info_field::kUpdates, builder.vector(updates, [&](const Update& update) {
        return write_update(builder, update);
      }));
  for (const auto& [text, number] :
       {std::pair(&config, info_field::kConfig), {&extra, info_field::kExtra}}) {
    if (*text) fields.offset(number, builder.bytes(std::as_bytes(std::span(**text))));
  }
  if (older_updates) fields.offset(info_field::kOlderUpdates, builder.text(*older_updates));
  for (const auto& [features, number] : {std::pair(&enabled_features, info_field::kEnabled),
                                         {&disabled_features, info_field::kDisabled}}) {
    if (!features->empty()) fields.offset(number, builder.numbers<std::uint16_t>(*features));
  }
  return make_envelope(builder.finish(builder.table(fields)), FileType::repository, kFormat);
}

std::uint64_t time_after(std::uint64_t last) {
  constexpr std::uint64_t kMaxAhead = 600'000'000;
  const std::uint64_t time = now();
  if (last > time && last - time > kMaxAhead) {
    throw Error("the repository's last change is more than ten minutes in the future");
  }
  return std::max(time, last + 1);
}

}  // namespace zarrcore::icechunk
