#include "driver/gdal/messages.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace gdal_zarr::test::messages_test {
namespace {

TEST(Messages, SecretsAreMasked) {
  struct {
    const char* text;
    const char* masked;
  } const cases[] = {
      {"/vsicurl/https://h/a.zarr?X-Amz-Credential=AKIA%2F2024&X-Amz-Date=2024&X-Amz-Signature=abc",
       "/vsicurl/https://h/a.zarr?X-Amz-Credential=***&X-Amz-Date=2024&X-Amz-Signature=***"},
      {"https://h/b?X-Amz-Security-Token=a/b+c==&x=1", "https://h/b?X-Amz-Security-Token=***&x=1"},
      {"https://h/b?x-goog-signature=1f", "https://h/b?x-goog-signature=***"},
      {"https://b.blob.core.windows.net/c/d?sv=2022&se=2030-01-01&sp=r&sig=a%2Bb%3D",
       "https://b.blob.core.windows.net/c/d?sv=2022&se=***&sp=r&sig=***"},
      {"https://h/b?token=t: HTTP response code: 403",
       "https://h/b?token=***: HTTP response code: 403"},
      {"\"https://h/b?access_token=t\", and", "\"https://h/b?access_token=***\", and"},
      {"/vsizip/{/vsicurl/https://h/a.zip?sig=t}/b: no",
       "/vsizip/{/vsicurl/https://h/a.zip?sig=***}/b: no"},
      {"https://user:pass@h:80/a@b", "https://***@h:80/a@b"},
      {"https://user:p@ss@h/a", "https://***@h/a"},
      {"https://user:p%2Fss@h/a", "https://***@h/a"},
      {"https://token@h/a: https://u:p@h/a/c/0", "https://***@h/a: https://***@h/a/c/0"},
      {"/vsicurl?pc_url_signing=no&url=https%3A%2F%2Fu%3Ap%40h%2Fa%3Fsig%3Ds%26x%3D1",
       "/vsicurl?pc_url_signing=no&url=https%3A%2F%2F***%40h%2Fa%3Fsig%3D***%26x%3D1"},
      {"/vsicurl?header.Authorization=Bearer%20x&proxyuserpwd=u:p&url=https://h/a",
       "/vsicurl?header.Authorization=***&proxyuserpwd=***&url=https://h/a"},
      {"VSICURL_QUERY_STRING=sig=a&se=b", "VSICURL_QUERY_STRING=sig=***&se=***"},
  };
  for (const auto& [text, masked] : cases) EXPECT_EQ(mask_secrets(text), masked);
}

TEST(Messages, OtherTextStays) {
  for (const char* text : {"", "=", "?=&", "://", "%", "%4", "a@b", "https://h/a?x=1&y=%3D2#f",
                           "user@host: 100%", "array /a: \"key=1\" and se=2 are not understood",
                           "s3://bucket/a=b/c.zarr: no such file"}) {
    EXPECT_EQ(mask_secrets(text), text);
  }
}

TEST(Messages, ReportsAreMasked) {
  for (const CPLErr severity : {CE_Warning, CE_Failure}) {
    const CPLErrorHandlerPusher quiet(CPLQuietErrorHandler);
    report(severity, CPLE_AppDefined, "Zarr: %s: %d", "https://u:p@h/a?sig=s", 403);
    EXPECT_EQ(CPLGetLastErrorType(), severity);
    EXPECT_STREQ(CPLGetLastErrorMsg(), "Zarr: https://***@h/a?sig=***: 403");
    CPLErrorReset();
  }
}

TEST(Messages, ThoseOfGdalAreMaskedAtTheEndOfTheScope) {
  const CPLErrorHandlerPusher quiet(CPLQuietErrorHandler);
  {
    const MaskedMessages masked;
    CPLError(CE_Warning, CPLE_HttpResponse, "response of https://h/a?token=t: 403");
  }
  EXPECT_EQ(CPLGetLastErrorNo(), CPLE_HttpResponse);
  EXPECT_STREQ(CPLGetLastErrorMsg(), "response of https://h/a?token=***: 403");
  CPLErrorReset();
}

// Calls of the driver that fail.
bool fail(const char* text) {
  return guarded(false, [&]() -> bool { throw std::runtime_error(text); });
}

TEST(FirstFailure, IsTheLastErrorAfterTheCall) {
  const CPLErrorHandlerPusher quiet(CPLQuietErrorHandler);
  const bool is_done = guarded(false, [] {
    fail("first");
    fail("second");
    report(CE_Warning, CPLE_AppDefined, "a warning");
    CPLErrorReset();
    return false;
  });
  EXPECT_FALSE(is_done);
  EXPECT_EQ(CPLGetLastErrorType(), CE_Failure);
  EXPECT_EQ(CPLGetLastErrorNo(), CPLE_AppDefined);
  EXPECT_STREQ(CPLGetLastErrorMsg(), "Zarr: first");
  CPLErrorReset();
}

TEST(FirstFailure, IsForgottenWhenTheCallSucceeds) {
  const CPLErrorHandlerPusher quiet(CPLQuietErrorHandler);
  EXPECT_TRUE(guarded(false, [] {
    fail("an attempt");
    CPLErrorReset();
    return true;
  }));
  EXPECT_EQ(CPLGetLastErrorType(), CE_None);
  // Nor is it the failure of the next call.
  EXPECT_FALSE(guarded(false, [] { return false; }));
  EXPECT_EQ(CPLGetLastErrorType(), CE_None);
}

TEST(FirstFailure, CanBeThatOfAnotherLibrary) {
  const CPLErrorHandlerPusher quiet(CPLQuietErrorHandler);
  guarded(false, [] {
    CPLError(CE_Failure, CPLE_FileIO, "the source ends");
    FirstFailure::note();
    CPLErrorReset();
    return false;
  });
  EXPECT_EQ(CPLGetLastErrorNo(), CPLE_FileIO);
  EXPECT_STREQ(CPLGetLastErrorMsg(), "the source ends");
  CPLErrorReset();
}

TEST(FirstFailure, IsNotThatOfACleanUp) {
  const CPLErrorHandlerPusher quiet(CPLQuietErrorHandler);
  guarded(false, []() -> bool {
    {
      const UnrelatedFailures unrelated;
      fail("nothing to clean up");
    }
    throw std::runtime_error("the reason");
  });
  EXPECT_STREQ(CPLGetLastErrorMsg(), "Zarr: the reason");
  CPLErrorReset();
}

TEST(FirstFailure, OfAScopeWithSeveralCalls) {
  const CPLErrorHandlerPusher quiet(CPLQuietErrorHandler);
  {
    const FirstFailure first_failure;
    fail("first");
    EXPECT_TRUE(guarded(false, [] { return true; }));
    fail("second");
  }
  EXPECT_STREQ(CPLGetLastErrorMsg(), "Zarr: first");
  CPLErrorReset();
}

}  // namespace
}  // namespace gdal_zarr::test::messages_test
