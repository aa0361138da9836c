/*
 * SPIRV-Tools' C interface, for C: its header defines a constant that C, unlike C++, gives external linkage, so that
 * two files including it would not link. Weak, they may.
 */
#pragma once

#include <stdint.h>

extern const uint32_t kDefaultMaxIdBound __attribute__((weak));

#include <spirv-tools/libspirv.h>
