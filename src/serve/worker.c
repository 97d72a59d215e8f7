/* worker.c - the engine's thread: queries in turn, events in batches, and timers. Events of
 * all waiting requests go into one batch, so that one transaction of the store serves them
 * all; a query waits for at most one batch. */
#include "serve/serve_private.h"
#include <math.h>
#include <string.h>
#include <time.h>

const double graphss_i_bucket[GRAPHSS_I_BUCKETS] = {
    0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1};
enum { SEGMENTS = 1024 };
static const double ROUND = 0.2;     /* seconds the loop waits for work at most */
static const double PUBLISH = 0.1;   /* between two publications of what changed */
static const double LISTEN = 1;      /* and between two messages to watching clients */
static const double PAUSE_MOST = 30; /* between two tries of a store that fails */

double graphss_i_wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void graphss_i_histogram_add(graphss_i_histogram *h, double seconds)
{
    size_t i = 0;
    while (i < GRAPHSS_I_BUCKETS && seconds > graphss_i_bucket[i])
        i++;
    h->count[i]++;
    h->sum += seconds;
}

/* ---- state published for other threads ---- */

static void publish(graphss_server *s, bool always)
{
    const double t = graphss_i_seconds();
    if (!always && (!s->dirty || t < s->published + PUBLISH))
        return;
    s->published = t;
    double rate = 0;
    for (size_t i = 0; i < 60; i++)
        rate += s->recent[i] / 60;
    pthread_mutex_lock(&s->lock);
    s->view.ready = s->live && !s->draining;
    s->view.rate = rate;
    if (s->live) {
        uint64_t states[4] = {0};
        graphss_live_status_get(s->live, &s->view.status);
        graphss_live_group_get(s->live, &s->view.all, 0);
        s->view.all.name = NULL;
        for (size_t i = 0; i < s->view.status.n_alerts; i++) {
            graphss_live_alert a;
            graphss_live_alert_get(s->live, &a, i);
            states[a.state]++;
        }
        memcpy(s->view.alerts_by_state, states, sizeof states);
    }
    pthread_mutex_unlock(&s->lock);
    if (s->dirty && t >= s->listened + LISTEN) {
        s->listened = t;
        s->dirty = false;
        pthread_mutex_lock(&s->lock);
        s->version++;
        pthread_mutex_unlock(&s->lock);
        graphss_i_http_changed(s->http);
    }
}

/* Forgets the seconds of the last minute that are over. */
static void count_recent(graphss_server *s, double events)
{
    const int64_t now = (int64_t)graphss_i_seconds();
    for (int64_t t = now - s->recent_at > 60 ? now - 60 : s->recent_at; t < now; t++)
        s->recent[(t + 1) % 60] = 0;
    s->recent_at = now;
    s->recent[now % 60] += events;
}

/* ---- events ---- */

static void refuse(graphss_server *s, const graphss_i_segment *segment, size_t n, size_t at,
    const char *reason)
{
    size_t i = 0;
    while (i + 1 < n && at >= segment[i].n)
        at -= segment[i++].n;
    graphss_i_job *job = segment[i].job;
    if (!job->refusal)
        job->refusal =
            graphss_i_shared_alloc(s, GRAPHSS_I_REFUSED_SHOWN, sizeof *job->refusal);
    if (job->refusal && job->n_refused < GRAPHSS_I_REFUSED_SHOWN) {
        graphss_i_refusal *r = &job->refusal[job->n_refused];
        r->line = segment[i].from + at + 1;
        snprintf(r->reason, sizeof r->reason, "%s", reason);
    }
    job->n_refused++;
}

/* Lines that are no events are parsed again, for the reason. */
static void refuse_unreadable(graphss_ctx *ctx, graphss_server *s,
    const graphss_i_segment *segment, size_t n, const graphss_store_line *line, size_t n_lines)
{
    for (size_t i = 0; i < n_lines; i++) {
        graphss_event e = {0};
        if (graphss_event_parse(ctx, &e, line[i].text, line[i].n) == GRAPHSS_ERR_DATA)
            refuse(s, segment, n, i, graphss_ctx_error(ctx));
        graphss_event_destroy(ctx, &e);
    }
}

/* The job is answered: its text is kept with it. */
static void answered(
    graphss_server *s, graphss_i_job *job, graphss_i_text *t, graphss_i_reply reply)
{
    if (!t->failed && t->n) {
        job->text = graphss_i_shared_alloc(s, t->n + 1, 1);
        if (job->text)
            memcpy(job->text, t->at, t->n + 1);
    }
    if (t->failed || (t->n && !job->text))
        reply = (graphss_i_reply){.status = 503, .retry_after = 1};
    reply.text = job->text;
    reply.n = job->text ? t->n : 0;
    job->reply = reply;
    graphss_i_finish(s, job);
}

