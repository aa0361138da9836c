/*
 * What a report is made from: of each shader its blocks with their estimates and its GLSL with the
 * block each line came from; and what the page says of all of them. The files beside it fill this
 * in (report_shader.h) or write it down (report_page.h).
 *
 * Thread safety: one thread. Everything is owned by the arena that it was built with.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "profile/database.h"
#include "shader_rewrite/shader_rewrite.h"
#include "tools/common/gain.h"

#define PM_NO_BLOCK UINT32_MAX

struct pm_report_block {
    uint32_t *successors; /* block numbers, distinct */
    uint32_t successor_count;
    uint32_t instructions; /* without its label */
    bool at_most_once;
    bool is_whole; /* as of struct pm_block_point */
    bool sampled;
    double cycles;             /* of one run by a subgroup, estimated */
    double cost;               /* its share of the shader's cycles, 0 to 1 */
    struct pm_ratio frequency; /* of the estimates; when sampled */
    struct pm_ratio uniform;
    uint32_t calls;
};

struct pm_report_line {
    const char *text;
    uint32_t block; /* PM_NO_BLOCK: declarations, braces */
    double cost;    /* of what went into it: its share of the shader's cycles, 0 to 1 */
    size_t place;   /* word of the last instruction that went into it; 0: none */
    uint32_t first_zero,
        zero_count; /* of the shader's zeros: those that are written in this line */
};

/* The shader as somebody reads it: a file of its author's, its SPIR-V. */
struct pm_report_text {
    const char *name;
    struct pm_report_line *lines;
    size_t line_count;
};

/* A zero candidate that was sampled. */
struct pm_report_zero {
    uint32_t candidate; /* its number */
    uint32_t line;      /* of the shader's lines */
    const char *name;   /* the value: "normal.xyz", "_17", "low_x low_y" */
    struct pm_ratio zero, writes;
    uint32_t calls;
};

/* A value that specialize_zero tests, and what it estimates of that: cycles a subgroup. */
struct pm_report_test {
    const char *name; /* as above */
    uint32_t line;    /* of the shader's lines; UINT32_MAX: none */
    uint32_t round;   /* that took it, from 1 on */
    double probability, region, specialized, check, saved;
};

/* What specialize_zero makes of the shader with these estimates. */
struct pm_report_specialized {
    uint32_t transforms;
    struct pm_report_test *tests; /* in the order in which they were taken */
    uint32_t test_count;
    struct pm_report_line *lines; /* of its GLSL; NULL: not transformed, or no GLSL */
    size_t line_count;
    const char *why; /* NULL, or why there is none */
};

struct pm_report_shader {
    const struct pm_shader_estimates *estimates;
    const struct pm_shader_estimates *zero_estimates; /* NULL: no zero profile */
    enum pm_stage stage;
    const char *name;               /* shader_name.h; NULL: it is not in the store */
    const char *uses, *writes;      /* names of resources and outputs, "" or NULL: none known */
    struct pm_report_block *blocks; /* numbered as the points are */
    uint32_t block_count;
    struct pm_report_line *lines;
    size_t line_count;
    const char *why_no_lines;     /* NULL where there are lines */
    struct pm_report_text spirv;  /* canonical; without lines: it could not be had */
    struct pm_report_text *files; /* of its author's, where debug information has them */
    uint32_t file_count;
    struct pm_report_zero *zeros; /* by line, the likeliest first */
    uint32_t zero_count;
    uint32_t zeros_measured, zeros_left_out; /* values that may be zero: points, and others */
    struct pm_report_specialized specialized;
    const struct pm_database
        *timings;  /* where those of the specialized shader are; NULL: nowhere */
    double cycles; /* of a subgroup that enters it, estimated */
    double heat;   /* cycles in the sampled calls (shader_heat.h): what the page sorts by */
};

/* What a shader was made from: the local shader store's record of it. */
struct pm_report_source {
    const uint32_t *canonical;
    size_t canonical_count;
    const uint32_t *original;
    size_t original_count;
    const char *entry_point, *name;
    enum pm_stage stage;
    uint32_t vendor; /* whose costs are estimated (pm_costs_of) */
    struct pm_target target;
    const struct pm_spec_value *spec_values;
    size_t spec_value_count;
};

struct pm_report_coverage {
    int64_t time; /* seconds since the epoch */
    uint64_t points_covered, points;
};

struct pm_report {
    const char *game, *origin;
    const struct pm_database *database;
    const struct pm_gain *gain; /* what `run --ab` measured last; NULL: nothing yet */
    const struct pm_report_coverage *coverage;
    size_t coverage_count;
    const struct pm_report_shader *shaders; /* the hottest first */
    size_t shader_count;
    size_t shown; /* how many of them get a section of their own */
};
