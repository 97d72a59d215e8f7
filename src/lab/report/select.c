/* select.c - see select.h. Records are few (thousands at most), so each question walks over
 * all of them. */
#include "lab/report/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

typedef struct known {
    const char *name, *shown;
    bool paper; /* one of those the paper's tables have */
} known;

static const known modes[] = {{"honest", "honest"}, {"paper", "paper"}, {0}};
static const known settings[] = {
    {"seen", "seen"}, {"new", "new"}, {"growing", "growing"}, {0}};
static const known datasets[] = {{"cora", "Cora", true}, {"citeseer", "Citeseer", true},
    {"pubmed", "Pubmed", true}, {"amazon_photo", "Amazon Photo", true},
    {"coauthor_cs", "Coauthor CS", true}, {0}};
static const known models[] = {
    {"gcn", "GCN", true}, {"sgc", "SGC", true}, {"sage", "GraphSAGE", true}, {0}};
static const known methods[] = {{"none", "undefended"}, {"keep-last", "keep-last"},
    {"retrain", "retrain"}, {"mlp", "MLP"}, {"label-propagation", "label propagation"},
    {"advtrain", "AdvTrain"}, {"jaccard", "GNN-Jaccard"}, {"svd", "GNN-SVD"}, {"rgcn", "RGCN"},
    {"grand", "GRAND"}, {"prognn", "ProGNN"}, {"nrgnn", "NRGNN"}, {"gnnguard", "GNNGuard"},
    {"appnp", "APPNP"}, {"graphss", "GraphSS"}, {"alert", "alert"}, {0}};
static const known trains[] = {
    {"none", "–"}, {"evasion", "before"}, {"retrain", "after"}, {0}};
static const known tasks[] = {{"defence", "defence"}, {"alert", "alert"}, {0}};
static const known parameters[] = {{"warmup", "warm-up steps"},
    {"retrain-epochs", "retraining epochs"}, {"links", "links changed per victim"},
    {"features", "features changed per victim"}, {"noise", "share of wrong labels"},
    {"nodes", "nodes"}, {"attacker", "attacker"}, {0}};
/* Attackers in the order of their recipe; other values are numbers, or by the alphabet. */
static const known values[] = {{"nobody", "nobody"}, {"benign churn", "benign churn"},
    {"3 links", "3 links"}, {"20 features", "20 features"},
    {"1 link, 10 features", "1 link, 10 features"},
    {"2 links, 20 features", "2 links, 20 features"},
    {"5 links, 50 features", "5 links, 50 features"}, {"random", "random"}, {"DICE", "DICE"},
    {"PRBCD", "PRBCD"}, {"copied node", "copied node"}, {"copied words", "copied words"}, {0}};
static const known whats[] = {{"datasets", "Datasets"}, {"defence", "Defence"},
    {"attackers", "Attackers"}, {"alert", "Alert"}, {"runtime", "Runtime"},
    {"parameters", "Parameters"}, {"ablation", "Ablation"}, {"confusion", "Confusion"},
    {"budget", "Budget"}, {"noise", "Label noise"}, {"scale", "Scale"},
    {"calibration", "Calibration"}, {0}};

static const known *table_of(graphss_i_field field)
{
    static const known *const table[] = {[GRAPHSS_I_MODE] = modes,
        [GRAPHSS_I_SETTING] = settings,
        [GRAPHSS_I_DATASET] = datasets,
        [GRAPHSS_I_MODEL] = models,
        [GRAPHSS_I_METHOD] = methods,
        [GRAPHSS_I_TRAIN] = trains,
        [GRAPHSS_I_TASK] = tasks,
        [GRAPHSS_I_PARAMETER] = parameters,
        [GRAPHSS_I_VALUE] = values,
        [GRAPHSS_I_WHAT] = whats};
    return table[field];
}

const char *graphss_i_shown(graphss_i_field field, const char *name)
{
    for (const known *k = table_of(field); k->name; k++)
        if (!strcmp(k->name, name))
            return k->shown;
    const char *slash = field == GRAPHSS_I_DATASET ? strrchr(name, '/') : NULL;
    return slash && slash[1] ? slash + 1 : name;
}

const char *graphss_i_field_name(graphss_i_field field, size_t i)
{
    const known *k = table_of(field);
    while (k->name && i--)
        k++;
    return k->name;
}

bool graphss_i_in_paper(graphss_i_field field, const char *name)
{
    for (const known *k = table_of(field); k->name; k++)
        if (!strcmp(k->name, name))
            return k->paper;
    return false;
}

