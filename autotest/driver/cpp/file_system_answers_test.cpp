// Whatever a server answers to GDAL's own file systems, a store over them gets the right bytes or
// an error that names the value. GDAL decides what is an error, and what it says.
#include <cpl_conv.h>
#include <cpl_error.h>
#include <cpl_vsi.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <set>
#include <string>

#include "autotest/driver/cpp/hostile_answers.h"
#include "autotest/driver/cpp/store_requests.h"
#include "driver/stores/vsi/vsi_store.h"

namespace gdal_zarr::test::file_system_answers_test {
namespace {

// Answers whose body GDAL takes for the value. In a shard, the checksum of the index shows it.
const std::set<std::string> kTaken{"page", "error with the status 200", "unasked gzip", "cut gzip",
                                   "other bytes"};

// Returns true for the right bytes, for an error, and for a whole value of the wrong size, which
// its reader checks.
bool is_safe(const std::string& outcome, const std::string& answer, const std::string& request) {
  if (outcome == "right") return true;
  if (outcome == "absent") return answer == "404" || answer == "410";
  if (outcome.find("without the name of the value") != std::string::npos) return false;
  if (outcome.starts_with("Error: ") || outcome.starts_with("AccessDenied: ") ||
      outcome.starts_with("NotAValue: ")) {
    return true;
  }
  const bool is_whole = request == "chunk" || request == "document";
  return is_whole ? outcome != "200 other bytes" : kTaken.contains(answer);
}

void expect_safe_outcomes(const test::StoreRequest& request) {
  for (const auto& [name, hostile] : test::hostile_answers()) {
    if (name == "drip") continue;
    std::atomic<int> hits{0};
    const test::ScriptedServer server([&hits, answer = hostile](const std::string& text) {
      ++hits;
      return answer(test::ValueRequest(text, test::served_value()));
    });
    const CPLConfigOptionSetter endpoint("OSS_ENDPOINT", server.host().c_str(), false);
    VSICurlClearCache();
    const auto store = make_store("/vsioss/bucket/x.zarr");
    const std::string outcome = request.outcome(*store);
    EXPECT_TRUE(is_safe(outcome, name, request.name))
        << name << ", " << request.name << ": " << outcome;
    EXPECT_EQ(outcome.find("Secret"), std::string::npos) << outcome;
    EXPECT_GT(hits.load(), 0) << name;
  }
}

TEST(FileSystemAnswers, GiveTheRightBytesOrAnErrorThatNamesTheValue) {
  setenv("no_proxy", "127.0.0.1,localhost", 1);
  const CPLErrorStateBackuper state;
  CPLPushErrorHandler(CPLQuietErrorHandler);
  const CPLConfigOptionSetter id("OSS_ACCESS_KEY_ID", "me", false);
  const CPLConfigOptionSetter key("OSS_SECRET_ACCESS_KEY", "Secret", false);
  const CPLConfigOptionSetter https("OSS_HTTPS", "NO", false);
  const CPLConfigOptionSetter virtual_hosts("OSS_VIRTUAL_HOSTING", "FALSE", false);
  for (const test::StoreRequest& request : test::store_requests()) {
    const std::string name = request.name;
    // Only the store of HTTP knows versions.
    if (name != "inner chunks" && name != "version") expect_safe_outcomes(request);
  }
  VSICurlClearCache();
  CPLPopErrorHandler();
}

}  // namespace
}  // namespace gdal_zarr::test::file_system_answers_test
