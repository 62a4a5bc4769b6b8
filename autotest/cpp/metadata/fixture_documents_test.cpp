// The metadata of every store of autotest/fixtures, read, written and read again: nothing is lost.
#include <gtest/gtest.h>

#include <filesystem>

#include "autotest/cpp/support/documents.h"
#include "autotest/cpp/support/npy.h"
#include "autotest/cpp/support/same_metadata.h"
#include "zarrcore/hierarchy/hierarchy.h"
#include "zarrcore/metadata/format.h"
#include "zarrcore/store/file_system_store.h"

namespace zarrcore::test::fixture_documents_test {
namespace {

namespace fs = std::filesystem;

struct Written {
  std::string_view file_name;
  const Format& format;
};

// Documents that stand in memory.
DocumentSource source_of(const DocumentMap& documents) {
  return documents_of_texts([&documents](const std::string& key) -> std::optional<std::string> {
    const auto it = documents.find(key);
    return it == documents.end() ? std::nullopt : std::optional(dump_json(it->second));
  });
}

// Documents in a folder.
DocumentSource source_of(const fs::path& folder) {
  return documents_of_texts([folder](const std::string& key) -> std::optional<std::string> {
    if (!fs::exists(folder / key)) return std::nullopt;
    return read_file(folder / key);
  });
}

// The documents of a node as they are in a store, read back from their text.
DocumentMap stored(const Format& format, const NodeMetadata& node, const std::string& path) {
  const auto* array = std::get_if<ArrayMetadata>(&node);
  DocumentMap documents;
  for (const Document& document :
       array != nullptr ? format.array_documents(*array, path)
                        : format.group_documents(std::get<GroupMetadata>(node), path)) {
    documents[document.key] = parse_json(format.document_text(document.content));
  }
  return documents;
}

void expect_kept(const Format& format, const fs::path& folder) {
  auto node = format.read_node(source_of(folder), "");
  if (!node) return;  // of another format, with a document of the same name
  const DocumentMap documents = stored(format, *node, "");
  const auto again = format.read_node(source_of(documents), "");
  ASSERT_TRUE(again);
  ASSERT_EQ(node->index(), again->index());
  if (auto* array = std::get_if<ArrayMetadata>(&*node)) {
    // GDAL writes null where v3 wants a value.
    if (array->fill_value_is_mandatory && !array->fill_value) {
      array->fill_value.emplace(array->data_type.item_size);
    }
    expect_same(*array, std::get<ArrayMetadata>(*again));
  } else {
    expect_same(std::get<GroupMetadata>(*node), std::get<GroupMetadata>(*again));
  }
}

TEST(FixtureDocuments, AreKept) {
  const std::vector<Written> all{{"zarr.json", v3_format()},
                                 {".zarray", v2_format()},
                                 {".zgroup", v2_format()},
                                 {"meta", v1_format()}};
  std::map<std::string_view, int> counts;
  for (const auto& file : fs::recursive_directory_iterator(FIXTURES_FOLDER "/stores")) {
    for (const auto& [file_name, format] : all) {
      if (file.path().filename() != file_name || !file.is_regular_file()) continue;
      SCOPED_TRACE(file.path().string());
      expect_kept(format, file.path().parent_path());
      ++counts[file_name];
    }
  }
  EXPECT_GE(counts["zarr.json"], 138);
  EXPECT_GE(counts[".zarray"], 90);
  EXPECT_EQ(counts["meta"], 6);
}

TEST(FixtureDocuments, ConsolidatedMetadataIsKept) {
  int count = 0;
  for (const auto& store : fs::directory_iterator(FIXTURES_FOLDER "/stores")) {
    if (!store.is_directory()) continue;
    for (const Format* format : {&v2_format(), &v3_format()}) {
      auto consolidated = format->read_consolidated(source_of(store.path()), "");
      if (!consolidated) continue;
      SCOPED_TRACE(store.path().string());
      ++count;
      DocumentMap documents;
      for (const auto& [key, document] : consolidated->documents) {
        documents[key] = document.get();
        documents[key].erase("consolidated_metadata");
      }
      const Document document = format->consolidated_document(documents, "");
      const DocumentMap written{{document.key, document.content}};
      const auto again = format->read_consolidated(source_of(written), "");
      ASSERT_TRUE(again);
      EXPECT_TRUE(again->problems.empty());
      ASSERT_EQ(again->documents.size(), documents.size());
      for (const auto& [key, content] : documents) {
        EXPECT_EQ(dump_json(again->documents.at(key).get()), dump_json(content)) << key;
      }
    }
  }
  EXPECT_GE(count, 10);
}

}  // namespace
}  // namespace zarrcore::test::fixture_documents_test
