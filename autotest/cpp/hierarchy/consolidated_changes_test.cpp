#include <gtest/gtest.h>

#include <utility>

#include "autotest/cpp/support/any_hierarchy.h"
#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/documents.h"
#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/observed_store.h"
#include "autotest/cpp/support/stored_array.h"
#include "autotest/cpp/support/temporary_folder.h"
#include "zarrcore/hierarchy/hierarchy.h"
#include "zarrcore/metadata/format.h"
#include "zarrcore/store/file_system_store.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::consolidated_changes_test {
namespace {

class ConsolidatedHierarchy : public AnyHierarchy {};

INSTANTIATE_TEST_SUITE_P(Formats, ConsolidatedHierarchy, hierarchy_cases());

TEST_P(ConsolidatedHierarchy, ConsolidatedMetadataIsKeptTrueWithoutBeingUsed) {
  hierarchy_->create_node("g", group_with("group"));
  hierarchy_->flush();
  HierarchyOptions options;
  options.use_consolidated = false;
  options.is_writable = true;
  Hierarchy other(store_, options);
  other.create_node("g/a", array("g/a"));
  other.update_node("g", becomes(group_with("changed")));
  EXPECT_FALSE(is_consolidated_now());
  EXPECT_EQ(title(Hierarchy(store_), "g"), "group");
  other.flush();
  EXPECT_EQ(is_consolidated_now(), GetParam().is_consolidated);
  EXPECT_EQ(title(Hierarchy(store_), "g"), "changed");
  EXPECT_EQ(title(Hierarchy(store_), "g/a"), "(untitled)");
}

TEST_P(ConsolidatedHierarchy, ConsolidatedMetadataOfInnerGroupsIsKeptTrue) {
  hierarchy_->create_node("g", group_with("group"));
  hierarchy_->create_node("g/a", array("g/a"));
  hierarchy_->flush();
  DocumentMap documents;
  for (const Document& d : format().group_documents(group_with("group"), "g")) {
    documents[d.key] = d.content;
  }
  const Document consolidated = format().consolidated_document(documents, "g");
  store_->put(consolidated.key, bytes_of(format().document_text(consolidated.content)));
  HierarchyOptions options;
  options.is_writable = true;
  Hierarchy other(store_, options);
  ArrayMetadata changed = array("g/a");
  changed.attributes["title"] = "changed";
  other.update_node("g/a", becomes(changed));
  other.flush();
  const DocumentSource stored =
      documents_of_texts([this](const std::string& key) -> std::optional<std::string> {
        const auto value = store_->get(key);
        return value ? std::optional(std::string(value->text())) : std::nullopt;
      });
  const auto copy = format().read_consolidated(stored, "g");
  ASSERT_TRUE(copy);
  std::string text;
  for (const auto& [key, document] : copy->documents) text += dump_json(document.get());
  EXPECT_NE(text.find("changed"), std::string::npos) << text;
  EXPECT_EQ(title(Hierarchy(store_), "g/a"), "changed");
}

// Changes nothing any more after so many changes, as if the process had ended.
std::shared_ptr<Store> ending_store(std::shared_ptr<Store> inner, int changes) {
  return std::make_shared<NotifyingStore>(std::move(inner),
                                          [changes](const std::string& /*change*/) mutable {
                                            if (changes-- <= 0)
                                              throw Error("the process has ended");
                                          });
}

TEST_P(ConsolidatedHierarchy, ConsolidatedMetadataComesBackAfterAnyEnd) {
  hierarchy_->create_node("g", group_with("group"));
  hierarchy_->create_node("g/a", array("g/a"));
  hierarchy_->flush();
  HierarchyOptions options;
  options.is_writable = true;
  for (int last = 0; last < 12; ++last) {
    try {
      Hierarchy other(ending_store(store_, last), options);
      other.create_node("n" + std::to_string(last), group_with("new"));
      other.update_node("g/a", [&](NodeMetadata& node) {
        std::get<ArrayMetadata>(node).attributes["title"] = std::to_string(last);
      });
      other.flush();
    } catch (const Error&) {
      // It is the end.
    }
    const Hierarchy reader(store_);
    HierarchyOptions plain;
    plain.use_consolidated = false;
    EXPECT_EQ(title(reader, "g/a"), title(Hierarchy(store_, plain), "g/a")) << last;
    Hierarchy next(store_, options);
    next.flush();
    EXPECT_EQ(is_consolidated_now(), GetParam().is_consolidated) << last;
    EXPECT_EQ(title(Hierarchy(store_), "g/a"), title(Hierarchy(store_, plain), "g/a")) << last;
    EXPECT_EQ(title(Hierarchy(store_), "n" + std::to_string(last)),
              title(Hierarchy(store_, plain), "n" + std::to_string(last)))
        << last;
  }
  EXPECT_EQ(title(Hierarchy(store_), "g/a"), "11");
}

// The array is whole or does not exist, whatever it is opened with; and the next writer makes
// consolidated metadata equal to the documents.
TEST_P(ConsolidatedHierarchy, NoEndLeavesAnArrayWithoutItsChunks) {
  const ArrayMetadata metadata = array("g/a");
  const std::vector<std::string> chunks{"g/a/" + metadata.chunk_key_encoding.encode(Shape{0}),
                                        "g/a/" + metadata.chunk_key_encoding.encode(Shape{1})};
  const auto context = std::make_shared<Context>();
  HierarchyOptions writable;
  writable.is_writable = true;
  bool has_ended = true;
  int last = 0;
  for (; has_ended; ++last) {
    ASSERT_LT(last, 30);
    SCOPED_TRACE(last);
    if (hierarchy_->node("g")) hierarchy_->erase_node("g");
    hierarchy_->create_node("g", group_with("group"));
    hierarchy_->create_node("g/a", metadata);
    for (const std::string& chunk : chunks) store_->put(chunk, bytes_of("xy"));
    hierarchy_->flush();
    try {
      Hierarchy other(ending_store(store_, last), writable);
      other.erase_node("g");
      other.flush();
      has_ended = false;
    } catch (const Error&) {
      // It is the end.
    }
    const auto expect_no_ghost = [&] {
      for (const bool use_consolidated : {true, false}) {
        HierarchyOptions options;
        options.use_consolidated = use_consolidated;
        const Hierarchy reader(store_, options);
        if (!reader.node("g/a", NodeKind::array)) continue;
        std::string values(4, '?');
        reader.open_array("g/a", context)->read({{0}, {4}, {}}, values.data(), values.size());
        EXPECT_EQ(values, "xyxy");
      }
    };
    expect_no_ghost();
    Hierarchy next(store_, writable);
    next.update_node("", becomes(group_with("next")));
    next.flush();
    expect_no_ghost();
    EXPECT_EQ(is_consolidated_now(), GetParam().is_consolidated);
    EXPECT_FALSE(store_->has(".zarr-consolidation-owed"));
    if (store_->has_prefix("g")) store_->erase_prefix("g");
    hierarchy_ = std::make_unique<Hierarchy>(store_, writable);
  }
  EXPECT_GT(last, 3);
}

TEST_P(ConsolidatedHierarchy, ReadersSeeDocumentsWhileAWriterHasNotFlushed) {
  hierarchy_->create_node("g", group_with("group"));
  hierarchy_->flush();
  hierarchy_->update_node("g", becomes(group_with("changed")));
  hierarchy_->flush_node("g");
  hierarchy_->create_node("h", group_with("new"));
  const Hierarchy reader(store_);
  EXPECT_FALSE(reader.is_consolidated());
  EXPECT_EQ(title(reader, "g"), "changed");
  EXPECT_EQ(title(reader, "h"), "new");
  // Another writer ends first, and leaves nothing of this one out.
  HierarchyOptions writable;
  writable.is_writable = true;
  Hierarchy other(store_, writable);
  other.create_node("i", group_with("other"));
  other.flush();
  expect_found("h", "new");
  hierarchy_->update_node("h", becomes(group_with("newer")));
  hierarchy_->flush_node("h");
  EXPECT_FALSE(is_consolidated_now());
  hierarchy_->flush();
  expect_found("h", "newer");
  expect_found("i", "other");
  EXPECT_EQ(is_consolidated_now(), GetParam().is_consolidated);
}

// Without locks, the first of two writers to flush has not seen what the other puts afterwards.
TEST_P(ConsolidatedHierarchy, ConsolidatedMetadataHasChangesOfAllWriters) {
  for (const char* path : {"g", "h"}) hierarchy_->create_node(path, group_with("old"));
  hierarchy_->flush();
  HierarchyOptions writable;
  writable.is_writable = true;
  Hierarchy other(store_, writable);
  const auto change = [](Hierarchy& hierarchy, const std::string& path, const std::string& title) {
    hierarchy.update_node(path, becomes(group_with(title)));
    hierarchy.flush_node(path);
  };
  change(*hierarchy_, "g", "first");
  change(other, "h", "second");
  hierarchy_->flush();
  expect_found("g", "first");
  EXPECT_EQ(title(Hierarchy(store_), "h"), "second");
  change(other, "g", "third");
  EXPECT_FALSE(is_consolidated_now());
  other.flush();
  EXPECT_EQ(title(Hierarchy(store_), "g"), "third");
  EXPECT_EQ(title(Hierarchy(store_), "h"), "second");
  EXPECT_EQ(is_consolidated_now(), GetParam().is_consolidated);
}

// Some programs write no other documents. The first change writes them.
TEST(ConsolidatedChanges, NodesInConsolidatedMetadataAloneSurviveAnyEnd) {
  for (const auto* format : {&v2_format(), &v3_format()}) {
    const auto filled = std::make_shared<MemoryStore>();
    const auto whole = Hierarchy::create(filled, *format, group_with("root"));
    whole->create_node("g", group_with("group"));
    whole->create_node("h", group_with("other"));
    whole->flush();
    bool has_ended = true;
    for (int last = 0; has_ended; ++last) {
      ASSERT_LT(last, 30);
      SCOPED_TRACE(last);
      const auto store = std::make_shared<MemoryStore>();
      const std::string copy = *format->consolidated_key("");
      store->put(copy, filled->get(copy, kNoSizeLimit)->span());
      store->put("g/readme", bytes_of("text"));
      HierarchyOptions writable;
      writable.is_writable = true;
      try {
        Hierarchy hierarchy(ending_store(store, last), writable);
        hierarchy.update_node(
            "g", [](NodeMetadata& node) { std::get<GroupMetadata>(node).attributes["new"] = 1; });
        hierarchy.flush();
        has_ended = false;
      } catch (const Error&) {
        // It is the end.
      }
      for (int opened = 0; opened < 2; ++opened) {
        const auto node = Hierarchy(store).node("g");
        ASSERT_NE(node, nullptr);
        EXPECT_EQ(std::get<GroupMetadata>(*node).attributes["title"], "group");
        Hierarchy(store, writable).flush();
      }
      if (has_ended) continue;
      const Hierarchy reader(store);
      EXPECT_TRUE(reader.is_consolidated());
      EXPECT_EQ(std::get<GroupMetadata>(*reader.node("g")).attributes["new"], 1);
      EXPECT_TRUE(store->has(format->node_keys("g").at(format == &v2_format() ? 1 : 0)));
      EXPECT_EQ(reader.node("h"), nullptr);  // nothing existed at its path
    }
  }
}

std::unique_ptr<Hierarchy> nested_groups(const std::shared_ptr<Store>& store,
                                         const Format& format) {
  auto whole = Hierarchy::create(store, format, group_with("root"));
  whole->create_node("g", group_with("group"));
  whole->create_node("g/h", group_with("inner"));
  whole->flush();
  return whole;
}

TEST(ConsolidatedChanges, GroupsInFoldersAboveKeepTheirConsolidatedMetadataTrue) {
  for (const auto* format : {&v2_format(), &v3_format()}) {
    const TemporaryFolder folder;
    const auto store = std::make_shared<FileSystemStore>(folder.path() / "store");
    const auto whole = nested_groups(store, *format);
    HierarchyOptions options;
    options.is_writable = true;
    for (const char* place : {"g", "g/h"}) {
      Hierarchy part(std::make_shared<FileSystemStore>(folder.path() / "store" / place), options);
      part.update_node("", becomes(group_with(place)));
      part.create_node("new", group_with("new"));
      part.flush();
    }
    const Hierarchy reader(store);
    EXPECT_TRUE(reader.is_consolidated());
    const auto title_of = [&](const char* path) {
      return std::get<GroupMetadata>(*reader.node(path)).attributes["title"];
    };
    EXPECT_EQ(title_of("g"), "g");
    EXPECT_EQ(title_of("g/h"), "g/h");
    EXPECT_EQ(title_of("g/new"), "new");
    EXPECT_EQ(title_of("g/h/new"), "new");
  }
}

// A process that is killed between two puts must not leave incorrect metadata.
TEST(ConsolidatedChanges, ConsolidatedMetadataIsGoneBeforeADocumentChanges) {
  const auto memory = std::make_shared<MemoryStore>();
  Hierarchy::create(memory, v2_format(), group_with("one"))->flush();
  EXPECT_TRUE(memory->has(".zmetadata"));
  const auto watched = std::make_shared<NotifyingStore>(memory, [&](const std::string& change) {
    EXPECT_FALSE(change == "+.zattrs" && memory->has(".zmetadata"));
  });
  Hierarchy hierarchy(watched, {.is_writable = true});
  hierarchy.update_node("", [](NodeMetadata& node) { node = group_with("two"); });
  hierarchy.flush();
  EXPECT_TRUE(memory->has(".zmetadata"));
}

// zarr-python 3 writes it into .zmetadata, and its 3.0 finds no nodes in a group that has it in its
// own document.
TEST(ConsolidatedChanges, GroupsOfV2DoNotKeepConsolidatedMetadataAsInV3) {
  auto store = std::make_shared<MemoryStore>();
  store->put(".zgroup", bytes_of(R"({"zarr_format": 2})"));
  store->put("g/.zgroup", bytes_of(R"({"zarr_format": 2, "consolidated_metadata": {
    "kind": "inline", "must_understand": false, "metadata": {}}})"));
  HierarchyOptions options;
  options.is_writable = true;
  Hierarchy hierarchy(store, options);
  hierarchy.update_node("g", becomes(group_with("changed")));
  hierarchy.flush();
  const auto document = store->get("g/.zgroup", kNoSizeLimit);
  EXPECT_EQ(dump_json(parse_json(document->text())), R"({"zarr_format":2})");
}

