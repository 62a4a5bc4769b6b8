"""The archives, conventions and programs whose metadata the builders imitate: only the shape of
attributes is theirs, so a licence stands here to say where the knowledge of it comes from.
"""
from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    name: str
    licence: str  # of the data; of the description, for conventions; of the code, for programs
    described: str  # date of the description or its version; of reading it, if it has no date


NOT_STATED = "licence not stated"
SENTINEL = "free, full and open (legal notice of Copernicus Sentinel data)"
NASA = "open (NASA's Earth science data policy)"
COPERNICUS = "licence to use Copernicus products"

SOURCES = {
    # Conventions.
    "CF": Source("CF conventions 1.12", "CC0 1.0", "2024-12"),
    "spatial and proj": Source("zarr-conventions spatial and proj, v0.1", NOT_STATED, "2026-11"),
    "GeoZarr drafts": Source("drafts of GeoZarr", NOT_STATED, "2026-11"),
    "dggs": Source("zarr-conventions dggs", NOT_STATED, "2026-11"),
    "STAC": Source("STAC projection extension", NOT_STATED, "2026-11"),
    "OME-Zarr 0.4": Source("OME-Zarr 0.4", "W3C software and document licence", "2022"),
    "OME-Zarr 0.5": Source("OME-Zarr 0.5", "W3C software and document licence", "2024"),
    "UGRID": Source("UGRID conventions 1.0", NOT_STATED, "2026-11"),
    "PALM": Source("PALM input data standard", NOT_STATED, "2026-11"),
    "ADAGUC": Source("attributes of grid mappings for ADAGUC, by Deltares", NOT_STATED, "2026-11"),
    "xcube": Source("xcube dataset convention 1.1", "MIT", "2024-12"),
    # Programs.
    "xarray": Source("xarray with DataTree, 2024.10", "Apache 2.0", "2024-10"),
    "open_rasterio": Source("open_rasterio of xarray", "Apache 2.0", "2026-11"),
    "rioxarray": Source("rioxarray 0.18", "Apache 2.0", "2026-11"),
    "odc-geo": Source("odc-geo and Open Data Cube", "Apache 2.0", "2026-11"),
    "stackstac": Source("stackstac 0.4", "MIT", "2026-11"),
    "ndpyramid": Source("ndpyramid and the maps of CarbonPlan", "MIT", "2026-11"),
    "xdggs": Source("xdggs", "Apache 2.0", "2026-11"),
    "xmip": Source("xMIP", NOT_STATED, "2026-11"),
    "satpy": Source("satpy", "GPL 3 or later", "2026-11"),
    "GDAL": Source("Zarr driver of GDAL", "MIT", "2026-11"),
    "ArcGIS": Source("netCDF files of ArcGIS", NOT_STATED, "2020-01"),
    "NEMO": Source("output of NEMO", "CeCILL 2", "2026-11"),
    "MOM6": Source("output of MOM6", "LGPL 3", "2026-11"),
    "ROMS": Source("output of ROMS", "MIT", "2026-11"),
    "WRF": Source("output of WRF", "public domain", "2026-11"),
    # The atmosphere and the climate.
    "dynamical.org": Source("analyses and forecasts of dynamical.org", "CC BY 4.0", "2026-11"),
    "HRRR": Source("HRRR archive in Zarr, of NOAA and the University of Utah", "CC0 1.0",
                   "2022-04"),
    "CMIP6": Source("CMIP6 in the cloud, of Pangeo and ESGF", "CC BY 4.0", "2022-11"),
    "CORDEX": Source("CORDEX-CMIP6 archive specifications", "terms of use differ by model",
                     "2025-03"),
    "WeatherBench 2": Source("ERA5 of WeatherBench 2", COPERNICUS, "2023"),
    "ARCO-ERA5": Source("ARCO-ERA5", COPERNICUS, "2022"),
    "nextGEMS": Source("ICON output of nextGEMS, by easy.gems", NOT_STATED, "2026-11"),
    "ICON": Source("output of ICON on its own cells", NOT_STATED, "2026-11"),
    "Daymet": Source("Daymet 4, of ORNL DAAC", NASA, "2021"),
    "gridMET": Source("gridMET, of the Climatology Lab", "CC0 1.0", "2026-11"),
    "CHIRPS": Source("CHIRPS 2.0", NOT_STATED, "2015-02"),
    "GPM": Source("GPM IMERG, by kerchunk", NASA, "2026-11"),
    # The ocean and ice.
    "MUR": Source("MUR sea surface temperature in Zarr", "no restrictions", "2026-11"),
    "CMEMS": Source("ARCO stores of Copernicus Marine", NOT_STATED, "2026-11"),
    "TOPAZ": Source("TOPAZ4 analyses, of Copernicus Marine", NOT_STATED, "2026-11"),
    "OSI SAF": Source("OSI SAF sea ice concentration", "free, copyright EUMETSAT", "2021-12"),
    "NSIDC": Source("grids of NSIDC", NASA, "2026-11"),
    "ITS_LIVE": Source("ITS_LIVE data cubes", "CC0 1.0", "2026-11"),
    "OB.DAAC": Source("level 2 products of NASA OB.DAAC", NASA, "2026-11"),
    # The land.
    "NWM": Source("NOAA National Water Model reanalysis", "no restrictions", "2024-07"),
    "MODIS": Source("MODIS on the sinusoidal grid", NASA, "2026-11"),
    "LCMAP": Source("USGS LCMAP 1.3, by Open Data Cube", "unrestricted", "2026-11"),
    # Satellites.
    "MTG": Source("FCI level 1c, of EUMETSAT", "EUMETSAT data policy", "2026-11"),
    "GOES": Source("NOAA GOES-R ABI", "no restrictions", "2026-11"),
    "ISatSS": Source("NOAA ISatSS tiles", "no restrictions", "2026-11"),
    "Himawari": Source("JMA Himawari-8 and 9, of NOAA", "no restrictions", "2026-11"),
    "Sentinel-1": Source("EOPF Sentinel-1 GRD", SENTINEL, "2024-01"),
    "Sentinel-2": Source("EOPF Sentinel-2 L2A", SENTINEL, "2025-06"),
    "EOPF Explorer": Source("Sentinel-2 in GeoZarr of EOPF Explorer", SENTINEL, "2026-11"),
    "Sentinel-3": Source("Sentinel-3 OLCI and SLSTR", SENTINEL, "2022-01"),
    "Sentinel-5P": Source("Sentinel-5P TROPOMI", SENTINEL, "2026-11"),
}
