# What the driver tells of itself: its version, and the commit and compiler it was built with.
set(build ${GDAL_ZARR_COMMIT})
list(APPEND build "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" ${CMAKE_BUILD_TYPE})
list(JOIN build ", " build)
set_source_files_properties(entry/build_info.cpp PROPERTIES COMPILE_DEFINITIONS
  "GDAL_ZARR_VERSION=\"${PROJECT_VERSION}\";GDAL_ZARR_BUILD=\"${build}\"")
