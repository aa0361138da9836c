#include "shader_rewrite/partition/schedule/limits.h"

#include <stdlib.h>
#include <string.h>

/* The Radeon 9800 and GeForce 6800: ARB_fragment_program's limits as their drivers gave them
 * (temporaries: 32 vectors each), with the operations that Mio's section 5 allows a pass. */
static const struct {
    const char *name;
    struct pm_pass_limits limits;
} presets[PM_PASS_LIMITS_PRESETS] = {
    {"radeon9800-48",
     {.alu = 48,
      .texture = 32,
      .temporaries = 128,
      .varyings = 8,
      .constants = 32,
      .textures = 16,
      .outputs = 4,
      .textures_hold_outputs = true}},
    {"radeon9800-64",
     {.alu = 64,
      .texture = 32,
      .temporaries = 128,
      .varyings = 8,
      .constants = 32,
      .textures = 16,
      .outputs = 4,
      .textures_hold_outputs = true}},
    {"geforce6800",
     {.alu = 65535,
      .texture = 65535,
      .temporaries = 128,
      .varyings = 10,
      .constants = 224,
      .textures = 16,
      .outputs = 4,
      .textures_hold_outputs = true}},
    /* No count of operations ends a pass any more; registers do. 64 a lane is where the devices of
     * today begin to run fewer subgroups at once. What is spilled goes to memory. */
    {"registers",
     {.alu = 4096,
      .texture = PM_NO_LIMIT,
      .temporaries = 64,
      .varyings = PM_NO_LIMIT,
      .constants = PM_NO_LIMIT,
      .textures = PM_NO_LIMIT,
      .outputs = 16}},
};

bool pm_pass_limits_named(const char *name, struct pm_pass_limits *limits)
{
    const struct pm_pass_limits *preset = pm_pass_limits_preset(name);
    if (preset) {
        *limits = *preset;
        return true;
    }
    char *end;
    const unsigned long operations = strtoul(name, &end, 10);
    *limits = (struct pm_pass_limits){
        .alu = (uint32_t)operations,
        .texture = PM_NO_LIMIT,
        .temporaries = PM_NO_LIMIT,
        .varyings = PM_NO_LIMIT,
        .constants = PM_NO_LIMIT,
        .textures = PM_NO_LIMIT,
        .outputs = PM_NO_LIMIT,
    };
    return *end == '\0' && operations > 0 && operations <= UINT32_MAX;
}

const struct pm_pass_limits *pm_pass_limits_of(uint32_t preset, const char **name)
{
    if (name)
        *name = presets[preset].name;
    return &presets[preset].limits;
}

const struct pm_pass_limits *pm_pass_limits_preset(const char *name)
{
    for (uint32_t i = 0; i < PM_PASS_LIMITS_PRESETS; i++)
        if (!strcmp(name, presets[i].name))
            return &presets[i].limits;
    return NULL;
}
