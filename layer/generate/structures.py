"""Writes structures.h and structures.c: the size of every structure that vk.xml knows by its sType."""

from dispatch import NOTICE, guarded

HEADER = """/*
 * The structures that the headers know: what stands in a pNext chain can only be copied if its size is known.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include <stddef.h>
#include <vulkan/vulkan.h>

/* The size in bytes of the structure of a type; 0: the headers do not know it. */
size_t pm_structure_size(VkStructureType type);
"""


def write(registry, emit):
    notice = NOTICE % registry.version
    emit("structures.h", notice + HEADER)
    cases = "".join(guarded(s.guard, "    case %s:\n        return sizeof(%s);\n" % (s.stype, s.name))
                    for s in sorted(registry.structures.values(), key=lambda s: s.name) if s.stype)
    emit("structures.c", notice + """#include "structures.h"

size_t pm_structure_size(VkStructureType type)
{
    switch ((int64_t)type) {
%s    default:
        return 0;
    }
}
""" % cases)
