/* request.h - parses requests. The parser works in place and allocates nothing; every byte may
 * be hostile. */
#ifndef GRAPHSS_SERVE_REQUEST_H
#define GRAPHSS_SERVE_REQUEST_H

#include "base/base.h"

/* Each may do what those before it may. */
typedef enum graphss_i_role {
    GRAPHSS_I_ROLE_NONE, /* anybody */
    GRAPHSS_I_ROLE_READ,
    GRAPHSS_I_ROLE_WRITE, /* sends events */
    GRAPHSS_I_ROLE_ADMIN  /* settles alerts, makes groups, trusts snapshots */
} graphss_i_role;
const char *graphss_i_role_text(graphss_i_role role);
/* False if there is no such role. */
bool graphss_i_role_parse(graphss_i_role *role, const char *text);

typedef enum graphss_i_ask {
    GRAPHSS_I_ASK_PAGE,
    GRAPHSS_I_ASK_PAGE_ACT, /* a form of the page */
    GRAPHSS_I_ASK_STYLE,
    GRAPHSS_I_ASK_SCRIPT,
    GRAPHSS_I_ASK_LIVE,
    GRAPHSS_I_ASK_READY,
    GRAPHSS_I_ASK_SERVER,
    GRAPHSS_I_ASK_MODEL,
    GRAPHSS_I_ASK_MODEL_READY,
    GRAPHSS_I_ASK_INFER,
    GRAPHSS_I_ASK_STATUS,
    GRAPHSS_I_ASK_EVENTS,
    GRAPHSS_I_ASK_NODES,
    GRAPHSS_I_ASK_NODE,
    GRAPHSS_I_ASK_GROUPS,
    GRAPHSS_I_ASK_GROUP_ADD,
    GRAPHSS_I_ASK_GROUP,
    GRAPHSS_I_ASK_ALERTS,
    GRAPHSS_I_ASK_ALERT,
    GRAPHSS_I_ASK_ALERT_ACK,
    GRAPHSS_I_ASK_ALERT_DISMISS,
    GRAPHSS_I_ASK_ALERT_CONFIRM,
    GRAPHSS_I_ASK_ALERT_UNDO,
    GRAPHSS_I_ASK_LABELS,
    GRAPHSS_I_ASK_TRUST,
    GRAPHSS_I_ASK_AUDIT,
    GRAPHSS_I_ASK_REFUSED,
    GRAPHSS_I_ASK_STREAM,
    GRAPHSS_I_ASK_METRICS,
    GRAPHSS_I_ASK_OPENAPI,
    GRAPHSS_I_ASKS
} graphss_i_ask;

typedef enum graphss_i_body { /* type of the request's body */
    GRAPHSS_I_BODY_NONE,
    GRAPHSS_I_BODY_JSON,
    GRAPHSS_I_BODY_LINES, /* of JSON */
    GRAPHSS_I_BODY_FORM
} graphss_i_body;

typedef struct graphss_i_route {
    const char *method, *path; /* a part in braces matches anything: "/v1/nodes/{id}" */
    graphss_i_role role;
    graphss_i_body body;
    bool engine;                  /* answered by the thread of the engine, in turn */
    const char *summary, *answer; /* for /openapi.json */
} graphss_i_route;
/* Indexed by graphss_i_ask. */
const graphss_i_route *graphss_i_route_of(graphss_i_ask ask);

enum { GRAPHSS_I_PAIRS = 16, GRAPHSS_I_TARGET = 8192 };
typedef struct graphss_i_pair {
    char *name, *value;
} graphss_i_pair;
typedef struct graphss_i_request {
    graphss_i_ask ask;
    bool head;  /* HEAD: as GET, without the body of the answer */
    char *name; /* the part in braces; NULL: none */
    graphss_i_pair query[GRAPHSS_I_PAIRS], form[GRAPHSS_I_PAIRS];
    size_t n_query, n_form;
} graphss_i_request;

/* Reads method and target ("/v1/nodes/a%20b?limit=3"), which is changed and holds the texts
 * of out. 0, or the status to answer with: 400, 404, 405 (*allow: what it wants), 414. */
int graphss_i_request_parse(
    graphss_i_request *out, const char *method, char *target, const char **allow);
/* Pairs "a=b&c=d" of a query or form, in place. False: broken, or too many. */
bool graphss_i_pairs_parse(graphss_i_pair *pair, size_t *n, char *text);
/* The value of a name; NULL: it is not there. */
const char *graphss_i_pair_get(const graphss_i_pair *pair, size_t n, const char *name);
/* A whole number in [least, most]; false: it is none. */
bool graphss_i_number_parse(uint64_t *out, const char *text, uint64_t least, uint64_t most);

/* True if this Content-Type ("application/json; charset=utf-8") fits such a body. text may be
 * NULL. */
bool graphss_i_body_is(graphss_i_body body, const char *content_type);
/* Does Host name us: an address of loopback, or one of `names` with commas between (NULL:
 * none)? Keeps a page of another site from reaching us by a name that it made point here. */
bool graphss_i_host_is_ours(const char *host, const char *names);
/* True if Origin ("http://host:port") names the requested host, or is NULL. */
bool graphss_i_origin_fits(const char *origin, const char *host);

/* Lines of a body: the next one from *at on, without its end; false: no more. Empty lines are
 * passed over. */
bool graphss_i_line_next(
    const char **line, size_t *n, const char *body, size_t n_body, size_t *at);

#endif
