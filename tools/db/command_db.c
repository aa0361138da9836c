#include "tools/db/command_db.h"
#include "tools/db/db.h"
#include <stdio.h>
#include <string.h>

static const struct part {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;
} parts[] = {
    {"show", pm_db_show, "print what is known of a game's shaders"},
    {"curate", pm_db_curate, "compute and publish databases now"},
    {"export", pm_db_export, "write profiles in another tool's format, or statistics to import"},
    {"import", pm_db_import, "add another storage's statistics"},
    {"import-shaders", pm_db_import_shaders, "know what follows from a game's shaders"},
    {"drop", pm_db_drop, "forget a game, or a shader of it"},
    {"sign", pm_db_sign, "sign verdicts on specialized shaders, for clients to believe"},
    {"backup", pm_db_backup, "copy the storage while it is in use"},
};

static void print_help(FILE *out)
{
    fprintf(out, "usage: piecemeal db PART [OPTION…]\n\n");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        fprintf(out, "  %-14s %s\n", parts[i].name, parts[i].what);
    fprintf(out, "\n`piecemeal db PART --help` says more of a part. All of them may run while "
                 "`piecemeal serve` uses the storage.\n");
}

int pm_command_db(int argc, char **argv)
{
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        print_help(stdout);
        return PM_EXIT_OK;
    }
    for (size_t i = 0; argc > 1 && i < sizeof(parts) / sizeof(parts[0]); i++)
        if (!strcmp(argv[1], parts[i].name))
            return parts[i].run(argc - 1, argv + 1);
    return pm_tool_usage(
        "db", "takes show, curate, export, import, import-shaders, drop, sign or backup");
}
