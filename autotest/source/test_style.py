"""The length of files, algorithms that clang compiles, and phrases that plain English lacks."""
import re

import pytest
from tree import CODE_FOLDERS, CPP, cpp_words, documents, files, python_words, text

# Files that may be longer than the limit, with the reason.
LONG = {}
LIMIT = 400
# Tests of one subject stay together.
TEST_LIMIT = 600

PHRASES = [
    (r"\b(is|are|was|were|be) (already |still |not )?there\b(?! (is|are|was|were)\b)",
     "exists, or does not"),
    (r"\bthere (already|not)\b", "already exists, or does not exist"),
    (r", too(?=[.,;:)]|$)", "also"),
    (r"\b(takes?|took|taken|taking) the place of\b", "replaces"),
    (r"\btold\b", "stated, reported, given"),
    (r"\b(or|and|else|,) nothing (if|when|where|without|for)\b", "an empty optional: none"),
    (r"\b[Ww]hoever\b|\bthose who\b", "the caller, writers"),
    (r"\bin vain\b", "without effect"),
    (r"(?<!there )\bis no ((creation )?option|folder|store|array|group|name|number)\b",
     "is not a …"),
]
# Of callers and programs; pages for people may say it of people.
CODE_PHRASES = [*PHRASES, (r"\bwho\b", "that, the caller")]

TEXTS = {
    "driver": [*files("driver", suffixes=CPP)],
    "zarrcore": [*files("zarrcore", suffixes=CPP)],
    "autotest, C++": [*files("autotest", "examples", suffixes=CPP)],
    "autotest, Python": [*files("autotest", "data", suffixes=[".py"])],
    "scripts": [*files("script", ".ci", suffixes=[""])],
    "documents": [*documents(), *files("data", suffixes=[".md"])],
}


def findings(path, phrases):
    source = text(path)
    if path.suffix in CPP:
        parts = cpp_words(source)
    elif path.suffix == ".py":
        parts = [] if path.name == "test_style.py" else python_words(source)
    else:
        parts = enumerate(re.split(r"\n(?=\s*\n|[|#-])", source))
        parts = [(source[:source.find(part)].count("\n") + 1, "text", " ".join(part.split()))
                 for _, part in parts if part.strip()]
    for line, _, words in parts:
        for pattern, better in phrases:
            if found := re.search(pattern, words):
                around = words[max(0, found.start() - 30):found.end() + 20]
                yield f"{path}:{line}: {around!r}: {better}"


@pytest.mark.parametrize("area", TEXTS)
def test_plain_english(area):
    phrases = PHRASES if area == "documents" else CODE_PHRASES
    found = [finding for path in sorted(TEXTS[area]) for finding in findings(path, phrases)]
    assert not found, f"{len(found)} phrases\n" + "\n".join(found)


def test_phrases_are_found():
    comments = "// The array is\n// there, and\nint x;  // that, too.\n"
    words = [words for _, _, words in cpp_words(comments)]
    assert words == [" The array is there, and", " that, too."]
    for sentence in ("It is there.", "The store is already there", "and this, too.", "is told by"):
        assert any(re.search(pattern, sentence) for pattern, _ in PHRASES), sentence
    for sentence in ("There is one.", "too many", "if there are any", "which is there is"):
        assert not any(re.search(pattern, sentence) for pattern, _ in PHRASES), sentence


def test_lengths_of_files():
    suffixes = [*CPP, ".py"]
    limits = dict.fromkeys(files(*CODE_FOLDERS, "script", "data", suffixes=suffixes), LIMIT)
    limits |= dict.fromkeys(files("autotest", suffixes=suffixes), TEST_LIMIT)
    lengths = {str(path): text(path).count("\n") for path in limits}
    too_long = {path: lengths[str(path)] for path, limit in limits.items()
                if lengths[str(path)] > limit and str(path) not in LONG}
    assert not too_long
    assert not set(LONG) - {path for path, length in lengths.items() if length > LIMIT}


# Of std::ranges, what returns a subrange does not compile with clang 14, Debian 12's, by which the
# fuzzers are built.
SUBRANGES = re.compile(
    r"\bstd::(ranges::(unique|(stable_)?partition|remove(_if)?|(stable_)?rotate|equal_range|search|"
    r"find_end|subrange)|views)\b")


def test_algorithms_that_clang_compiles():
    found = {str(path): SUBRANGES.findall(text(path))
             for path in files(*CODE_FOLDERS, "autotest", suffixes=CPP)}
    assert not {path: names for path, names in found.items() if names}
    assert SUBRANGES.search("std::ranges::unique(values)")
