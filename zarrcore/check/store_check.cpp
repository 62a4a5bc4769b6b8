#include "zarrcore/check/store_check.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "zarrcore/array/stored_chunks.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/check/chunk_check.h"
#include "zarrcore/hierarchy/consolidated_copies.h"
#include "zarrcore/hierarchy/documents.h"

namespace zarrcore {
namespace {

// Of the values that belong to no node, how many are named.
constexpr std::size_t kMaxNamedForeign = 20;
constexpr std::uint64_t kValuesBetweenCalls = 1024;

// An error of an array without what every message about this store begins with.
std::string without_store(std::string_view problem, const Store& store) {
  const std::string start = store.description() + ": ";
  if (problem.starts_with(start)) problem.remove_prefix(start.size());
  return std::string(problem);
}

std::uint64_t chunks_of_grid(const ChunkGrid& grid) {
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < grid.rank(); ++i) count *= grid.dimension(i).chunk_count();
  return count;  // a grid has at most 2^63
}

// The documents as this format writes those of the node that `documents` describe: other writers
// may state defaults, or leave them out.
DocumentMap rewritten(const Format& format, const DocumentMap& documents, const std::string& path) {
  const auto node = format.read_node(documents_in(documents), path);
  DocumentMap result;
  if (!node) return result;
  const auto* array = std::get_if<ArrayMetadata>(&*node);
  for (Document& document : array != nullptr
                                ? format.array_documents(*array, path)
                                : format.group_documents(std::get<GroupMetadata>(*node), path)) {
    document.content.erase("consolidated_metadata");
    result.emplace(std::move(document.key), std::move(document.content));
  }
  return result;
}

// NaN is equal to NaN, unlike in a comparison of values.
bool are_equal(const Json& a, const Json& b) {
  return a == b || dump_json(a) == dump_json(b);
}

bool are_alike(const Format& format, const DocumentMap& a, const DocumentMap& b,
               const std::string& path) {
  bool result = false;
  const auto is_same = [](const auto& one, const auto& other) {
    return one.first == other.first && are_equal(one.second, other.second);
  };
  fault_of([&] {
    result = std::ranges::equal(rewritten(format, a, path), rewritten(format, b, path), is_same);
  });
  return result;
}

bool is_empty_object(const Json& document) {
  return document.is_object() && document.empty();
}

class Examination {
 public:
  Examination(const Hierarchy& hierarchy, std::shared_ptr<Context> context,
              const ExamineOptions& options)
      : hierarchy_(hierarchy),
        format_(hierarchy.format()),
        store_(*hierarchy.store()),
        context_(std::move(context)),
        options_(options),
        chunks_(store_, context_, options_) {}

  ExaminedStore run() {
    examine_nodes();
    examine_values();
    chunks_.finish();
    for (std::size_t i = 0; i < examined_.arrays.size(); ++i) {
      report(examined_.arrays[i], chunks_.result(i));
    }
    std::stable_sort(examined_.findings.begin(), examined_.findings.end(),
                     [](const Finding& a, const Finding& b) {
                       return std::tie(a.kind, a.place) < std::tie(b.kind, b.place);
                     });
    return std::move(examined_);
  }

 private:
  void add(Finding::Kind kind, std::string place, std::string_view problem) {
    examined_.findings.push_back({kind, std::move(place), without_store(problem, store_)});
  }

  void examine_nodes();
  void use_node(const std::string& path, StoredNode node);
  void examine_copy(const DocumentSource& stored, const std::string& group,
                    const DocumentMap& documents);
  void add_array(const std::string& path, const ArrayMetadata& metadata);
  void examine_values();
  void use_value(std::string_view key, std::optional<std::uint64_t> size);
  // The position among the arrays of the one whose chunks have the key's prefix.
  std::optional<std::size_t> find_array_of(std::string_view key) const;
  std::string_view find_leftover(std::string_view path) const;
  bool is_leftover(std::string_view path);
  bool is_below_broken(std::string_view key) const;
  void report(ExaminedArray& array, const ChunkCheck::Result& result);

