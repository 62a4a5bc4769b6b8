"""The files of the repository, and the parts of them that people read."""
import io
import os
import re
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Not ours, or not written by hand.
SKIPPED = {".git", "build", "node_modules", "fixtures", "corpus", "__pycache__"}

CPP = (".cpp", ".h")
CODE_FOLDERS = ("driver", "zarrcore")


def files(*folders, suffixes):
    """Paths below these folders, relative to the root."""
    for folder in folders:
        for parent, folders_there, names in os.walk(ROOT / folder):
            folders_there[:] = [name for name in folders_there if name not in SKIPPED]
            for name in names:
                if name.endswith(tuple(suffixes)):
                    yield (Path(parent) / name).relative_to(ROOT)


def text(path):
    return (ROOT / path).read_text()


def documents():
    return [*sorted(path.relative_to(ROOT) for path in ROOT.glob("*.md")),
            *sorted(files("doc", "packaging", suffixes=[".md"]))]


def includes(path):
    """The project's files that a C++ file includes."""
    return [Path(name) for name in re.findall(r'^#include "([^"]+)"', text(path), re.MULTILINE)]


CPP_TOKEN = re.compile(
    r'R"\((?P<raw>.*?)\)"|"(?P<text>(?:\\.|[^"\\\n])*)"|\'(?:\\.|[^\'\\\n])+\'|'
    r"(?P<comment>//[^\n]*(?:\n[ \t]*//[^\n]*)*)", re.DOTALL)


def cpp_words(source):
    """(line, "comment" or "text", words) of comments, joined over lines, and of string literals."""
    for token in CPP_TOKEN.finditer(source):
        kind = token.lastgroup
        if kind is not None:
            line = source.count("\n", 0, token.start()) + 1
            words = re.sub(r"\n[ \t]*//", "", token[kind]).removeprefix("//")
            yield line, "comment" if kind == "comment" else "text", words


def python_words(source):
    """Likewise for Python, without strings of one or two words, which are names and values."""
    comment, start, last = [], 0, 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            is_alone = not token.line[:token.start[1]].strip()
            if comment and not (is_alone and token.start[0] == last + 1):
                yield start, "comment", " ".join(comment)
                comment = []
            if not comment:
                start = token.start[0]
            comment.append(token.string.lstrip("# "))
            last = token.start[0] if is_alone else 0
        elif token.type == tokenize.STRING and token.string.count(" ") > 1:
            yield token.start[0], "text", " ".join(token.string.split())
    if comment:
        yield start, "comment", " ".join(comment)


def paragraphs(source):
    """(line, text) of the paragraphs, rows and items of a Markdown page, without code blocks."""
    lines, start, fenced = [], 0, False
    for number, line in enumerate([*source.splitlines(), ""], 1):
        is_item = re.match(r"\s*([-*]|\d+\.) |\||#", line)
        if line.startswith("```"):
            fenced = not fenced
        if fenced or not line.strip() or is_item or line.startswith(("    ", "```")):
            if lines:
                yield start, " ".join(lines)
            lines = []
        if fenced or line.startswith(("    ", "```")):
            continue
        if line.strip():
            if not lines:
                start = number
            lines.append(line.strip())
