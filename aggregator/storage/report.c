#include "aggregator/storage/report.h"

#include <stdarg.h>
#include <stdio.h>

void pm_check_say(pm_check_report report, void *user, enum pm_finding finding, const char *format,
                  ...)
{
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    report(user, finding, sentence);
}
