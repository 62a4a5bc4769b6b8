// Whatever a server answers, each request of a store gets the right bytes or an error that names
// the value and what is wrong with the answer, without passwords and tokens.
//
// A whole value can have the wrong size: readers of documents and chunks check it.
#include <cpl_conv.h>
#include <cpl_vsi.h>
#include <gtest/gtest.h>

#include <atomic>
#include <climits>
#include <cstdlib>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/night.h"
#include "autotest/driver/cpp/hostile_answers.h"
#include "autotest/driver/cpp/hostile_rows.h"
#include "autotest/driver/cpp/store_requests.h"
#include "driver/gdal/config_options.h"
#include "driver/stores/vsi/absent_keys.h"
#include "driver/stores/vsi/http_client.h"
#include "driver/stores/vsi/http_options.h"
#include "driver/stores/vsi/vsi_store.h"

namespace gdal_zarr::test::hostile_server_test {
namespace {

using test::HostileRow;
using test::ScriptedServer;
using test::StoreRequest;
using test::ValueRequest;

const std::string kRight = "right";

// The same store over GDAL's file systems, as far as the store of HTTP needs it.
class FileSystem final : public zarrcore::Store {
 public:
  std::optional<zarrcore::Buffer> get(std::string_view /*key*/,
                                      std::uint64_t /*max_size*/) override {
    was_asked_ = true;
    return zarrcore::Buffer::copy_of(test::served_value());
  }
  bool erase(std::string_view /*key*/, const zarrcore::EraseOptions& /*options*/) override {
    return true;
  }
  void refresh(std::optional<std::string_view> /*key*/) override { absent_->clear(); }
  zarrcore::DirectoryListing list(std::string_view /*prefix*/,
                                  const zarrcore::ListOptions& /*options*/) override {
    return {};
  }
  std::string description() const override { return "/vsicurl/http://127.0.0.1/x.zarr"; }

  bool was_asked() const { return was_asked_; }
  const std::shared_ptr<AbsentKeys>& absent() const { return absent_; }

 private:
  std::shared_ptr<AbsentKeys> absent_ = std::make_shared<AbsentKeys>(nullptr);
  std::atomic<bool> was_asked_{false};
};

// A server that gives some answer to a request, at most `max_hits` times, and a store on it.
class HostileServer {
 public:
  HostileServer(const std::string& answer, const StoreRequest& request, bool shares_connections,
                int max_hits = INT_MAX)
      : request_(request),
        shares_connections_(config_option_name(ConfigOption::share_connections),
                            shares_connections ? "YES" : "NO", false),
        max_hits_(max_hits),
        server_([this, hostile = test::hostile_answers().at(answer)](const std::string& text) {
          const ValueRequest wanted(text, test::served_value());
          const bool is_hit = request_.is_hit == nullptr || request_.is_hit(wanted);
          if (!is_hit || hits_ >= max_hits_) return wanted.honest_answer();
          ++hits_;
          return hostile(wanted);
        }),
        store_(make_http_store(*HttpFolder::parse("/vsicurl/http://me:Secret@" + server_.host() +
                                                  "/x.zarr?token=Secret"),
                               file_system_, nullptr, file_system_->absent())) {}

  std::string outcome() {
    const std::string found = request_.outcome(*store_);
    return file_system_->was_asked() ? found + ", from GDAL's file system" : found;
  }
  void become_honest() { max_hits_ = 0; }

  zarrcore::Store& store() { return *store_; }
  int hits() const { return hits_; }

 private:
  const StoreRequest& request_;
  CPLConfigOptionSetter shares_connections_;
  std::atomic<int> hits_{0};
  std::atomic<int> max_hits_;
  ScriptedServer server_;
  std::shared_ptr<FileSystem> file_system_ = std::make_shared<FileSystem>();
  std::shared_ptr<zarrcore::Store> store_;
};

// With each request, over connections that are shared or not.
class HostileAnswers : public testing::TestWithParam<std::tuple<std::size_t, bool>> {
 protected:
  void SetUp() override {
    setenv("no_proxy", "127.0.0.1,localhost", 1);
    if (shares_connections() && !can_share()) {
      GTEST_SKIP() << "libcurl of GDAL cannot be used directly";
    }
  }
  void TearDown() override { close_shared_connections(); }

