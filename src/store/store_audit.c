/* store_audit.c - alerts, the audit trail, the outbox, and the actions of people on a live
 * graph. */
#include "data/digest.h"
#include "store/store_private.h"
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the trail ---- */

static void chain(char *hash, const char *previous, uint64_t batch, double t, const char *what,
    const char *text)
{
    char line[96], number[40];
    graphss_i_digest d;
    number[graphss_i_double_text(number, sizeof number, t)] = 0;
    const int n =
        snprintf(line, sizeof line, "\n%llu\n%s\n", (unsigned long long)batch, number);
    graphss_i_digest_begin(&d, GRAPHSS_I_SHA256);
    graphss_i_digest_add(&d, previous, strlen(previous));
    graphss_i_digest_add(&d, line, (size_t)n);
    graphss_i_digest_add(&d, what, strlen(what));
    graphss_i_digest_add(&d, "\n", 1);
    if (text)
        graphss_i_digest_add(&d, text, strlen(text));
    graphss_i_digest_end(&d, hash);
}

graphss_status graphss_i_store_note(
    graphss_ctx *ctx, graphss_store *s, double t, const char *what, const char *text)
{
    char previous[65] = "", hash[65];
    graphss_i_query q = {0};
    graphss_status st =
        graphss_i_store_ask(ctx, s, &q, "select hash from audit order by id desc limit 1", "");
    if (graphss_i_store_row(ctx, &q, &st))
        snprintf(previous, sizeof previous, "%s", graphss_i_store_text(&q, 0));
    graphss_i_store_done(&q);
    if (st)
        return st;
    chain(hash, previous, s->batch, t, what, text);
    return graphss_i_store_run(ctx, s,
        "insert into audit(batch, t, what, text, hash) values(?, ?, ?, ?, ?)", "irttt",
        s->batch, t, what, text, hash);
}

graphss_status graphss_store_audit(
    graphss_ctx *ctx, graphss_store *s, graphss_store_entry_take take, void *user)
{
    if (GRAPHSS_I_LACKS(ctx, {"store", s}))
        return GRAPHSS_ERR_INVALID;
    char previous[65] = "", hash[65];
    graphss_i_query q = {0};
    graphss_status st = graphss_i_store_ask(
        ctx, s, &q, "select id, batch, t, what, text, hash from audit order by id", "");
    while (graphss_i_store_row(ctx, &q, &st)) {
        const graphss_store_entry e = {.id = graphss_i_store_int(&q, 0),
            .batch = graphss_i_store_int(&q, 1),
            .t = graphss_i_store_real(&q, 2),
            .what = graphss_i_store_text(&q, 3),
            .text = graphss_i_store_text(&q, 4),
            .hash = graphss_i_store_text(&q, 5)};
        if (!e.what || !e.hash) {
            st = graphss_i_nomem(ctx, 0);
            break;
        }
        chain(hash, previous, e.batch, e.t, e.what, e.text);
        if (strcmp(hash, e.hash) != 0)
            st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "%s: entry %llu of the audit trail was changed, or one before it "
                "is missing",
                s->name, (unsigned long long)e.id);
        else if (take)
            st = take(user, &e);
        memcpy(previous, hash, sizeof previous);
    }
    graphss_i_store_done(&q);
    return st;
}

graphss_status graphss_store_refused(
    graphss_ctx *ctx, graphss_store *s, graphss_store_entry_take take, void *user)
{
    if (GRAPHSS_I_LACKS(ctx, {"store", s}))
        return GRAPHSS_ERR_INVALID;
    graphss_i_query q = {0};
    graphss_status st = graphss_i_store_ask(
        ctx, s, &q, "select id, batch, t, cause, line from refused order by id", "");
    while (graphss_i_store_row(ctx, &q, &st)) {
        size_t n = 0;
        const char *bytes = graphss_i_store_bytes(&q, 4, &n);
        char *line = graphss_i_format(ctx, "%.*s", (int)n, n ? bytes : "");
        const graphss_store_entry e = {.id = graphss_i_store_int(&q, 0),
            .batch = graphss_i_store_int(&q, 1),
            .t = graphss_i_store_real(&q, 2),
            .what = graphss_i_store_text(&q, 3),
            .text = line,
            .hash = ""};
        st = !line ? GRAPHSS_ERR_NOMEM : take ? take(user, &e) : GRAPHSS_OK;
        graphss_release(ctx, line);
    }
    graphss_i_store_done(&q);
    return st;
}

/* ---- alerts ---- */

