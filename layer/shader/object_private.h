/*
 * What object.c, object_make.c and object_remember.c share. See object.h.
 */
#pragma once

#include "base/buffer.h"
#include "deep_copy.h"
#include "layer/core/handle_map.h"
#include "layer/shader/module_words.h"
#include "layer/shader/object.h"

/* What an object is made with. Its handles are patched: while the content is compared they are the
 * pointers of `parts`, which are unique by content themselves; once the object's own handle is made
 * they are the parts' own. */
union pm_object_info {
    const VkSamplerCreateInfo *sampler;
    const VkSamplerYcbcrConversionCreateInfo *conversion;
    const VkDescriptorSetLayoutCreateInfo *set_layout;
    const VkPipelineLayoutCreateInfo *pipeline_layout;
    const VkRenderPassCreateInfo *render_pass;
    const VkRenderPassCreateInfo2 *render_pass2;
};

struct pm_object_content;

struct pm_object {
    _Atomic uint32_t references;
    enum pm_object_kind kind;
    bool render_pass2; /* info.render_pass2 is the one that is set */
    struct pm_objects *owner;
    struct pm_object_content *content; /* this object's place in the table of contents */
    struct pm_arena *arena;            /* of info and parts; NULL for shader modules */
    union pm_object_info info;
    struct pm_object **parts; /* referenced; in the order in which info names them */
    uint32_t part_count;
    struct pm_kept_words *words; /* of a shader module */
    char *name;                  /* that the game gave it, malloc'ed; NULL: none; owner->lock */
    _Atomic bool noted;          /* pm_object_note */
    _Atomic bool ahead;          /* pm_object_is_ahead */
    _Atomic uint64_t own;        /* our own handle; 0: not made yet */
    _Atomic bool lent;           /* pm_object_lend */
    struct pm_object *next_lent; /* owner->lock */
};

struct pm_objects {
    struct pm_device *device;
    struct pm_module_words_place words; /* where those of shader modules are */
    pthread_rwlock_t lock;              /* maps, contents */
    pthread_mutex_t making;             /* the making of own handles; taken without `lock` */
    struct pm_handle_map maps[PM_OBJECT_KINDS];
    struct pm_object_content *contents;
    struct pm_object *lent; /* each with a reference that lasts as long as the device; lock */
};

/* An object under construction: what becomes a new object unless an equal one exists. */
struct pm_object_draft {
    enum pm_object_kind kind;
    bool render_pass2;
    struct pm_arena *arena;
    union pm_object_info info;
    struct pm_object **parts;
    uint32_t part_count;
    struct pm_kept_words *words; /* as in the object */
    struct pm_buffer content;    /* starts with the kind; equal bytes mean identically defined */
};

/* Starts a draft; everything of it ends with pm_draft_finish or pm_draft_intern. false: out of
 * memory. */
bool pm_draft_init(struct pm_object_draft *draft, enum pm_object_kind kind, struct pm_error *error);
void pm_draft_finish(struct pm_object_draft *draft);

/* Room for so many parts, each of which takes over one reference. */
bool pm_draft_parts(struct pm_object_draft *draft, uint32_t count, struct pm_error *error);

/* The equal object there is, referenced; NULL: none. */
struct pm_object *pm_draft_find(struct pm_objects *objects, const struct pm_object_draft *draft);

/* The equal object there is, or a new one; referenced. Consumes the draft in any case. */
struct pm_object *pm_draft_intern(struct pm_objects *objects, struct pm_object_draft *draft,
                                  struct pm_error *error);

/* Calls visit for every handle that an info (deep copy) names, in its order, but for null ones;
 * visit may change it. Stops and returns false when visit does. */
typedef bool (*pm_object_visitor)(void *user, enum pm_object_kind kind, uint64_t *bits);
bool pm_object_visit(enum pm_object_kind kind, union pm_object_info info, pm_object_visitor visit,
                     void *user);

/* The game's own objects name our handle of this one: descriptor sets may do so after all that is
 * remembered of them is gone. So it stays until the device goes. */
void pm_object_lend(struct pm_object *object);

/* Makes and unmakes our own handle of an object whose parts have theirs. */
VkResult pm_object_make(struct pm_object *object, uint64_t *own);
void pm_object_unmake(struct pm_object *object, uint64_t own);
