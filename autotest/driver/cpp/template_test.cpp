// Templates of Kerchunk documents that are as long as a document can be. What they mean is tested
// through GDAL (autotest/driver/test_reference_templates.py).
#include "driver/stores/references/template.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string error_of(const std::string& text, const Templates& templates = {}) {
  try {
    render_template(text, templates, {});
  } catch (const zarrcore::Error& error) {
    return error.what();
  }
  return "no error";
}

// With a copy of the sum for each term, this copies 600 GB.
TEST(Template, ASumOfMillionsOfTerms) {
  const std::string start(60'000, 'a');
  const std::string text = "{{'" + start + "'" + repeated("+''", 5'000'000) + "+'b'}}";
  EXPECT_EQ(render_template(text, {}, {}), start + 'b');
}

TEST(Template, ManyFormatsOfALongText) {
  const std::string text = "{{'" + std::string(60'000, 'a') + "%s'" + repeated("%'%s'", 2'000'000);
  EXPECT_NE(error_of(text + "}}").find("too many expressions"), std::string::npos);
  EXPECT_EQ(render_template("{{'a%s' % '%s' % '%d' % 7}}", {}, {}), "a7");
}

TEST(Template, ALongTemplateThatIsUsedOften) {
  const Templates templates{{"u", "{{''" + repeated("+''", 1'000'000) + "}}"}};
  EXPECT_NE(error_of(repeated("{{u}}", 900), templates).find("its templates have more than"),
            std::string::npos);
  EXPECT_EQ(render_template("{{u}}{{u}}", templates, {}), "");
}

TEST(Template, LongTextsAreErrors) {
  const std::string text = "'" + std::string(kMaxRenderedSize + 1, 'a') + "'";
  EXPECT_NE(error_of("{{" + text + "}}").find("more than 65536 bytes"), std::string::npos);
  EXPECT_NE(error_of("{{f(c=" + text + ")}}", {{"f", ""}}).find("more than 65536 bytes"),
            std::string::npos);
}

}  // namespace
}  // namespace gdal_zarr
