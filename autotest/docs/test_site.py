"""The site that script/docs has built, in a browser."""
from types import SimpleNamespace

import pytest
from places import PHONE, ROOT, SITE
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

PAGES = sorted(str(path.relative_to(SITE)) for path in SITE.rglob("*.html"))
SCREENSHOTS = ROOT / "build/docs-screenshots"
FINDINGS = {
    "heading": "document.querySelector('article h1').innerText.trim()",
    "broken_pictures": "[...document.images].filter(one => !(one.naturalWidth > 0) || !one.alt)"
                       ".map(one => one.src)",
    "requests": "performance.getEntriesByType('resource').map(one => one.name)",
    "anchors": "[...document.querySelectorAll('[id]')].map(one => one.id)",
    "links": "[...document.links].map(one => one.href)",
}


def open_page(browser, address):
    """Opens a page, and returns the messages of its console."""
    browser.get_log("browser")
    browser.get(address)
    wait(browser, "return document.readyState === 'complete'")
    return [entry for entry in browser.get_log("browser")
            if entry["level"] in ("SEVERE", "WARNING")]


def wait(browser, script):
    return WebDriverWait(browser, 30).until(lambda found: found.execute_script(script))


def test_there_are_pages():
    assert len(PAGES) > 20


@pytest.fixture(scope="session")
def visit(desktop, site):
    """Opens a page once, and returns what the browser finds in it."""
    seen = {}

    def open_once(page):
        if page not in seen:
            found = SimpleNamespace(messages=open_page(desktop, f"{site}/{page}"))
            # Lazily loaded pictures are loaded when they are scrolled to.
            desktop.execute_script("for (const one of document.images) one.loading = 'eager'")
            wait(desktop, "return [...document.images].every(one => one.complete)")
            for name, script in FINDINGS.items():
                setattr(found, name, desktop.execute_script(f"return {script}"))
            seen[page] = found
        return seen[page]

    return open_once


@pytest.mark.parametrize("page", PAGES)
def test_page(visit, site, page):
    found = visit(page)
    assert not found.messages
    assert found.heading
    assert not found.broken_pictures
    assert all(name.startswith((site, "data:", "blob:")) for name in found.requests)


def test_links(visit, site):
    """Each link within the site, as the browser resolves it, leads to a page and to its anchor."""
    pages = {page: visit(page) for page in PAGES if page != "404.html"}
    anchors = {f"{site}/{page}": set(found.anchors) for page, found in pages.items()}
    dead = set()
    for page, found in pages.items():
        for target in found.links:
            address, _, anchor = target.partition("#")
            if not address.startswith(site):
                continue
            address += "index.html" if address.endswith("/") else ""
            if address in anchors:
                if anchor and anchor not in anchors[address]:
                    dead.add((page, target))
            elif not (SITE / address.removeprefix(f"{site}/")).is_file():
                dead.add((page, target))
    assert sum(len(found.links) for found in pages.values()) > 500
    assert not dead


def test_navigation(desktop, site):
    open_page(desktop, f"{site}/index.html")
    desktop.find_element(By.CSS_SELECTOR, "nav.md-nav--primary").find_element(
        By.LINK_TEXT, "Chunks and shards").click()
    wait(desktop, "return document.querySelector('article h1').innerText.startsWith('Chunks')")
    desktop.find_element(By.CSS_SELECTOR, ".md-sidebar--secondary").find_element(
        By.LINK_TEXT, "Compression").click()
    assert desktop.current_url.endswith("chunks.html#compression")


@pytest.mark.parametrize("words, page", [
    ("unclosed quotation mark", "doc/troubleshooting.html"), ("QGIS", "doc/quick_start.html"),
    ("SHARD_CHUNK_SHAPE", "doc/options.html"), ("Kerchunk", "doc/names.html")])
def test_search(desktop, site, words, page):
    open_page(desktop, f"{site}/index.html")
    desktop.find_element(By.CSS_SELECTOR, "input.md-search__input").send_keys(words)
    found = "return [...document.querySelectorAll('a.md-search-result__link')].map(a => a.href)"
    wait(desktop, f"{found}.length > 0")
    links = desktop.execute_script(found)
    assert any(link.split("?")[0].split("#")[0] == f"{site}/{page}" for link in links), links


def test_the_way_to_qgis_is_one_click(desktop, site):
    """From the home page to the picture of the dialog."""
    open_page(desktop, f"{site}/index.html")
    desktop.find_element(By.LINK_TEXT, "in QGIS").click()
    wait(desktop, "return location.hash === '#qgis'")
    picture = desktop.find_element(By.CSS_SELECTOR, "img[src$='qgis_add.png']")
    wait(desktop, "return document.querySelector(\"img[src$='qgis_add.png']\").naturalWidth > 0")
    assert picture.is_displayed()


@pytest.mark.parametrize("page", ["index.html", "doc/quick_start.html", "doc/chunks.html",
                                  "doc/options.html", "doc/troubleshooting.html"])
def test_phone(phone, site, page):
    """Wide tables and code scroll by themselves, and the menu opens."""
    open_page(phone, f"{site}/{page}")
    assert phone.execute_script("return document.documentElement.scrollWidth") <= PHONE[0]
    phone.find_element(By.CSS_SELECTOR, "label.md-header__button[for='__drawer']").click()
    wait(phone, "return document.querySelector('nav.md-nav--primary').getBoundingClientRect()"
                ".left >= 0")


@pytest.mark.parametrize("width", ["desktop", "phone"])
@pytest.mark.parametrize("page", ["index", "doc/quick_start", "doc/chunks", "doc/performance"])
def test_screenshots(request, site, page, width):
    """Kept in build/docs-screenshots, for people."""
    browser = request.getfixturevalue(width)
    open_page(browser, f"{site}/{page}.html")
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    target = SCREENSHOTS / f"{page.replace('/', '_')}_{width}.png"
    assert browser.save_screenshot(str(target))
    assert target.stat().st_size > 10_000
