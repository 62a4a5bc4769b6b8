// Threads that outlive a call see its options, and their messages reach a later call.
#include "driver/gdal/worker_scope.h"

#include <cpl_conv.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace gdal_zarr::test::worker_scope_test {
namespace {

void CPL_STDCALL note_message(CPLErr /*severity*/, CPLErrorNum /*number*/, const char* message) {
  static_cast<std::vector<std::string>*>(CPLGetErrorHandlerUserData())->emplace_back(message);
}

TEST(WorkerScope, OutlivesTheCall) {
  const auto messages = std::make_shared<WorkerMessages>();
  zarrcore::WorkerScope scope;
  {
    CPLSetThreadLocalConfigOption("ZARR_TEST_OPTION", "of the call");
    const CallerState caller;
    scope = caller.scope_for(messages);
    CPLSetThreadLocalConfigOption("ZARR_TEST_OPTION", nullptr);
  }
  std::vector<std::string> reported;
  CPLPushErrorHandlerEx(note_message, &reported);
  std::string seen;
  std::string after;
  std::thread([&] {
    scope([&] {
      seen = CPLGetConfigOption("ZARR_TEST_OPTION", "");
      CPLError(CE_Warning, CPLE_AppDefined, "from a thread");
    });
    after = CPLGetConfigOption("ZARR_TEST_OPTION", "");
  }).join();
  EXPECT_EQ(seen, "of the call");
  EXPECT_EQ(after, "");
  EXPECT_TRUE(reported.empty());
  messages->emit();
  EXPECT_EQ(reported, std::vector<std::string>{"from a thread"});
  messages->emit();
  EXPECT_EQ(reported.size(), 1);
  CPLPopErrorHandler();
}

TEST(WorkerScope, ReportsAtTheEndOfTheCall) {
  std::vector<std::string> reported;
  CPLPushErrorHandlerEx(note_message, &reported);
  {
    CallerState caller;
    const auto scope = caller.scope();
    std::thread([&] {
      scope([] { CPLError(CE_Warning, CPLE_AppDefined, "from a thread"); });
    }).join();
    EXPECT_TRUE(reported.empty());
  }
  EXPECT_EQ(reported, std::vector<std::string>{"from a thread"});
  CPLPopErrorHandler();
}

}  // namespace
}  // namespace gdal_zarr::test::worker_scope_test
