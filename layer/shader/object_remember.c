#include "layer/shader/object_remember.h"

#include "content.h"
#include "layer/shader/object_private.h"
#include <stdio.h>

/* ---- drafts from create infos ---- */

static bool count_handle(void *user, enum pm_object_kind kind, uint64_t *bits)
{
    (void)kind;
    (void)bits;
    ++*(uint32_t *)user;
    return true;
}

struct linking {
    struct pm_objects *objects;
    struct pm_object_draft *draft;
    struct pm_error *error;
};

static const char *kind_name(enum pm_object_kind kind)
{
    static const char *const names[PM_OBJECT_KINDS] = {"shader module",     "sampler",
                                                       "Y'CbCr conversion", "descriptor set layout",
                                                       "pipeline layout",   "render pass"};
    return names[kind];
}

/* Replaces a game's handle by the address of what is remembered of it, which becomes a part. */
static bool link_part(void *user, enum pm_object_kind kind, uint64_t *bits)
{
    struct linking *linking = user;
    struct pm_object *part = pm_objects_find(linking->objects, kind, *bits);
    if (!part)
        return pm_fail(linking->error, PM_ERROR_UNSUPPORTED, "it names a %s that is not remembered",
                       kind_name(kind));
    linking->draft->parts[linking->draft->part_count++] = part;
    *bits = (uint64_t)(uintptr_t)part;
    return true;
}

static bool link_parts(struct pm_objects *objects, struct pm_object_draft *draft,
                       struct pm_error *error)
{
    uint32_t count = 0;
    (void)pm_object_visit(draft->kind, draft->info, count_handle, &count);
    struct linking linking = {.objects = objects, .draft = draft, .error = error};
    return pm_draft_parts(draft, count, error) &&
           pm_object_visit(draft->kind, draft->info, link_part, &linking);
}

static bool append_content(struct pm_object_draft *draft)
{
    struct pm_buffer *out = &draft->content;
    switch (draft->kind) {
    case PM_OBJECT_SAMPLER:
        return pm_content_SamplerCreateInfo(out, draft->info.sampler);
    case PM_OBJECT_CONVERSION:
        return pm_content_SamplerYcbcrConversionCreateInfo(out, draft->info.conversion);
    case PM_OBJECT_SET_LAYOUT:
        return pm_content_DescriptorSetLayoutCreateInfo(out, draft->info.set_layout);
    case PM_OBJECT_PIPELINE_LAYOUT:
        return pm_content_PipelineLayoutCreateInfo(out, draft->info.pipeline_layout);
    case PM_OBJECT_RENDER_PASS:
        return draft->render_pass2 ? pm_content_RenderPassCreateInfo2(out, draft->info.render_pass2)
                                   : pm_content_RenderPassCreateInfo(out, draft->info.render_pass);
    default:
        return false;
    }
}

/* Copies the info (of kind's structure) into the draft. */
static bool copy_info(struct pm_object_draft *draft, const void *info, struct pm_error *error)
{
    struct pm_arena *arena = draft->arena;
    switch (draft->kind) {
    case PM_OBJECT_SAMPLER:
        draft->info.sampler = pm_copy_SamplerCreateInfo(arena, info, error);
        return draft->info.sampler;
    case PM_OBJECT_CONVERSION:
        draft->info.conversion = pm_copy_SamplerYcbcrConversionCreateInfo(arena, info, error);
        return draft->info.conversion;
    case PM_OBJECT_SET_LAYOUT:
        draft->info.set_layout = pm_copy_DescriptorSetLayoutCreateInfo(arena, info, error);
        return draft->info.set_layout;
    case PM_OBJECT_PIPELINE_LAYOUT:
        draft->info.pipeline_layout = pm_copy_PipelineLayoutCreateInfo(arena, info, error);
        return draft->info.pipeline_layout;
    case PM_OBJECT_RENDER_PASS:
        if (draft->render_pass2)
            draft->info.render_pass2 = pm_copy_RenderPassCreateInfo2(arena, info, error);
        else
            draft->info.render_pass = pm_copy_RenderPassCreateInfo(arena, info, error);
        return draft->render_pass2 ? draft->info.render_pass2 != NULL
                                   : draft->info.render_pass != NULL;
    default:
        return pm_fail(error, PM_ERROR_UNSUPPORTED, "not made from a create info");
    }
}

struct pm_object *pm_objects_remember(struct pm_objects *objects, enum pm_object_kind kind,
                                      bool render_pass2, const void *info)
{
    struct pm_error error = {0};
    struct pm_object_draft draft;
    if (pm_draft_init(&draft, kind, &error)) {
        draft.render_pass2 = render_pass2;
        if (copy_info(&draft, info, &error) && link_parts(objects, &draft, &error)) {
            if (append_content(&draft))
                return pm_draft_intern(objects, &draft, &error);
            pm_fail(&error, PM_ERROR_LIMIT, "it is too large to be remembered");
        }
        pm_draft_finish(&draft);
    }
    char what[64];
    snprintf(what, sizeof what, "a %s is not remembered", kind_name(kind));
    pm_left_out(objects->device->instance, what, &error);
    return NULL;
}

/* ---- immutable samplers ---- */

/* Whether the game's set layout may name our samplers: it has immutable ones, each of which has a
 * copy of ours, and none converts Y'CbCr, since the game's image views name its own conversion. */
static bool may_substitute(const struct pm_object *layout)
{
    for (uint32_t i = 0; i < layout->part_count; i++) {
        struct pm_error error;
        if (layout->parts[i]->part_count > 0 || !pm_object_own(layout->parts[i], &error))
            return false;
    }
    return layout->part_count > 0;
}

/* The game's info with our samplers; NULL: out of memory. Owned by the arena. */
static const VkDescriptorSetLayoutCreateInfo *
substitute(const struct pm_object *layout, const VkDescriptorSetLayoutCreateInfo *info,
           struct pm_arena *arena)
{
    VkDescriptorSetLayoutCreateInfo *ours = pm_arena_dup(arena, info, sizeof *info);
    const size_t bytes = info->bindingCount * sizeof(*info->pBindings);
    VkDescriptorSetLayoutBinding *bindings = pm_arena_dup(arena, info->pBindings, bytes);
    if (!ours || !bindings)
        return NULL;
    uint32_t next = 0;
    for (uint32_t i = 0; i < info->bindingCount; i++) {
        /* The copy has samplers only where the specification reads them. */
        if (!layout->info.set_layout->pBindings[i].pImmutableSamplers)
            continue;
        VkSampler *samplers = pm_arena_zalloc(arena, bindings[i].descriptorCount, sizeof *samplers);
        if (!samplers)
            return NULL;
        for (uint32_t j = 0; j < bindings[i].descriptorCount; j++)
            samplers[j] = PM_TO_HANDLE(VkSampler, atomic_load(&layout->parts[next++]->own));
        bindings[i].pImmutableSamplers = samplers;
    }
    ours->pBindings = bindings;
    return ours;
}

const VkDescriptorSetLayoutCreateInfo *
pm_object_substitute(const struct pm_object *layout, const VkDescriptorSetLayoutCreateInfo *info,
                     struct pm_arena **arena)
{
    if (!layout || !may_substitute(layout))
        return info;
    *arena = pm_arena_create(0);
    const VkDescriptorSetLayoutCreateInfo *ours = *arena ? substitute(layout, info, *arena) : NULL;
    for (uint32_t i = 0; ours && i < layout->part_count; i++)
        pm_object_lend(layout->parts[i]);
    return ours ? ours : info;
}
