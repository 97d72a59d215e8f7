/* feeds.c - further sources of events: a thread each, which reads lines, hands them to the
 * queue as a batch with the source's offset, and waits until they are stored. A source that is
 * faster than the engine thus waits, and reads on from its offset after any end. */
#include "serve/serve_private.h"
#include <string.h>

static const double FILL = 0.05; /* seconds a batch may take to fill once it has a line */
static const double LOOK = 0.2;  /* and between two checks whether it should end */

static bool over(graphss_i_feed *f)
{
    pthread_mutex_lock(&f->server->lock);
    const bool yes = f->server->draining;
    pthread_mutex_unlock(&f->server->lock);
    return yes;
}

/* Lines of the source into the body of a job; a transaction is not divided. *end: there will
 * be none. */
static graphss_status fill(graphss_i_feed *f, graphss_i_job *job, bool *end)
{
    double until = graphss_i_seconds() + LOOK;
    const size_t most = (size_t)f->server->opt.batch;
    graphss_i_text t = {.ctx = f->ctx};
    graphss_status st = GRAPHSS_OK;
    bool part = false;
    for (size_t n_lines = 0; (n_lines < most || part) && !st;) {
        graphss_event_next what;
        const char *line;
        size_t n;
        const double left = until - graphss_i_seconds();
        st = graphss_event_source_next(
            f->ctx, &what, &line, &n, &job->offset, f->source, left > 0 ? left : 0);
        if (st)
            break;
        *end = what == GRAPHSS_EVENT_END;
        if (what != GRAPHSS_EVENT_LINE && what != GRAPHSS_EVENT_PART) {
            if (*end || graphss_i_seconds() >= until)
                break;
            continue;
        }
        part = what == GRAPHSS_EVENT_PART;
        if (n == 0)
            continue;
        if (n_lines++ == 0)
            until = graphss_i_seconds() + FILL;
        graphss_i_text_put(&t, line, n);
        graphss_i_text_put(&t, "\n", 1);
        if (t.n > GRAPHSS_EVENT_BYTES && !part)
            break;
    }
    if (!st && t.failed)
        st = GRAPHSS_ERR_NOMEM;
    if (!st && t.n) {
        job->body = graphss_i_shared_alloc(f->server, t.n, 1);
        if (job->body) {
            memcpy(job->body, t.at, t.n);
            job->n_body = t.n;
        }
        if (!job->body || graphss_i_job_lines(f->server, job) != 0)
            st = GRAPHSS_ERR_NOMEM;
    }
    graphss_i_text_destroy(&t);
    return st;
}

/* False: the server ends, and nothing of the job was stored. */
static bool hand_over(graphss_i_feed *f, graphss_i_job *job)
{
    graphss_server *s = f->server;
    for (;;) {
        const int refused = graphss_i_push(s, job);
        if (refused == 503)
            return false;
        pthread_mutex_lock(&s->lock);
        if (refused)
            pthread_cond_wait(&s->done, &s->lock);
        while (!refused && !job->done)
            pthread_cond_wait(&s->done, &s->lock);
        pthread_mutex_unlock(&s->lock);
        if (!refused)
            return true;
    }
}

static void *run(void *arg)
{
    graphss_i_feed *f = arg;
    bool end = false;
    graphss_status st = GRAPHSS_OK;
    while (!end && !st && !over(f)) {
        graphss_i_job *job = graphss_i_job_new(f->server);
        if (!job) {
            st = GRAPHSS_ERR_NOMEM;
            break;
        }
        job->request.ask = GRAPHSS_I_ASK_EVENTS;
        job->source = graphss_event_source_name(f->source);
        st = fill(f, job, &end);
        const size_t lines = job->n_lines;
        const bool stored = !st && lines && hand_over(f, job);
        if (stored)
            st = graphss_event_source_stored(f->ctx, f->source, job->offset);
        graphss_i_job_free(f->server, job);
        if (!st && lines && !stored)
            break;
        pthread_mutex_lock(&f->server->lock);
        f->lines += lines;
        pthread_mutex_unlock(&f->server->lock);
    }
    pthread_mutex_lock(&f->server->lock);
    f->status = st;
    f->over = true;
    if (st)
        snprintf(f->error, sizeof f->error, "%s", graphss_ctx_error(f->ctx));
    pthread_mutex_unlock(&f->server->lock);
    return NULL;
}

graphss_status graphss_i_feeds_start(graphss_ctx *ctx, graphss_server *s)
{
    for (size_t i = 0; i < s->opt.n_sources; i++) {
        graphss_i_feed *f = &s->feed[i];
        const graphss_ctx_options opt = {.struct_size = sizeof opt, .threads = 1};
        uint64_t offset = 0;
        *f = (graphss_i_feed){.server = s, .source = s->opt.source[i]};
        f->ctx = graphss_ctx_new(&opt);
        if (!f->ctx)
            return graphss_i_nomem(ctx, 0);
        graphss_status st =
            graphss_store_offset(ctx, &offset, s->store, graphss_event_source_name(f->source));
        if (!st)
            st = graphss_live_follow(ctx, s->live, f->source, offset);
        if (!st && pthread_create(&f->thread, NULL, run, f) != 0)
            st = graphss_i_fail(ctx, GRAPHSS_ERR_IO, "%s: no thread to read it",
                graphss_event_source_name(f->source));
        f->started = !st;
        s->n_feeds = i + 1;
        if (st)
            return st;
    }
    return GRAPHSS_OK;
}

void graphss_i_feeds_stop(graphss_ctx *ctx, graphss_server *s)
{
    (void)ctx;
    pthread_mutex_lock(&s->lock);
    s->draining = true;
    for (graphss_i_job *job = s->events.first; job; job = job->next)
        job->done = job->done || job->source; /* it keeps its place */
    pthread_cond_broadcast(&s->done);
    pthread_mutex_unlock(&s->lock);
    for (size_t i = 0; i < s->n_feeds; i++) {
        if (s->feed[i].started)
            pthread_join(s->feed[i].thread, NULL);
        graphss_ctx_free(s->feed[i].ctx);
    }
    s->n_feeds = 0;
}
