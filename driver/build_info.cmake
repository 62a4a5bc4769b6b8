# What the driver tells of itself: its version, and the commit and compiler it was built with.
set(build "")
find_package(Git QUIET)
if(GIT_FOUND AND EXISTS "${PROJECT_SOURCE_DIR}/.git")
  execute_process(
    COMMAND "${GIT_EXECUTABLE}" -C "${PROJECT_SOURCE_DIR}" describe --always --dirty
    OUTPUT_VARIABLE build OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(
    COMMAND "${GIT_EXECUTABLE}" -C "${PROJECT_SOURCE_DIR}" rev-parse --git-path logs/HEAD
    OUTPUT_VARIABLE git_log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  cmake_path(ABSOLUTE_PATH git_log BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
  if(build AND EXISTS "${git_log}")
    # A new commit changes what it says.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${git_log}")
  endif()
endif()
list(APPEND build "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" ${CMAKE_BUILD_TYPE})
list(JOIN build ", " build)
set_source_files_properties(entry/plugin.cpp PROPERTIES COMPILE_DEFINITIONS
  "GDAL_ZARR_VERSION=\"${PROJECT_VERSION}\";GDAL_ZARR_BUILD=\"${build}\"")
