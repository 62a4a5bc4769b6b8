# Installs the plugin where the libgdal that it is linked to looks for plugins, and below the prefix the
# program gdal_zarr, its completion for bash, and the man pages.
#
# GDAL_PLUGIN_DIR names another folder; a prefix that is set (CMAKE_INSTALL_PREFIX, or cmake --install
# --prefix) takes the place of GDAL's own. DESTDIR goes before either.

set(GDAL_PLUGIN_DIR "" CACHE PATH
    "Folder to install the plugin in; when empty, the one in which libgdal looks for plugins")

# Asks gdal-config, if it is that of the libgdal in use. Older ones do not know: it is beside the library.
function(find_plugin_folder result)
  get_target_property(library GDAL::GDAL LOCATION)
  cmake_path(GET library PARENT_PATH folder)
  set(plugins "${folder}/gdalplugins")

  string(REGEX REPLACE "/lib[^/]*(/[^/]+)?$" "" prefix "${folder}")
  find_program(GDAL_CONFIG gdal-config HINTS "${prefix}/bin" NO_CACHE)
  if(GDAL_CONFIG)
    execute_process(COMMAND "${GDAL_CONFIG}" --version
      OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(COMMAND "${GDAL_CONFIG}" --plugindir RESULT_VARIABLE failed
      OUTPUT_VARIABLE told OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(NOT failed AND version VERSION_EQUAL GDAL_VERSION AND IS_ABSOLUTE "${told}")
      set(plugins "${told}")
    endif()
  endif()

  # A subfolder of its version hides from GDAL what is beside it.
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" minor "${GDAL_VERSION}")
  if(IS_DIRECTORY "${plugins}/${minor}")
    string(APPEND plugins "/${minor}")
  endif()
  set(${result} "${plugins}" PARENT_SCOPE)
endfunction()

set(destination "${GDAL_PLUGIN_DIR}")
if(NOT destination)
  find_plugin_folder(destination)
  # Named from its prefix on, so that another prefix can be given.
  if(destination MATCHES "^(.*)/(lib[^/]*(/[^/]+-[^/]+)?/gdalplugins.*)$")
    # What CMake takes when nobody has chosen, in this run or an earlier one that failed.
    if(CMAKE_INSTALL_PREFIX_INITIALIZED_TO_DEFAULT OR CMAKE_INSTALL_PREFIX STREQUAL "/usr/local")
      set(CMAKE_INSTALL_PREFIX "${CMAKE_MATCH_1}" CACHE PATH "Prefix to install to" FORCE)
    endif()
    set(destination "${CMAKE_MATCH_2}")
  endif()
endif()
install(TARGETS gdal_Zarr LIBRARY DESTINATION "${destination}" COMPONENT plugin)

cmake_path(ABSOLUTE_PATH destination BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}")
cmake_path(IS_PREFIX CMAKE_INSTALL_PREFIX "${destination}" is_below_prefix)
if(UNIX AND is_below_prefix)
  # Not with a plugin folder elsewhere: those who choose one may be unable to write to the prefix.
  include(GNUInstallDirs)
  install(FILES "${PROJECT_SOURCE_DIR}/doc/man/gdal_zarr.7"
          DESTINATION "${CMAKE_INSTALL_MANDIR}/man7" COMPONENT plugin)
  install(FILES "${PROJECT_SOURCE_DIR}/doc/man/gdal_zarr.1"
          DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT plugin)
  install(TARGETS gdal_zarr_program RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT plugin)
  install(FILES "${PROJECT_SOURCE_DIR}/driver/commands/completion.bash" RENAME gdal_zarr
          DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT plugin)
endif()
message(STATUS "The plugin for GDAL ${GDAL_VERSION} will be installed in ${destination}")

add_custom_target(uninstall
  COMMAND "${CMAKE_COMMAND}" "-DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt"
          -P "${CMAKE_CURRENT_SOURCE_DIR}/uninstall.cmake"
  COMMENT "Uninstalling"
  USES_TERMINAL VERBATIM)
