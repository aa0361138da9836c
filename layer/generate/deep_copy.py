"""Writes deep_copy.h and deep_copy.c: copies of create infos that share no memory with the original.

A structure is copied, then "deepened": what its pointers point to is copied by their len attributes, and so on down,
pNext chains included. What may be shared is copied member by member to zeroed memory, since the application may leave
anything between its members. Where the specification lets an application leave garbage in a member, a rule
(copy_rules.h) clears it first.
"""

import re

from dispatch import NOTICE, guarded

ROOTS = [
    "VkGraphicsPipelineCreateInfo",
    "VkComputePipelineCreateInfo",
    "VkPipelineLayoutCreateInfo",
    "VkDescriptorSetLayoutCreateInfo",
    "VkRenderPassCreateInfo",
    "VkRenderPassCreateInfo2",
    "VkSamplerCreateInfo",
    "VkSamplerYcbcrConversionCreateInfo",
    "VkShaderModuleCreateInfo",
    "VkShaderCreateInfoEXT",
]

# Structures with a rule in copy_rules.h.
RULES = [
    "VkGraphicsPipelineCreateInfo",
    "VkPipelineViewportStateCreateInfo",
    "VkPipelineMultisampleStateCreateInfo",
    "VkPipelineColorBlendStateCreateInfo",
    "VkPipelineSampleLocationsStateCreateInfoEXT",
    "VkPipelineDiscardRectangleStateCreateInfoEXT",
    "VkPipelineColorWriteCreateInfoEXT",
    "VkPipelineViewportWScalingStateCreateInfoNV",
    "VkPipelineViewportShadingRateImageStateCreateInfoNV",
    "VkPipelineViewportCoarseSampleOrderStateCreateInfoNV",
    "VkPipelineViewportExclusiveScissorStateCreateInfoNV",
    "VkPipelineViewportDepthClampControlCreateInfoEXT",
    "VkPipelineRenderingCreateInfo",
    "VkAttachmentSampleCountInfoAMD",
    "VkDescriptorSetLayoutBinding",
    "VkComputePipelineCreateInfo",
    "VkPipelineShaderStageCreateInfo",
]

# Roots whose copies may share what is the same.
SHARING = ["VkGraphicsPipelineCreateInfo", "VkComputePipelineCreateInfo"]

# Through these the driver writes to the application's memory: a copy must not have them.
OUTPUTS = [
    "VkPipelineCreationFeedbackCreateInfo",
    "VkRenderPassCreationFeedbackCreateInfoEXT",
    "VkRenderPassSubpassFeedbackCreateInfoEXT",
]

# Hardly ever the same as another's: what they point to is each copy's own.
OWN = ["VkSpecializationInfo"]

# Known, but not to be copied.
REFUSED = [
    # The size of what they point to is not in them.
    "VkOpaqueCaptureDescriptorDataCreateInfoEXT",
    # For device-generated commands and work graphs, which are never sampled.
    "VkGraphicsPipelineShaderGroupsCreateInfoNV",
    "VkComputePipelineIndirectBufferInfoNV",
    "VkPipelineShaderStageNodeCreateInfoAMDX",
]


