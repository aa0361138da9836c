/*
 * Cases that are no product, a file a kind. What runs one does not return (cts.h).
 *
 * Thread safety: one case runs at a time.
 */
#pragma once

#include "tests/cts/cts.h"

/* What most of them draw and dispatch. */
extern const struct cts_case cts_special_graphics, cts_special_compute;

/* What the case writes when nothing is special. */
uint64_t cts_plainly(struct cts *cts, const struct cts_case *of);
/* Fails the case where `who` wrote something else. */
void cts_expect(uint64_t hash, uint64_t wanted, const char *who);
VkCommandPool cts_make_pool(const struct cts *cts);

/* Also the info of an instance: api_version of Vulkan. Points into itself: not to be copied. */
struct cts_instance_info {
    VkApplicationInfo application;
    VkInstanceCreateInfo info;
};
void cts_describe_instance(struct cts_instance_info *out, uint32_t api_version);
VkInstance cts_make_instance(void);

/* ---- destroyed.c ---- */

enum cts_destroyed {
    CTS_DESTROYED_GRAPHICS,
    CTS_DESTROYED_COMPUTE,
    CTS_DESTROYED_LINKED, /* and the libraries that it is linked of */
    CTS_DESTROYED
};
extern const char *const cts_destroyed_names[CTS_DESTROYED];
enum { CTS_ORDERS = 24 };
/* What was used is destroyed in the n-th order. */
void cts_run_destruction(enum cts_destroyed what, uint32_t n) __attribute__((noreturn));

/* ---- allocations.c ---- */

/* The n-th call whose allocations fail; NULL: there is none. */
const char *cts_failing_call(uint32_t n);
/* Each of its allocations in turn; on: and all behind that one. */
void cts_run_allocation(uint32_t n, bool on) __attribute__((noreturn));

/* ---- devices.c ---- */

/* So many at once, each of an instance of its own or all of one, used in turn and closed in their
 * order or backwards. */
void cts_run_devices(uint32_t count, bool of_one, bool backwards) __attribute__((noreturn));
/* Of one instance, each opened, used and closed on a thread of its own. */
void cts_run_device_threads(uint32_t count) __attribute__((noreturn));
