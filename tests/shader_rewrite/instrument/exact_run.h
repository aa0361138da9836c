/*
 * Shared by the files that compare counters with the truth (exact.h): what variants are made for,
 * and what runs them: a driver, or the model.
 */
#pragma once

#include "tests/shader_rewrite/instrument/exact.h"

struct exact_machine {
    struct pm_gpu *gpu; /* NULL: the model */
    void (*run)(void *user, const struct pm_words *words,
                const VkSpecializationInfo *specialization);
    void (*run_model)(void *user, struct model *model);
    void *user;
    uint32_t subgroup_size, most_lanes;
    bool subgroup_arithmetic, sums_outlive_loops, memory_model_device_scope;
};
struct exact_machine exact_driver(struct pm_gpu *gpu,
                                  void (*run)(void *user, const struct pm_words *words,
                                              const VkSpecializationInfo *specialization),
                                  void *user);
struct exact_machine exact_model(const struct exact_modelled *modelled);

/* Memory for counters: of the driver, or at an address that only the model knows. */
void exact_create_counters(const struct exact_machine *machine, size_t size,
                           struct pm_gpu_buffer *counters);
void exact_destroy_counters(const struct exact_machine *machine, struct pm_gpu_buffer *counters);
void exact_run_instrumented(const struct exact_machine *machine,
                            const struct pm_instrumented *shader,
                            const struct pm_gpu_buffer *counters);

typedef bool (*exact_pass)(const uint32_t *words, size_t count,
                           const struct pm_instrument_info *info, struct pm_instrumented *out,
                           struct pm_error *error);
/* Instruments and runs; *counters is the caller's to destroy, and what is returned to finish: its
 * words are gone. */
struct pm_instrumented exact_count(const struct exact_machine *machine,
                                   const struct exact_shader *shader,
                                   const struct exact_variant *variant, exact_pass pass,
                                   bool copies, struct pm_gpu_buffer *counters);

/* The total over slots, less what each slot began with. */
uint64_t exact_total(const struct pm_instrumented *shader, const struct exact_variant *variant,
                     const uint64_t *counters, uint32_t index);
/* What the counters of blocks come to (pm_block_totals); malloc'ed. */
uint64_t *exact_block_totals(const struct pm_instrumented *shader,
                             const struct exact_variant *variant, const uint64_t *counters);
/* Fails unless they are equal, or off by the share at most. */
void exact_expect(const struct exact_shader *shader, const struct exact_variant *variant,
                  const char *what, uint32_t point, uint64_t counted, uint64_t truth,
                  double tolerance);
