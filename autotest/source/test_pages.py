"""What the pages name exists: files, functions, links, presets, targets and options of scripts."""
import json
import re

import pytest
from tree import CODE_FOLDERS, CPP, ROOT, documents, files, paragraphs, text

PAGES = [str(page) for page in documents()]
FOR_DEVELOPERS = ["CONTRIBUTING.md", "doc/architecture.md"]
TOP_FOLDERS = r"(?:driver|zarrcore|autotest|data|script|doc|\.ci)"
PATH = re.compile(rf"(?<![\w/.$]){TOP_FOLDERS}/[\w./-]*\w/?")
# Made by a build or by a tool.
MADE = re.compile(r"script/\w+\.sh|autotest/\w+/node_modules")


@pytest.mark.parametrize("page", PAGES)
def test_links(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", text(page)):
        if target.startswith("http"):
            continue
        name, _, anchor = target.partition("#")
        file = (ROOT / page).parent / name if name else ROOT / page
        assert file.exists(), f"{page} links to {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)", file.read_text(), re.MULTILINE)
            anchors = {re.sub(r"[^\w\s-]", "", heading.lower()).replace(" ", "-")
                       for heading in headings}
            assert anchor in anchors, f"{page} links to {target}"


@pytest.mark.parametrize("page", FOR_DEVELOPERS)
def test_paths_exist(page):
    paths = [path for path in PATH.findall(text(page)) if not MADE.match(path)]
    assert len(paths) > 10
    missing = {path for path in paths if not (ROOT / path).exists()}
    assert not missing


def test_functions_exist():
    """A `function()` stands in a file that its paragraph or item of doc/architecture.md names."""
    missing, count = [], 0
    for line, words in paragraphs(text("doc/architecture.md")):
        functions = re.findall(r"`(?:\w+::)*~?(\w+)\(\)`", words)
        paths = [path for path in PATH.findall(words) if (ROOT / path).is_file()]
        sources = "".join(text(path) for path in paths)
        count += len(functions)
        missing += [f"line {line}: {name}() in {paths}" for name in functions
                    if not re.search(rf"\b{name}\b", sources)]
    assert count > 20
    assert not missing, "\n".join(missing)


def test_classes_exist():
    sources = "".join(text(path) for path in files(*CODE_FOLDERS, suffixes=CPP))
    named = re.findall(r"`([A-Z]\w*[a-z]\w*)(?:::\w+)?(?:\(\))?`", text("doc/architecture.md"))
    missing = {name for name in named if not re.search(rf"\b{name}\b", sources)}
    assert named
    assert not missing


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_presets_and_targets_exist(page):
    presets = json.loads(text("CMakePresets.json"))
    for command, names in (("cmake", "configurePresets"), ("cmake --build", "buildPresets"),
                           ("ctest", "testPresets")):
        known = {preset["name"] for preset in presets[names]}
        used = set(re.findall(rf"(?:^|&& |    |`){command} --preset (\w+)", text(page)))
        assert used <= known
    lists = "".join(text(path) for path in files("", suffixes=["CMakeLists.txt", ".cmake"]))
    known = set(re.findall(r"add_(?:executable|library|custom_target)\((\w+)", lists))
    known |= {f"fuzz_{name}" for name in re.findall(r"fuzz_target\((\w+)", lists)}
    for target in re.findall(r"(?:--target|ninja -C \S+) (\w+)", text(page)):
        assert target in known, target


def test_examples_of_code_exist():
    """As they stand, apart from line breaks and the backslashes of macros."""
    sources = "".join(text(path) for path in files(*CODE_FOLDERS, suffixes=CPP))
    known = " ".join(sources.split())
    for example in re.findall(r"```cpp\n(.*?)```", text("CONTRIBUTING.md"), re.DOTALL):
        assert " ".join(example.split()) in known, example


@pytest.mark.parametrize("page", PAGES)
def test_options_of_scripts_exist(page):
    for script, arguments in re.findall(r"\b(script/\w+)((?: --?\w[\w-]*)*)", text(page)):
        assert (ROOT / script).exists(), script
        for option in arguments.split():
            usage = text(script)
            if script == "script/bench":
                usage += "".join(map(text, files("autotest/benchmark", suffixes=[".py"])))
            assert option in usage, f"{script} {option}"
