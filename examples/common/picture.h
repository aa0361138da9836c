/*
 * Pictures: 8-bit RGBA, rows from the top, tightly packed. Written as PNG (libpng) and told apart
 * by their BLAKE2b-128 (as `b2sum -l 128` prints it).
 */
#pragma once

#include "base/error.h"
#include <stdint.h>

bool pm_picture_write(const char *path, const uint8_t *rgba, uint32_t width, uint32_t height,
                      struct pm_error *error);

#define PM_PICTURE_HASH_SIZE 33
/* 32 hexadecimal digits and a NUL. */
void pm_picture_hash(const uint8_t *rgba, uint32_t width, uint32_t height,
                     char out[PM_PICTURE_HASH_SIZE]);