/* A document of jansson's as text of ours; the document is given up. */
static graphss_status text_of(graphss_ctx *ctx, char **out, json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    *out = text ? graphss_i_strdup(ctx, text) : NULL;
    json_decref(value);
    if (!text)
        return graphss_i_nomem(ctx, 0);
    free(text);
    return *out ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

graphss_status graphss_i_store_suspects(
    graphss_ctx *ctx, char **json, const graphss_live *live, size_t alert)
{
    graphss_live_alert a;
    json_t *list = json_array();
    graphss_live_alert_get(live, &a, alert);
    for (size_t i = 0; i < a.n_suspects && list; i++) {
        const char *name = graphss_live_name(live, (size_t)a.suspect[i]);
        json_t *one = json_pack("{s:s,s:f,s:f}", "node", name ? name : "?", "p",
            a.suspect_p[i], "score", a.suspect_score[i]);
        if (!one || json_array_append_new(list, one) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return text_of(ctx, json, list);
}

/* Puts a change of state of an alert into the outbox. */
static graphss_status post(graphss_ctx *ctx, graphss_store *s, uint64_t id, const char *group,
    graphss_alert_state state, double t, double e_value, double p_value, const char *suspects)
{
    char *json = NULL;
    char when[GRAPHSS_TIME_TEXT];
    graphss_time_text(when, t);
    json_t *list = suspects ? json_loads(suspects, 0, NULL) : NULL;
    json_t *message = json_pack("{s:I,s:s,s:s,s:s,s:f,s:f}", "alert", (json_int_t)id, "group",
        group, "state", graphss_alert_state_text(state), "t", when, "e_value", e_value,
        "p_value", p_value);
    if (message && list)
        (void)json_object_set(message, "suspects", list);
    json_decref(list);
    graphss_status st = text_of(ctx, &json, message);
    if (!st)
        st = graphss_i_store_run(
            ctx, s, "insert into outbox(json, due) values(?, 0)", "t", json);
    graphss_release(ctx, json);
    return st;
}

graphss_status graphss_i_store_alerts_put(
    graphss_ctx *ctx, graphss_store *s, const graphss_live *live, size_t from, size_t to)
{
    graphss_status st = GRAPHSS_OK;
    for (size_t i = from; i < to && !st; i++) {
        graphss_live_alert a;
        char *suspects = NULL;
        graphss_live_alert_get(live, &a, i);
        st = graphss_i_store_suspects(ctx, &suspects, live, i);
        if (!st)
            st = graphss_i_store_run(ctx, s,
                "insert into alert values(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, null, null)",
                "iitirrrrrit", a.id, s->batch + 1, a.group, (uint64_t)a.state, a.t, a.settled,
                a.e_value, a.threshold, a.p_value, a.judged, suspects);
        char *text =
            st ? NULL
               : graphss_i_format(ctx, "alert %llu of group %s: e-value %.17g of %.17g",
                     (unsigned long long)a.id, a.group, a.e_value, a.threshold);
        if (!st)
            st = text ? graphss_i_store_note(ctx, s, a.t, "alert", text) : GRAPHSS_ERR_NOMEM;
        if (!st)
            st = post(ctx, s, a.id, a.group, a.state, a.t, a.e_value, a.p_value, suspects);
        graphss_release(ctx, text);
        graphss_release(ctx, suspects);
    }
    return st;
}

graphss_status graphss_store_alerts(
    graphss_ctx *ctx, graphss_store *s, graphss_store_alert_take take, void *user)
{
    if (GRAPHSS_I_LACKS(ctx, {"store", s}))
        return GRAPHSS_ERR_INVALID;
    graphss_i_query q = {0};
    graphss_status st = graphss_i_store_ask(ctx, s, &q,
        "select id, batch, grp, suspects, state, t, "
        "settled, e_value, threshold, p_value, judged,"
        " who, note from alert order by id",
        "");
    while (graphss_i_store_row(ctx, &q, &st)) {
        const graphss_store_alert a = {.id = graphss_i_store_int(&q, 0),
            .batch = graphss_i_store_int(&q, 1),
            .group = graphss_i_store_text(&q, 2),
            .suspects = graphss_i_store_text(&q, 3),
            .state = (graphss_alert_state)graphss_i_store_int(&q, 4),
            .t = graphss_i_store_real(&q, 5),
            .settled = graphss_i_store_real(&q, 6),
            .e_value = graphss_i_store_real(&q, 7),
            .threshold = graphss_i_store_real(&q, 8),
            .p_value = graphss_i_store_real(&q, 9),
            .judged = graphss_i_store_int(&q, 10),
            .who = graphss_i_store_text(&q, 11),
            .note = graphss_i_store_text(&q, 12)};
        st = take ? take(user, &a) : GRAPHSS_OK;
    }
    graphss_i_store_done(&q);
    return st;
}

/* ---- actions of people ---- */

/* A transaction with a row of the table batch. */
static graphss_status begin(
    graphss_ctx *ctx, graphss_store *s, const char *what, const char *text, double now)
{
    graphss_status st = graphss_i_store_run(ctx, s, "begin immediate", "");
    if (st)
        return st;
    st = graphss_i_store_begin_batch(ctx, s, what, text, now);
    return st ? graphss_i_store_end(ctx, s, st) : GRAPHSS_OK;
}

static graphss_status end(graphss_ctx *ctx, graphss_store *s, graphss_status st)
{
    st = graphss_i_store_end(ctx, s, st);
    s->batch += !st;
    s->behind += !st;
    return st;
}

/* State, group and numbers of an alert; group is the caller's to release. */
typedef struct known {
    graphss_alert_state state;
    char *group;
    double e_value, p_value;
} known;

static graphss_status look_up(graphss_ctx *ctx, graphss_store *s, known *out, uint64_t alert)
{
    graphss_i_query q = {0};
    bool found = false;
    graphss_status st = graphss_i_store_ask(
        ctx, s, &q, "select state, grp, e_value, p_value from alert where id = ?", "i", alert);
    if (graphss_i_store_row(ctx, &q, &st)) {
        found = true;
        out->state = (graphss_alert_state)graphss_i_store_int(&q, 0);
        out->group = graphss_i_strdup(ctx, graphss_i_store_text(&q, 1));
        out->e_value = graphss_i_store_real(&q, 2);
        out->p_value = graphss_i_store_real(&q, 3);
        st = out->group ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    }
    graphss_i_store_done(&q);
    return st || found ? st
                       : graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "%s: no alert %llu", s->name,
                             (unsigned long long)alert);
}

graphss_status graphss_store_settle(graphss_ctx *ctx, graphss_store *s, graphss_live *live,
    uint64_t alert, graphss_alert_state state, const char *who, const char *note, double now)
{
    if (GRAPHSS_I_LACKS(ctx, {"store", s}))
        return GRAPHSS_ERR_INVALID;
    known was = {0};
    char text[96];
    graphss_status st = look_up(ctx, s, &was, alert);
    if (!st && (was.state > GRAPHSS_ALERT_ACKNOWLEDGED || state <= was.state ||
                   state > GRAPHSS_ALERT_CONFIRMED))
        st = graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "alert %llu is %s, it cannot become %s",
            (unsigned long long)alert, graphss_alert_state_text(was.state),
            graphss_alert_state_text(state));
    if (!st && live)
        st = graphss_live_settle(ctx, live, alert, state);
    snprintf(text, sizeof text, "{\"alert\":%llu,\"state\":%d}", (unsigned long long)alert,
        (int)state);
    if (!st)
        st = begin(ctx, s, "settle", text, now);
    if (!st) {
        char *said = graphss_i_format(ctx, "alert %llu %s by %s%s%s",
            (unsigned long long)alert, graphss_alert_state_text(state), who ? who : "?",
            note ? ": " : "", note ? note : "");
        st = said ? graphss_i_store_note(ctx, s, now, "state", said) : GRAPHSS_ERR_NOMEM;
        graphss_release(ctx, said);
        if (!st)
            st = graphss_i_store_run(ctx, s,
                "update alert set state = ?, settled = ?, who = ?, note = ? "
                "where id = ?",
                "irtti", (uint64_t)state,
                state == GRAPHSS_ALERT_ACKNOWLEDGED ? (double)NAN : now, who, note, alert);
        if (!st)
            st = post(ctx, s, alert, was.group, state, now, was.e_value, was.p_value, NULL);
        st = end(ctx, s, st);
    }
    graphss_release(ctx, was.group);
    return st;
}

graphss_status graphss_store_trust(
    graphss_ctx *ctx, graphss_store *s, graphss_live *live, const char *who, double now)
{
    if (GRAPHSS_I_LACKS(ctx, {"store", s}))
        return GRAPHSS_ERR_INVALID;
    graphss_i_query q = {0};
    graphss_status st =
        graphss_i_store_ask(ctx, s, &q, "select count(*) from alert where state <= ?", "i",
            (uint64_t)GRAPHSS_ALERT_ACKNOWLEDGED);
    if (graphss_i_store_row(ctx, &q, &st) && graphss_i_store_int(&q, 0))
        st = graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "alerts are open: dismiss or confirm them first, then trust");
    graphss_i_store_done(&q);
    if (!st && live)
        st = graphss_live_trust(ctx, live);
    if (!st)
        st = begin(ctx, s, "trust", NULL, now);
    return st ? st : end(ctx, s, graphss_i_store_note(ctx, s, now, "trust", who));
}

