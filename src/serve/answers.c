/* answers.c - answers of the engine as JSON, one function a question. */
#include "serve/serve_private.h"
#include <jansson.h>
#include <math.h>
#include <string.h>

enum { LIST = 20, LIST_MOST = 1000, INFER_MOST = 1000 };
static const char JSON[] = "application/json", LINES[] = "application/jsonl";

void graphss_i_answer_error(graphss_i_text *t, const char *text)
{
    graphss_i_text_add(t, "{\"error\":");
    graphss_i_text_json(t, text);
    graphss_i_text_add(t, "}\n");
}

/* Answers with a status and a text; OK, for the question is answered. */
static graphss_status say(graphss_i_job *job, graphss_i_text *t, int status, const char *text)
{
    graphss_i_text_clear(t);
    job->reply.status = status;
    graphss_i_answer_error(t, text);
    return GRAPHSS_OK;
}

static void member(graphss_i_text *t, const char *name)
{
    const char last = t->n ? t->at[t->n - 1] : '{';
    graphss_i_text_format(t, "%s\"%s\":", last == '{' || last == '[' ? "" : ",", name);
}

static void real(graphss_i_text *t, const char *name, double x)
{
    member(t, name);
    graphss_i_text_real(t, x);
}

static void whole(graphss_i_text *t, const char *name, uint64_t x)
{
    member(t, name);
    graphss_i_text_format(t, "%llu", (unsigned long long)x);
}

static void text(graphss_i_text *t, const char *name, const char *x)
{
    member(t, name);
    graphss_i_text_json(t, x);
}

static void truth(graphss_i_text *t, const char *name, bool x)
{
    member(t, name);
    graphss_i_text_add(t, x ? "true" : "false");
}

static void when(graphss_i_text *t, const char *name, double x)
{
    member(t, name);
    graphss_i_text_when(t, x);
}

static void class_name(
    graphss_i_text *t, const char *name, const graphss_live *live, int32_t c)
{
    char room[32];
    text(t, name, c < 0 ? NULL : graphss_live_class(live, (size_t)c, room));
}

static size_t limit_of(const graphss_i_job *job, size_t usual, bool *bad)
{
    uint64_t n = usual;
    const char *given = graphss_i_pair_get(job->request.query, job->request.n_query, "limit");
    *bad = given && !graphss_i_number_parse(&n, given, 1, LIST_MOST);
    return (size_t)n;
}

/* ---- status and models ---- */

static void put_group(graphss_i_text *t, const graphss_live *live, size_t i)
{
    graphss_live_group g;
    graphss_live_group_get(live, &g, i);
    graphss_i_text_add(t, "{");
    text(t, "name", g.name);
    whole(t, "members", g.members);
    real(t, "p_value", g.p_value);
    real(t, "e_value", g.e_value);
    real(t, "threshold", g.threshold);
    whole(t, "judged", g.judged);
    truth(t, "open", g.open);
    graphss_i_text_add(t, "}");
}

static graphss_status status(graphss_server *s, graphss_i_text *t)
{
    graphss_live_status v;
    graphss_live_status_get(s->live, &v);
    graphss_i_text_add(t, "{");
    text(t, "state",
        v.open_alerts  ? "alert"
        : !v.suspicion ? "unknown"
        : v.checks     ? "calm"
                       : "learning");
    whole(t, "open_alerts", v.open_alerts);
    whole(t, "alerts", v.n_alerts);
    member(t, "test");
    put_group(t, s->live, 0);
    whole(t, "nodes", v.n_nodes);
    whole(t, "edges", v.n_edges);
    whole(t, "features", v.n_features);
    whole(t, "changed_nodes", v.changed_nodes);
    when(t, "now", v.now);
    when(t, "trusted_since", v.trusted_since);
    whole(t, "checks", v.checks);
    whole(t, "judged", v.judged);
    whole(t, "warm_up", v.warm);
    real(t, "false_alarms", v.false_alarms);
    real(t, "period", v.period);
    real(t, "budget_left", v.budget_left);
    truth(t, "incremental", !v.whole_pass_cause);
    truth(t, "suspicion", v.suspicion);
    whole(t, "bytes", v.bytes);
    member(t, "calibration");
    graphss_i_text_add(t, "{");
    for (int kind = 1; kind < GRAPHSS_LIVE_KINDS; kind++)
        whole(t, graphss_live_kind_text((graphss_live_kind)kind), v.known[kind]);
    whole(t, "wanted", (uint64_t)v.warm_up);
    graphss_i_text_add(t, "}");
    pthread_mutex_lock(&s->lock);
    const graphss_i_counts c = s->counts;
    const double rate = s->view.rate, at = s->view.at, loaded = s->view.model_loaded;
    const size_t waiting = s->n_lines;
    pthread_mutex_unlock(&s->lock);
    member(t, "service");
    graphss_i_text_add(t, "{");
    whole(t, "events", c.lines);
    whole(t, "applied", c.applied);
    whole(t, "duplicates", c.duplicates);
    whole(t, "refused", c.refused + c.unreadable);
    real(t, "events_per_second", rate);
    whole(t, "waiting", waiting);
    when(t, "last_event", at);
    when(t, "model_loaded", loaded);
    graphss_i_text_add(t, "}}\n");
    return GRAPHSS_OK;
}

