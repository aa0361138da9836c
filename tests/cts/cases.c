/* The tree of cases, and a device with what a case needs. */
#include "tests/cts/ways.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const makes[CTS_MAKES] = {
    "direct", "cached",  "derived",  "batch",     "linked",    "optimized", "halves", "inlined",
    "early",  "retried", "feedback", "constants", "allocator", "dynamic",   "again"};
static const char *const targets[CTS_TARGETS] = {"pass",    "pass2", "rendering", "depth",
                                                 "samples", "two",   "second",    "blend"};
static const char *const uses[CTS_USES] = {"once",      "indexed",  "indirect",   "instanced",
                                           "secondary", "repeated", "pool_reset", "reset",
                                           "queried",   "rebound",  "pushed",     "split"};
static const struct {
    const char *name;
    bool graphics, compute; /* which have it */
} ways[CTS_WAYS] = {[CTS_PLAINLY] = {"plainly", false, false},
                    [CTS_SUBMIT2] = {"submit2", true, true},
                    [CTS_PUSH_DESCRIPTORS] = {"push_descriptors", true, true},
                    [CTS_TESSELLATION] = {"tessellation", true, false},
                    [CTS_MULTIVIEW] = {"multiview", true, false},
                    [CTS_MESH] = {"mesh", true, false},
                    [CTS_GEOMETRY] = {"geometry", true, false},
                    [CTS_TASK] = {"task", true, false},
                    [CTS_CAPTURED] = {"captured", true, false},
                    [CTS_LOCAL_READ] = {"local_read", true, false},
                    [CTS_COUNTED] = {"counted", true, false},
                    [CTS_RESOLVED_LATER] = {"resolved_later", true, false},
                    [CTS_RESOLVED_BY_PASS] = {"resolved_by_pass", true, false},
                    [CTS_DESCRIPTOR_BUFFERS] = {"descriptor_buffers", true, true},
                    [CTS_CONDITIONAL] = {"conditional", true, true},
                    [CTS_NESTED] = {"nested", true, true},
                    [CTS_GENERATED] = {"generated", true, true},
                    [CTS_MULTI] = {"multi", true, false},
                    [CTS_MULTI_INDEXED] = {"multi_indexed", true, false},
                    [CTS_INDEXED_INDIRECT] = {"indexed_indirect", true, false},
                    [CTS_INDEXED_COUNTED] = {"indexed_counted", true, false},
                    [CTS_PENDING] = {"pending", true, true},
                    [CTS_SHARED] = {"shared", true, true},
                    [CTS_SUSPENDED] = {"suspended", true, false},
                    [CTS_NESTED_LIBRARIES] = {"nested_libraries", true, false},
                    [CTS_ROBUST] = {"robust", true, true},
                    [CTS_STATES] = {"states", true, false}};
/* The last one is of the newer ways alone. */
static const char *const fragment_shaders[CTS_FRAGMENT_SHADERS + 1] = {
    "plain",   "branches", "loop",  "zeros", "discard", "derivative",
    "texture", "store",    "depth", "early", "words"};
static const char *const compute_shaders[CTS_COMPUTE_SHADERS + 1] = {
    "plain", "branches", "loop", "zeros", "shared", "texture", "words"};

/* Ways to make that only graphics pipelines have, and ways to use them. */
static bool is_of_graphics(enum cts_make make)
{
    return make == CTS_LINKED || make == CTS_OPTIMIZED || make == CTS_HALVES || make == CTS_DYNAMIC;
}

