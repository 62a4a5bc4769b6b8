#include "zarrcore/icechunk/changes_json.h"

#include <map>
#include <utility>

#include "zarrcore/base/path.h"
#include "zarrcore/base/text_encoding.h"

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

// Makes a change set of the base what the JSON says.
class ChangeReader {
 public:
  ChangeReader(ChangeSet& changes, ReferenceLog& log, std::uint64_t version)
      : changes_(changes), log_(log), version_(version) {
    for (const auto& [path, node] : changes.nodes) base_.emplace(node.id, *node.base);
  }

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

}  // namespace

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

GivenChanges read_changes(const Json& json, std::uint64_t version, ChangeSet& changes,
                          ReferenceLog& log) {
  return ChangeReader(changes, log, version).read(json);
}

}  // namespace zarrcore::icechunk