static graphss_status model(graphss_server *s, graphss_i_job *job, graphss_i_text *t)
{
    graphss_live_status v;
    char room[32];
    if (strcmp(job->request.name, "graphss") != 0)
        return say(job, t, 404, "the model is called graphss");
    graphss_live_status_get(s->live, &v);
    graphss_i_text_add(t,
        "{\"name\":\"graphss\",\"platform\":\"graphss\",\"inputs\":[{\"name\":"
        "\"node\",\"datatype\":\"BYTES\",\"shape\":[-1]}],\"outputs\":[");
    graphss_i_text_format(t,
        "{\"name\":\"probability\",\"datatype\":\"FP32\",\"shape\":[-1,%zu]},", v.n_classes);
    graphss_i_text_add(t, "{\"name\":\"label\",\"datatype\":\"BYTES\",\"shape\":[-1]},"
                          "{\"name\":\"recovered\",\"datatype\":\"BYTES\",\"shape\":[-1]},"
                          "{\"name\":\"p_value\",\"datatype\":\"FP64\",\"shape\":[-1]}],"
                          "\"classes\":[");
    for (size_t c = 0; c < v.n_classes; c++) {
        graphss_i_text_add(t, c ? "," : "");
        graphss_i_text_json(t, graphss_live_class(s->live, c, room));
    }
    graphss_i_text_add(t, "]");
    pthread_mutex_lock(&s->lock);
    const double loaded = s->view.model_loaded;
    pthread_mutex_unlock(&s->lock);
    text(t, "type", graphss_model_options(s->model)->model);
    when(t, "loaded", loaded);
    graphss_i_text_add(t, "}\n");
    return GRAPHSS_OK;
}

/* {"inputs": [{"name": "node", "shape": [2], "datatype": "BYTES", "data": ["anna", "karl"]}]}
 */
