/* sender.c - a thread that sends alerts out: webhooks, Alertmanager. It has its own connection
 * to the store, so that a slow or dead receiver delays neither events nor queries. Unsent
 * messages stay in the outbox when the server ends. */
#include "serve/serve_private.h"
#include <errno.h>
#include <string.h>
#include <time.h>

enum { LOOK = 1 }; /* seconds between two checks of the outbox */

/* For the sender's context: a request is aborted when the server ends. */
static bool goes_on(void *user, const char *stage, size_t done, size_t total, const char *note)
{
    graphss_server *s = user;
    (void)stage;
    (void)done;
    (void)total;
    (void)note;
    pthread_mutex_lock(&s->lock);
    const bool yes = !s->sender.stop;
    pthread_mutex_unlock(&s->lock);
    return yes;
}

static void *run(void *arg)
{
    graphss_server *s = arg;
    graphss_i_sender *me = &s->sender;
    for (bool over = false; !over;) {
        char trouble[GRAPHSS_STORE_TROUBLE] = "";
        size_t sent = 0, unsent = 0;
        const double now = graphss_i_wall();
        graphss_status st =
            graphss_store_send(me->ctx, me->store, &sent, trouble, &s->opt.tell, now);
        const graphss_status counted = graphss_store_unsent(me->ctx, me->store, &unsent);
        if (st && st != GRAPHSS_ERR_CANCELLED)
            snprintf(trouble, sizeof trouble, "%s", graphss_ctx_error(me->ctx));
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += LOOK;
        pthread_mutex_lock(&s->lock);
        me->sent += sent;
        if (!counted)
            me->unsent = unsent;
        if (strcmp(trouble, me->trouble) != 0) {
            snprintf(me->trouble, sizeof me->trouble, "%s", trouble);
            me->news = true;
        }
        int waited = 0;
        while (!me->stop && waited != ETIMEDOUT)
            waited = pthread_cond_timedwait(&me->wake, &s->lock, &until);
        over = me->stop;
        pthread_mutex_unlock(&s->lock);
    }
    return NULL;
}

graphss_status graphss_i_sender_start(graphss_ctx *ctx, graphss_server *s)
{
    graphss_i_sender *me = &s->sender;
    const graphss_ctx_options opt = {
        .struct_size = sizeof opt, .threads = 1, .progress = goes_on, .user = s};
    pthread_condattr_t clock;
    if (!s->opt.tell.webhook && !s->opt.tell.alertmanager)
        return GRAPHSS_OK;
    me->ctx = graphss_ctx_new(&opt);
    if (!me->ctx)
        return graphss_i_nomem(ctx, 0);
    graphss_status st = graphss_store_open(
        me->ctx, &me->store, graphss_store_path(s->store), GRAPHSS_STORE_OUTBOX);
    if (st)
        return graphss_i_fail(ctx, st, "%s", graphss_ctx_error(me->ctx));
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&me->wake, &clock);
    pthread_condattr_destroy(&clock);
    pthread_mutex_lock(&s->lock); /* it looks at `started` no earlier than we say so */
    me->started = pthread_create(&me->thread, NULL, run, s) == 0;
    pthread_mutex_unlock(&s->lock);
    if (me->started)
        return GRAPHSS_OK;
    pthread_cond_destroy(&me->wake);
    return graphss_i_fail(ctx, GRAPHSS_ERR_IO, "no thread to send alerts out");
}

void graphss_i_sender_report(graphss_ctx *ctx, graphss_server *s)
{
    char trouble[GRAPHSS_STORE_TROUBLE];
    pthread_mutex_lock(&s->lock);
    const bool news = s->sender.news;
    s->sender.news = false;
    memcpy(trouble, s->sender.trouble, sizeof trouble);
    pthread_mutex_unlock(&s->lock);
    if (news && trouble[0])
        graphss_i_log(ctx, GRAPHSS_LOG_WARN, "alerts wait: %s; it is tried again", trouble);
    else if (news)
        graphss_i_log(ctx, GRAPHSS_LOG_INFO, "alerts leave again");
}

void graphss_i_sender_stop(graphss_server *s)
{
    graphss_i_sender *me = &s->sender;
    if (me->started) {
        pthread_mutex_lock(&s->lock);
        me->stop = true;
        pthread_cond_signal(&me->wake);
        pthread_mutex_unlock(&s->lock);
        pthread_join(me->thread, NULL);
        pthread_cond_destroy(&me->wake);
    }
    if (me->ctx)
        graphss_store_close(me->ctx, me->store);
    graphss_ctx_free(me->ctx);
    *me = (graphss_i_sender){0};
}
