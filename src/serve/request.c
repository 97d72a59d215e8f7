/* request.c - see request.h. A path is split at its slashes before it is decoded, so that a
 * name may have any character and a slash in it ("%2F") ends nothing. No path is ever a file.
 */
#include "serve/request.h"
#include <graphss/events.h>
#include <string.h>
#include <strings.h>

static const graphss_i_route routes[GRAPHSS_I_ASKS] = {
    [GRAPHSS_I_ASK_PAGE] = {"GET", "/", GRAPHSS_I_ROLE_READ, GRAPHSS_I_BODY_NONE, true,
        "The page for people; ?node=ID chooses a node", "text/html"},
    [GRAPHSS_I_ASK_PAGE_ACT] = {"POST", "/act", GRAPHSS_I_ROLE_ADMIN, GRAPHSS_I_BODY_FORM,
        true, "The buttons of the page", "text/html"},
    [GRAPHSS_I_ASK_STYLE] = {"GET", "/page.css", GRAPHSS_I_ROLE_NONE, GRAPHSS_I_BODY_NONE,
        false, "The style of the page", "text/css"},
    [GRAPHSS_I_ASK_SCRIPT] = {"GET", "/page.js", GRAPHSS_I_ROLE_NONE, GRAPHSS_I_BODY_NONE,
        false, "The script of the page", "text/javascript"},
    [GRAPHSS_I_ASK_LIVE] = {"GET", "/v2/health/live", GRAPHSS_I_ROLE_NONE, GRAPHSS_I_BODY_NONE,
        false, "Is the process alive?", "application/json"},
    [GRAPHSS_I_ASK_READY] = {"GET", "/v2/health/ready", GRAPHSS_I_ROLE_NONE,
        GRAPHSS_I_BODY_NONE, false,
        "Does it take requests? 503 while it starts, ends or recovers", "application/json"},
    [GRAPHSS_I_ASK_SERVER] = {"GET", "/v2", GRAPHSS_I_ROLE_READ, GRAPHSS_I_BODY_NONE, false,
        "Name and version of the server", "application/json"},
    [GRAPHSS_I_ASK_MODEL] = {"GET", "/v2/models/{name}", GRAPHSS_I_ROLE_READ,
        GRAPHSS_I_BODY_NONE, true, "The model: inputs, outputs, classes. It is called graphss",
        "application/json"},
    [GRAPHSS_I_ASK_MODEL_READY] = {"GET", "/v2/models/{name}/ready", GRAPHSS_I_ROLE_READ,
        GRAPHSS_I_BODY_NONE, false, "Does it answer?", "application/json"},
    [GRAPHSS_I_ASK_INFER] = {"POST", "/v2/models/{name}/infer", GRAPHSS_I_ROLE_READ,
        GRAPHSS_I_BODY_JSON, true,
        "Probabilities, recovered label and p-value of nodes by name, of "
        "the graph as it is",
        "application/json"},
    [GRAPHSS_I_ASK_STATUS] = {"GET", "/v1/status", GRAPHSS_I_ROLE_READ, GRAPHSS_I_BODY_NONE,
        true, "State of graph, test and service", "application/json"},
    [GRAPHSS_I_ASK_EVENTS] = {"POST", "/v1/events", GRAPHSS_I_ROLE_WRITE, GRAPHSS_I_BODY_LINES,
        true, "Applies events, one a line; 202 once they are on the disk", "application/json"},
    [GRAPHSS_I_ASK_NODES] = {"GET", "/v1/nodes", GRAPHSS_I_ROLE_READ, GRAPHSS_I_BODY_NONE,
        true, "The most suspicious nodes; ?limit=N (20)", "application/json"},
    [GRAPHSS_I_ASK_NODE] = {"GET", "/v1/nodes/{id}", GRAPHSS_I_ROLE_READ, GRAPHSS_I_BODY_NONE,
        true, "Label, suspicion and reasons of a node", "application/json"},
    [GRAPHSS_I_ASK_GROUPS] = {"GET", "/v1/groups", GRAPHSS_I_ROLE_READ, GRAPHSS_I_BODY_NONE,
        true, "Groups that are watched, and their evidence", "application/json"},
    [GRAPHSS_I_ASK_GROUP_ADD] = {"POST", "/v1/groups", GRAPHSS_I_ROLE_ADMIN,
        GRAPHSS_I_BODY_JSON, true, "Watches a group: {\"name\": ..., \"nodes\": [...]}",
        "application/json"},
    [GRAPHSS_I_ASK_GROUP] = {"GET", "/v1/groups/{name}", GRAPHSS_I_ROLE_READ,
        GRAPHSS_I_BODY_NONE, true, "One group", "application/json"},
    [GRAPHSS_I_ASK_ALERTS] = {"GET", "/v1/alerts", GRAPHSS_I_ROLE_READ, GRAPHSS_I_BODY_NONE,
        true,
        "Alerts; ?state=firing (open or acknowledged), open, "
        "acknowledged, dismissed or confirmed",
        "application/json"},
    [GRAPHSS_I_ASK_ALERT] = {"GET", "/v1/alerts/{id}", GRAPHSS_I_ROLE_READ,
        GRAPHSS_I_BODY_NONE, true, "One alert and its suspects", "application/json"},
    [GRAPHSS_I_ASK_ALERT_ACK] = {"POST", "/v1/alerts/{id}/ack", GRAPHSS_I_ROLE_ADMIN,
        GRAPHSS_I_BODY_JSON, true, "Someone looks at it: {\"who\": ..., \"note\": ...}",
        "application/json"},
    [GRAPHSS_I_ASK_ALERT_DISMISS] = {"POST", "/v1/alerts/{id}/dismiss", GRAPHSS_I_ROLE_ADMIN,
        GRAPHSS_I_BODY_JSON, true, "It was a false alarm", "application/json"},
    [GRAPHSS_I_ASK_ALERT_CONFIRM] = {"POST", "/v1/alerts/{id}/confirm", GRAPHSS_I_ROLE_ADMIN,
        GRAPHSS_I_BODY_JSON, true, "It was an attack; \"labels\": {node: class} are set",
        "application/json"},
    [GRAPHSS_I_ASK_ALERT_UNDO] = {"GET", "/v1/alerts/{id}/undo", GRAPHSS_I_ROLE_READ,
        GRAPHSS_I_BODY_NONE, true,
        "Events that give its suspects the edges and features back "
        "that they had in the trusted snapshot",
        "application/jsonl"},
    [GRAPHSS_I_ASK_LABELS] = {"GET", "/v1/labels", GRAPHSS_I_ROLE_READ, GRAPHSS_I_BODY_NONE,
        true,
        "What people said of suspects of settled alerts, for the next "
        "training",
        "application/jsonl"},
    [GRAPHSS_I_ASK_TRUST] = {"POST", "/v1/snapshots", GRAPHSS_I_ROLE_ADMIN,
        GRAPHSS_I_BODY_JSON, true, "The graph as it is becomes the trusted snapshot",
        "application/json"},
    [GRAPHSS_I_ASK_AUDIT] = {"GET", "/v1/audit", GRAPHSS_I_ROLE_READ, GRAPHSS_I_BODY_NONE,
        true, "The last entries of the audit trail; ?limit=N (100)", "application/json"},
    [GRAPHSS_I_ASK_REFUSED] = {"GET", "/v1/refused", GRAPHSS_I_ROLE_READ, GRAPHSS_I_BODY_NONE,
        true, "The last events that were set aside; ?limit=N (100)", "application/json"},
    [GRAPHSS_I_ASK_STREAM] = {"GET", "/v1/stream", GRAPHSS_I_ROLE_READ, GRAPHSS_I_BODY_NONE,
        false, "Server-sent events: a number, whenever something changed",
        "text/event-stream"},
    [GRAPHSS_I_ASK_METRICS] = {"GET", "/metrics", GRAPHSS_I_ROLE_READ, GRAPHSS_I_BODY_NONE,
        false, "Metrics for Prometheus", "text/plain"},
    [GRAPHSS_I_ASK_OPENAPI] = {"GET", "/openapi.json", GRAPHSS_I_ROLE_READ,
        GRAPHSS_I_BODY_NONE, false, "This description", "application/json"},
};

