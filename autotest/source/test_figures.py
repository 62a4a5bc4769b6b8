"""The figures of the documentation are those that doc/figures/make.py draws."""
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from tree import ROOT, documents, files, text

DRAWN = sorted(path.name for path in files("doc/figures", suffixes=[".svg"]))


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("figures")
    subprocess.run([sys.executable, ROOT / "doc/figures/make.py", folder], check=True)
    return folder


def test_all_figures_are_drawn(drawn):
    assert [path.name for path in sorted(drawn.iterdir())] == DRAWN


@pytest.mark.parametrize("name", DRAWN)
def test_figure(drawn, name):
    assert (drawn / name).read_text() == text(f"doc/figures/{name}")
    title = ElementTree.fromstring((drawn / name).read_text())[0]
    assert title.tag.endswith("title") and len(title.text) > 20


def test_each_figure_is_shown_with_a_description():
    pages = "".join(map(text, documents()))
    for name in DRAWN:
        before, found, _ = pages.partition(f"](figures/{name})")
        assert found, f"no page shows {name}"
        assert len(before.rpartition("![")[2]) > 60, f"the description of {name}"
