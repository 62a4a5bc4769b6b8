# GDAL's own image with the plugin. Not tried: see ../README.md.
#
#   docker build -f packaging/docker/gdal.Dockerfile --build-arg TAG=ubuntu-small-3.10.3 -t gdal-zarr .
#
# Its libgdal is not a package of the distribution, and has its headers in place.
ARG TAG=ubuntu-small-3.10.3
FROM ghcr.io/osgeo/gdal:${TAG} AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
    g++ cmake ninja-build pkg-config nlohmann-json3-dev libblosc-dev libdeflate-dev libzstd-dev \
    liblz4-dev liblzma-dev libbz2-dev libisal-dev libzfp-dev
WORKDIR /gdal-zarr
COPY . .
RUN cmake -G Ninja -S . -B build/image -DCMAKE_BUILD_TYPE=Release \
 && cmake --build build/image --target gdal_Zarr \
 && DESTDIR=/image cmake --install build/image --component plugin

FROM ghcr.io/osgeo/gdal:${TAG}
# The codec libraries that the plugin needs and libgdal may not have; zfp is loaded by its name.
RUN apt-get update \
 && apt-get install -y --no-install-recommends libblosc1 libisal2 libzfp1 \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /image/ /
RUN gdalinfo --format Zarr | grep GDAL_ZARR_VERSION
