/*
 * JSON on standard output.
 *
 * Thread safety: one thread.
 */
#pragma once

#include <cjson/cJSON.h>

/* Prints it and a newline, and deletes it. */
void pm_tool_print_json(cJSON *json);
