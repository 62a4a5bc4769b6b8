// What write_georeferencing() changes, and that the driver's reading functions find in the result
// what was set.
#include "driver/conventions/write_georeferencing.h"

#include <cpl_conv.h>
#include <cpl_error.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "autotest/driver/cpp/plain_evidence.h"
#include "driver/conventions/axis.h"
#include "driver/conventions/evidence.h"
#include "driver/conventions/position.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr::test::write_georeferencing_test {
namespace {

using zarrcore::Json;
using Convention = GeoreferencingConvention;

constexpr Convention kConventions[] = {Convention::gdal, Convention::spatial_proj, Convention::cf};
constexpr GeoTransform kUpright{440720, 60, 0, 3751320, 0, -60};
constexpr GeoTransform kOther{-10, 0.25, 0, 40, 0, 0.5};
constexpr GeoTransform kRotated{440720, 60, 5, 3751320, 7, -60};

OGRSpatialReference crs_named(const std::string& text) {
  OGRSpatialReference crs;
  EXPECT_EQ(crs.SetFromUserInput(text.c_str()), OGRERR_NONE) << text;
  return crs;
}

// An array `data` of 5 × 7 and the variables beside it.
struct Place {
  std::string array_name = "data";
  RasterDimension x{"x", 7};
  RasterDimension y{"y", 5};
  Json attributes = Json::object();
  std::map<std::string, NodeBeside> nodes = {};
  std::vector<std::shared_ptr<const Json>> groups = {};
  bool is_in_group = true;

  GeoreferencingChange plan(Convention convention, const std::optional<GeoTransform>& transform,
                            const OGRSpatialReference* crs) const {
    GeoreferencedArray array{array_name, x, y, attributes, groups, nullptr};
    array.inherits_crs = [this](const Json& own, const std::string& removed) {
      return find_crs(evidence(own, removed), RasterAxes{1, 0}).crs != nullptr;
    };
    if (is_in_group) {
      array.find_node = [this](const std::string& name) -> std::optional<NodeBeside> {
        const auto node = nodes.find(name);
        return node != nodes.end() ? std::optional(node->second) : std::nullopt;
      };
    }
    return write_georeferencing(convention, array, {transform, crs});
  }

  GeoreferencingChange write(Convention convention, const std::optional<GeoTransform>& transform,
                             const OGRSpatialReference* crs) {
    GeoreferencingChange change = plan(convention, transform, crs);
    attributes = apply_change(attributes, change.array);
    for (const std::string& name : change.removed_variables) EXPECT_EQ(nodes.erase(name), 1u);
    for (const Variable& variable : change.variables) {
      const bool is_coordinate = !variable.values.empty();
      EXPECT_EQ(variable.dimension_names,
                is_coordinate ? std::vector{variable.name} : std::vector<std::string>());
      nodes[variable.name] = {variable.attributes, variable.values, true};
    }
    for (const auto& [name, attribute_change] : change.variable_attributes) {
      nodes.at(name).attributes = apply_change(nodes.at(name).attributes, attribute_change);
    }
    return change;
  }

  // What the driver would find, with these attributes of the array.
  Evidence evidence(const Json& own, const std::string& removed = {}) const {
    std::map<std::string, PlainVariable> variables;
    for (const auto& [name, node] : nodes) {
      if (name != removed) variables[name] = {node.attributes, node.coordinates};
    }
    return plain_evidence(own, groups, {{y.name, y.size}, {x.name, x.size}}, variables);
  }

  std::shared_ptr<OGRSpatialReference> crs() const {
    return find_crs(evidence(attributes), RasterAxes{1, 0}).crs;
  }

  std::optional<GeoTransform> transform() const {
    return find_position(evidence(attributes), {1, 0}).transform.transform;
  }

  std::optional<GeoTransform> transform_of_coordinates() const {
    if (!nodes.contains(x.name) || !nodes.contains(y.name)) return std::nullopt;
    const auto columns = find_regular_axis(nodes.at(x.name).coordinates);
    const auto rows = find_regular_axis(nodes.at(y.name).coordinates);
    if (!columns || !rows) return std::nullopt;
    return make_geotransform(*columns, *rows);
  }

