/*
 * Every structure of the headers that extends another one, provisional ones apart: the generated
 * extending.h as a table, since a compiler takes half a minute for it in code.
 *
 * Thread safety: constants.
 */
#pragma once

#include <stddef.h>
#include <vulkan/vulkan.h>

struct extending {
    const char *base, *structure; /* what may be extended, and what extends it */
    VkStructureType type;
    size_t size; /* bytes */
};
extern const struct extending extending[];
extern const size_t extending_count;
