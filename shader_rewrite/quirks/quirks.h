/*
 * What drivers' compilers get wrong of code that is right, by driver. Each guard is on for the
 * drivers that need it, and for one that is not known; elsewhere the specification's word is taken.
 * Each row of the table was seen in a test, and the same test passes with the guard off on the
 * drivers without a row (tests/shader_rewrite/zero, docs/results/drivers.md).
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum pm_quirk {
    /* What is chosen in a loop is chosen again behind it, by the lanes that are left. */
    PM_QUIRK_CHOOSES_AGAIN = 1 << 0,
    /* What is loaded in a loop is loaded again behind it, for lanes that left before others. */
    PM_QUIRK_LOADS_AGAIN = 1 << 1,
    /* A texture's level of detail made of push constants may not also be an OpPhi's operand
     * (levels_of_detail.h). */
    PM_QUIRK_JOINED_LEVELS = 1 << 2,
    /* Floats are folded inexactly, but not where casts lie between that the canonical module does
     * without (hiding_casts.h). */
    PM_QUIRK_FOLDS_UNCAST = 1 << 3,
    /* What is loaded in a loop is right behind it only where an OpPhi takes it, for lanes that left
     * before others: no OpPhi may come behind it. */
    PM_QUIRK_JOINED_LOADS = 1 << 4,
    /* What leads to the exit of a loop that it is asked to unroll runs once less than it should. */
    PM_QUIRK_UNROLLS_SHORT = 1 << 5,
    /* Helper invocations leave a loop with the last that is none, wherever in their turn they are
     * (helper_loops.h). */
    PM_QUIRK_HELPERS_LEAVE = 1 << 6,
    /* What is NoContraction is not in a loop that it is asked to unroll. */
    PM_QUIRK_UNROLLS_INEXACT = 1 << 7,
    /* Floats are folded inexactly where they are scalars, and not where they are vectors. */
    PM_QUIRK_FOLDS_SCALARS = 1 << 8,
    /* What a block that leaves a loop shares with what comes behind it is made in code that is not
     * valid, and may end the driver's compiler (leaving_shared.h). */
    PM_QUIRK_SHARES_LEAVING = 1 << 9,
};
enum { PM_QUIRK_COUNT = 10 };
#define PM_QUIRKS_ALL ((1u << PM_QUIRK_COUNT) - 1)

/* The driver that a module is for. */
struct pm_driver {
    uint32_t id; /* VkDriverId; 0: not known */
    uint32_t
        version; /* of Mesa's drivers VK_MAKE_API_VERSION's of the release, else driverVersion */
};

/* From VkPhysicalDeviceDriverProperties and VkPhysicalDeviceProperties. Mesa's drivers name their
 * release in driverInfo alone, as in "Mesa 25.0.7 (LLVM 15.0.6)": lavapipe's driverVersion is 1. */
struct pm_driver pm_driver_of(uint32_t id, uint32_t driver_version, const char *driver_info);

/* enum pm_quirk's bits. driver NULL, or its id not known: all of them. */
uint32_t pm_quirks_of(const struct pm_driver *driver);

/* Whether it computes exp(0), exp2(0), cos(0), pow(x, 0), sqrt(1) and inversesqrt(1) of 32-bit
 * floats as 1, log(1) and log2(1) as 0, and a quotient that is a float exactly as that, which
 * Vulkan does not promise: only of drivers of which a test has shown it (zero_regions/exact.comp,
 * constant_values/exact.comp). NULL: no. */
bool pm_has_exact_ones(const struct pm_driver *driver);