bool cts_case_at(uint32_t n, struct cts_case *out, char name[static 128])
{
    enum { GRAPHICS = CTS_MAKES * CTS_TARGETS * CTS_USES };
    if (n < GRAPHICS) {
        *out = (struct cts_case){.make = (enum cts_make)(n % CTS_MAKES),
                                 .target = (enum cts_target_kind)(n / CTS_MAKES % CTS_TARGETS),
                                 .use = (enum cts_use)(n / CTS_MAKES / CTS_TARGETS)};
        /* Each with one shader; over the tree every pair of a shader and anything else is there. */
        out->shader = fragment_shaders[(n * 7 + n / CTS_MAKES * 3 + n / (CTS_MAKES * CTS_TARGETS)) %
                                       CTS_FRAGMENT_SHADERS];
        snprintf(name, 128, "pm.graphics.%s.%s.%s.%s", makes[out->make], targets[out->target],
                 uses[out->use], out->shader);
        return true;
    }
    n -= GRAPHICS;
    for (uint32_t make = 0; make < CTS_MAKES; make++) {
        if (is_of_graphics((enum cts_make)make))
            continue;
        const uint32_t count = CTS_COMPUTE_SHADERS * (CTS_USES - 1);
        if (n >= count) {
            n -= count;
            continue;
        }
        uint32_t use = n / CTS_COMPUTE_SHADERS;
        use += use >= CTS_INSTANCED; /* which compute has not */
        *out = (struct cts_case){.compute = true,
                                 .make = (enum cts_make)make,
                                 .use = (enum cts_use)use,
                                 .shader = compute_shaders[n % CTS_COMPUTE_SHADERS]};
        snprintf(name, 128, "pm.compute.%s.%s.%s", makes[make], uses[use], out->shader);
        return true;
    }
    return false;
}

bool cts_objects_at(uint32_t n, struct cts_case *out, char name[static 128])
{
    /* Nothing else may be drawn to with them. */
    static const enum cts_target_kind rendered[] = {CTS_RENDERING, CTS_DEPTH, CTS_SAMPLES,
                                                    CTS_BLEND};
    enum { RENDERED = sizeof rendered / sizeof rendered[0], GRAPHICS = 2 * RENDERED * CTS_USES };
    if (n < GRAPHICS) {
        *out =
            (struct cts_case){.make = n % 2 ? CTS_LINKED_OBJECTS : CTS_OBJECTS,
                              .target = rendered[n / 2 % RENDERED],
                              .use = (enum cts_use)(n / 2 / RENDERED),
                              .shader = fragment_shaders[(n * 7 + n / 8) % CTS_FRAGMENT_SHADERS]};
        snprintf(name, 128, "pm.objects.%s.%s.%s.%s", n % 2 ? "linked" : "apart",
                 targets[out->target], uses[out->use], out->shader);
        return true;
    }
    n -= GRAPHICS;
    uint32_t use = n / CTS_COMPUTE_SHADERS;
    use += use >= CTS_INSTANCED; /* which compute has not */
    if (use >= CTS_USES)
        return false;
    *out = (struct cts_case){.compute = true,
                             .make = CTS_OBJECTS,
                             .use = (enum cts_use)use,
                             .shader = compute_shaders[n % CTS_COMPUTE_SHADERS]};
    snprintf(name, 128, "pm.objects.compute.%s.%s", uses[use], out->shader);
    return true;
}

/* How the at-th case of its kind is drawn: all are of whole draws, as meshes are. */
static enum cts_use use_of(enum cts_way way, uint32_t at, uint32_t shaders)
{
    static const enum cts_use some[] = {CTS_ONCE, CTS_SECONDARY, CTS_REPEATED, CTS_RESET};
    if (way == CTS_NESTED || way == CTS_SHARED)
        return CTS_SECONDARY;
    if (way == CTS_PENDING || way == CTS_SUSPENDED)
        return CTS_ONCE;                                        /* use.c has their own */
    const enum cts_use use = some[(at + at / shaders * 2) % 4]; /* each shader another each way */
    /* Which attachment is where is not inherited here. */
    return way == CTS_LOCAL_READ && use == CTS_SECONDARY ? CTS_POOL_RESET : use;
}

static enum cts_target_kind target_of(enum cts_way way, uint32_t at)
{
    if (way == CTS_RESOLVED_LATER || way == CTS_RESOLVED_BY_PASS)
        return CTS_SAMPLES;
    static const enum cts_target_kind stateful[] = {CTS_SAMPLES, CTS_BLEND, CTS_DEPTH};
    if (way == CTS_STATES)
        return stateful[at % 3];
    const bool rendering = way == CTS_MULTIVIEW || way == CTS_LOCAL_READ || way == CTS_SUSPENDED;
    return !rendering && at % 3 == 0 ? CTS_PASS : CTS_RENDERING;
}