  const Hierarchy& hierarchy_;
  const Format& format_;
  Store& store_;
  std::shared_ptr<Context> context_;
  const ExamineOptions& options_;
  ExaminedStore examined_;
  ChunkCheck chunks_;
  std::unordered_map<std::string, std::size_t> by_prefix_;  // arrays, by the prefix of their chunks
  std::map<std::string, std::string, std::less<>> nodes_;   // by the keys of their documents
  std::vector<std::string> broken_;                         // nodes, of which nothing is known
  std::uint64_t values_ = 0;
  double expected_ = 0;  // chunks of all grids
};

void Examination::examine_nodes() {
  const DocumentSource stored = stored_documents(store_);
  DocumentMap documents;
  visit_stored_nodes(
      stored, format_, "",
      [&](const std::string& path, StoredNode node) {
        const bool is_node = node.metadata || !node.problem.empty();
        if (is_node && is_leftover(path)) return;
        documents.insert(node.documents.begin(), node.documents.end());
        use_node(path, std::move(node));
      },
      options_.run_together);
  for (const std::string& group : examined_.groups) examine_copy(stored, group, documents);
  examined_.lacks_copy = ConsolidatedCopies::has_note_in(store_);
  if (examined_.lacks_copy) {
    add(Finding::Kind::copy, "",
        "consolidated metadata was removed for a change that has not ended");
  }
}

// Compares the consolidated metadata of a group with `documents`, which are those of all nodes.
void Examination::examine_copy(const DocumentSource& stored, const std::string& group,
                               const DocumentMap& documents) {
  const auto key = format_.consolidated_key(group);
  if (!key) return;
  const auto report_problem = [&](const std::string& problem) {
    add(Finding::Kind::copy, *key, problem);
  };
  std::optional<ConsolidatedDocuments> copy;
  if (const auto fault = fault_of([&] { copy = format_.read_consolidated(stored, group); })) {
    examined_.consolidated.push_back(group);
    report_problem(*fault);
    // It may describe any of them otherwise.
    for (ExaminedArray& array : examined_.arrays) array.has_other_copy = true;
  }
  if (!copy) return;
  examined_.consolidated.push_back(group);
  for (const std::string& problem : copy->problems) report_problem(problem);
  DocumentMap copied;
  for (const auto& [name, document] : copy->documents) {
    if (const auto fault = fault_of([&] { copied.emplace(name, document.get()); })) {
      report_problem("its copy of " + name + " is not right: " + *fault);
    }
  }
  std::set<std::string> compared;   // paths of nodes
  std::set<std::string> differing;  // that it describes otherwise than their documents do
  for (const auto& [name, document] : copied) {
    const auto own = documents.find(name);
    if (own == documents.end()) {
      // Writers copy the empty attributes of a node without a document of attributes.
      if (!is_empty_object(document)) {
        report_problem("it has a copy of " + name + ", which does not exist");
      }
    } else if (!are_equal(document, own->second)) {
      const std::string& path = nodes_.at(name);
      if (compared.insert(path).second && !are_alike(format_, documents, copied, path)) {
        report_problem("its copy of " + name + " differs from the document");
        differing.insert(path);
      }
    }
  }
  for (const auto& [name, document] : documents) {
    if (is_at_or_below(name, group) && !copy->documents.contains(name) &&
        !is_empty_object(document)) {
      report_problem("it has no copy of " + name);
    }
  }
  for (ExaminedArray& array : examined_.arrays) {
    array.has_other_copy = array.has_other_copy || differing.contains(array.path);
  }
}

// Such as "a/b.gdal-zarr-new" of a key below it; empty if there is no such name in the path.
std::string_view Examination::find_leftover(std::string_view path) const {
  for (std::size_t end = 0; end < path.size(); ++end) {
    end = std::min(path.find('/', end), path.size());
    const std::string_view node = path.substr(0, end);
    const auto ends_node = [&](std::string_view ending) { return node.ends_with(ending); };
    if (std::ranges::any_of(options_.temporary_names, ends_node)) return node;
  }
  return {};
}

bool Examination::is_leftover(std::string_view path) {
  const std::string_view leftover = find_leftover(path);
  if (!leftover.empty()) examined_.leftovers.emplace(leftover);
  return !leftover.empty();
}

void Examination::use_node(const std::string& path, StoredNode node) {
  for (std::string& key : format_.node_keys(path)) nodes_.emplace(std::move(key), path);
  if (auto key = format_.consolidated_key(path)) nodes_.emplace(std::move(*key), path);
  if (!node.problem.empty()) {
    if (node.unreadable.empty()) node.unreadable.push_back(node.problem);
    for (const std::string& problem : node.unreadable) add(Finding::Kind::document, path, problem);
    broken_.push_back(path);
  } else if (!node.metadata) {
    // Another folder, whose values belong to no node.
  } else if (const auto* array = std::get_if<ArrayMetadata>(&*node.metadata)) {
    add_array(path, *array);
  } else {
    examined_.groups.push_back(path);
  }
}

void Examination::add_array(const std::string& path, const ArrayMetadata& metadata) {
  std::shared_ptr<const Array> array;
  if (const auto fault = fault_of([&] { array = hierarchy_.open_array(path, context_); })) {
    add(Finding::Kind::document, path, *fault);
    broken_.push_back(path);
    return;
  }
  ExaminedArray examined{.path = path, .metadata = metadata};
  examined.grid_chunks = chunks_of_grid(array->state().grid);
  if (!options_.counts_bytes) examined.bytes = std::nullopt;
  expected_ += static_cast<double>(examined.grid_chunks);
  by_prefix_.emplace(metadata.chunk_prefix, chunks_.add_array(std::move(array)));
  examined_.arrays.push_back(std::move(examined));
}

void Examination::examine_values() {
  const auto use = [this](std::string_view key, std::optional<std::uint64_t> size) {
    use_value(key, size);
    if (++values_ % kValuesBetweenCalls == 0) options_.progress(values_, expected_);
  };
  const auto wants_size = [this](std::string_view key) {
    const auto number = options_.counts_bytes ? std::nullopt : find_array_of(key);
    return options_.counts_bytes || (number && chunks_.reads_indexes(*number));
  };
  store_.visit_values("", use, {.with_temporary_files = true, .wants_size = wants_size});
  const auto is_stored = [this](const auto& node) { return store_.has(node.first); };
  if (values_ == 0 && std::ranges::any_of(nodes_, is_stored)) {
    throw AccessFailure(store_.description() + " does not list its values");
  }
  for (const std::string& path : examined_.leftovers) {
    add(Finding::Kind::leftover, path, "an interrupted change of the layout has left this");
  }
}

std::optional<std::size_t> Examination::find_array_of(std::string_view key) const {
  for (std::string prefix(key); !prefix.empty();) {
    const std::size_t slash = prefix.rfind('/');
    prefix.resize(slash == std::string::npos ? 0 : slash);
    if (const auto it = by_prefix_.find(prefix); it != by_prefix_.end()) return it->second;
  }
  return std::nullopt;
}

bool Examination::is_below_broken(std::string_view key) const {
  return std::any_of(broken_.begin(), broken_.end(),
                     [&](const std::string& path) { return is_at_or_below(key, path); });
}

void Examination::use_value(std::string_view key, std::optional<std::uint64_t> size) {
  if (is_leftover(key)) return;
  if (key.ends_with(kTemporarySuffix)) {
    examined_.temporary_files.emplace_back(key);
    return;
  }
  if (nodes_.contains(key) || is_below_broken(key)) return;
  if (const auto position = find_array_of(key)) {
    ExaminedArray& array = examined_.arrays[*position];
    if (const auto chunk = chunk_of_key(array.metadata, key)) {
      if (!is_in_grid(*chunk, chunks_.array(*position).state().grid)) {
        array.outside.emplace_back(key);
        return;
      }
      ++array.chunks;
      if (!array.first_chunk) array.first_chunk = chunk;
      array.bytes = array.bytes && size ? std::optional(*array.bytes + *size) : std::nullopt;
      chunks_.add({*position, *chunk, size});
      return;
    }
  }
  if (key == ConsolidatedCopies::kNoteKey) return;
  ++examined_.foreign_values;
  if (examined_.first_foreign.size() < kMaxNamedForeign) examined_.first_foreign.emplace_back(key);
}

void Examination::report(ExaminedArray& array, const ChunkCheck::Result& result) {
  array.inner_chunks = result.inner_chunks;
  for (const Finding& finding : result.findings) add(finding.kind, finding.place, finding.problem);
  if (array.outside.empty()) return;
  const std::string first = *std::min_element(array.outside.begin(), array.outside.end());
  const std::size_t others = array.outside.size() - 1;
  add(Finding::Kind::leftover, first,
      "this chunk is outside of the array's shape" +
          (others == 0 ? std::string() : ", and so are " + std::to_string(others) + " others"));
}

}  // namespace

std::string_view name_of(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::document:
      return "document";
    case Finding::Kind::copy:
      return "copy";
    case Finding::Kind::leftover:
      return "leftover";
    case Finding::Kind::index:
      return "index";
    case Finding::Kind::chunk:
      return "chunk";
    case Finding::Kind::convention:
      return "convention";
  }
  return "";
}

ExaminedStore examine_store(const Hierarchy& hierarchy, const std::shared_ptr<Context>& context,
                            const ExamineOptions& options) {
  return Examination(hierarchy, context, options).run();
}

}  // namespace zarrcore
