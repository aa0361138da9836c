#include "tools/common/options.h"
#include "base/nearest.h"
#include "tools/common/tool.h"
#include <stdio.h>
#include <string.h>

/* Long options are numbered from FIRST. */
enum { MOST_OPTIONS = 64, FIRST = 256, LONGEST_OPTION = 128 };

static int take(const char *command, const struct pm_option *option, const char *argument)
{
    if (option->texts && *option->texts == option->most)
        return pm_tool_usage(command, "--%s is given more than %llu times", option->name,
                             (unsigned long long)option->most);
    if (option->texts)
        option->text[(*option->texts)++] = argument;
    else if (option->text)
        *option->text = argument;
    else if (option->flag)
        *option->flag = true;
    else if (!pm_tool_number(argument, option->most, option->number))
        return pm_tool_usage(command, "--%s: '%s' is not 0 to %llu", option->name, argument,
                             (unsigned long long)option->most);
    return -1;
}

static const struct pm_option *find(const struct pm_option *options, int count, int found)
{
    for (int i = 0; i < count; i++)
        if (found == FIRST + i || (options[i].letter && found == options[i].letter))
            return &options[i];
    return NULL;
}

/* The option that name, which is none, was probably meant to be; NULL: any. */
static const char *nearest(const char *name, const struct option *known)
{
    const char *found = NULL;
    size_t best = pm_nearest_most(name) + 1;
    for (; known->name; known++) {
        const size_t distance = pm_nearest_distance(name, known->name, strlen(known->name));
        if (distance < best) {
            best = distance;
            found = known->name;
        }
    }
    return found;
}

/* How many options begin like that; *exact: one of them is that. */
static unsigned beginning(const char *name, const struct option *known, bool *exact)
{
    unsigned found = 0;
    for (*exact = false; known->name; known++) {
        found += strncmp(known->name, name, strlen(name)) == 0;
        *exact |= strcmp(known->name, name) == 0;
    }
    return found;
}

int pm_tool_bad_option(const char *command, char **argv, const struct option *known, bool missing)
{
    const char *text = argv[optind - 1];
    char name[LONGEST_OPTION];
    bool exact;
    if (strncmp(text, "--", 2) != 0)
        return missing ? pm_tool_usage(command, "-%c needs a value", optopt)
                       : pm_tool_usage(command, "-%c is no option", optopt);
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(text + 2, "="), text + 2);
    if (missing)
        return pm_tool_usage(command, "--%s needs a value", name);
    const unsigned found = beginning(name, known, &exact);
    if (exact || found == 1)
        return pm_tool_usage(command, "--%s takes no value", name);
    if (found > 1)
        return pm_tool_usage(command, "--%s may be one of %u options", name, found);
    const char *near = nearest(name, known);
    return near ? pm_tool_usage(command, "--%s is no option; did you mean --%s?", name, near)
                : pm_tool_usage(command, "--%s is no option", name);
}

static int read_options(const char *command, const char *help, const struct pm_option *options,
                        int count, int argc, char **argv, const char *first)
{
    struct option known[MOST_OPTIONS + 2] = {{"help", 0, 0, 'h'}};
    char letters[2 * MOST_OPTIONS + 4];
    int named = 1, found;
    snprintf(letters, sizeof(letters), "%s:h", first);
    for (int i = 0; i < count && i < MOST_OPTIONS; i++) {
        const size_t end = strlen(letters);
        if (options[i].name)
            known[named++] = (struct option){options[i].name, !options[i].flag, 0, FIRST + i};
        if (options[i].letter)
            snprintf(letters + end, sizeof(letters) - end, "%c%s", options[i].letter,
                     options[i].flag ? "" : ":");
    }
    opterr = 0;
    while ((found = getopt_long(argc, argv, letters, known, NULL)) != -1) {
        const struct pm_option *option = find(options, count, found);
        if (found == 'h') {
            fputs(help, stdout);
            return PM_EXIT_OK;
        }
        if (!option)
            return pm_tool_bad_option(command, argv, known, found == ':');
        const int status = take(command, option, optarg);
        if (status >= 0)
            return status;
    }
    return -1;
}

int pm_tool_options(const char *command, const char *help, const struct pm_option *options,
                    int count, int argc, char **argv, int *operands)
{
    const int status = read_options(command, help, options, count, argc, argv, "");
    if (status < 0 && operands)
        *operands = optind;
    else if (status < 0 && optind < argc)
        return pm_tool_usage(command, "what is '%s'?", argv[optind]);
    return status;
}

int pm_tool_leading_options(const char *command, const char *help, const struct pm_option *options,
                            int count, int argc, char **argv, char ***rest)
{
    const int status = read_options(command, help, options, count, argc, argv, "+");
    *rest = argv + optind;
    return status;
}