bool cts_newer_at(uint32_t n, struct cts_case *out, char name[static 128])
{
    for (uint32_t i = 0; i < 2 * CTS_WAYS; i++) {
        const bool compute = i >= CTS_WAYS;
        const enum cts_way way = (enum cts_way)(i % CTS_WAYS);
        const uint32_t shaders = (compute ? CTS_COMPUTE_SHADERS : CTS_FRAGMENT_SHADERS) + 1;
        if (!(compute ? ways[way].compute : ways[way].graphics))
            continue;
        if (n >= shaders) {
            n -= shaders;
            continue;
        }
        const uint32_t at = (way - 1) * shaders + n;
        *out = (struct cts_case){.compute = compute,
                                 .target = target_of(way, at),
                                 .use = use_of(way, at, shaders),
                                 .way = way,
                                 .shader = (compute ? compute_shaders : fragment_shaders)[n]};
        snprintf(name, 128, "pm.newer.%s%s.%s.%s", compute ? "compute." : "", ways[way].name,
                 uses[out->use], out->shader);
        return true;
    }
    return false;
}

/* ---- ending ---- */

static void end(const char *status, const char *why, int code)
{
    printf("  %s (%s)\n\nDONE!\n", status, why);
    fflush(stdout);
    exit(code);
}

void cts_pass(uint64_t hash)
{
    printf("  Result: %016" PRIx64 "\n", hash);
    end("Pass", "as drawn plainly", 0);
    abort();
}

void cts_fail(const char *format, ...)
{
    char why[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    end("Fail", why, 1);
    abort();
}

void cts_unsupported(const char *why)
{
    end("NotSupported", why, 0);
    abort();
}

/* FNV-1a. */
uint64_t cts_hash(uint64_t hash, const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const unsigned char *)data)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* ---- a device ---- */

/* Room for any structure of features, which the driver fills. */
union features {
    VkBaseOutStructure base;
    char room[512];
};

static void open_gpu(struct pm_gpu *gpu, const struct cts_case *of, VkInstance instance)
{
    union features own[2];
    const struct cts_way_of *way = cts_way(of);
    const bool objects = cts_has_objects(of);
    const char *const extensions[] = {
        "VK_KHR_pipeline_library",   "VK_EXT_graphics_pipeline_library",
        "VK_EXT_color_write_enable", objects ? "VK_EXT_shader_object" : way->extensions[0],
        way->extensions[1],          NULL};
    VkPhysicalDeviceColorWriteEnableFeaturesEXT writes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COLOR_WRITE_ENABLE_FEATURES_EXT};
    VkPhysicalDeviceGraphicsPipelineLibraryFeaturesEXT libraries = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GRAPHICS_PIPELINE_LIBRARY_FEATURES_EXT,
        .pNext = &writes};
    VkBaseOutStructure *last = (VkBaseOutStructure *)(void *)&writes;
    for (int i = 0; i < 2; i++) {
        own[i] = (union features){
            .base.sType = objects && i == 0
                              ? VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_OBJECT_FEATURES_EXT
                              : way->features[i]};
        if (own[i].base.sType == 0)
            break;
        last->pNext = &own[i].base;
        last = &own[i].base;
    }
    const struct pm_gpu_options options = {.extensions = extensions,
                                           .features = (VkBaseOutStructure *)(void *)&libraries,
                                           .first_feature = 1,
                                           .names = true,
                                           .instance = instance};
    pm_gpu_create_with(gpu, &options);
}

static void fill_vertices(struct pm_gpu_vertex *vertices)
{
    static const float corners[CTS_VERTICES / 3][3][2] = {
        {{-0.9f, -0.9f}, {0.8f, -0.7f}, {-0.6f, 0.9f}},
        {{0.9f, 0.9f}, {-0.5f, 0.8f}, {0.7f, -0.9f}},
        {{-1, 0}, {1, -0.4f}, {1, 0.5f}},
        {{0, -1}, {0.4f, 1}, {-0.5f, 0.7f}}};
    for (int i = 0; i < CTS_VERTICES; i++)
        vertices[i] =
            (struct pm_gpu_vertex){.position = {corners[i / 3][i % 3][0], corners[i / 3][i % 3][1],
                                                0.2f + 0.15f * (float)(i / 3), 1},
                                   .color = {1, 0, 0, 1}};
}

