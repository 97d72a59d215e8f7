/* http.c - connections, by libmicrohttpd. One thread reads requests and writes answers;
 * requests for the engine are put into the queue, and their connections sleep until they are
 * answered.
 *
 * Everything a client may do slowly has a deadline: sending a request's head, its body, and
 * taking the answer. libmicrohttpd only limits silence, which a byte now and then defeats, so
 * each connection has its own deadline here, and is shut down when it passes. */
#include "serve/http.h"
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum { STREAMS_MOST = 64, CONNECTION_MEMORY = 16 << 10 };
/* seconds between keep-alive messages to watching clients */
static const double HEARTBEAT = 15;
static const double LAST_ANSWERS = 2; /* seconds that answers may take at the end */

typedef struct slot { /* a connection */
    int fd;
    double deadline; /* 0: it is our turn */
} slot;

typedef struct stream { /* a watching client */
    struct graphss_i_http *http;
    struct MHD_Connection *connection;
    uint64_t told;
    double at;
    bool asleep, beat;
} stream;

struct graphss_i_http {
    graphss_server *server;
    graphss_i_mhd mhd;
    struct MHD_Daemon *daemon;
    int listener;
    bool alone;     /* the socket is local */
    bool by_socket; /* a Unix socket: no browser, so no names to check */
    pthread_mutex_t lock;
    slot *slot; /* [opt.connections] */
    size_t n_slots, n_active;
    stream *watcher[STREAMS_MOST];
    bool ending;
    double ticked;
    graphss_i_limits *limits; /* of the reading thread alone */
    char *key, *cert;
    graphss_i_text text; /* of answers that do not need the engine; of that thread, too */
    graphss_ctx *ctx;    /* the same */
};

/* ---- connections ---- */

static void on_connection(void *cls, struct MHD_Connection *connection, void **context,
    enum MHD_ConnectionNotificationCode code)
{
    graphss_i_http *h = cls;
    pthread_mutex_lock(&h->lock);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            h->mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        for (size_t i = 0; i < h->n_slots && info; i++)
            if (h->slot[i].fd < 0) {
                h->slot[i] =
                    (slot){info->connect_fd, graphss_i_seconds() + h->server->opt.wait};
                *context = &h->slot[i];
                break;
            }
    } else if (*context) {
        ((slot *)*context)->fd = -1;
    }
    pthread_mutex_unlock(&h->lock);
}

/* This many seconds from now; 0: no deadline. */
static void set_deadline(graphss_i_http *h, struct MHD_Connection *connection, double seconds)
{
    const union MHD_ConnectionInfo *info =
        h->mhd.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    slot *at = info ? info->socket_context : NULL;
    if (!at)
        return;
    pthread_mutex_lock(&h->lock);
    at->deadline = seconds > 0 ? graphss_i_seconds() + seconds : 0;
    pthread_mutex_unlock(&h->lock);
}

void graphss_i_http_tick(graphss_i_http *h)
{
    const double now = graphss_i_seconds();
    if (now < h->ticked + 0.2)
        return;
    h->ticked = now;
    pthread_mutex_lock(&h->lock);
    for (size_t i = 0; i < h->n_slots; i++)
        if (h->slot[i].fd >= 0 && h->slot[i].deadline > 0 && now > h->slot[i].deadline) {
            h->slot[i].deadline = 0;
            (void)shutdown(h->slot[i].fd, SHUT_RDWR);
        }
    for (size_t i = 0; i < STREAMS_MOST; i++) {
        stream *w = h->watcher[i];
        if (w && w->asleep && now > w->at + HEARTBEAT) {
            w->asleep = false;
            w->beat = true;
            h->mhd.resume_connection(w->connection);
        }
    }
    pthread_mutex_unlock(&h->lock);
}

/* ---- watching clients ---- */

static ssize_t read_stream(void *cls, uint64_t at, char *out, size_t most)
{
    stream *w = cls;
    graphss_i_http *h = w->http;
    ssize_t n = 0;
    (void)at;
    pthread_mutex_lock(&h->server->lock);
    const uint64_t version = h->server->version;
    pthread_mutex_unlock(&h->server->lock);
    pthread_mutex_lock(&h->lock);
    if (h->ending || most < 64) {
        n = MHD_CONTENT_READER_END_OF_STREAM;
    } else if (version != w->told || w->beat) {
        n = version != w->told
                ? snprintf(out, most, "data: %llu\n\n", (unsigned long long)version)
                : snprintf(out, most, ":\n\n");
        w->told = version;
        w->beat = false;
        w->at = graphss_i_seconds();
    } else {
        w->asleep = true;
        h->mhd.suspend_connection(w->connection);
    }
    pthread_mutex_unlock(&h->lock);
    return n;
}

