# cmake -DOUTPUT=FILE -P packaging/write_release.cmake: writes the file RELEASE of a source tarball,
# which version.cmake reads.
cmake_minimum_required(VERSION 3.25)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH PROJECT_SOURCE_DIR)
file(READ "${PROJECT_SOURCE_DIR}/CMakeLists.txt" lists)
string(REGEX MATCH "project\\([a-z-]+ VERSION ([0-9.]+)" _ "${lists}")
set(PROJECT_VERSION ${CMAKE_MATCH_1})
include("${CMAKE_CURRENT_LIST_DIR}/version.cmake")
execute_process(COMMAND "${GIT_EXECUTABLE}" -C "${PROJECT_SOURCE_DIR}" log -1 --format=%ct
  OUTPUT_VARIABLE seconds OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "-dirty" "" GDAL_ZARR_COMMIT "${GDAL_ZARR_COMMIT}")  # only commits are packaged
file(WRITE "${OUTPUT}" "${GDAL_ZARR_PACKAGE_VERSION}\n${seconds}\n${GDAL_ZARR_COMMIT}\n")