graphss_status graphss_store_watch(graphss_ctx *ctx, graphss_store *s, graphss_live *live,
    const char *group, const char *const *member, size_t n, double now)
{
    if (GRAPHSS_I_LACKS(ctx, {"store", s}, {"live graph", live}, {"name of the group", group},
            {"names", GRAPHSS_I_FILLED(member, n)}))
        return GRAPHSS_ERR_INVALID;
    char *text = NULL;
    graphss_status st = graphss_live_watch(ctx, live, group, member, n);
    if (st)
        return st;
    json_t *list = json_array();
    for (size_t i = 0; i < n && list; i++)
        if (json_array_append_new(list, json_string(member[i])) != 0) {
            json_decref(list);
            list = NULL;
        }
    st = text_of(
        ctx, &text, list ? json_pack("{s:s,s:o}", "group", group, "member", list) : NULL);
    if (!st)
        st = begin(ctx, s, "watch", text, now);
    if (!st)
        st = end(ctx, s, graphss_i_store_note(ctx, s, now, "watch", group));
    graphss_release(ctx, text);
    return st;
}

graphss_status graphss_store_advance(graphss_ctx *ctx, graphss_store *s, graphss_live *live,
    double now, graphss_live_batch *given)
{
    if (GRAPHSS_I_LACKS(ctx, {"store", s}, {"live graph", live}))
        return GRAPHSS_ERR_INVALID;
    graphss_live_batch did = {0};
    graphss_status st = graphss_live_advance(ctx, live, now, &did);
    if (!st)
        st = begin(ctx, s, "advance", NULL, now);
    if (!st)
        st = end(ctx, s,
            graphss_i_store_alerts_put(
                ctx, s, live, did.first_alert, did.first_alert + did.n_alerts));
    if (!st)
        graphss_i_store_fold_if_due(ctx, s, live);
    if (given && !st)
        *given = did;
    else
        graphss_live_batch_destroy(ctx, &did);
    return st;
}