TEST(ConsolidatedChanges, AFailedFlushIsTriedAgain) {
  auto memory = std::make_shared<MemoryStore>();
  bool is_broken = false;
  auto store = std::make_shared<FailingStore>(
      memory, [&](std::string_view key) { return is_broken && key == ".zmetadata"; });
  auto hierarchy = Hierarchy::create(store, v2_format(), group_with("root"));
  is_broken = true;
  EXPECT_ERROR(hierarchy->flush(), "consolidated metadata");
  is_broken = false;
  hierarchy->flush();
  EXPECT_TRUE(Hierarchy(memory).is_consolidated());
}

TEST(ConsolidatedChanges, ARefusedChangeLeavesConsolidatedMetadata) {
  for (const auto* format : {&v2_format(), &v3_format()}) {
    auto memory = std::make_shared<MemoryStore>();
    const std::string refused = format->group_documents(GroupMetadata(), "g").front().key;
    bool refuses = false;
    auto store = std::make_shared<FailingStore>(
        memory, [&](std::string_view key) { return refuses && key == refused; });
    auto hierarchy = Hierarchy::create(store, *format, group_with("root"));
    hierarchy->flush();
    refuses = true;
    EXPECT_ERROR(hierarchy->create_node("g", group_with("group")), "/g");
    EXPECT_TRUE(Hierarchy(memory).is_consolidated());
    EXPECT_FALSE(memory->has(".zarr-consolidation-owed"));
  }
}