static void free_stream(void *cls)
{
    stream *w = cls;
    graphss_i_http *h = w->http;
    pthread_mutex_lock(&h->lock);
    for (size_t i = 0; i < STREAMS_MOST; i++)
        if (h->watcher[i] == w)
            h->watcher[i] = NULL;
    pthread_mutex_unlock(&h->lock);
    graphss_i_shared_release(h->server, w);
}

/* NULL: there are too many, or no memory. */
static struct MHD_Response *stream_response(graphss_i_http *h, struct MHD_Connection *c)
{
    stream *w = graphss_i_shared_alloc(h->server, 1, sizeof *w);
    size_t i = 0;
    if (!w)
        return NULL;
    *w = (stream){.http = h, .connection = c, .told = UINT64_MAX, .at = graphss_i_seconds()};
    pthread_mutex_lock(&h->lock);
    while (i < STREAMS_MOST && h->watcher[i])
        i++;
    if (i < STREAMS_MOST && !h->ending)
        h->watcher[i] = w;
    else
        i = STREAMS_MOST;
    pthread_mutex_unlock(&h->lock);
    struct MHD_Response *r = i < STREAMS_MOST
                                 ? h->mhd.create_response_from_callback(
                                       MHD_SIZE_UNKNOWN, 256, read_stream, w, free_stream)
                                 : NULL;
    if (!r)
        free_stream(w);
    return r;
}

static void wake_streams(graphss_i_http *h)
{
    pthread_mutex_lock(&h->lock);
    for (size_t i = 0; i < STREAMS_MOST; i++)
        if (h->watcher[i] && h->watcher[i]->asleep) {
            h->watcher[i]->asleep = false;
            h->mhd.resume_connection(h->watcher[i]->connection);
        }
    pthread_mutex_unlock(&h->lock);
}

void graphss_i_http_changed(graphss_i_http *h)
{
    if (h)
        wake_streams(h);
}

/* ---- answers ---- */

