#include "tools/doctor/doctor.h"
#include <stdarg.h>
#include <stdio.h>

void pm_doctor_say(struct pm_doctor *doctor, enum pm_finding finding, const char *subject,
                   const char *format, ...)
{
    static const char *const marks[] = {"ok  ", "note", "BAD "}, *const words[] = {"ok", "note",
                                                                                   "bad"};
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    doctor->bad += finding == PM_FINDING_BAD;
    if (!doctor->json) {
        printf("%s  %s: %s\n", marks[finding], subject, text);
        return;
    }
    cJSON *entry = cJSON_CreateObject();
    cJSON_AddStringToObject(entry, "finding", words[finding]);
    cJSON_AddStringToObject(entry, "subject", subject);
    cJSON_AddStringToObject(entry, "text", text);
    cJSON_AddItemToArray(doctor->list, entry);
}