  static bool can_share() {
    return make_shared_connections(*HttpFolder::parse("/vsicurl/http://127.0.0.1/x")) != nullptr;
  }
  static const StoreRequest& request() { return test::store_requests()[std::get<0>(GetParam())]; }
  static bool shares_connections() { return std::get<1>(GetParam()); }
  static const std::vector<HostileRow>& rows() { return test::hostile_rows(shares_connections()); }
};

bool matches(const std::string& text, const std::string& pattern) {
  return std::regex_match(text, std::regex(pattern));
}

bool is_slow(const HostileRow& row) {
  return row.answer == std::string("drip");
}

TEST(HostileRows, HaveAllAnswers) {
  std::set<std::string> in_rows;
  std::set<std::string> all;
  for (const HostileRow& row : test::hostile_rows(true)) in_rows.insert(row.answer);
  for (const auto& [name, answer] : test::hostile_answers()) all.insert(name);
  EXPECT_EQ(in_rows, all);
}

TEST_P(HostileAnswers, GiveTheRightBytesOrAnErrorThatSaysWhatIsWrong) {
  for (int round = 0; round < zarrcore::rounds(1, 50); ++round) {
    for (const HostileRow& row : rows()) {
      if (is_slow(row)) continue;
      HostileServer server(row.answer, request(), shares_connections());
      const std::string found = server.outcome();
      EXPECT_TRUE(matches(found, row.outcome_of(request()))) << row.answer << ": " << found;
      EXPECT_EQ(found.find("Secret"), std::string::npos) << found;
      EXPECT_GT(server.hits(), 0) << row.answer;
    }
  }
}

TEST_P(HostileAnswers, LeaveTheNextAnswerAsItIs) {
  for (const HostileRow& row : rows()) {
    if (is_slow(row)) continue;
    HostileServer server(row.answer, request(), shares_connections());
    server.outcome();
    server.become_honest();
    server.store().refresh();
    EXPECT_EQ(test::store_requests()[0].outcome(server.store()), kRight) << row.answer;
  }
}

TEST_P(HostileAnswers, ThatMayPassAreRequestedAgain) {
  for (const HostileRow& row : rows()) {
    if (is_slow(row)) continue;
    const CPLConfigOptionSetter delay("GDAL_HTTP_RETRY_DELAY", "0", false);
    const std::string& outcome = row.outcome_of(request());
    const bool passes = row.may_pass(request());
    HostileServer once(row.answer, request(), shares_connections());
    once.outcome();
    const CPLConfigOptionSetter retries("GDAL_HTTP_MAX_RETRY", "1", false);
    HostileServer twice(row.answer, request(), shares_connections(), passes ? 1 : INT_MAX);
    const std::string found = twice.outcome();
    EXPECT_TRUE(matches(found, passes ? kRight : outcome)) << row.answer << ": " << found;
    EXPECT_EQ(twice.hits(), passes ? 1 : once.hits()) << row.answer;
  }
}

std::string name_of(const testing::TestParamInfo<HostileAnswers::ParamType>& parameter) {
  std::string name = test::store_requests()[std::get<0>(parameter.param)].name;
  std::erase(name, ' ');
  return name + (std::get<1>(parameter.param) ? "_shared" : "_alone");
}

INSTANTIATE_TEST_SUITE_P(Requests, HostileAnswers,
                         testing::Combine(testing::Range(std::size_t{0},
                                                         test::store_requests().size()),
                                          testing::Bool()),
                         name_of);

// All requests at once, as each takes the time after which it is too slow.
TEST(SlowAnswers, AreErrors) {
  setenv("no_proxy", "127.0.0.1", 1);
  std::vector<std::thread> threads;
  for (const StoreRequest& request : test::store_requests()) {
    for (const bool shares_connections : {false, true}) {
      threads.emplace_back([&request, shares_connections] {
        const CPLConfigOptionSetter time("GDAL_HTTP_LOW_SPEED_TIME", "1", false);
        const CPLConfigOptionSetter limit("GDAL_HTTP_LOW_SPEED_LIMIT", "100", false);
        HostileServer server("drip", request, shares_connections);
        const std::string found = server.outcome();
        EXPECT_TRUE(matches(found, "Error: Operation too slow.*")) << request.name << ": " << found;
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
  close_shared_connections();
}

// An index that was cached may be one of a larger value, which another program has replaced.
TEST(RangesBeyondTheEnd, MeanThatTheValueWasReplacedUnlessItsSizeIsKnown) {
  setenv("no_proxy", "127.0.0.1", 1);
  HostileServer server("416", test::store_requests()[0], true);
  const auto range = zarrcore::ByteRange::at(50, 40);
  const auto of_value = range.of_value(200);
  EXPECT_THROW(server.store().open(test::kKey)->get_ranges({&range, 1}), zarrcore::ValueChanged);
  EXPECT_ERROR(server.store().open(test::kKey)->get_ranges({&of_value, 1}),
               "HTTP response code: 416");
  close_shared_connections();
}

}  // namespace
}  // namespace gdal_zarr::test::hostile_server_test
