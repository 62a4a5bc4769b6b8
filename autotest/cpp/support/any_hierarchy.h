// A hierarchy of either format in a folder, in memory or in a store without versions.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "autotest/cpp/support/documents.h"
#include "autotest/cpp/support/observed_store.h"
#include "autotest/cpp/support/temporary_folder.h"
#include "zarrcore/hierarchy/hierarchy.h"
#include "zarrcore/metadata/format.h"
#include "zarrcore/store/file_system_store.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test {

inline GroupMetadata group_with(const std::string& title) {
  GroupMetadata group;
  group.attributes["title"] = title;
  return group;
}

inline std::function<void(NodeMetadata&)> becomes(NodeMetadata metadata) {
  return [metadata = std::move(metadata)](NodeMetadata& node) { node = metadata; };
}

enum class Place { folder, memory, remote };

// Both formats that have groups and consolidated metadata.
struct HierarchyCase {
  const Format& (*format)();
  Place place;
  bool is_consolidated;
};

class AnyHierarchy : public testing::TestWithParam<HierarchyCase> {
 protected:
  AnyHierarchy() {
    if (GetParam().place == Place::folder) {
      store_ = std::make_shared<FileSystemStore>(folder_.path() / "store");
    } else {
      store_ = std::make_shared<MemoryStore>();
      // It knows no versions.
      if (GetParam().place == Place::remote) store_ = std::make_shared<StoreWrapper>(store_);
    }
    hierarchy_ = Hierarchy::create(store_, format(), group_with("root"), options());
  }

  const Format& format() const { return GetParam().format(); }
  HierarchyOptions options() const {
    HierarchyOptions options;
    options.use_consolidated = GetParam().is_consolidated;
    return options;
  }

  ArrayMetadata array(const std::string& path) const {
    ArrayMetadata metadata;
    metadata.shape = {4};
    metadata.chunk_shape = {2};
    metadata.data_type = {TypeKind::unsigned_integer, 1};
    metadata.codecs = {{"bytes"}};
    metadata.fill_value = std::vector<std::byte>{std::byte{7}};
    metadata.dimension_names = {std::nullopt};
    metadata.chunk_prefix = path;
    if (&format() == &v2_format()) {
      metadata.chunk_key_encoding = {ChunkKeyEncoding::Kind::v2, '.'};
    } else {
      metadata.chunk_key_encoding = {ChunkKeyEncoding::Kind::default_, '/'};
      metadata.fill_value_is_mandatory = true;
      metadata.fill_value_attribute_is_base64 = true;
    }
    return metadata;
  }

  std::string title(const Hierarchy& hierarchy, const std::string& path) const {
    const auto node = hierarchy.node(path);
    if (!node) return "(none)";
    const Json& attributes =
        std::visit([](const auto& n) -> const Json& { return n.attributes; }, *node);
    return attributes.value("title", "(untitled)");
  }

  // Expects what opening the store now finds, with consolidated metadata and without.
  void expect_found(const std::string& path, const std::string& expected) {
    EXPECT_EQ(title(*hierarchy_, path), expected) << path;
    for (const bool use_consolidated : {true, false}) {
      HierarchyOptions options;
      options.use_consolidated = use_consolidated;
      EXPECT_EQ(title(Hierarchy(store_, options), path), expected)
          << path << " consolidated: " << use_consolidated;
    }
  }

  bool is_consolidated_now() const { return Hierarchy(store_).is_consolidated(); }

  TemporaryFolder folder_;
  std::shared_ptr<Store> store_;
  std::unique_ptr<Hierarchy> hierarchy_;
};

inline auto hierarchy_cases() {
  return testing::Values(
      HierarchyCase{v2_format, Place::folder, true}, HierarchyCase{v2_format, Place::memory, false},
      HierarchyCase{v2_format, Place::remote, true}, HierarchyCase{v3_format, Place::folder, true},
      HierarchyCase{v3_format, Place::memory, false},
      HierarchyCase{v3_format, Place::remote, true});
}

}  // namespace zarrcore::test
