/*
 * What a game's pipelines are made of: shader modules (their words), samplers and Y'CbCr
 * conversions (immutable ones), descriptor set layouts, pipeline layouts, render passes. A game may
 * destroy all of these as soon as its pipeline exists (HAZARDS 9), so the layer keeps deep copies
 * of their create infos and makes its own, identically defined objects when it builds a pipeline.
 * Objects with equal content are one: the handles of a game's thousand equal layouts map to one
 * struct pm_object.
 *
 * Immutable samplers: a set layout of ours must name samplers that outlive the game's. So that it
 * is not merely compatible but equal to the game's own, the game's set layout is created with our
 * identically defined samplers in place of the game's (but for Y'CbCr ones, whose image views name
 * the game's conversion).
 *
 * Ownership: objects are counted by references; handle maps, pipelines and other objects hold them.
 * Thread safety: all functions may be called from any thread.
 */
#pragma once

#include "layer/core/layer.h"
#include "shader_rewrite/ir/words.h"

enum pm_object_kind {
    PM_OBJECT_SHADER_MODULE,
    PM_OBJECT_SAMPLER,
    PM_OBJECT_CONVERSION,
    PM_OBJECT_SET_LAYOUT,
    PM_OBJECT_PIPELINE_LAYOUT,
    PM_OBJECT_RENDER_PASS,
    PM_OBJECT_KINDS
};

struct pm_object;
struct pm_copy_subpass;

/* NULL: out of memory; the hooks then pass everything through. */
struct pm_objects *pm_objects_create(struct pm_device *device);
/* Destroys every object of ours that is left; before vkDestroyDevice, after the pipelines. NULL is
 * allowed. */
void pm_objects_destroy(struct pm_objects *objects);

/* What the layer remembers of a game's handle, referenced for the caller; NULL: unknown. */
struct pm_object *pm_objects_find(struct pm_objects *objects, enum pm_object_kind kind,
                                  uint64_t handle);

/* Remembers that handle is the object, whose reference is taken over in any case. NULL is allowed:
 * nothing is remembered, and an older object of the same handle is forgotten. */
void pm_objects_put(struct pm_objects *objects, enum pm_object_kind kind, uint64_t handle,
                    struct pm_object *object);

/* The game destroys the handle. NULL objects are allowed, and 0 handles. */
void pm_objects_remove(struct pm_objects *objects, enum pm_object_kind kind, uint64_t handle);

/* The object for a shader module's words, made when there is none; referenced. For modules that a
 * pipeline's stage carries in its pNext, too. PM_ERROR_LIMIT: there is no room for its words. */
struct pm_object *pm_objects_module(struct pm_objects *objects,
                                    const VkShaderModuleCreateInfo *info, struct pm_error *error);

struct pm_object *pm_object_reference(struct pm_object *object);
/* The last release destroys what is ours of it. NULL is allowed. */
void pm_object_release(struct pm_object *object);

/* What the game calls the object behind a handle (VK_EXT_debug_utils), where that is known; NULL or
 * "": nothing any more. Of equal objects the latest name counts. NULL objects are allowed. */
void pm_objects_name(struct pm_objects *objects, enum pm_object_kind kind, uint64_t handle,
                     const char *name);
/* A copy of it, malloc'ed; NULL: there is none. */
char *pm_object_name_copy(const struct pm_object *object);

/* true the first time it is asked of the object. */
bool pm_object_note(struct pm_object *object);

/* Whether a pipeline of the shader module was instrumented ahead (ahead.h); and one was. */
bool pm_object_is_ahead(const struct pm_object *object);
void pm_object_set_ahead(struct pm_object *object);

/* A shader module's words, which are the caller's (pm_words_finish). They are on the disk but for
 * small modules (profile/words_store.h). PM_ERROR_IO: they are not there any more. */
bool pm_object_words(const struct pm_object *object, struct pm_words *words,
                     struct pm_error *error);

/* Our own, identically defined handle; made at the first call, valid while the object is
 * referenced. 0: the driver refused. Shader modules have none: they are made for one compile at a
 * time. */
uint64_t pm_object_own(struct pm_object *object, struct pm_error *error);

/* Whether a render pass's subpass has color and depth attachments; false: there is no such subpass.
 */
bool pm_object_subpass(const struct pm_object *render_pass, uint32_t index,
                       struct pm_copy_subpass *subpass);

/* Whether a subpass of a render pass has several views. */
bool pm_object_has_views(const struct pm_object *render_pass);
