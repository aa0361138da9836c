# pm_room(ROOM SOURCES file… [LIBRARIES library…] [PUBLIC library…] [OBJECT])
#
# The target of a room of scripts/rooms.txt: pm_ and the room's path, as pm_layer_core for layer/core. It links what
# rooms.txt says that the room may use, and no other room of ours. LIBRARIES are other people's, for its sources alone;
# PUBLIC ones are in its headers too. OBJECT: for a room whose symbols a shared library exports. A room without sources
# stands for what it may use.
set(PM_ROOMS ${CMAKE_CURRENT_LIST_DIR}/../scripts/rooms.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PM_ROOMS})

# pm_room_program(ROOM NAME SOURCES file… [LIBRARIES library…])
#
# A program whose sources are the room's: it links the room's target where there is one, and what the room may use.
#
# Which targets may hold a room's sources is written to room_targets.txt of the build, "TARGET ROOM" a line, for
# scripts/check_rooms.py.

# The targets of the rooms that a room may use.
function(pm_room_uses room result)
  file(STRINGS ${PM_ROOMS} lines REGEX "^[a-z]")
  set(uses)
  set(below NO)
  set(targets)
  foreach(line ${lines})
    string(REGEX MATCH "^([a-z_/]+):(.*)$" matched "${line}")
    set(name ${CMAKE_MATCH_1})
    if(name STREQUAL room)
      separate_arguments(uses UNIX_COMMAND "base ${CMAKE_MATCH_2}")
      set(below YES)
    elseif(below)
      foreach(use ${uses})
        if(name STREQUAL use OR name MATCHES "^${use}/")
          string(REPLACE "/" "_" target "pm_${name}")
          list(APPEND targets $<TARGET_NAME_IF_EXISTS:${target}>)
        endif()
      endforeach()
    endif()
  endforeach()
  if(NOT below)
    message(FATAL_ERROR "${room} is not in scripts/rooms.txt")
  endif()
  set(${result} ${targets} PARENT_SCOPE)
endfunction()

function(pm_room room)
  cmake_parse_arguments(PARSE_ARGV 1 ROOM "OBJECT" "" "SOURCES;LIBRARIES;PUBLIC")
  string(REPLACE "/" "_" target "pm_${room}")
  pm_room_uses(${room} uses)
  if(NOT ROOM_SOURCES)
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${uses} ${ROOM_PUBLIC})
    return()
  endif()
  set(kind STATIC)
  if(ROOM_OBJECT)
    set(kind OBJECT)
  endif()
  add_library(${target} ${kind} ${ROOM_SOURCES})
  if(PM_LAYER_LTO AND room MATCHES "^(layer/|sampler$)")
    target_compile_options(${target} PRIVATE -flto=auto -ffat-lto-objects)
  endif()
  set_property(GLOBAL APPEND PROPERTY PM_ROOM_TARGETS "${target} ${room}")
  target_link_libraries(${target} PUBLIC ${uses} ${ROOM_PUBLIC} PRIVATE ${ROOM_LIBRARIES})
endfunction()

function(pm_room_program room name)
  cmake_parse_arguments(PARSE_ARGV 2 ROOM "" "" "SOURCES;LIBRARIES")
  string(REPLACE "/" "_" own "pm_${room}")
  pm_room_uses(${room} uses)
  add_executable(${name} ${ROOM_SOURCES})
  set_property(GLOBAL APPEND PROPERTY PM_ROOM_TARGETS "${name} ${room}")
  target_link_libraries(${name} PRIVATE $<TARGET_NAME_IF_EXISTS:${own}> ${uses} ${ROOM_LIBRARIES})
endfunction()

# For the last line of the root's CMakeLists.txt.
function(pm_write_room_targets)
  get_property(targets GLOBAL PROPERTY PM_ROOM_TARGETS)
  list(JOIN targets "\n" text)
  file(WRITE ${CMAKE_BINARY_DIR}/room_targets.txt "${text}\n")
endfunction()
