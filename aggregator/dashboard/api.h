/*
 * The JSON API that the dashboard's pages read; docs/openapi.json describes it. Every list has
 * `limit` and `offset`, so that no answer is unbounded.
 *
 * Thread safety: any thread; the structs belong to one request.
 */
#pragma once

#include "aggregator/curation/summary.h"
#include "aggregator/service/service_routes.h"
#include <cjson/cJSON.h>

enum MHD_Result pm_api_status(struct pm_get *get);
enum MHD_Result pm_api_quarantine(struct pm_get *get);
enum MHD_Result pm_api_games(struct pm_get *get);
enum MHD_Result pm_api_game(struct pm_get *get);
enum MHD_Result pm_api_coverage(struct pm_get *get);
enum MHD_Result pm_api_candidates(struct pm_get *get);
enum MHD_Result pm_api_variants(struct pm_get *get);
enum MHD_Result pm_api_shaders(struct pm_get *get);
enum MHD_Result pm_api_shader(struct pm_get *get);
enum MHD_Result pm_api_points(struct pm_get *get);

/* ---- parameters ---- */

#define PM_API_LIMIT 50       /* items of an answer, when nobody says how many */
#define PM_API_MOST_ITEMS 500 /* and at most */

/* The query of one request. What is wrong with a parameter is remembered, the first one's. */
struct pm_params {
    struct MHD_Connection *connection;
    const char *field; /* NULL: nothing is wrong */
    char message[160];
};

uint64_t pm_params_number(struct pm_params *params, const char *name, uint64_t fallback,
                          uint64_t least, uint64_t most);
/* The place in the list, which ends with NULL; the first one when it is not there. */
unsigned pm_params_choice(struct pm_params *params, const char *name, const char *const *choices);
/* malloc'ed; NULL when it is not there, or empty. */
char *pm_params_text(struct pm_params *params, const char *name);

struct pm_page {
    size_t limit, offset;
};
struct pm_page pm_params_page(struct pm_params *params);

/* 400, naming the parameter. */
enum MHD_Result pm_api_refuse(struct pm_get *get, const struct pm_params *params);

/* ---- answers ---- */

/* A JSON tree that is built without asking each time whether there was memory: pm_json_answer
 * does, once. */
struct pm_json {
    cJSON *root;
    bool failed;
};

void pm_json_init(struct pm_json *json);
cJSON *pm_json_object(struct pm_json *json, cJSON *parent, const char *name);
cJSON *pm_json_array(struct pm_json *json, cJSON *parent, const char *name);
/* Appended to an array. */
cJSON *pm_json_item(struct pm_json *json, cJSON *array);
void pm_json_number(struct pm_json *json, cJSON *object, const char *name, double value);
void pm_json_text(struct pm_json *json, cJSON *object, const char *name, const char *value);
void pm_json_flag(struct pm_json *json, cJSON *object, const char *name, bool value);
void pm_json_null(struct pm_json *json, cJSON *object, const char *name);
/* total, limit and offset. */
void pm_json_page(struct pm_json *json, const struct pm_page *page, uint64_t total);
/* Answers with the tree and frees it. */
enum MHD_Result pm_json_answer(struct pm_get *get, struct pm_json *json);

/* The summary of the game that the path names first, a reference that the caller drops; NULL after
 * answering that a parameter is wrong (400), that the game is not known (404) or not read yet (503).
 */
struct pm_summary *pm_api_summary(struct pm_get *get, const struct pm_params *params,
                                  enum MHD_Result *result);

/* ---- shaders ---- */

#define PM_PROFILE_NAME 80
/* What a path calls a (kind, environment): "block-8", "timing-32-10de-2330-4-8840000" (subgroup
 * size; vendor, device, driver and its version in hexadecimal where any is not 0). */
void pm_api_profile_name(enum pm_kind kind, const struct pm_environment *environment,
                         char name[static PM_PROFILE_NAME]);
void pm_api_add_environment(struct pm_json *json, cJSON *object,
                            const struct pm_environment *environment);
void pm_api_add_shader(struct pm_json *json, cJSON *object, const struct pm_summary *summary,
                       const struct pm_summary_shader *shader);