/* ---- the outbox ---- */

graphss_status graphss_store_message(
    graphss_ctx *ctx, graphss_store *s, uint64_t *id, char **json, double now)
{
    if (GRAPHSS_I_LACKS(
            ctx, {"store", s}, {"place for the number", id}, {"place for the message", json}))
        return GRAPHSS_ERR_INVALID;
    graphss_i_query q = {0};
    graphss_status st = graphss_i_store_ask(ctx, s, &q,
        "select id, json from outbox where due <= ? order by id limit 1", "r", now);
    char *found = NULL;
    if (graphss_i_store_row(ctx, &q, &st)) {
        *id = graphss_i_store_int(&q, 0);
        found = graphss_i_strdup(ctx, graphss_i_store_text(&q, 1));
        st = found ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    }
    graphss_i_store_done(&q);
    if (!st)
        *json = found;
    return st;
}

graphss_status graphss_store_message_done(
    graphss_ctx *ctx, graphss_store *s, uint64_t id, bool sent, double again)
{
    if (GRAPHSS_I_LACKS(ctx, {"store", s}))
        return GRAPHSS_ERR_INVALID;
    return sent ? graphss_i_store_run(ctx, s, "delete from outbox where id = ?", "i", id)
                : graphss_i_store_run(
                      ctx, s, "update outbox set due = ? where id = ?", "ri", again, id);
}

graphss_status graphss_store_unsent(graphss_ctx *ctx, graphss_store *s, size_t *n)
{
    if (GRAPHSS_I_LACKS(ctx, {"store", s}, {"place for the number", n}))
        return GRAPHSS_ERR_INVALID;
    graphss_i_query q = {0};
    graphss_status st = graphss_i_store_ask(ctx, s, &q, "select count(*) from outbox", "");
    if (graphss_i_store_row(ctx, &q, &st))
        *n = (size_t)graphss_i_store_int(&q, 0);
    graphss_i_store_done(&q);
    return st;
}
