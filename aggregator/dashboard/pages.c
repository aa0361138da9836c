#include "aggregator/dashboard/pages.h"

#include "aggregator/service/service.h"
#include "aggregator/service/service_answer.h"
#include "aggregator/storage/etag.h"

#include "page_api_js.h"
#include "page_chart_js.h"
#include "page_dashboard_css.h"
#include "page_dashboard_html.h"
#include "page_main_js.h"
#include "page_openapi_json.h"
#include "page_operator_js.h"
#include "page_pages_js.h"
#include "page_table_js.h"
#include "page_view_js.h"
#include <stdio.h>
#include <string.h>

#define HTML "text/html; charset=utf-8"
#define CSS "text/css; charset=utf-8"
#define JAVASCRIPT "text/javascript; charset=utf-8"

/* Nothing from anywhere else, and nothing inline: a game's name that is markup stays a name. */
#define POLICY                                                                                     \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "              \
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

struct page {
    const char *path, *type, *text;
    size_t size;
};

#define PAGE(path, type, text)                                                                     \
    {                                                                                              \
        path, type, text, sizeof(text) - 1                                                         \
    }

static const struct page pages[] = {
    PAGE("/", HTML, page_dashboard_html),
    PAGE("/assets/dashboard.css", CSS, page_dashboard_css),
    PAGE("/assets/api.js", JAVASCRIPT, page_api_js),
    PAGE("/assets/view.js", JAVASCRIPT, page_view_js),
    PAGE("/assets/chart.js", JAVASCRIPT, page_chart_js),
    PAGE("/assets/table.js", JAVASCRIPT, page_table_js),
    PAGE("/assets/pages.js", JAVASCRIPT, page_pages_js),
    PAGE("/assets/operator.js", JAVASCRIPT, page_operator_js),
    PAGE("/assets/main.js", JAVASCRIPT, page_main_js),
    PAGE("/v1/openapi.json", "application/json", page_openapi_json),
};

static enum MHD_Result answer_page(struct pm_get *get, const struct page *page)
{
    struct MHD_Connection *connection = get->connection;
    const char *condition =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_IF_NONE_MATCH);
    char etag[PM_ETAG_TEXT], quoted[sizeof(etag) + 2];
    if (!pm_etag_make(page->text, page->size, etag))
        return MHD_NO;
    snprintf(quoted, sizeof(quoted), "\"%s\"", etag);
    const bool same = pm_http_matches(condition, etag);
    struct MHD_Response *response = MHD_create_response_from_buffer(
        same ? 0 : page->size, (void *)(uintptr_t)page->text, MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, quoted);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, page->type);
    MHD_add_response_header(response, "Content-Security-Policy", POLICY);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    if (pm_service_is_certified(get->service))
        MHD_add_response_header(response, "Strict-Transport-Security", "max-age=31536000");
    const enum MHD_Result result =
        MHD_queue_response(connection, same ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return result;
}

enum MHD_Result pm_pages_answer(struct pm_get *get)
{
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
        if (strcmp(get->url, pages[i].path) == 0)
            return answer_page(get, &pages[i]);
    }
    return pm_http_answer_error(get->connection, MHD_HTTP_NOT_FOUND,
                                "there is nothing at this path", 0);
}
