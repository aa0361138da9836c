#include "aggregator/intake/day_order.h"

#include "aggregator/statistics/statistics.h"
#include "aggregator/trust/votes.h"
#include <string.h>

int pm_day_compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

int pm_day_compare_shaders(const struct pm_day_said *a, const struct pm_day_said *b)
{
    const int keys =
        memcmp(a->sample.shader.key.bytes, b->sample.shader.key.bytes, PM_SHADER_KEY_BYTES);
    return keys != 0 ? keys : pm_day_compare_numbers(a->sample.shader.kind, b->sample.shader.kind);
}

int pm_day_compare_claims(const struct pm_day_said *a, const struct pm_day_said *b)
{
    const struct pm_shader_profile *x = &a->sample.shader, *y = &b->sample.shader;
    int order = pm_day_compare_shaders(a, b);
    if (order == 0)
        order = pm_day_compare_numbers(x->space, y->space);
    if (order == 0)
        order = pm_day_compare_numbers(a->facts, b->facts);
    if (order != 0 || pm_facts_agree(x->at_most_once, y->at_most_once, x->space))
        return order;
    /* Two sets of points with one number: some order. */
    static const uint8_t none[PM_STATISTICS_MAX_SPACE / 8];
    return memcmp(x->at_most_once ? x->at_most_once : none,
                  y->at_most_once ? y->at_most_once : none, ((size_t)x->space + 7) / 8);
}

int pm_day_compare_players(const struct pm_day_said *a, const struct pm_day_said *b)
{
    const int marks = memcmp(a->mark, b->mark, sizeof(a->mark));
    return marks != 0 ? marks
                      : memcmp(&a->sample.shader.environment, &b->sample.shader.environment,
                               sizeof(a->sample.shader.environment));
}

int pm_day_compare_places(uint32_t a_flags, const char *a_scene, uint32_t b_flags,
                          const char *b_scene)
{
    return a_flags != b_flags ? pm_day_compare_numbers(a_flags, b_flags) : strcmp(a_scene, b_scene);
}

int pm_day_compare_said(const void *a, const void *b)
{
    const struct pm_day_said *left = a, *right = b;
    int order = pm_day_compare_claims(left, right);
    if (order == 0)
        order = pm_day_compare_players(left, right);
    return order != 0 ? order
                      : pm_day_compare_places(left->sample.shader.flags, left->scene,
                                              right->sample.shader.flags, right->scene);
}

int pm_day_compare_clusters(const void *a, const void *b)
{
    const struct pm_day_cluster *left = a, *right = b;
    const struct pm_shader_profile *x = &left->said->sample.shader,
                                   *y = &right->said->sample.shader;
    const int order = memcmp(&x->environment, &y->environment, sizeof(x->environment));
    return order != 0 ? order
                      : pm_day_compare_places(left->flags, left->said->scene, right->flags,
                                              right->said->scene);
}
