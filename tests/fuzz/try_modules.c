/* Whether modules that others wrote get through every pass: try_modules FILE…, SPIR-V each
 * (tests/corpus/public_modules.py). Each is tried in a process of its own, for SECONDS of processor
 * time: all that the fuzzer asks of a module (fuzz_spirv.c), and that its canonical modules stay as
 * they are when they are made once more. Says of each that did not what it was, and how many there
 * were. */
#include "base/file.h"
#include "shader_rewrite/ir/ir_module.h"
#include "shader_rewrite/shader_rewrite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SECONDS = 60, FILE_CAP = 64 << 20, MEMORY_CAP_GIB = 4 };

/* What became of a module: how its process ends. */
enum outcome { THROUGH, CHANGES, NOT_SUPPORTED, NO_ENTRY, REFUSED, UNREADABLE, TOO_LONG, CRASHED };
static const char *const outcomes[] = {
    "went through",
    "went through, but the canonical module changes when it is made once more",
    "have no canonical module",
    "have no entry point for fragments or compute",
    "are refused by the validator",
    "could not be read",
    "took longer than a minute",
    "crashed, or what was made is wrong",
};

static const struct pm_target target = {.vulkan_minor = 3,
                                        .scalar_block_layout = true,
                                        .relaxed_block_layout = true,
                                        .uniform_buffer_standard_layout = true,
                                        .workgroup_explicit_layout = true};

static bool canonical_of(const struct pm_words *words, enum pm_stage stage, const char *entry,
                         struct pm_words *out)
{
    struct pm_error error = {0};
    const struct pm_canonicalize_info info = {.words = words->data,
                                              .word_count = words->count,
                                              .stage = stage,
                                              .entry_point = entry,
                                              .target = target};
    return pm_canonicalize(&info, out, &error);
}

static enum outcome try_entry(const struct pm_words *words, const struct pm_ir_instr *entry)
{
    const bool fragment = pm_ir_operand_word(&entry->operands[0]) == SpvExecutionModelFragment;
    const enum pm_stage stage = fragment ? PM_STAGE_FRAGMENT : PM_STAGE_COMPUTE;
    const char *name = pm_ir_operand_text(&entry->operands[2]);
    struct pm_words once, twice;
    if (!canonical_of(words, stage, name, &once))
        return NOT_SUPPORTED;
    const bool same = canonical_of(&once, stage, name, &twice) && once.count == twice.count &&
                      memcmp(once.data, twice.data, once.count * sizeof(uint32_t)) == 0;
    return same ? THROUGH : CHANGES;
}

static enum outcome try_words(const struct pm_words *words)
{
    struct pm_error error = {0};
    enum outcome worst = NO_ENTRY;
    if (!pm_validate(words->data, words->count, &target, &error))
        return REFUSED;
    const struct pm_ir_module *module = pm_ir_parse(words->data, words->count, &error);
    const struct pm_ir_instr *entry =
        module ? module->sections[PM_IR_SECTION_ENTRY_POINT].first : NULL;
    for (; entry; entry = entry->next) {
        const uint32_t model = pm_ir_operand_word(&entry->operands[0]);
        if (model != SpvExecutionModelFragment && model != SpvExecutionModelGLCompute)
            continue;
        const enum outcome outcome = try_entry(words, entry);
        if (worst == NO_ENTRY || outcome > worst)
            worst = outcome;
    }
    if (worst != NO_ENTRY)
        LLVMFuzzerTestOneInput((const uint8_t *)words->data, words->count * sizeof(uint32_t));
    return worst;
}

static enum outcome try_file(const char *path)
{
    struct pm_buffer bytes;
    struct pm_error error = {0};
    const struct rlimit time = {SECONDS, SECONDS + 1},
                        memory = {(rlim_t)MEMORY_CAP_GIB << 30, (rlim_t)MEMORY_CAP_GIB << 30},
                        none = {0};
    setrlimit(RLIMIT_CPU, &time);
    setrlimit(RLIMIT_AS, &memory);
    setrlimit(RLIMIT_CORE, &none);
    pm_buffer_init(&bytes, FILE_CAP);
    if (!pm_file_read(path, &bytes, &error))
        return UNREADABLE;
    const struct pm_words words = {(uint32_t *)(void *)bytes.data, bytes.size / sizeof(uint32_t)};
    return try_words(&words);
}

static enum outcome try_apart(const char *path)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0)
        _exit((int)try_file(path));
    if (child < 0 || waitpid(child, &status, 0) != child)
        return UNREADABLE;
    if (WIFEXITED(status) && WEXITSTATUS(status) < TOO_LONG)
        return (enum outcome)WEXITSTATUS(status);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU ? TOO_LONG : CRASHED;
}

int main(int argc, char **argv)
{
    uint32_t counts[CRASHED + 1] = {0};
    for (int i = 1; i < argc; i++) {
        const enum outcome outcome = try_apart(argv[i]);
        counts[outcome]++;
        if (outcome == CHANGES || outcome == NOT_SUPPORTED || outcome >= UNREADABLE)
            printf("%s: %s\n", argv[i], outcomes[outcome]);
        fflush(stdout);
    }
    printf("%d modules\n", argc - 1);
    for (int o = 0; o <= CRASHED; o++)
        printf("%6u %s\n", counts[o], outcomes[o]);
    return counts[CRASHED] + counts[TOO_LONG] + counts[UNREADABLE] > 0;
}
