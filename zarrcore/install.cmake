# Installs zarrcore for other programs: headers, the library, a CMake package and a pkg-config file.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# find_headers(result header): the header and all of ours that it includes, also indirectly. Those
# that zarrcore.h does not name are details, but compilers need them.
function(find_headers result header)
  set(found ${header})
  set(queue ${header})
  while(queue)
    list(POP_FRONT queue next)
    file(STRINGS "${PROJECT_SOURCE_DIR}/${next}" lines REGEX "^#include \"zarrcore/")
    foreach(line IN LISTS lines)
      string(REGEX MATCH "zarrcore/[^\"]+" name "${line}")
      if(NOT name IN_LIST found)
        list(APPEND found ${name})
        list(APPEND queue ${name})
      endif()
    endforeach()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${next}")
  endwhile()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

find_headers(headers zarrcore/zarrcore.h)
foreach(header IN LISTS headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES "${PROJECT_SOURCE_DIR}/${header}"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/${folder}" COMPONENT development)
endforeach()

set(library zarrcore)
if(BUILD_SHARED_LIBS)
  set(library zarrcore_shared)
endif()
install(TARGETS ${library} EXPORT zarrcoreTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT development)

list(JOIN codec_modules " " ZARRCORE_MODULES)
set(packages "${CMAKE_INSTALL_LIBDIR}/cmake/zarrcore")
install(EXPORT zarrcoreTargets NAMESPACE zarrcore:: DESTINATION "${packages}" COMPONENT development)
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/zarrcoreConfig.cmake.in"
  "${CMAKE_CURRENT_BINARY_DIR}/zarrcoreConfig.cmake" INSTALL_DESTINATION "${packages}"
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/zarrcoreConfigVersion.cmake"
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMajorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/zarrcoreConfig.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/zarrcoreConfigVersion.cmake"
        DESTINATION "${packages}" COMPONENT development)

# For pkg-config. Programs link the codec libraries themselves if zarrcore is static.
set(libraries "-pthread")
if(ZARRCORE_BZ2)
  string(APPEND libraries " -lbz2")
endif()
if(ZARRCORE_ZFP AND NOT ZFP_SONAME)
  string(APPEND libraries " -lzfp")
elseif(CMAKE_DL_LIBS)
  string(APPEND libraries " -l${CMAKE_DL_LIBS}")
endif()
if(BUILD_SHARED_LIBS)
  set(PC_REQUIRES nlohmann_json)
  set(PC_LIBRARIES "")
else()
  set(PC_REQUIRES "nlohmann_json ${ZARRCORE_MODULES}")
  set(PC_LIBRARIES " ${libraries}")
endif()
# Found from the place of this file, so that an installed tree can be moved.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
           BASE_DIRECTORY "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" OUTPUT_VARIABLE PC_PREFIX)
configure_file("${CMAKE_CURRENT_LIST_DIR}/zarrcore.pc.in" "${CMAKE_CURRENT_BINARY_DIR}/zarrcore.pc"
               @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/zarrcore.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)
