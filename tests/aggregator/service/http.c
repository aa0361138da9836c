#include "tests/aggregator/service/http.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define SECONDS 60L

static size_t take_body(char *data, size_t size, size_t count, void *user)
{
    struct reply *reply = user;
    reply->body = realloc(reply->body, reply->size + size * count + 1);
    memcpy(reply->body + reply->size, data, size * count);
    reply->size += size * count;
    reply->body[reply->size] = 0;
    return size * count;
}

static size_t take_header(char *data, size_t size, size_t count, void *user)
{
    struct reply *reply = user;
    char line[200] = {0};
    memcpy(line, data, size * count < sizeof(line) ? size * count : sizeof(line) - 1);
    if (strncasecmp(line, "Piecemeal-Rules: ", 17) == 0)
        snprintf(reply->rules, sizeof(reply->rules), "%.*s", (int)strcspn(line + 17, "\r\n"),
                 line + 17);
    if (strncasecmp(line, "ETag: ", 6) == 0)
        snprintf(reply->etag, sizeof(reply->etag), "%.*s", (int)strcspn(line + 6, "\r\n"),
                 line + 6);
    if (strncasecmp(line, "Retry-After: ", 13) == 0)
        reply->retry_after = atoi(line + 13);
    return size * count;
}

struct source {
    const struct request *request;
    size_t at;
};

static size_t give_body(char *out, size_t size, size_t count, void *user)
{
    struct source *source = user;
    size_t left = source->request->size - source->at;
    if (source->at == 0 && source->request->before_body)
        source->request->before_body(source->request->user);
    if (left > size * count)
        left = size * count;
    memcpy(out, (const char *)source->request->body + source->at, left);
    source->at += left;
    return left;
}

static struct curl_slist *add_header(struct curl_slist *list, const char *name, const char *value)
{
    char line[500];
    snprintf(line, sizeof(line), "%s%s", name, value);
    return curl_slist_append(list, line);
}

struct reply http_send(const struct request *request)
{
    struct reply reply = {.retry_after = -1};
    struct source source = {.request = request};
    char url[700];
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = NULL;
    snprintf(url, sizeof(url), "%s:%u%s",
             request->ca_file ? "https://localhost" : "http://127.0.0.1", request->port,
             request->path);
    if (request->token)
        headers = add_header(headers, "Authorization: Bearer ", request->token);
    if (request->header)
        headers = add_header(headers, "", request->header);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, SECONDS);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &reply);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &reply);
    if (request->ca_file)
        curl_easy_setopt(curl, CURLOPT_CAINFO, request->ca_file);
    if (request->body) {
        curl_easy_setopt(curl, CURLOPT_POST, 1L);
        curl_easy_setopt(curl, CURLOPT_READFUNCTION, give_body);
        curl_easy_setopt(curl, CURLOPT_READDATA, &source);
        if (request->chunked)
            headers = curl_slist_append(headers, "Transfer-Encoding: chunked");
        else
            curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->size);
        if (request->before_body) {
            headers = curl_slist_append(headers, "Expect: 100-continue");
            curl_easy_setopt(curl, CURLOPT_EXPECT_100_TIMEOUT_MS, 1000 * SECONDS);
        } else if (!request->chunked) {
            curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
        }
    }
    if (request->method)
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    if (curl_easy_perform(curl) == CURLE_OK || reply.size > 0)
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply.status);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    return reply;
}

void reply_finish(struct reply *reply)
{
    free(reply->body);
    memset(reply, 0, sizeof(*reply));
}

void http_encode(const struct pm_profile *profile, struct pm_buffer *out)
{
    struct pm_buffer bytes;
    struct pm_error error;
    pm_buffer_init(&bytes, 1 << 26);
    pm_buffer_init(out, 1 << 26);
    if (!pm_profile_encode(profile, &bytes, &error) ||
        !pm_compress(bytes.data, bytes.size, out, &error)) {
        fprintf(stderr, "%s\n", error.message);
        abort();
    }
    pm_buffer_finish(&bytes);
}

long http_upload(uint16_t port, const char *token, const struct pm_profile *profile)
{
    struct pm_buffer bytes;
    http_encode(profile, &bytes);
    struct reply reply = http_send(&(struct request){.port = port,
                                                     .path = "/v1/uploads",
                                                     .token = token,
                                                     .body = bytes.data,
                                                     .size = bytes.size});
    const long status = reply.status;
    reply_finish(&reply);
    pm_buffer_finish(&bytes);
    return status;
}

long http_metric(uint16_t port, const char *name)
{
    return http_metric_as(port, NULL, name);
}

long http_metric_as(uint16_t port, const char *token, const char *name)
{
    char line[96];
    struct reply reply =
        http_send(&(struct request){.port = port, .path = "/metrics", .token = token});
    snprintf(line, sizeof(line), "\n%s ", name);
    const char *found = reply.body ? strstr((char *)reply.body, line) : NULL;
    const long number = found ? atol(found + strlen(line)) : -1;
    reply_finish(&reply);
    return number;
}

int http_connect(uint16_t port)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0)
        abort();
    return fd;
}
