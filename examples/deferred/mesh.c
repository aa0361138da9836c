#include "examples/deferred/mesh.h"
#include <stdlib.h>

static bool grow(void **items, size_t *room, size_t needed, size_t item)
{
    if (needed <= *room)
        return true;
    size_t wanted = *room ? *room : 4096;
    while (wanted < needed)
        wanted *= 2;
    void *larger = realloc(*items, wanted * item);
    if (!larger)
        return false;
    *items = larger;
    *room = wanted;
    return true;
}

static uint32_t add_vertex(struct pm_meshes *meshes, pm_vec3 p, pm_vec3 n, float u, float v)
{
    if (meshes->failed || !grow((void **)&meshes->vertices, &meshes->vertex_room,
                                meshes->vertex_count + 1, sizeof *meshes->vertices)) {
        meshes->failed = true;
        return 0;
    }
    meshes->vertices[meshes->vertex_count] =
        (struct pm_vertex){{p.x, p.y, p.z}, {n.x, n.y, n.z}, {u, v}};
    return (uint32_t)meshes->vertex_count++;
}

static void add_triangle(struct pm_meshes *meshes, uint32_t a, uint32_t b, uint32_t c)
{
    if (meshes->failed || !grow((void **)&meshes->indices, &meshes->index_room,
                                meshes->index_count + 3, sizeof *meshes->indices)) {
        meshes->failed = true;
        return;
    }
    meshes->indices[meshes->index_count++] = a;
    meshes->indices[meshes->index_count++] = b;
    meshes->indices[meshes->index_count++] = c;
}

static struct pm_mesh begin(const struct pm_meshes *meshes)
{
    return (struct pm_mesh){.first = (uint32_t)meshes->index_count};
}

static struct pm_mesh end(const struct pm_meshes *meshes, struct pm_mesh mesh)
{
    mesh.count = (uint32_t)meshes->index_count - mesh.first;
    return mesh;
}

/* A grid of (columns + 1) x (rows + 1) vertices that start at `first`, row by row. */
static void stitch(struct pm_meshes *meshes, uint32_t first, uint32_t columns, uint32_t rows)
{
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t column = 0; column < columns; column++) {
            const uint32_t a = first + row * (columns + 1) + column, b = a + columns + 1;
            add_triangle(meshes, a, b, a + 1);
            add_triangle(meshes, a + 1, b, b + 1);
        }
    }
}

void pm_meshes_finish(struct pm_meshes *meshes)
{
    free(meshes->vertices);
    free(meshes->indices);
    *meshes = (struct pm_meshes){0};
}

/* A rectangle from `corner` along two sides; its normal is along x up. */
static void rectangle(struct pm_meshes *meshes, pm_vec3 corner, pm_vec3 along, pm_vec3 up)
{
    const pm_vec3 normal = pm_normalize(pm_cross(along, up));
    const float width = sqrtf(pm_dot(along, along)), height = sqrtf(pm_dot(up, up));
    const uint32_t a = add_vertex(meshes, corner, normal, 0.0f, height);
    const uint32_t b = add_vertex(meshes, pm_add(corner, along), normal, width, height);
    const uint32_t c = add_vertex(meshes, pm_add(corner, up), normal, 0.0f, 0.0f);
    const uint32_t d = add_vertex(meshes, pm_add(pm_add(corner, along), up), normal, width, 0.0f);
    add_triangle(meshes, a, b, c);
    add_triangle(meshes, c, b, d);
}

