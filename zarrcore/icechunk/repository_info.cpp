#include "zarrcore/icechunk/repository_info.h"

#include <algorithm>
#include <chrono>
#include <iterator>

namespace zarrcore::icechunk {
namespace {

constexpr int kFormat = 2;
constexpr std::size_t kMaxUpdates = 1000;

// The ids of fields.
namespace info_field {
constexpr unsigned kVersion = 0;
constexpr unsigned kTags = 1;
constexpr unsigned kBranches = 2;
constexpr unsigned kDeletedTags = 3;
constexpr unsigned kSnapshots = 4;
constexpr unsigned kStatus = 5;
constexpr unsigned kProperties = 6;
constexpr unsigned kUpdates = 7;
constexpr unsigned kOlderUpdates = 8;
constexpr unsigned kConfig = 9;
constexpr unsigned kEnabled = 10;
constexpr unsigned kDisabled = 11;
constexpr unsigned kExtra = 12;
}  // namespace info_field

// The fields of each type of update: s a text, i an id, b a byte, h two bytes, r a status.
constexpr std::string_view kUpdateFields[] = {"",   "",   "bb",  "",  "", "s", "si",  "s", "si",
                                              "si", "si", "sii", "i", "", "",  "hbb", "r"};

std::optional<std::string> owned(std::optional<std::string_view> text) {
  return text ? std::optional<std::string>(*text) : std::nullopt;
}

std::optional<std::string> owned_bytes(std::optional<ByteSpan> bytes) {
  if (!bytes) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

ObjectId id_at(ByteSpan bytes) {
  ObjectId id{};
  std::copy_n(bytes.begin(), id.size(), id.begin());
  return id;
}

ObjectId id_in(const FlatTable& table, unsigned field) {
  return id_at(required(table.structure(field, kObjectIdSize), "id"));
}

std::vector<std::uint16_t> numbers_in(const FlatTable& table, unsigned field) {
  std::vector<std::uint16_t> numbers;
  const auto elements = table.structures(field, sizeof(std::uint16_t));
  for (std::size_t i = 0; elements && i < elements->size(); ++i) {
    numbers.push_back(load_integer<std::uint16_t>((*elements)[i].data(), Endian::little));
  }
  return numbers;
}

Update::Status read_status(const FlatTable& table) {
  return {table.number<std::uint8_t>(0), table.number<std::uint64_t>(1), owned(table.text(2))};
}

void write_status(FlatBuilder& builder, FlatBuilder::Place place, const Update::Status& status) {
  FlatFields fields;
  fields.number(1, status.set_at).number(0, status.availability);
  if (status.reason) fields.offset(2);
  const auto table = builder.table(place, fields);
  if (status.reason) builder.text(table[2], *status.reason);
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

void write_update(FlatBuilder& builder, FlatBuilder::Place place, const Update& update) {
  FlatFields fields;
  fields.number(2, update.time).number(0, update.type).offset(1);
  if (update.backup) fields.offset(3);
  const auto table = builder.table(place, fields);
  FlatFields content;
  for (unsigned i = 0; i < update.fields.size(); ++i) {
    const Update::Field& each = update.fields[i];
    if (const auto* id = std::get_if<ObjectId>(&each)) {
      content.structure(i, *id);
    } else if (const auto* byte = std::get_if<std::uint8_t>(&each)) {
      content.number(i, *byte);
    } else if (const auto* number = std::get_if<std::uint16_t>(&each)) {
      content.number(i, *number);
    } else {
      content.offset(i);
    }
  }
  const auto inner = builder.table(table[1], content);
  for (unsigned i = 0; i < update.fields.size(); ++i) {
    const Update::Field& each = update.fields[i];
    if (const auto* text = std::get_if<std::string>(&each)) builder.text(inner[i], *text);
    if (const auto* status = std::get_if<Update::Status>(&each)) {
      write_status(builder, inner[i], *status);
    }
  }
  if (update.backup) builder.text(table[3], *update.backup);
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
  for (std::size_t i = 0; i < records.size(); ++i) ids.push_back(id_in(records[i], 0));
  const auto id_of = [&](std::int64_t index) {
    if (index < 0 || index >= static_cast<std::int64_t>(ids.size())) {
      throw Error("it has " + std::to_string(ids.size()) + " snapshots; one is numbered " +
                  std::to_string(index));
    }
    return ids[static_cast<std::size_t>(index)];
  };
  for (std::size_t i = 0; i < records.size(); ++i) {
    const FlatTable record = records[i];
    SnapshotRecord snapshot;
    const auto parent = static_cast<std::int32_t>(record.number<std::uint32_t>(1));
    if (parent != -1) snapshot.parent = id_of(parent);
    snapshot.time = record.number<std::uint64_t>(2);
    snapshot.message = required(record.text(3), "message of a snapshot");
    snapshot.properties = read_properties(record, 4);
    const auto logs = record.structures(5, kObjectIdSize);
    for (std::size_t k = 0; logs && k < logs->size(); ++k) {
      snapshot.pruned_logs.push_back(id_at((*logs)[k]));
    }
    if (!snapshots.emplace(ids[i], std::move(snapshot)).second) {
      throw Error("it has snapshot " + id_text(ids[i]) + " twice");
    }
  }
  for (auto [refs, number] :
       {std::pair(&tags, info_field::kTags), {&branches, info_field::kBranches}}) {
    const FlatTables tables = required(info.tables(number), "branches or tags");
    for (std::size_t i = 0; i < tables.size(); ++i) {
      const auto name = required(tables[i].text(0), "name of a branch or tag");
      (*refs)[std::string(name)] = id_of(tables[i].number<std::uint32_t>(1));
    }
  }
  const FlatTexts deleted = required(info.texts(info_field::kDeletedTags), "deleted tags");
  for (std::size_t i = 0; i < deleted.size(); ++i) deleted_tags.emplace_back(deleted[i]);
  properties = read_properties(info, info_field::kProperties);
  const FlatTables entries = required(info.tables(info_field::kUpdates), "log");
  for (std::size_t i = 0; i < entries.size(); ++i) updates.push_back(read_update(entries[i]));
  if (updates.empty()) throw Error("its log is empty");
  older_updates = owned(info.text(info_field::kOlderUpdates));
  config = owned_bytes(info.bytes(info_field::kConfig));
  enabled_features = numbers_in(info, info_field::kEnabled);
  disabled_features = numbers_in(info, info_field::kDisabled);
  extra = owned_bytes(info.bytes(info_field::kExtra));
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
  FlatBuilder builder;
  FlatFields fields;
  fields.number(info_field::kVersion, static_cast<std::uint8_t>(kFormat));
  for (const unsigned each :
       {info_field::kTags, info_field::kBranches, info_field::kDeletedTags, info_field::kSnapshots,
        info_field::kStatus, info_field::kProperties, info_field::kUpdates}) {
    fields.offset(each);
  }
  if (older_updates) fields.offset(info_field::kOlderUpdates);
  if (config) fields.offset(info_field::kConfig);
  if (!enabled_features.empty()) fields.offset(info_field::kEnabled);
  if (!disabled_features.empty()) fields.offset(info_field::kDisabled);
  if (extra) fields.offset(info_field::kExtra);
  const auto root = builder.table(FlatBuilder::root(), fields);
  std::map<ObjectId, std::uint32_t> indexes;
  for (const auto& [id, record] : snapshots) {
    indexes.emplace_hint(indexes.end(), id, static_cast<std::uint32_t>(indexes.size()));
  }
  for (const auto& [refs, number] :
       {std::pair(&tags, info_field::kTags), {&branches, info_field::kBranches}}) {
    FlatBuilder::Place each = builder.offsets(root[number], refs->size());
    for (const auto& [name, id] : *refs) {
      const auto table = builder.table(each, FlatFields().offset(0).number(1, indexes.at(id)));
      builder.text(table[0], name);
      each += sizeof(std::uint32_t);
    }
  }
  builder.texts(root[info_field::kDeletedTags], deleted_tags);
  FlatBuilder::Place each = builder.offsets(root[info_field::kSnapshots], snapshots.size());
  for (const auto& [id, record] : snapshots) {
    FlatFields own;
    own.number(2, record.time)
        .structure(0, id)
        .number(1, record.parent ? indexes.at(*record.parent) : UINT32_MAX)
        .offset(3)
        .offset(4);
    if (!record.pruned_logs.empty()) own.offset(5);
    const auto table = builder.table(each, own);
    builder.text(table[3], record.message);
    write_properties(builder, table[4], record.properties);
    if (!record.pruned_logs.empty()) {
      builder.structures(table[5], std::as_bytes(std::span(record.pruned_logs)), kObjectIdSize, 1);
    }
    each += sizeof(std::uint32_t);
  }
  write_status(builder, root[info_field::kStatus], status);
  write_properties(builder, root[info_field::kProperties], properties);
  each = builder.offsets(root[info_field::kUpdates], updates.size());
  for (const Update& update : updates) {
    write_update(builder, each, update);
    each += sizeof(std::uint32_t);
  }
  if (older_updates) builder.text(root[info_field::kOlderUpdates], *older_updates);
  if (config) builder.bytes(root[info_field::kConfig], std::as_bytes(std::span(*config)));
  for (const auto& [features, number] : {std::pair(&enabled_features, info_field::kEnabled),
                                         {&disabled_features, info_field::kDisabled}}) {
    std::vector<std::byte> bytes(features->size() * sizeof(std::uint16_t));
    for (std::size_t i = 0; i < features->size(); ++i) {
      store_integer((*features)[i], Endian::little, bytes.data() + i * sizeof(std::uint16_t));
    }
    if (!bytes.empty()) builder.structures(root[number], bytes, sizeof(std::uint16_t), 2);
  }
  if (extra) builder.bytes(root[info_field::kExtra], std::as_bytes(std::span(*extra)));
  return make_envelope(builder.content(), FileType::repository, kFormat);
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
