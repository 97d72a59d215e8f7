/* attack.c - the table of attacks, their options, and the checks that all of them rely on. */
#include "attack/attack_method.h"
#include "graph/check.h"
#include "graph/rows.h"
#include "models/model_type.h"
#include <math.h>
#include <string.h>

static const graphss_i_attack_method *const methods[] = {
#define ATTACK(name) &graphss_i_##name##_attack,
#include "attack/attacks.def"
#undef ATTACK
};
enum { METHODS = sizeof methods / sizeof *methods };

const char *graphss_attack_name(size_t i)
{
    return i < METHODS ? methods[i]->name : NULL;
}

const char *graphss_attack_summary(size_t i)
{
    return i < METHODS ? methods[i]->summary : NULL;
}

static const graphss_i_attack_method *find(const char *name)
{
    for (size_t i = 0; name && i < METHODS; i++)
        if (strcmp(methods[i]->name, name) == 0)
            return methods[i];
    return NULL;
}

bool graphss_attack_needs_surrogate(const char *name)
{
    const graphss_i_attack_method *method = find(name);
    return method && method->needs_surrogate;
}

bool graphss_attack_needs_model(const char *name)
{
    const graphss_i_attack_method *method = find(name);
    return method && method->needs_model;
}

bool graphss_attack_edges_only(const char *name)
{
    const graphss_i_attack_method *method = find(name);
    return method && method->edges_only;
}

bool graphss_attack_uses(const char *name, const char *option)
{
    static const char *const tests[] = {"degree-test", "delta-cutoff", "cooccurrence-test"};
    const graphss_i_attack_method *method = find(name);
    if (!method || !option || !graphss_option_find(graphss_attack_options_table(), option))
        return false;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (strcmp(option, tests[i]) == 0)
            return method->tests;
    if (strcmp(option, "queries") == 0 || strcmp(option, "against") == 0)
        return method->queries;
    return strcmp(option, "feature-domain") != 0 || method->domain;
}

const char *graphss_i_attack_find(const char *name)
{
    const graphss_i_attack_method *method = find(name);
    return method ? method->name : NULL;
}

graphss_status graphss_i_attack_log_steps(
    graphss_ctx *ctx, graphss_attack_log *log, const graphss_flips *flips)
{
    log->step = graphss_i_calloc(ctx, flips->count, sizeof *log->step);
    if (!log->step)
        return GRAPHSS_ERR_NOMEM;
    for (; log->n_steps < flips->count; log->n_steps++)
        log->step[log->n_steps].loss = NAN;
    return GRAPHSS_OK;
}

void graphss_attack_input_init(graphss_attack_input *in)
{
    *in = (graphss_attack_input){.struct_size = sizeof *in};
}

/* A posterior of 0 is taken for this, so that a margin has a value. */
static const double LEAST = 1e-12;

void graphss_attack_margins(
    double *loss, const graphss_attack_input *in, const double *posterior)
{
    const size_t k = in->n_classes;
    for (size_t i = 0; i < in->n_victims; i++) {
        const double *p = posterior + (size_t)in->victim[i] * k;
        const size_t own = (size_t)in->label[in->victim[i]];
        double other = 0;
        for (size_t c = 0; c < k; c++)
            other = c != own && p[c] > other ? p[c] : other;
        loss[i] = log(fmax(p[own], LEAST)) - log(fmax(other, LEAST));
    }
}

void graphss_attack_options_init(graphss_attack_options *opt)
{
    *opt = (graphss_attack_options){.struct_size = sizeof(graphss_attack_options),
        .method = "nettack",
        .mode = GRAPHSS_MODE_DEFAULT,
        .kind = GRAPHSS_ATTACK_LF,
        .edges = 2,
        .features = 20,
        .degree_test = true,
        .delta_cutoff = 0.004,
        .cooccurrence_test = true,
        .domain = GRAPHSS_DOMAIN_DETECT};
}

static const char *const kinds[] = {"lf", "links", "features", "both", NULL};
static const char *const knowledge[] = {"truth", "predictions", "nothing", NULL};
static const char *const domains[] = {"detect", "binary", "counts", "real", NULL};

