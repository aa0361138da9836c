# The SPIRV-Tools, SPIR-V headers, Vulkan headers and vk.xml of scripts/khronos.txt, before whatever the system has:
# the targets SPIRV-Tools-static and SPIRV-Tools-opt, the include directory for all targets, PM_SPIRV_GRAMMAR and
# PM_VULKAN_REGISTRY.
set(PM_KHRONOS ${CMAKE_SOURCE_DIR}/build/khronos CACHE PATH
  "Folder with lib/, include/ and registry/ of the versions in scripts/khronos.txt")

function(pm_khronos_version package result)
  set(pins ${CMAKE_SOURCE_DIR}/scripts/khronos.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${pins})
  file(STRINGS ${pins} line REGEX "^${package} ")
  string(REGEX REPLACE "^[^ ]+ +([^ ]+) .*" "\\1" version "${line}")
  set(${result} ${version} PARENT_SCOPE)
endfunction()

function(pm_khronos_check what found wanted)
  if(NOT found STREQUAL wanted)
    message(FATAL_ERROR "${PM_KHRONOS} has ${what} \"${found}\", not ${wanted}, which shader keys are made with "
      "(scripts/khronos.txt). Run scripts/bootstrap.sh build, or give -DPM_KHRONOS= a folder that has it.")
  endif()
endfunction()

foreach(file lib/libSPIRV-Tools.a lib/libSPIRV-Tools-opt.a include/spirv-tools/optimizer.hpp
    include/spirv/unified1/spirv.core.grammar.json include/vulkan/vulkan_core.h registry/vk.xml)
  if(NOT EXISTS ${PM_KHRONOS}/${file})
    message(FATAL_ERROR "${PM_KHRONOS}/${file} is missing. Run scripts/bootstrap.sh build, which makes the folder once, "
      "or give -DPM_KHRONOS= one with the versions of scripts/khronos.txt.")
  endif()
endforeach()

pm_khronos_version(spirv-tools wanted)
file(STRINGS ${PM_KHRONOS}/lib/libSPIRV-Tools.a found REGEX "^SPIRV-Tools v[0-9]" LIMIT_COUNT 1)
string(REGEX REPLACE "^SPIRV-Tools v([^ ]*).*" "\\1" found "${found}")
pm_khronos_check(SPIRV-Tools "${found}" ${wanted})

pm_khronos_version(libvulkan-dev wanted)
file(STRINGS ${PM_KHRONOS}/include/vulkan/vulkan_core.h found REGEX "^#define VK_HEADER_VERSION(_COMPLETE)? ")
string(REGEX REPLACE ".*VK_HEADER_VERSION ([0-9]+).*MAKE_API_VERSION\\(0, ([0-9]+), ([0-9]+),.*" "\\2.\\3.\\1.0"
  found "${found}")
pm_khronos_check("Vulkan headers" "${found}" ${wanted})

# Static: the layer lives in foreign processes and must not meet another copy of it.
add_library(SPIRV-Tools-static STATIC IMPORTED GLOBAL)
set_target_properties(SPIRV-Tools-static PROPERTIES IMPORTED_LOCATION ${PM_KHRONOS}/lib/libSPIRV-Tools.a)
add_library(SPIRV-Tools-opt STATIC IMPORTED GLOBAL)
set_target_properties(SPIRV-Tools-opt PROPERTIES IMPORTED_LOCATION ${PM_KHRONOS}/lib/libSPIRV-Tools-opt.a)
target_link_libraries(SPIRV-Tools-opt INTERFACE SPIRV-Tools-static)

# The system's own headers are in directories that are looked at after these.
include_directories(SYSTEM ${PM_KHRONOS}/include)
set(PM_SPIRV_GRAMMAR ${PM_KHRONOS}/include/spirv/unified1/spirv.core.grammar.json)
set(PM_VULKAN_REGISTRY ${PM_KHRONOS}/registry)
