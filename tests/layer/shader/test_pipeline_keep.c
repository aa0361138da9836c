/* What a pipeline was made with is kept beside its shader, and names all that it is made of. */
#include "profile/fossilize.h"
#include "profile/stored_pipeline.h"
#include "tests/layer/optimized.h"
#include "tests/layer/pipelines.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct pm_harness h;

/* What is kept of the shader that has this original; NULL: nothing. */
static struct {
    const uint32_t *words;
    size_t size;
    struct pm_arena *arena;
    struct pm_stored_pipeline pipeline;
    cJSON *document;
} kept;

static void look(struct pm_shader_store *store, const struct pm_shader_key *key)
{
    struct pm_stored_shader shader;
    assert_true(pm_shader_store_read(store, key, kept.arena, &shader, NULL));
    if (shader.original_count * 4 == kept.size &&
        memcmp(shader.original, kept.words, kept.size) == 0 &&
        pm_stored_pipeline_read(store, key, kept.arena, &kept.pipeline, NULL))
        kept.document = cJSON_Parse(kept.pipeline.document);
}

static const cJSON *read_kept(void)
{
    kept.words = parts_words(VK_SHADER_STAGE_FRAGMENT_BIT, &kept.size);
    kept.arena = pm_arena_create(0);
    optimized_each_stored(look);
    return kept.document;
}

static int forget(void **state)
{
    cJSON_Delete(kept.document);
    pm_arena_destroy(kept.arena);
    memset(&kept, 0, sizeof kept);
    return pm_layered_tear_down(state);
}

static void open_with(const struct pm_harness_options *options)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "true", 1);
    pm_harness_open(&h, options);
}

static const cJSON *get(const cJSON *json, const char *name)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(json, name);
    if (!found)
        fail_msg("there is no %s", name);
    return found;
}

/* The one object of a section, and its name. */
static const cJSON *only(const char *section)
{
    const cJSON *objects = get(kept.document, section);
    assert_int_equal(cJSON_GetArraySize(objects), 1);
    return objects->child;
}

static void is_text(const cJSON *json, const char *name, const char *text)
{
    assert_string_equal(cJSON_GetStringValue(get(json, name)), text);
}

static void is_number(const cJSON *json, const char *name, double number)
{
    assert_true(cJSON_IsNumber(get(json, name)));
    assert_true(get(json, name)->valuedouble == number);
}

/* The stages' modules are those of the pipeline, and are kept. */
static void has_module(const cJSON *stage, VkShaderStageFlagBits of)
{
    char name[PM_FOSSILIZE_HASH_TEXT];
    size_t size, i = 0;
    const uint32_t *words = parts_words(of, &size);
    const uint64_t hash = pm_fossilize_hash_module(words, size / 4);
    snprintf(name, sizeof name, "%016" PRIx64, hash);
    is_text(stage, "module", name);
    is_number(stage, "stage", of);
    while (i < kept.pipeline.module_count && kept.pipeline.modules[i].hash != hash)
        i++;
    assert_true(i < kept.pipeline.module_count);
    assert_int_equal(kept.pipeline.modules[i].count * 4, size);
    assert_memory_equal(kept.pipeline.modules[i].words, words, size);
}

static void all_that_it_is_made_of_is_named(void **state)
{
    (void)state;
    open_with(NULL);
    struct parts parts;
    parts_make(&parts, &h);
    VkPipeline pipeline = make_graphics(&h, &(struct graphics_options){.parts = &parts});
    parts_destroy(&parts, &h);
    const cJSON *document = read_kept();
    assert_non_null(document);
    is_number(document, "version", 6);
    const cJSON *own = get(document, "piecemeal"), *made = only("graphicsPipelines");
    is_text(own, "type", "graphics");
    is_text(own, "pipeline", made->string);
    is_text(own, "owner", made->string);
    is_number(own, "stage", 1);
    assert_int_equal(cJSON_GetArraySize(get(own, "left_out")), 0);
    is_text(made, "layout", only("pipelineLayouts")->string);
    is_text(made, "renderPass", only("renderPasses")->string);
    const cJSON *sets = get(only("pipelineLayouts"), "setLayouts");
    assert_int_equal(cJSON_GetArraySize(sets), 1);
    assert_string_equal(cJSON_GetArrayItem(sets, 0)->valuestring, only("setLayouts")->string);
    /* Samplers of the binding that reads them only. */
    const cJSON *bindings = get(only("setLayouts"), "bindings");
    assert_null(cJSON_GetObjectItem(cJSON_GetArrayItem(bindings, 0), "immutableSamplers"));
    const cJSON *samplers = get(cJSON_GetArrayItem(bindings, 1), "immutableSamplers");
    assert_int_equal(cJSON_GetArraySize(samplers), 2);
    for (int i = 0; i < 2; i++)
        assert_string_equal(cJSON_GetArrayItem(samplers, i)->valuestring, only("samplers")->string);
    is_number(only("samplers"), "maxLod", 3);
    assert_int_equal(cJSON_GetArraySize(get(only("renderPasses"), "attachments")), 1);
    const cJSON *stages = get(made, "stages");
    has_module(cJSON_GetArrayItem(stages, 0), VK_SHADER_STAGE_VERTEX_BIT);
    has_module(cJSON_GetArrayItem(stages, 1), VK_SHADER_STAGE_FRAGMENT_BIT);
    h.vk.DestroyPipeline(h.device, pipeline, NULL);
    pm_harness_close(&h);
}