class Copier:
    def __init__(self, registry):
        self.registry = registry
        self.structures = {}  # name: Structure, every one that a copy can meet
        self.chained = {}  # those that can be in a pNext chain
        for root in ROOTS:
            self._reach(root)
        self.deep = {}
        for name in self.structures:
            self._is_deep(name)

    def _structure(self, name):
        name = self.registry.resolve(name)
        if self.registry.categories.get(name) not in ("struct", "union"):
            return None
        return self.registry.structures.get(name)

    def _reach(self, name):
        structure = self._structure(name)
        if structure is None or structure.name in self.structures:
            return
        self.structures[structure.name] = structure
        for member in structure.members:
            if member.name != "pNext":
                self._reach(member.type)
        for other in self.registry.structures.values():
            if structure.name not in other.extends or other.name in OUTPUTS + REFUSED:
                continue
            if other.stype:
                self.chained[other.name] = other
            self._reach(other.name)

    def _is_deep(self, name):
        """Whether a copy by value, its pNext aside, would share memory with the original."""
        if name in self.deep:
            return self.deep[name]
        self.deep[name] = False  # for what refers to itself
        structure = self.structures[name]
        result = False
        for member in structure.members:
            if member.name == "pNext":
                continue
            if member.pointers:
                result = True
            else:
                inner = self._structure(member.type)
                if inner is not None and (self._is_deep(inner.name) or self._has_next(inner)):
                    result = True
        if result and structure.union:
            raise SystemExit("%s: a union with pointers needs a rule of its own" % name)
        self.deep[name] = result
        return result

    @staticmethod
    def _has_next(structure):
        return any(m.name == "pNext" for m in structure.members)

    def needs_function(self, structure):
        return self.deep[structure.name] or structure.name in RULES

    # ---- text ----

    def length(self, structure, expression):
        """A len or altlen attribute as C over *value."""
        def replace(match):
            word = match.group(0)
            return "value->" + word if any(m.name == word for m in structure.members) else word
        if not re.fullmatch(r"[\w\s()+/*-]+", expression):
            raise SystemExit("%s: length %s" % (structure.name, expression))
        return re.sub(r"[A-Za-z_]\w*", replace, expression)

    def deepen(self, inner, where):
        """Statements that make one structure, found at the pointer `where`, the copy's own."""
        lines = []
        if self.needs_function(inner):
            lines.append("deepen_%s(copy, %s);\n" % (inner.name, where))
        if self._has_next(inner):
            lines.append("%s->pNext = copy_chain(copy, %s->pNext);\n" % (where, where))
        return lines

    def member(self, structure, member):
        """The lines that make one member's memory the copy's own."""
        name, where = member.name, "value->" + member.name
        if name == "pNext":
            return ""
        inner = self._structure(member.type)
        if not member.pointers:
            if inner is None or not self.deepen(inner, "item"):
                return ""
            if member.array:
                raise SystemExit("%s.%s: an array of structures" % (structure.name, name))
            return "".join("    " + line for line in self.deepen(inner, "(&%s)" % where))
        length = member.length
        if member.pointers != 1:
            raise SystemExit("%s.%s: pointers to pointers" % (structure.name, name))
        if length[-1] == "null-terminated":
            return "    %s = copy_string(copy, %s);\n" % (where, where)
        count = self.length(structure, length[0]) if length[0] else "1"
        if member.type == "void" and not length[0]:
            raise SystemExit("%s.%s: memory of unknown size" % (structure.name, name))
        size = "1" if member.type == "void" else "sizeof(*%s)" % where
        if inner is None:
            return "    %s = copy_plain(copy, %s, %s, %s);\n" % (where, where, count, size)
        lines = self.deepen(inner, "item")
        if not length[0]:
            return self.one(inner, where, lines)
        return self.several(inner, where, lines, count)

    def by_member(self, structure, indent, within="", without=()):
        """The lines that copy a structure, which is zero, member by member, so that what lies between them stays so."""
        text = ""
        for member in structure.members:
            name = within + member.name
            inner = None if member.pointers else self._structure(member.type)
            if member.name in without:
                continue
            if inner is not None and not inner.union:
                if member.array:
                    raise SystemExit("%s.%s: an array of structures" % (structure.name, name))
                text += self.by_member(inner, indent, name + ".")
            elif member.array:
                text += indent + "memcpy(item->%s, from->%s, sizeof item->%s);\n" % (name, name, name)
            else:
                text += indent + "item->%s = from->%s;\n" % (name, name)
        return text

    def one(self, structure, where, lines):
        """The lines that make one structure's memory the copy's own, or one with that of an equal one."""
        text = ("    if (%s && !copy->failed) {\n"
                "        const %s *from = %s;\n"
                "        const size_t used = pm_arena_used(copy->arena);\n"
                "        %s own, *item = &own;\n"
                "        memset(&own, 0, sizeof own);\n" % (where, structure.name, where, structure.name))
        text += self.by_member(structure, "        ") + "".join("        " + line for line in lines)
        return text + "        %s = keep(copy, &own, sizeof own, used);\n    }\n" % where

    def several(self, structure, where, lines, count):
        """Likewise of an array."""
        return ("    if (%s && !copy->failed) {\n"
                "        const size_t used = pm_arena_used(copy->arena);\n"
                "        union room room;\n"
                "        %s *own = begin(copy, &room, %s, sizeof *own);\n"
                "        for (size_t i = 0; own && i < %s; i++) {\n"
                "            const %s *from = &%s[i];\n"
                "            %s *item = &own[i];\n" % (where, structure.name, count, count, structure.name, where,
                                                       structure.name)
                + self.by_member(structure, "            ") + "".join("            " + line for line in lines)
                + "        }\n"
                "        %s = finish(copy, &room, own, %s * sizeof *own, used);\n    }\n" % (where, count))

    def function(self, structure):
        body = ""
        if structure.name in OWN:
            body += "    struct pm_interned *states = copy->states;\n    copy->states = NULL;\n"
        if structure.name in RULES:
            body += "    pm_rule_%s(copy, value);\n" % structure.name
        body += "".join(self.member(structure, m) for m in structure.members)
        if structure.name in OWN:
            body += "    copy->states = states;\n"
        return guarded(structure.guard, """static void deepen_%s(struct pm_copy *copy, %s *value)
{
%s}

""" % (structure.name, structure.name, body))

    def prototypes(self):
        return "".join(guarded(s.guard, "static void deepen_%s(struct pm_copy *copy, %s *value);\n"
                               % (s.name, s.name))
                       for s in self.sorted() if self.needs_function(s))

    def sorted(self):
        return [self.structures[name] for name in sorted(self.structures)]

    def chain_cases(self):
        text = ""
        for name in sorted(self.chained):
            structure = self.chained[name]
            text += guarded(structure.guard, "    case %s:\n        return sizeof(%s);\n"
                            % (structure.stype, name))
        return text

    def walk_cases(self):
        text = ""
        for name in sorted(self.chained):
            structure = self.chained[name]
            lines = self.by_member(structure, "        ", without=("sType", "pNext"))
            if lines:
                lines = ("        const %s *from = (const void *)theirs;\n        %s *item = (void *)own;\n"
                         % (name, name)) + lines
            if self.needs_function(structure):
                lines += "        deepen_%s(copy, item);\n" % name
            text += guarded(structure.guard, "    case %s: {\n%s        break;\n    }\n" % (structure.stype, lines))
        return text

    def output_cases(self):
        return "".join("    case %s:\n" % self.registry.structures[name].stype for name in OUTPUTS
                       if name in self.registry.structures)