const graphss_option *graphss_attack_options_table(void)
{
#define AT(field) offsetof(graphss_attack_options, field)
    static const graphss_option table[] = {
        {"method", GRAPHSS_OPTION_STRING, AT(method), 0, 0, NULL, "NAME", "the attack", 0},
        {"mode", GRAPHSS_OPTION_CHOICE, AT(mode), 0, 0, graphss_i_mode_names, "MODE",
            "honest, or as the paper's public code attacks", 0},
        {"kind", GRAPHSS_OPTION_CHOICE, AT(kind), 0, 0, kinds, "KIND",
            "lf: --links then --features; links, features, both: --budget changes", 0},
        {"links", GRAPHSS_OPTION_AMOUNT, AT(edges), 0, 1e6, NULL, "N",
            "link changes per victim, or a share of its links: 50% (kind lf)", 0,
            .share = AT(edges_share)},
        {"features", GRAPHSS_OPTION_AMOUNT, AT(features), 0, 1e6, NULL, "N",
            "feature changes per victim, or a share of its features: 50% (kind lf)", 0,
            .share = AT(features_share)},
        {"budget", GRAPHSS_OPTION_INT, AT(budget), 0, 1e6, NULL, "N",
            "changes per victim (other kinds); 0: its degree + 2", 0},
        {"independent", GRAPHSS_OPTION_BOOL, AT(independent), 0, 0, NULL, NULL,
            "attack each victim on the original graph, not after the victims before it", 0},
        {"influencers", GRAPHSS_OPTION_INT, AT(influencers), 0, 1e6, NULL, "N",
            "change only N neighbours of the victim; 0: the victim itself", 0},
        {"degree-test", GRAPHSS_OPTION_BOOL, AT(degree_test), 0, 0, NULL, NULL,
            "refuse links that would change the degree distribution noticeably", 0},
        {"delta-cutoff", GRAPHSS_OPTION_REAL, AT(delta_cutoff), 0, INFINITY, NULL, "RATIO",
            "largest likelihood ratio of the degree test", 0},
        {"cooccurrence-test", GRAPHSS_OPTION_BOOL, AT(cooccurrence_test), 0, 0, NULL, NULL,
            "add only features that occur with those of the node", 0},
        {"feature-domain", GRAPHSS_OPTION_CHOICE, AT(domain), 0, 0, domains, "KIND",
            "values features may take: 0 and 1, or 0 and their column's median", 0},
        {"knows", GRAPHSS_OPTION_CHOICE, AT(knows), 0, 0, knowledge, "WHAT",
            "what the attacker knows of nodes without a published label: the true class, the "
            "model's prediction, or nothing (a random class) (default for attack: "
            "predictions, elsewhere truth)",
            0, .later = true},
        {"queries", GRAPHSS_OPTION_INT, AT(queries), 0, 1e6, NULL, "N",
            "method adaptive: snapshots it may ask about; 0: 33", 0, .later = true},
        {"against", GRAPHSS_OPTION_STRING, AT(against), 0, 0, NULL, "WHAT",
            "method adaptive: what it is aimed at: recover, alert, or a method of "
            "recover ('none': the model) (default for attack: recover)",
            0, .later = true},
        {0}};
#undef AT
    return table;
}

graphss_feature_domain graphss_i_attack_domain(
    const graphss_features *features, const graphss_attack_options *opt)
{
    if (opt->domain != GRAPHSS_DOMAIN_DETECT)
        return (graphss_feature_domain)opt->domain;
    switch (features->kind) {
    case GRAPHSS_FEATURES_COUNTS:
        return GRAPHSS_DOMAIN_COUNTS;
    case GRAPHSS_FEATURES_REAL:
        return GRAPHSS_DOMAIN_REAL;
    case GRAPHSS_FEATURES_NONE:
    case GRAPHSS_FEATURES_BINARY:
        break;
    }
    return GRAPHSS_DOMAIN_BINARY;
}

size_t graphss_attack_domain_text(char *out, size_t size, const graphss_features *features,
    const graphss_attack_options *opt)
{
    if (!features || !opt)
        return (size_t)snprintf(out, out ? size : 0, "?");
    const graphss_feature_domain domain = graphss_i_attack_domain(features, opt);
    const char *how = opt->domain == GRAPHSS_DOMAIN_DETECT ? "detected" : "forced";
    const char *what = "0 <-> the column's median";
    if (opt->mode == GRAPHSS_MODE_PAPER)
        what = "x <-> 1 - x on rows divided by their sums, as the paper's code has it";
    else if (domain == GRAPHSS_DOMAIN_BINARY)
        what = "0 <-> 1";
    const bool known = (int)domain >= 0 && domain <= GRAPHSS_DOMAIN_REAL;
    return (size_t)snprintf(out, out ? size : 0, "%s (%s, %s)", known ? what : "?",
        known ? domains[domain] : "?", how);
}