static void libraries_are_pipelines_too(void **state)
{
    (void)state;
    static const char *const extensions[] = {"VK_EXT_graphics_pipeline_library",
                                             "VK_KHR_pipeline_library", NULL};
    const struct pm_harness_options device = {.device_extensions = extensions};
    open_with(&device);
    struct parts parts;
    VkPipeline libraries[4];
    parts_make(&parts, &h);
    for (uint32_t i = 0; i < 4; i++)
        libraries[i] = make_graphics(
            &h, &(struct graphics_options){.parts = &parts,
                                           .library = 1u << i,
                                           .flags = VK_PIPELINE_CREATE_LIBRARY_BIT_KHR});
    VkPipeline linked =
        make_graphics(&h, &(struct graphics_options){.parts = &parts, .link = libraries});
    parts_destroy(&parts, &h);
    const cJSON *document = read_kept();
    assert_non_null(document);
    const cJSON *own = get(document, "piecemeal"), *pipelines = get(document, "graphicsPipelines");
    assert_int_equal(cJSON_GetArraySize(pipelines), 5);
    /* The last one links the others, which stand before it; the fragment shader is of the third. */
    const cJSON *last = cJSON_GetArrayItem(pipelines, 4);
    is_text(own, "pipeline", last->string);
    is_text(own, "owner", cJSON_GetArrayItem(pipelines, 2)->string);
    is_number(own, "stage", 0);
    const cJSON *link = get(last, "pNext")->child;
    is_number(link, "sType", VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR);
    for (int i = 0; i < 4; i++)
        assert_string_equal(cJSON_GetArrayItem(get(link, "libraries"), i)->valuestring,
                            cJSON_GetArrayItem(pipelines, i)->string);
    const cJSON *third = cJSON_GetArrayItem(pipelines, 2);
    is_number(third, "flags", VK_PIPELINE_CREATE_LIBRARY_BIT_KHR);
    is_number(get(third, "pNext")->child, "flags",
              VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT);
    has_module(get(third, "stages")->child, VK_SHADER_STAGE_FRAGMENT_BIT);
    h.vk.DestroyPipeline(h.device, linked, NULL);
    for (uint32_t i = 0; i < 4; i++)
        h.vk.DestroyPipeline(h.device, libraries[i], NULL);
    pm_harness_close(&h);
}

/* Whatever readers could not be told of is named, so that nobody makes another pipeline of it. */
static void what_is_left_out_is_named(void **state)
{
    (void)state;
    open_with(NULL);
    const VkPipelineDiscardRectangleStateCreateInfoEXT rectangles = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DISCARD_RECTANGLE_STATE_CREATE_INFO_EXT};
    const VkPipelineRobustnessCreateInfo robustness = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_ROBUSTNESS_CREATE_INFO,
        .pNext = &rectangles,
        .images = VK_PIPELINE_ROBUSTNESS_IMAGE_BEHAVIOR_ROBUST_IMAGE_ACCESS};
    struct parts parts;
    parts_make(&parts, &h);
    VkPipeline pipeline =
        make_graphics(&h, &(struct graphics_options){.parts = &parts, .next = &robustness});
    const cJSON *document = read_kept();
    assert_non_null(document);
    const cJSON *left_out = get(get(document, "piecemeal"), "left_out");
    assert_int_equal(cJSON_GetArraySize(left_out), 1);
    assert_int_equal(left_out->child->valueint, rectangles.sType);
    const cJSON *chain = get(only("graphicsPipelines"), "pNext");
    assert_int_equal(cJSON_GetArraySize(chain), 1);
    is_number(chain->child, "images", robustness.images);
    parts_destroy(&parts, &h);
    h.vk.DestroyPipeline(h.device, pipeline, NULL);
    pm_harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_that_it_is_made_of_is_named, pm_layered_set_up, forget),
        cmocka_unit_test_setup_teardown(libraries_are_pipelines_too, pm_layered_set_up, forget),
        cmocka_unit_test_setup_teardown(what_is_left_out_is_named, pm_layered_set_up, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
