/* victims.c - chooses victims, and what the attacker knows of their labels. The rule is
 * recorded as text, because results depend on it. */
#include "base/base.h"
#include "data/build.h"
#include <graphss/attack.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void graphss_victim_options_init(graphss_victim_options *opt)
{
    *opt = (graphss_victim_options){.struct_size = sizeof(graphss_victim_options),
        .share = 0.2,
        .min_margin = -1,
        .max_margin = 1};
}

const graphss_option *graphss_victim_options_table(void)
{
#define AT(field) offsetof(graphss_victim_options, field)
    static const graphss_option table[] = {
        {"victims", GRAPHSS_OPTION_REAL, AT(share), 0, 1, NULL, "SHARE",
            "share of the test nodes that are attacked", 0},
        {"correct-only", GRAPHSS_OPTION_BOOL, AT(correct_only), 0, 0, NULL, NULL,
            "attack only nodes the model gets right", 0},
        {"min-degree", GRAPHSS_OPTION_INT, AT(min_degree), 0, 0x7fffffff, NULL, "N",
            "attack only nodes with at least N neighbours", 0},
        {"max-degree", GRAPHSS_OPTION_INT, AT(max_degree), 0, 0x7fffffff, NULL, "N",
            "attack only nodes with at most N neighbours; 0: no limit", 0},
        {"min-margin", GRAPHSS_OPTION_REAL, AT(min_margin), -1, 1, NULL, "M",
            "attack only nodes whose class has a margin of at least M in probability", 0},
        {"max-margin", GRAPHSS_OPTION_REAL, AT(max_margin), -1, 1, NULL, "M",
            "attack only nodes whose class has a margin of at most M", 0},
        {0}};
#undef AT
    return table;
}

/* prob[label] minus the largest of the others */
static double margin_of(const float *prob, size_t k, size_t label)
{
    double best = -INFINITY;
    for (size_t c = 0; c < k; c++)
        if (c != label && (double)prob[c] > best)
            best = (double)prob[c];
    return (double)prob[label] - best;
}

static int ascending(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* "correctly classified, degree 2 to 5, margin 0 to 0.5", or "any" */
static void rule_text(char *out, size_t size, const graphss_victim_options *opt, bool margins)
{
    size_t used = 0;
    out[0] = '\0';
    if (opt->correct_only)
        used += (size_t)snprintf(out, size, "correctly classified");
    if (opt->min_degree > 0 || opt->max_degree > 0) {
        char most[32] = "any";
        if (opt->max_degree > 0)
            snprintf(most, sizeof most, "%lld", (long long)opt->max_degree);
        used += (size_t)snprintf(out + used, size - used, "%sdegree %lld to %s",
            used ? ", " : "", (long long)opt->min_degree, most);
    }
    if (margins) {
        char low[32], high[32];
        graphss_i_double_text(low, sizeof low, opt->min_margin);
        graphss_i_double_text(high, sizeof high, opt->max_margin);
        used += (size_t)snprintf(
            out + used, size - used, "%smargin %s to %s", used ? ", " : "", low, high);
    }
    if (!used)
        snprintf(out, size, "any");
}

void graphss_victim_input_init(graphss_victim_input *in)
{
    *in = (graphss_victim_input){.struct_size = sizeof *in};
}

void graphss_victims_destroy(graphss_ctx *ctx, graphss_victims *victims)
{
    if (!victims)
        return;
    graphss_release(ctx, victims->node);
    graphss_release(ctx, victims->rule);
    *victims = (graphss_victims){0};
}

static bool fits(const graphss_victim_input *in, const graphss_victim_options *opt,
    bool margins, size_t node)
{
    const int64_t degree = (int64_t)graphss_graph_degree(in->graph, node);
    if (degree < opt->min_degree || (opt->max_degree > 0 && degree > opt->max_degree))
        return false;
    if (!opt->correct_only && !margins)
        return true;
    const size_t k = in->n_classes;
    if (in->label[node] < 0 || (size_t)in->label[node] >= k)
        return false;
    const double margin = margin_of(in->prob + node * k, k, (size_t)in->label[node]);
    return (!opt->correct_only || margin > 0) && margin >= opt->min_margin &&
           margin <= opt->max_margin;
}

static graphss_status take_input(graphss_ctx *ctx, graphss_victim_input *in,
    const graphss_victim_input *given, const void *out)
{
    if (GRAPHSS_I_LACKS(ctx, {"input", given}, {"place for the victims", out}))
        return GRAPHSS_ERR_INVALID;
    const graphss_status st = GRAPHSS_I_TAKE(ctx, graphss_victim_input, in, given);
    if (st)
        return st;
    return GRAPHSS_I_LACKS(ctx, {"graph", in->graph},
               {"candidates", GRAPHSS_I_FILLED(in->candidate, in->n_candidates)})
               ? GRAPHSS_ERR_INVALID
               : GRAPHSS_OK;
}

graphss_status graphss_victims_choose(graphss_ctx *ctx, graphss_victims *out,
    const graphss_victim_input *given, const graphss_victim_options *opt)
{
    graphss_victim_input in = {0};
    graphss_victim_options standard;
    graphss_victim_options_init(&standard);
    graphss_status st = take_input(ctx, &in, given, out);
    if (!st)
        st = GRAPHSS_I_TAKE(ctx, graphss_victim_options, &standard, opt);
    opt = &standard;
    if (!st)
        st = graphss_options_check(ctx, opt, graphss_victim_options_table());
    if (st)
        return st;
    const bool margins = opt->min_margin > -1 || opt->max_margin < 1;
    const size_t n = in.n_candidates;
    if (!(opt->share > 0))
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "--victims: found 0, want a share above 0");
    if ((opt->correct_only || margins) && (!in.prob || !in.label))
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "victims by the model's answer: want its probabilities and the "
            "labels");
    for (size_t i = 0; i < n; i++)
        if (in.candidate[i] < 0 || (size_t)in.candidate[i] >= in.graph->n_nodes)
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "candidate %zu is node %d, want 0..%zu", i, (int)in.candidate[i],
                in.graph->n_nodes - 1);
    int32_t *list = graphss_i_alloc(ctx, n, sizeof *list);
    if (!list)
        return GRAPHSS_ERR_NOMEM;
    size_t eligible = 0;
    for (size_t i = 0; i < n; i++)
        if (fits(&in, opt, margins, (size_t)in.candidate[i]))
            list[eligible++] = in.candidate[i];
    if (eligible == 0) {
        graphss_release(ctx, list);
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_DATA, "none of %zu candidates fits the rule for victims", n);
    }
    /* 0.29 of 100 is 29, though their product in binary is a little less. */
    size_t wanted = (size_t)(opt->share * (double)n + 1e-9);
    wanted = wanted ? wanted : 1;
    const size_t chosen = wanted < eligible ? wanted : eligible;
    graphss_rng rng = graphss_rng_make(in.seed, GRAPHSS_STREAM_VICTIMS);
    graphss_rng_shuffle(&rng, list, eligible);
    qsort(list, chosen, sizeof *list, ascending);

    char which[160], share[32];
    rule_text(which, sizeof which, opt, margins);
    graphss_i_double_text(share, sizeof share, opt->share);
    char *rule = graphss_i_format(ctx,
        "%zu nodes: a share of %s of %zu candidates, drawn with seed %llu "
        "from the %zu that fit the rule (%s)",
        chosen, share, n, (unsigned long long)in.seed, eligible, which);
    if (!rule) {
        graphss_release(ctx, list);
        return GRAPHSS_ERR_NOMEM;
    }
    *out = (graphss_victims){chosen, list, rule};
    return GRAPHSS_OK;
}

