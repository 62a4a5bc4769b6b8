// The documents of a node, or of consolidated metadata, as a store in text: what a format reads it
// writes so that it reads the same again, or it cannot write it, which is an error. Arrays keep
// their values when they become v3, and codecs that are complete are not completed again.
#include "autotest/cpp/support/documents.h"
#include "autotest/cpp/support/model_difference.h"
#include "autotest/fuzz/input.h"
#include "autotest/fuzz/store_text.h"
#include "zarrcore/base/path.h"
#include "zarrcore/codec/codec_chain.h"
#include "zarrcore/metadata/format.h"

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

// Codecs as they are written: with the byte order that is assumed, and those inside of others with
// no member more than they need.
void normalize(std::vector<CodecMetadata>& codecs) {
  for (CodecMetadata& codec : codecs) {
    if (codec.name == "bytes" && find_member(codec.configuration, "endian") == nullptr) {
      codec.configuration["endian"] = "little";
    }
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

ChunkSpec chunks_of(const ArrayMetadata& array) {
  const std::vector<std::byte> zero(array.data_type.item_size);
  return {array.chunk_shape, array.data_type,
          array.data_type.is_variable() ? zero : array.fill_value.value_or(zero)};
}

void check_completion(const ArrayMetadata& array) {
  std::vector<CodecMetadata> complete;
  const ChunkSpec chunks = chunks_of(array);
  if (!succeeds([&] { complete = complete_codecs(array.codecs, chunks); })) return;
  std::vector<CodecMetadata> again;
  check(succeeds([&] { again = complete_codecs(complete, chunks); }), "complete codecs are right");
  check(test::text_of(again) == test::text_of(complete), "complete codecs stay the same");
}

// What a chunk of zeros becomes when it is stored and read; empty if it cannot be, or has not got a
// sensible size.
std::optional<std::string> encoded_zeros(const CodecChain& chain) {
  constexpr std::uint64_t kMaxSize = 1 << 16;
  if (chain.spec().data_type.is_variable() || chain.decoded_size() > kMaxSize) return std::nullopt;
  const std::vector<std::byte> zeros(chain.decoded_size());
  std::optional<std::string> encoded;
  succeeds([&] { encoded = chain.encode_from_c_order(zeros).text(); });
  return encoded;
}

std::optional<std::string> decoded(const CodecChain& chain, std::string_view encoded) {
  std::string chunk(chain.decoded_size(), '\0');
  Arena arena;
  const bool is_decoded = succeeds([&] {
    chain.decode_to_c_order(std::as_bytes(std::span(encoded)),
                            std::as_writable_bytes(std::span(chunk)), arena);
  });
  return is_decoded ? std::optional(chunk) : std::nullopt;
}

void check_migration(const ArrayMetadata& array) {
  StoreValues written;
  std::optional<CodecChain> chain;
  const auto migrate = [&] {
    chain.emplace(array.codecs, chunks_of(array));
    for (const Document& document : v3_format().array_documents(migrated_to_v3(array), "")) {
      written[document.key] = v3_format().document_text(document.content);
    }
  };
  if (!succeeds(migrate)) return;
  std::optional<NodeMetadata> node;
  const bool is_read = succeeds([&] { node = v3_format().read_node(source_of(written), ""); });
  check(is_read && node.has_value(), "what becomes v3 can be read");
  const auto& migrated = std::get<ArrayMetadata>(*node);
  check(migrated.shape == array.shape && migrated.chunk_shape == array.chunk_shape &&
            migrated.data_type == array.data_type,
        "what becomes v3 keeps its shape and type");
  std::optional<CodecChain> chain_of_v3;
  check(succeeds([&] { chain_of_v3.emplace(migrated.codecs, chunks_of(migrated)); }),
        "what becomes v3 can be decoded");
  if (const auto encoded = encoded_zeros(*chain)) {
    check(decoded(*chain_of_v3, *encoded) == decoded(*chain, *encoded),
          "what becomes v3 keeps its values");
  }
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
    if (node && std::holds_alternative<zarrcore::ArrayMetadata>(*node)) {
      check_completion(std::get<zarrcore::ArrayMetadata>(*node));
      if (format != &zarrcore::v3_format()) {
        check_migration(std::get<zarrcore::ArrayMetadata>(*node));
      }
    }
    std::optional<zarrcore::ConsolidatedDocuments> consolidated;
    succeeds([&] { consolidated = format->read_consolidated(source, ""); });
    if (consolidated) check_consolidated(*format, *consolidated);
  }
  return 0;
}
