"""CRS of many kinds: a text that OSRSetFromUserInput() takes for each, or a coordinate epoch with
it."""
from osgeo import osr

LOCAL = """LOCAL_CS["Mine grid",LOCAL_DATUM["Shaft 3",0],UNIT["metre",1],AXIS["Easting",EAST],
AXIS["Northing",NORTH]]"""
ENGINEERING = """ENGCRS["Building site",EDATUM["Corner stone"],CS[Cartesian,2],
AXIS["site east (x)",east,ORDER[1],LENGTHUNIT["foot",0.3048]],
AXIS["site north (y)",north,ORDER[2],LENGTHUNIT["foot",0.3048]]]"""
CUSTOM_DATUM = """GEOGCRS["Island 1911",DATUM["Island datum of 1911",
ELLIPSOID["Own ellipsoid",6378201.25,297.125,LENGTHUNIT["metre",1]]],
PRIMEM["Harbour",12.3456,ANGLEUNIT["degree",0.0174532925199433]],CS[ellipsoidal,2],
AXIS["geodetic latitude (Lat)",north,ORDER[1],ANGLEUNIT["degree",0.0174532925199433]],
AXIS["geodetic longitude (Lon)",east,ORDER[2],ANGLEUNIT["degree",0.0174532925199433]]]"""
MOON = """GEOGCRS["Moon 2015",DATUM["Moon 2015",ELLIPSOID["Moon 2015",1737400,0]],
PRIMEM["Reference Meridian",0],CS[ellipsoidal,2],
AXIS["latitude",north,ORDER[1],ANGLEUNIT["degree",0.0174532925199433]],
AXIS["longitude",east,ORDER[2],ANGLEUNIT["degree",0.0174532925199433]]]"""

KINDS = {
    "WGS 84": "EPSG:4326",
    "ETRS89": "EPSG:4258",
    "longitude first": "OGC:CRS84",
    "grads from Paris": "EPSG:4807",
    "UTM": "EPSG:32633",
    "LAEA": "EPSG:3035",
    "LCC of one parallel": "EPSG:27572",
    "LCC of two parallels": "EPSG:2154",
    "polar stereographic": "EPSG:3031",
    "odd transverse Mercator":
        "+proj=tmerc +lat_0=12.34567891 +lon_0=-7.25 +k=0.99985321 +x_0=123456.789 +y_0=-5000.5 "
        "+ellps=bessel +units=m +no_defs",
    "compound": "EPSG:7415",
    "UTM with heights": "EPSG:32633+5773",
    "geographic with heights": "EPSG:4979",
    "local": LOCAL,
    "engineering": ENGINEERING,
    "custom datum": CUSTOM_DATUM,
    "US feet": "EPSG:2263",
    "rotated pole": "+proj=ob_tran +o_proj=longlat +o_lon_p=0 +o_lat_p=39.25 +lon_0=18 +R=6371229",
    "geostationary": "+proj=geos +h=35785831 +lon_0=9.5 +sweep=y +ellps=GRS80 +units=m",
    "coordinate epoch": ("EPSG:9000", 2021.375),
    "projected with epoch": ("EPSG:32633", 2019.5),
    "northing first": "EPSG:2193",
    "web": "EPSG:3857",
    "sinusoidal on a sphere": "+proj=sinu +lon_0=0 +x_0=0 +y_0=0 +R=6371007.181 +units=m",
    "south and west": "EPSG:2065",
    "oblique Mercator": "EPSG:3375",
    "bound": "+proj=tmerc +lat_0=0 +lon_0=15 +k=1 +x_0=5500000 +y_0=0 +ellps=bessel "
             "+towgs84=598.1,73.7,418.2,0.202,0.045,-2.455,6.7 +units=m",
    "Moon": MOON,
    "kilometres": "+proj=aeqd +lat_0=47.123 +lon_0=8.456 +x_0=10 +y_0=20 +datum=WGS84 +units=km",
}


def make_crs(kind):
    definition, epoch = KINDS[kind], 0
    if isinstance(definition, tuple):
        definition, epoch = definition
    crs = osr.SpatialReference()
    crs.SetFromUserInput(definition)
    if epoch:
        crs.SetCoordinateEpoch(epoch)
    crs.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    return crs
