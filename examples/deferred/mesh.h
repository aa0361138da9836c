/*
 * Procedural meshes, appended one after the other to one growing list of vertices and indices, so
 * that a scene needs one vertex and one index buffer. Lengths are metres; texture coordinates are
 * metres on the surface, so that textures keep their size whatever the mesh's. Triangles are
 * counter-clockwise seen from outside.
 *
 * Out of memory sets `failed` and later calls do nothing: check once, at the end.
 */
#pragma once

#include "base/random.h"
#include "examples/common/vector.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pm_vertex {
    float position[3], normal[3], uv[2];
};

struct pm_meshes {
    struct pm_vertex *vertices;
    uint32_t *indices;
    size_t vertex_count, vertex_room, index_count, index_room;
    bool failed;
};

/* A run of indices; those are already offset into the shared vertices. */
struct pm_mesh {
    uint32_t first, count;
};

void pm_meshes_finish(struct pm_meshes *meshes);

/* Standing on y = 0, centred in x and z. */
struct pm_mesh pm_mesh_box(struct pm_meshes *meshes, pm_vec3 size);
struct pm_mesh pm_mesh_cylinder(struct pm_meshes *meshes, float radius, float height);
/* Around the origin. */
struct pm_mesh pm_mesh_sphere(struct pm_meshes *meshes, float radius, float roughness,
                              struct pm_random *random);
struct pm_mesh pm_mesh_knot(struct pm_meshes *meshes, float radius, float thickness);
/* count leaves of the given size, inside an ellipsoid around `centre`. */
struct pm_mesh pm_mesh_leaves(struct pm_meshes *meshes, pm_vec3 centre, pm_vec3 half, float size,
                              uint32_t count, struct pm_random *random);

typedef float (*pm_height)(float x, float z);
/* A square of 2 half metres a side with cells x cells cells. */
struct pm_mesh pm_mesh_ground(struct pm_meshes *meshes, float half, uint32_t cells,
                              pm_height height);
