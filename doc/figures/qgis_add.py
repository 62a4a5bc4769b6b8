#!/usr/bin/env python3
"""Makes qgis_add.png: QGIS's Data Source Manager with a Zarr store as the source.

usage: qgis_add.py [FILE]     FILE: the picture, by default qgis_add.png beside this script

Needs QGIS and Pillow (Debian: qgis xvfb xauth python3-pil). Debian 12's QGIS is 3.22.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SIZE = 940, 520
STORE = "/data/geoid.zarr"


def show_and_grab(iface, target):
    """Opens the dialog with the store entered, and saves a picture of it."""
    from qgis.gui import QgsFileWidget
    from qgis.PyQt.QtCore import QTimer
    from qgis.PyQt.QtWidgets import QAction, QApplication, QDialog, QListWidget, QStackedWidget

    def dialog():
        (found,) = [window for window in QApplication.topLevelWidgets()
                    if isinstance(window, QDialog) and window.isVisible()]
        return found

    def enter():
        window = dialog()
        window.resize(*SIZE)
        (page,) = [stack.currentWidget() for stack in window.findChildren(QStackedWidget)
                   if stack.objectName() == "mOptionsStackedWidget"]
        source = next(widget for widget in page.findChildren(QgsFileWidget) if widget.isVisible())
        source.setFilePath(STORE)
        window.findChild(QListWidget).setFixedWidth(170)
        QTimer.singleShot(1500, lambda: grab(window))

    def grab(window):
        assert window.grab().save(target)
        os._exit(0)

    action = iface.mainWindow().findChild(QAction, "mActionAddRasterLayer")
    QTimer.singleShot(4000, enter)
    QTimer.singleShot(1000, action.trigger)


def main():
    from PIL import Image

    default = Path(__file__).with_suffix(".png")
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "dialog.png"
        environment = os.environ | {"DIALOG_PICTURE": str(picture)}
        subprocess.run(["xvfb-run", "-a", "-s", "-screen 0 1280x800x24", "qgis", "--nologo",
                        "--noversioncheck", "--profiles-path", f"{folder}/profile",
                        "--code", Path(__file__).resolve()], check=True, timeout=300,
                       env=environment)
        image = Image.open(picture).convert("RGB").quantize(64)
    image.save(target, optimize=True)


if "DIALOG_PICTURE" in os.environ:
    from qgis.utils import iface as qgis_iface

    show_and_grab(qgis_iface, os.environ["DIALOG_PICTURE"])
elif __name__ == "__main__":
    main()
