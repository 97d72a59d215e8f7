/* queue.c - jobs between the threads, and the memory they carry. Bounded: a job that does not
 * fit is refused at once, with the time to try again. */
#include "serve/serve_private.h"
#include <string.h>
#include <time.h>

enum { ASKED_MOST = 4096 }; /* questions that wait */

void *graphss_i_shared_alloc(graphss_server *s, size_t count, size_t size)
{
    pthread_mutex_lock(&s->lock);
    void *block = graphss_i_calloc(s->shared, count, size);
    pthread_mutex_unlock(&s->lock);
    return block;
}

void *graphss_i_shared_grow(
    graphss_server *s, void *block, size_t old_count, size_t count, size_t size)
{
    pthread_mutex_lock(&s->lock);
    void *grown = graphss_i_grow(s->shared, block, old_count, count, size);
    pthread_mutex_unlock(&s->lock);
    return grown;
}

void graphss_i_shared_release(graphss_server *s, void *block)
{
    if (!block)
        return;
    pthread_mutex_lock(&s->lock);
    graphss_release(s->shared, block);
    pthread_mutex_unlock(&s->lock);
}

graphss_i_job *graphss_i_job_new(graphss_server *s)
{
    return graphss_i_shared_alloc(s, 1, sizeof(graphss_i_job));
}

void graphss_i_job_free(graphss_server *s, graphss_i_job *job)
{
    if (!job)
        return;
    pthread_mutex_lock(&s->lock);
    graphss_release(s->shared, job->target);
    graphss_release(s->shared, job->body);
    graphss_release(s->shared, job->line);
    graphss_release(s->shared, job->refusal);
    graphss_release(s->shared, job->text);
    graphss_release(s->shared, job);
    pthread_mutex_unlock(&s->lock);
}

int graphss_i_job_lines(graphss_server *s, graphss_i_job *job)
{
    const char *line;
    size_t n, at = 0, count = 0;
    while (graphss_i_line_next(&line, &n, job->body, job->n_body, &at))
        count++;
    if (count == 0)
        return 400;
    if (count > (size_t)s->opt.queue)
        return 413;
    job->line = graphss_i_shared_alloc(s, count, sizeof *job->line);
    if (!job->line)
        return 503;
    at = 0;
    while (graphss_i_line_next(&line, &n, job->body, job->n_body, &at))
        job->line[job->n_lines++] = (graphss_store_line){line, n};
    return 0;
}

static void append(graphss_i_queue *q, graphss_i_job *job)
{
    job->next = NULL;
    if (!q->first)
        q->last = &q->first;
    *q->last = job;
    q->last = &job->next;
    q->n++;
}

int graphss_i_push(graphss_server *s, graphss_i_job *job)
{
    const bool events = job->request.ask == GRAPHSS_I_ASK_EVENTS;
    int refused = 0;
    pthread_mutex_lock(&s->lock);
    if (s->draining)
        refused = 503;
    else if (events ? s->n_lines && s->n_lines + job->n_lines > (size_t)s->opt.queue
                    : s->asked.n >= ASKED_MOST)
        refused = 429;
    if (refused == 429)
        s->counts.busy++;
    if (!refused) {
        job->since = graphss_i_seconds();
        s->n_lines += job->n_lines;
        append(events ? &s->events : &s->asked, job);
        pthread_cond_signal(&s->work);
    }
    pthread_mutex_unlock(&s->lock);
    return refused;
}

graphss_i_job *graphss_i_take(graphss_server *s, double seconds, bool *events)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(seconds * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&s->lock);
    if (seconds > 0 && !s->stop && !s->asked.first && !(s->events.first && *events))
        while (!s->asked.first && !(s->events.first && *events))
            if (pthread_cond_timedwait(&s->work, &s->lock, &until) != 0)
                break;
    graphss_i_job *list = s->asked.first;
    s->asked = (graphss_i_queue){0};
    *events = s->events.first != NULL;
    s->beat = graphss_i_seconds();
    pthread_mutex_unlock(&s->lock);
    return list;
}

size_t graphss_i_events_gather(
    graphss_server *s, graphss_i_segment *out, size_t most, size_t lines)
{
    size_t n = 0;
    pthread_mutex_lock(&s->lock);
    for (graphss_i_job *job = s->events.first; job && n < most && lines; job = job->next) {
        const size_t left = job->n_lines - job->n_done;
        /* A batch of a source has its offset, and is taken whole and alone. */
        if (n && (job->source || out[0].job->source))
            break;
        out[n++] =
            (graphss_i_segment){job, job->n_done, job->source || left < lines ? left : lines};
        lines -= left < lines ? left : lines;
    }
    pthread_mutex_unlock(&s->lock);
    return n;
}

graphss_i_job *graphss_i_events_done(graphss_server *s, const graphss_i_segment *segment)
{
    graphss_i_job *job = segment->job;
    pthread_mutex_lock(&s->lock);
    s->n_lines -= segment->n;
    job->n_done += segment->n;
    const bool over = job->n_done == job->n_lines;
    if (over) {
        s->events.first = job->next;
        s->events.n--;
    }
    pthread_cond_broadcast(&s->done);
    pthread_mutex_unlock(&s->lock);
    return over ? job : NULL;
}

void graphss_i_finish(graphss_server *s, graphss_i_job *job)
{
    if (job->connection) {
        graphss_i_http_wake(s->http, job);
        return;
    }
    pthread_mutex_lock(&s->lock);
    job->done = true;
    pthread_cond_broadcast(&s->done);
    pthread_mutex_unlock(&s->lock);
}
