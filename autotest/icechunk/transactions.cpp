// Changes Icechunk repositories through zarrcore. Each line of the input is a JSON object with
// `call` and arguments; each line of the output is {"result": …}, {"error": "…"} or {"conflicts":
// […]}. Bytes are in base64. `session` names a transaction that `begin` has made.
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "zarrcore/base/text.h"
#include "zarrcore/icechunk/refs.h"
#include "zarrcore/icechunk/transaction.h"
#include "zarrcore/store/file_system_store.h"

namespace {

using Json = nlohmann::json;
using zarrcore::FileSystemStore;
using zarrcore::icechunk::Transaction;

std::map<std::string, std::unique_ptr<Transaction>, std::less<>> sessions;

std::string text(const Json& words, const char* name) {
  return words.at(name).get<std::string>();
}

Transaction& session(const Json& words) {
  return *sessions.at(text(words, "session"));
}

Json change(const Json& words) {
  Transaction& target = session(words);
  for (const Json& each : words.at("changes")) {
    const auto action = each.at(0).get<std::string>();
    const auto key = each.at(1).get<std::string>();
    if (action == "set") {
      target.put(key, zarrcore::decode_base64(each.at(2).get<std::string>()).value());
    } else if (action == "delete") {
      target.erase(key);
    } else if (action == "delete_folder") {
      target.erase_prefix(key, {});
    } else {
      target.rename_prefix(key, each.at(2).get<std::string>());
    }
  }
  return {};
}

Json dump(const Json& words) {
  Transaction& source = session(words);
  Json found = Json::object();
  for (const std::string& key : source.list_all("")) {
    const auto value = source.get(key, zarrcore::kNoSizeLimit);
    if (!value) throw zarrcore::Error("listed but absent: " + key);
    found[key] = zarrcore::encode_base64(value->span());
  }
  return found;
}

// Puts `count` values of the same bytes as the chunks of the one-dimensional array a.
Json put_chunks(const Json& words) {
  const auto value = zarrcore::decode_base64(text(words, "content")).value();
  const auto count = words.at("count").get<std::size_t>();
  for (std::size_t i = 0; i < count; ++i) session(words).put("a/c/" + std::to_string(i), value);
  return {};
}

Json begin(const Json& words) {
  sessions[text(words, "session")] = std::make_unique<Transaction>(
      std::make_shared<FileSystemStore>(text(words, "at")), text(words, "branch"), nullptr);
  return {};
}

Json answer(const Json& words) {
  const auto call = text(words, "call");
  if (call == "begin") return begin(words);
  if (call == "change") return change(words);
  if (call == "dump") return dump(words);
  if (call == "put_chunks") return put_chunks(words);
  if (call == "commit") return session(words).commit({.message = words.value("message", "ours")});
  if (call == "roll_back") return session(words).roll_back(), Json();
  if (call == "end") return sessions.erase(text(words, "session")), Json();
  if (call == "changes") return session(words).changes();
  if (call == "merge") return session(words).merge(text(words, "changes")), Json();

  FileSystemStore files(text(words, "at"));
  if (call == "create") {
    zarrcore::icechunk::create_repository(files, words.at("format").get<int>());
  } else if (call == "delete_branch") {
    zarrcore::icechunk::delete_ref(files, zarrcore::icechunk::VersionName::Kind::branch,
                                   text(words, "name"));
  } else if (call == "delete_tag") {
    zarrcore::icechunk::delete_ref(files, zarrcore::icechunk::VersionName::Kind::tag,
                                   text(words, "name"));
  } else {
    const auto name = text(words, "name"), snapshot = text(words, "snapshot");
    if (call == "create_branch")
      zarrcore::icechunk::create_ref(files, zarrcore::icechunk::VersionName::Kind::branch, name,
                                     snapshot);
    if (call == "reset_branch") zarrcore::icechunk::reset_branch(files, name, snapshot);
    if (call == "create_tag")
      zarrcore::icechunk::create_ref(files, zarrcore::icechunk::VersionName::Kind::tag, name,
                                     snapshot);
  }
  return {};
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    Json output;
    try {
      output["result"] = answer(Json::parse(line));
    } catch (const zarrcore::icechunk::CommitConflict& conflict) {
      output = {{"conflicts", conflict.conflicts()}};
    } catch (const std::exception& error) {
      output = {{"error", error.what()}};
    }
    std::cout << output.dump() << std::endl;
  }
}
