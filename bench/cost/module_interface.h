/*
 * What a fragment or compute module wants around it: descriptors, inputs, outputs.
 *
 * Thread safety: no state.
 */
#pragma once

#include "shader_rewrite/shader_rewrite.h"
#include <vulkan/vulkan.h>

enum { PM_INTERFACE_MOST = 64, PM_INTERFACE_SETS = 8 };

enum pm_interface_scalar { PM_SCALAR_FLOAT, PM_SCALAR_INT, PM_SCALAR_UINT };

struct pm_interface_binding {
    uint32_t set, binding, count;
    VkDescriptorType type;
    bool
        flat_image; /* a sampled image of two dimensions, one layer and floats, not for comparing */
};

struct pm_interface_variable {
    uint32_t location;
    uint32_t components; /* 1 to 4, 32 bits each */
    enum pm_interface_scalar scalar;
    bool flat; /* an input that is not interpolated */
};

struct pm_interface {
    struct pm_interface_binding bindings[PM_INTERFACE_MOST];
    size_t binding_count;
    struct pm_interface_variable inputs[PM_INTERFACE_MOST], outputs[PM_INTERFACE_MOST];
    size_t input_count, output_count;
};

/* PM_ERROR_UNSUPPORTED: something in it is not as above says; the message names it. */
bool pm_interface_read(const uint32_t *words, size_t count, struct pm_interface *interface,
                       struct pm_error *error);

/* A vertex shader whose outputs are its inputs at locations 0, 1 and so on, which the given inputs
 * of a fragment shader take. covers: its position is the input behind them, 4 floats; else it
 * covers nothing. Assembled; freed with pm_words_finish. */
bool pm_interface_vertex(const struct pm_interface *interface, bool covers, struct pm_words *words,
                         struct pm_error *error);
