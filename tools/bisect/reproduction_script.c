#include "tools/bisect/reproduction_script.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As one word of a shell's. */
static void print_word(FILE *out, const char *word)
{
    putc('\'', out);
    for (; *word; word++) {
        if (*word == '\'')
            fputs("'\\''", out);
        else
            putc(*word, out);
    }
    putc('\'', out);
}

void pm_reproduction_program(const struct pm_bisection *bisection, FILE *out)
{
    for (char **argument = bisection->program; *argument; argument++) {
        putc(' ', out);
        print_word(out, *argument);
    }
    putc('\n', out);
}

/* Whether it decides what is done to shaders, and is not the bisection's own. */
static bool is_setting(const char *variable)
{
    static const char *const begins[] = {"PIECEMEAL_OPTIMIZE_", "PIECEMEAL_DEBUG_",
                                         "PIECEMEAL_LIMITS_", "PIECEMEAL_GAME_"};
    static const char *const own[] = {
        "PIECEMEAL_OPTIMIZE_WITHHOLD=", "PIECEMEAL_OPTIMIZE_RETRY_SHARE=",
        "PIECEMEAL_DEBUG_VARIANTS_FOLDER=", "PIECEMEAL_DEBUG_SYNCHRONOUS=",
        "PIECEMEAL_DEBUG_TRUST_VARIANTS="};
    bool is = false;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        is = is || strncmp(variable, begins[i], strlen(begins[i])) == 0;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        is = is && strncmp(variable, own[i], strlen(own[i])) != 0;
    return is;
}

static void print_settings(FILE *out)
{
    for (char **variable = environ; *variable; variable++) {
        const size_t name = strcspn(*variable, "=");
        if (!is_setting(*variable) || (*variable)[name] == '\0')
            continue;
        fprintf(out, "export %.*s=", (int)name, *variable);
        print_word(out, *variable + name + 1);
        putc('\n', out);
    }
}

bool pm_reproduction_script(const struct pm_bisection *bisection, FILE *out, struct pm_error *error)
{
    static const char *const variables[] = {"VK_DRIVER_FILES", "VK_ICD_FILENAMES",
                                            "MESA_VK_DEVICE_SELECT"};
    char *here = getcwd(NULL, 0);
    if (!here)
        return pm_fail_errno(error, errno, "the working folder");
    fprintf(out, "#!/bin/sh\n"
                 "# Starts the program with the specialized shaders of this folder, and no other.\n"
                 "folder=$(cd \"$(dirname \"$0\")\" && pwd)\n"
                 "cd ");
    print_word(out, here);
    fprintf(out, "\n");
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        if (!getenv(variables[i]))
            continue;
        fprintf(out, "export %s=", variables[i]);
        print_word(out, getenv(variables[i]));
        putc('\n', out);
    }
    print_settings(out);
    fprintf(out,
            "export PIECEMEAL_DATABASES=\"$folder/databases\" "
            "PIECEMEAL_JOURNAL=\"$folder/journal\"\n"
            "exec \"${PIECEMEAL:-piecemeal}\" run --set optimize.withhold=\"$folder/only\" \\\n"
            "    --set debug.synchronous=true --set debug.trust_variants=true "
            "--set sampler.window_probability=0 --set optimize.retry_share=0 --");
    pm_reproduction_program(bisection, out);
    free(here);
    return true;
}
