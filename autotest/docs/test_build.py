"""What the build of the site refuses."""
import sys

import pytest
from places import ROOT

sys.path.insert(0, str(ROOT / "doc/site"))
from api_pages import write_pages
from check_links import broken_links

HEADER = """// A box of numbers.
//
//   Box box(3);
#pragma once

namespace zarrcore {

// Holds numbers.
class Box {
 public:
  explicit Box(int count);
  int count() const { return count_; }

  // Adds `number` to all of them.
  void add(int number);
  void subtract(int number);
%s
 private:
  int hidden(int number);
  int count_;
};

}  // namespace zarrcore
"""


def write_tree(folder, more=""):
    (folder / "zarrcore/box").mkdir(parents=True)
    (folder / "zarrcore/box/box.h").write_text(HEADER % more)
    (folder / "zarrcore/zarrcore.h").write_text(
        '// All of it.\n#pragma once\n#include "zarrcore/box/box.h"\n')


def test_pages_of_headers(tmp_path):
    write_tree(tmp_path)
    nav = write_pages(tmp_path, tmp_path / "pages/api")
    assert nav == [{"Overview": "api/index.md"}, {"box": [{"box.h": "api/box_box.md"}]}]
    page = (tmp_path / "pages/api/box_box.md").read_text()
    assert page.startswith("# zarrcore/box/box.h\n\nA box of numbers.\n")
    assert "```cpp\nBox box(3);\n```" in page
    assert "## Box\n\n```cpp\nclass Box\n```\n\nHolds numbers.\n" in page
    assert ("### add\n\n```cpp\nvoid add(int number);\nvoid subtract(int number)\n```\n\n"
            "Adds `number` to all of them.\n") in page
    assert "hidden" not in page


def test_functions_without_a_comment(tmp_path):
    write_tree(tmp_path, "\n  void multiply(int number);\n")
    with pytest.raises(SystemExit) as stopped:
        write_pages(tmp_path, tmp_path / "pages/api")
    assert "zarrcore/box/box.h:18: void multiply(int number)" in stopped.value.code


@pytest.mark.parametrize("content, problem", [
    ('<a href="b.html#here">b</a><img src="a.png" alt="A picture">', None),
    ('<a href="b.html#there">b</a>', "b.html#there has no such anchor"),
    ('<a href="c.html">c</a>', "c.html does not exist"),
    ('<a href="../outside.html">c</a>', "../outside.html does not exist"),
    ('<img src="b.png" alt="A picture">', "b.png does not exist"),
    ('<img src="a.png">', "a picture has no text: a.png")])
def test_links(tmp_path, content, problem):
    site = tmp_path / "site"
    site.mkdir()
    (tmp_path / "outside.html").write_text("")
    (site / "a.html").write_text(content)
    (site / "b.html").write_text('<h1 id="here">b</h1>')
    (site / "a.png").write_bytes(b"")
    assert list(broken_links(site)) == ([f"a.html: {problem}"] if problem else [])
