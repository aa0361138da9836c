/*
 * pm_cts: our cases, with the options of a dEQP binary that run.py uses:
 *
 *     pm_cts --deqp-runmode=stdout-caselist    the names, each behind "TEST: "
 *     pm_cts --deqp-case=NAME                  runs one; says "Pass (…)", "Fail (…)" or
 *                                              "NotSupported (…)", and "Result: HASH"
 */
#include "tests/cts/cts.h"

#include <stdio.h>
#include <string.h>

static void list(void)
{
    char name[128];
    struct cts_case of;
    for (uint32_t n = 0; cts_case_at(n, &of, name); n++)
        printf("TEST: %s\n", name);
    for (uint32_t n = 0; cts_special_at(n, name); n++)
        printf("TEST: %s\n", name);
    for (uint32_t n = 0; cts_objects_at(n, &of, name); n++)
        printf("TEST: %s\n", name);
    for (uint32_t n = 0; cts_newer_at(n, &of, name); n++)
        printf("TEST: %s\n", name);
}

static bool find(const char *name, struct cts_case *of)
{
    char other[128];
    for (uint32_t n = 0; cts_case_at(n, of, other); n++) {
        if (strcmp(name, other) == 0)
            return true;
    }
    for (uint32_t n = 0; cts_objects_at(n, of, other); n++) {
        if (strcmp(name, other) == 0)
            return true;
    }
    for (uint32_t n = 0; cts_newer_at(n, of, other); n++) {
        if (strcmp(name, other) == 0)
            return true;
    }
    return false;
}

/* As the case says, and as plainly as can be: both must write the same. */
static void run(const struct cts_case *of)
{
    static struct cts cts;
    cts_open(&cts, of);
    struct cts_case plain = *of;
    plain.use = CTS_ONCE;
    plain.way = CTS_PLAINLY;
    if (of->make != CTS_CONSTANTS)
        plain.make = CTS_DIRECT;
    cts_newer_turn(&cts, of, true);
    const VkPipeline pipeline = cts_make_pipeline(&cts, of), other = cts_make_other(&cts, of);
    const uint64_t hash = cts_run(&cts, of, pipeline, other);
    const uint64_t queried = cts_hash(hash, cts.queried, sizeof cts.queried);
    cts_newer_turn(&cts, of, false);
    const VkPipeline reference = cts_make_pipeline(&cts, &plain);
    const uint64_t wanted = cts_run(&cts, &plain, reference, other);
    cts_objects_destroy(&cts);
    vkDestroyPipeline(cts.gpu.device, pipeline, NULL);
    vkDestroyPipeline(cts.gpu.device, other, NULL);
    vkDestroyPipeline(cts.gpu.device, reference, NULL);
    cts_close(&cts, of);
    if (hash != wanted)
        cts_fail("it draws something else than the plainest way");
    cts_pass(queried);
}

int main(int argc, char **argv)
{
    const char *name = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--deqp-runmode=stdout-caselist") == 0) {
            list();
            return 0;
        }
        if (strncmp(argv[i], "--deqp-case=", 12) == 0)
            name = argv[i] + 12;
    }
    struct cts_case of;
    if (!name) {
        fprintf(stderr, "usage: pm_cts --deqp-runmode=stdout-caselist | --deqp-case=NAME\n");
        return 2;
    }
    printf("Test case '%s'..\n", name);
    fflush(stdout);
    if (find(name, &of))
        run(&of);
    if (!cts_special_run(name)) {
        fprintf(stderr, "pm_cts: there is no case %s\n", name);
        return 2;
    }
    return 0;
}
