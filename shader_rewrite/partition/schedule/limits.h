/*
 * What one pass may take (Mio, sections 4.1 and 5).
 *
 * Thread safety: constant data; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PM_NO_LIMIT UINT32_MAX

struct pm_pass_limits {
    uint32_t alu, texture; /* operations */
    uint32_t temporaries;  /* components that live at once, between any two operations */
    uint32_t varyings, constants, textures; /* different ones */
    uint32_t outputs;                       /* of 4 components */
    /* A value of an earlier pass is read from a texture: each output of that pass which is read
     * takes a texture operation and a texture. false: it is read from memory, which takes neither.
     */
    bool textures_hold_outputs;
};

/* Limits by name; NULL: no such preset. */
const struct pm_pass_limits *pm_pass_limits_preset(const char *name);

/* A preset's, or where the name is a number those of so many ALU operations and nothing else.
 * false: it is neither. */
bool pm_pass_limits_named(const char *name, struct pm_pass_limits *limits);

/* The preset of this number, below PM_PASS_LIMITS_PRESETS, and what it is called. */
enum { PM_PASS_LIMITS_PRESETS = 4 };
const struct pm_pass_limits *pm_pass_limits_of(uint32_t preset, const char **name);
