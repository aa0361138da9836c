#include "examples/common/picture.h"
#include <blake2.h>
#include <errno.h>
#include <png.h>
#include <stdio.h>

bool pm_picture_write(const char *path, const uint8_t *rgba, uint32_t width, uint32_t height,
                      struct pm_error *error)
{
    png_image image = {
        .version = PNG_IMAGE_VERSION,
        .width = width,
        .height = height,
        .format = PNG_FORMAT_RGBA,
    };
    if (png_image_write_to_file(&image, path, 0, rgba, (png_int_32)(width * 4), NULL))
        return true;
    return pm_fail(error, PM_ERROR_IO, "%s: %s", path, image.message);
}

void pm_picture_hash(const uint8_t *rgba, uint32_t width, uint32_t height,
                     char out[PM_PICTURE_HASH_SIZE])
{
    uint8_t digest[16] = {0};
    blake2b(digest, rgba, NULL, sizeof digest, (size_t)width * height * 4, 0);
    for (int i = 0; i < 16; i++)
        snprintf(out + i * 2, 3, "%02x", digest[i]);
}
