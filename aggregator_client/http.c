#include "aggregator_client/http.h"
#include "aggregator_client/client.h"
#include "base/file.h"
#include <arpa/inet.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    CONNECT_SECONDS = 10,
    STALL_SECONDS = 15, /* without a byte either way */
    LARGEST_TOKEN = 4096,
};

struct pm_http {
    CURL *curl;
    char *base; /* without a slash at its end */
    char *url, *token_file, *ca_file;
    char *authorization; /* the whole header line; NULL: no token */
    bool local;          /* this machine: no proxy is asked */
};

static char *copy(const char *string)
{
    return string ? strdup(string) : NULL;
}

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_loopback(const char *host)
{
    struct in_addr address;
    /* A number, not a name that begins like one. */
    if (inet_pton(AF_INET, host, &address) == 1)
        return ntohl(address.s_addr) >> 24 == 127;
    return strcasecmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0;
}

/* Profiles must not be readable on their way, and the token even less. */
static bool check_url(struct pm_http *http, struct pm_error *error)
{
    CURLU *url = curl_url();
    char *scheme = NULL, *host = NULL, *user = NULL;
    bool good = url && curl_url_set(url, CURLUPART_URL, http->url, 0) == CURLUE_OK &&
                curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
                curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK;
    if (!good) {
        pm_fail(error, PM_ERROR_INPUT, "aggregator.url: \"%.200s\" is no URL", http->url);
    } else if (curl_url_get(url, CURLUPART_USER, &user, 0) == CURLUE_OK ||
               strpbrk(http->url, "?#")) {
        good = pm_fail(error, PM_ERROR_INPUT,
                       "aggregator.url: must be only https://HOST[:PORT][/PATH]; a token goes into "
                       "aggregator.token_file");
    } else {
        http->local = is_loopback(host);
        good = strcmp(scheme, "https") == 0 || (strcmp(scheme, "http") == 0 && http->local) ||
               pm_fail(error, PM_ERROR_INPUT,
                       "aggregator.url: \"%.200s\" must begin with https:// (http:// only for this "
                       "machine)",
                       http->url);
    }
    curl_free(scheme);
    curl_free(host);
    curl_free(user);
    curl_url_cleanup(url);
    return good;
}

static bool read_token(struct pm_http *http, struct pm_error *error)
{
    struct pm_buffer text;
    pm_buffer_init(&text, LARGEST_TOKEN);
    bool read = pm_file_read(http->token_file, &text, error);
    if (read) {
        char *token = text.data ? (char *)text.data : (char *)"";
        size_t length = strcspn(token, "\r\n");
        bool plain = length > 0;
        for (size_t i = 0; i < length; i++)
            plain = plain && token[i] > 0x20 && token[i] < 0x7F;
        if (!plain)
            read =
                pm_fail(error, PM_ERROR_INPUT, "%s: the first line is no token", http->token_file);
        else if (asprintf(&http->authorization, "Authorization: Bearer %.*s", (int)length, token) <
                 0)
            read = pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    }
    pm_buffer_finish(&text);
    return read || pm_fail_prefix(error, "aggregator.token_file");
}

struct pm_http *pm_http_create(const struct pm_config *config, struct pm_error *error)
{
    struct pm_http *http = calloc(1, sizeof(*http));
    if (!http) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        return NULL;
    }
    http->curl = curl_easy_init();
    http->url = copy(config->aggregator.url);
    http->base = copy(config->aggregator.url);
    http->token_file = copy(config->aggregator.token_file);
    http->ca_file = copy(config->aggregator.ca_file);
    if (!http->curl || !http->url || !http->base ||
        (config->aggregator.token_file && !http->token_file) ||
        (config->aggregator.ca_file && !http->ca_file)) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        goto error;
    }
    for (size_t n = strlen(http->base); n > 0 && http->base[n - 1] == '/'; n--)
        http->base[n - 1] = '\0';
    if (!check_url(http, error) || (http->token_file && !read_token(http, error)))
        goto error;
    return http;
error:
    pm_http_destroy(http);
    return NULL;
}

void pm_http_destroy(struct pm_http *http)
{
    if (!http)
        return;
    curl_easy_cleanup(http->curl);
    free(http->base);
    free(http->url);
    free(http->token_file);
    free(http->ca_file);
    free(http->authorization);
    free(http);
}

bool pm_http_serves(const struct pm_http *http, const struct pm_config *config)
{
    return same(http->url, config->aggregator.url) &&
           same(http->token_file, config->aggregator.token_file) &&
           same(http->ca_file, config->aggregator.ca_file);
}

static size_t take_body(char *data, size_t size, size_t count, void *user)
{
    struct pm_http_answer *answer = user;
    size_t bytes = size * count;
    if (!pm_buffer_append(&answer->body, data, bytes)) {
        answer->too_large = true;
        return 0;
    }
    return bytes;
}

