"""Checks that links and pictures of a built site lead to files and anchors of it."""
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The anchors, the links and the pictures of a page."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.problems = {""}, [], []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if name := values.get("id") or (tag == "a" and values.get("name")):
            self.anchors.add(name)
        for name in ("href", "src"):
            if values.get(name):
                self.links.append(values[name])
        if tag == "img" and not values.get("alt"):
            self.problems.append(f"a picture has no text: {values.get('src')}")

    handle_startendtag = handle_starttag


def broken_links(site):
    """A line for each link that leads nowhere, and for each picture without a text."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        where = path.relative_to(site)
        yield from (f"{where}: {problem}" for problem in page.problems)
        # The page for addresses that do not exist is shown at any address.
        for link in page.links if path.name != "404.html" else []:
            url = urlsplit(link)
            if url.scheme or url.netloc:
                continue
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_file() or not target.is_relative_to(Path(site).resolve()):
                yield f"{where}: {link} does not exist"
            elif target in pages and unquote(url.fragment) not in pages[target].anchors:
                yield f"{where}: {link} has no such anchor"
