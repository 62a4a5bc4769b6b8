#!/usr/bin/env bash
# Not tried with conda: see ../README.md.
set -euo pipefail
# shellcheck disable=SC2086  # CMAKE_ARGS are several
cmake -G Ninja -S "$SRC_DIR" -B build-plugin $CMAKE_ARGS -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_INSTALL_PREFIX="$PREFIX" -DGDAL_PLUGIN_DIR="$PREFIX/lib/gdalplugins"
cmake --build build-plugin --target gdal_Zarr
cmake --install build-plugin --component plugin
