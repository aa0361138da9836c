/* Every fragment shader of the examples draws in passes the bits that it draws in one, on every
 * driver, or is refused for a reason that is looked for here. All floats' results are exact
 * (NoContraction), as in the test of partition_fragment. */
#include "shader_rewrite/ir/ir_walk.h"
#include "tests/shader_rewrite/partition/random_inputs.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

enum { WAYS = 2, SEEDS = 64, SHARES = 6 };

static const struct pm_target target = {.vulkan_minor = 3};
static const float most_of[WAYS] = {2, 4};

/* What a pass may have of the shader's ALU operations, in percent. */
static const uint32_t shares[SHARES] = {95, 75, 55, 35, 20, 10};

static struct {
    uint32_t shaders, cut, discard, partitions, passes, images, refused;
} seen;

struct subject {
    const char *name;
    struct pm_words words;
    struct pm_random_inputs inputs[WAYS];
    struct pm_pass_drawing drawings[WAYS];
    void *pictures[WAYS], *drawn;
    size_t size; /* bytes of a picture */
    bool discards;
    uint64_t operations; /* of the ALU */
    uint32_t most_passes;
};

static bool discards(const struct pm_words *words)
{
    struct pm_error error = {0};
    struct pm_ir_module *module = pm_ir_parse(words->data, words->count, &error);
    bool found = false;
    assert_non_null(module);
    for (struct pm_ir_walk w = pm_ir_walk_begin(module); pm_ir_walk_next(&w);)
        found |= w.instr->opcode == SpvOpKill || w.instr->opcode == SpvOpTerminateInvocation ||
                 w.instr->opcode == SpvOpDemoteToHelperInvocation;
    pm_ir_module_destroy(module);
    return found;
}

static bool shows(const struct subject *s, uint32_t way)
{
    const uint8_t *bytes = s->pictures[way];
    for (size_t i = 0; i < s->size; i++)
        if (bytes[i] != 0)
            return true;
    return false;
}

static void draw_whole(struct subject *s, struct pm_gpu *gpu, VkShaderModule vertex, uint32_t way,
                       uint32_t seed)
{
    struct pm_random_inputs *inputs = &s->inputs[way];
    struct pm_pass_drawing *drawing = &s->drawings[way];
    pm_random_inputs_create(inputs, gpu, &s->words, seed, most_of[way]);
    *drawing = (struct pm_pass_drawing){.gpu = gpu,
                                        .vertex = vertex,
                                        .set_count = inputs->set_count,
                                        .push = inputs->push,
                                        .outputs = inputs->outputs};
    memcpy(drawing->set_layouts, inputs->layouts, sizeof inputs->layouts);
    memcpy(drawing->sets, inputs->sets, sizeof inputs->sets);
    s->size = pm_pass_drawing_size(drawing);
    s->pictures[way] = calloc(1, s->size);
    assert_non_null(s->pictures[way]);
    pm_pass_drawing_draw_whole(drawing, &s->words, s->pictures[way]);
}

static void forget_whole(struct subject *s, uint32_t way)
{
    pm_random_inputs_destroy(&s->inputs[way]);
    free(s->pictures[way]);
}

/* With inputs that some light falls on: pictures that are alike say little where they are empty. */
static void find_pictures(struct subject *s, struct pm_gpu *gpu, VkShaderModule vertex)
{
    for (uint32_t way = 0; way < WAYS; way++) {
        uint32_t seed = 1;
        draw_whole(s, gpu, vertex, way, seed);
        while (!shows(s, way) && seed < SEEDS) {
            forget_whole(s, way);
            draw_whole(s, gpu, vertex, way, ++seed);
        }
        if (!shows(s, way))
            fail_msg("%s draws nothing of inputs to %g", s->name, (double)most_of[way]);
    }
}

static void compare(const struct subject *s, const struct pm_partitioned *made, const char *how)
{
    pm_pass_drawing_assert_whole(made, s->drawings[0].outputs);
    for (uint32_t way = 0; way < WAYS; way++) {
        pm_pass_drawing_draw(&s->drawings[way], made, s->drawn);
        if (memcmp(s->pictures[way], s->drawn, s->size) != 0)
            fail_msg("%s, %s, inputs up to %g: another picture in %u passes", s->name, how,
                     (double)most_of[way], made->count);
    }
}

static void check_refusal(const struct subject *s, const struct pm_error *error, const char *how)
{
    if (error->code != PM_ERROR_UNSUPPORTED)
        fail_msg("%s, %s: %s", s->name, how, error->message);
    printf("%s, %s: refused: %s\n", s->name, how, error->message);
    if (s->discards != (strstr(error->message, "it discards fragments") != NULL))
        fail_msg("%s is refused for another reason", s->name);
    seen.refused++;
}

