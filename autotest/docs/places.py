"""Where the site is, and the sizes of the browsers' windows."""
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build/docs"
DESKTOP, PHONE = (1280, 900), (390, 844)
