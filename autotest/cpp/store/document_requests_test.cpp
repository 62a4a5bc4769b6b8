#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "zarrcore/base/error.h"
#include "zarrcore/store/requests.h"
#include "zarrcore/store/store.h"

namespace zarrcore::test::document_requests_test {
namespace {

void run_in_turn(std::size_t count, std::size_t /*at_once*/,
                 const std::function<void(std::size_t i)>& body) {
  for (std::size_t i = 0; i < count; ++i) body(i);
}

// The message of what find() throws, to which the caller adds the key.
template <typename Thrown>
std::string message_of(const DocumentRequests& requests, const std::string& key) {
  try {
    with_context(key, [&] { return requests.find(key); });
  } catch (const Thrown& error) {
    return error.what();
  }
  return "another error or none";
}

// Callers add what they know to the message, each to a message of its own.
TEST(DocumentRequests, AnErrorIsTheSameForAllWhoAsk) {
  DocumentRequests requests;
  const auto kept = requests.request({"absent", "broken", "denied", "page", "replaced"}, 1,
                                     run_in_turn, [](const std::string& key) -> DocumentText {
                                       if (key == "denied") throw AccessDenied("not for you");
                                       if (key == "page") throw NotAValue("a page");
                                       if (key == "replaced") throw ValueChanged();
                                       if (key == "broken") throw Error("no answer");
                                       return nullptr;
                                     });
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(message_of<AccessDenied>(requests, "denied"), "denied: not for you");
    EXPECT_EQ(message_of<NotAValue>(requests, "page"), "page: a page");
    EXPECT_TRUE(message_of<ValueChanged>(requests, "replaced").starts_with("replaced: another"));
  }
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 100; ++j) {
        EXPECT_EQ(message_of<Error>(requests, "broken"), "broken: no answer");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(requests.find("absent"), std::optional<DocumentText>(nullptr));
  EXPECT_FALSE(requests.find("never requested"));
}

}  // namespace
}  // namespace zarrcore::test::document_requests_test