graphss_i_family graphss_i_family_of(const char *method)
{
    static const char *const trivial[] = {
        "none", "keep-last", "retrain", "mlp", "label-propagation"};
    if (!strcmp(method, "graphss"))
        return GRAPHSS_I_OURS;
    for (size_t i = 0; i < sizeof trivial / sizeof *trivial; i++)
        if (!strcmp(method, trivial[i]))
            return GRAPHSS_I_TRIVIAL;
    return GRAPHSS_I_RIVAL;
}

static const char *field_of(const graphss_i_run *r, graphss_i_field field)
{
    switch (field) {
    case GRAPHSS_I_MODE:
        return r->mode;
    case GRAPHSS_I_SETTING:
        return r->setting;
    case GRAPHSS_I_DATASET:
        return r->dataset;
    case GRAPHSS_I_MODEL:
        return r->model;
    case GRAPHSS_I_METHOD:
        return r->method;
    case GRAPHSS_I_TRAIN:
        return r->train;
    case GRAPHSS_I_TASK:
        return r->task;
    case GRAPHSS_I_PARAMETER:
        return r->parameter;
    case GRAPHSS_I_VALUE:
        return r->value_text;
    case GRAPHSS_I_WHAT:
        break;
    }
    return r->what;
}

/* ---- statistics ---- */

graphss_i_stat graphss_i_stat_scaled(graphss_i_stat s, double factor)
{
    return (graphss_i_stat){
        s.mean * factor, s.sd * factor, s.low * factor, s.high * factor, s.n};
}