size_t graphss_attack_budget_text(char *out, size_t size, const graphss_attack_options *opt)
{
    char amount[112], edges[40], features[40], through[64] = "direct";
    if (!opt)
        return (size_t)snprintf(out, out ? size : 0, "?");
    const char *of = opt->kind == GRAPHSS_ATTACK_BOTH            ? "links or features"
                     : (unsigned)opt->kind < GRAPHSS_ATTACK_BOTH ? kinds[opt->kind]
                                                                 : "?";
    const graphss_option *table = graphss_attack_options_table();
    graphss_option_text(edges, sizeof edges, opt, graphss_option_find(table, "links"));
    graphss_option_text(
        features, sizeof features, opt, graphss_option_find(table, "features"));
    if (opt->kind == GRAPHSS_ATTACK_LF)
        snprintf(amount, sizeof amount, "%s links then %s features", edges, features);
    else if (opt->budget)
        snprintf(amount, sizeof amount, "%lld %s", (long long)opt->budget, of);
    else
        snprintf(amount, sizeof amount, "degree + 2 %s", of);
    if (opt->influencers)
        snprintf(
            through, sizeof through, "through %lld influencers", (long long)opt->influencers);
    return (size_t)snprintf(out, out ? size : 0, "%s per victim, %s, %s", amount,
        opt->independent ? "independent" : "cumulative", through);
}

/* Rounded down, but for the last bits of a product: 0.29 of 100 is 29. */
static size_t share_of(double share, size_t n)
{
    return (size_t)floor(share * (double)n * (1 + 1e-12));
}

graphss_i_attack_budget graphss_i_attack_budget_of(const graphss_attack_options *opt,
    const graphss_attack_input *in, int32_t victim, size_t degree)
{
    if (opt->kind == GRAPHSS_ATTACK_LF) {
        graphss_i_attack_budget lf = {
            .edges = (size_t)opt->edges, .features = (size_t)opt->features};
        if (opt->edges_share > 0)
            lf.edges =
                share_of(opt->edges_share, graphss_graph_degree(in->graph, (size_t)victim));
        if (opt->features_share > 0)
            lf.features = share_of(opt->features_share,
                graphss_i_row_count(graphss_i_row_of(in->features, (size_t)victim)));
        return lf;
    }
    const size_t budget = opt->budget ? (size_t)opt->budget : degree + 2;
    graphss_i_attack_budget b = {0};
    if (opt->kind == GRAPHSS_ATTACK_EDGES)
        b.edges = budget;
    else if (opt->kind == GRAPHSS_ATTACK_FEATURES)
        b.features = budget;
    else
        b.either = budget;
    return b;
}

void graphss_attack_log_destroy(graphss_ctx *ctx, graphss_attack_log *log)
{
    if (!log)
        return;
    graphss_release(ctx, log->victim);
    graphss_release(ctx, log->step);
    *log = (graphss_attack_log){0};
}

bool graphss_i_attack_wants_features(const graphss_attack_options *opt)
{
    return opt->kind == GRAPHSS_ATTACK_LF ? opt->features > 0 || opt->features_share > 0
                                          : opt->kind != GRAPHSS_ATTACK_EDGES;
}

static graphss_status check_method(graphss_ctx *ctx, const graphss_i_attack_method *method,
    const graphss_attack_input *in, const graphss_attack_options *opt)
{
    if (opt->mode == GRAPHSS_MODE_PAPER && !method->paper)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "--mode paper: --method %s has no such mode", method->name);
    if (method->needs_surrogate && !in->surrogate)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "%s needs a surrogate, none is given", method->name);
    if (method->needs_model && !in->model)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "%s needs a model, none is given", method->name);
    if (method->edges_only && graphss_i_attack_wants_features(opt))
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "%s changes links only: want --features 0 or --kind links", method->name);
    return GRAPHSS_OK;
}

static graphss_status check_shapes(
    graphss_ctx *ctx, const graphss_attack_input *in, const graphss_attack_options *opt)
{
    const size_t n = in->graph->n_nodes;
    const graphss_features *f = in->features;
    if (f->n_cols && f->n_rows != n)
        return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
            "features of %zu nodes, a graph of %zu: want the same", f->n_rows, n);
    if (graphss_i_attack_wants_features(opt) && f->n_cols == 0)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_SHAPE, "an attack on features, but the data has none");
    if (in->n_classes < 2)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "%zu classes, want at least 2", in->n_classes);
    return GRAPHSS_OK;
}

