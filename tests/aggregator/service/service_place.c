#include "tests/aggregator/service/service_place.h"

#include "aggregator/dashboard/dashboard.h"
#include "tests/patience.h"
#include <stdio.h>
#include <string.h>

#include "tests/cmocka_includes.h"

void place_serve(struct place *place)
{
    struct pm_error error;
    if (!place->aggregator)
        place_open(place);
    place->serving.aggregator = place->aggregator;
    place->serving.routes = &pm_dashboard_routes;
    place->service = pm_service_create(&place->serving, &error);
    if (!place->service)
        fail_msg("%s", error.message);
    place->port = pm_service_port(place->service);
}

void place_stop(struct place *place)
{
    pm_service_destroy(place->service);
    place->service = NULL;
    place_close(place);
}

int service_place_destroy(void **state)
{
    place_stop(*state);
    return place_destroy(state);
}

struct pm_profile *small_profile(struct place *place, uint64_t shader)
{
    const struct pm_point_counts point = block_counts(0, 8, 4);
    const struct pm_shader_profile one = block_shader(place->arena, shader, 1, &point, 1);
    return place_profile(place, &one);
}

struct reply place_send(const struct place *place, struct request request)
{
    request.port = place->port;
    if (!request.path)
        request.path = "/v1/uploads";
    return http_send(&request);
}

long place_health(const struct place *place)
{
    struct reply reply = place_send(place, (struct request){.path = "/healthz"});
    const long status = reply.status;
    reply_finish(&reply);
    return status;
}

void assert_error(struct reply reply, long status, const char *what)
{
    if (reply.status != status || !reply.body || !strstr((char *)reply.body, what) ||
        strncmp((char *)reply.body, "{\"error\":\"", 10) != 0)
        fail_msg("%ld and \"%s\", not %ld and \"%s\"", reply.status,
                 reply.body ? (char *)reply.body : "", status, what);
    reply_finish(&reply);
}

struct reply place_database(const struct place *place, const char *game, const char *condition)
{
    char path[300], header[200];
    snprintf(path, sizeof(path), "/v1/games/%s/database", game);
    snprintf(header, sizeof(header), "If-None-Match: %s", condition ? condition : "");
    const struct request request = {.path = path, .header = condition ? header : NULL};
    struct reply reply = place_send(place, request);
    for (uint64_t until = 0; reply.status == 404 && patience(&until);) {
        reply_finish(&reply);
        reply = place_send(place, request);
    }
    return reply;
}

struct reply place_next_database(const struct place *place, const char *game, const char *etag)
{
    struct reply reply = place_database(place, game, etag);
    for (uint64_t until = 0; reply.status == 304 && patience(&until);) {
        reply_finish(&reply);
        reply = place_database(place, game, etag);
    }
    return reply;
}

uint32_t sessions_of_first(struct place *place)
{
    struct pm_database database;
    struct pm_error error;
    if (!pm_aggregator_estimates(place->aggregator, "game", NULL, place->arena, &database, &error))
        return 0;
    return database.shaders[0].points[0].sessions;
}

void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

static void *upload_all(void *user)
{
    struct uploader *uploader = user;
    for (size_t i = 0; i < UPLOADER_PROFILES; i++) {
        const long status = http_upload(uploader->place->port, NULL, uploader->profiles[i]);
        uploader->stored += status == 204;
        uploader->refused += status == 429 || status == 503;
        uploader->other += status != 204 && status != 429 && status != 503;
    }
    return NULL;
}

void uploaders_start(struct place *place, struct uploader *uploaders, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uploaders[i] = (struct uploader){.place = place};
        for (size_t j = 0; j < UPLOADER_PROFILES; j++)
            uploaders[i].profiles[j] = small_profile(place, 1);
        assert_int_equal(pthread_create(&uploaders[i].thread, NULL, upload_all, &uploaders[i]), 0);
    }
}

unsigned uploaders_join(struct uploader *uploaders, size_t count)
{
    unsigned stored = 0;
    for (size_t i = 0; i < count; i++) {
        pthread_join(uploaders[i].thread, NULL);
        stored += uploaders[i].stored;
    }
    return stored;
}
