/* Prints the JSON schema of the file that `piecemeal serve --config` reads; part of the build. */
#include "tools/serve/serve_options.h"
#include <cjson/cJSON.h>
#include <stdlib.h>

static void describe(const struct pm_serve_option *option, cJSON *property)
{
    switch (option->type) {
    case PM_SERVE_TEXT:
        cJSON_AddStringToObject(property, "type", "string");
        cJSON_AddNumberToObject(property, "minLength", 1);
        break;
    case PM_SERVE_FLAG:
        cJSON_AddStringToObject(property, "type", "boolean");
        break;
    case PM_SERVE_WHOLE:
    case PM_SERVE_REAL:
        cJSON_AddStringToObject(property, "type",
                                option->type == PM_SERVE_WHOLE ? "integer" : "number");
        cJSON_AddNumberToObject(property, "minimum", option->minimum);
        cJSON_AddNumberToObject(property, "maximum", option->maximum);
        break;
    case PM_SERVE_LEVEL: {
        static const char *const levels[] = {"error", "warning", "info", "debug"};
        cJSON_AddItemToObject(property, "enum", cJSON_CreateStringArray(levels, 4));
        break;
    }
    }
    cJSON_AddStringToObject(property, "description", option->help);
}

int main(void)
{
    cJSON *schema = cJSON_CreateObject();
    cJSON_AddStringToObject(schema, "$schema", "https://json-schema.org/draft/2020-12/schema");
    cJSON_AddStringToObject(schema, "title", "Piecemeal: configuration of `piecemeal serve`");
    cJSON_AddStringToObject(schema, "description", "The command line's options win over these.");
    cJSON_AddStringToObject(schema, "type", "object");
    cJSON_AddBoolToObject(schema, "additionalProperties", false);
    cJSON *properties = cJSON_AddObjectToObject(schema, "properties");
    cJSON *own = cJSON_AddObjectToObject(properties, "$schema");
    cJSON_AddStringToObject(own, "type", "string");
    cJSON_AddStringToObject(own, "description", "Where an editor finds this schema; ignored.");
    for (const struct pm_serve_option *option = pm_serve_option_table; option->name; option++) {
        char key[PM_SERVE_KEY_BYTES];
        describe(option, cJSON_AddObjectToObject(properties, pm_serve_option_key(option, key)));
    }
    char *text = cJSON_Print(schema);
    const bool printed = text && puts(text) >= 0 && fflush(stdout) == 0;
    free(text);
    cJSON_Delete(schema);
    return printed ? 0 : 1;
}
