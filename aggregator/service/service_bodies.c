#include "aggregator/service/service_bodies.h"

#include <stdlib.h>
#include <string.h>

void pm_bodies_init(struct pm_bodies *bodies)
{
    memset(bodies, 0, sizeof(*bodies));
    pthread_mutex_init(&bodies->mutex, NULL);
}

static void forget(struct pm_bodies *bodies, struct pm_body *body)
{
    bodies->bytes -= body->bytes;
    free(body->name);
    if (body->response)
        MHD_destroy_response(body->response);
    memset(body, 0, sizeof(*body));
}

void pm_bodies_finish(struct pm_bodies *bodies)
{
    for (size_t i = 0; i < PM_BODIES; i++)
        forget(bodies, &bodies->bodies[i]);
    pthread_mutex_destroy(&bodies->mutex);
}

static struct pm_body *named(struct pm_bodies *bodies, const char *name)
{
    for (size_t i = 0; i < PM_BODIES; i++) {
        if (bodies->bodies[i].name && strcmp(bodies->bodies[i].name, name) == 0)
            return &bodies->bodies[i];
    }
    return NULL;
}

struct MHD_Response *pm_bodies_find(struct pm_bodies *bodies, const char *name, const char *etag)
{
    struct pm_body *body = named(bodies, name);
    if (!body || strcmp(body->etag, etag) != 0)
        return NULL;
    body->used = ++bodies->uses;
    return body->response;
}

/* Is there room for one more of so many bytes? */
static bool has_room(const struct pm_bodies *bodies, size_t bytes)
{
    return bytes <= PM_BODIES_BYTES && bodies->bytes <= PM_BODIES_BYTES - bytes;
}

/* A place for a body: what was used longest ago makes way until there is room. */
static struct pm_body *make_place(struct pm_bodies *bodies, size_t bytes)
{
    for (;;) {
        struct pm_body *empty = NULL, *oldest = NULL;
        for (size_t i = 0; i < PM_BODIES; i++) {
            struct pm_body *body = &bodies->bodies[i];
            if (body->used == 0)
                empty = body;
            else if (!oldest || body->used < oldest->used)
                oldest = body;
        }
        if (empty && (!oldest || has_room(bodies, bytes)))
            return empty;
        forget(bodies, oldest);
    }
}

bool pm_bodies_keep(struct pm_bodies *bodies, const char *name, const char *etag,
                    struct MHD_Response *response, size_t bytes)
{
    struct pm_body *before = named(bodies, name);
    char *copy = strdup(name);
    if (!copy)
        return false;
    if (before)
        forget(bodies, before);
    struct pm_body *body = make_place(bodies, bytes);
    *body = (struct pm_body){
        .name = copy, .response = response, .bytes = bytes, .used = ++bodies->uses};
    memcpy(body->etag, etag, PM_ETAG_TEXT);
    bodies->bytes += bytes;
    return true;
}
