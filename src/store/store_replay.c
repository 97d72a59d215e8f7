/* store_replay.c - snapshots, and replaying the events after them. */
#include "store/store_private.h"
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PART = 64 << 20 }; /* bytes of a snapshot in one row: SQLite allows 1 GB */

graphss_status graphss_i_store_snapshot(
    graphss_ctx *ctx, graphss_store *s, const graphss_live *live)
{
    void *bytes = NULL;
    size_t n = 0;
    graphss_status st = graphss_live_save(ctx, &bytes, &n, live);
    if (!st)
        st =
            graphss_i_store_run(ctx, s, "delete from snapshot where batch = ?", "i", s->batch);
    for (size_t from = 0, part = 0; from < n && !st; from += PART, part++)
        st = graphss_i_store_run(ctx, s, "insert into snapshot values(?, ?, ?)", "iib",
            s->batch, (uint64_t)part, n - from < PART ? n - from : (size_t)PART,
            (const char *)bytes + from);
    graphss_release(ctx, bytes);
    return st;
}

/* Stores a snapshot and drops what the one before covers. t: NaN, or the time at which another
 * model takes over; that is a batch of its own, since states before it are of the old model.
 */
static graphss_status renew(graphss_ctx *ctx, graphss_store *s, const graphss_live *live,
    const char *what, const char *text, double t)
{
    static const char *const drop[] = {
        "delete from event where batch <= (select max(batch) from snapshot)",
        "delete from batch where id <= (select max(batch) from snapshot)",
        "delete from refused where batch <= (select max(batch) from snapshot)",
        "delete from snapshot where batch < (select max(batch) from snapshot)"};
    graphss_status st = graphss_i_store_run(ctx, s, "begin immediate", "");
    if (st)
        return st;
    const uint64_t before = s->batch;
    for (size_t i = 0; i < sizeof drop / sizeof *drop && !st; i++)
        st = graphss_i_store_run(ctx, s, drop[i], "");
    if (!st && !isnan(t)) {
        st = graphss_i_store_begin_batch(ctx, s, what, text, t);
        s->batch++;
    }
    if (!st)
        st = graphss_i_store_snapshot(ctx, s, live);
    if (!st)
        st = graphss_i_store_note(ctx, s, t, what, text);
    st = graphss_i_store_end(ctx, s, st);
    s->batch = st ? before : s->batch;
    s->behind = st ? s->behind : 0;
    return st;
}

graphss_status graphss_store_fold(graphss_ctx *ctx, graphss_store *s, const graphss_live *live)
{
    return GRAPHSS_I_LACKS(ctx, {"store", s}, {"live graph", live})
               ? GRAPHSS_ERR_INVALID
               : renew(ctx, s, live, "fold", NULL, NAN);
}

graphss_status graphss_store_adopt(
    graphss_ctx *ctx, graphss_store *s, const graphss_live *live, const char *what, double now)
{
    return GRAPHSS_I_LACKS(ctx, {"store", s}, {"live graph", live})
               ? GRAPHSS_ERR_INVALID
               : renew(ctx, s, live, "model", what, now);
}

const char graphss_i_store_ahead[] =
    "a time more than a day ahead of the clock, and a month ahead of the events before";

graphss_status graphss_i_store_parse(graphss_ctx *ctx, graphss_event *event, size_t *n_events,
    size_t *place, char **bad, const graphss_store_line *line, size_t n, double now,
    double stream)
{
    enum { DAY = 86400, MONTH = 30 * DAY };
    *n_events = 0;
    for (size_t i = 0; i < n; i++) {
        graphss_event *e = &event[*n_events];
        const graphss_status st = graphss_event_parse(ctx, e, line[i].text, line[i].n);
        if (st == GRAPHSS_ERR_DATA) {
            bad[i] = graphss_i_strdup(ctx, graphss_ctx_error(ctx));
            if (!bad[i])
                return GRAPHSS_ERR_NOMEM;
            continue;
        }
        if (st)
            return st;
        if (isnan(e->t))
            e->t = now;
        if (e->t > now + DAY && e->t > stream + MONTH) { /* false before the first event */
            graphss_event_destroy(ctx, e);
            bad[i] = graphss_i_strdup(ctx, graphss_i_store_ahead);
            if (!bad[i])
                return GRAPHSS_ERR_NOMEM;
            continue;
        }
        if (!(e->t <= stream))
            stream = e->t;
        place[(*n_events)++] = i;
    }
    return GRAPHSS_OK;
}

