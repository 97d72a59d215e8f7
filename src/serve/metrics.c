/* metrics.c - the text that Prometheus reads. No name of a node is a label: their number has
 * no bound. */
#include "serve/serve_private.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void head(graphss_i_text *t, const char *name, const char *type, const char *help)
{
    graphss_i_text_format(t, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void value(graphss_i_text *t, double x)
{
    if (isnan(x))
        graphss_i_text_add(t, "NaN\n");
    else if (isinf(x))
        graphss_i_text_add(t, x > 0 ? "+Inf\n" : "-Inf\n");
    else {
        graphss_i_text_real(t, x);
        graphss_i_text_add(t, "\n");
    }
}

static void one(
    graphss_i_text *t, const char *name, const char *type, const char *help, double x)
{
    head(t, name, type, help);
    graphss_i_text_format(t, "%s ", name);
    value(t, x);
}

static void labelled(
    graphss_i_text *t, const char *name, const char *label, const char *of, double x)
{
    graphss_i_text_format(t, "%s{%s=\"%s\"} ", name, label, of);
    value(t, x);
}

static void histogram(
    graphss_i_text *t, const char *name, const char *help, const graphss_i_histogram *h)
{
    uint64_t n = 0;
    head(t, name, "histogram", help);
    for (size_t i = 0; i < GRAPHSS_I_BUCKETS; i++) {
        n += h->count[i];
        graphss_i_text_format(t, "%s_bucket{le=\"", name);
        graphss_i_text_real(t, graphss_i_bucket[i]);
        graphss_i_text_format(t, "\"} %llu\n", (unsigned long long)n);
    }
    n += h->count[GRAPHSS_I_BUCKETS];
    graphss_i_text_format(
        t, "%s_bucket{le=\"+Inf\"} %llu\n%s_sum ", name, (unsigned long long)n, name);
    value(t, h->sum);
    graphss_i_text_format(t, "%s_count %llu\n", name, (unsigned long long)n);
}

/* Resident memory of the process. */
static double resident(void)
{
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%*s %llu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

void graphss_i_metrics(graphss_i_text *t, graphss_server *s)
{
    pthread_mutex_lock(&s->lock);
    const graphss_i_counts c = s->counts;
    const graphss_i_view v = s->view;
    const size_t waiting = s->n_lines, asked = s->asked.n;
    const double beat = graphss_i_seconds() - s->beat;
    uint64_t fed = 0, feeds_over = 0;
    for (size_t i = 0; i < s->n_feeds; i++) {
        fed += s->feed[i].lines;
        feeds_over += s->feed[i].over && s->feed[i].status;
    }
    const bool tells = s->sender.started, in_trouble = s->sender.trouble[0] != 0;
    const uint64_t sent = s->sender.sent;
    const size_t unsent = s->sender.unsent;
    pthread_mutex_unlock(&s->lock);
    const double wall = graphss_i_wall();

    head(t, "graphss_events_total", "counter", "Events by what became of them.");
    labelled(t, "graphss_events_total", "result", "applied", (double)c.applied);
    labelled(t, "graphss_events_total", "result", "duplicate", (double)c.duplicates);
    labelled(t, "graphss_events_total", "result", "refused", (double)c.refused);
    labelled(t, "graphss_events_total", "result", "unreadable", (double)c.unreadable);
    one(t, "graphss_batches_total", "counter", "Batches of events that were stored.",
        (double)c.batches);
    one(t, "graphss_source_events_total", "counter", "Events of sources other than HTTP.",
        (double)fed);
    one(t, "graphss_sources_failed", "gauge", "Sources of events that ended with an error.",
        (double)feeds_over);
    one(t, "graphss_queue_events", "gauge", "Events that wait to be applied.",
        (double)waiting);
    one(t, "graphss_queue_requests", "gauge", "Questions that wait to be answered.",
        (double)asked);
    one(t, "graphss_event_lag_seconds", "gauge",
        "Wall clock less the time of the newest event.", wall - v.status.now);
    one(t, "graphss_engine_beat_seconds", "gauge",
        "Seconds since the thread of the engine last came round.", beat);
    histogram(t, "graphss_apply_duration_seconds",
        "Time to apply and store a batch of events.", &c.apply);
    histogram(t, "graphss_request_duration_seconds",
        "Time from a whole request to its answer, of those that need the engine.", &c.request);
    head(t, "graphss_responses_total", "counter", "Answers by the class of their status.");
    for (int i = 2; i < GRAPHSS_I_STATUSES; i++) {
        char of[4];
        snprintf(of, sizeof of, "%dxx", i);
        labelled(t, "graphss_responses_total", "code", of, (double)c.answered[i]);
    }
    one(t, "graphss_requests_busy_total", "counter",
        "Requests refused because the queue was full.", (double)c.busy);
    one(t, "graphss_requests_limited_total", "counter",
        "Requests refused by the limits of an address.", (double)c.limited);
    one(t, "graphss_requests_unauthorised_total", "counter", "Requests without a token.",
        (double)c.unauthorised);
    one(t, "graphss_store_failures_total", "counter",
        "Batches that the store did not take; they were refused.", (double)c.store_failures);
    if (tells) {
        one(t, "graphss_outbox_messages", "gauge",
            "Messages about alerts that not every receiver took yet.", (double)unsent);
        one(t, "graphss_outbox_sent_total", "counter", "Messages that were taken.",
            (double)sent);
        one(t, "graphss_outbox_failing", "gauge", "1 while a receiver of alerts fails.",
            in_trouble);
    }

    head(t, "graphss_alerts", "gauge", "Alerts by their state.");
    for (int i = 0; i < 4; i++)
        labelled(t, "graphss_alerts", "state",
            graphss_alert_state_text((graphss_alert_state)i), (double)v.alerts_by_state[i]);
    one(t, "graphss_alert_firing", "gauge", "Alerts that are open or acknowledged.",
        (double)v.status.open_alerts);
    one(t, "graphss_alert_p_value", "gauge",
        "Of all nodes: 1 / the largest evidence since the trusted snapshot.", v.all.p_value);
    one(t, "graphss_alert_evidence", "gauge", "Of all nodes: evidence of the test.",
        v.all.e_value);
    one(t, "graphss_alert_threshold", "gauge", "Evidence at which an alert is raised.",
        v.all.threshold);
    one(t, "graphss_false_alarms_left", "gauge",
        "False alarms that the promise allows yet in this period.", v.status.budget_left);
    one(t, "graphss_checks_total", "counter", "Tests so far.", (double)v.status.checks);
    one(t, "graphss_judged_total", "counter", "Changed nodes that were ranked.",
        (double)v.status.judged);
    one(t, "graphss_nodes", "gauge", "Nodes of the graph.", (double)v.status.n_nodes);
    one(t, "graphss_links", "gauge", "Links of the graph.", (double)v.status.n_edges);
    one(t, "graphss_changed_nodes", "gauge", "Nodes that differ from the trusted snapshot.",
        (double)v.status.changed_nodes);
    one(t, "graphss_trusted_age_seconds", "gauge",
        "Age of the trusted snapshot in the time of events.",
        v.status.now - v.status.trusted_since);
    one(t, "graphss_ready", "gauge", "1 while requests are taken.", v.ready);
    head(t, "graphss_model_info", "gauge", "The model in use.");
    graphss_i_text_format(t, "graphss_model_info{model=\"%s\",version=\"%s\"} 1\n",
        v.model_type, graphss_version());
    one(t, "graphss_model_age_seconds", "gauge", "Time since the model was loaded.",
        wall - v.model_loaded);
    one(t, "process_resident_memory_bytes", "gauge", "Resident memory size in bytes.",
        resident());
}
