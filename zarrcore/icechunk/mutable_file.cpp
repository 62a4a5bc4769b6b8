#include "zarrcore/icechunk/mutable_file.h"

#include <chrono>
#include <exception>

#include "zarrcore/base/json.h"
#include "zarrcore/base/path.h"
#include "zarrcore/icechunk/repository.h"
#include "zarrcore/store/locks.h"

namespace zarrcore::icechunk {
namespace {

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 30;
constexpr std::chrono::seconds kMaxWait{60};

std::unique_ptr<StoreLock> lock_repository(Store& files, LockWait& wait) {
  while (true) {
    try {
      return files.lock("");
    } catch (const LockTimeout&) {
      if (!wait.pause()) throw;
    }
  }
}

bool is_same(const std::optional<Buffer>& a, const Buffer& b) {
  return a && a->text() == b.text();
}

}  // namespace

// So that the newest comes first in listings.
std::string backup_name(std::string_view file) {
  constexpr std::int64_t kLastTime = 32503680000000;
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  return std::string(file) + '.' + std::to_string(kLastTime - now.count()) + '.' +
         id_text(new_id<ObjectId>());
}

void check_can_replace(Store& files) {
  const StoreTraits traits = files.traits();
  if (!traits.read_only_reason.empty()) throw Error(std::string(traits.read_only_reason));
  if (!traits.puts_conditionally) {
    throw Error(
        "the store cannot replace a file on the condition that it has not changed, which changing "
        "a repository takes");
  }
}

void change_file(Store& files, std::string_view key, const ChangeFile& change) {
  check_can_replace(files);
  std::optional<NewContent> put;
  LockWait wait(kMaxWait);
  do {
    const auto lock = lock_repository(files, wait);
    files.refresh(key);
    const auto stored = files.open(key);
    auto content = stored->get(kMaxFileBytes);
    // An answer may have been lost.
    if (put && is_same(content, put->bytes)) return;
    put = change(content);
    if (!put) return;
    if (content && !put->backup.empty()) {
      files.put(join_path("overwritten", put->backup), content->span());
    }
    const ValuePart whole{put->bytes.span()};
    // Programs that do not lock may have replaced the file meanwhile as well.
    const PutOptions options{.expected = content ? stored->version() : ValueVersion::absent(),
                             .has_lock = lock != nullptr,
                             .must_check = true,
                             .durability = Durability::at_once};
    if (options.expected->is_unknown()) throw Error("the store does not know the file's version");
    stored->release();
    try {
      if (files.put_parts(key, {&whole, 1}, options)) return;
    } catch (const Error&) {
      const std::exception_ptr error = std::current_exception();
      files.refresh(key);
      content = files.get(key, kMaxFileBytes);
      if (is_same(content, put->bytes) || !change(content)) return;
      std::rethrow_exception(error);
    }
  } while (wait.pause());
  throw Error("other programs keep changing " + std::string(key));
}

void change_info(Store& files, const ChangeInfo& change) {
  with_context(kRepositoryFile, [&] {
    change_file(files, kRepositoryFile,
                [&](const std::optional<Buffer>& content) -> std::optional<NewContent> {
                  if (!content) throw Error("the file has been removed");
                  RepositoryInfo info(content->span());
                  info.check_online();
                  std::string backup = backup_name(kRepositoryFile);
                  if (!change(info, backup)) return std::nullopt;
                  return NewContent{info.file(), std::move(backup)};
                });
  });
}

void change_ref(Store& files, std::string_view key, const ChangeRef& change) {
  with_context(key, [&] {
    change_file(files, key, [&](const std::optional<Buffer>& content) -> std::optional<NewContent> {
      std::optional<std::string> snapshot;
      if (content) {
        const Json document = parse_json(content->text());
        const std::string* id = find_string(document, "snapshot");
        if (id == nullptr || !is_object_id(*id)) throw Error("it names no snapshot");
        snapshot = *id;
      }
      const auto changed = change(snapshot);
      if (!changed) return std::nullopt;
      return NewContent{Buffer::copy_of(R"({"snapshot":")" + *changed + "\"}")};
    });
  });
}

// Stores that compare versions do so only when they put: another program may have moved the branch
// a moment ago.
void remove_file(Store& files, std::string_view key,
                 const std::function<void(bool exists)>& check) {
  check_can_replace(files);
  LockWait wait(kMaxWait);
  const auto lock = lock_repository(files, wait);
  files.refresh(key);
  check(files.has(key));
  files.erase(key);
}

void put_file(Store& files, std::string_view folder, const ObjectId& id, ByteSpan file) {
  const ValuePart whole{file};
  files.put_parts(join_path(folder, id_text(id)), {&whole, 1},
                  {.durability = Durability::after_flush});
}

}  // namespace zarrcore::icechunk
