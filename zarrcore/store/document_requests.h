// Requests for documents of slow stores: several at once instead of one after the other. The
// answers are cached only while the returned object exists: later requests get the present
// documents.
#pragma once

#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/process.h"

namespace zarrcore {

// Calls `body(i)` for every i below `count`, up to `at_once` of them at the same time, and waits
// for all calls.
using RunTogether = std::function<void(std::size_t count, std::size_t at_once,
                                       const std::function<void(std::size_t i)>& body)>;

// The text of a document; null if it does not exist.
using DocumentText = std::shared_ptr<const Buffer>;

// Safe to use from several threads at once.
class DocumentRequests {
 private:
  struct Answer {
    DocumentText text;
    std::exception_ptr error;
  };
  using Answers = std::map<std::string, std::shared_ptr<const Answer>>;

 public:
  // Keeps the answers to requests until it is destroyed.
  class AnswerScope {
   public:
    AnswerScope() = default;
    AnswerScope(AnswerScope&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)), answers_(std::move(other.answers_)) {}
    ~AnswerScope();
    AnswerScope(const AnswerScope&) = delete;
    AnswerScope& operator=(const AnswerScope&) = delete;
    AnswerScope& operator=(AnswerScope&&) = delete;

   private:
    friend DocumentRequests;
    DocumentRequests* owner_ = nullptr;
    Answers answers_;
  };

  // Calls `get` for each key that has no answer, for up to `at_once` keys at the same time. An
  // exception of `get` is stored as the answer: one document that cannot be read does not hide the
  // others.
  AnswerScope request(const std::vector<std::string>& keys, std::size_t at_once,
                      const RunTogether& run,
                      const std::function<DocumentText(const std::string& key)>& get);

  // Returns the answer for a key; nullopt if there is none. Throws the exception of the request.
  std::optional<DocumentText> find(const std::string& key) const;

 private:
  mutable ForkMutex mutex_;
  Answers answers_;
};

}  // namespace zarrcore
