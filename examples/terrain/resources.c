#include "examples/terrain/layers.h"
#include "examples/terrain/renderer.h"
#include <stdlib.h>

bool pm_terrain_create_textures(struct pm_terrain *t, unsigned place, struct pm_error *error)
{
    const struct pm_land *land = &t->land;
    const struct {
        struct pm_gpu_image *image;
        const uint8_t *texels;
    } maps[] = {{&t->surface, land->surface},
                {&t->splat_low, land->splat_low},
                {&t->splat_high, land->splat_high},
                {&t->mask, land->mask}};
    struct pm_gpu_image_info info = {
        .format = VK_FORMAT_R8G8B8A8_UNORM, .width = PM_LAND_SIDE, .height = PM_LAND_SIDE};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        if (!pm_gpu_texture_init(maps[i].image, t->gpu, &info, maps[i].texels, 4, error))
            return false;

    struct pm_layer_maps layers;
    bool done = false;
    if (!pm_layers_paint(&layers, place)) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for textures");
        goto end;
    }
    info = (struct pm_gpu_image_info){
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .width = PM_LAYER_SIDE,
        .height = PM_LAYER_SIDE,
        .layers = PM_LAND_LAYERS,
        .levels = PM_LAYER_LEVELS,
        .is_array = true,
    };
    if (!pm_gpu_texture_init(&t->albedo, t->gpu, &info, layers.albedo, 4, error) ||
        !pm_gpu_texture_init(&t->normal, t->gpu, &info, layers.normal, 4, error) ||
        !pm_gpu_texture_init(&t->detail, t->gpu, &info, layers.detail, 4, error))
        goto end;
    info.layers = PM_DECAL_LAYERS;
    done = pm_gpu_texture_init(&t->decals, t->gpu, &info, layers.decals, 4, error) &&
           pm_gpu_buffer_upload(&t->decal_list, t->gpu, land->decals, sizeof land->decals,
                                VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, error);
end:
    pm_layers_finish(&layers);
    return done;
}

enum {
    POINTS = PM_LAND_CELLS + 1, /* of the mesh, along a side */
    CHUNK_CELLS = PM_LAND_CELLS / PM_LAND_CHUNKS,
};

/* Two triangles for each cell, chunk after chunk. */
static void fill_indices(uint32_t *out)
{
    for (uint32_t chunk = 0; chunk < PM_LAND_CHUNKS * PM_LAND_CHUNKS; chunk++) {
        for (uint32_t cell = 0; cell < CHUNK_CELLS * CHUNK_CELLS; cell++) {
            const uint32_t x = chunk % PM_LAND_CHUNKS * CHUNK_CELLS + cell % CHUNK_CELLS;
            const uint32_t z = chunk / PM_LAND_CHUNKS * CHUNK_CELLS + cell / CHUNK_CELLS;
            const uint32_t a = z * POINTS + x, b = a + 1, c = a + POINTS, d = c + 1;
            const uint32_t corners[] = {a, c, b, b, c, d};
            for (int i = 0; i < 6; i++)
                *out++ = corners[i];
        }
    }
}

bool pm_terrain_create_mesh(struct pm_terrain *t, struct pm_error *error)
{
    const size_t vertex_bytes = sizeof(pm_vec3) * POINTS * POINTS;
    const size_t index_bytes = sizeof(uint32_t) * PM_LAND_CELLS * PM_LAND_CELLS * 6;
    pm_vec3 *vertices = malloc(vertex_bytes);
    uint32_t *indices = malloc(index_bytes);
    bool done = false;
    if (!vertices || !indices) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for the mesh");
        goto end;
    }
    for (int i = 0; i < POINTS * POINTS; i++) {
        const float x = ((float)(i % POINTS) / PM_LAND_CELLS - 0.5f) * t->land.side;
        const float z = ((float)(i / POINTS) / PM_LAND_CELLS - 0.5f) * t->land.side;
        vertices[i] = (pm_vec3){x, pm_land_height(&t->land, x, z), z};
    }
    fill_indices(indices);
    done = pm_gpu_buffer_upload(&t->vertices, t->gpu, vertices, vertex_bytes,
                                VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, error) &&
           pm_gpu_buffer_upload(&t->indices, t->gpu, indices, index_bytes,
                                VK_BUFFER_USAGE_INDEX_BUFFER_BIT, error);
end:
    free(vertices);
    free(indices);
    return done;
}
