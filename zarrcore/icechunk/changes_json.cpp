// The changes of a transaction as JSON, for other processes:
//
//   nodes      those that are new, moved or have another document: path, id, and what of
//              "document" and "base", the node of the base that it was, there is; "given", the path
//              that the transaction has started with, and the document, if that was another one
//   deleted    ids of nodes
//   lost       nodes that the transaction has started with and has deleted: id, path, document
//   chunks     of each array: "array", its id; "given", references that the transaction has started
//              with; "references", those that it has changed since, each a list: the index, and
//              unless the chunk was erased, one of
//                "inline", bytes in base64
//                "object", id, offset, length
//                "url", location, offset, length, etag, last_modified
#include <map>
#include <utility>

#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"
#include "zarrcore/icechunk/transaction.h"

namespace zarrcore::icechunk {
namespace {

Json json_of(const std::vector<std::uint64_t>& index, const ChunkReference& reference) {
  switch (reference.kind) {
    case ChunkReference::Kind::inlined:
      return {index, "inline", encode_base64(reference.bytes)};
    case ChunkReference::Kind::native:
      return {index, "object", reference.object, reference.offset, reference.length};
    case ChunkReference::Kind::external:
      break;
  }
  return {index,
          "url",
          reference.object,
          reference.offset,
          reference.length,
          reference.etag,
          reference.last_modified};
}

// Adds the reference to the log; returns where it is.
std::uint64_t add_reference(const Json& stored, ReferenceLog& log) {
  if (stored.size() == 1) return ArrayChanges::kErased;
  const auto kind = stored.at(1).get<std::string>();
  ChunkReference reference;
  std::vector<std::byte> bytes;
  if (kind == "inline") {
    auto decoded = decode_base64(stored.at(2).get<std::string>());
    if (!decoded) throw Error("the bytes of a chunk are not base64");
    bytes = *std::move(decoded);
    reference.bytes = bytes;
    reference.length = bytes.size();
  } else {
    reference.kind =
        kind == "object" ? ChunkReference::Kind::native : ChunkReference::Kind::external;
    reference.object = stored.at(2).get<std::string>();
    reference.offset = as_unsigned(stored.at(3), "the offset of a chunk");
    reference.length = as_unsigned(stored.at(4), "the length of a chunk");
    if (reference.kind == ChunkReference::Kind::native) parse_id<ObjectId>(reference.object);
    if (reference.kind == ChunkReference::Kind::external) {
      reference.etag = stored.at(5).get<std::string>();
      reference.last_modified = stored.at(6).get<std::uint32_t>();
    }
  }
  check_reference(reference);
  return log.add(reference);
}

// Makes the changes that the JSON says in a change set of the same base, which has none yet; their
// references are added to the log. `version` is the version of their documents.
class ChangeReader {
 public:
  ChangeReader(ChangeSet& changes, ReferenceLog& log, std::uint64_t version)
      : changes_(changes), log_(log), version_(version) {
    for (const auto& [path, node] : changes.nodes) base_.emplace(node.id, *node.base);
  }

  // Returns what the transaction had been given. Throws Error, and the exceptions of Json, when the
  // JSON does not fit the base.
  GivenChanges read(const Json& json) {
    for (const Json& id : json.at("deleted")) erase(id);
    // Places become free before others take them.
    for (const Json& node : json.at("nodes")) {
      if (base_.contains(id_in(node))) erase(node.at("id"));
    }
    for (const Json& node : json.at("nodes")) add_node(node);
    for (const Json& chunks : json.at("chunks")) add_chunks(chunks);
    if (const Json* lost = find_member(json, "lost")) {
      for (const Json& node : *lost) {
        given_.nodes[parse_id<NodeId>(node.at(0).get<std::string>())] = {
            node.at(1).get<std::string>(), node.at(2).get<std::string>()};
      }
    }
    return std::move(given_);
  }

 private:
  static NodeId id_in(const Json& node) {
    return parse_id<NodeId>(node.at("id").get<std::string>());
  }

  std::size_t position(const Json& id) const {
    const auto it = base_.find(parse_id<NodeId>(id.get<std::string>()));
    if (it == base_.end()) throw Error("the snapshot has no node " + id.get<std::string>());
    return it->second;
  }

  void erase(const Json& id) { changes_.erase(changes_.base().path(position(id))); }