static graphss_status infer(graphss_ctx *ctx, graphss_server *s, graphss_i_job *job,
    graphss_i_text *t, const json_t *body)
{
    const json_t *input = json_array_get(json_object_get(body, "inputs"), 0),
                 *data = json_object_get(input, "data");
    const char *id = json_string_value(json_object_get(body, "id"));
    const size_t n = json_array_size(data);
    graphss_live_status v;
    char room[32];
    graphss_status st = GRAPHSS_OK;
    if (strcmp(job->request.name, "graphss") != 0)
        return say(job, t, 404, "the model is called graphss");
    if (n == 0 || n > INFER_MOST)
        return say(job, t, 400,
            "want {\"inputs\": [{\"name\": \"node\", \"datatype\": \"BYTES\", \"data\": "
            "[names of 1 to 1000 nodes]}]}");
    for (size_t i = 0; i < n; i++)
        if (!json_is_string(json_array_get(data, i)))
            return say(job, t, 400, "names of nodes are strings");
        else if (graphss_live_find(s->live, json_string_value(json_array_get(data, i))) < 0)
            return say(job, t, 404, "one of the nodes is not there");
    graphss_live_status_get(s->live, &v);
    graphss_i_text label = {.ctx = ctx}, recovered = {.ctx = ctx}, p_value = {.ctx = ctx};
    graphss_i_text_add(t, "{\"model_name\":\"graphss\",");
    if (id) {
        graphss_i_text_add(t, "\"id\":");
        graphss_i_text_json(t, id);
        graphss_i_text_add(t, ",");
    }
    graphss_i_text_format(t,
        "\"outputs\":[{\"name\":\"probability\",\"datatype\":\"FP32\","
        "\"shape\":[%zu,%zu],\"data\":[",
        n, v.n_classes);
    for (size_t i = 0; i < n && !st; i++) {
        const size_t node =
            (size_t)graphss_live_find(s->live, json_string_value(json_array_get(data, i)));
        const float *prob = graphss_live_prob(s->live, node);
        graphss_live_node found;
        for (size_t c = 0; c < v.n_classes; c++) {
            graphss_i_text_add(t, i || c ? "," : "");
            graphss_i_text_real(t, (double)prob[c]);
        }
        st = graphss_live_node_get(ctx, s->live, &found, node);
        if (st)
            break;
        const char *comma = i ? "," : "";
        graphss_i_text_add(&label, comma);
        graphss_i_text_json(
            &label, graphss_live_class(s->live, (size_t)found.predicted, room));
        graphss_i_text_add(&recovered, comma);
        graphss_i_text_json(&recovered,
            found.recovered < 0 ? NULL
                                : graphss_live_class(s->live, (size_t)found.recovered, room));
        graphss_i_text_add(&p_value, comma);
        graphss_i_text_real(&p_value, found.p_value);
    }
    const struct {
        const char *name, *type;
        const graphss_i_text *data;
    } out[] = {{"label", "BYTES", &label}, {"recovered", "BYTES", &recovered},
        {"p_value", "FP64", &p_value}};
    graphss_i_text_add(t, "]}");
    for (size_t i = 0; i < 3; i++) {
        graphss_i_text_format(t,
            ",{\"name\":\"%s\",\"datatype\":\"%s\",\"shape\":[%zu],"
            "\"data\":[",
            out[i].name, out[i].type, n);
        graphss_i_text_put(t, out[i].data->at ? out[i].data->at : "", out[i].data->n);
        graphss_i_text_add(t, "]}");
        t->failed = t->failed || out[i].data->failed;
    }
    graphss_i_text_add(t, "]}\n");
    graphss_i_text_destroy(&label);
    graphss_i_text_destroy(&recovered);
    graphss_i_text_destroy(&p_value);
    return st;
}

/* ---- events ---- */

void graphss_i_answer_events(graphss_i_text *t, const graphss_i_job *job)
{
    graphss_i_text_add(t, "{");
    whole(t, "lines", job->n_lines);
    whole(t, "accepted", job->n_lines - job->n_refused);
    whole(t, "refused", job->n_refused);
    if (job->n_refused && job->refusal) {
        member(t, "reasons");
        graphss_i_text_add(t, "[");
        for (size_t i = 0; i < job->n_refused && i < GRAPHSS_I_REFUSED_SHOWN; i++) {
            graphss_i_text_add(t, i ? ",{" : "{");
            whole(t, "line", job->refusal[i].line);
            text(t, "reason", job->refusal[i].reason);
            graphss_i_text_add(t, "}");
        }
        graphss_i_text_add(t, "]");
    }
    graphss_i_text_add(t, "}\n");
}

/* ---- nodes ---- */

static void put_edges(graphss_i_text *t, const char *name, const graphss_i_why *why,
    const graphss_live *live, int state)
{
    size_t n = 0;
    member(t, name);
    graphss_i_text_add(t, "[");
    for (size_t i = 0; i < why->edges.n && n < LIST_MOST; i++)
        if (why->edges.state[i] == state) {
            graphss_i_text_add(t, n++ ? "," : "");
            graphss_i_text_json(t, graphss_live_name(live, (size_t)why->edges.node[i]));
        }
    graphss_i_text_add(t, "]");
}

static void put_features(graphss_i_text *t, const graphss_i_why *why, const graphss_live *live)
{
    char room[32];
    member(t, "features_changed");
    graphss_i_text_add(t, "[");
    for (size_t i = 0; i < why->features.n && i < LIST_MOST; i++) {
        const graphss_live_feature *f = &why->features.item[i];
        graphss_i_text_add(t, i ? ",{" : "{");
        text(t, "name", graphss_live_column(live, (size_t)f->column, room));
        real(t, "was", (double)f->was);
        real(t, "now", (double)f->now);
        graphss_i_text_add(t, "}");
    }
    graphss_i_text_add(t, "]");
}