/* The live graph may be ahead of the store: it is loaded again, a while later. */
static void give_up(graphss_ctx *ctx, graphss_server *s, const graphss_i_segment *segment,
    size_t n, graphss_i_text *t)
{
    char why[256];
    snprintf(why, sizeof why, "%s", graphss_ctx_error(ctx));
    graphss_i_log(ctx, GRAPHSS_LOG_WARN,
        "what came could not be stored, the state on the disk is taken: %s", why);
    graphss_live_free(ctx, s->live);
    s->live = NULL;
    s->pause = s->pause > 0 ? fmin(2 * s->pause, PAUSE_MOST) : 0.5;
    s->retry = graphss_i_seconds() + s->pause;
    s->dirty = true;
    pthread_mutex_lock(&s->lock);
    s->counts.store_failures++;
    s->view.ready = false;
    snprintf(s->view.error, sizeof s->view.error, "%s", why);
    pthread_mutex_unlock(&s->lock);
    /* Clients over HTTP are told to try again; a source keeps its position. */
    for (size_t i = 0; i < n; i++) {
        graphss_i_segment all = segment[i];
        if (all.job->source)
            continue;
        all.n = all.job->n_lines - all.job->n_done;
        graphss_i_job *job = graphss_i_events_done(s, &all);
        graphss_i_text_clear(t);
        graphss_i_answer_error(t, "the store does not take it now; nothing of this that was "
                                  "not acknowledged is kept");
        if (job)
            answered(s, job, t,
                (graphss_i_reply){.status = 503,
                    .type = "application/json",
                    .retry_after = (int)ceil(s->pause)});
    }
}

static void put_events(graphss_ctx *ctx, graphss_server *s, graphss_i_text *t)
{
    graphss_i_segment segment[SEGMENTS];
    const size_t n = graphss_i_events_gather(s, segment, SEGMENTS, (size_t)s->opt.batch);
    size_t lines = 0, at = 0;
    graphss_live_batch did = {0};
    for (size_t i = 0; i < n; i++)
        lines += segment[i].n;
    if (n == 0)
        return;
    graphss_store_line *line = graphss_i_alloc(ctx, lines, sizeof *line);
    if (!line) {
        give_up(ctx, s, segment, n, t);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(line + at, segment[i].job->line + segment[i].from, segment[i].n * sizeof *line);
        at += segment[i].n;
    }
    const graphss_store_batch in = {.source = segment[0].job->source,
        .offset = segment[0].job->offset,
        .line = line,
        .n = lines,
        .now = graphss_i_wall()};
    const double began = graphss_i_seconds();
    const graphss_status st = graphss_store_put(ctx, s->store, s->live, &in, &did);
    const double took = graphss_i_seconds() - began;
    if (st) {
        give_up(ctx, s, segment, n, t);
        graphss_release(ctx, line);
        return;
    }
    s->pause = 0;
    for (size_t i = 0; i < did.n_refused; i++)
        refuse(s, segment, n, did.refused[i].event, did.refused[i].cause);
    if (did.unreadable)
        refuse_unreadable(ctx, s, segment, n, line, lines);
    s->last_event = graphss_i_seconds();
    s->dirty = true;
    count_recent(s, (double)lines);
    pthread_mutex_lock(&s->lock);
    graphss_i_counts *c = &s->counts;
    c->lines += lines;
    c->applied += did.applied;
    c->duplicates += did.duplicates;
    c->refused += did.n_refused;
    c->unreadable += did.unreadable;
    c->batches++;
    graphss_i_histogram_add(&c->apply, took);
    s->view.at = graphss_i_wall();
    pthread_mutex_unlock(&s->lock);
    for (size_t i = 0; i < n; i++) {
        graphss_i_job *job = graphss_i_events_done(s, &segment[i]);
        if (!job)
            continue;
        graphss_i_text_clear(t);
        graphss_i_answer_events(t, job);
        answered(s, job, t, (graphss_i_reply){.status = 202, .type = "application/json"});
    }
    if (did.n_alerts) {
        s->published = 0; /* at once */
        graphss_i_log(
            ctx, GRAPHSS_LOG_WARN, "alert %zu was raised", did.first_alert + did.n_alerts);
    }
    graphss_live_batch_destroy(ctx, &did);
    graphss_release(ctx, line);
}

/* ---- questions ---- */

