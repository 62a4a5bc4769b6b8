#include "zarrcore/metadata/format.h"

#include <array>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/metadata/draft.h"
#include "zarrcore/metadata/v1.h"
#include "zarrcore/metadata/v2.h"
#include "zarrcore/metadata/v3.h"

namespace zarrcore {

void add_consolidated(ConsolidatedDocuments& consolidated, std::string_view group,
                      std::string_view name, std::string_view file_name, LazyDocument document) {
  try {
    const std::string path = join_path(group, normalize_path(name));
    consolidated.documents.insert_or_assign(join_path(path, file_name), std::move(document));
  } catch (const Error& error) {
    consolidated.problems.push_back(std::string("consolidated metadata: ") + error.what());
  }
}

std::string Format::document_text(const Json& content) const {
  return dump_json(content, {.indentation = 2, .as_read = true});
}

std::span<const Format* const> formats() {
  static const std::array<const Format*, 4> all{&v3_format(), &v2_format(), &draft_format(),
                                                &v1_format()};
  return all;
}

}  // namespace zarrcore
