/*
 * The calls that are in the test's spool, as they would be there after kill -9.
 */
#pragma once

#include "tests/layer/layered.h"

/* The calls of point 0 of every shader, of one scene where scene is not NULL; and how many sessions
 * there are, and live ones. */
uint64_t spooled_calls(const char *scene, size_t *sessions, size_t *live);
uint64_t calls_of(const char *scene);
uint64_t all_calls(void);

/* How many shaders have calls. */
size_t spooled_shaders(void);

/* Until so many calls are there. */
bool wait_for_calls(uint64_t calls);

/* Records one dispatch and submits it. */
void spooled_dispatch(struct pm_harness *harness, VkQueue queue, VkCommandBuffer buffer);