/* Which class the attacker assumes for each node. */
const char *graphss_knowledge_text(graphss_knowledge knows)
{
    const graphss_option *row = graphss_option_find(graphss_attack_options_table(), "knows");
    return (unsigned)knows <= GRAPHSS_KNOWLEDGE_NOTHING ? row->choices[knows] : "?";
}

/* Published labels are known to every attacker. */
static void take_split(int32_t *label, const graphss_split *split)
{
    for (size_t i = 0; split->train_label && i < split->n_train; i++)
        label[split->train[i]] = split->train_label[i];
    for (size_t i = 0; split->val_label && i < split->n_val; i++)
        label[split->val[i]] = split->val_label[i];
}

graphss_status graphss_attack_believe(graphss_ctx *ctx, int32_t *label,
    const graphss_dataset *data, const graphss_split *split, const int32_t *predicted,
    size_t n_classes, uint64_t seed, graphss_knowledge knows)
{
    if (GRAPHSS_I_LACKS(ctx, {"labels", label}, {"dataset", data}, {"split", split},
            {"predictions", predicted}))
        return GRAPHSS_ERR_INVALID;
    const size_t n = data->graph.n_nodes;
    if ((unsigned)knows > GRAPHSS_KNOWLEDGE_NOTHING || n_classes == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "knowledge %d of %zu classes, want 0 to 2 and a class", (int)knows, n_classes);
    const graphss_status st = graphss_i_split_check(ctx, split, n);
    if (st)
        return st;
    if (knows == GRAPHSS_KNOWLEDGE_TRUTH) {
        for (size_t i = 0; i < n; i++)
            label[i] = data->label && data->label[i] >= 0 ? data->label[i] : predicted[i];
        return GRAPHSS_OK;
    }
    if (knows == GRAPHSS_KNOWLEDGE_PREDICTIONS) {
        memcpy(label, predicted, n * sizeof *label);
    } else {
        graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_ATTACK);
        for (size_t i = 0; i < n; i++)
            label[i] = (int32_t)graphss_rng_below(&rng, n_classes);
    }
    take_split(label, split);
    return GRAPHSS_OK;
}