/* The header's value where it is this one, a printable one that fits; else *value stays. */
static void take_value(const char *data, size_t length, const char *name, char *value, size_t room)
{
    const size_t skip = strlen(name);
    if (length < skip || strncasecmp(data, name, skip) != 0)
        return;
    data += skip;
    length -= skip;
    while (length > 0 && (*data == ' ' || *data == '\t')) {
        data++;
        length--;
    }
    while (length > 0 && (unsigned char)data[length - 1] <= ' ')
        length--;
    bool printable = length < room;
    for (size_t i = 0; i < length && printable; i++)
        printable = data[i] >= ' ' && data[i] < 0x7F;
    if (printable) {
        memcpy(value, data, length);
        value[length] = '\0';
    }
}

/* Only what is later echoed or compared is kept of the headers. */
static size_t take_header(char *data, size_t size, size_t count, void *user)
{
    struct pm_http_answer *answer = user;
    char date[64] = "";
    take_value(data, size * count, "ETag:", answer->etag, sizeof(answer->etag));
    take_value(data, size * count, "Piecemeal-Rules:", answer->rules, sizeof(answer->rules));
    take_value(data, size * count, "Date:", date, sizeof(date));
    const time_t seconds = date[0] ? curl_getdate(date, NULL) : 0;
    if (seconds > 0)
        answer->date = seconds;
    return size * count;
}

static bool add_header(struct curl_slist **headers, const char *line)
{
    struct curl_slist *more = curl_slist_append(*headers, line);
    if (more)
        *headers = more;
    return more != NULL;
}

static bool fill_headers(const struct pm_http *http, bool post, const char *etag,
                         struct curl_slist **headers)
{
    char line[256];
    if (http->authorization && !add_header(headers, http->authorization))
        return false;
    /* curl would else wait for a "100 Continue" that some servers never send. */
    if (post)
        return add_header(headers, "Content-Type: application/zstd") &&
               add_header(headers, "Expect:");
    snprintf(line, sizeof(line), "If-None-Match: %s", etag);
    return etag[0] == '\0' || add_header(headers, line);
}

/* Would trying again give the same? */
static bool is_permanent(CURLcode code)
{
    return code == CURLE_SSL_CACERT_BADFILE || code == CURLE_PEER_FAILED_VERIFICATION ||
           code == CURLE_URL_MALFORMAT;
}

static void set_options(const struct pm_http *http, const char *url, const struct pm_buffer *body,
                        struct curl_slist *headers, uint32_t timeout, struct pm_http_answer *answer,
                        char *why)
{
    CURL *curl = http->curl;
    curl_easy_reset(curl); /* keeps the connection */
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, http->local ? "http,https" : "https");
    /* A game may be called "..". */
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "piecemeal-sync/" PM_VERSION);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)timeout);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)STALL_SECONDS);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, answer);
    if (http->local)
        curl_easy_setopt(curl, CURLOPT_PROXY, "");
    if (http->ca_file)
        curl_easy_setopt(curl, CURLOPT_CAINFO, http->ca_file);
    if (body) {
        curl_easy_setopt(curl, CURLOPT_POST, 1L);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body->data);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->size);
    }
}

static bool is_granted(const char *path, struct pm_error *error)
{
    enum pm_consent consent;
    return pm_consent_read(&consent, error) &&
           (consent == PM_CONSENT_GRANTED ||
            pm_fail(error, PM_ERROR_STATE, "%s: consent was revoked meanwhile", path));
}

bool pm_http_request(struct pm_http *http, const char *path, const struct pm_buffer *body,
                     const char *etag, size_t limit, uint32_t timeout_milliseconds,
                     struct pm_http_answer *answer, struct pm_error *error)
{
    *answer = (struct pm_http_answer){0};
    pm_buffer_init(&answer->body, limit);
    struct curl_slist *headers = NULL;
    char *url = NULL, why[CURL_ERROR_SIZE] = "";
    bool answered = false;
    if (!is_granted(path, error))
        return false;
    if (asprintf(&url, "%s%s", http->base, path) < 0) {
        url = NULL;
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    } else if (!fill_headers(http, body != NULL, etag, &headers)) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    } else {
        set_options(http, url, body, headers, timeout_milliseconds, answer, why);
        CURLcode code = curl_easy_perform(http->curl);
        curl_off_t wait = 0;
        curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &answer->status);
        curl_easy_getinfo(http->curl, CURLINFO_RETRY_AFTER, &wait);
        answer->retry_after = wait <= 0 ? 0 : wait < UINT32_MAX ? (uint32_t)wait : UINT32_MAX;
        answered = code == CURLE_OK || (code == CURLE_WRITE_ERROR && answer->too_large);
        if (!answered)
            pm_fail(error, is_permanent(code) ? PM_ERROR_INPUT : PM_ERROR_NETWORK, "%.200s: %s",
                    url, why[0] ? why : curl_easy_strerror(code));
    }
    curl_slist_free_all(headers);
    free(url);
    return answered;
}

char *pm_http_escape(const char *name)
{
    char *escaped = curl_easy_escape(NULL, name, 0), *result = NULL;
    if (escaped)
        result = strdup(escaped);
    curl_free(escaped);
    return result;
}
