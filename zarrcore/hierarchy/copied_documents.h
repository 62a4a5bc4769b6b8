// The documents in consolidated metadata.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/metadata/format.h"

namespace zarrcore {

// The documents in the consolidated metadata of a hierarchy. Safe to use from several threads at
// once.
class CopiedDocuments {
 public:
  // Reads the consolidated metadata in `own`, the documents of the store. Throws Error if it is
  // broken, and then counts as not existing. Returns false if there is no consolidated metadata.
  bool read(const Format& format, const DocumentSource& own);
  // Reads it again. Throws Error if it is broken. Returns false if it no longer exists but
  // `may_have_ended` is false: the documents read earlier then stay.
  bool read_again(const Format& format, const DocumentSource& own, bool may_have_ended);
  // The next call of find() reads it, and reports to `on_problem` if it is broken.
  void read_later() { is_unread_ = true; }
  bool find(const Format& format, const DocumentSource& own,
            const std::function<void(const std::string& problem)>& on_problem);

  bool exist() const;
  bool may_exist() const;
  // Messages about documents that were left out.
  std::vector<std::string> problems() const;
  // A view of them, which must not outlive this object.
  DocumentSource source() const;

  // All at or below `path` has been removed.
  void forget(std::string_view path);
  // It has been removed, whether it has been read or not.
  void drop();

 private:
  std::mutex reading_mutex_;
  mutable std::mutex mutex_;  // guards the following
  std::optional<ConsolidatedDocuments> documents_;
  bool is_unread_ = false;
};

}  // namespace zarrcore