/* ---- playing again ---- */

static graphss_status load_snapshot(graphss_ctx *ctx, graphss_store *s, graphss_live **out,
    const graphss_model *model, uint64_t batch)
{
    graphss_i_query q = {0};
    char *bytes = NULL;
    size_t n = 0;
    graphss_status st = graphss_i_store_ask(
        ctx, s, &q, "select bytes from snapshot where batch = ? order by part", "i", batch);
    while (graphss_i_store_row(ctx, &q, &st)) {
        size_t more = 0;
        const char *part = graphss_i_store_bytes(&q, 0, &more);
        char *grown = graphss_i_grow(ctx, bytes, n, n + more, 1);
        if (!grown) {
            st = GRAPHSS_ERR_NOMEM;
            break;
        }
        bytes = grown;
        if (more)
            memcpy(bytes + n, part, more);
        n += more;
    }
    graphss_i_store_done(&q);
    if (!st)
        st = graphss_live_load(ctx, out, model, bytes ? bytes : "", n);
    graphss_release(ctx, bytes);
    return st;
}

/* Applies the lines of one batch. */
static graphss_status play_events(
    graphss_ctx *ctx, graphss_store *s, graphss_live *live, uint64_t batch, double now)
{
    graphss_i_query q = {0};
    graphss_event *event = NULL;
    size_t n = 0, room = 0;
    graphss_status st = graphss_i_store_ask(
        ctx, s, &q, "select line from event where batch = ? order by place", "i", batch);
    while (graphss_i_store_row(ctx, &q, &st)) {
        if (n == room) {
            const size_t more = 2 * room + 64;
            graphss_event *grown = graphss_i_grow(ctx, event, n, more, sizeof *grown);
            if (!grown) {
                st = GRAPHSS_ERR_NOMEM;
                break;
            }
            event = grown;
            room = more;
        }
        size_t n_line = 0;
        const char *line = graphss_i_store_bytes(&q, 0, &n_line);
        st = graphss_event_parse(ctx, &event[n], line ? line : "", n_line);
        if (!st && isnan(event[n].t))
            event[n].t = now;
        n += !st;
    }
    graphss_i_store_done(&q);
    if (!st)
        st = graphss_live_apply(ctx, live, event, n, NULL);
    for (size_t i = 0; i < n; i++)
        graphss_event_destroy(ctx, &event[i]);
    graphss_release(ctx, event);
    return st;
}

static graphss_status play_watch(graphss_ctx *ctx, graphss_live *live, const json_t *o)
{
    const json_t *list = json_object_get(o, "member");
    const size_t n = json_array_size(list);
    const char **member = graphss_i_alloc(ctx, n, sizeof *member);
    if (!member)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        member[i] = json_string_value(json_array_get(list, i));
        member[i] = member[i] ? member[i] : "";
    }
    const graphss_status st = graphss_live_watch(
        ctx, live, json_string_value(json_object_get(o, "group")), member, n);
    graphss_release(ctx, member);
    return st;
}

static graphss_status play(graphss_ctx *ctx, graphss_store *s, graphss_live *live,
    uint64_t batch, const char *what, const char *text, double t)
{
    if (!strcmp(what, "events"))
        return play_events(ctx, s, live, batch, t);
    if (!strcmp(what, "trust"))
        return graphss_live_trust(ctx, live);
    if (!strcmp(what, "advance"))
        return graphss_live_advance(ctx, live, t, NULL);
    json_t *o = text ? json_loads(text, 0, NULL) : NULL;
    graphss_status st =
        !strcmp(what, "watch") ? play_watch(ctx, live, o)
        : !strcmp(what, "settle")
            ? graphss_live_settle(ctx, live,
                  (uint64_t)json_integer_value(json_object_get(o, "alert")),
                  (graphss_alert_state)json_integer_value(json_object_get(o, "state")))
            : graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: batch %llu: what is '%s'?", s->name,
                  (unsigned long long)batch, what);
    json_decref(o);
    return st;
}