static void put_why(
    graphss_ctx *ctx, graphss_i_text *t, const graphss_i_why *why, const graphss_live *live)
{
    graphss_i_text sentence = {.ctx = ctx};
    member(t, "why");
    graphss_i_text_add(t, "[");
    for (size_t i = 0; graphss_i_why_sentence(&sentence, why, live, i); i++) {
        graphss_i_text_add(t, i ? "," : "");
        graphss_i_text_json(t, sentence.at);
        graphss_i_text_clear(&sentence);
    }
    graphss_i_text_add(t, "]");
    t->failed = t->failed || sentence.failed;
    graphss_i_text_destroy(&sentence);
}

static graphss_status put_node(
    graphss_ctx *ctx, graphss_i_text *t, graphss_live *live, size_t node, bool all)
{
    graphss_i_why why;
    char room[32];
    const graphss_status st = graphss_i_why_get(ctx, &why, live, node);
    if (st)
        return st;
    const graphss_live_node *v = &why.node;
    graphss_i_text_add(t, "{");
    text(t, "id", graphss_live_name(live, node));
    class_name(t, "label", live, v->label);
    class_name(t, "trusted", live, v->trusted);
    class_name(t, "predicted", live, v->predicted);
    class_name(t, "recovered", live, v->recovered);
    real(t, "recovered_probability", v->recovered_prob);
    real(t, "chance_of_tampering", why.chance);
    real(t, "suspicion", v->suspicion);
    real(t, "p_value", v->p_value);
    text(t, "kind", graphss_live_kind_text(v->kind));
    when(t, "since", v->since);
    whole(t, "degree", v->degree);
    put_edges(t, "edges_added", &why, live, 1);
    put_edges(t, "edges_removed", &why, live, -1);
    put_features(t, &why, live);
    put_why(ctx, t, &why, live);
    if (all) {
        graphss_live_status s;
        const float *prob = graphss_live_prob(live, node);
        graphss_live_status_get(live, &s);
        member(t, "probabilities");
        graphss_i_text_add(t, "{");
        for (size_t c = 0; c < s.n_classes; c++) {
            graphss_i_text_add(t, c ? "," : "");
            graphss_i_text_json(t, graphss_live_class(live, c, room));
            graphss_i_text_add(t, ":");
            graphss_i_text_real(t, (double)prob[c]);
        }
        graphss_i_text_add(t, "}");
        put_edges(t, "neighbours", &why, live, 0);
        member(t, "evidence");
        graphss_i_text_add(t, "[");
        for (size_t i = 0; i < GRAPHSS_LIVE_SOURCES && v->says[0] >= 0; i++) {
            graphss_i_text_add(t, i ? ",{" : "{");
            text(t, "source", graphss_live_source_text(i));
            class_name(t, "says", live, v->says[i]);
            real(t, "surely", v->surely[i]);
            graphss_i_text_add(t, "}");
        }
        graphss_i_text_add(t, "]");
    }
    graphss_i_text_add(t, "}");
    graphss_i_why_destroy(ctx, &why);
    return GRAPHSS_OK;
}

static graphss_status node(
    graphss_ctx *ctx, graphss_server *s, graphss_i_job *job, graphss_i_text *t)
{
    const int64_t found = graphss_live_find(s->live, job->request.name);
    if (found < 0)
        return say(job, t, 404, "there is no such node");
    const graphss_status st = put_node(ctx, t, s->live, (size_t)found, true);
    graphss_i_text_add(t, "\n");
    return st;
}

static graphss_status nodes(
    graphss_ctx *ctx, graphss_server *s, graphss_i_job *job, graphss_i_text *t)
{
    int32_t list[LIST_MOST];
    bool bad;
    size_t n = limit_of(job, LIST, &bad);
    if (bad)
        return say(job, t, 400, "limit: want 1 to 1000");
    graphss_status st = graphss_live_suspects(ctx, s->live, list, &n);
    graphss_i_text_add(t, "{\"nodes\":[");
    for (size_t i = 0; i < n && !st; i++) {
        graphss_i_text_add(t, i ? "," : "");
        st = put_node(ctx, t, s->live, (size_t)list[i], false);
    }
    graphss_i_text_add(t, "]}\n");
    return st;
}

/* ---- groups ---- */

static graphss_status groups(graphss_server *s, graphss_i_job *job, graphss_i_text *t)
{
    graphss_live_status v;
    graphss_live_status_get(s->live, &v);
    const bool one = job->request.ask == GRAPHSS_I_ASK_GROUP;
    for (size_t i = 0; i < v.n_groups && one; i++) {
        graphss_live_group g;
        graphss_live_group_get(s->live, &g, i);
        if (strcmp(g.name, job->request.name) != 0)
            continue;
        put_group(t, s->live, i);
        graphss_i_text_add(t, "\n");
        return GRAPHSS_OK;
    }
    if (one)
        return say(job, t, 404, "there is no such group");
    graphss_i_text_add(t, "{\"groups\":[");
    for (size_t i = 0; i < v.n_groups; i++) {
        graphss_i_text_add(t, i ? "," : "");
        put_group(t, s->live, i);
    }
    graphss_i_text_add(t, "]}\n");
    return GRAPHSS_OK;
}

