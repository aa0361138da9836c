#include "tools/bisect/command_bisect.h"
#include "tools/command_consent.h"
#include "tools/command_sync.h"
#include "tools/common/tool.h"
#include "tools/db/command_db.h"
#include "tools/doctor/command_doctor.h"
#include "tools/report/command_report.h"
#include "tools/run/command_profile.h"
#include "tools/run/command_run.h"
#include "tools/run/command_status.h"
#include "tools/run/command_try.h"
#include "tools/serve/command_serve.h"
#include "tools/shader/command_shader.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;
} commands[] = {
    {"run", pm_command_run, "run a program with the layer; pull before, upload after"},
    {"try", pm_command_try, "profile, specialize and compare a program, all on this machine"},
    {"profile", pm_command_profile, "replay a capture of gfxreconstruct's under the layer"},
    {"bisect", pm_command_bisect, "find the specialized shader that makes a program go wrong"},
    {"status", pm_command_status, "say what a game's session does, or what it came to"},
    {"pause", pm_command_pause, "use a game's own shaders for a while"},
    {"resume", pm_command_resume, "use the specialized ones again"},
    {"sync", pm_command_sync, "upload what is spooled, pull PGO databases"},
    {"serve", pm_command_serve, "run an aggregator"},
    {"db", pm_command_db, "show, curate, export, import and drop what is known of games"},
    {"report", pm_command_report, "write a page with the shaders and their profiles"},
    {"consent", pm_command_consent, "grant, revoke or show the consent to upload"},
    {"doctor", pm_command_doctor,
     "say what this machine's loader and drivers support, and why not"},
    {"shader", pm_command_shader, "run one pass over a SPIR-V module"},
};

static void print_help(FILE *out)
{
    fprintf(out, "usage: piecemeal COMMAND [OPTION…]\n\n");
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].what);
    fprintf(out, "\n`piecemeal COMMAND --help` says more of a command.\n");
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return PM_EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_help(stdout);
        return PM_EXIT_OK;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("piecemeal %s\n", PM_VERSION);
        return PM_EXIT_OK;
    }
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (!strcmp(argv[1], commands[i].name))
            return commands[i].run(argc - 1, argv + 1);
    fprintf(stderr, "piecemeal: unknown command '%s'\nTry `piecemeal --help`.\n", argv[1]);
    return PM_EXIT_USAGE;
}

int main(int argc, char **argv)
{
    const int status = run(argc, argv);
    errno = 0;
    if ((fflush(stdout) == 0 && !ferror(stdout)) || status != PM_EXIT_OK)
        return status;
    /* Why is not known any more of what was written before. */
    fprintf(stderr, "piecemeal: standard output: cannot be written%s%s\n", errno ? ": " : "",
            errno ? strerror(errno) : "");
    return PM_EXIT_FAILED;
}
