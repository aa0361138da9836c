"""Writes content.h and content.c: what a create info says, as bytes without pointers, so that two identically defined
objects can be told by comparing bytes.
"""

from deep_copy import OUTPUTS, REFUSED, Copier
from dispatch import NOTICE, guarded

ROOTS = [
    "VkDescriptorSetLayoutCreateInfo",
    "VkPipelineLayoutCreateInfo",
    "VkRenderPassCreateInfo",
    "VkRenderPassCreateInfo2",
    "VkSamplerCreateInfo",
    "VkSamplerYcbcrConversionCreateInfo",
]

HEADER = """/*
 * The content of a create info as bytes: every member in order, what pointers point to instead of the pointers, pNext
 * chains with their structures' types, handles as they are. Equal bytes mean identically defined. The info must be a
 * deep copy (deep_copy.h), in which ignored members are cleared and every structure is known.
 *
 * false: out of memory, over the buffer's cap, or a structure in a chain that is not known.
 *
 * Thread safety: any thread, one buffer a thread.
 */
#pragma once

#include "base/buffer.h"
#include <vulkan/vulkan.h>

"""

SOURCE = """#include "content.h"

static bool content_chain(struct pm_buffer *out, const void *next);

static bool append_present(struct pm_buffer *out, const void *pointer)
{
    const unsigned char present = pointer != NULL;
    return pm_buffer_append(out, &present, sizeof present);
}

"""


class Writer:
    def __init__(self, registry):
        self.copier = Copier(registry)
        self.registry = registry
        self.structures = {}
        self.chained = {}
        for root in ROOTS:
            self._reach(root)

    def _structure(self, name):
        """A structure whose members must be looked at one by one, None for what is plain bytes."""
        structure = self.copier._structure(name)
        return None if structure is None or structure.union else structure

    def _reach(self, name):
        structure = self._structure(name)
        if structure is None or structure.name in self.structures:
            return
        self.structures[structure.name] = structure
        for member in structure.members:
            if member.name != "pNext":
                self._reach(member.type)
        for other in self.registry.structures.values():
            if structure.name in other.extends and other.name not in OUTPUTS + REFUSED:
                self.chained[other.name] = other
                self._reach(other.name)

    def member(self, structure, member):
        name, where = member.name, "value->" + member.name
        if name == "pNext":
            if structure.name in self.chained:
                return ""  # whoever walks the chain goes on
            return "    if (!content_chain(out, value->pNext))\n        return false;\n"
        inner = self._structure(member.type)
        if member.bits or (member.pointers and not member.length[0] and member.type == "void"):
            raise SystemExit("%s.%s: content of unknown size" % (structure.name, name))
        if member.pointers > 1 or member.length[-1] == "null-terminated":
            raise SystemExit("%s.%s: content of strings" % (structure.name, name))
        if member.pointers:
            count = self.copier.length(structure, member.length[0]) if member.length[0] else "1"
            text = "    if (!append_present(out, %s))\n        return false;\n" % where
            if inner is None:
                size = "1" if member.type == "void" else "sizeof(*%s)" % where
                return text + ("    if (%s && !pm_buffer_append(out, %s, (size_t)(%s) * %s))\n"
                               "        return false;\n" % (where, where, count, size))
            return text + ("    for (size_t i = 0; %s && i < %s; i++) {\n"
                           "        if (!content_%s(out, &%s[i]))\n            return false;\n    }\n"
                           % (where, count, inner.name, where))
        if inner is None:
            return ("    if (!pm_buffer_append(out, &%s, sizeof(%s)))\n        return false;\n"
                    % (where, where))
        if not member.array:
            return "    if (!content_%s(out, &%s))\n        return false;\n" % (inner.name, where)
        return ("    for (size_t i = 0; i < sizeof(%s) / sizeof(%s[0]); i++) {\n"
                "        if (!content_%s(out, &%s[i]))\n            return false;\n    }\n"
                % (where, where, inner.name, where))

    def signature(self, name):
        return "static bool content_%s(struct pm_buffer *out, const %s *value)" % (name, name)

    def functions(self):
        structures = [self.structures[n] for n in sorted(self.structures)]
        text = "".join(guarded(s.guard, self.signature(s.name) + ";\n") for s in structures) + "\n"
        for s in structures:
            body = "".join(self.member(s, m) for m in s.members)
            text += guarded(s.guard, "%s\n{\n%s    return true;\n}\n\n" % (self.signature(s.name), body))
        return text

    def chain(self):
        cases = ""
        for name in sorted(self.chained):
            s = self.chained[name]
            cases += guarded(s.guard, "        case %s:\n"
                             "            if (!content_%s(out, (const %s *)item))\n"
                             "                return false;\n            break;\n" % (s.stype, name, name))
        return """static bool content_chain(struct pm_buffer *out, const void *next)
{
    for (const VkBaseInStructure *item = next; item; item = item->pNext) {
        if (!append_present(out, item))
            return false;
        switch ((int64_t)item->sType) {
%s        default:
            return false;
        }
    }
    return append_present(out, NULL);
}

""" % cases


def public(name):
    return "bool pm_content_%s(struct pm_buffer *out, const %s *info)" % (name[2:], name)


def write(registry, emit):
    writer = Writer(registry)
    notice = NOTICE % registry.version
    emit("content.h", notice + HEADER + "".join(public(root) + ";\n" for root in ROOTS))
    source = notice + SOURCE + writer.functions() + writer.chain()
    for root in ROOTS:
        source += "%s\n{\n    return content_%s(out, info);\n}\n\n" % (public(root), root)
    emit("content.c", source)