static graphss_status group_add(graphss_ctx *ctx, graphss_server *s, graphss_i_job *job,
    graphss_i_text *t, const json_t *body)
{
    const char *name = json_string_value(json_object_get(body, "name"));
    const json_t *list = json_object_get(body, "nodes");
    const size_t n = json_array_size(list);
    if (!name || !*name || strlen(name) > GRAPHSS_EVENT_NAME || !strcmp(name, "all") || n == 0)
        return say(job, t, 400,
            "want {\"name\": a name other than all, \"nodes\": [names of nodes]}");
    const char **members = graphss_i_alloc(ctx, n, sizeof *members);
    if (!members)
        return GRAPHSS_ERR_NOMEM;
    bool strings = true;
    for (size_t i = 0; i < n; i++) {
        members[i] = json_string_value(json_array_get(list, i));
        strings = strings && members[i] && *members[i];
    }
    graphss_status st = strings ? graphss_store_watch(ctx, s->store, s->live, name, members, n,
                                      graphss_i_wall())
                                : GRAPHSS_OK;
    graphss_release(ctx, members);
    if (!strings)
        return say(job, t, 400, "nodes: want names, which are strings");
    if (st)
        return st;
    s->dirty = true;
    job->reply.status = 201;
    graphss_i_text_add(t, "{");
    text(t, "name", name);
    whole(t, "members", n);
    graphss_i_text_add(t, "}\n");
    return GRAPHSS_OK;
}

/* ---- alerts ---- */

typedef struct alert_list {
    graphss_i_text *t;
    uint64_t only; /* 0: all */
    const char *state;
    size_t n;
    bool full;
} alert_list;

static bool wanted_state(const char *wanted, graphss_alert_state state)
{
    return !wanted || !strcmp(wanted, graphss_alert_state_text(state)) ||
           (!strcmp(wanted, "firing") && state <= GRAPHSS_ALERT_ACKNOWLEDGED);
}

static graphss_status put_alert(void *user, const graphss_store_alert *a)
{
    alert_list *list = user;
    graphss_i_text *t = list->t;
    if ((list->only && a->id != list->only) || !wanted_state(list->state, a->state))
        return GRAPHSS_OK;
    graphss_i_text_add(t, list->n++ ? ",{" : "{");
    whole(t, "id", a->id);
    text(t, "group", a->group);
    text(t, "state", graphss_alert_state_text(a->state));
    when(t, "raised", a->t);
    when(t, "settled", a->settled);
    real(t, "p_value", a->p_value);
    real(t, "e_value", a->e_value);
    real(t, "threshold", a->threshold);
    whole(t, "judged", a->judged);
    text(t, "who", a->who);
    text(t, "note", a->note);
    if (list->full) {
        member(t, "suspects");
        graphss_i_text_add(t, a->suspects ? a->suspects : "[]");
    }
    graphss_i_text_add(t, "}");
    return t->failed ? GRAPHSS_ERR_NOMEM : GRAPHSS_OK;
}

static graphss_status alerts(
    graphss_ctx *ctx, graphss_server *s, graphss_i_job *job, graphss_i_text *t)
{
    static const char *const states[] = {
        "firing", "open", "acknowledged", "dismissed", "confirmed"};
    alert_list list = {.t = t,
        .state = graphss_i_pair_get(job->request.query, job->request.n_query, "state")};
    bool known = !list.state;
    for (size_t i = 0; i < sizeof states / sizeof *states && !known; i++)
        known = !strcmp(list.state, states[i]);
    if (!known)
        return say(
            job, t, 400, "state: want firing, open, acknowledged, dismissed or confirmed");
    graphss_i_text_add(t, "{\"alerts\":[");
    const graphss_status st = graphss_store_alerts(ctx, s->store, put_alert, &list);
    graphss_i_text_add(t, "]}\n");
    return st;
}