HEADER = """/*
 * Deep copies of create infos, pNext chains included: the copy shares no memory with the original. Members that the
 * specification says are ignored are cleared and never read (copy_rules.h). What a driver would write through
 * (creation feedback) is left out.
 *
 * Each returns the copy, owned by the arena, or NULL with *error saying what cannot be copied: a structure in a chain
 * that neither vk.xml nor descriptor_heap.h knows (PM_ERROR_NEWER, the message names its sType), or memory.
 *
 * Thread safety: any thread, one arena a thread.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/interned.h"
#include <stdbool.h>
#include <vulkan/vulkan.h>

/* What the subpass has that a graphics pipeline is made for; see pm_copy_GraphicsPipelineCreateInfo. */
struct pm_copy_subpass {
    bool color;         /* at least one color attachment that is not VK_ATTACHMENT_UNUSED */
    bool depth_stencil; /* a depth or stencil attachment that is not VK_ATTACHMENT_UNUSED */
};

#define PM_COPY_MOST_SHARED 1024

/* A copy that shares what is the same with others. It is without the handles of what a pipeline is made of (modules,
 * layout, render pass, base), which tell copies from each other, and is not to be written to. */
struct pm_copy_sharing {
    /* Where what is the same lies once for all copies, which it outlives. Constants of specialization are each copy's
     * own, and so is what points to them, what is larger than PM_COPY_MOST_SHARED bytes, and what does not fit. NULL:
     * nothing is shared. */
    struct pm_interned *states;
    bool (*left_out)(VkStructureType type); /* of chains; NULL: nothing is */
};

"""

