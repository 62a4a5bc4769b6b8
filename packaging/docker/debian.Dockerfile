# GDAL's programs, rasterio and the plugin on Debian 13, without compiler. Tried with Buildah: see
# ../README.md.
#
#   docker build -f packaging/docker/debian.Dockerfile -t gdal-zarr .
#   docker run --rm -v "$PWD/data:/data" gdal-zarr gdalinfo /data/geoid_v3_sharded.zarr
FROM debian:trixie-slim AS build
WORKDIR /gdal-zarr
COPY script/setup script/progress script/
RUN apt-get update \
 && apt-get install -y --no-install-recommends dpkg-dev file \
 && script/setup --build
COPY . .
RUN cmake -G Ninja -S . -B build/package -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr \
 && cmake --build build/package --target gdal_Zarr \
 && cd build/package && cpack -G DEB

FROM debian:trixie-slim
COPY --from=build /gdal-zarr/build/package/gdal-plugin-zarr_*.deb /tmp/
RUN apt-get update \
 && apt-get install -y --no-install-recommends gdal-bin python3-gdal python3-rasterio \
    /tmp/gdal-plugin-zarr_*.deb \
 && rm -rf /var/lib/apt/lists/* /tmp/*.deb
CMD ["gdalinfo", "--format", "Zarr"]