double graphss_i_stat_half(const graphss_i_stat *s)
{
    /* 97.5 % points of Student's t for 1, 2, ... degrees of freedom */
    static const double t[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262,
        2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080,
        2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
    const size_t known_n = sizeof t / sizeof *t;
    if (s->n < 2)
        return NAN;
    return (s->n - 1 <= known_n ? t[s->n - 2] : 1.96) * s->sd / sqrt((double)s->n);
}

/* ---- queries ---- */

static bool equal(const char *wanted, const char *text)
{
    return !wanted || wanted == text || (wanted[0] == text[0] && !strcmp(wanted, text));
}

/* Fields that separate most records come first. */
static bool matches_but_model(const graphss_i_run *r, const graphss_i_query *q)
{
    return equal(q->method, r->method) && equal(q->dataset, r->dataset) &&
           equal(q->value, r->value_text) && equal(q->train, r->train) &&
           equal(q->setting, r->setting) && equal(q->mode, r->mode) &&
           equal(q->what, r->what) && equal(q->task, r->task) &&
           equal(q->parameter, r->parameter);
}

bool graphss_i_matches(const graphss_i_run *r, const graphss_i_query *q)
{
    return equal(q->model, r->model) && matches_but_model(r, q);
}

/* The query with its model replaced by "any" if only such records match. */
static graphss_i_query settled(const graphss_i_runs *records, const graphss_i_query *query)
{
    graphss_i_query q = *query;
    if (!q.model)
        return q;
    for (size_t i = 0; i < records->n; i++)
        if (!records->record[i].error && graphss_i_matches(&records->record[i], &q))
            return q;
    q.model = "any";
    return q;
}

static bool taken(const graphss_i_run *r, const graphss_i_query *q)
{
    return !r->error && graphss_i_matches(r, q);
}

/* Mean and deviation of a sequence of numbers (Welford 1962): mean += (x - mean) / n, squares
 * += (x - old mean) (x - mean) */
typedef struct running {
    double squares;
    graphss_i_stat stat;
} running;

static const running nothing_yet = {0, {NAN, NAN, NAN, NAN, 0}};

static void add_value(running *run, double x)
{
    graphss_i_stat *s = &run->stat;
    if (!isfinite(x))
        return;
    const double before = s->n ? s->mean : 0;
    s->n++;
    s->mean = before + (x - before) / (double)s->n;
    run->squares += (x - before) * (x - s->mean);
    s->low = fmin(s->low, x); /* fmin and fmax pass over NaN */
    s->high = fmax(s->high, x);
}

static graphss_i_stat finished(const running *run)
{
    graphss_i_stat s = run->stat;
    if (s.n > 1)
        s.sd = sqrt(run->squares / (double)(s.n - 1));
    return s;
}

graphss_i_stat graphss_i_stat_of(const double *value, size_t n)
{
    running run = nothing_yet;
    for (size_t i = 0; i < n; i++)
        add_value(&run, value[i]);
    return finished(&run);
}

typedef double (*value_fn)(const graphss_i_runs *records, size_t i, const void *arg);

static graphss_i_stat stat_by(const graphss_i_runs *records, value_fn value, const void *arg)
{
    running run = nothing_yet;
    for (size_t i = 0; i < records->n; i++)
        add_value(&run, value(records, i, arg));
    return finished(&run);
}

typedef struct wanted {
    graphss_i_query a, b;
    const char *metric_a, *metric_b;
} wanted;

static bool same_trial(const graphss_i_run *a, const graphss_i_run *b)
{
    return a->seed == b->seed && !strcmp(a->set, b->set) && !strcmp(a->dataset, b->dataset) &&
           !strcmp(a->mode, b->mode) && !strcmp(a->setting, b->setting) &&
           !strcmp(a->parameter, b->parameter) && !strcmp(a->value_text, b->value_text);
}

static double pair_value(const graphss_i_runs *records, size_t i, const void *arg)
{
    const wanted *w = arg;
    const graphss_i_run *r = &records->record[i];
    if (!taken(r, &w->a))
        return NAN;
    for (size_t j = 0; j < records->n; j++)
        if (taken(&records->record[j], &w->b) && same_trial(r, &records->record[j]))
            return graphss_i_metric(r, w->metric_a) -
                   graphss_i_metric(&records->record[j], w->metric_b);
    return NAN;
}

static double trial_value(const graphss_i_runs *records, size_t i, const void *arg)
{
    const wanted *w = arg;
    const graphss_i_run *r = &records->record[i];
    if (!taken(r, &w->a) || isnan(graphss_i_metric(r, w->metric_a)))
        return NAN;
    for (size_t j = 0; j < i; j++)
        if (taken(&records->record[j], &w->a) && same_trial(r, &records->record[j]) &&
            !strcmp(r->model, records->record[j].model) &&
            !isnan(graphss_i_metric(&records->record[j], w->metric_a)))
            return NAN;
    return graphss_i_metric(r, w->metric_a);
}

/* One walk for both the model and "any": a report makes some ten thousand queries. */
graphss_i_stat graphss_i_stat_metric(
    const graphss_i_runs *records, const graphss_i_query *query, const char *metric)
{
    running own = nothing_yet, any = nothing_yet;
    bool found = false;
    for (size_t i = 0; i < records->n; i++) {
        const graphss_i_run *r = &records->record[i];
        if (r->error || !matches_but_model(r, query))
            continue;
        if (equal(query->model, r->model)) {
            add_value(&own, graphss_i_metric(r, metric));
            found = true;
        } else if (!found && !strcmp(r->model, "any")) {
            add_value(&any, graphss_i_metric(r, metric));
        }
    }
    return finished(found ? &own : &any);
}

graphss_i_stat graphss_i_stat_pairs(const graphss_i_runs *records, const graphss_i_query *a,
    const char *metric_a, const graphss_i_query *b, const char *metric_b)
{
    const wanted w = {settled(records, a), settled(records, b), metric_a, metric_b};
    return stat_by(records, pair_value, &w);
}

graphss_i_stat graphss_i_stat_trials(
    const graphss_i_runs *records, const graphss_i_query *query, const char *metric)
{
    const wanted w = {.a = *query, .metric_a = metric};
    return stat_by(records, trial_value, &w);
}

const graphss_i_run **graphss_i_runs_find(
    graphss_i_runs *records, const graphss_i_query *query, size_t *n)
{
    const graphss_i_query q = settled(records, query);
    const graphss_i_run **list =
        graphss_i_arena_take(&records->arena, records->n + 1, sizeof(const graphss_i_run *));
    *n = 0;
    for (size_t i = 0; list && i < records->n; i++)
        if (taken(&records->record[i], &q))
            list[(*n)++] = &records->record[i];
    return list;
}

size_t graphss_i_runs_count(const graphss_i_runs *records, const graphss_i_query *query)
{
    const graphss_i_query q = settled(records, query);
    size_t n = 0;
    for (size_t i = 0; i < records->n; i++)
        n += taken(&records->record[i], &q);
    return n;
}

const char *graphss_i_threads_text(graphss_i_runs *records, const graphss_i_query *query)
{
    size_t n = 0;
    long long low = 0, high = 0;
    const graphss_i_run **found = graphss_i_runs_find(records, query, &n);
    for (size_t i = 0; i < n; i++) {
        const json_t *how = json_object_get(found[i]->json, "repeat");
        const long long used = json_integer_value(json_object_get(how, "threads"));
        low = i == 0 || used < low ? used : low;
        high = used > high ? used : high;
    }
    if (low != high)
        return graphss_i_arena_say(&records->arena, "%lld to %lld threads", low, high);
    return high < 2 ? "one thread"
                    : graphss_i_arena_say(&records->arena, "%lld threads", high);
}

double graphss_i_stated_rate(const graphss_i_run *record)
{
    const json_t *how = json_object_get(record->json, "repeat");
    const json_t *alert = json_object_get(json_object_get(how, "options"), "alert");
    const json_t *rate = json_object_get(alert, "false-alarm-rate");
    return json_is_number(rate) ? json_number_value(rate) : 0.05; /* the default */
}

const char *graphss_i_rates_text(graphss_i_runs *records, const graphss_i_query *query)
{
    size_t n = 0;
    double low = 0.05, high = 0.05;
    char text[2][32];
    const graphss_i_run **found = graphss_i_runs_find(records, query, &n);
    for (size_t i = 0; i < n; i++) {
        const double rate = graphss_i_stated_rate(found[i]);
        low = i == 0 || rate < low ? rate : low;
        high = i == 0 || rate > high ? rate : high;
    }
    graphss_i_double_text(text[0], sizeof text[0], low);
    graphss_i_double_text(text[1], sizeof text[1], high);
    return low == high ? graphss_i_arena_say(&records->arena, "%s", text[0])
                       : graphss_i_arena_say(&records->arena, "%s to %s", text[0], text[1]);
}

/* ---- lists of names ---- */

static size_t rank(const known *table, const char *name)
{
    size_t i = 0;
    while (table[i].name && strcmp(table[i].name, name) != 0)
        i++;
    return i;
}

static int compare(const known *table, const char *a, const char *b)
{
    const size_t at_a = rank(table, a), at_b = rank(table, b);
    double x = 0, y = 0;
    if (at_a != at_b)
        return at_a < at_b ? -1 : 1;
    if (graphss_i_parse_double(&x, a, strlen(a)) && graphss_i_parse_double(&y, b, strlen(b)) &&
        x != y)
        return x < y ? -1 : 1;
    return strcmp(a, b);
}

graphss_i_list graphss_i_distinct(
    graphss_i_runs *records, const graphss_i_query *query, graphss_i_field field)
{
    const known *table = table_of(field);
    /* A method may be recorded under "any"; a query for methods includes those. */
    const graphss_i_query q = query->method ? settled(records, query) : *query;
    graphss_i_list out = {NULL, 0};
    size_t room = 0;
    for (size_t i = 0; i < records->n; i++) {
        const graphss_i_run *r = &records->record[i];
        const bool fits = graphss_i_matches(r, &q) ||
                          (q.model && field == GRAPHSS_I_METHOD && !strcmp(r->model, "any") &&
                              matches_but_model(r, &q));
        if (r->error || !fits)
            continue;
        const char *text = field_of(r, field);
        size_t at = 0;
        while (at < out.n && strcmp(out.text[at], text) != 0)
            at++;
        if (at < out.n)
            continue;
        at = 0;
        while (at < out.n && compare(table, out.text[at], text) < 0)
            at++;
        const char **larger = graphss_i_arena_room(
            &records->arena, out.text, out.n, &room, sizeof(const char *));
        if (!larger)
            return (graphss_i_list){NULL, 0};
        out.text = larger;
        memmove(out.text + at + 1, out.text + at, (out.n - at) * sizeof *out.text);
        out.text[at] = text;
        out.n++;
    }
    return out;
}

/* ---- generated graphs ---- */

static bool is_long(const char *name)
{
    return !strncmp(name, "synth:", 6) && strlen(name) > 24;
}

graphss_i_list graphss_i_long_names(graphss_i_runs *records)
{
    graphss_i_list out = {NULL, 0};
    size_t room = 0;
    for (size_t i = 0; i < records->n; i++) {
        const char *name = records->record[i].dataset;
        size_t at = 0;
        while (at < out.n && strcmp(out.text[at], name) != 0)
            at++;
        if (at < out.n || !is_long(name))
            continue;
        const char **larger = graphss_i_arena_room(
            &records->arena, out.text, out.n, &room, sizeof(const char *));
        if (!larger)
            return (graphss_i_list){NULL, 0};
        out.text = larger;
        out.text[out.n++] = name;
    }
    return out;
}

static const char *shortened(graphss_i_runs *records, const char *name, const char *otherwise)
{
    if (!is_long(name))
        return otherwise;
    const graphss_i_list all = graphss_i_long_names(records);
    for (size_t i = 0; i < all.n && all.n > 1; i++)
        if (!strcmp(all.text[i], name))
            return graphss_i_arena_say(&records->arena, "synth-%zu", i + 1);
    return "synth";
}

const char *graphss_i_dataset_name(graphss_i_runs *records, const char *name)
{
    return shortened(records, name, graphss_i_shown(GRAPHSS_I_DATASET, name));
}

const char *graphss_i_short_id(graphss_i_runs *records, const char *name)
{
    return shortened(records, name, name);
}