SOURCE_START = """#include "deep_copy.h"

#include "layer/generate/copy_rules.h"
#include "layer/generate/create_info.h"
#include "layer/generate/descriptor_heap.h"
#include "structures.h"
#include <string.h>

static void out_of_memory(struct pm_copy *copy)
{
    copy->failed = true;
    pm_fail(copy->error, PM_ERROR_MEMORY, "no memory to copy a create info");
}

/* NULL for NULL or nothing; NULL and copy->failed without memory. */
static void *copy_memory(struct pm_copy *copy, const void *from, size_t count, size_t size)
{
    size_t bytes;
    if (copy->failed || !from || count == 0)
        return NULL;
    void *memory = NULL;
    if (!__builtin_mul_overflow(count, size, &bytes))
        memory = pm_arena_dup(copy->arena, from, bytes);
    if (!memory)
        out_of_memory(copy);
    return memory;
}

/* What is finished, and points to nothing that is the copy's alone if the arena was not used since: then it may be
 * shared. */
static void *keep(struct pm_copy *copy, const void *value, size_t bytes, size_t used)
{
    const void *shared = NULL;
    if (copy->states && !copy->failed && bytes <= PM_COPY_MOST_SHARED && pm_arena_used(copy->arena) == used)
        shared = pm_interned_get(copy->states, value, bytes);
    return shared ? (void *)(uintptr_t)shared : copy_memory(copy, value, 1, bytes);
}

/* As copy_memory, of what has no pointers. */
static void *copy_plain(struct pm_copy *copy, const void *from, size_t count, size_t size)
{
    size_t bytes;
    if (copy->failed || !from || count == 0)
        return NULL;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        out_of_memory(copy);
        return NULL;
    }
    return keep(copy, from, bytes, pm_arena_used(copy->arena));
}

static const char *copy_string(struct pm_copy *copy, const char *string)
{
    return string ? copy_plain(copy, string, strlen(string) + 1, 1) : NULL;
}

/* Where a structure or a few are put together before it is known whether they may be shared. */
union room {
    _Alignas(16) unsigned char bytes[PM_COPY_MOST_SHARED];
};

/* Zeroed memory for so many: the room, or the arena's. NULL: nothing, or copy->failed. */
static void *begin(struct pm_copy *copy, union room *room, size_t count, size_t size)
{
    size_t bytes;
    if (copy->failed || count == 0)
        return NULL;
    if (copy->states && !__builtin_mul_overflow(count, size, &bytes) && bytes <= sizeof *room)
        return memset(room, 0, bytes);
    void *memory = pm_arena_zalloc(copy->arena, count, size);
    if (!memory)
        out_of_memory(copy);
    return memory;
}

/* What was begun is finished: where it stays. used: of the arena, before that. */
static void *finish(struct pm_copy *copy, const union room *room, void *begun, size_t bytes, size_t used)
{
    return begun == (const void *)room ? keep(copy, begun, bytes, used) : begun;
}

static void *copy_chain(struct pm_copy *copy, const void *chain);

"""