struct pm_mesh pm_mesh_box(struct pm_meshes *meshes, pm_vec3 size)
{
    const struct pm_mesh mesh = begin(meshes);
    const float x = size.x * 0.5f, y = size.y, z = size.z * 0.5f;
    const pm_vec3 right = {size.x, 0.0f, 0.0f}, up = {0.0f, y, 0.0f}, near = {0.0f, 0.0f, size.z};
    rectangle(meshes, (pm_vec3){-x, 0.0f, z}, right, up);
    rectangle(meshes, (pm_vec3){x, 0.0f, -z}, pm_scale(right, -1.0f), up);
    rectangle(meshes, (pm_vec3){x, 0.0f, z}, pm_scale(near, -1.0f), up);
    rectangle(meshes, (pm_vec3){-x, 0.0f, -z}, near, up);
    rectangle(meshes, (pm_vec3){-x, y, z}, right, pm_scale(near, -1.0f));
    rectangle(meshes, (pm_vec3){-x, 0.0f, -z}, right, near);
    return end(meshes, mesh);
}

struct pm_mesh pm_mesh_cylinder(struct pm_meshes *meshes, float radius, float height)
{
    enum { SEGMENTS = 24 };
    const struct pm_mesh mesh = begin(meshes);
    const uint32_t first = (uint32_t)meshes->vertex_count;
    for (int row = 0; row <= 1; row++) {
        for (int i = 0; i <= SEGMENTS; i++) {
            const float turn = 2.0f * PM_PI * (float)i / SEGMENTS;
            const pm_vec3 normal = {sinf(turn), 0.0f, cosf(turn)};
            const float y = row == 0 ? height : 0.0f;
            add_vertex(meshes, (pm_vec3){normal.x * radius, y, normal.z * radius}, normal,
                       turn * radius, height - y);
        }
    }
    stitch(meshes, first, SEGMENTS, 1);
    const uint32_t middle =
        add_vertex(meshes, (pm_vec3){0.0f, height, 0.0f}, (pm_vec3){0.0f, 1.0f, 0.0f}, 0.0f, 0.0f);
    for (uint32_t i = 0; i <= SEGMENTS; i++) {
        const float turn = 2.0f * PM_PI * (float)i / SEGMENTS;
        const pm_vec3 p = {sinf(turn) * radius, height, cosf(turn) * radius};
        const uint32_t rim = add_vertex(meshes, p, (pm_vec3){0.0f, 1.0f, 0.0f}, p.x, p.z);
        if (i > 0)
            add_triangle(meshes, middle, rim - 1, rim);
    }
    return end(meshes, mesh);
}

struct pm_mesh pm_mesh_sphere(struct pm_meshes *meshes, float radius, float roughness,
                              struct pm_random *random)
{
    enum { COLUMNS = 32, ROWS = 16 };
    const struct pm_mesh mesh = begin(meshes);
    const uint32_t first = (uint32_t)meshes->vertex_count;
    float phase[6];
    for (int i = 0; i < 6; i++)
        phase[i] = (float)pm_random_unit(random) * 2.0f * PM_PI;
    for (int row = 0; row <= ROWS; row++) {
        for (int column = 0; column <= COLUMNS; column++) {
            const float around = 2.0f * PM_PI * (float)column / COLUMNS;
            const float down = PM_PI * (float)row / ROWS;
            const pm_vec3 n = {sinf(down) * sinf(around), cosf(down), sinf(down) * cosf(around)};
            const float dent = sinf(n.x * 3.0f + phase[0]) * sinf(n.y * 4.0f + phase[1]) +
                               0.5f * sinf(n.z * 7.0f + phase[2]) * sinf(n.x * 6.0f + phase[3]);
            add_vertex(meshes, pm_scale(n, radius * (1.0f + roughness * dent)), n, around * radius,
                       down * radius);
        }
    }
    stitch(meshes, first, COLUMNS, ROWS);
    return end(meshes, mesh);
}

static pm_vec3 knot_at(float t, float radius)
{
    const float r = radius * (0.7f + 0.3f * cosf(3.0f * t));
    return (pm_vec3){r * cosf(2.0f * t), radius * 0.45f * sinf(3.0f * t), r * sinf(2.0f * t)};
}