static void fill(struct cts *cts)
{
    struct pm_gpu *gpu = &cts->gpu;
    pm_gpu_buffer_create(gpu, CTS_VERTICES * sizeof(struct pm_gpu_vertex), &cts->vertices);
    fill_vertices(cts->vertices.data);
    pm_gpu_buffer_create(gpu, CTS_VERTICES * sizeof(uint32_t), &cts->indices);
    for (uint32_t i = 0; i < CTS_VERTICES; i++)
        ((uint32_t *)cts->indices.data)[i] = i;
    pm_gpu_buffer_create(gpu, 128, &cts->indirect);
    const uint32_t draw[4] = {CTS_VERTICES, 1, 0, 0}, groups[3] = {CTS_WORDS / 32, 1, 1};
    memcpy(cts->indirect.data, draw, sizeof draw);
    memcpy((char *)cts->indirect.data + 64, groups, sizeof groups);
    pm_gpu_buffer_create(gpu, CTS_WORDS * sizeof(uint32_t), &cts->given);
    for (uint32_t i = 0; i < CTS_WORDS; i++)
        ((uint32_t *)cts->given.data)[i] = i % 5 < 3 ? 0 : i * 2654435761u >> 12;
    pm_gpu_buffer_create(gpu, CTS_WORDS * sizeof(uint32_t), &cts->stored);
    pm_gpu_buffer_create(gpu, (size_t)CTS_SIDE * CTS_SIDE * 8, &cts->texels);
}

/* What programs name; pipelines when they are made (make.c). Not pipeline layouts: where drivers
 * merge those of libraries they free such a name twice (lavapipe: seen). */
static void name_objects(const struct cts *cts, const struct cts_case *of)
{
    const struct pm_gpu *gpu = &cts->gpu;
    pm_gpu_name(gpu, VK_OBJECT_TYPE_SHADER_MODULE, (uint64_t)cts->module, of->shader);
    pm_gpu_name(gpu, VK_OBJECT_TYPE_SHADER_MODULE, (uint64_t)gpu->vertex, "vertex");
    pm_gpu_name(gpu, VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT, (uint64_t)gpu->set_layout, "bindings");
}

void cts_open(struct cts *cts, const struct cts_case *of)
{
    cts_open_of(cts, of, VK_NULL_HANDLE);
}

void cts_open_of(struct cts *cts, const struct cts_case *of, VkInstance instance)
{
    char file[64];
    *cts = (struct cts){.keeps_instance = instance != VK_NULL_HANDLE};
    open_gpu(&cts->gpu, of, instance);
    pm_device_dispatch_load(&cts->vk, cts->gpu.device, vkGetDeviceProcAddr);
    cts->layers = cts_way(of)->layers ? cts_way(of)->layers : 1;
    fill(cts);
    snprintf(file, sizeof file, "%s.%s", of->shader, of->compute ? "comp" : "frag");
    pm_gpu_load(CTS_SHADERS, file, &cts->words, &cts->word_count);
    cts->module = gpu_module(&cts->gpu, cts->words, cts->word_count);
    name_objects(cts, of);
    cts->buffers =
        (struct pm_gpu_shader){.buffers = {&cts->given, &cts->vertices, &cts->given, &cts->stored},
                               .uniform = &cts->given};
    cts->set = gpu_descriptors(&cts->gpu, &cts->buffers, &cts->given);
    if (!of->compute)
        cts_target_create(cts, of->target);
    cts_newer_open(cts, of);
}

void cts_close(struct cts *cts, const struct cts_case *of)
{
    struct pm_gpu *gpu = &cts->gpu;
    cts_target_destroy(cts);
    cts_newer_close(cts, of);
    for (uint32_t i = 0; i < cts->library_count; i++)
        vkDestroyPipeline(gpu->device, cts->libraries[i], NULL);
    for (int i = 0; i < 2; i++)
        vkDestroyPipelineLayout(gpu->device, cts->part_layouts[i], NULL);
    vkDestroyShaderModule(gpu->device, cts->module, NULL);
    free(cts->words);
    struct pm_gpu_buffer *const buffers[] = {&cts->vertices, &cts->indices, &cts->indirect,
                                             &cts->given,    &cts->stored,  &cts->texels};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        pm_gpu_buffer_destroy(gpu, buffers[i]);
    pm_gpu_destroy(gpu);
    if (!cts->keeps_instance)
        vkDestroyInstance(gpu->instance, NULL);
}
