# Toolchain of SPIRV-Tools for the preset `fuzz`: with the address sanitizer, and with what tells libFuzzer which of its
# branches an input reaches. `scripts/fetch_khronos.sh build cmake/fuzz.cmake` makes build/khronos-fuzz with it.
set(CMAKE_C_COMPILER clang-14)
set(CMAKE_CXX_COMPILER clang++-14)
set(flags "-fsanitize=fuzzer-no-link,address -fno-omit-frame-pointer -g1")
set(CMAKE_C_FLAGS_INIT ${flags})
set(CMAKE_CXX_FLAGS_INIT ${flags})