  void add_node(const Json& json) {
    const auto path = json.at("path").get<std::string>();
    if (!path.empty()) check_key(path);
    Node node{id_in(json), json.at("array").get<bool>(), {}, nullptr, version_};
    if (json.contains("base")) node.base = position(json.at("base"));
    if (json.contains("document")) {
      node.document = std::make_shared<const std::string>(json.at("document").get<std::string>());
    }
    const auto added = changes_.nodes.emplace(path, node);
    if (!added.second || !(node.base || node.document)) {
      throw Error("the node /" + path + " contradicts others");
    }
    paths_.emplace(node.id, path);
    if (const Json* given = find_member(json, "given")) {
      given_.nodes[node.id] = {given->at(0).get<std::string>(),
                               given->size() > 1 ? given->at(1).get<std::string>()
                                                 : std::string(changes_.document(node))};
    }
    if (node.is_array) changes_.chunks(*added.first);
  }

  void add_chunks(const Json& json) {
    const auto id = parse_id<NodeId>(json.at("array").get<std::string>());
    auto path = paths_.find(id);
    if (path == paths_.end() && base_.contains(id)) {
      path = paths_.emplace(id, changes_.base().path(base_.at(id))).first;
    }
    const auto node =
        path != paths_.end() ? changes_.nodes.find(path->second) : changes_.nodes.end();
    if (node == changes_.nodes.end() || !node->second.is_array) {
      throw Error("chunks of an array that does not exist");
    }
    ArrayChanges& chunks = changes_.chunks(*node);
    const auto add = [&](const char* list) {
      for (const Json& reference : json.at(list)) {
        const auto index = as_unsigned_list(reference.at(0), "the index of a chunk");
        const auto number = index.size() == chunks.rank() ? chunks.number_of(index) : std::nullopt;
        if (!number) throw Error("a chunk is outside of the array /" + path->second);
        chunks.references[*number] = add_reference(reference, log_);
      }
    };
    if (json.contains("given")) {
      add("given");
      given_.chunks.emplace(id, chunks);
    }
    add("references");
  }