  void expect(const std::optional<GeoTransform>& expected_transform,
              const OGRSpatialReference* expected_crs) const {
    const auto found = crs();
    ASSERT_EQ(found != nullptr, expected_crs != nullptr) << attributes.dump();
    if (found) {
      const char* const options[] = {"IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES", nullptr};
      EXPECT_TRUE(found->IsSame(expected_crs, options)) << attributes.dump();
      EXPECT_STREQ(found->GetName(), expected_crs->GetName());
    }
    const auto read = transform();
    ASSERT_EQ(read.has_value(), expected_transform.has_value()) << attributes.dump();
    for (std::size_t i = 0; read && i < 6; ++i) {
      EXPECT_NEAR((*read)[i], (*expected_transform)[i], 1e-12 * std::abs((*read)[i])) << i;
    }
  }
};

std::vector<std::string> names_of(const std::vector<Variable>& variables) {
  std::vector<std::string> names;
  for (const Variable& variable : variables) names.push_back(variable.name);
  return names;
}

using Names = std::vector<std::string>;

NodeBeside coordinates(std::vector<double> values, bool is_own = true) {
  return {Json::object(), std::move(values), is_own};
}

TEST(WriteGeoreferencing, EveryConventionTellsTransformAndCrs) {
  for (const Convention convention : kConventions) {
    for (const GeoTransform& transform : {kUpright, kOther, kRotated}) {
      for (const char* name : {"EPSG:32633", "EPSG:4326", "EPSG:28992"}) {
        Place place;
        const auto crs = crs_named(name);
        EXPECT_EQ(place.write(convention, transform, &crs).warning, "");
        place.expect(transform, &crs);
        EXPECT_STREQ(place.crs()->GetAuthorityCode(nullptr), name + 5);
        EXPECT_EQ(georeferencing_convention(place.attributes), convention);
      }
    }
  }
}

TEST(WriteGeoreferencing, GdalHasItsAttributeAndCoordinates) {
  Place place;
  const auto crs = crs_named("EPSG:32633");
  const auto change = place.write(Convention::gdal, kUpright, &crs);
  ASSERT_EQ(place.attributes.size(), 2u);
  EXPECT_EQ(place.attributes["crs"], "EPSG:32633");
  const Json& value = place.attributes["_CRS"];
  EXPECT_EQ(value["url"], "http://www.opengis.net/def/crs/EPSG/0/32633");
  EXPECT_TRUE(value["wkt"].get<std::string>().starts_with("PROJCRS[\"WGS 84 / UTM zone 33N\""));
  EXPECT_EQ(value["projjson"]["id"]["code"], 32633);
  EXPECT_EQ(names_of(change.variables), (Names{"x", "y"}));
  EXPECT_EQ(change.variables[0].values,
            (std::vector<double>{440750, 440810, 440870, 440930, 440990, 441050, 441110}));
  EXPECT_EQ(change.variables[1].values,
            (std::vector<double>{3751290, 3751230, 3751170, 3751110, 3751050}));
}

// The attributes that GDAL 3.13 writes for this grid, and the shape.
TEST(WriteGeoreferencing, SpatialProjIsAsTheConventionsWantIt) {
  Place place;
  place.x = {"X", 20};
  place.y = {"Y", 20};
  const auto crs = crs_named("EPSG:32633");
  const auto change = place.write(Convention::spatial_proj, kUpright, &crs);
  EXPECT_EQ(place.attributes, Json::parse(R"({
      "spatial:dimensions": ["Y", "X"],
      "spatial:registration": "pixel", "spatial:transform_type": "affine",
      "spatial:transform": [60.0, 0.0, 440720.0, 0.0, -60.0, 3751320.0],
      "spatial:bbox": [440720.0, 3750120.0, 441920.0, 3751320.0],
      "spatial:shape": [20, 20],
      "proj:code": "EPSG:32633",
      "zarr_conventions": [
        {"schema_url": "https://raw.githubusercontent.com/zarr-conventions/proj/refs/tags/v0.1/schema.json",
         "spec_url": "https://github.com/zarr-conventions/proj/blob/v0.1/README.md",
         "uuid": "f17cb550-5864-4468-aeb7-f3180cfb622f", "name": "proj:",
         "description": "Coordinate reference system information for geospatial data"},
        {"schema_url": "https://raw.githubusercontent.com/zarr-conventions/spatial/refs/tags/v0.1/schema.json",
         "spec_url": "https://github.com/zarr-conventions/spatial/blob/v0.1/README.md",
         "uuid": "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4", "name": "spatial:",
         "description": "Spatial coordinate information"}]})"));
  EXPECT_EQ(names_of(change.variables), (Names{"X", "Y"}));
}

TEST(WriteGeoreferencing, CfHasAGridMappingAndCoordinatesWithNames) {
  Place place;
  const auto crs = crs_named("EPSG:32633");
  place.write(Convention::cf, kUpright, &crs);
  EXPECT_EQ(place.attributes,
            Json::parse(R"({"grid_mapping": "spatial_ref", "coordinates": "spatial_ref"})"));
  const Json& mapping = place.nodes.at("spatial_ref").attributes;
  EXPECT_EQ(mapping["grid_mapping_name"], "transverse_mercator");
  EXPECT_EQ(mapping["GeoTransform"], "440720.0 60.0 0.0 3751320.0 0.0 -60.0");
  EXPECT_TRUE(mapping["crs_wkt"].get<std::string>().starts_with("PROJCRS["));
  EXPECT_EQ(place.nodes.at("x").attributes, Json::parse(R"({
      "axis": "X", "long_name": "x coordinate of projection",
      "standard_name": "projection_x_coordinate", "units": "m"})"));

  const auto geographic = crs_named("EPSG:4326");
  place.write(Convention::cf, kOther, &geographic);
  EXPECT_EQ(place.nodes.at("y").attributes, Json::parse(R"({
      "axis": "Y", "long_name": "latitude",
      "standard_name": "latitude", "units": "degrees_north"})"));
}

TEST(WriteGeoreferencing, CfKeepsOtherNamesOfCoordinates) {
  const auto crs = crs_named("EPSG:32633");
  Place place;
  place.attributes["coordinates"] = "lat lon";
  place.write(Convention::cf, kUpright, &crs);
  EXPECT_EQ(place.attributes["coordinates"], "lat lon spatial_ref");
  place.write(Convention::gdal, kOther, &crs);
  EXPECT_EQ(place.attributes["coordinates"], "lat lon");
}

TEST(WriteGeoreferencing, CoordinatesSayWhichAxisTheyAre) {
  for (const char* name : {"EPSG:32633", "EPSG:4326", "EPSG:4807",
                           "+proj=ob_tran +o_proj=longlat +o_lat_p=32.5 +lon_0=180 +o_lon_p=0",
                           R"(LOCAL_CS["site",UNIT["metre",1]])"}) {
    Place place;
    place.x.name = "columns";
    place.y.name = "rows";
    const auto crs = crs_named(name);
    place.write(Convention::gdal, kOther, &crs);
    EXPECT_EQ(find_axis_role("columns", place.nodes.at("columns").attributes).direction, "EAST");
    EXPECT_EQ(find_axis_role("rows", place.nodes.at("rows").attributes).direction, "NORTH");
  }
}

TEST(WriteGeoreferencing, WhatCoordinatesCannotTellIsToldBesideThem) {
  const auto crs = crs_named("EPSG:32633");
  for (const Convention convention : kConventions) {
    Place rotated;
    rotated.nodes = {{"x", coordinates({1, 2, 3, 4, 5, 6, 7})},
                     {"y", coordinates({1, 2, 3, 4, 5})}};
    EXPECT_EQ(rotated.write(convention, kRotated, &crs).removed_variables, (Names{"x", "y"}));
    rotated.expect(kRotated, &crs);
    EXPECT_FALSE(rotated.transform_of_coordinates());
    EXPECT_TRUE(rotated.attributes.contains("zarr_conventions"));

    Place one_row;
    one_row.y.size = 1;
    one_row.write(convention, kUpright, &crs);
    one_row.expect(kUpright, &crs);
    EXPECT_EQ(one_row.nodes.at("y").coordinates, std::vector<double>{3751290});

    // Steps so small beside the coordinates that float64 does not hold them.
    Place tiny;
    const GeoTransform steps{5e8, 1e-7, 0, 5e8, 0, -1e-7};
    tiny.write(convention, steps, &crs);
    tiny.expect(steps, &crs);

    Place unnamed;
    unnamed.x.name = unnamed.y.name = "";
    EXPECT_TRUE(unnamed.write(convention, kUpright, nullptr).variables.empty());
    unnamed.expect(kUpright, nullptr);

    // A variable would stand in the array's own place.
    Place named_as_its_dimension;
    named_as_its_dimension.array_name = "x";
    EXPECT_TRUE(named_as_its_dimension.write(convention, kUpright, nullptr).variables.empty());
    named_as_its_dimension.expect(kUpright, nullptr);

    // As would those of 64 MB and more.
    Place long_one;
    long_one.x.size = kMaxCoordinates + 1;
    EXPECT_TRUE(long_one.write(convention, kUpright, nullptr).variables.empty());
    long_one.expect(kUpright, nullptr);
  }
}

TEST(WriteGeoreferencing, AnArrayInNoGroupHasAttributesAlone) {
  const auto crs = crs_named("EPSG:32633");
  for (const Convention convention : kConventions) {
    Place place;
    place.is_in_group = false;
    const auto change = place.write(convention, kUpright, &crs);
    EXPECT_TRUE(change.variables.empty());
    place.expect(kUpright, &crs);
  }
}

TEST(WriteGeoreferencing, EachTakesThePlaceOfEveryOther) {
  const auto first = crs_named("EPSG:32633");
  const auto second = crs_named("EPSG:4326");
  for (const Convention before : kConventions) {
    for (const Convention after : kConventions) {
      for (const GeoTransform& old : {kUpright, kRotated}) {
        for (const GeoTransform& transform : {kOther, kRotated}) {
          Place place;
          place.attributes["source"] = "a sensor";
          place.write(before, old, &first);
          place.write(after, transform, &second);
          place.expect(transform, &second);
          EXPECT_EQ(place.attributes["source"], "a sensor");
          EXPECT_EQ(place.transform_of_coordinates().has_value(), transform[2] == 0);
          EXPECT_EQ(place.nodes.contains("spatial_ref"), after == Convention::cf);
          // As if nothing had been there before, but for what the dimensions are.
          Place fresh;
          fresh.attributes["source"] = "a sensor";
          fresh.write(after, transform, &second);
          for (Json* attributes : {&fresh.attributes, &place.attributes}) {
            attributes->erase("spatial:dimensions");
            attributes->erase("zarr_conventions");
          }
          EXPECT_TRUE(difference(fresh.attributes, place.attributes).empty());
        }
      }
    }
  }
}

TEST(WriteGeoreferencing, ATransformOfGdalsOwnGoes) {
  Place place;
  place.attributes["gdal:geotransform"] = {0, 1, 0, 0, 0, 1};
  place.write(Convention::gdal, kUpright, nullptr);
  EXPECT_TRUE(place.attributes.empty());
}

TEST(WriteGeoreferencing, AllOfItCanBeRemoved) {
  const auto crs = crs_named("EPSG:32633");
  const OGRSpatialReference empty;
  for (const Convention convention : kConventions) {
    for (const GeoTransform& transform : {kUpright, kRotated}) {
      for (const auto* none : {static_cast<const OGRSpatialReference*>(nullptr), &empty}) {
        Place place;
        place.attributes["source"] = "a sensor";
        place.write(convention, transform, &crs);
        place.write(convention, transform, none);
        place.expect(transform, nullptr);
        place.write(convention, std::nullopt, none);
        place.expect(std::nullopt, nullptr);
        EXPECT_TRUE(place.nodes.empty());
        place.attributes.erase("spatial:dimensions");
        place.attributes.erase("zarr_conventions");
        EXPECT_EQ(place.attributes, Json::parse(R"({"source": "a sensor"})"));
      }
    }
  }
}

TEST(WriteGeoreferencing, ACrsMayStandAlone) {
  const auto crs = crs_named("EPSG:32633");
  for (const Convention convention : kConventions) {
    Place place;
    EXPECT_EQ(place.write(convention, std::nullopt, &crs).variables.size(),
              convention == Convention::cf ? 1u : 0u);
    place.expect(std::nullopt, &crs);
  }
}

TEST(WriteGeoreferencing, GroupsAboveAreOverridden) {
  const auto crs = crs_named("EPSG:32633");
  const auto parent = std::make_shared<const Json>(
      Json::parse(R"({"proj:code": "EPSG:3035", "spatial:transform": [1, 0, 0, 0, 1, 0]})"));
  const auto root = std::make_shared<const Json>(
      Json::parse(R"({"stac_discovery": {"properties": {"proj:epsg": 32632}}})"));
  for (const Convention convention : kConventions) {
    Place place;
    place.groups = {parent, root};
    place.write(convention, kUpright, &crs);
    place.expect(kUpright, &crs);
    place.write(convention, kUpright, nullptr);
    place.expect(kUpright, nullptr);
    place.write(convention, std::nullopt, &crs);
    place.expect(std::nullopt, &crs);
    place.write(convention, std::nullopt, nullptr);
    place.expect(std::nullopt, nullptr);
    place.groups = {root};
    place.write(convention, kUpright, nullptr);
    place.expect(kUpright, nullptr);
  }
}

TEST(WriteGeoreferencing, CoordinatesOfTheSameValuesAreLeftAlone) {
  const auto crs = crs_named("EPSG:4326");
  Place place;
  place.x.size = 1440;
  // As float32, which is not what the transform says to the last bit.
  std::vector<double> longitudes;
  for (int i = 0; i < 1440; ++i) longitudes.push_back(static_cast<float>(-179.9 + i * 0.1));
  place.nodes = {{"x", coordinates(longitudes)}, {"y", coordinates({4, 3, 2, 1, 0})}};
  place.nodes["x"].attributes = {{"long_name", "Länge"}, {"bounds", "x_bounds"}};
  const auto transform = place.transform_of_coordinates();
  ASSERT_TRUE(transform);
  for (const Convention convention : {Convention::gdal, Convention::cf}) {
    const auto change = place.write(convention, transform, &crs);
    EXPECT_EQ(place.nodes.at("x").coordinates, longitudes);
    EXPECT_EQ(place.nodes.at("x").attributes, Json::parse(R"({
        "long_name": "Länge", "bounds": "x_bounds", "axis": "X", "standard_name": "longitude",
        "units": "degrees_east"})"));
    EXPECT_FALSE(place.attributes.contains("spatial:transform"));
  }
  EXPECT_TRUE(place.plan(Convention::cf, transform, &crs).variable_attributes.empty());
}

TEST(WriteGeoreferencing, CoordinatesOfOtherValuesAreReplaced) {
  Place place;
  place.nodes = {{"x", coordinates({1, 2, 4, 8, 16, 32, 64})}, {"y", coordinates({5, 4, 3, 2, 1})}};
  place.nodes["x"].attributes = {
      {"comment", "kept"}, {"bounds", "x_bounds"}, {"scale_factor", 0.1}, {"units", "km"}};
  place.write(Convention::gdal, kUpright, nullptr);
  place.expect(kUpright, nullptr);
  EXPECT_EQ(place.nodes["x"].attributes,
            Json::parse(R"({"comment": "kept", "axis": "X", "long_name": "x coordinate"})"));
}

TEST(WriteGeoreferencing, UnevenCoordinatesAreNotLost) {
  const auto crs = crs_named("EPSG:4326");
  const std::vector<double> gaussian{87.9, 84.2, 80.6, 76.9, 73};
  for (const Convention convention : kConventions) {
    Place place;
    place.nodes = {{"x", coordinates({0, 1, 2, 3, 4, 5, 6})}, {"y", coordinates(gaussian)}};
    EXPECT_TRUE(place.write(convention, std::nullopt, &crs).removed_variables.empty());
    EXPECT_EQ(place.nodes.at("y").coordinates, gaussian);
    EXPECT_EQ(place.nodes.at("y").attributes["units"], "degrees_north");
    place.expect(std::nullopt, &crs);
  }
}

TEST(WriteGeoreferencing, WhatBelongsToOthersStaysAsItIs) {
  const auto crs = crs_named("EPSG:32633");
  for (const Convention convention : kConventions) {
    Place place;
    const auto theirs = coordinates({0, 1, 2, 3, 4, 5, 6}, false);
    place.nodes = {{"x", theirs}, {"y", coordinates({5, 4, 3, 2, 1}, false)}};
    const auto change = place.write(convention, kUpright, &crs);
    EXPECT_NE(change.warning.find("array data shares"), std::string::npos) << change.warning;
    EXPECT_EQ(place.nodes.at("x").coordinates, theirs.coordinates);
    EXPECT_TRUE(place.nodes.at("x").attributes.empty());
    place.expect(kUpright, &crs);
  }
  // Other arrays have the dimension, but no variable: one would become theirs.
  Place place;
  place.nodes = {{"x", {}}};
  const auto change = place.plan(Convention::gdal, kUpright, &crs);
  EXPECT_TRUE(change.variables.empty());
  EXPECT_EQ(change.warning, "");
  EXPECT_TRUE(change.array.set.contains("spatial:transform"));
}

TEST(WriteGeoreferencing, SharedCoordinatesServeIfTheyAreRight) {
  Place place;
  place.nodes = {{"x", coordinates(cell_centres(440720, 60, 7), false)},
                 {"y", coordinates(cell_centres(3751320, -60, 5), false)}};
  const auto crs = crs_named("EPSG:32633");
  const auto change = place.write(Convention::gdal, kUpright, &crs);
  EXPECT_TRUE(change.variables.empty());
  EXPECT_EQ(change.warning, "");
  EXPECT_FALSE(place.attributes.contains("spatial:transform"));
  place.expect(kUpright, &crs);
}

TEST(WriteGeoreferencing, ACurvilinearXIsNoCoordinateToReplace) {
  Place place;
  place.nodes = {{"x", {Json::object(), {}, true}}};  // x(y, x)
  EXPECT_TRUE(place.plan(Convention::gdal, kUpright, nullptr).variables.empty());
}

TEST(WriteGeoreferencing, GridMappingsAreSharedOnlyIfTheySayTheSame) {
  const auto crs = crs_named("EPSG:32633");
  const auto other = crs_named("EPSG:3035");
  Place first;
  first.write(Convention::cf, kUpright, &crs);
  for (auto& [name, node] : first.nodes) node.is_own = false;

  Place second;
  second.nodes = first.nodes;
  EXPECT_TRUE(second.write(Convention::cf, kUpright, &crs).variables.empty());
  EXPECT_EQ(second.attributes["grid_mapping"], "spatial_ref");

  EXPECT_EQ(names_of(second.write(Convention::cf, kUpright, &other).variables),
            Names{"spatial_ref_data"});
  EXPECT_EQ(second.attributes["grid_mapping"], "spatial_ref_data");
  EXPECT_EQ(second.nodes.at("spatial_ref").attributes, first.nodes.at("spatial_ref").attributes);
  second.expect(kUpright, &other);

  // What is not a grid mapping is not overwritten; the array's own keeps its name.
  Place third;
  third.nodes = {{"spatial_ref", {{{"units", "K"}}, {}, true}}};
  third.write(Convention::cf, kUpright, &crs);
  EXPECT_EQ(third.attributes["grid_mapping"], "spatial_ref_data");
  third.write(Convention::cf, kOther, &other);
  EXPECT_EQ(third.attributes["grid_mapping"], "spatial_ref_data");
  third.expect(kOther, &other);
  third.write(Convention::gdal, kOther, &other);
  EXPECT_TRUE(third.nodes.contains("spatial_ref"));
  EXPECT_FALSE(third.nodes.contains("spatial_ref_data"));
}

TEST(WriteGeoreferencing, NamesThatTheAttributeCannotHoldAreNotUsed) {
  const auto crs = crs_named("EPSG:32633");
  Place place;
  place.array_name = "air temperature";
  place.nodes = {{"spatial_ref", {}}};
  place.write(Convention::cf, kUpright, &crs);
  EXPECT_EQ(place.attributes["grid_mapping"], "spatial_ref_2");
  place.expect(kUpright, &crs);
}

TEST(WriteGeoreferencing, ATransformThatIsNotFiniteIsRefused) {
  GeoTransform transform = kUpright;
  transform[3] = NAN;
  EXPECT_THROW(Place().write(Convention::gdal, transform, nullptr), zarrcore::Error);
}

TEST(WriteGeoreferencing, EveryKindOfCrsComesBack) {
  for (
      const char* name :
      {"+proj=laea +lat_0=10 +lon_0=20 +datum=WGS84", "EPSG:32633+5773", "EPSG:9518", "EPSG:4979",
       "EPSG:4978", "OGC:CRS84", "ESRI:54009", "IAU_2015:30100", "EPSG:3857", "EPSG:4807",
       "+proj=ob_tran +o_proj=longlat +o_lat_p=32.5 +lon_0=180 +o_lon_p=0",
       "+proj=geos +h=35785831 +lon_0=10 +sweep=x +datum=WGS84", "+proj=tmerc +units=us-ft",
       R"(LOCAL_CS["site",UNIT["metre",1]])",
       R"(ENGCRS["pit",EDATUM["d"],CS[Cartesian,2],AXIS["x",east],AXIS["y",north],LENGTHUNIT["metre",1]])"}) {
    const auto crs = crs_named(name);
    for (const Convention convention : kConventions) {
      Place place;
      place.write(convention, kUpright, &crs);
      place.expect(kUpright, &crs);
    }
  }
}

TEST(WriteGeoreferencing, AShiftToAnotherDatumComesBack) {
  auto coded = crs_named("EPSG:31467");
  coded.SetTOWGS84(1, 2, 3);
  for (const OGRSpatialReference& crs :
       {coded, crs_named("+proj=laea +lat_0=5 +ellps=bessel +towgs84=1,2,3")}) {
    for (const Convention convention : kConventions) {
      Place place;
      place.write(convention, kUpright, &crs);
      double shift[7] = {};
      ASSERT_EQ(place.crs()->GetTOWGS84(shift), OGRERR_NONE);
      EXPECT_EQ(shift[1], 2);
    }
  }
}

TEST(WriteGeoreferencing, ACodeIsWrittenOnlyIfItSaysAll) {
  const auto code = [](const OGRSpatialReference& crs) {
    Place place;
    place.write(Convention::spatial_proj, std::nullopt, &crs);
    return place.attributes.value("proj:code", "");
  };
  EXPECT_EQ(code(crs_named("EPSG:3035")), "EPSG:3035");
  EXPECT_EQ(code(crs_named("ESRI:54009")), "ESRI:54009");
  EXPECT_EQ(code(crs_named("+proj=laea")), "");
  auto changed = crs_named("EPSG:32633");
  changed.SetProjParm(SRS_PP_CENTRAL_MERIDIAN, 16);
  EXPECT_EQ(code(changed), "");
}

// PROJ can tell it since 9.2, but not in every spelling.
TEST(WriteGeoreferencing, ACoordinateEpochCostsNothingElse) {
  auto crs = crs_named("EPSG:9000");
  crs.SetCoordinateEpoch(2021.3);
  for (const Convention convention : kConventions) {
    Place place;
    place.write(convention, kOther, &crs);
    const auto read = place.crs();
    ASSERT_TRUE(read);
    EXPECT_STREQ(read->GetName(), "ITRF2014");
    EXPECT_TRUE(read->GetCoordinateEpoch() == 0 || read->GetCoordinateEpoch() == 2021.3);
  }
}

TEST(WriteGeoreferencing, DeclarationsOfOthersAreKept) {
  Place place;
  const Json other = {{"uuid", "0"}, {"name", "other"}};
  place.attributes["zarr_conventions"] = {other};
  place.write(Convention::spatial_proj, kUpright, nullptr);
  EXPECT_EQ(place.attributes["zarr_conventions"].size(), 2u);
  place.write(Convention::spatial_proj, kOther, nullptr);
  EXPECT_EQ(place.attributes["zarr_conventions"].size(), 2u);
  EXPECT_EQ(place.attributes["zarr_conventions"][0], other);
  place.attributes.erase("spatial:dimensions");
  place.write(Convention::gdal, kUpright, nullptr);
  EXPECT_EQ(place.attributes["zarr_conventions"], Json::array({other}));
}

TEST(AttributeChange, IsNoMoreThanTheDifference) {
  const Json before = Json::parse(R"({"a": 1, "b": [2], "c": 3})");
  const Json after = Json::parse(R"({"d": 4, "b": [2], "a": 5})");
  const AttributeChange change = difference(before, after);
  EXPECT_EQ(change.set, Json::parse(R"({"d": 4, "a": 5})"));
  EXPECT_EQ(change.remove, Names{"c"});
  EXPECT_EQ(apply_change(before, change), Json::parse(R"({"a": 5, "b": [2], "d": 4})"));
  EXPECT_TRUE(difference(before, before).empty());
}

}  // namespace
}  // namespace gdal_zarr::test::write_georeferencing_test
