#include "tools/common/print_json.h"

#include <stdio.h>

void pm_tool_print_json(cJSON *json)
{
    char *text = cJSON_Print(json);
    if (text)
        puts(text);
    cJSON_free(text);
    cJSON_Delete(json);
}
