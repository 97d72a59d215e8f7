/* page.c - the page for people, written for each request: state, evidence over time, alerts,
 * suspects and why, one node with its neighbours, the health of the monitor itself, and what
 * it does not detect. It is complete without JavaScript; the script only refreshes it. */
#include "serve/serve_private.h"
#include <math.h>
#include <string.h>

enum { SUSPECTS = 10, ALERTS = 20 };

static void add(graphss_i_text *t, const char *html)
{
    graphss_i_text_add(t, html);
}

static void percent(graphss_i_text *t, double share)
{
    if (isnan(share)) {
        add(t, "-");
        return;
    }
    graphss_i_text_fixed(t, 100 * share, share > 0.995 || share < 0.1 ? 1 : 0);
    add(t, " %");
}

/* "3 h" of seconds. */
static void duration(graphss_i_text *t, double seconds)
{
    static const struct {
        double length;
        const char *name;
    } unit[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    if (isnan(seconds)) {
        add(t, "-");
        return;
    }
    size_t i = 0;
    while (i < 3 && seconds < 2 * unit[i].length)
        i++;
    graphss_i_text_fixed(t, seconds < 0 ? 0 : floor(seconds / unit[i].length), 0);
    graphss_i_text_format(t, " %s", unit[i].name);
}

static void moment(graphss_i_text *t, double at)
{
    char when[GRAPHSS_TIME_TEXT];
    graphss_time_text(when, at);
    if (!*when) {
        add(t, "-");
        return;
    }
    graphss_i_text_format(
        t, "<time datetime=\"%s\">%.10s %.8s UTC</time>", when, when, when + 11);
}

static void row(graphss_i_text *t, const char *name)
{
    graphss_i_text_format(t, "<dt>%s</dt><dd>", name);
}

/* ---- the state in one sentence ---- */

static void put_state(graphss_i_text *t, const graphss_live_status *v,
    const graphss_i_view *view, const graphss_live *live)
{
    bool warming = v->suspicion;
    for (int kind = 1; kind < GRAPHSS_LIVE_KINDS; kind++)
        warming = warming && v->known[kind] < (uint64_t)v->warm_up;
    const bool waiting = warming || v->checks == 0;
    graphss_i_text_format(t, "<section id=\"state\" class=\"%s\"><h2>",
        v->open_alerts  ? "firing"
        : !v->suspicion ? "unknown"
        : waiting       ? "warming"
                        : "calm");
    if (v->open_alerts) {
        double since = INFINITY;
        const char *group = "all";
        for (size_t i = 0; i < v->n_alerts; i++) {
            graphss_live_alert a;
            graphss_live_alert_get(live, &a, i);
            if (a.state <= GRAPHSS_ALERT_ACKNOWLEDGED && a.t < since) {
                since = a.t;
                group = a.group;
            }
        }
        add(t, "Alert since ");
        moment(t, since);
        if (strcmp(group, "all") != 0) {
            add(t, " in group ");
            graphss_i_text_html(t, group);
        }
        add(t, ": the graph changed in a way that benign change does not explain.");
    } else if (!v->suspicion) {
        add(t, "Nothing is judged: the model was trained without a detector.");
    } else if (warming) {
        add(t, "Still learning what usual change looks like. Nothing is judged yet.");
    } else if (waiting) {
        add(t,
            "Changes are judged, but there was no test yet: the times of events decide when.");
    } else {
        add(t, "No sign of tampering.");
    }
    add(t, "</h2><p>p = ");
    graphss_i_text_short(t, view->all.p_value);
    graphss_i_text_format(t, " for all nodes, after %llu changes of nodes and %llu tests. ",
        (unsigned long long)v->judged, (unsigned long long)v->checks);
    if (!isnan(view->at)) {
        add(t, "Last events ");
        duration(t, graphss_i_wall() - view->at);
        add(t, " ago.");
    } else {
        add(t, "No events since the start.");
    }
    add(t, "</p></section>\n");
}

/* ---- evidence over time ---- */

static void put_evidence(graphss_i_text *t, const graphss_server *s,
    const graphss_live_status *v, const graphss_i_view *view)
{
    size_t n;
    const graphss_live_past_test *past = graphss_live_past_tests(s->live, &n);
    add(t, "<section id=\"evidence\"><h2>Evidence over time</h2>");
    if (n < 2) {
        add(t, "<p>The curve begins with the second test.</p>");
    } else {
        add(t, "<div class=\"two\"><figure><figcaption>p-value since the trusted snapshot, on "
               "a logarithmic scale: the lower the stranger</figcaption>");
        graphss_i_page_plot(t, past, n, true, 0);
        add(t, "</figure><figure><figcaption>Evidence of the test; above the dashed line, ");
        graphss_i_text_short(t, view->all.threshold);
        add(t, ", an alert is raised</figcaption>");
        graphss_i_page_plot(t, past, n, false, view->all.threshold);
        add(t, "</figure></div><p class=\"ends\"><span>");
        moment(t, past[0].t);
        add(t, "</span><span>");
        moment(t, past[n - 1].t);
        add(t, "</span></p>");
    }
    add(t, "<p>False alarms: at most ");
    graphss_i_text_short(t, v->false_alarms);
    add(t, " expected in ");
    duration(t, v->period);
    add(t, "; ");
    graphss_i_text_short(t, v->dismissed);
    add(t, " dismissed in the last, <strong>");
    graphss_i_text_short(t, v->budget_left);
    add(t, " left</strong>. <meter min=\"0\" max=\"");
    graphss_i_text_real(t, v->false_alarms);
    add(t, "\" value=\"");
    graphss_i_text_real(t, v->budget_left);
    add(t, "\">budget</meter></p></section>\n");
}

/* ---- alerts ---- */

typedef struct alert_rows {
    graphss_i_text *t;
    uint64_t first;
    size_t n;
    bool may;
    const char *form;
} alert_rows;

static void put_buttons(const alert_rows *rows, const graphss_store_alert *a)
{
    static const struct {
        const char *action, *text;
    } button[] = {{"ack", "Acknowledge"}, {"dismiss", "Dismiss"}, {"confirm", "Confirm"}};
    graphss_i_text *t = rows->t;
    graphss_i_text_format(t,
        "<form method=\"post\" action=\"/act\"><input type=\"hidden\" name=\"form\" "
        "value=\"%s\"><input type=\"hidden\" name=\"alert\" value=\"%llu\"><label>Note <input "
        "name=\"note\" maxlength=\"200\" autocomplete=\"off\"></label>",
        rows->form, (unsigned long long)a->id);
    for (size_t i = a->state == GRAPHSS_ALERT_ACKNOWLEDGED; i < 3; i++)
        graphss_i_text_format(t, "<button name=\"action\" value=\"%s\">%s</button>",
            button[i].action, button[i].text);
    add(t, "</form>");
}

static graphss_status put_alert(void *user, const graphss_store_alert *a)
{
    alert_rows *rows = user;
    graphss_i_text *t = rows->t;
    const bool open = a->state <= GRAPHSS_ALERT_ACKNOWLEDGED;
    if (a->id < rows->first && !open)
        return GRAPHSS_OK;
    rows->n++;
    graphss_i_text_format(t, "<li class=\"%s\"><h3>Alert %llu: %s</h3><p>Group ",
        open ? "open" : "settled", (unsigned long long)a->id,
        graphss_alert_state_text(a->state));
    graphss_i_text_html(t, a->group);
    add(t, ", ");
    moment(t, a->t);
    add(t, ". Evidence ");
    graphss_i_text_short(t, a->e_value);
    add(t, " of ");
    graphss_i_text_short(t, a->threshold);
    graphss_i_text_format(t, ", p = ");
    graphss_i_text_short(t, a->p_value);
    graphss_i_text_format(t, ", %llu changed nodes.", (unsigned long long)a->judged);
    if (a->who) {
        add(t, " By ");
        graphss_i_text_html(t, a->who);
    }
    if (a->note && *a->note) {
        add(t, ": ");
        graphss_i_text_html(t, a->note);
    }
    graphss_i_text_format(t,
        "</p><p><a href=\"/v1/alerts/%llu\">As JSON</a> <a "
        "href=\"/v1/alerts/%llu/undo\">Events that undo it</a></p>",
        (unsigned long long)a->id, (unsigned long long)a->id);
    if (open && rows->may)
        put_buttons(rows, a);
    add(t, "</li>");
    return t->failed ? GRAPHSS_ERR_NOMEM : GRAPHSS_OK;
}

static graphss_status put_alerts(graphss_ctx *ctx, graphss_server *s, const graphss_i_job *job,
    graphss_i_text *t, const graphss_live_status *v)
{
    char form[65];
    graphss_i_form_token(form, s->secret, job->who);
    alert_rows rows = {.t = t,
        .first = v->n_alerts > ALERTS ? v->n_alerts - ALERTS : 0,
        .may = job->role == GRAPHSS_I_ROLE_ADMIN,
        .form = form};
    add(t, "<section id=\"alerts\"><h2>Alerts</h2><ul class=\"cards\">");
    const graphss_status st = graphss_store_alerts(ctx, s->store, put_alert, &rows);
    add(t, "</ul>");
    if (rows.n == 0)
        add(t, "<p>None yet.</p>");
    add(t, "</section>\n");
    return st;
}

/* ---- nodes ---- */

static void class_of(graphss_i_text *t, const graphss_live *live, int32_t c)
{
    char room[32];
    if (c < 0)
        add(t, "-");
    else
        graphss_i_text_html(t, graphss_live_class(live, (size_t)c, room));
}

static void node_link(graphss_i_text *t, const char *name)
{
    add(t, "<a href=\"/?node=");
    graphss_i_text_url(t, name);
    add(t, "#node\">");
    graphss_i_text_html(t, name);
    add(t, "</a>");
}

static void put_facts(
    graphss_ctx *ctx, graphss_i_text *t, const graphss_i_why *why, const graphss_live *live)
{
    graphss_i_text sentence = {.ctx = ctx};
    add(t, "<dl class=\"facts\">");
    row(t, "Label before");
    class_of(t, live, why->node.trusted);
    add(t, "</dd>");
    row(t, "Label now");
    class_of(t, live, why->node.predicted);
    add(t, "</dd>");
    row(t, "Recovered");
    class_of(t, live, why->node.recovered);
    if (why->node.recovered >= 0) {
        add(t, " (");
        percent(t, why->node.recovered_prob);
        add(t, ")");
    }
    add(t, "</dd>");
    row(t, "Chance of tampering");
    percent(t, why->chance);
    add(t, "</dd>");
    row(t, "p-value");
    graphss_i_text_short(t, why->node.p_value);
    add(t, "</dd></dl><ul class=\"why\">");
    for (size_t i = 0; graphss_i_why_sentence(&sentence, why, live, i); i++) {
        add(t, "<li>");
        graphss_i_text_html(t, sentence.at);
        add(t, "</li>");
        graphss_i_text_clear(&sentence);
    }
    add(t, "</ul>");
    t->failed = t->failed || sentence.failed;
    graphss_i_text_destroy(&sentence);
}

static graphss_status put_suspects(graphss_ctx *ctx, graphss_server *s, graphss_i_text *t)
{
    int32_t node[SUSPECTS];
    size_t n = SUSPECTS;
    graphss_status st = graphss_live_suspects(ctx, s->live, node, &n);
    add(t, "<section id=\"nodes\"><h2>Suspicious nodes</h2>");
    if (!st && n == 0)
        add(t, "<p>None: no node that changed looks odd among changes of its kind.</p>");
    add(t, "<ol class=\"cards\">");
    for (size_t i = 0; i < n && !st; i++) {
        graphss_i_why why;
        st = graphss_i_why_get(ctx, &why, s->live, (size_t)node[i]);
        if (st)
            break;
        add(t, "<li><h3>");
        node_link(t, graphss_live_name(s->live, (size_t)node[i]));
        add(t, "</h3>");
        put_facts(ctx, t, &why, s->live);
        add(t, "</li>");
        graphss_i_why_destroy(ctx, &why);
    }
    add(t, "</ol></section>\n");
    return st;
}

static graphss_status put_chosen(
    graphss_ctx *ctx, graphss_server *s, const graphss_i_job *job, graphss_i_text *t)
{
    const char *name = graphss_i_pair_get(job->request.query, job->request.n_query, "node");
    const int64_t node = name ? graphss_live_find(s->live, name) : -1;
    graphss_i_why why;
    graphss_status st = GRAPHSS_OK;
    add(t,
        "<section id=\"node\"><h2>One node</h2><form method=\"get\" action=\"/#node\"><label>"
        "Name <input name=\"node\" value=\"");
    graphss_i_text_html(t, name);
    add(t, "\"></label><button>Show</button></form>");
    if (name && node < 0)
        add(t, "<p>There is no such node.</p>");
    if (node >= 0)
        st = graphss_i_why_get(ctx, &why, s->live, (size_t)node);
    if (node >= 0 && !st) {
        add(t, "<h3>");
        graphss_i_text_html(t, name);
        add(t, "</h3><div class=\"two\"><div>");
        put_facts(ctx, t, &why, s->live);
        add(t, "</div>");
        graphss_i_page_neighbours(t, s->live, (size_t)node, &why);
        add(t, "</div>");
        graphss_i_why_destroy(ctx, &why);
    }
    add(t, "</section>\n");
    return st;
}

/* ---- the monitor itself ---- */

static void put_health(graphss_i_text *t, const graphss_live_status *v,
    const graphss_i_view *view, const graphss_i_counts *c, size_t waiting, int64_t queue)
{
    const double wall = graphss_i_wall();
    add(t, "<section id=\"health\"><h2>The monitor</h2><dl class=\"facts\">");
    row(t, "Graph");
    graphss_i_text_format(t, "%zu nodes, %zu links</dd>", v->n_nodes, v->n_edges);
    row(t, "Changed");
    graphss_i_text_format(t, "%zu nodes since ", v->changed_nodes);
    moment(t, v->trusted_since);
    add(t, "</dd>");
    row(t, "Behind the stream");
    duration(t, wall - v->now);
    add(t, "</dd>");
    row(t, "Events");
    graphss_i_text_format(t, "%llu, ", (unsigned long long)c->lines);
    graphss_i_text_short(t, view->rate);
    add(t, " a second</dd>");
    row(t, "Set aside");
    graphss_i_text_format(t, "<a href=\"/v1/refused\">%llu</a></dd>",
        (unsigned long long)(c->refused + c->unreadable));
    row(t, "Queue");
    graphss_i_text_format(t, "%zu of %lld</dd>", waiting, (long long)queue);
    row(t, "Model");
    graphss_i_text_html(t, view->model_type);
    add(t, ", loaded ");
    duration(t, wall - view->model_loaded);
    add(t, " ago");
    add(t, "</dd>");
    row(t, "Calibration");
    size_t lacking = 0;
    for (int kind = 1; kind < GRAPHSS_LIVE_KINDS; kind++)
        if (v->known[kind] < (uint64_t)v->warm_up)
            graphss_i_text_format(t, "%s%s: %llu of %lld", lacking++ ? ", " : "still learns ",
                graphss_live_kind_text((graphss_live_kind)kind),
                (unsigned long long)v->known[kind], (long long)v->warm_up);
    if (lacking == 0)
        add(t, "enough of each kind of change");
    add(t, "</dd></dl>");
    if (*view->error) {
        add(t, "<p class=\"trouble\">Last trouble: ");
        graphss_i_text_html(t, view->error);
        add(t, "</p>");
    }
    add(t,
        "</section>\n<section id=\"limits\"><h2>What is not looked for</h2><ul>"
        "<li>Tampering that was there before the first snapshot: nodes are compared with it."
        "</li><li>Changes of a kind that is still learned (see calibration).</li><li>Attacks "
        "whose nodes look no odder than benign change does.</li><li>Wrong labels among those "
        "the model was trained on.</li></ul><p>Benign change of a new sort raises an alert, "
        "too: dismiss it. <a href=\"/openapi.json\">Interface</a> <a href=\"/metrics\">"
        "Metrics</a> <a href=\"/v1/audit\">Audit trail</a></p></section>\n");
}

/* ---- forms ---- */

/* The action of a button; then the page again, so that a reload repeats nothing. */
static graphss_status act(
    graphss_ctx *ctx, graphss_server *s, graphss_i_job *job, graphss_i_text *t)
{
    static const char *const actions[] = {"ack", "dismiss", "confirm"};
    const graphss_i_pair *form = job->request.form;
    const size_t n = job->request.n_form;
    const char *action = graphss_i_pair_get(form, n, "action"),
               *note = graphss_i_pair_get(form, n, "note");
    char wanted[65];
    uint64_t id = 0;
    int state = 0;
    graphss_i_form_token(wanted, s->secret, job->who);
    if (!graphss_i_same_secret(graphss_i_pair_get(form, n, "form"), wanted)) {
        job->reply.status = 403;
        job->reply.type = "application/json";
        graphss_i_answer_error(t, "this form is not of this page, or of an earlier run: load "
                                  "the page again");
        return GRAPHSS_OK;
    }
    while (state < 3 && (!action || strcmp(action, actions[state]) != 0))
        state++;
    graphss_live_status v;
    graphss_live_status_get(s->live, &v);
    if (state == 3 ||
        !graphss_i_number_parse(&id, graphss_i_pair_get(form, n, "alert"), 1, v.n_alerts)) {
        job->reply.status = 400;
        job->reply.type = "application/json";
        graphss_i_answer_error(t, "want an alert, and ack, dismiss or confirm");
        return GRAPHSS_OK;
    }
    const graphss_status st =
        graphss_store_settle(ctx, s->store, s->live, id, (graphss_alert_state)(state + 1),
            *job->who ? job->who : "page", note && *note ? note : NULL, graphss_i_wall());
    if (st)
        return st;
    s->dirty = true;
    job->reply.status = 303;
    job->reply.see = "/#alerts";
    return GRAPHSS_OK;
}

graphss_status graphss_i_page(
    graphss_ctx *ctx, graphss_server *s, graphss_i_job *job, graphss_i_text *t)
{
    graphss_live_status v;
    job->reply.type = "text/html; charset=utf-8";
    if (job->request.ask == GRAPHSS_I_ASK_PAGE_ACT)
        return act(ctx, s, job, t);
    graphss_live_status_get(s->live, &v);
    pthread_mutex_lock(&s->lock);
    graphss_i_view view = s->view;
    const graphss_i_counts counts = s->counts;
    const size_t waiting = s->n_lines;
    pthread_mutex_unlock(&s->lock);
    graphss_live_group_get(s->live, &view.all, 0);
    graphss_i_text_format(t,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\""
        "viewport\" content=\"width=device-width, initial-scale=1\"><meta "
        "name=\"color-scheme\""
        " content=\"light dark\"><title>%s - GraphSS</title><link rel=\"icon\" "
        "href=\"data:,\">"
        "<link rel=\"stylesheet\" href=\"/page.css\"><script src=\"/page.js\" defer></script>"
        "<noscript><meta http-equiv=\"refresh\" content=\"30\"></noscript></head>\n<body>"
        "<header><h1>GraphSS</h1><nav><a href=\"#alerts\">Alerts</a> <a href=\"#nodes\">Nodes"
        "</a> <a href=\"#health\">Monitor</a></nav></header>\n<main>\n",
        v.open_alerts             ? "ALERT"
        : v.suspicion && v.checks ? "Calm"
                                  : "Watching");
    put_state(t, &v, &view, s->live);
    put_evidence(t, s, &v, &view);
    graphss_status st = put_alerts(ctx, s, job, t, &v);
    if (!st)
        st = put_suspects(ctx, s, t);
    if (!st)
        st = put_chosen(ctx, s, job, t);
    put_health(t, &v, &view, &counts, waiting, s->opt.queue);
    add(t, "</main></body></html>\n");
    return st;
}