static graphss_status alert(
    graphss_ctx *ctx, graphss_server *s, graphss_i_job *job, graphss_i_text *t, uint64_t id)
{
    alert_list list = {.t = t, .only = id, .full = true};
    const graphss_status st = graphss_store_alerts(ctx, s->store, put_alert, &list);
    if (!st && list.n == 0)
        return say(job, t, 404, "there is no such alert");
    graphss_i_text_add(t, "\n");
    return st;
}

/* An event as a line. */
static graphss_status put_event(graphss_ctx *ctx, graphss_i_text *t, const graphss_event *e)
{
    char *line = NULL;
    const graphss_status st = graphss_event_text(ctx, &line, e);
    if (!st) {
        graphss_i_text_add(t, line);
        graphss_i_text_add(t, "\n");
    }
    graphss_release(ctx, line);
    return st;
}

/* Events that set labels, of a confirmation's "labels": {node: class}: one batch, at the time
 * of the stream, whose clock they are not to move. */
static graphss_status put_labels(graphss_ctx *ctx, graphss_server *s, json_t *labels)
{
    const char *key;
    json_t *value;
    graphss_live_status v;
    graphss_i_text lines = {.ctx = ctx};
    graphss_status st = GRAPHSS_OK;
    graphss_live_status_get(s->live, &v);
    json_object_foreach(labels, key, value)
    {
        const graphss_event e = {.op = GRAPHSS_EVENT_SET_LABEL,
            .t = v.now,
            .seq = -1,
            .u = key,
            .label = json_string_value(value)};
        if (!st)
            st = put_event(ctx, &lines, &e);
    }
    const size_t n = json_object_size(labels);
    graphss_store_line *line = graphss_i_alloc(ctx, n, sizeof *line);
    if (!st && (lines.failed || !line))
        st = GRAPHSS_ERR_NOMEM;
    size_t at = 0;
    for (size_t i = 0; i < n && !st; i++)
        (void)graphss_i_line_next(&line[i].text, &line[i].n, lines.at, lines.n, &at);
    const graphss_store_batch in = {.line = line, .n = n, .now = graphss_i_wall()};
    if (!st && n)
        st = graphss_store_put(ctx, s->store, s->live, &in, NULL);
    graphss_release(ctx, line);
    graphss_i_text_destroy(&lines);
    return st;
}

static graphss_status settle(graphss_ctx *ctx, graphss_server *s, graphss_i_job *job,
    graphss_i_text *t, const json_t *body, uint64_t id)
{
    const graphss_alert_state state =
        job->request.ask == GRAPHSS_I_ASK_ALERT_ACK       ? GRAPHSS_ALERT_ACKNOWLEDGED
        : job->request.ask == GRAPHSS_I_ASK_ALERT_DISMISS ? GRAPHSS_ALERT_DISMISSED
                                                          : GRAPHSS_ALERT_CONFIRMED;
    const char *who = json_string_value(json_object_get(body, "who"));
    json_t *labels = json_object_get(body, "labels");
    const char *key;
    json_t *value;
    if (labels && (!json_is_object(labels) || state != GRAPHSS_ALERT_CONFIRMED))
        return say(job, t, 400, "labels: want {node: class}, with confirm");
    json_object_foreach(labels, key, value)
    {
        if (!json_is_string(value) || graphss_live_find(s->live, key) < 0)
            return say(job, t, 400, "labels: want names of nodes that are there, and classes");
    }
    graphss_live_status v;
    graphss_live_status_get(s->live, &v);
    if (id > v.n_alerts)
        return say(job, t, 404, "there is no such alert");
    graphss_status st = graphss_store_settle(ctx, s->store, s->live, id, state,
        *job->who ? job->who
        : who     ? who
                  : "local",
        json_string_value(json_object_get(body, "note")), graphss_i_wall());
    if (!st)
        st = put_labels(ctx, s, labels);
    s->dirty = true;
    return st ? st : alert(ctx, s, job, t, id);
}