static void add_headers(
    const graphss_i_http *h, struct MHD_Response *r, const graphss_i_reply *reply)
{
    char seconds[16];
    const bool html = reply->type && !strncmp(reply->type, "text/html", 9);
    const struct {
        const char *name, *value;
    } header[] = {{"Content-Type", reply->type}, {"Cache-Control", "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "same-origin"}, /* with none, forms would come from "null" */
        {"Content-Security-Policy",
            html ? "default-src 'none'; style-src 'self'; script-src 'self'; connect-src "
                   "'self'; "
                   "img-src 'self' data:; form-action 'self'; base-uri 'none'; "
                   "frame-ancestors 'none'"
                 : "default-src 'none'; frame-ancestors 'none'"},
        {"X-Frame-Options", "DENY"}, {"Allow", reply->allow}, {"Location", reply->see},
        {"WWW-Authenticate",
            reply->status == 401 ? "Basic realm=\"graphss\", charset=\"UTF-8\"" : NULL},
        {"Retry-After", reply->retry_after ? seconds : NULL}};
    snprintf(seconds, sizeof seconds, "%d", reply->retry_after);
    for (size_t i = 0; i < sizeof header / sizeof *header; i++)
        if (header[i].value)
            (void)h->mhd.add_response_header(r, header[i].name, header[i].value);
}

static enum MHD_Result send_reply(graphss_i_http *h, struct MHD_Connection *c,
    const graphss_i_job *job, const graphss_i_reply *reply)
{
    char nothing[1] = "";
    struct MHD_Response *r;
    if (reply->status == 200 && job->request.ask == GRAPHSS_I_ASK_STREAM) {
        r = stream_response(h, c);
        if (!r)
            return send_reply(h, c, job, &(graphss_i_reply){.status = 429, .retry_after = 30});
        set_deadline(h, c, 0);
    } else {
        /* From the job, or from the reading thread: both outlive the response. */
        char *text = nothing;
        if (reply->text)
            memcpy(&text, &reply->text, sizeof text);
        r = h->mhd.create_response_from_buffer(reply->text ? reply->n : 0, text,
            job->text && reply->text == job->text ? MHD_RESPMEM_PERSISTENT
                                                  : MHD_RESPMEM_MUST_COPY);
        if (!r)
            return MHD_NO;
        set_deadline(h, c, 2 * h->server->opt.wait);
    }
    add_headers(h, r, reply);
    const enum MHD_Result done = h->mhd.queue_response(c, (unsigned)reply->status, r);
    h->mhd.destroy_response(r);
    pthread_mutex_lock(&h->server->lock);
    h->server->counts.answered[reply->status / 100]++;
    if (job->since > 0)
        graphss_i_histogram_add(&h->server->counts.request, graphss_i_seconds() - job->since);
    pthread_mutex_unlock(&h->server->lock);
    return done;
}

static const char *refusal_text(int status)
{
    switch (status) {
    case 400:
        return "the request is broken";
    case 401:
        return "a token is wanted: Authorization: Bearer TOKEN";
    case 403:
        return "this is not allowed: the role of the token is too low, or the request "
               "comes from another site";
    case 404:
        return "nothing is here";
    case 405:
        return "this method is not for here";
    case 413:
        return "the body is too large";
    case 414:
        return "the path is too long";
    case 415:
        return "this Content-Type is not wanted here: application/json is, and for events "
               "application/jsonl";
    case 421:
        return "this server does not have that name (see --host)";
    case 429:
        return "too much at once: come again";
    default:
        return "not now: come again";
    }
}

static enum MHD_Result refuse(graphss_i_http *h, struct MHD_Connection *c,
    const graphss_i_job *job, int status, const char *allow)
{
    graphss_i_text_clear(&h->text);
    graphss_i_answer_error(&h->text, refusal_text(status));
    const graphss_i_reply reply = {.status = status,
        .type = "application/json",
        .text = h->text.failed ? NULL : h->text.at,
        .n = h->text.n,
        .allow = allow,
        .retry_after = status == 429 || status == 503};
    return send_reply(h, c, job, &reply);
}

/* Answers that need no engine. */
static enum MHD_Result answer_here(
    graphss_i_http *h, struct MHD_Connection *c, graphss_i_job *job)
{
    graphss_server *s = h->server;
    graphss_i_text *t = &h->text;
    graphss_i_reply reply = {
        .status = 200, .type = graphss_i_route_of(job->request.ask)->answer};
    pthread_mutex_lock(&s->lock);
    const bool ready = s->view.ready && !s->draining;
    pthread_mutex_unlock(&s->lock);
    graphss_i_text_clear(t);
    switch (job->request.ask) {
    case GRAPHSS_I_ASK_LIVE:
        graphss_i_text_add(t, "{\"live\":true}\n");
        break;
    case GRAPHSS_I_ASK_MODEL_READY:
        if (strcmp(job->request.name, "graphss") != 0)
            return refuse(h, c, job, 404, NULL);
        /* fall through */
    case GRAPHSS_I_ASK_READY:
        graphss_i_text_format(t, "{\"ready\":%s}\n", ready ? "true" : "false");
        reply.status = ready ? 200 : 503;
        reply.retry_after = !ready;
        break;
    case GRAPHSS_I_ASK_SERVER:
        graphss_i_text_format(t,
            "{\"name\":\"graphss\",\"version\":\"%s\",\"extensions\":[]}\n",
            graphss_version());
        break;
    case GRAPHSS_I_ASK_STYLE:
        graphss_i_text_add(t, graphss_i_page_css);
        break;
    case GRAPHSS_I_ASK_SCRIPT:
        graphss_i_text_add(t, graphss_i_page_js);
        break;
    case GRAPHSS_I_ASK_METRICS:
        reply.type = "text/plain; version=0.0.4; charset=utf-8";
        graphss_i_metrics(t, s);
        break;
    case GRAPHSS_I_ASK_OPENAPI:
        graphss_i_openapi(t);
        break;
    default:
        break;
    }
    if (t->failed)
        return refuse(h, c, job, 503, NULL);
    reply.text = t->at;
    reply.n = t->n;
    return send_reply(h, c, job, &reply);
}

/* ---- requests ---- */

static void *on_target(void *cls, const char *target, struct MHD_Connection *connection)
{
    graphss_i_http *h = cls;
    graphss_i_job *job = graphss_i_job_new(h->server);
    const size_t n = strlen(target);
    if (!job)
        return NULL;
    job->connection = connection;
    job->target = graphss_i_shared_alloc(h->server, n + 1, 1);
    if (job->target)
        memcpy(job->target, target, n + 1);
    pthread_mutex_lock(&h->lock);
    h->n_active++;
    pthread_mutex_unlock(&h->lock);
    return job;
}

static void on_completed(void *cls, struct MHD_Connection *connection, void **context,
    enum MHD_RequestTerminationCode code)
{
    graphss_i_http *h = cls;
    (void)code;
    if (!*context)
        return;
    set_deadline(h, connection, h->server->opt.wait);
    graphss_i_job_free(h->server, *context);
    *context = NULL;
    pthread_mutex_lock(&h->lock);
    h->n_active--;
    pthread_mutex_unlock(&h->lock);
}

static const char *header(const graphss_i_http *h, struct MHD_Connection *c, const char *name)
{
    return h->mhd.lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static const struct sockaddr *address_of(const graphss_i_http *h, struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info =
        h->mhd.get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

static int count(graphss_i_http *h, uint64_t *what, int status)
{
    pthread_mutex_lock(&h->server->lock);
    ++*what;
    pthread_mutex_unlock(&h->server->lock);
    return status;
}

/* Authenticates and authorises. 0 or a status. */
static int admit(graphss_i_http *h, struct MHD_Connection *c, graphss_i_job *job)
{
    graphss_server *s = h->server;
    const graphss_i_route *route = graphss_i_route_of(job->request.ask);
    if (!s->opt.tokens) {
        job->role = GRAPHSS_I_ROLE_ADMIN;
        return 0;
    }
    const char *given = header(h, c, "Authorization");
    pthread_mutex_lock(&s->lock); /* they may be read again */
    const graphss_i_token *token = graphss_i_tokens_find(&s->tokens, given);
    if (token) {
        job->role = token->role;
        snprintf(job->who, sizeof job->who, "%s", token->name);
    }
    pthread_mutex_unlock(&s->lock);
    if (token)
        return route->role > job->role ? 403 : 0;
    if (given && !graphss_i_limits_failed(h->limits, address_of(h, c), graphss_i_seconds()))
        return count(h, &s->counts.limited, 429);
    if (route->role == GRAPHSS_I_ROLE_NONE)
        return 0;
    return count(h, &s->counts.unauthorised, 401);
}

/* A name that is not ours, or a form of another site, is refused. */
static int check_names(
    const graphss_i_http *h, struct MHD_Connection *c, const graphss_i_route *route)
{
    const graphss_serve_options *o = &h->server->opt;
    const char *host = header(h, c, "Host"), *site = header(h, c, "Sec-Fetch-Site");
    if (!h->by_socket && (h->alone || o->host) && !graphss_i_host_is_ours(host, o->host))
        return 421;
    if (strcmp(route->method, "POST") != 0)
        return 0;
    if (!graphss_i_origin_fits(header(h, c, "Origin"), host))
        return 403;
    return site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0 ? 403 : 0;
}

/* All checks before the body arrives: 0 or a status. */
static int look_at_head(graphss_i_http *h, struct MHD_Connection *c, graphss_i_job *job,
    const char *method, const char **allow)
{
    const graphss_serve_options *o = &h->server->opt;
    *allow = NULL;
    if (!graphss_i_limits_take(
            h->limits, address_of(h, c), (double)o->rate, graphss_i_seconds()))
        return count(h, &h->server->counts.limited, 429);
    if (!job->target)
        return 503;
    int status = graphss_i_request_parse(&job->request, method, job->target, allow);
    const graphss_i_route *route = graphss_i_route_of(job->request.ask);
    if (status)
        return status;
    status = check_names(h, c, route);
    if (!status)
        status = admit(h, c, job);
    if (status)
        return status;
    uint64_t n = 0;
    const char *length = header(h, c, "Content-Length");
    if (length && !graphss_i_number_parse(&n, length, 0, UINT64_MAX >> 8))
        return 413;
    const bool body = n > 0 || header(h, c, "Transfer-Encoding");
    if (n > (uint64_t)o->body || (body && route->body == GRAPHSS_I_BODY_NONE))
        return 413;
    if (body && !graphss_i_body_is(route->body, header(h, c, "Content-Type")))
        return 415;
    return 0;
}

static bool take_body(graphss_i_http *h, graphss_i_job *job, const char *bytes, size_t n)
{
    if (n > (size_t)h->server->opt.body - job->n_body)
        return false;
    if (job->n_body + n >= job->body_room) {
        size_t room = 2 * job->body_room + 4096;
        room = room > job->n_body + n ? room : job->n_body + n + 1;
        char *grown = graphss_i_shared_grow(h->server, job->body, job->n_body, room, 1);
        if (!grown)
            return false;
        job->body = grown;
        job->body_room = room;
    }
    memcpy(job->body + job->n_body, bytes, n);
    job->n_body += n;
    job->body[job->n_body] = 0;
    return true;
}

/* The whole request is here. */
static enum MHD_Result handle(graphss_i_http *h, struct MHD_Connection *c, graphss_i_job *job)
{
    const graphss_i_route *route = graphss_i_route_of(job->request.ask);
    int status = 0;
    set_deadline(h, c, 0);
    if (!route->engine)
        return answer_here(h, c, job);
    if (route->body == GRAPHSS_I_BODY_LINES)
        status = graphss_i_job_lines(h->server, job);
    if (route->body == GRAPHSS_I_BODY_FORM &&
        (!job->body || strlen(job->body) != job->n_body ||
            !graphss_i_pairs_parse(job->request.form, &job->request.n_form, job->body)))
        status = 400;
    if (status)
        return refuse(h, c, job, status, NULL);
    h->mhd.suspend_connection(c); /* before others can wake it */
    status = graphss_i_push(h->server, job);
    if (status) {
        job->refused = status;
        h->mhd.resume_connection(c);
    }
    return MHD_YES;
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *c, const char *url,
    const char *method, const char *version, const char *data, size_t *n, void **context)
{
    graphss_i_http *h = cls;
    graphss_i_job *job = *context;
    (void)url;
    (void)version;
    if (!job)
        return MHD_NO;
    pthread_mutex_lock(&h->server->lock);
    const bool done = job->done;
    pthread_mutex_unlock(&h->server->lock);
    if (done)
        return send_reply(h, c, job, &job->reply);
    if (job->refused)
        return refuse(h, c, job, job->refused, NULL);
    if (!job->read) {
        const char *allow;
        job->read = true;
        const int status = look_at_head(h, c, job, method, &allow);
        set_deadline(h, c, h->server->opt.wait);
        return status ? refuse(h, c, job, status, allow) : MHD_YES;
    }
    if (*n) {
        if (!take_body(h, job, data, *n))
            return MHD_NO; /* longer than announced, or than allowed: it ends here */
        *n = 0;
        return MHD_YES;
    }
    return handle(h, c, job);
}

void graphss_i_http_wake(graphss_i_http *h, graphss_i_job *job)
{
    struct MHD_Connection *connection = job->connection;
    pthread_mutex_lock(&h->server->lock);
    job->done = true;
    pthread_mutex_unlock(&h->server->lock);
    h->mhd.resume_connection(connection);
}

/* ---- life ---- */

/* Names stay encoded, since they are decoded part by part. */
static size_t keep_target(void *cls, struct MHD_Connection *connection, char *text)
{
    (void)cls;
    (void)connection;
    return strlen(text);
}

static graphss_status start_daemon(graphss_ctx *ctx, graphss_i_http *h)
{
    const graphss_serve_options *o = &h->server->opt;
    const unsigned timeout = (unsigned)o->wait + 1;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC;
    struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_MEM_KEY, 0, h->key},
        {MHD_OPTION_HTTPS_MEM_CERT, 0, h->cert}, {MHD_OPTION_END, 0, NULL}};
    if (h->cert)
        flags |= MHD_USE_TLS;
    h->daemon = h->mhd.start_daemon(flags, 0, NULL, NULL, on_request, h,
        MHD_OPTION_LISTEN_SOCKET, h->listener, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)o->connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        (unsigned)o->connections_each, MHD_OPTION_CONNECTION_TIMEOUT, timeout,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_URI_LOG_CALLBACK, on_target, h,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, h, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, h, MHD_OPTION_UNESCAPE_CALLBACK, keep_target, NULL, MHD_OPTION_ARRAY,
        h->cert ? tls : &tls[2], MHD_OPTION_END);
    return h->daemon ? GRAPHSS_OK
                     : graphss_i_fail(ctx, GRAPHSS_ERR_IO, "the HTTP library does not start%s",
                           h->cert ? ": are --tls-cert and --tls-key a pair?" : "");
}

