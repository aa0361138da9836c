#include "layer/shader/arm_shader.h"

#include <stdlib.h>

struct arm_shader {
    struct pm_specialized_shader shader;
    _Atomic uint32_t references;
};

struct pm_specialized_shader *pm_arm_shader_create(const struct pm_specialized_shader *shader)
{
    struct arm_shader *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->shader = *shader;
    atomic_init(&made->references, 1);
    return &made->shader;
}

void pm_arm_shader_reference(struct pm_specialized_shader *shader)
{
    atomic_fetch_add(&((struct arm_shader *)shader)->references, 1);
}

void pm_arm_shader_release(struct pm_specialized_shader *shader)
{
    struct arm_shader *made = (struct arm_shader *)shader;
    if (!made || atomic_fetch_sub(&made->references, 1) != 1)
        return;
    pm_arm_shader_finish(shader);
    free(made);
}

void pm_arm_shader_finish(struct pm_specialized_shader *shader)
{
    pm_specialized_finish(&shader->module);
    free((char *)(uintptr_t)shader->entry_point);
    shader->entry_point = NULL;
    shader->module = (struct pm_specialized){0};
}