static graphss_status undo_node(
    graphss_ctx *ctx, graphss_i_text *t, graphss_live *live, size_t u)
{
    graphss_i_why why;
    char room[32];
    graphss_status st = graphss_i_why_get(ctx, &why, live, u);
    if (st)
        return st;
    for (size_t i = 0; i < why.edges.n && !st; i++) {
        const char *v = graphss_live_name(live, (size_t)why.edges.node[i]);
        const graphss_event e = {
            .op = why.edges.state[i] > 0 ? GRAPHSS_EVENT_REMOVE_EDGE : GRAPHSS_EVENT_ADD_EDGE,
            .t = NAN,
            .seq = -1,
            .u = graphss_live_name(live, u),
            .v = v};
        if (why.edges.state[i] && v)
            st = put_event(ctx, t, &e);
    }
    for (size_t i = 0; i < why.features.n && !st && why.node.kind != GRAPHSS_LIVE_NEW; i++) {
        const char *name =
            graphss_live_column(live, (size_t)why.features.item[i].column, room);
        const graphss_event e = {.op = GRAPHSS_EVENT_SET_FEATURES,
            .t = NAN,
            .seq = -1,
            .u = graphss_live_name(live, u),
            .n_features = 1,
            .feature = &name,
            .value = &why.features.item[i].was};
        st = put_event(ctx, t, &e);
    }
    graphss_i_why_destroy(ctx, &why);
    return st;
}

/* An alert lists the most suspicious nodes, however many. Of these, only nodes that were more
 * likely tampered with than not count as such. score: log odds. */
static bool likely(double score)
{
    return score > 0;
}

static graphss_status undo(
    graphss_ctx *ctx, graphss_server *s, graphss_i_job *job, graphss_i_text *t, uint64_t id)
{
    graphss_live_status v;
    graphss_live_alert a;
    graphss_status st = GRAPHSS_OK;
    graphss_live_status_get(s->live, &v);
    if (id > v.n_alerts)
        return say(job, t, 404, "there is no such alert");
    graphss_live_alert_get(s->live, &a, (size_t)id - 1);
    for (size_t i = 0; i < a.n_suspects && !st; i++)
        if (a.suspect[i] >= 0 && likely(a.suspect_score[i]) &&
            graphss_live_name(s->live, (size_t)a.suspect[i]))
            st = undo_node(ctx, t, s->live, (size_t)a.suspect[i]);
    job->reply.type = LINES;
    return st;
}

/* One line for each suspect of a settled alert; of a confirmed one, for each that is likely.
 */
static graphss_status put_label(void *user, const graphss_store_alert *a)
{
    graphss_i_text *t = user;
    if (a->state <= GRAPHSS_ALERT_ACKNOWLEDGED)
        return GRAPHSS_OK;
    json_t *list = json_loads(a->suspects ? a->suspects : "[]", 0, NULL), *one;
    size_t i;
    json_array_foreach(list, i, one)
    {
        if (a->state == GRAPHSS_ALERT_CONFIRMED &&
            !likely(json_number_value(json_object_get(one, "score"))))
            continue;
        graphss_i_text_add(t, "{");
        text(t, "node", json_string_value(json_object_get(one, "node")));
        truth(t, "tampered", a->state == GRAPHSS_ALERT_CONFIRMED);
        whole(t, "alert", a->id);
        when(t, "t", a->settled);
        text(t, "who", a->who);
        graphss_i_text_add(t, "}\n");
    }
    json_decref(list);
    return t->failed ? GRAPHSS_ERR_NOMEM : GRAPHSS_OK;
}

/* ---- snapshots and the trail ---- */

static graphss_status trust(graphss_ctx *ctx, graphss_server *s, graphss_i_job *job,
    graphss_i_text *t, const json_t *body)
{
    const char *who = json_string_value(json_object_get(body, "who"));
    const graphss_status st = graphss_store_trust(ctx, s->store, s->live,
        *job->who ? job->who
        : who     ? who
                  : "local",
        graphss_i_wall());
    if (st)
        return st;
    s->dirty = true;
    job->reply.status = 201;
    return status(s, t);
}

typedef struct entry_list {
    graphss_i_text *t;
    uint64_t skip, n;
} entry_list;

static graphss_status count_entry(void *user, const graphss_store_entry *e)
{
    (void)e;
    ++*(uint64_t *)user;
    return GRAPHSS_OK;
}

static graphss_status put_entry(void *user, const graphss_store_entry *e)
{
    entry_list *list = user;
    if (list->n++ < list->skip)
        return GRAPHSS_OK;
    graphss_i_text_add(list->t, list->n > list->skip + 1 ? ",{" : "{");
    whole(list->t, "id", e->id);
    whole(list->t, "batch", e->batch);
    when(list->t, "t", e->t);
    text(list->t, "what", e->what);
    text(list->t, "text", e->text);
    text(list->t, "hash", *e->hash ? e->hash : NULL);
    graphss_i_text_add(list->t, "}");
    return list->t->failed ? GRAPHSS_ERR_NOMEM : GRAPHSS_OK;
}

