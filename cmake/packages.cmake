# What is installed besides programs, the uninstall target, and Debian packages by CPack:
#
#   cmake --preset package && cmake --build --preset package && cpack --config build/package/CPackConfig.cmake
#   cmake --preset package32 && cmake --build --preset package32 && cpack --config build/package32/CPackConfig.cmake
#
# piecemeal-layer: the layer and its manifests, of one architecture beside another's; piecemeal: the tools;
# piecemeal-aggregator: what the service needs beside them; piecemeal-dev: the header for games. A build of the layer
# alone (PM_LAYER_ONLY, as in 32 bits) makes the first.

configure_file(${CMAKE_SOURCE_DIR}/cmake/uninstall.cmake.in ${CMAKE_BINARY_DIR}/uninstall.cmake @ONLY)
add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -P ${CMAKE_BINARY_DIR}/uninstall.cmake VERBATIM)

# Who stands in the packages: as Debian's tools have it, else who made the last commit (docs/building.md).
set(PM_PACKAGER "" CACHE STRING "Who makes packages: Name <address>")
if(PM_PACKAGER STREQUAL "" AND DEFINED ENV{DEBEMAIL})
  set(PM_PACKAGER "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
elseif(PM_PACKAGER STREQUAL "")
  execute_process(COMMAND git log -1 "--format=%an <%ae>" WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    OUTPUT_VARIABLE PM_PACKAGER OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
string(STRIP "${PM_PACKAGER}" PM_PACKAGER)
if(PM_PACKAGER STREQUAL "")
  set(PM_PACKAGER "Unknown packager <root@localhost>")
endif()

# ---- the header's pkg-config file ----

set(PM_PC_PREFIX ../..)
configure_file(${CMAKE_SOURCE_DIR}/manifest/packages/piecemeal.pc.in ${CMAKE_BINARY_DIR}/piecemeal.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/piecemeal.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig COMPONENT dev)

# ---- man pages and completions, from --help ----

set(pages ${CMAKE_BINARY_DIR}/pages)
if(NOT PM_LAYER_ONLY AND NOT PM_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  add_custom_command(OUTPUT ${pages}/changelog.gz
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/scripts/packages/make_pages.py $<TARGET_FILE:piecemeal>
      $<TARGET_FILE:piecemeal-sync> ${CMAKE_SOURCE_DIR}/CHANGELOG.md ${PROJECT_VERSION} ${PM_PACKAGER} ${pages}
    DEPENDS piecemeal piecemeal-sync ${CMAKE_SOURCE_DIR}/scripts/packages/make_pages.py
      ${CMAKE_SOURCE_DIR}/CHANGELOG.md
    VERBATIM)
  add_custom_target(pages ALL DEPENDS ${pages}/changelog.gz)
  install(DIRECTORY ${pages}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} FILES_MATCHING PATTERN "*.gz"
    PATTERN "piecemeal-serve*" EXCLUDE)
  install(FILES ${pages}/man1/piecemeal-serve.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
  install(FILES ${pages}/piecemeal.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    RENAME piecemeal)
  install(FILES ${pages}/_piecemeal DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
  install(FILES ${pages}/piecemeal.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# ---- what is linked statically into all of it ----

file(STRINGS ${CMAKE_SOURCE_DIR}/CHANGELOG.md released REGEX "^## [^ ]+ \\(" LIMIT_COUNT 1)
string(REGEX REPLACE ".*\\((.*)\\).*" "\\1" released "${released}")
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/piecemeal.spdx.json
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/scripts/packages/make_sbom.py ${PROJECT_VERSION} ${released}
    ${CMAKE_BINARY_DIR}/piecemeal.spdx.json
  DEPENDS ${CMAKE_SOURCE_DIR}/scripts/packages/make_sbom.py ${CMAKE_SOURCE_DIR}/scripts/khronos.txt
    ${CMAKE_SOURCE_DIR}/scripts/cjson.txt
  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} VERBATIM)
add_custom_target(sbom ALL DEPENDS ${CMAKE_BINARY_DIR}/piecemeal.spdx.json)
install(FILES ${CMAKE_BINARY_DIR}/piecemeal.spdx.json DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/piecemeal-layer
  COMPONENT layer)

# ---- packages ----

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME piecemeal)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT ${PM_PACKAGER})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# Policy 8.4 and 10.9: nobody but root writes there.
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# component(NAME PACKAGE SECTION SUMMARY DESCRIPTION)
macro(component name package section summary description)
  string(TOUPPER ${name} upper)
  list(APPEND CPACK_COMPONENTS_ALL ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}\n${description}")
  install(FILES ${CMAKE_SOURCE_DIR}/manifest/packages/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package}
    COMPONENT ${name} EXCLUDE_FROM_ALL)
  if(EXISTS ${CMAKE_SOURCE_DIR}/manifest/packages/overrides/${package})
    install(FILES ${CMAKE_SOURCE_DIR}/manifest/packages/overrides/${package}
      DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT ${name} EXCLUDE_FROM_ALL)
  endif()
  if(TARGET pages)
    install(FILES ${pages}/changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${name}
      EXCLUDE_FROM_ALL)
  endif()