SOURCE_CHAIN = """/* The size in bytes of a structure that can be in a chain; 0: not known. */
static size_t chained_size(const VkBaseInStructure *item)
{
    switch ((int64_t)item->sType) {
%s    default:
        return pm_heap_structure_size(item->sType);
    }
}

/* What is always left out of a copied chain. */
static bool is_output(const VkBaseInStructure *item)
{
    switch ((int64_t)item->sType) {
%s        return true;
    default:
        return false;
    }
}

/* Everything but sType and pNext, to what is zero. */
static void fill_chained(struct pm_copy *copy, const VkBaseInStructure *theirs, VkBaseOutStructure *own)
{
    switch ((int64_t)theirs->sType) {
%s    default:
        pm_heap_structure_copy(copy, theirs, own);
        break;
    }
}

static void fail_uncopied(struct pm_copy *copy, VkStructureType type)
{
    if (pm_structure_size(type) == 0)
        pm_fail_newer(copy->error, type);
    else
        pm_fail(copy->error, PM_ERROR_UNSUPPORTED,
                "a structure of sType %%u in a pNext chain, which is not to be copied", (unsigned)type);
}

/* One of a chain, in front of the others, which are copied. */
static void *copy_chained(struct pm_copy *copy, const VkBaseInStructure *from, size_t size, void *others, size_t used)
{
    union room room;
    VkBaseOutStructure *item = begin(copy, &room, 1, size);
    if (!item)
        return NULL;
    item->sType = from->sType;
    item->pNext = others;
    fill_chained(copy, from, item);
    return finish(copy, &room, item, size, used);
}

static bool is_left_out(const struct pm_copy *copy, const VkBaseInStructure *item)
{
    return is_output(item) || (copy->left_out && copy->left_out(item->sType));
}

static void *copy_chain(struct pm_copy *copy, const void *chain)
{
    const VkBaseInStructure *from = chain;
    while (from && is_left_out(copy, from))
        from = from->pNext;
    if (!from || copy->failed)
        return NULL;
    const size_t size = chained_size(from);
    if (size == 0) {
        copy->failed = true;
        fail_uncopied(copy, from->sType);
        return NULL;
    }
    const size_t used = pm_arena_used(copy->arena);
    return copy_chained(copy, from, size, copy_chain(copy, from->pNext), used);
}

"""


def public(name):
    extra = "const struct pm_copy_subpass *subpass,\n    " if name == "VkGraphicsPipelineCreateInfo" else ""
    extra += "const struct pm_copy_sharing *sharing, " if name in SHARING else ""
    kept = "const " if name in SHARING else ""
    return kept + "%s *pm_copy_%s(\n    struct pm_arena *arena, const %s *info, %sstruct pm_error *error)" \
        % (name, name[2:], name, extra)


GRAPHICS_COMMENT = """/* subpass: of the info's render pass, since the specification makes it decide whether pDepthStencilState and
 * pColorBlendState are read; ignored without a render pass; NULL when the render pass is not known, and then an info
 * that has one of them is refused. sharing NULL: the copy shares nothing. */
"""


def write(registry, emit):
    copier = Copier(registry)
    header = NOTICE % registry.version + HEADER
    for root in ROOTS:
        if root == "VkGraphicsPipelineCreateInfo":
            header += GRAPHICS_COMMENT
        header += public(root) + ";\n"
    emit("deep_copy.h", header)
    source = NOTICE % registry.version + SOURCE_START + copier.prototypes() + "\n"
    source += SOURCE_CHAIN % (copier.chain_cases(), copier.output_cases(), copier.walk_cases())
    source += "".join(copier.function(s) for s in copier.sorted() if copier.needs_function(s))
    for root in ROOTS:
        structure = copier.structures[root]
        state = ", .subpass = subpass" if root == "VkGraphicsPipelineCreateInfo" else ""
        if root in SHARING:
            source += public(root) + """
{
    struct pm_copy state = {.arena = arena, .error = error%s}, *copy = &state;
    if (sharing) {
        copy->shares = true;
        copy->states = sharing->states;
        copy->left_out = sharing->left_out;
    }
    const %s *value = info;
%s    return copy->failed ? NULL : value;
}

""" % (state, root, copier.one(structure, "value", copier.deepen(structure, "item")))
            continue
        source += public(root) + """
{
    struct pm_copy state = {.arena = arena, .error = error%s}, *copy = &state;
    %s *value = copy_memory(copy, info, 1, sizeof(*info));
    if (!value)
        return NULL;
%s    return copy->failed ? NULL : value;
}

""" % (state, root, "".join("    " + line for line in copier.deepen(structure, "value")))
    emit("deep_copy.c", source)
