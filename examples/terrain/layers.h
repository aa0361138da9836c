/*
 * The ground's textures: for each of the eight layers of a place an albedo map (rgb and height), a
 * normal map (normal.xy, roughness, occlusion) and a detail map (normal.xy, brightness), and the
 * decals. RGBA8, each layer with its mip chain.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { PM_LAYER_SIDE = 256, PM_LAYER_LEVELS = 9, PM_DECAL_LAYERS = 4 };

struct pm_layer_maps {
    uint8_t *albedo, *normal, *detail, *decals; /* malloc'ed; the caller frees */
};

/* place < PM_LANDS. false: out of memory. */
bool pm_layers_paint(struct pm_layer_maps *maps, unsigned place);
void pm_layers_finish(struct pm_layer_maps *maps);