const graphss_i_route *graphss_i_route_of(graphss_i_ask ask)
{
    return &routes[ask];
}

static const char *const role_names[] = {"none", "read", "write", "admin"};

const char *graphss_i_role_text(graphss_i_role role)
{
    return role_names[role];
}

bool graphss_i_role_parse(graphss_i_role *role, const char *text)
{
    for (int i = GRAPHSS_I_ROLE_READ; i <= GRAPHSS_I_ROLE_ADMIN; i++)
        if (!strcmp(text, role_names[i])) {
            *role = (graphss_i_role)i;
            return true;
        }
    return false;
}

/* ---- decoding ---- */

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* "%41" to "A", in place; plus: '+' is a space. False: broken, a NUL, or no UTF-8. */
static bool decode(char *text, bool plus)
{
    char *out = text;
    for (const char *in = text; *in; in++) {
        char c = *in;
        if (c == '%') {
            const int high = digit(in[1]), low = high < 0 ? -1 : digit(in[2]);
            if (low < 0)
                return false;
            c = (char)(16 * high + low);
            in += 2;
        } else if (c == '+' && plus) {
            c = ' ';
        }
        if (!c)
            return false;
        *out++ = c;
    }
    *out = 0;
    return graphss_i_is_utf8((const unsigned char *)text, (size_t)(out - text));
}

bool graphss_i_pairs_parse(graphss_i_pair *pair, size_t *n, char *text)
{
    *n = 0;
    while (text && *text) {
        char *next = strchr(text, '&');
        if (next)
            *next++ = 0;
        char *value = strchr(text, '=');
        if (value)
            *value++ = 0;
        if (*text) {
            static char nothing[1];
            if (*n == GRAPHSS_I_PAIRS || !decode(text, true) ||
                (value && !decode(value, true)))
                return false;
            pair[(*n)++] = (graphss_i_pair){text, value ? value : nothing};
        }
        text = next;
    }
    return true;
}