struct pm_mesh pm_mesh_knot(struct pm_meshes *meshes, float radius, float thickness)
{
    enum { COLUMNS = 14, ROWS = 180 };
    const struct pm_mesh mesh = begin(meshes);
    const uint32_t first = (uint32_t)meshes->vertex_count;
    for (int row = 0; row <= ROWS; row++) {
        const float t = 2.0f * PM_PI * (float)row / ROWS;
        const pm_vec3 here = knot_at(t, radius);
        const pm_vec3 forward = pm_normalize(pm_sub(knot_at(t + 0.01f, radius), here));
        const pm_vec3 side = pm_normalize(pm_cross(forward, (pm_vec3){0.1f, 1.0f, 0.05f}));
        const pm_vec3 up = pm_cross(side, forward);
        for (int column = 0; column <= COLUMNS; column++) {
            const float turn = 2.0f * PM_PI * (float)column / COLUMNS;
            const pm_vec3 n = pm_sub(pm_scale(side, cosf(turn)), pm_scale(up, sinf(turn)));
            add_vertex(meshes, pm_add(here, pm_scale(n, thickness)), n, turn * thickness,
                       t * radius * 2.0f);
        }
    }
    stitch(meshes, first, COLUMNS, ROWS);
    return end(meshes, mesh);
}

struct pm_mesh pm_mesh_leaves(struct pm_meshes *meshes, pm_vec3 centre, pm_vec3 half, float size,
                              uint32_t count, struct pm_random *random)
{
    const struct pm_mesh mesh = begin(meshes);
    for (uint32_t i = 0; i < count; i++) {
        const float y = 2.0f * (float)pm_random_unit(random) - 1.0f;
        const float turn = 2.0f * PM_PI * (float)pm_random_unit(random);
        const float out = sqrtf(1.0f - y * y) * (0.55f + 0.45f * (float)pm_random_unit(random));
        const pm_vec3 away = {out * cosf(turn), y, out * sinf(turn)};
        const pm_vec3 p = {centre.x + away.x * half.x, centre.y + away.y * half.y,
                           centre.z + away.z * half.z};
        const float lean = 2.0f * PM_PI * (float)pm_random_unit(random);
        const pm_vec3 along =
            pm_scale(pm_normalize((pm_vec3){cosf(lean), 0.6f * (float)pm_random_unit(random) - 0.3f,
                                            sinf(lean)}),
                     size);
        const pm_vec3 up = pm_scale(
            pm_normalize(pm_cross(along, pm_add(away, (pm_vec3){0.01f, 0.02f, 0.03f}))), size);
        const pm_vec3 normal = pm_normalize(pm_add(away, (pm_vec3){0.0f, 0.001f, 0.0f}));
        uint32_t corner[4];
        for (int c = 0; c < 4; c++) {
            const float u = (float)(c & 1), v = (float)(c >> 1);
            const pm_vec3 at = pm_add(p, pm_add(pm_scale(along, u - 0.5f), pm_scale(up, v - 0.5f)));
            corner[c] = add_vertex(meshes, at, normal, u, v);
        }
        add_triangle(meshes, corner[0], corner[1], corner[2]);
        add_triangle(meshes, corner[2], corner[1], corner[3]);
    }
    return end(meshes, mesh);
}

struct pm_mesh pm_mesh_ground(struct pm_meshes *meshes, float half, uint32_t cells,
                              pm_height height)
{
    const struct pm_mesh mesh = begin(meshes);
    const uint32_t first = (uint32_t)meshes->vertex_count;
    for (uint32_t row = 0; row <= cells; row++) {
        for (uint32_t column = 0; column <= cells; column++) {
            const float x = half * (2.0f * (float)column / (float)cells - 1.0f);
            const float z = half * (2.0f * (float)row / (float)cells - 1.0f);
            const float e = 0.05f;
            const pm_vec3 normal =
                pm_normalize((pm_vec3){height(x - e, z) - height(x + e, z), 2.0f * e,
                                       height(x, z - e) - height(x, z + e)});
            add_vertex(meshes, (pm_vec3){x, height(x, z), z}, normal, x, z);
        }
    }
    stitch(meshes, first, cells, cells);
    return end(meshes, mesh);
}
