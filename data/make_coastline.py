#!/usr/bin/env python3
"""Makes coastline.geojson, for the demo's map, from QGIS's world map.

usage: make_coastline.py [FILE]     FILE: where to put it, by default beside this script

Needs osgeo and the map (Debian: python3-gdal qgis-providers-common).
"""
import json
import sys
from pathlib import Path

from osgeo import gdal, ogr

WORLD_MAP = "/usr/share/qgis/resources/data/world_map.gpkg"
TOLERANCE = 0.25  # degrees, about a pixel of a map that is 1600 pixels wide
SMALLEST = 0.5  # square degrees; smaller islands would be dots

gdal.UseExceptions()


def land():
    """All countries in one, without the borders between them."""
    countries = ogr.Geometry(ogr.wkbMultiPolygon)
    # Kept, because layers live no longer than their dataset.
    world = ogr.Open(WORLD_MAP)
    for country in world.GetLayer("countries"):
        geometry = country.GetGeometryRef()
        for part in range(geometry.GetGeometryCount()):
            countries.AddGeometry(geometry.GetGeometryRef(part))
    # Neighbours whose borders do not match exactly leave slivers, unless they overlap a little.
    return countries.Buffer(0.002, 1).SimplifyPreserveTopology(TOLERANCE)


def rings(polygons):
    for polygon in polygons:
        for index in range(polygon.GetGeometryCount()):
            ring = polygon.GetGeometryRef(index)
            if ring.Area() >= SMALLEST:
                yield [[round(x, 2), round(y, 2)] for x, y, *_ in ring.GetPoints()]


def main():
    default = Path(__file__).with_name("coastline.geojson")
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    feature = {
        "type": "Feature",
        "properties": {"source": "Natural Earth, public domain"},
        "geometry": {"type": "MultiLineString", "coordinates": list(rings(land()))},
    }
    document = {"type": "FeatureCollection", "name": "coastline", "features": [feature]}
    target.write_text(json.dumps(document, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
