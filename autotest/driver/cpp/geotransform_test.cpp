#include "driver/conventions/geotransform.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace gdal_zarr::test::geotransform_test {
namespace {

TEST(RegularAxis, EvenStepsOfBothSigns) {
  const auto rising = find_regular_axis(std::vector<double>{1, 3, 5, 7});
  ASSERT_TRUE(rising);
  EXPECT_EQ(rising->first_centre, 1);
  EXPECT_EQ(rising->step, 2);
  EXPECT_EQ(find_regular_axis(std::vector<double>{90, 89.5, 89})->step, -0.5);
}

TEST(RegularAxis, FloatsThatWereRoundedAreEvenStill) {
  std::vector<double> centres;
  for (int i = 0; i < 1440; ++i) centres.push_back(static_cast<float>(-179.875 + i * 0.25));
  EXPECT_NEAR(find_regular_axis(centres).value().step, 0.25, 1e-9);
  centres.clear();
  for (int i = 0; i < 3600; ++i) centres.push_back(static_cast<float>(-179.95 + i * 0.1));
  EXPECT_NEAR(find_regular_axis(centres).value().step, 0.1, 1e-6);
}

TEST(RegularAxis, SmallStepsFarFromTheOriginAreEven) {
  const auto axis = find_regular_axis(cell_centres(5'000'000, 0.5, 10'000));
  ASSERT_TRUE(axis);
  EXPECT_EQ(axis->first_centre, 5'000'000.25);
  EXPECT_EQ(axis->step, 0.5);
  // But not what float64 has no digits for.
  EXPECT_FALSE(find_regular_axis(cell_centres(5e8, 1e-7, 7)));
}

TEST(RegularAxis, WhatIsNotEvenIsNone) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const std::vector<double>& centres : {std::vector<double>{},
                                             {5},
                                             {1, 1},
                                             {1, 2, 4},
                                             {1, 2, 3.1, 4},
                                             {1, kNan, 3},
                                             {1, 2, kNan},
                                             {0, std::numeric_limits<double>::infinity()},
                                             {0, 87.9, 88.1, 90}}) {
    EXPECT_FALSE(find_regular_axis(centres)) << centres.size();
  }
}

TEST(GeoTransform, EdgesLieHalfACellBeforeTheCentres) {
  EXPECT_EQ(make_geotransform({-179.5, 1}, {89.5, -1}), (GeoTransform{-180, 1, 0, 90, 0, -1}));
  EXPECT_EQ(make_geotransform({0, 2}, {10, 4}), (GeoTransform{-1, 2, 0, 8, 0, 4}));
}

TEST(GeoTransform, CentresAndTextComeBack) {
  const GeoTransform transform{-179.95, 0.1, 0, 59.3, 0, -1.0 / 3};
  const auto x = find_regular_axis(cell_centres(transform[0], transform[1], 3600));
  const auto y = find_regular_axis(cell_centres(transform[3], transform[5], 300));
  ASSERT_TRUE(x && y);
  const GeoTransform read = make_geotransform(*x, *y);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(read[i], transform[i], 1e-12) << i;

  EXPECT_EQ(format_geotransform({440720, 60, 0, 3751320, 0, -60}),
            "440720.0 60.0 0.0 3751320.0 0.0 -60.0");
  const zarrcore::Json attributes = {{"GeoTransform", format_geotransform(transform)}};
  EXPECT_EQ(parse_geotransform(attributes), transform);
}

TEST(GeoTransform, TheAttributeIsSixNumbers) {
  const auto parsed = [](std::string_view json) {
    return parse_geotransform(zarrcore::parse_json(json));
  };
  const GeoTransform expected{440720, 60, 0, 3751320, 0, -60};
  EXPECT_EQ(parsed(R"({"GeoTransform": "440720 60 0 3751320 0 -60"})"), expected);
  EXPECT_EQ(parsed(R"({"GeoTransform": "440720.0, 6e1, 0, 3751320, 0, -60 "})"), expected);
  for (const char* json :
       {"{}", R"({"GeoTransform": "1 2 3 4 5"})", R"({"GeoTransform": 7})",
        R"({"GeoTransform": "1 2 3 4 5 6 7"})", R"({"GeoTransform": "a b c d e f"})"}) {
    EXPECT_FALSE(parsed(json)) << json;
  }
}

}  // namespace
}  // namespace gdal_zarr::test::geotransform_test
