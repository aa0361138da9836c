# Toolchain of the 32-bit layer on an x86-64 Debian 12: the machine's own compiler with -m32, and the i386 packages that
# scripts/fetch_i386.sh unpacked to build/i386/root. The layer itself names no path of them. Programs do, so that tests run
# where nothing of 32 bits is installed; DT_RPATH, since what they load must find libm there too.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR i686)
set(PM_I386_ROOT ${CMAKE_CURRENT_LIST_DIR}/../build/i386/root CACHE PATH "Where scripts/fetch_i386.sh unpacked i386")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PM_I386_ROOT)
get_filename_component(root ${PM_I386_ROOT} ABSOLUTE)

set(CMAKE_C_COMPILER gcc)
set(CMAKE_CXX_COMPILER g++)
set(CMAKE_SYSROOT ${root})
set(CMAKE_LIBRARY_ARCHITECTURE i386-linux-gnu)
# SSE2 for floats, as every processor since 2004 has it: what is computed is what 64 bits compute.
set(flags "-m32 -msse2 -mfpmath=sse -B${root}/usr/lib/gcc/i686-linux-gnu/12")
set(CMAKE_C_FLAGS_INIT ${flags})
set(CMAKE_CXX_FLAGS_INIT
  "${flags} -nostdinc++ -isystem ${root}/usr/include/c++/12 -isystem ${root}/usr/include/i386-linux-gnu/c++/12")
string(CONCAT CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--dynamic-linker=${root}/lib/ld-linux.so.2 -Wl,--disable-new-dtags "
  "-Wl,-rpath,${root}/lib/i386-linux-gnu:${root}/usr/lib/i386-linux-gnu")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${root}/usr/lib/i386-linux-gnu/pkgconfig:${root}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${root})