const char *graphss_i_pair_get(const graphss_i_pair *pair, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(pair[i].name, name))
            return pair[i].value;
    return NULL;
}

bool graphss_i_number_parse(uint64_t *out, const char *text, uint64_t least, uint64_t most)
{
    uint64_t x = 0;
    if (!text || !*text || strlen(text) > 15)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        x = 10 * x + (uint64_t)(*text - '0');
    }
    *out = x;
    return x >= least && x <= most;
}

/* ---- routes ---- */

/* True if the path, whose parts are not decoded yet, fits. *name: start of the part in braces,
 * *n its length. */
static bool fits(const char *pattern, const char *path, const char **name, size_t *n)
{
    *name = NULL;
    *n = 0;
    for (;;) {
        if (*pattern == '{') {
            *n = strcspn(path, "/");
            *name = path;
            if (*n == 0)
                return false;
            path += *n;
            pattern = strchr(pattern, '}') + 1;
        } else if (*pattern != *path) {
            return false;
        } else if (!*pattern) {
            return true;
        } else {
            pattern++;
            path++;
        }
    }
}

int graphss_i_request_parse(
    graphss_i_request *out, const char *method, char *target, const char **allow)
{
    *out = (graphss_i_request){.head = !strcmp(method, "HEAD")};
    *allow = NULL;
    if (strlen(target) > GRAPHSS_I_TARGET)
        return 414;
    if (*target != '/')
        return 400;
    char *query = strchr(target, '?');
    if (query)
        *query++ = 0;
    const char *wanted = out->head ? "GET" : method;
    for (int i = 0; i < GRAPHSS_I_ASKS; i++) {
        const char *name;
        size_t n;
        if (!fits(routes[i].path, target, &name, &n))
            continue;
        if (strcmp(routes[i].method, wanted) != 0) {
            *allow = *allow                             ? "GET, HEAD, POST"
                     : !strcmp(routes[i].method, "GET") ? "GET, HEAD"
                                                        : "POST";
            continue;
        }
        out->ask = (graphss_i_ask)i;
        if (name) {
            out->name = target + (name - target);
            out->name[n] = 0;
            if (!decode(out->name, false))
                return 400;
            if (strlen(out->name) > GRAPHSS_EVENT_NAME)
                return 414;
        }
        return graphss_i_pairs_parse(out->query, &out->n_query, query) ? 0 : 400;
    }
    return *allow ? 405 : 404;
}

/* ---- headers ---- */

bool graphss_i_body_is(graphss_i_body body, const char *type)
{
    static const struct {
        graphss_i_body body;
        const char *type;
    } known[] = {{GRAPHSS_I_BODY_JSON, "application/json"},
        {GRAPHSS_I_BODY_LINES, "application/jsonl"},
        {GRAPHSS_I_BODY_LINES, "application/x-ndjson"},
        {GRAPHSS_I_BODY_LINES, "application/json"},
        {GRAPHSS_I_BODY_FORM, "application/x-www-form-urlencoded"}};
    const size_t n = type ? strcspn(type, "; \t") : 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].body == body && n == strlen(known[i].type) &&
            !strncasecmp(type, known[i].type, n))
            return true;
    return false;
}

/* The length of a host without its port. */
static size_t host_length(const char *host)
{
    if (*host == '[') {
        const char *end = strchr(host, ']');
        return end ? (size_t)(end - host) + 1 : 0;
    }
    return strcspn(host, ":/");
}

bool graphss_i_host_is_ours(const char *host, const char *names)
{
    static const char *const loopback[] = {"localhost", "127.0.0.1", "[::1]"};
    if (!host || !*host)
        return false;
    const size_t n = host_length(host);
    const char *port = host + n;
    if (n == 0 ||
        (*port && (*port != ':' || strspn(port + 1, "0123456789") != strlen(port + 1))))
        return false;
    for (size_t i = 0; i < sizeof loopback / sizeof *loopback; i++)
        if (n == strlen(loopback[i]) && !strncasecmp(host, loopback[i], n))
            return true;
    while (names && *names) {
        const size_t m = strcspn(names, ",");
        if (m == n && !strncasecmp(host, names, n))
            return true;
        names += m + (names[m] == ',');
    }
    return false;
}

bool graphss_i_origin_fits(const char *origin, const char *host)
{
    if (!origin)
        return true;
    const char *at = strstr(origin, "://");
    return at && host && !strcasecmp(at + 3, host);
}

bool graphss_i_line_next(
    const char **line, size_t *n, const char *body, size_t n_body, size_t *at)
{
    while (*at < n_body) {
        const char *from = body + *at, *end = memchr(from, '\n', n_body - *at);
        size_t length = end ? (size_t)(end - from) : n_body - *at;
        *at += length + (end != NULL);
        if (length && from[length - 1] == '\r')
            length--;
        if (length == 0)
            continue;
        *line = from;
        *n = length;
        return true;
    }
    return false;
}
