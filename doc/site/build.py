#!/usr/bin/env python3
"""Builds the documentation site into build/docs; script/docs installs what this needs.

The pages of the repository are copied with the files that they show or link to, in
the same folders, so that links between them work as they are. Pages that mkdocs.yml does not name
are listed below "More".
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml
from api_pages import write_pages
from check_links import broken_links

ROOT = Path(__file__).resolve().parents[2]
SOURCE, TARGET = ROOT / "build/docs-source", ROOT / "build/docs"
PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md",
         "doc/*.md", "packaging/*.md", "data/README.md"]
LINK = re.compile(r"\]\(([^)\s#]+)[^)]*\)")


def pages():
    return [path for pattern in PAGES for path in sorted(ROOT.glob(pattern))]


def linked_files(page):
    """The files beside the pages to which a page links, such as pictures."""
    for target in LINK.findall(page.read_text()):
        path = (page.parent / target).resolve()
        if not re.match(r"\w+:", target) and path.is_file() and path not in pages():
            yield path


def copy(path):
    target = SOURCE / path.relative_to(ROOT)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)


def listed(nav):
    for entry in nav:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            yield from listed(value) if isinstance(value, list) else [value]


def settings():
    """Those of mkdocs.yml, with the pages that it does not name, in the folders of this build."""
    result = yaml.safe_load((ROOT / "doc/site/mkdocs.yml").read_text())
    known = set(listed(result["nav"]))
    more = [str(path.relative_to(ROOT)) for path in pages()]
    more = [name for name in more if name not in known]
    result["nav"].append({"C++ API": write_pages(ROOT, SOURCE / "api")})
    result["nav"] += [{"More": more}] if more else []
    return result | {"docs_dir": str(SOURCE), "site_dir": str(TARGET)}


def main():
    for folder in (SOURCE, TARGET):
        shutil.rmtree(folder, ignore_errors=True)
    for page in pages():
        for path in (page, *linked_files(page)):
            copy(path)
    copy(ROOT / "doc/site/site.css")
    config = ROOT / "build/docs-source.yml"
    config.write_text(yaml.safe_dump(settings(), sort_keys=False, allow_unicode=True))
    result = subprocess.run(["mkdocs", "build", "--strict", "--config-file", config], text=True,
                            stderr=subprocess.STDOUT, stdout=subprocess.PIPE)
    if result.returncode != 0:
        sys.exit(result.stdout)
    if broken := list(broken_links(TARGET)):
        sys.exit("\n".join(["doc/site/build.py: broken links", *broken]))
    print(f"{len(list(TARGET.rglob('*.html')))} pages")


if __name__ == "__main__":
    main()
