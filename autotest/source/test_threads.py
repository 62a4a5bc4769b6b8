"""What MinGW-w64 does wrongly with threads is used by its replacements in zarrcore/base."""
import re

from tree import CODE_FOLDERS, CPP, files, text

REPLACEMENTS = {"process.h"}
# Objects without a destructor may be thread_local.
PLAIN = r"((std::size_t|bool|int) |\w+\* )\w+"


def wrong_lines(source):
    return [line.strip() for line in source.splitlines()
            if re.search(r"\bstd::shared_(timed_)?mutex\b", line)
            or re.search(rf"^\s*(static )?thread_local (?!{PLAIN})", line)]


def test_threads():
    found = [f"{path}: {line}" for path in files(*CODE_FOLDERS, suffixes=CPP)
             if path.name not in REPLACEMENTS for line in wrong_lines(text(path))]
    assert not found, "\n".join(found)


def test_they_are_found():
    assert wrong_lines("  thread_local Shape shape;\n  std::shared_mutex mutex_;\n"
                       "  thread_local std::size_t n = 0;\n"
                       "  static thread_local Call* call = nullptr;\n"
                       "  // no thread_local\n") == [
        "thread_local Shape shape;", "std::shared_mutex mutex_;"]