static void partition(struct subject *s, uint32_t alu, int method)
{
    struct pm_error error = {0};
    struct pm_partitioned made;
    /* What stays beside the shader's own, which other passes may write. */
    const uint32_t outputs =
        PM_PASS_DRAWING_LOCATIONS - (uint32_t)__builtin_popcount(s->drawings[0].outputs);
    const struct pm_pass_limits limits = {alu, 128, 400, 32, 256, 128, outputs, true};
    const struct pm_partition_info info = {
        .limits = &limits, .method = (enum pm_partition_method)method, .target = target};
    char how[96];
    snprintf(how, sizeof how, "%u of %" PRIu64 " operations, method %d", alu, s->operations,
             method);
    if (!pm_partition(s->words.data, s->words.count, &info, &made, &error)) {
        check_refusal(s, &error, how);
        return;
    }
    assert_false(s->discards);
    compare(s, &made, how);
    if (made.count > s->most_passes)
        s->most_passes = made.count;
    seen.partitions++;
    seen.passes += made.count;
    seen.images += made.image_count;
    pm_partitioned_finish(&made);
}

/* How many ALU operations it has; without limits nothing else is refused. */
static uint64_t count_operations(const struct subject *s)
{
    struct pm_error error = {0};
    struct pm_partitioned made;
    const uint32_t most = PM_NO_LIMIT;
    const struct pm_pass_limits limits = {most, most, most, most, most, most, most, false};
    const struct pm_partition_info info = {.limits = &limits, .target = target};
    if (!pm_partition(s->words.data, s->words.count, &info, &made, &error)) {
        check_refusal(s, &error, "without limits");
        return 0;
    }
    assert_int_equal(made.count, 1);
    const uint64_t operations = made.cost.alu;
    pm_partitioned_finish(&made);
    return operations;
}

static void check(struct pm_gpu *gpu, VkShaderModule vertex, const char *folder, const char *name)
{
    struct subject s = {.name = name, .words = pm_pass_drawing_load(folder, name)};
    s.discards = discards(&s.words);
    s.operations = count_operations(&s);
    seen.shaders++;
    seen.discard += s.discards;
    if (!s.discards) {
        find_pictures(&s, gpu, vertex);
        s.drawn = malloc(s.size);
        assert_non_null(s.drawn);
        for (uint32_t share = 0; share < SHARES; share++)
            for (int method = 0; method < PM_PARTITION_METHODS; method++)
                partition(&s, (uint32_t)(s.operations * shares[share] / 100) + 1, method);
        printf("%s: %" PRIu64 " operations, at most %u passes\n", name, s.operations,
               s.most_passes);
        seen.cut += s.most_passes > 1;
        for (uint32_t way = 0; way < WAYS; way++)
            forget_whole(&s, way);
        free(s.drawn);
    }
    pm_words_finish(&s.words);
}

/* The length of NAME of NAME.spv; 0: it is no fragment shader. */
static int name_length(const struct dirent *entry)
{
    static const char *const ends[] = {".frag.spv", ".frag.scalar.spv"};
    const size_t length = strlen(entry->d_name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (length > strlen(ends[i]) &&
            strcmp(entry->d_name + length - strlen(ends[i]), ends[i]) == 0)
            return (int)(length - strlen(".spv"));
    return 0;
}

static int is_shader(const struct dirent *entry)
{
    return name_length(entry) > 0;
}

static void check_folder(struct pm_gpu *gpu, VkShaderModule vertex, const char *folder)
{
    struct dirent **entries;
    const int count = scandir(folder, &entries, is_shader, alphasort);
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        char name[sizeof entries[i]->d_name];
        snprintf(name, sizeof name, "%.*s", name_length(entries[i]), entries[i]->d_name);
        check(gpu, vertex, folder, name);
        free(entries[i]);
    }
    free(entries);
}

static void passes_draw_what_the_whole_does(void **state)
{
    (void)state;
    static const char *const folders[] = {PM_TEST_EXAMPLES "/piecemeal-deferred.shaders",
                                          PM_TEST_EXAMPLES "/piecemeal-terrain.shaders"};
    struct pm_gpu *gpu = &pm_test_gpu;
    uint32_t *words;
    size_t count;
    pm_gpu_load(PM_TEST_VERTICES, "spread.vert", &words, &count);
    VkShaderModule vertex = gpu_module(gpu, words, count);
    free(words);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        check_folder(gpu, vertex, folders[i]);
    vkDestroyShaderModule(gpu->device, vertex, NULL);
    printf("%u shaders, %u cut, %u discard; %u partitions of %u passes and %u images, %u refused\n",
           seen.shaders, seen.cut, seen.discard, seen.partitions, seen.passes, seen.images,
           seen.refused);
    assert_true(seen.discard > 0);
    /* Loops and what derivatives are taken of stay in one pass, which is most of some shaders. */
    assert_true(2 * seen.cut > seen.shaders - seen.discard);
    assert_true(seen.passes > 2 * seen.partitions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(passes_draw_what_the_whole_does)};
    return cmocka_run_group_tests(tests, pm_gpu_set_up, pm_gpu_tear_down);
}
