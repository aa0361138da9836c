#include "tools/common/options.h"
#include "tools/common/tool.h"
#include <getopt.h>
#include <stdio.h>
#include <string.h>

enum { MOST_OPTIONS = 32, FIRST = 256 }; /* long options are numbered from FIRST */

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

int pm_tool_options(const char *command, const char *help, const struct pm_option *options,
                    int count, int argc, char **argv, int *operands)
{
    struct option known[MOST_OPTIONS + 2] = {{"help", 0, 0, 'h'}};
    char letters[2 * MOST_OPTIONS + 2] = "h";
    int named = 1, found;
    for (int i = 0; i < count && i < MOST_OPTIONS; i++) {
        const size_t end = strlen(letters);
        if (options[i].name)
            known[named++] = (struct option){options[i].name, !options[i].flag, 0, FIRST + i};
        if (options[i].letter)
            snprintf(letters + end, sizeof(letters) - end, "%c%s", options[i].letter,
                     options[i].flag ? "" : ":");
    }
    while ((found = getopt_long(argc, argv, letters, known, NULL)) != -1) {
        const struct pm_option *option = find(options, count, found);
        if (found == 'h') {
            fputs(help, stdout);
            return PM_EXIT_OK;
        }
        if (!option)
            return pm_tool_usage(command, "see above"); /* getopt said why */
        const int status = take(command, option, optarg);
        if (status >= 0)
            return status;
    }
    if (operands)
        *operands = optind;
    else if (optind < argc)
        return pm_tool_usage(command, "what is '%s'?", argv[optind]);
    return -1;
}
