#include "layer/shader/object.h"
#include "layer/generate/create_info.h"
#include "layer/generate/descriptor_heap.h"
#include "layer/shader/object_private.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define HASH_FUNCTION(key, size, hash) ((hash) = (unsigned)XXH3_64bits((key), (size)))
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) ((void)(element), (failed = true))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include <uthash.h>
#pragma GCC diagnostic pop

/* A draft's content is the kind, then what makes it what it is; words must stay aligned. */
enum { KIND_BYTES = 8, MOST_CONTENT_BYTES = 64 << 20 };

struct pm_object_content {
    struct pm_object *object;
    unsigned char *bytes; /* owned */
    size_t size;
    UT_hash_handle hh;
};

struct pm_objects *pm_objects_create(struct pm_device *device)
{
    struct pm_objects *objects = calloc(1, sizeof *objects);
    if (!objects)
        return NULL;
    objects->device = device;
    pm_module_words_begin(&objects->words, device);
    pthread_rwlock_init(&objects->lock, NULL);
    pthread_mutex_init(&objects->making, NULL);
    return objects;
}

void pm_objects_destroy(struct pm_objects *objects)
{
    if (!objects)
        return;
    for (int kind = 0; kind < PM_OBJECT_KINDS; kind++) {
        struct pm_object *object;
        while ((object = pm_handle_map_pop(&objects->maps[kind])))
            pm_object_release(object);
    }
    while (objects->lent) {
        struct pm_object *lent = objects->lent;
        objects->lent = lent->next_lent;
        pm_object_release(lent);
    }
    pm_module_words_end(&objects->words);
    pthread_mutex_destroy(&objects->making);
    pthread_rwlock_destroy(&objects->lock);
    free(objects);
}

/* ---- references ---- */