// In v3, it is in the document that also has the attributes.
TEST(ConsolidatedChanges, BrokenConsolidatedMetadataIsReplacedAlone) {
  auto memory = std::make_shared<MemoryStore>();
  memory->put("zarr.json", bytes_of(R"({"zarr_format": 3, "node_type": "group",
    "attributes": {"title": "root"}, "consolidated_metadata": {"kind": "other"}})"));
  Hierarchy hierarchy(memory, {.is_writable = true});
  hierarchy.create_node("g", group_with("group"));
  hierarchy.flush();
  const Hierarchy reader(memory);
  EXPECT_TRUE(reader.is_consolidated());
  EXPECT_EQ(std::get<GroupMetadata>(*reader.node("")).attributes["title"], "root");
  EXPECT_EQ(std::get<GroupMetadata>(*reader.node("g")).attributes["title"], "group");
}

TEST(ConsolidatedChanges, WithoutAnAnswerAboutConsolidatedMetadataNothingChanges) {
  class Silent final : public StoreWrapper {
   public:
    using StoreWrapper::StoreWrapper;
    std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override {
      if (is_silent) throw Error("no answer");
      return StoreWrapper::get(key, max_size);
    }
    bool is_silent = false;
  };
  for (const auto* format : {&v2_format(), &v3_format()}) {
    auto memory = std::make_shared<MemoryStore>();
    Hierarchy::create(memory, *format, group_with("root"))->flush();
    const std::string copy = *format->consolidated_key("");
    const std::string before(memory->get(copy, kNoSizeLimit)->text());
    auto store = std::make_shared<Silent>(memory);
    Hierarchy hierarchy(store, {.is_writable = true});
    hierarchy.update_node("", becomes(group_with("changed")));
    store->is_silent = true;
    EXPECT_ERROR(hierarchy.flush(), "no answer");
    EXPECT_EQ(memory->get(copy, kNoSizeLimit)->text(), before);
    store->is_silent = false;
    hierarchy.flush();
    const Hierarchy reader(memory);
    EXPECT_TRUE(reader.is_consolidated());
    EXPECT_EQ(std::get<GroupMetadata>(*reader.node("")).attributes["title"], "changed");
  }
}

TEST(ConsolidatedChanges, ARenamedGroupKeepsItsOwnConsolidatedMetadata) {
  for (const auto* format : {&v2_format(), &v3_format()}) {
    const TemporaryFolder folder;
    const auto store = std::make_shared<FileSystemStore>(folder.path() / "store");
    const auto whole = nested_groups(store, *format);
    const auto part = [&](const char* name) {
      return std::make_shared<FileSystemStore>(folder.path() / "store" / name);
    };
    Hierarchy(part("g"), {.is_writable = true}).consolidate();
    whole->update_node("g/h", becomes(group_with("changed")));
    whole->flush_node("g/h");
    whole->rename_node("g", "moved");
    whole->flush();
    EXPECT_TRUE(Hierarchy(store).is_consolidated());
    EXPECT_TRUE(Hierarchy(part("moved")).is_consolidated());
  }
}

}  // namespace
}  // namespace zarrcore::test::consolidated_changes_test