static graphss_status read_tls(graphss_ctx *ctx, graphss_i_http *h)
{
    const graphss_serve_options *o = &h->server->opt;
    size_t n;
    if (!o->tls_cert)
        return GRAPHSS_OK;
    graphss_status st = graphss_i_file_read(ctx, &h->cert, &n, o->tls_cert, 1 << 20);
    return st ? st : graphss_i_file_read(ctx, &h->key, &n, o->tls_key, 1 << 20);
}

graphss_status graphss_i_http_start(graphss_ctx *ctx, graphss_server *s)
{
    const graphss_ctx_options own = {.struct_size = sizeof own, .threads = 1};
    graphss_i_http *h = graphss_i_calloc(ctx, 1, sizeof *h);
    if (!h)
        return GRAPHSS_ERR_NOMEM;
    s->http = h;
    h->server = s;
    h->listener = -1;
    pthread_mutex_init(&h->lock, NULL);
    h->ctx = graphss_ctx_new(&own);
    h->text.ctx = h->ctx;
    h->n_slots = (size_t)s->opt.connections;
    h->slot = graphss_i_alloc(ctx, h->n_slots, sizeof *h->slot);
    h->limits = graphss_i_calloc(ctx, 1, sizeof *h->limits);
    if (!h->ctx || !h->slot || !h->limits)
        return graphss_i_nomem(ctx, sizeof *h->limits);
    for (size_t i = 0; i < h->n_slots; i++)
        h->slot[i].fd = -1;
    memcpy(&h->limits->secret, s->secret, sizeof h->limits->secret);
    graphss_status st = graphss_i_mhd_open(ctx, &h->mhd);
    if (!st)
        st = read_tls(ctx, h);
    if (!st)
        st = graphss_i_listen(
            ctx, &h->listener, &s->address, &h->alone, s->opt.listen, s->opt.tls_cert != NULL);
    h->by_socket = !st && !strncmp(s->address, "unix:", 5);
    if (!st && !h->alone && !s->opt.tokens)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "listen on %s: others can reach this address, so --tokens is "
            "wanted, too",
            s->opt.listen);
    if (!st && !h->alone && !s->opt.tls_cert && !s->opt.behind_proxy)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "listen on %s: tokens would be read on the way: want --tls-cert "
            "and --tls-key, or --behind-proxy where a proxy does TLS",
            s->opt.listen);
    return st ? st : start_daemon(ctx, h);
}

