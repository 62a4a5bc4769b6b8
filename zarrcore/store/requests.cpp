#include "zarrcore/store/requests.h"

#include <algorithm>

#include "zarrcore/base/error.h"
#include "zarrcore/store/store.h"

namespace zarrcore {
namespace {

// Throws a copy, because callers add what they know to its message.
[[noreturn]] void throw_copy(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const NotAValue& copied) {
    throw NotAValue(copied);
  } catch (const AccessDenied& copied) {
    throw AccessDenied(copied);
  } catch (const ValueChanged& copied) {
    throw ValueChanged(copied);
  } catch (const AccessFailure& copied) {
    throw AccessFailure(copied);
  } catch (const Error& copied) {
    throw Error(copied);
  }
}

}  // namespace

DocumentRequests::AnswerScope DocumentRequests::request(
    const std::vector<std::string>& keys, std::size_t at_once, const RunTogether& run,
    const std::function<DocumentText(const std::string& key)>& get) {
  std::vector<std::string> missing;
  {
    const std::lock_guard lock(mutex_);
    std::copy_if(keys.begin(), keys.end(), std::back_inserter(missing),
                 [this](const std::string& key) { return !answers_.contains(key); });
  }
  std::sort(missing.begin(), missing.end());
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
  std::vector<std::shared_ptr<const Answer>> answers(missing.size());
  run(missing.size(), at_once, [&](std::size_t i) {
    Answer answer;
    try {
      answer.text = get(missing[i]);
    } catch (...) {
      answer.error = std::current_exception();
    }
    answers[i] = std::make_shared<const Answer>(std::move(answer));
  });
  Answers own;
  for (std::size_t i = 0; i < missing.size(); ++i) own.emplace(missing[i], answers[i]);
  AnswerScope scope(this, [own](DocumentRequests* owner) {
    const std::lock_guard lock(owner->mutex_);
    std::erase_if(owner->answers_, [&](const auto& item) {
      const auto it = own.find(item.first);
      return it != own.end() && it->second == item.second;
    });
  });
  const std::lock_guard lock(mutex_);
  for (const auto& [key, answer] : own) answers_.insert_or_assign(key, answer);
  return scope;
}

std::optional<DocumentText> DocumentRequests::find(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto it = answers_.find(key);
  if (it == answers_.end()) return std::nullopt;
  if (it->second->error) throw_copy(it->second->error);
  return it->second->text;
}

}  // namespace zarrcore
