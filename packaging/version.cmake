# The version of packages. A release is a commit with the tag v1.0.0, the version of project(). Other
# commits are named after their day and hash: 1.0.0~git… comes before the release, 1.0.0+git… after it.
# Without an answer of git, it is 1.0.0~unknown. In a source tarball, the file RELEASE says it, which
# script/package writes: version, seconds since 1970, commit.
set(GDAL_ZARR_PACKAGE_VERSION ${PROJECT_VERSION})
set(GDAL_ZARR_COMMIT "")
find_package(Git QUIET)
if(EXISTS "${PROJECT_SOURCE_DIR}/RELEASE")
  file(STRINGS "${PROJECT_SOURCE_DIR}/RELEASE" release)
  list(GET release 0 GDAL_ZARR_PACKAGE_VERSION)
  list(GET release 2 GDAL_ZARR_COMMIT)
elseif(EXISTS "${PROJECT_SOURCE_DIR}/.git")
  execute_process(COMMAND "${GIT_EXECUTABLE}" -C "${PROJECT_SOURCE_DIR}" describe --always --dirty --exclude *
    OUTPUT_VARIABLE GDAL_ZARR_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND "${GIT_EXECUTABLE}" -C "${PROJECT_SOURCE_DIR}"
      tag --points-at HEAD --list "v[0-9]*"
    OUTPUT_VARIABLE tag OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(tag AND NOT tag STREQUAL "v${PROJECT_VERSION}")
    message(FATAL_ERROR "The tag of this commit is ${tag}, but project() says ${PROJECT_VERSION}")
  elseif(NOT tag)
    execute_process(COMMAND "${GIT_EXECUTABLE}" -C "${PROJECT_SOURCE_DIR}"
        tag --merged HEAD --list "v${PROJECT_VERSION}"
      OUTPUT_VARIABLE released OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(COMMAND "${GIT_EXECUTABLE}" -C "${PROJECT_SOURCE_DIR}"
        log -1 --date=format:%Y%m%d --format=git%cd.%h
      OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(commit STREQUAL "")
      # Not installed, or the folder belongs to another user.
      execute_process(COMMAND "${GIT_EXECUTABLE}" -C "${PROJECT_SOURCE_DIR}" rev-parse HEAD
        OUTPUT_QUIET ERROR_VARIABLE reason)
      message(STATUS "git does not answer: packages get the version ${PROJECT_VERSION}~unknown. ${reason}")
      string(APPEND GDAL_ZARR_PACKAGE_VERSION "~unknown")
    elseif(released)
      string(APPEND GDAL_ZARR_PACKAGE_VERSION "+${commit}")
    else()
      string(APPEND GDAL_ZARR_PACKAGE_VERSION "~${commit}")
    endif()
  endif()
  if(NOT CMAKE_SCRIPT_MODE_FILE)
    execute_process(
      COMMAND "${GIT_EXECUTABLE}" -C "${PROJECT_SOURCE_DIR}" rev-parse --git-path logs/HEAD
      OUTPUT_VARIABLE git_log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    cmake_path(ABSOLUTE_PATH git_log BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    if(EXISTS "${git_log}" AND NOT IS_DIRECTORY "${git_log}")
      # A new commit changes what it says.
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${git_log}")
    endif()
  endif()
endif()