void graphss_i_http_quiesce(graphss_i_http *h)
{
    pthread_mutex_lock(&h->lock);
    h->ending = true;
    pthread_mutex_unlock(&h->lock);
    (void)h->mhd.quiesce_daemon(h->daemon);
    wake_streams(h);
}

/* Waiting requests are told to come again. */
static void refuse_rest(graphss_server *s)
{
    pthread_mutex_lock(&s->lock);
    s->draining = true;
    graphss_i_job *list[] = {s->asked.first, s->events.first};
    s->asked = s->events = (graphss_i_queue){0};
    pthread_mutex_unlock(&s->lock);
    for (size_t i = 0; i < 2; i++)
        while (list[i]) {
            graphss_i_job *job = list[i];
            list[i] = job->next;
            if (!job->connection)
                continue; /* of a source, which is over */
            job->reply = (graphss_i_reply){.status = 503, .retry_after = 5};
            graphss_i_http_wake(s->http, job);
        }
}

void graphss_i_http_stop(graphss_ctx *ctx, graphss_server *s)
{
    graphss_i_http *h = s->http;
    if (!h)
        return;
    if (h->daemon) {
        const double until = graphss_i_seconds() + LAST_ANSWERS;
        refuse_rest(s);
        graphss_i_http_quiesce(h);
        for (bool active = true; active && graphss_i_seconds() < until;) {
            pthread_mutex_lock(&h->lock);
            active = h->n_active > 0;
            pthread_mutex_unlock(&h->lock);
            if (active)
                nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        }
        h->mhd.stop_daemon(h->daemon);
    }
    if (h->listener >= 0) {
        close(h->listener);
        graphss_i_unlisten(s->opt.listen);
    }
    graphss_i_text_destroy(&h->text);
    graphss_ctx_free(h->ctx);
    pthread_mutex_destroy(&h->lock);
    graphss_release(ctx, h->key);
    graphss_release(ctx, h->cert);
    graphss_release(ctx, h->slot);
    graphss_release(ctx, h->limits);
    graphss_i_mhd_close(&h->mhd);
    graphss_release(ctx, h);
    s->http = NULL;
}