  ChangeSet& changes_;
  ReferenceLog& log_;
  std::uint64_t version_;
  std::map<NodeId, std::size_t> base_;
  std::map<NodeId, std::string> paths_;  // of nodes that have changed
  GivenChanges given_;
};

bool is_same_place(const ChunkReference& a, const ChunkReference& b) {
  return a.kind == b.kind && a.kind != ChunkReference::Kind::inlined && a.object == b.object &&
         a.offset == b.offset && a.length == b.length && a.etag == b.etag &&
         a.last_modified == b.last_modified;
}

// Of changes as JSON: the same of the same text alone, also among thousands of workers.
std::string fingerprint(std::string_view changes) {
  return std::to_string(changes.size()) + '-' + std::to_string(fnv1a(changes));
}

Json changes_to_json(ChangeSet& changes, const GivenChanges& given, const ReferenceLog& log) {
  Json nodes = Json::array();
  Json chunks = Json::array();
  GivenNodes lost = given.nodes;
  for (const auto& item : changes.nodes) {
    const auto& [path, node] = item;
    const auto old_node = given.nodes.find(node.id);
    if (changes.is_changed(item) || old_node != given.nodes.end()) {
      Json json{{"path", path}, {"id", id_text(node.id)}, {"array", node.is_array}};
      if (node.base) json["base"] = id_text(node_id(changes.base(), *node.base));
      if (node.document) json["document"] = *node.document;
      if (old_node != given.nodes.end()) {
        const auto& [old_path, document] = old_node->second;
        json["given"] = Json::array({old_path});
        if (document != changes.document(node)) json["given"].push_back(document);
        lost.erase(node.id);
      }
      nodes.push_back(std::move(json));
    }
    const auto old = given.chunks.find(node.id);
    if (!changes.has_changed_chunks(node) && old == given.chunks.end()) continue;
    const ArrayChanges& array = changes.chunks(item);
    Json stored{{"array", id_text(node.id)}, {"references", Json::array()}};
    const auto add = [&](const char* list, std::uint64_t number, std::uint64_t place) {
      const auto index = array.index_of(number);
      stored[list].push_back(place == ArrayChanges::kErased
                                 ? Json::array({index})
                                 : json_of(index, log.get(place).reference));
    };
    auto changed = array.references;
    if (old != given.chunks.end()) {
      ArrayChanges before = old->second;
      before.set_grid(array);
      for (const auto& [number, place] : before.references) {
        add("given", number, place);
        const auto now = changed.try_emplace(number, ArrayChanges::kErased).first;
        if (now->second == place) changed.erase(now);
      }
    }
    for (const auto& [number, place] : changed) add("references", number, place);
    chunks.push_back(std::move(stored));
  }
  Json deleted = Json::array();
  for (const std::size_t node : changes.deleted()) {
    deleted.push_back(id_text(changes.base().id(node)));
  }
  Json json{
      {"nodes", std::move(nodes)}, {"deleted", std::move(deleted)}, {"chunks", std::move(chunks)}};
  for (const auto& [id, node] : lost) {
    json["lost"].push_back(Json::array({id_text(id), node.path, node.document}));
  }
  return json;
}

}  // namespace

std::string Transaction::changes() const {
  const std::lock_guard lock(mutex_);
  files_->flush();  // another process may commit them
  Json json = changes_to_json(*changes_, given_, *log_);
  json["snapshot"] = base_->snapshot_id();
  if (!given_by_.empty()) json["from"] = given_by_;
  std::string text = dump_json(json);
  origins_.insert(fingerprint(text));
  return text;
}

void Transaction::add_changes(std::string_view text) {
  const std::lock_guard lock(mutex_);
  const std::string own_origin = fingerprint(text);
  if (origins_.contains(own_origin)) return;  // they are among these, or have been
  ChangeSet added(base_->snapshot(), ++version_);
  GivenChanges given;  // by this one
  std::string origin;
  with_context("the changes to merge", [&] {
    const Json json = parse_json(text);
    const std::string* snapshot = find_string(json, "snapshot");
    if (snapshot == nullptr || *snapshot != base_->snapshot_id()) {
      throw Error("they do not start from snapshot " + base_->snapshot_id());
    }
    given = ChangeReader(added, *log_, version_).read(json);
    if (const std::string* from = find_string(json, "from")) origin = *from;
  });
  const auto has_same_bytes = [&](std::uint64_t ours, std::uint64_t theirs) {
    if (ours == ArrayChanges::kErased || theirs == ArrayChanges::kErased) return ours == theirs;
    const auto own = log_->get(ours);
    const auto other = log_->get(theirs);
    return is_same_place(own.reference, other.reference) ||
           (own.reference.length == other.reference.length &&
            base_->read_whole(own.reference).text() == base_->read_whole(other.reference).text());
  };
  if (!origins_.contains(origin)) given = {};
  for (const auto& [array, chunks] : given.chunks) {
    const auto& old = chunks.references;
    std::erase_if(added.arrays.at(array).references, [&](const auto& reference) {
      const auto found = old.find(reference.first);
      return found != old.end() && found->second == reference.second;
    });
  }
  ChangedChunks changed;
  for (const auto& node : changes_->nodes) {
    const auto old = given.chunks.find(node.second.id);
    if (!changes_->has_changed_chunks(node.second) && old == given.chunks.end()) continue;
    const ArrayChanges& chunks = changes_->chunks(node);
    auto places = chunks.references;
    if (old != given.chunks.end()) {
      old->second.set_grid(chunks);
      for (const auto& [number, place] : old->second.references) {
        const auto now = places.try_emplace(number, ArrayChanges::kErased).first;
        if (has_same_bytes(now->second, place)) places.erase(now);
      }
    }
    for (const auto& [number, place] : places) {
      changed[node.second.id].push_back(chunks.index_of(number));
    }
  }
  const Snapshot& base = base_->snapshot();
  for (const auto& node : added.nodes) {
    const Node& own = node.second;
    if (!added.is_from_base(own) || !(added.is_changed(node) || added.has_changed_chunks(own)))
      continue;
    given.nodes.try_emplace(own.id, GivenNode{std::string(base.path(*own.base)),
                                              std::string(base.document(*own.base))});
  }
  auto merged = std::make_unique<ChangeSet>(*changes_);
  const auto conflicts = merge_changes(
      added, *merged, changed, {.given = std::move(given.nodes), .has_same_bytes = has_same_bytes});
  if (!conflicts.empty()) {
    throw CommitConflict("the changes to merge contradict earlier ones", conflicts);
  }
  if (changes_->is_empty()) {
    given_.chunks = merged->arrays;
    std::erase_if(given_.chunks, [](const auto& array) { return array.second.references.empty(); });
    for (const auto& node : merged->nodes) {
      if (!merged->is_changed(node)) continue;
      given_.nodes[node.second.id] = {node.first, std::string(merged->document(node.second))};
    }
    given_by_ = own_origin;
  }
  origins_.insert(own_origin);
  if (!origin.empty()) origins_.insert(origin);
  changes_ = std::move(merged);
  note_change();
}

void Transaction::merge(std::string_view changes) {
  try {
    add_changes(changes);
  } catch (const CommitConflict& error) {
    throw;
  } catch (...) {
    rethrow_with_context({description()});
  }
}

}  // namespace zarrcore::icechunk