endmacro()

component(layer piecemeal-layer libs "Vulkan layer for Cooperative PGO"
  "Inside each game it samples how shaders behave, and uses faster versions of\nthem that were made by what was sampled. It is loaded where the environment\nhas PIECEMEAL_ENABLE=1, as piecemeal run sets it.")
set(CPACK_DEBIAN_LAYER_PACKAGE_RECOMMENDS "piecemeal")
# What the one keeps on the disk the other reads, of the same version only.
set(CPACK_DEBIAN_LAYER_PACKAGE_BREAKS "piecemeal (<< ${PROJECT_VERSION}), piecemeal (>> ${PROJECT_VERSION})")
# Of i386 beside it CPack knows neither the name nor what the library needs: it names this machine's, and asks for
# its packages of 32-bit libraries. The C library is all that the layer needs, of the version that it was built with.
if(PM_I386_ROOT)
  string(REGEX REPLACE "-.*" "" architecture "${CMAKE_LIBRARY_ARCHITECTURE}")
  file(STRINGS ${PM_I386_ROOT}/usr/include/features.h glibc REGEX "define[ \t]+__GLIBC(_MINOR)?__[ \t]+[0-9]+")
  string(REGEX MATCHALL "[0-9]+" glibc "${glibc}")
  string(REPLACE ";" "." glibc "${glibc}")
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE ${architecture})
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
  set(CPACK_DEBIAN_LAYER_PACKAGE_DEPENDS "libc6 (>= ${glibc})")
endif()
if(NOT PM_LAYER_ONLY)
  component(tools piecemeal utils "Cooperative PGO for Vulkan: the command line"
    "Runs games with the layer, shows and reports what it found, and sends it to an\naggregator where the player agreed.")
  set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "piecemeal-layer (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "piecemeal-aggregator, mangohud")
  component(aggregator piecemeal-aggregator net "Cooperative PGO for Vulkan: the aggregator's service"
    "Brings the profiles of many players together (piecemeal serve): the unit of\nthe service, its example configuration and its schema.")
  set(CPACK_DEBIAN_AGGREGATOR_PACKAGE_DEPENDS "piecemeal (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_AGGREGATOR_PACKAGE_ARCHITECTURE all)
  component(dev piecemeal-dev libdevel "Cooperative PGO for Vulkan: the header for games"
    "One header that tells the layer which scene a game plays, so that each has a\nprofile of its own. Nothing is linked; without the layer it does nothing.")
  set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libvulkan-dev")
  set(CPACK_DEBIAN_DEV_PACKAGE_ARCHITECTURE all)
endif()

# What CMake 3.25 cannot say in a package.
set(CPACK_POST_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/finish_deb.cmake)
include(CPack)