static graphss_status check_victims(graphss_ctx *ctx, const graphss_attack_input *in)
{
    const size_t n = in->graph->n_nodes;
    if (in->n_victims > 0 && !in->label)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "no labels given to attack with");
    for (size_t i = 0; i < in->n_victims; i++) {
        const int32_t v = in->victim[i];
        if (v < 0 || (size_t)v >= n)
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "victim %zu is node %d, want 0..%zu", i, (int)v, n - 1);
        if (in->label[v] < 0 || (size_t)in->label[v] >= in->n_classes)
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "victim %zu, node %d: its label is %d, want 0..%zu", i, (int)v,
                (int)in->label[v], in->n_classes - 1);
    }
    for (size_t i = 0; in->label && i < n; i++)
        if (in->label[i] >= 0 && (size_t)in->label[i] >= in->n_classes)
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "node %zu has label %d, want 0..%zu or -1", i, (int)in->label[i],
                in->n_classes - 1);
    uint8_t *seen = graphss_i_calloc(ctx, n, sizeof *seen);
    if (!seen)
        return GRAPHSS_ERR_NOMEM;
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < in->n_victims && !st; i++) {
        if (seen[in->victim[i]])
            st = graphss_i_fail(
                ctx, GRAPHSS_ERR_INVALID, "node %d is a victim twice", (int)in->victim[i]);
        seen[in->victim[i]] = 1;
    }
    graphss_release(ctx, seen);
    return st;
}

static graphss_status attack(graphss_ctx *ctx, graphss_flips *out, graphss_attack_log *log,
    const graphss_attack_input *in, const graphss_attack_options *opt, bool trusted)
{
    graphss_attack_options standard;
    graphss_attack_options_init(&standard);
    graphss_status st = GRAPHSS_I_TAKE(ctx, graphss_attack_options, &standard, opt);
    opt = &standard;
    if (!st)
        st = graphss_options_check(ctx, opt, graphss_attack_options_table());
    if (st)
        return st;
    const graphss_i_attack_method *method = find(opt->method);
    if (!method)
        return graphss_i_no_such_name(ctx, "--method", opt->method ? opt->method : "",
            opt->method ? strlen(opt->method) : 0, graphss_attack_name);
    st = check_method(ctx, method, in, opt);
    if (!st)
        st = check_shapes(ctx, in, opt);
    if (!st && !trusted)
        st = graphss_i_check_snapshot(ctx, in->graph, in->features);
    if (!st)
        st = check_victims(ctx, in);
    if (st)
        return st;

    graphss_flips made = {0};
    graphss_attack_log made_log = {0};
    graphss_attack_input seen = *in;
    graphss_features divided = {0};
    if (opt->mode == GRAPHSS_MODE_PAPER) {
        st = graphss_features_normalise_rows(ctx, &divided, in->features);
        if (st)
            return st;
        seen.features = &divided;
    }
    snprintf(made.method, sizeof made.method, "%s", method->name);
    graphss_attack_budget_text(made.budget, sizeof made.budget, opt);
    snprintf(made.seed, sizeof made.seed, "%llu", (unsigned long long)in->seed);
    snprintf(made.version, sizeof made.version, "%s", graphss_version());
    made.normalised_rows = opt->mode == GRAPHSS_MODE_PAPER;
    st = method->run(ctx, &made, &made_log, &seen, opt);
    graphss_features_destroy(ctx, &divided);
    if (st) {
        graphss_flips_destroy(ctx, &made);
        graphss_attack_log_destroy(ctx, &made_log);
        return st;
    }
    *out = made;
    if (log)
        *log = made_log;
    else
        graphss_attack_log_destroy(ctx, &made_log);
    return GRAPHSS_OK;
}

graphss_status graphss_i_attack(graphss_ctx *ctx, graphss_flips *out,
    const graphss_attack_input *in, const graphss_attack_options *opt)
{
    return attack(ctx, out, NULL, in, opt, true);
}

graphss_status graphss_attack_run(graphss_ctx *ctx, graphss_flips *out,
    graphss_attack_log *log, const graphss_attack_input *in, const graphss_attack_options *opt)
{
    if (GRAPHSS_I_LACKS(ctx, {"input", in}, {"place for the changes", out}) ||
        GRAPHSS_I_TAKE(ctx, graphss_attack_input, NULL, in) ||
        GRAPHSS_I_LACKS(ctx, {"graph", in->graph}, {"features", in->features},
            {"victims", GRAPHSS_I_FILLED(in->victim, in->n_victims)}))
        return GRAPHSS_ERR_INVALID;
    return attack(ctx, out, log, in, opt, false);
}