static graphss_status entries(
    graphss_ctx *ctx, graphss_server *s, graphss_i_job *job, graphss_i_text *t)
{
    bool bad;
    const size_t most = limit_of(job, 100, &bad);
    uint64_t n = 0;
    graphss_status (*const walk)(
        graphss_ctx *, graphss_store *, graphss_store_entry_take, void *) =
        job->request.ask == GRAPHSS_I_ASK_AUDIT ? graphss_store_audit : graphss_store_refused;
    if (bad)
        return say(job, t, 400, "limit: want 1 to 1000");
    graphss_status st = walk(ctx, s->store, count_entry, &n);
    entry_list list = {.t = t, .skip = n > most ? n - most : 0};
    graphss_i_text_add(t, "{\"entries\":[");
    if (!st)
        st = walk(ctx, s->store, put_entry, &list);
    graphss_i_text_add(t, "]");
    whole(t, "total", n);
    graphss_i_text_add(t, "}\n");
    return st;
}

/* ---- all ---- */

/* The body as an object of JSON; an empty body is an empty object. NULL: it is none. */
static json_t *body_of(const graphss_i_job *job)
{
    if (job->n_body == 0)
        return json_object();
    json_t *body = json_loadb(job->body, job->n_body, JSON_REJECT_DUPLICATES, NULL);
    if (body && !json_is_object(body)) {
        json_decref(body);
        body = NULL;
    }
    return body;
}

graphss_status graphss_i_answer(
    graphss_ctx *ctx, graphss_server *s, graphss_i_job *job, graphss_i_text *t)
{
    const graphss_i_ask ask = job->request.ask;
    const bool has_id = strstr(graphss_i_route_of(ask)->path, "/alerts/{id}") != NULL;
    uint64_t id = 0;
    json_t *body = NULL;
    job->reply.type = JSON;
    if (has_id && !graphss_i_number_parse(&id, job->request.name, 1, 1000000000))
        return say(job, t, 404, "there is no such alert");
    if (graphss_i_route_of(ask)->body == GRAPHSS_I_BODY_JSON) {
        body = body_of(job);
        if (!body)
            return say(job, t, 400, "the body is no object of JSON");
    }
    graphss_status st = GRAPHSS_OK;
    switch (ask) {
    case GRAPHSS_I_ASK_PAGE:
    case GRAPHSS_I_ASK_PAGE_ACT:
        st = graphss_i_page(ctx, s, job, t);
        break;
    case GRAPHSS_I_ASK_MODEL:
        st = model(s, job, t);
        break;
    case GRAPHSS_I_ASK_INFER:
        st = infer(ctx, s, job, t, body);
        break;
    case GRAPHSS_I_ASK_STATUS:
        st = status(s, t);
        break;
    case GRAPHSS_I_ASK_NODES:
        st = nodes(ctx, s, job, t);
        break;
    case GRAPHSS_I_ASK_NODE:
        st = node(ctx, s, job, t);
        break;
    case GRAPHSS_I_ASK_GROUPS:
    case GRAPHSS_I_ASK_GROUP:
        st = groups(s, job, t);
        break;
    case GRAPHSS_I_ASK_GROUP_ADD:
        st = group_add(ctx, s, job, t, body);
        break;
    case GRAPHSS_I_ASK_ALERTS:
        st = alerts(ctx, s, job, t);
        break;
    case GRAPHSS_I_ASK_ALERT:
        st = alert(ctx, s, job, t, id);
        break;
    case GRAPHSS_I_ASK_ALERT_ACK:
    case GRAPHSS_I_ASK_ALERT_DISMISS:
    case GRAPHSS_I_ASK_ALERT_CONFIRM:
        st = settle(ctx, s, job, t, body, id);
        break;
    case GRAPHSS_I_ASK_ALERT_UNDO:
        st = undo(ctx, s, job, t, id);
        break;
    case GRAPHSS_I_ASK_LABELS:
        job->reply.type = LINES;
        st = graphss_store_alerts(ctx, s->store, put_label, t);
        break;
    case GRAPHSS_I_ASK_TRUST:
        st = trust(ctx, s, job, t, body);
        break;
    case GRAPHSS_I_ASK_AUDIT:
    case GRAPHSS_I_ASK_REFUSED:
        st = entries(ctx, s, job, t);
        break;
    default:
        st = say(job, t, 404, "nothing is here");
        break;
    }
    json_decref(body);
    return st;
}
