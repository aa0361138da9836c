#include "shader_rewrite/analysis/pass.h"

#include "base/clock.h"
#include "base/stop.h"
#include "shader_rewrite/analysis/analysis_transposes.h"
#include "shader_rewrite/ir/ir_check.h"
#include <string.h>

void pm_pass_times_add(struct pm_pass_times *times, const char *name, uint64_t nanoseconds,
                       bool changed)
{
    if (!times)
        return;
    uint32_t row = 0;
    while (row < times->count && strcmp(times->rows[row].name, name) != 0)
        row++;
    if (row == PM_PASS_TIMES)
        return;
    if (row == times->count)
        times->rows[times->count++] = (struct pm_pass_time){.name = name};
    times->rows[row].nanoseconds += nanoseconds;
    times->rows[row].runs++;
    times->rows[row].changes += changed;
}

struct pm_pass_runner pm_pass_runner_of(struct pm_ir_module *module, struct pm_pass_times *times)
{
    return (struct pm_pass_runner){.module = module, .times = times, .checks = PM_PASS_CHECKS};
}

static bool require_all(const struct pm_ir_module *module, unsigned mask, struct pm_error *error)
{
    for (struct pm_ir_function *f = module->first_function; mask && f; f = f->next)
        if (f->first_block && !pm_analysis_require(f, mask, error))
            return false;
    return true;
}

static enum pm_pass_result run(struct pm_pass_runner *runner, const struct pm_pass *pass,
                               void *context, struct pm_error *error)
{
    struct pm_ir_module *module = runner->module;
    const int64_t start = runner->times ? pm_now() : 0;
    const bool noted = module->transposes;
    pm_transposes_note(module);
    enum pm_pass_result result = pm_stop_check(error) && require_all(module, pass->requires, error)
                                     ? pass->run(module, context, error)
                                     : PM_PASS_FAILED;
    if (noted && !module->failed && result == PM_PASS_CHANGED && !pm_transposes_keep(module, error))
        result = PM_PASS_FAILED;
    if (result == PM_PASS_CHANGED)
        for (struct pm_ir_function *f = module->first_function; f; f = f->next)
            pm_analysis_preserve(f, pass->preserves);
    if (runner->times)
        pm_pass_times_add(runner->times, pass->name, (uint64_t)(pm_now() - start),
                          result == PM_PASS_CHANGED);
    if (result != PM_PASS_FAILED && module->failed) {
        pm_fail(error, PM_ERROR_MEMORY, "SPIR-V: out of memory or ids while rewriting");
        result = PM_PASS_FAILED;
    }
    /* It may have been cut short. */
    if (result != PM_PASS_FAILED && !pm_stop_check(error))
        result = PM_PASS_FAILED;
    return result;
}

static bool same_words(const struct pm_words *a, const struct pm_words *b)
{
    return a->count == b->count && memcmp(a->data, b->data, a->count * sizeof(*a->data)) == 0;
}

static bool check_unchanged(const struct pm_ir_module *module, const struct pm_words *before,
                            struct pm_error *error)
{
    struct pm_words after;
    if (!pm_ir_emit(module, &after, error))
        return false;
    const bool same = same_words(before, &after);
    pm_words_finish(&after);
    return same || pm_fail(error, PM_ERROR_STATE, "SPIR-V: it says that it changed nothing");
}

static bool check_pass(const struct pm_ir_module *module, enum pm_pass_result result,
                       const struct pm_words *before, struct pm_error *error)
{
    if (!pm_ir_check(module, error) ||
        (result == PM_PASS_UNCHANGED && !check_unchanged(module, before, error)))
        return false;
    for (struct pm_ir_function *f = module->first_function; f; f = f->next)
        if (!pm_analysis_check(f, error))
            return false;
    return true;
}

enum pm_pass_result pm_pass_run(struct pm_pass_runner *runner, const struct pm_pass *pass,
                                void *context, struct pm_error *error)
{
    struct pm_words before = {0};
    if (runner->checks && !pm_ir_emit(runner->module, &before, error))
        return PM_PASS_FAILED;
    enum pm_pass_result result = run(runner, pass, context, error);
    if (runner->checks && result != PM_PASS_FAILED &&
        !check_pass(runner->module, result, &before, error)) {
        pm_fail_prefix(error, "pass \"%s\"", pass->name);
        result = PM_PASS_FAILED;
    }
    pm_words_finish(&before);
    return result;
}
