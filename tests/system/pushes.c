/*
 * A program that pushes constants, for constants.sh: two frames, each one recording of draws and
 * dispatches, before each of which some words are pushed anew, all of them or a part. What it drew
 * and computed goes to a file, as bytes.
 *
 * usage: pushes FILE MODE     MODE: the value of the word that most calls have
 */
#include "tests/system/words_scene.h"

enum { CALLS = 32, FRAMES = 2 };

struct push {
    int32_t mode, taps;
    float strength, scale;
    int32_t slot;
};

struct pushing {
    struct words_scene scene;
    int32_t usual;
    struct push now;
};

static void push(const struct pushing *p, VkCommandBuffer commands, size_t first, size_t bytes)
{
    vkCmdPushConstants(commands, p->scene.gpu.layout, VK_SHADER_STAGE_ALL, (uint32_t)first,
                       (uint32_t)bytes, (const char *)&p->now + first);
}

/* What changes before a call: some words of one call in four or five, and the slot of all. */
static void push_for(void *user, VkCommandBuffer commands, int call)
{
    struct pushing *p = user;
    struct push *now = &p->now;
    const int32_t mode = call % 5 == 4 ? 3 - p->usual : p->usual;
    const float strength = call % 7 == 3 ? 0 : 0.5f;
    now->slot = call;
    if (now->mode != mode) {
        now->mode = mode;
        push(p, commands, offsetof(struct push, mode), sizeof now->mode);
    }
    if (now->strength != strength) {
        now->strength = strength;
        now->scale = strength + 1;
        push(p, commands, offsetof(struct push, strength), 2 * sizeof(float));
    }
    if (call % 11 == 6)
        push(p, commands, 0, sizeof *now);
    else
        push(p, commands, offsetof(struct push, slot), sizeof now->slot);
}

static void frame(struct pushing *p)
{
    struct words_scene *s = &p->scene;
    p->now = (struct push){p->usual, 3, 0.5f, 1.5f, 0};
    const struct pm_gpu_shader given = {
        .buffers = {&s->sums}, .push = &p->now, .push_size = sizeof p->now};
    const VkDescriptorSet set = gpu_descriptors(&s->gpu, &given, &s->sums);
    VkCommandBuffer commands = gpu_begin(&s->gpu);
    gpu_bind(&s->gpu, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, &given, set);
    gpu_bind(&s->gpu, commands, VK_PIPELINE_BIND_POINT_COMPUTE, &given, set);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, s->dispatched);
    words_scene_draw(s, commands, push_for, p);
    for (int i = 0; i < CALLS; i++) {
        push_for(p, commands, i);
        vkCmdDispatch(commands, 1, 1, 1);
    }
    gpu_finish(&s->gpu, commands);
}

static void run(FILE *file, int usual)
{
    static struct pushing p;
    p.usual = usual;
    pm_gpu_create(&p.scene.gpu);
    words_scene_make(&p.scene, "pushes", CALLS);
    for (int i = 0; i < FRAMES; i++) {
        frame(&p);
        words_scene_write(&p.scene, file);
    }
    words_scene_destroy(&p.scene);
    pm_gpu_destroy(&p.scene.gpu);
}

int main(int argc, char **argv)
{
    return words_scene_main(argc, argv, run);
}
