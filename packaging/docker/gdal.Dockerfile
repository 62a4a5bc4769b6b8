# GDAL's own image with the plugin. Tried on a stand-in: see ../README.md.
#
#   docker build -f packaging/docker/gdal.Dockerfile --build-arg TAG=ubuntu-small-3.10.3 -t gdal-zarr .
#
# Its libgdal is not a package of the distribution, and has its headers in place.
ARG TAG=ubuntu-small-3.10.3
FROM ghcr.io/osgeo/gdal:${TAG} AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
    g++ cmake ninja-build pkg-config nlohmann-json3-dev libblosc-dev libdeflate-dev libzstd-dev \
    liblz4-dev liblzma-dev libbz2-dev libzfp-dev
WORKDIR /gdal-zarr
COPY . .
RUN cmake -G Ninja -S . -B build/image -DCMAKE_BUILD_TYPE=Release \
 && cmake --build build/image --target gdal_Zarr \
 && DESTDIR=/image cmake --install build/image --component plugin
# The packages with the libraries that the plugin needs, whose names differ between releases. zfp is
# loaded by its name. dpkg knows some files without /usr.
RUN { ldd "$(find /image -name gdal_Zarr.so)" | awk '$2 == "=>" { print $3 }' \
      && ls /usr/lib/*/libzfp.so; } \
    | xargs readlink -f | sed 'p; s,^/usr,,' | xargs dpkg-query -S 2>/dev/null \
    | sed '/^diversion /d; s/:.*//' | sort -u >/packages

FROM ghcr.io/osgeo/gdal:${TAG}
COPY --from=build /packages /tmp/packages
RUN apt-get update \
 && xargs apt-get install -y --no-install-recommends --no-upgrade </tmp/packages \
 && rm -rf /var/lib/apt/lists/* /tmp/packages
COPY --from=build /image/ /
RUN gdalinfo --format Zarr | grep GDAL_ZARR_VERSION
