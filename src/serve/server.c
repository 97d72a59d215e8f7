/* server.c - options of the server, and its beginning and end. */
#include "serve/serve_private.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

#define FIELD(name) offsetof(graphss_serve_options, name)
static const graphss_option table[] = {
    {"listen", GRAPHSS_OPTION_STRING, FIELD(listen), 0, 0, NULL, "ADDRESS",
        "where it listens: ADDRESS:PORT, port 0 for any, or unix:PATH", 0},
    {"tokens", GRAPHSS_OPTION_STRING, FIELD(tokens), 0, 0, NULL, "FILE",
        "who may ask: a file of hashed tokens (--new-token)", 0},
    {"tls-cert", GRAPHSS_OPTION_STRING, FIELD(tls_cert), 0, 0, NULL, "FILE",
        "certificate and chain, PEM", 0},
    {"tls-key", GRAPHSS_OPTION_STRING, FIELD(tls_key), 0, 0, NULL, "FILE",
        "its private key, PEM", 0},
    {"behind-proxy", GRAPHSS_OPTION_BOOL, FIELD(behind_proxy), 0, 0, NULL, NULL,
        "a proxy in front does TLS", 0},
    {"host", GRAPHSS_OPTION_STRING, FIELD(host), 0, 0, NULL, "NAMES",
        "names it is called by besides localhost, with commas between", 0},
    {"batch", GRAPHSS_OPTION_INT, FIELD(batch), 1, 100000, NULL, "N",
        "most events applied at once", 0},
    {"queue", GRAPHSS_OPTION_INT, FIELD(queue), 1, 1e8, NULL, "N",
        "most events that wait; beyond, requests are refused with 429", 0},
    {"body", GRAPHSS_OPTION_INT, FIELD(body), 1024, 1073741824.0, NULL, "BYTES",
        "largest body of a request", 0},
    {"connections", GRAPHSS_OPTION_INT, FIELD(connections), 2, 100000, NULL, "N",
        "connections at once", 0},
    {"connections-each", GRAPHSS_OPTION_INT, FIELD(connections_each), 1, 100000, NULL, "N",
        "of them from one address", 0},
    {"rate", GRAPHSS_OPTION_INT, FIELD(rate), 0, 1e9, NULL, "N",
        "requests a second from one address; 0: any number", 0},
    {"request-time", GRAPHSS_OPTION_REAL, FIELD(wait), 0.5, 3600, NULL, "SECONDS",
        "time a request may take to arrive", 0},
    {0},
};
#undef FIELD

const graphss_option *graphss_serve_options_table(void)
{
    return table;
}

void graphss_serve_options_init(graphss_serve_options *opt)
{
    *opt = (graphss_serve_options){.struct_size = sizeof *opt,
        .listen = "127.0.0.1:8321",
        .batch = 1000,
        .queue = 50000,
        .body = 4 << 20,
        .connections = 512,
        .connections_each = 256,
        .rate = 20000,
        .wait = 15};
}

static graphss_status copy_texts(graphss_ctx *ctx, graphss_serve_options *opt)
{
    const char **const text[] = {&opt->listen, &opt->tokens, &opt->tls_cert, &opt->tls_key,
        &opt->host, &opt->tell.webhook, &opt->tell.secret, &opt->tell.alertmanager,
        &opt->tell.link, &opt->model_file};
    const size_t n = sizeof text / sizeof *text;
    for (size_t i = 0; i < n; i++) {
        const char *given = *text[i];
        *text[i] = given ? graphss_i_strdup(ctx, given) : NULL;
        if (given && !*text[i]) {
            for (size_t j = i + 1; j < n; j++)
                *text[j] = NULL;
            return GRAPHSS_ERR_NOMEM;
        }
    }
    return GRAPHSS_OK;
}

static void release_texts(graphss_ctx *ctx, graphss_serve_options *opt)
{
    const char *const text[] = {opt->listen, opt->tokens, opt->tls_cert, opt->tls_key,
        opt->host, opt->tell.webhook, opt->tell.secret, opt->tell.alertmanager, opt->tell.link,
        opt->model_file};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        void *block = NULL;
        memcpy(&block, &text[i], sizeof block);
        graphss_release(ctx, block);
    }
}

static graphss_status start(
    graphss_ctx *ctx, graphss_server *s, const graphss_serve_options *opt)
{
    graphss_serve_options taken = *opt;
    pthread_condattr_t clock;
    const graphss_ctx_options own = {.struct_size = sizeof own, .threads = 1};
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&s->work, &clock);
    pthread_cond_init(&s->done, NULL);
    pthread_condattr_destroy(&clock);
    graphss_status st = copy_texts(ctx, &taken);
    s->opt = taken;
    s->view.at = NAN;
    s->view.model_loaded = graphss_i_wall();
    s->recent_at = (int64_t)graphss_i_seconds();
    snprintf(s->view.model_type, sizeof s->view.model_type, "%s",
        graphss_model_options(s->model)->model);
    if (!st)
        st = graphss_options_check(ctx, &s->opt, table);
    if (!st && !s->opt.listen)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "listen: want an address");
    if (!st && !s->opt.tls_cert != !s->opt.tls_key)
        st = graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "--tls-cert and --tls-key: want both or neither");
    if (!st && s->opt.n_sources > GRAPHSS_SERVE_SOURCES)
        st = graphss_i_fail(
            ctx, GRAPHSS_ERR_LIMIT, "more than %d sources", (int)GRAPHSS_SERVE_SOURCES);
    if (!st && !graphss_i_random(s->secret, sizeof s->secret))
        st = graphss_i_fail(ctx, GRAPHSS_ERR_IO, "the system has no random bytes");
    if (!st && s->opt.tokens)
        st = graphss_i_tokens_read(ctx, &s->tokens, s->opt.tokens);
    if (!st) {
        s->shared = graphss_ctx_new(&own);
        st = s->shared ? graphss_i_http_start(ctx, s) : graphss_i_nomem(ctx, 0);
    }
    return st;
}

