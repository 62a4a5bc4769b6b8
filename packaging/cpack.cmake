# Packages: `cpack --config build/release/CPackConfig.cmake -G DEB` makes Debian packages, and
# `cpack --config build/release/CPackSourceConfig.cmake` a tarball of the source tree. script/package
# does both in a Debian that has nothing else, so that the packages do not depend on this machine.
set(PACKAGE_RELEASE 1 CACHE STRING "The revision of Debian packages, such as 1~deb12")

set(CPACK_PACKAGE_NAME ${PROJECT_NAME})
set(CPACK_PACKAGE_VERSION ${GDAL_ZARR_PACKAGE_VERSION})
set(CPACK_PACKAGE_VENDOR ${PROJECT_NAME})
set(CPACK_PACKAGE_CONTACT "The developers of ${PROJECT_NAME} <${PROJECT_NAME}@localhost>")
# CPack's default, which it does not put before the descriptions of the packages.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_NAME} built using CMake")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)

set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME "${CPACK_PACKAGE_NAME}-${CPACK_PACKAGE_VERSION}")
set(CPACK_VERBATIM_VARIABLES ON)
string(REGEX REPLACE "([][+.*()^$?|\\])" "\\\\\\1" source_folder "${PROJECT_SOURCE_DIR}")
set(CPACK_SOURCE_IGNORE_FILES
  "^${source_folder}/(build|\\.git|\\.cache)/" "^${source_folder}/\\.git$"
  "/(node_modules|__pycache__|\\.pytest_cache)/" "\\.aux\\.xml$")

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL "")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${PACKAGE_RELEASE})
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# package_of(result library): the Debian package that a library belongs to; empty if none.
function(package_of result library)
  file(REAL_PATH "${library}" library)
  execute_process(COMMAND dpkg-query -S "${library}" OUTPUT_VARIABLE line
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  string(REGEX REPLACE ":.*" "" package "${line}")
  set(${result} "${package}" PARENT_SCOPE)
endfunction()

set(zfp_package "")
get_directory_property(ZFP_SONAME DIRECTORY zarrcore DEFINITION ZFP_SONAME)
if(ZFP_SONAME)
  # Loaded at run time, so dpkg-shlibdeps does not see it.
  package_of(zfp_package "${ZFP_LIBRARY}")
endif()

if(BUILD_DRIVER)
  list(APPEND CPACK_COMPONENTS_ALL plugin)
  set(CPACK_COMPONENT_PLUGIN_DESCRIPTION "Zarr driver for GDAL
Replaces GDAL's built-in Zarr driver under the same name: gdalinfo, QGIS,
rasterio and every other GDAL-based program reads and writes Zarr v2 and v3
through it, including shards, Kerchunk references, Icechunk repositories and
zipped stores. Removing the package brings the built-in driver back.")
  set(CPACK_DEBIAN_PLUGIN_PACKAGE_NAME gdal-plugin-zarr)
  set(CPACK_DEBIAN_PLUGIN_PACKAGE_SECTION science)
  set(CPACK_DEBIAN_PLUGIN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PLUGIN_PACKAGE_DEPENDS "${zfp_package}")
  set(CPACK_DEBIAN_PLUGIN_PACKAGE_RECOMMENDS gdal-bin)
  set(CPACK_DEBIAN_PLUGIN_PACKAGE_SUGGESTS "python3-gdal, python3-rasterio, qgis")
endif()
if(INSTALL_ZARRCORE AND NOT BUILD_SHARED_LIBS)
  list(APPEND CPACK_COMPONENTS_ALL development)
  set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "C++20 library that reads and writes Zarr stores
Headers and the static library of zarrcore, on which the Zarr driver
gdal-plugin-zarr is built. GDAL is not needed.")
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libzarrcore-dev)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
  list(APPEND development_packages nlohmann-json3-dev libdeflate-dev libzstd-dev libblosc-dev
       liblz4-dev liblzma-dev libbz2-dev ${zfp_package})
  list(JOIN development_packages ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS pkgconf)
endif()

# What only Debian wants in each of its packages.
option(INSTALL_DEBIAN_DOCUMENTS "Install licence, changelog and examples as Debian places them" OFF)
if(INSTALL_DEBIAN_DOCUMENTS)
  foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER ${component} upper)
    set(folder share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
    install(FILES LICENSE DESTINATION ${folder} RENAME copyright COMPONENT ${component})
    install(FILES CHANGELOG.md DESTINATION ${folder} COMPONENT ${component})
  endforeach()
  # The pages with all that they link to, and the samples on which their commands work, side by side as
  # in the sources.
  set(pages share/doc/gdal-plugin-zarr)
  install(FILES README.md CONTRIBUTING.md SECURITY.md CODE_OF_CONDUCT.md LICENSE
          DESTINATION ${pages} COMPONENT plugin)
  install(FILES packaging/README.md DESTINATION ${pages}/packaging COMPONENT plugin)
  install(DIRECTORY data DESTINATION ${pages} COMPONENT plugin
          PATTERN "*.aux.xml" EXCLUDE PATTERN .gitattributes EXCLUDE)
  install(DIRECTORY doc DESTINATION ${pages} COMPONENT plugin
          FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png"
          PATTERN man EXCLUDE PATTERN site EXCLUDE)
  install(DIRECTORY examples/dask examples/qgis DESTINATION ${pages}/examples COMPONENT plugin
          PATTERN __pycache__ EXCLUDE)
  install(FILES doc/library.md DESTINATION share/doc/libzarrcore-dev COMPONENT development)
  install(DIRECTORY examples DESTINATION share/doc/libzarrcore-dev COMPONENT development
          PATTERN dask EXCLUDE PATTERN qgis EXCLUDE)
endif()

include(CPack)
