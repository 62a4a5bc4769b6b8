// The documents of a node, or of consolidated metadata, as a store in text: what a format reads it
// writes so that it reads the same again, or it cannot write it, which is an error.
#include "autotest/cpp/support/documents.h"
#include "autotest/cpp/support/model_difference.h"
#include "autotest/fuzz/input.h"
#include "autotest/fuzz/store_text.h"
#include "zarrcore/base/path.h"

namespace zarrcore::fuzz {
namespace {

DocumentSource source_of(const StoreValues& texts) {
  return test::documents_of_texts([&texts](const std::string& key) -> std::optional<std::string> {
    const auto it = texts.find(key);
    return it == texts.end() ? std::nullopt : std::optional(it->second);
  });
}

std::vector<Document> documents_of(const Format& format, const NodeMetadata& node) {
  const auto* array = std::get_if<ArrayMetadata>(&node);
  return array != nullptr ? format.array_documents(*array, "")
                          : format.group_documents(std::get<GroupMetadata>(node), "");
}

// The codecs inside of others, as they are written: with no member more than they need.
void normalize(std::vector<CodecMetadata>& codecs) {
  for (CodecMetadata& codec : codecs) {
    for (const char* key : {"codecs", "index_codecs"}) {
      const Json* inner = find_member(codec.configuration, key);
      std::vector<CodecMetadata> parsed;
      if (inner == nullptr || !succeeds([&] { parsed = parse_codec_list(*inner, key); })) continue;
      normalize(parsed);
      codec.configuration[key] = parse_json(test::text_of(parsed));
    }
  }
}

// `texts` is the store that the node comes from.
void check_node(const Format& format, const StoreValues& texts, NodeMetadata node) {
  StoreValues written = texts;
  const auto write = [&] {
    for (const Document& document : documents_of(format, node)) {
      written[document.key] = format.document_text(document.content);
    }
  };
  if (!succeeds(write)) return;
  std::optional<NodeMetadata> again;
  const bool is_read = succeeds([&] { again = format.read_node(source_of(written), ""); });
  check(is_read && again.has_value(), "what is written can be read");
  check(node.index() == again->index(), "a node stays an array or a group");
  if (auto* array = std::get_if<ArrayMetadata>(&node)) {
    // Stated as zero where one must be stated.
    if (array->fill_value_is_mandatory && !array->fill_value) {
      array->fill_value.emplace(array->data_type.item_size);
    }
    normalize(array->codecs);
    normalize(std::get<ArrayMetadata>(*again).codecs);
  }
  const std::string difference = test::model_difference(node, *again);
  check(difference.empty(), "what is written reads the same: " + difference);
}

void check_consolidated(const Format& format, const ConsolidatedDocuments& consolidated) {
  DocumentMap documents;
  StoreValues written;
  const auto write = [&] {
    for (const auto& [key, document] : consolidated.documents) {
      const std::string_view name = last_segment(key);
      if (!format.is_document(name) || name == ".zmetadata") continue;  // of no node
      documents[key] = document.get();
      if (documents[key].is_object()) documents[key].erase("consolidated_metadata");
    }
    const Document document = format.consolidated_document(documents, "");
    written[document.key] = format.document_text(document.content);
  };
  if (!succeeds(write)) return;
  std::optional<ConsolidatedDocuments> again;
  const bool is_read = succeeds([&] { again = format.read_consolidated(source_of(written), ""); });
  check(is_read && again.has_value(), "consolidated metadata that is written can be read");
  check(again->documents.size() == documents.size(), "consolidated metadata keeps its documents");
  for (const auto& [key, content] : documents) {
    const auto it = again->documents.find(key);
    check(it != again->documents.end() && dump_json(it->second.get()) == dump_json(content),
          "consolidated metadata keeps what its documents say");
  }
}

}  // namespace
}  // namespace zarrcore::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zarrcore::fuzz;
  const StoreValues texts = parse_store_text({reinterpret_cast<const char*>(data), size});
  const zarrcore::DocumentSource source = source_of(texts);
  for (const zarrcore::Format* format : zarrcore::formats()) {
    std::optional<zarrcore::NodeMetadata> node;
    succeeds([&] { node = format->read_node(source, ""); });
    if (node) check_node(*format, texts, *node);
    std::optional<zarrcore::ConsolidatedDocuments> consolidated;
    succeeds([&] { consolidated = format->read_consolidated(source, ""); });
    if (consolidated) check_consolidated(*format, *consolidated);
  }
  return 0;
}
