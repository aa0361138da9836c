/*
 * The vectors and matrices that the workloads need. Matrices are column-major, as GLSL has them;
 * the right-handed world has y up; clip space is Vulkan's (y down, depth 0 to 1).
 */
#pragma once

#include <math.h>

typedef struct {
    float x, y, z;
} pm_vec3;

typedef struct {
    float m[16];
} pm_mat4;

#define PM_PI 3.14159265358979f

static inline pm_vec3 pm_add(pm_vec3 a, pm_vec3 b)
{
    return (pm_vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline pm_vec3 pm_sub(pm_vec3 a, pm_vec3 b)
{
    return (pm_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline pm_vec3 pm_scale(pm_vec3 a, float s)
{
    return (pm_vec3){a.x * s, a.y * s, a.z * s};
}

static inline float pm_dot(pm_vec3 a, pm_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline pm_vec3 pm_cross(pm_vec3 a, pm_vec3 b)
{
    return (pm_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline pm_vec3 pm_normalize(pm_vec3 a)
{
    return pm_scale(a, 1.0f / sqrtf(pm_dot(a, a)));
}

static inline pm_mat4 pm_multiply(const pm_mat4 *a, const pm_mat4 *b)
{
    pm_mat4 out;
    for (int column = 0; column < 4; column++) {
        for (int row = 0; row < 4; row++) {
            float sum = 0.0f;
            for (int i = 0; i < 4; i++)
                sum += a->m[i * 4 + row] * b->m[column * 4 + i];
            out.m[column * 4 + row] = sum;
        }
    }
    return out;
}

static inline pm_mat4 pm_look_at(pm_vec3 eye, pm_vec3 at)
{
    const pm_vec3 back = pm_normalize(pm_sub(eye, at));
    const pm_vec3 right = pm_normalize(pm_cross((pm_vec3){0.0f, 1.0f, 0.0f}, back));
    const pm_vec3 up = pm_cross(back, right);
    return (pm_mat4){{right.x, up.x, back.x, 0.0f, right.y, up.y, back.y, 0.0f, right.z, up.z,
                      back.z, 0.0f, -pm_dot(right, eye), -pm_dot(up, eye), -pm_dot(back, eye),
                      1.0f}};
}

/* angle: vertical, radians */
static inline pm_mat4 pm_perspective(float angle, float aspect, float near, float far)
{
    const float f = 1.0f / tanf(angle * 0.5f);
    return (pm_mat4){{f / aspect, 0.0f, 0.0f, 0.0f, 0.0f, -f, 0.0f, 0.0f, 0.0f, 0.0f,
                      far / (near - far), -1.0f, 0.0f, 0.0f, near * far / (near - far), 0.0f}};
}

/* A box of half the given size around the view's axis. */
static inline pm_mat4 pm_orthographic(float half, float near, float far)
{
    return (pm_mat4){{1.0f / half, 0.0f, 0.0f, 0.0f, 0.0f, -1.0f / half, 0.0f, 0.0f, 0.0f, 0.0f,
                      1.0f / (near - far), 0.0f, 0.0f, 0.0f, near / (near - far), 1.0f}};
}

/* By Gauss-Jordan elimination with pivoting; the matrix must not be singular. */
static inline pm_mat4 pm_inverse(const pm_mat4 *matrix)
{
    float work[4][8];
    for (int row = 0; row < 4; row++)
        for (int column = 0; column < 8; column++)
            work[row][column] =
                column < 4 ? matrix->m[column * 4 + row] : (column - 4 == row ? 1.0f : 0.0f);
    for (int step = 0; step < 4; step++) {
        int pivot = step;
        for (int row = step + 1; row < 4; row++)
            if (fabsf(work[row][step]) > fabsf(work[pivot][step]))
                pivot = row;
        for (int column = 0; column < 8; column++) {
            const float held = work[step][column];
            work[step][column] = work[pivot][column];
            work[pivot][column] = held;
        }
        const float scale = 1.0f / work[step][step];
        for (int column = 0; column < 8; column++)
            work[step][column] *= scale;
        for (int row = 0; row < 4; row++) {
            const float factor = row == step ? 0.0f : work[row][step];
            for (int column = 0; column < 8; column++)
                work[row][column] -= factor * work[step][column];
        }
    }
    pm_mat4 out;
    for (int row = 0; row < 4; row++)
        for (int column = 0; column < 4; column++)
            out.m[column * 4 + row] = work[row][column + 4];
    return out;
}
