#include "aggregator/service/service_routes.h"

#include "aggregator/service/service_answer.h"
#include "aggregator/service/service_state.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- escapes (RFC 3986, 2.1) ---- */

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* A malloc'ed copy without escapes; NULL when one is broken or hides a zero byte. */
static char *unescape(const char *text, size_t length)
{
    char *out = malloc(length + 1);
    size_t size = 0;
    for (size_t i = 0; out && i < length; i++) {
        int byte = (unsigned char)text[i];
        if (byte == '%') {
            const int high = length - i > 2 ? digit_of(text[i + 1]) : -1;
            const int low = length - i > 2 ? digit_of(text[i + 2]) : -1;
            byte = high < 0 || low < 0 ? 0 : 16 * high + low;
            i += 2;
        }
        if (byte == 0) {
            free(out);
            return NULL;
        }
        out[size++] = (char)byte;
    }
    if (out)
        out[size] = 0;
    return out;
}

size_t pm_route_leave_escaped(void *user, struct MHD_Connection *connection, char *text)
{
    (void)user;
    (void)connection;
    return strlen(text);
}

char *pm_route_parameter(struct MHD_Connection *connection, const char *name, bool *bad)
{
    const char *text = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
    *bad = false;
    if (!text)
        return NULL;
    char *out = unescape(text, strlen(text));
    *bad = !out;
    return out;
}

/* ---- finding ---- */

/* Does the path follow the pattern? starts, lengths: of what stands for each {}. */
static bool follows(const char *url, const char *pattern, const char *starts[static PM_ROUTE_NAMES],
                    size_t lengths[static PM_ROUTE_NAMES])
{
    size_t names = 0;
    while (*pattern) {
        if (strncmp(pattern, "{}", 2) == 0) {
            starts[names] = url;
            lengths[names] = strcspn(url, "/");
            if (lengths[names] == 0)
                return false;
            url += lengths[names++];
            pattern += 2;
        } else if (*url++ != *pattern++) {
            return false;
        }
    }
    return *url == 0;
}

const struct pm_route *pm_route_find(const struct pm_routes *routes, const char *url)
{
    const char *starts[PM_ROUTE_NAMES];
    size_t lengths[PM_ROUTE_NAMES];
    for (size_t i = 0; routes && i < routes->count; i++) {
        if (follows(url, routes->routes[i].pattern, starts, lengths))
            return &routes->routes[i];
    }
    return NULL;
}

/* ---- who may ---- */

/* "localhost", or a loopback address; with or without a port. */
static bool is_this_machine(const char *host)
{
    char name[INET6_ADDRSTRLEN];
    struct in_addr four;
    struct in6_addr six;
    const bool bracket = *host == '[';
    const size_t length = bracket ? strcspn(++host, "]") : strcspn(host, ":");
    if (length >= sizeof(name))
        return false;
    memcpy(name, host, length);
    name[length] = 0;
    if (bracket)
        return inet_pton(AF_INET6, name, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
    return strcasecmp(name, "localhost") == 0 ||
           (inet_pton(AF_INET, name, &four) == 1 && ntohl(four.s_addr) >> 24 == IN_LOOPBACKNET);
}

/* What there is not asks for a token as databases do. */
static enum pm_access access_of(const struct pm_route *route)
{
    return route ? route->access : PM_ACCESS_PULL;
}

const char *pm_route_check_site(const struct pm_service *service, const struct pm_route *route,
                                const char *host, const char *origin)
{
    const enum pm_access access = access_of(route);
    if (!service->local ||
        (service->readers.asked && (access == PM_ACCESS_OPEN || access == PM_ACCESS_READ)))
        return NULL;
    if (!host || !is_this_machine(host))
        return "this server asks for no token, and answers only under this machine's own names";
    const char *from = origin ? strstr(origin, "://") : NULL;
    return origin && (!from || strcasecmp(from + 3, host) != 0)
               ? "this server asks for no token, and takes nothing from other sites' pages"
               : NULL;
}

unsigned pm_route_check_access(struct pm_service *service, const struct pm_route *route,
                               const char *authorization)
{
    struct pm_tokens *uploaders = &service->uploaders;
    struct pm_tokens *readers = &service->readers;
    bool allowed = true;
    switch (access_of(route)) {
    case PM_ACCESS_OPEN:
        break;
    case PM_ACCESS_UPLOAD:
        allowed = !uploaders->asked || pm_tokens_allow(uploaders, authorization);
        break;
    case PM_ACCESS_PULL:
        allowed = !uploaders->asked || pm_tokens_allow(uploaders, authorization) ||
                  pm_tokens_allow(readers, authorization);
        break;
    case PM_ACCESS_READ:
        if (!readers->asked && service->closed)
            return MHD_HTTP_FORBIDDEN;
        allowed = !readers->asked || pm_tokens_allow(readers, authorization);
        break;
    }
    return allowed ? MHD_HTTP_OK : MHD_HTTP_UNAUTHORIZED;
}

/* ---- answering ---- */

enum MHD_Result pm_route_answer(struct pm_service *service, struct MHD_Connection *connection,
                                const struct pm_route *route, const char *url)
{
    struct pm_get get = {.service = service, .connection = connection, .url = url};
    const char *starts[PM_ROUTE_NAMES] = {0};
    size_t lengths[PM_ROUTE_NAMES];
    char *names[PM_ROUTE_NAMES] = {0};
    bool done = route && follows(url, route->pattern, starts, lengths);
    for (size_t i = 0; done && i < PM_ROUTE_NAMES && starts[i]; i++) {
        get.names[i] = names[i] = unescape(starts[i], lengths[i]);
        done = names[i] != NULL;
    }
    const enum MHD_Result result = done ? route->answer(&get)
                                        : pm_http_answer_error(connection, MHD_HTTP_NOT_FOUND,
                                                               "there is nothing at this path", 0);
    for (size_t i = 0; i < PM_ROUTE_NAMES; i++)
        free(names[i]);
    return result;
}