graphss_status graphss_server_new(graphss_ctx *ctx, graphss_server **out, graphss_store *store,
    graphss_model *model, graphss_live *live, const graphss_serve_options *given)
{
    graphss_serve_options opt;
    graphss_serve_options_init(&opt);
    graphss_server *s = NULL;
    graphss_status st = GRAPHSS_I_LACKS(ctx, {"place for the server", out}, {"store", store},
                            {"model", model}, {"live graph", live})
                            ? GRAPHSS_ERR_INVALID
                            : GRAPHSS_I_TAKE(ctx, graphss_serve_options, &opt, given);
    if (!st) {
        s = graphss_i_calloc(ctx, 1, sizeof *s);
        st = s ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    }
    if (st) {
        graphss_live_free(ctx, live);
        graphss_model_free(ctx, model);
        return st;
    }
    s->store = store;
    s->model = model;
    s->live = live;
    st = start(ctx, s, &opt);
    if (st)
        graphss_server_free(ctx, s);
    else
        *out = s;
    return st;
}

/* ---- reading again ---- */

void graphss_server_reload(graphss_server *s)
{
    if (s)
        atomic_store(&s->reload, true);
}

/* The lock, because the reading thread looks up tokens, too. */
static void reload_tokens(graphss_ctx *ctx, graphss_server *s)
{
    graphss_i_tokens fresh;
    if (!s->opt.tokens)
        return;
    if (graphss_i_tokens_read(ctx, &fresh, s->opt.tokens) != GRAPHSS_OK) {
        graphss_i_log(
            ctx, GRAPHSS_LOG_WARN, "the tokens stay as they were: %s", graphss_ctx_error(ctx));
        return;
    }
    pthread_mutex_lock(&s->lock);
    graphss_i_tokens old = s->tokens;
    s->tokens = fresh;
    pthread_mutex_unlock(&s->lock);
    graphss_i_tokens_destroy(ctx, &old);
}

static void use_model(
    graphss_ctx *ctx, graphss_server *s, graphss_model *model, graphss_live *live)
{
    graphss_live_free(ctx, s->live);
    graphss_model_free(ctx, s->model);
    s->model = model;
    s->live = live;
    s->dirty = true;
    s->published = 0;
    pthread_mutex_lock(&s->lock);
    s->view.model_loaded = graphss_i_wall();
    snprintf(s->view.model_type, sizeof s->view.model_type, "%s",
        graphss_model_options(model)->model);
    pthread_mutex_unlock(&s->lock);
    graphss_i_log(
        ctx, GRAPHSS_LOG_NOTICE, "the model of %s has taken over", s->opt.model_file);
}

static void reload_model(graphss_ctx *ctx, graphss_server *s)
{
    graphss_live_status now;
    graphss_live_status_get(s->live, &now);
    if (now.open_alerts)
        return; /* it is still due */
    char old[65], new[65];
    graphss_model *model = NULL;
    graphss_live *live = NULL;
    s->model_due = false;
    graphss_status st = graphss_model_load(ctx, &model, s->opt.model_file);
    graphss_model_fingerprint(old, s->model);
    if (!st)
        graphss_model_fingerprint(new, model);
    if (!st && !strcmp(old, new)) {
        graphss_model_free(ctx, model);
        return;
    }
    if (!st)
        st = graphss_live_adopt(ctx, &live, model, s->live);
    if (!st)
        st = graphss_store_adopt(ctx, s->store, live, new, graphss_i_wall());
    if (!st) {
        use_model(ctx, s, model, live);
        return;
    }
    graphss_i_log(
        ctx, GRAPHSS_LOG_WARN, "the model stays as it was: %s", graphss_ctx_error(ctx));
    graphss_live_free(ctx, live);
    graphss_model_free(ctx, model);
}

void graphss_i_reload(graphss_ctx *ctx, graphss_server *s)
{
    if (atomic_exchange(&s->reload, false)) {
        reload_tokens(ctx, s);
        s->model_due = s->opt.model_file != NULL;
        graphss_live_status now = {0};
        if (s->live)
            graphss_live_status_get(s->live, &now);
        if (s->model_due && now.open_alerts)
            graphss_i_log(ctx, GRAPHSS_LOG_WARN,
                "an alert is open: the model is read once it is settled");
    }
    if (s->model_due && s->live)
        reload_model(ctx, s);
}

const char *graphss_server_address(const graphss_server *s)
{
    return s->address;
}

void graphss_server_free(graphss_ctx *ctx, graphss_server *s)
{
    if (!s)
        return;
    graphss_i_feeds_stop(ctx, s);
    graphss_i_http_stop(ctx, s);
    graphss_i_sender_stop(s);
    graphss_i_tokens_destroy(ctx, &s->tokens);
    graphss_live_free(ctx, s->live);
    graphss_model_free(ctx, s->model);
    graphss_ctx_free(s->shared);
    release_texts(ctx, &s->opt);
    graphss_release(ctx, s->address);
    pthread_cond_destroy(&s->work);
    pthread_cond_destroy(&s->done);
    pthread_mutex_destroy(&s->lock);
    graphss_release(ctx, s);
}