graphss_status graphss_i_store_state(graphss_ctx *ctx, graphss_store *s, graphss_live **out,
    const graphss_model *model, uint64_t until)
{
    graphss_i_query q = {0};
    graphss_live *live = NULL;
    uint64_t from = 0;
    bool found = false;
    const uint64_t before = until ? until : s->batch + 1;
    until = until ? until : s->batch;
    graphss_status st = graphss_i_store_ask(
        ctx, s, &q, "select max(batch) from snapshot where batch < ?", "i", before);
    if (graphss_i_store_row(ctx, &q, &st) && !graphss_i_store_null(&q, 0)) {
        found = true;
        from = graphss_i_store_int(&q, 0);
    }
    graphss_i_store_done(&q);
    if (!st && !found)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_NOT_FOUND, "%s: it has no snapshot from before", s->name);
    if (!st)
        st = load_snapshot(ctx, s, &live, model, from);
    if (!st)
        st = graphss_i_store_ask(ctx, s, &q,
            "select id, what, text, t from batch where id > ? and id <= ? order by id", "ii",
            from, until);
    while (graphss_i_store_row(ctx, &q, &st)) {
        st = play(ctx, s, live, graphss_i_store_int(&q, 0), graphss_i_store_text(&q, 1),
            graphss_i_store_text(&q, 2), graphss_i_store_real(&q, 3));
    }
    graphss_i_store_done(&q);
    if (st)
        graphss_live_free(ctx, live);
    else
        *out = live;
    return st;
}

graphss_status graphss_store_resume(
    graphss_ctx *ctx, graphss_store *s, graphss_live **out, const graphss_model *model)
{
    if (GRAPHSS_I_LACKS(
            ctx, {"store", s}, {"model", model}, {"place for the live graph", out}))
        return GRAPHSS_ERR_INVALID;
    bool again = false;
    graphss_status st = s->base->revive(ctx, s, &again);
    if (!st && again)
        st = graphss_i_store_measure(ctx, s);
    return st ? st : graphss_i_store_state(ctx, s, out, model, 0);
}

/* ---- verdicts ---- */

static bool same(double a, double b)
{
    return !memcmp(&a, &b, sizeof a);
}

graphss_status graphss_store_replay(
    graphss_ctx *ctx, graphss_store *s, bool *out, const graphss_model *model, uint64_t alert)
{
    if (GRAPHSS_I_LACKS(ctx, {"store", s}, {"model", model}, {"place for the answer", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_i_query q = {0};
    graphss_live *live = NULL;
    char *suspects = NULL;
    graphss_status st = graphss_i_store_ask(ctx, s, &q,
        "select batch, e_value, threshold, p_value, "
        "judged, suspects, t from alert where id = ?",
        "i", alert);
    const bool row = graphss_i_store_row(ctx, &q, &st);
    if (!st && !row)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_NOT_FOUND, "%s: no alert %llu", s->name,
            (unsigned long long)alert);
    if (!st) {
        const uint64_t batch = graphss_i_store_int(&q, 0);
        st = graphss_i_store_state(ctx, s, &live, model, batch);
        if (st == GRAPHSS_ERR_NOT_FOUND)
            st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "%s: the events of alert %llu were folded into a snapshot", s->name,
                (unsigned long long)alert);
    }
    graphss_live_status now = {0};
    if (!st) {
        graphss_live_status_get(live, &now);
        if (alert <= now.n_alerts)
            st = graphss_i_store_suspects(ctx, &suspects, live, (size_t)alert - 1);
    }
    if (!st) {
        graphss_live_alert a = {0};
        if (suspects)
            graphss_live_alert_get(live, &a, (size_t)alert - 1);
        *out = suspects && same(a.e_value, graphss_i_store_real(&q, 1)) &&
               same(a.threshold, graphss_i_store_real(&q, 2)) &&
               same(a.p_value, graphss_i_store_real(&q, 3)) &&
               a.judged == graphss_i_store_int(&q, 4) &&
               !strcmp(suspects, graphss_i_store_text(&q, 5)) &&
               same(a.t, graphss_i_store_real(&q, 6));
    }
    graphss_i_store_done(&q);
    graphss_release(ctx, suspects);
    graphss_live_free(ctx, live);
    return st;
}
