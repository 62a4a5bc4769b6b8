#include "zarrcore/hierarchy/node_cache.h"

#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace zarrcore {

bool CopiedDocuments::read(const Format& format, const DocumentSource& own) {
  std::optional<ConsolidatedDocuments> documents;
  try {
    documents = format.read_consolidated(own, "");
  } catch (...) {
    drop();
    throw;
  }
  const std::lock_guard lock(mutex_);
  documents_ = std::move(documents);
  is_unread_ = false;
  return documents_.has_value();
}

bool CopiedDocuments::read_again(const Format& format, const DocumentSource& own,
                                 bool may_have_ended) {
  std::optional<ConsolidatedDocuments> documents = format.read_consolidated(own, "");
  if (!documents && !may_have_ended) return false;
  const std::lock_guard lock(mutex_);
  documents_ = std::move(documents);
  return true;
}

bool CopiedDocuments::find(const Format& format, const DocumentSource& own,
                           const std::function<void(const std::string& problem)>& on_problem) {
  const std::lock_guard one_at_a_time(reading_mutex_);
  {
    const std::lock_guard lock(mutex_);
    if (!is_unread_) return documents_.has_value();
  }
  try {
    return read(format, own);
  } catch (const Error& error) {
    on_problem(std::string(error.what()) + "; it is not used");
    return false;
  }
}

bool CopiedDocuments::exist() const {
  const std::lock_guard lock(mutex_);
  return documents_.has_value();
}

bool CopiedDocuments::may_exist() const {
  const std::lock_guard lock(mutex_);
  return documents_ || is_unread_;
}

std::vector<std::string> CopiedDocuments::problems() const {
  const std::lock_guard lock(mutex_);
  return documents_ ? documents_->problems : std::vector<std::string>();
}

DocumentSource CopiedDocuments::source() const {
  const auto document = [this](const std::string& key) -> std::optional<Json> {
    const std::lock_guard lock(mutex_);
    if (!documents_) return std::nullopt;
    const auto it = documents_->documents.find(key);
    if (it == documents_->documents.end()) return std::nullopt;
    return with_context({"consolidated metadata: ", key},
                        [&] { return std::make_optional(it->second.get()); });
  };
  const auto no_text = [](const std::string& /*key*/) { return nullptr; };
  const auto list = [this](const std::string& prefix) {
    const std::lock_guard lock(mutex_);
    return documents_ ? list_sorted(prefix, documents_->documents) : DirectoryListing();
  };
  const auto has = [this](const std::string& key) {
    const std::lock_guard lock(mutex_);
    return documents_ && documents_->documents.contains(key);
  };
  return {document, no_text, has, list};
}

void CopiedDocuments::forget(std::string_view path) {
  const std::lock_guard lock(mutex_);
  if (!documents_) return;
  std::erase_if(documents_->documents,
                [&](const auto& item) { return is_at_or_below(item.first, path); });
}

void CopiedDocuments::drop() {
  const std::lock_guard lock(mutex_);
  documents_.reset();
  is_unread_ = false;
}

}  // namespace zarrcore