struct pm_object *pm_object_reference(struct pm_object *object)
{
    atomic_fetch_add(&object->references, 1);
    return object;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
static struct pm_object *find_content(struct pm_objects *objects, const struct pm_buffer *content)
{
    struct pm_object_content *found = NULL;
    HASH_FIND(hh, objects->contents, content->data, content->size, found);
    return found ? found->object : NULL;
}

static bool add_content(struct pm_objects *objects, struct pm_object_content *content)
{
    bool failed = false;
    HASH_ADD_KEYPTR(hh, objects->contents, content->bytes, content->size, content);
    return !failed;
}

static void remove_content(struct pm_objects *objects, struct pm_object_content *content)
{
    HASH_DELETE(hh, objects->contents, content);
}
#pragma GCC diagnostic pop

void pm_object_lend(struct pm_object *object)
{
    struct pm_objects *objects = object->owner;
    if (atomic_exchange(&object->lent, true))
        return;
    pm_object_reference(object);
    pthread_rwlock_wrlock(&objects->lock);
    object->next_lent = objects->lent;
    objects->lent = object;
    pthread_rwlock_unlock(&objects->lock);
}

/* Lowers the count unless it would reach zero. */
static bool release_shared(struct pm_object *object)
{
    uint32_t references = atomic_load(&object->references);
    while (references > 1) {
        if (atomic_compare_exchange_weak(&object->references, &references, references - 1))
            return true;
    }
    return false;
}

void pm_object_release(struct pm_object *object)
{
    if (!object || release_shared(object))
        return;
    /* The last reference goes under the lock, so that nobody finds the object in the table
     * meanwhile. */
    struct pm_objects *objects = object->owner;
    pthread_rwlock_wrlock(&objects->lock);
    const bool last = atomic_fetch_sub(&object->references, 1) == 1;
    if (last)
        remove_content(objects, object->content);
    pthread_rwlock_unlock(&objects->lock);
    if (!last)
        return;
    const uint64_t own = atomic_load(&object->own);
    if (own)
        pm_object_unmake(object, own);
    for (uint32_t i = 0; i < object->part_count; i++)
        pm_object_release(object->parts[i]);
    pm_module_words_release(&objects->words, object->words);
    pm_arena_destroy(object->arena);
    free(object->content->bytes);
    free(object->content);
    free(object->name);
    free(object);
}

/* ---- drafts ---- */

static bool no_memory(struct pm_error *error)
{
    return pm_fail(error, PM_ERROR_MEMORY, "no memory to remember an object");
}

bool pm_draft_init(struct pm_object_draft *draft, enum pm_object_kind kind, struct pm_error *error)
{
    memset(draft, 0, sizeof *draft);
    draft->kind = kind;
    pm_buffer_init(&draft->content, MOST_CONTENT_BYTES);
    const uint64_t head = (uint64_t)kind;
    static_assert(sizeof head == KIND_BYTES, "the kind keeps words aligned");
    if (!pm_buffer_append(&draft->content, &head, sizeof head))
        return no_memory(error);
    if (kind == PM_OBJECT_SHADER_MODULE)
        return true;
    draft->arena = pm_arena_create(MOST_CONTENT_BYTES);
    if (draft->arena)
        return true;
    pm_draft_finish(draft);
    return no_memory(error);
}

void pm_draft_finish(struct pm_object_draft *draft)
{
    for (uint32_t i = 0; i < draft->part_count; i++)
        pm_object_release(draft->parts[i]);
    pm_arena_destroy(draft->arena);
    pm_buffer_finish(&draft->content);
    memset(draft, 0, sizeof *draft);
}

bool pm_draft_parts(struct pm_object_draft *draft, uint32_t count, struct pm_error *error)
{
    draft->parts = pm_arena_zalloc(draft->arena, count ? count : 1, sizeof(*draft->parts));
    return draft->parts || no_memory(error);
}

/* A new object that takes over what the draft holds; the content's bytes too. */
static struct pm_object *new_object(struct pm_objects *objects, struct pm_object_draft *draft)
{
    struct pm_object *object = calloc(1, sizeof *object);
    struct pm_object_content *content = calloc(1, sizeof *content);
    if (!object || !content) {
        free(object);
        free(content);
        return NULL;
    }
    content->object = object;
    content->bytes = draft->content.data;
    content->size = draft->content.size;
    *object = (struct pm_object){
        .kind = draft->kind,
        .render_pass2 = draft->render_pass2,
        .owner = objects,
        .content = content,
        .arena = draft->arena,
        .info = draft->info,
        .parts = draft->parts,
        .part_count = draft->part_count,
        .words = draft->words,
    };
    atomic_init(&object->references, 1);
    return object;
}

struct pm_object *pm_draft_find(struct pm_objects *objects, const struct pm_object_draft *draft)
{
    pthread_rwlock_rdlock(&objects->lock);
    struct pm_object *object = find_content(objects, &draft->content);
    if (object)
        pm_object_reference(object);
    pthread_rwlock_unlock(&objects->lock);
    return object;
}

struct pm_object *pm_draft_intern(struct pm_objects *objects, struct pm_object_draft *draft,
                                  struct pm_error *error)
{
    pthread_rwlock_wrlock(&objects->lock);
    struct pm_object *object = find_content(objects, &draft->content);
    if (object) {
        pm_object_reference(object);
        pthread_rwlock_unlock(&objects->lock);
        pm_module_words_release(&objects->words, draft->words);
        pm_draft_finish(draft);
        return object;
    }
    object = new_object(objects, draft);
    if (object && !add_content(objects, object->content)) {
        free(object->content);
        free(object);
        object = NULL;
    }
    pthread_rwlock_unlock(&objects->lock);
    if (!object) {
        pm_module_words_release(&objects->words, draft->words);
        pm_draft_finish(draft);
        no_memory(error);
        return NULL;
    }
    memset(draft, 0, sizeof *draft);
    return object;
}

/* ---- handles ---- */

struct pm_object *pm_objects_find(struct pm_objects *objects, enum pm_object_kind kind,
                                  uint64_t handle)
{
    pthread_rwlock_rdlock(&objects->lock);
    struct pm_object *object = pm_handle_map_find(&objects->maps[kind], handle);
    if (object)
        pm_object_reference(object);
    pthread_rwlock_unlock(&objects->lock);
    return object;
}

void pm_objects_put(struct pm_objects *objects, enum pm_object_kind kind, uint64_t handle,
                    struct pm_object *object)
{
    if (!object) {
        pm_objects_remove(objects, kind, handle);
        return;
    }
    void *replaced;
    pthread_rwlock_wrlock(&objects->lock);
    const bool put = pm_handle_map_put(&objects->maps[kind], handle, object, &replaced);
    pthread_rwlock_unlock(&objects->lock);
    pm_object_release(put ? replaced : object);
}

void pm_objects_remove(struct pm_objects *objects, enum pm_object_kind kind, uint64_t handle)
{
    if (!objects || !handle)
        return;
    pthread_rwlock_wrlock(&objects->lock);
    struct pm_object *object = pm_handle_map_remove(&objects->maps[kind], handle);
    pthread_rwlock_unlock(&objects->lock);
    pm_object_release(object);
}

/* ---- what pipelines use ---- */

struct pm_object *pm_objects_module(struct pm_objects *objects,
                                    const VkShaderModuleCreateInfo *info, struct pm_error *error)
{
    for (const VkBaseInStructure *item = info->pNext; item; item = item->pNext) {
        /* A stage's SPIR-V in pNext shares its chain with what else belongs to the stage; and what
         * is for validation changes no words. */
        if (item->sType == VK_STRUCTURE_TYPE_SHADER_MODULE_VALIDATION_CACHE_CREATE_INFO_EXT ||
            item->sType == VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT ||
            item->sType == VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT ||
            item->sType == VK_STRUCTURE_TYPE_PIPELINE_ROBUSTNESS_CREATE_INFO_EXT ||
            item->sType ==
                VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO ||
            item->sType ==
                VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_MODULE_IDENTIFIER_CREATE_INFO_EXT ||
            item->sType == VK_STRUCTURE_TYPE_SHADER_DESCRIPTOR_SET_AND_BINDING_MAPPING_INFO_EXT)
            continue;
        pm_fail_newer(error, item->sType);
        return NULL;
    }
    struct pm_object_draft draft;
    if (!pm_draft_init(&draft, PM_OBJECT_SHADER_MODULE, error))
        return NULL;
    const size_t count = info->codeSize / sizeof(uint32_t);
    const struct pm_module_content content = {count, pm_words_hash_compute(info->pCode, count)};
    struct pm_object *known = NULL;
    if (!pm_buffer_append(&draft.content, &content, sizeof content))
        no_memory(error);
    else if (!(known = pm_draft_find(objects, &draft)) &&
             (draft.words = pm_module_words_keep(&objects->words, info->pCode, &content, error)))
        return pm_draft_intern(objects, &draft, error);
    pm_draft_finish(&draft);
    return known;
}

bool pm_object_words(const struct pm_object *object, struct pm_words *words, struct pm_error *error)
{
    return pm_module_words_read(&object->owner->words, object->words, words, error);
}

uint64_t pm_object_own(struct pm_object *object, struct pm_error *error)
{
    uint64_t own = atomic_load(&object->own);
    if (own)
        return own;
    for (uint32_t i = 0; i < object->part_count; i++) {
        if (object->parts[i] && !pm_object_own(object->parts[i], error))
            return 0;
    }
    VkResult result = VK_SUCCESS;
    pthread_mutex_lock(&object->owner->making);
    own = atomic_load(&object->own);
    if (!own) {
        result = pm_object_make(object, &own);
        atomic_store(&object->own, result == VK_SUCCESS ? own : 0);
    }
    pthread_mutex_unlock(&object->owner->making);
    if (result == VK_SUCCESS)
        return own;
    pm_fail(error, PM_ERROR_DEVICE, "the driver refused a copy of an object (VkResult %d)", result);
    return 0;
}

static bool any_used(const VkAttachmentReference *references, uint32_t count)
{
    for (uint32_t i = 0; references && i < count; i++) {
        if (references[i].attachment != VK_ATTACHMENT_UNUSED)
            return true;
    }
    return false;
}

static bool any_used2(const VkAttachmentReference2 *references, uint32_t count)
{
    for (uint32_t i = 0; references && i < count; i++) {
        if (references[i].attachment != VK_ATTACHMENT_UNUSED)
            return true;
    }
    return false;
}

bool pm_object_subpass(const struct pm_object *render_pass, uint32_t index,
                       struct pm_copy_subpass *subpass)
{
    if (render_pass->render_pass2) {
        const VkRenderPassCreateInfo2 *info = render_pass->info.render_pass2;
        if (index >= info->subpassCount)
            return false;
        const VkSubpassDescription2 *description = &info->pSubpasses[index];
        subpass->color =
            any_used2(description->pColorAttachments, description->colorAttachmentCount);
        subpass->depth_stencil = any_used2(description->pDepthStencilAttachment, 1);
        return true;
    }
    const VkRenderPassCreateInfo *info = render_pass->info.render_pass;
    if (index >= info->subpassCount)
        return false;
    const VkSubpassDescription *description = &info->pSubpasses[index];
    subpass->color = any_used(description->pColorAttachments, description->colorAttachmentCount);
    subpass->depth_stencil = any_used(description->pDepthStencilAttachment, 1);
    return true;
}

bool pm_object_has_views(const struct pm_object *render_pass)
{
    if (!render_pass->render_pass2)
        return pm_find_in_chain(render_pass->info.render_pass->pNext,
                                VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO) != NULL;
    const VkRenderPassCreateInfo2 *info = render_pass->info.render_pass2;
    for (uint32_t i = 0; i < info->subpassCount; i++) {
        if (info->pSubpasses[i].viewMask != 0)
            return true;
    }
    return false;
}

bool pm_object_note(struct pm_object *object)
{
    return !atomic_exchange_explicit(&object->noted, true, memory_order_relaxed);
}

bool pm_object_is_ahead(const struct pm_object *object)
{
    return atomic_load_explicit(&object->ahead, memory_order_relaxed);
}

void pm_object_set_ahead(struct pm_object *object)
{
    atomic_store_explicit(&object->ahead, true, memory_order_relaxed);
}

void pm_objects_name(struct pm_objects *objects, enum pm_object_kind kind, uint64_t handle,
                     const char *name)
{
    struct pm_object *object = objects ? pm_objects_find(objects, kind, handle) : NULL;
    if (!object)
        return;
    char *copy = name && *name ? strdup(name) : NULL;
    pthread_rwlock_wrlock(&objects->lock);
    char *before = object->name;
    object->name = copy;
    pthread_rwlock_unlock(&objects->lock);
    free(before);
    pm_object_release(object);
}

char *pm_object_name_copy(const struct pm_object *object)
{
    pthread_rwlock_rdlock(&object->owner->lock);
    char *copy = object->name ? strdup(object->name) : NULL;
    pthread_rwlock_unlock(&object->owner->lock);
    return copy;
}
