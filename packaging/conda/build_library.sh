#!/usr/bin/env bash
# Not tried with conda: see ../README.md.
set -euo pipefail
# shellcheck disable=SC2086  # CMAKE_ARGS are several
cmake -G Ninja -S "$SRC_DIR" -B build-library $CMAKE_ARGS -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib \
  -DBUILD_DRIVER=OFF -DBUILD_SHARED_LIBS=ON
cmake --build build-library
cmake --install build-library --component development