static void answer_all(
    graphss_ctx *ctx, graphss_server *s, graphss_i_job *list, graphss_i_text *t)
{
    while (list) {
        graphss_i_job *job = list;
        list = list->next;
        graphss_i_text_clear(t);
        job->reply = (graphss_i_reply){.status = 200, .type = "application/json"};
        if (!s->live) {
            job->reply.status = 503;
            job->reply.retry_after = 1;
            graphss_i_answer_error(t, "the live graph is being loaded again");
        } else {
            const graphss_status st = graphss_i_answer(ctx, s, job, t);
            if (st) {
                /* The change may have been applied to the live graph without being stored. */
                const bool ahead =
                    graphss_i_route_of(job->request.ask)->role == GRAPHSS_I_ROLE_ADMIN &&
                    st != GRAPHSS_ERR_INVALID;
                graphss_i_text_clear(t);
                graphss_i_answer_error(t, graphss_ctx_error(ctx));
                if (ahead)
                    give_up(ctx, s, NULL, 0, NULL);
                job->reply = (graphss_i_reply){.status = ahead || st == GRAPHSS_ERR_NOMEM ? 503
                                                         : st == GRAPHSS_ERR_INVALID      ? 409
                                                                                     : 500,
                    .type = "application/json",
                    .retry_after = ahead                     ? (int)ceil(s->pause)
                                   : st == GRAPHSS_ERR_NOMEM ? 1
                                                             : 0};
            }
        }
        if (graphss_i_route_of(job->request.ask)->role == GRAPHSS_I_ROLE_ADMIN)
            s->published = 0; /* what it changed is seen at once */
        answered(s, job, t, job->reply);
    }
}

/* ---- timers ---- */

/* Time passes without events, too: tests become due, edges expire. The clock of the stream
 * continues from its last event, so that an old stream played again stays in its own time. */
static void let_time_pass(graphss_ctx *ctx, graphss_server *s)
{
    const double t = graphss_i_seconds(), every = 60;
    if (!s->live || s->last_event == 0 || t < s->last_event + every)
        return;
    graphss_live_status now;
    graphss_live_batch did = {0};
    graphss_live_status_get(s->live, &now);
    if (isnan(now.now))
        return;
    const graphss_status st =
        graphss_store_advance(ctx, s->store, s->live, now.now + t - s->last_event, &did);
    graphss_live_batch_destroy(ctx, &did);
    s->last_event = t;
    s->dirty = true;
    if (st)
        give_up(ctx, s, NULL, 0, NULL);
}

/* After a failure of the store: the state that is on the disk. */
static void come_back(graphss_ctx *ctx, graphss_server *s)
{
    if (s->live || graphss_i_seconds() < s->retry)
        return;
    if (graphss_store_resume(ctx, s->store, &s->live, s->model) != GRAPHSS_OK) {
        s->pause = fmin(2 * s->pause + 0.5, PAUSE_MOST);
        s->retry = graphss_i_seconds() + s->pause;
    }
    s->dirty = true;
}

static void sign_of_life(graphss_server *s)
{
    const double t = graphss_i_seconds();
    if (s->watchdog > 0 && t >= s->beaten + s->watchdog / 3) {
        s->beaten = t;
        graphss_i_notify("WATCHDOG=1");
    }
}

static bool asked_to_stop(graphss_ctx *ctx, graphss_server *s)
{
    pthread_mutex_lock(&s->lock);
    const bool stop = s->stop;
    const size_t applied = (size_t)s->counts.applied;
    pthread_mutex_unlock(&s->lock);
    return stop || graphss_i_progress(ctx, "serve", applied, 0, NULL) != GRAPHSS_OK;
}

void graphss_server_stop(graphss_server *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->lock);
}

graphss_status graphss_server_run(graphss_ctx *ctx, graphss_server *s)
{
    if (GRAPHSS_I_LACKS(ctx, {"server", s}))
        return GRAPHSS_ERR_INVALID;
    graphss_i_text t = {.ctx = ctx};
    graphss_status st = graphss_i_feeds_start(ctx, s);
    if (!st)
        st = graphss_i_sender_start(ctx, s);
    s->watchdog = graphss_i_notify_watchdog();
    s->dirty = true;
    publish(s, true);
    if (!st)
        graphss_i_notify("READY=1");
    for (bool ending = false; !st;) {
        bool events = s->live != NULL;
        graphss_i_job *asked = graphss_i_take(s, ending ? 0 : ROUND, &events);
        answer_all(ctx, s, asked, &t);
        if (events && s->live)
            put_events(ctx, s, &t);
        graphss_i_reload(ctx, s);
        let_time_pass(ctx, s);
        come_back(ctx, s);
        publish(s, false);
        graphss_i_sender_report(ctx, s);
        sign_of_life(s);
        graphss_i_http_tick(s->http);
        if (ending && !asked && (!events || !s->live))
            break;
        if (!ending && asked_to_stop(ctx, s)) {
            ending = true;
            graphss_i_notify("STOPPING=1");
            pthread_mutex_lock(&s->lock);
            s->draining = true;
            pthread_mutex_unlock(&s->lock);
            publish(s, true);
            graphss_i_http_quiesce(s->http);
        }
    }
    graphss_i_text_destroy(&t);
    return st;
}
