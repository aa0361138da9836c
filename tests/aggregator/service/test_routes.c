/* docs/openapi.json and the server have the same routes, with the same methods and access. What
 * they answer is test_api.py's. */
#include "aggregator/dashboard/dashboard.h"
#include "aggregator/service/service_get.h"

#include "base/file.h"
#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants these before it. */
#include <cmocka.h>

enum { TABLES = 2 };
static const struct pm_routes *const tables[TABLES] = {&pm_service_routes, &pm_dashboard_routes};

/* Does the path "/a/{name}/b" have the pattern "/a/{}/b"? */
static bool has_pattern(const char *path, const char *pattern)
{
    while (*path && *pattern) {
        if (*path != *pattern)
            return false;
        if (*path == '{') {
            path += strcspn(path, "}");
            pattern += strcspn(pattern, "}");
        }
        path += *path != 0;
        pattern += *pattern != 0;
    }
    return *path == *pattern;
}

static bool asks_for(const cJSON *operation, const char *scheme)
{
    const cJSON *one;
    cJSON_ArrayForEach(one, cJSON_GetObjectItemCaseSensitive(operation, "security"))
    {
        if (cJSON_GetObjectItemCaseSensitive(one, scheme))
            return true;
    }
    return false;
}

static void check_operation(const struct pm_route *route, const cJSON *path)
{
    const bool upload = route->access == PM_ACCESS_UPLOAD;
    assert_int_equal(cJSON_GetArraySize(path), 1);
    const cJSON *operation = cJSON_GetObjectItemCaseSensitive(path, upload ? "post" : "get");
    if (!operation)
        fail_msg("%s: has another method", route->pattern);
    const bool uploader = upload || route->access == PM_ACCESS_PULL;
    const bool reader = route->access == PM_ACCESS_READ || route->access == PM_ACCESS_PULL;
    if (asks_for(operation, "uploader") != uploader || asks_for(operation, "reader") != reader)
        fail_msg("%s: has other tokens", route->pattern);
}

static void test_description(void **state)
{
    (void)state;
    struct pm_buffer text;
    struct pm_error error;
    size_t count = 0;
    pm_buffer_init(&text, (size_t)1 << 20);
    if (!pm_file_read(OPENAPI, &text, &error))
        fail_msg("%s", error.message);
    cJSON *file = cJSON_Parse((char *)text.data);
    const cJSON *paths = cJSON_GetObjectItemCaseSensitive(file, "paths"), *path;
    for (size_t table = 0; table < TABLES; table++) {
        for (size_t i = 0; i < tables[table]->count; i++, count++) {
            const struct pm_route *route = &tables[table]->routes[i];
            const cJSON *found = NULL;
            cJSON_ArrayForEach(path, paths)
            {
                if (has_pattern(path->string, route->pattern))
                    found = path;
            }
            if (!found)
                fail_msg("%s is not described", route->pattern);
            check_operation(route, found);
        }
    }
    assert_int_equal(cJSON_GetArraySize(paths), count);
    cJSON_Delete(file);
    pm_buffer_finish(&text);
}

static void assert_route(const char *url, const char *pattern)
{
    const struct pm_route *route = NULL;
    for (size_t table = 0; table < TABLES; table++) {
        const struct pm_route *found = pm_route_find(tables[table], url);
        if (found && route)
            fail_msg("%s: is in two tables", url);
        route = found ? found : route;
    }
    if (!route != !pattern || (route && strcmp(route->pattern, pattern) != 0))
        fail_msg("%s: %s, not %s", url, route ? route->pattern : "none",
                 pattern ? pattern : "none");
}

/* A name never looks like a part of the path, however it is escaped. */
static void test_paths(void **state)
{
    (void)state;
    assert_route("/", "/");
    assert_route("", NULL);
    assert_route("//", NULL);
    assert_route("/v1/games", "/v1/games");
    assert_route("/v1/games/", NULL);
    assert_route("/v1/games//", NULL);
    assert_route("/v1/games//database", NULL);
    assert_route("/v1/games/database", "/v1/games/{}");
    assert_route("/v1/games/database/database", "/v1/games/{}/database");
    assert_route("/v1/games/a%2Fdatabase", "/v1/games/{}");
    assert_route("/v1/games/a%2fb/database/previous", "/v1/games/{}/database/previous");
    assert_route("/v1/games/a/b/database", NULL);
    assert_route("/v1/games/a/shaders/b/c", "/v1/games/{}/shaders/{}/{}");
    assert_route("/v1/games/a/shaders/b/c/d", NULL);
    assert_route("/v1/uploads/", NULL);
    assert_route("/v1/upload%73", NULL);
    assert_route("/assets/..%2fsecret", "/assets/{}");
    assert_route("/assets/../secret", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_description),
        cmocka_unit_test(test_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
