# pm_cjson: the cJSON of scripts/cjson.txt, static and hidden. It is in the layer, which lives in foreign processes: a
# game may have a cJSON of its own, and a container none. What is missing is fetched once, unless -DPM_CJSON names a
# folder.
set(fetched ${CMAKE_SOURCE_DIR}/build/cjson)
set(PM_CJSON ${fetched} CACHE PATH "Folder with cjson/cJSON.c and cJSON.h of the version in scripts/cjson.txt")

set(pins ${CMAKE_SOURCE_DIR}/scripts/cjson.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${pins})
if(PM_CJSON STREQUAL fetched)
  execute_process(COMMAND ${CMAKE_SOURCE_DIR}/scripts/fetch_cjson.sh COMMAND_ERROR_IS_FATAL ANY)
endif()
file(STRINGS ${pins} wanted REGEX "^cjson ")
string(REGEX REPLACE "^cjson +([^ ]+) .*" "\\1" wanted "${wanted}")
file(STRINGS ${PM_CJSON}/cjson/cJSON.h found REGEX "^#define CJSON_VERSION_")
string(REGEX REPLACE "[^0-9;]" "" found "${found}")
string(REPLACE ";" "." found "${found}")
if(NOT found STREQUAL wanted)
  message(FATAL_ERROR "${PM_CJSON} has cJSON \"${found}\", not ${wanted} (scripts/cjson.txt).")
endif()

add_library(pm_cjson STATIC ${PM_CJSON}/cjson/cJSON.c)
target_compile_definitions(pm_cjson PRIVATE ENABLE_LOCALES) # a game's locale may have a decimal comma
target_compile_options(pm_cjson PRIVATE -w) # its warnings are not ours
target_include_directories(pm_cjson SYSTEM INTERFACE ${PM_CJSON})
