/* reinforce.c - changes that imitate: dense features move towards those of another node, or a
 * node gets more of what its own class has. */
#include "attack/attack_method.h"
#include "attack/benign/class_sampler.h"
#include "attack/simple/random_attacks.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A feature, and how much more it supports a class than any other. */
typedef struct loud {
    float says;
    int32_t word;
} loud;

static int louder_first(const void *a, const void *b)
{
    const loud *x = a, *y = b;
    if (x->says != y->says)
        return x->says < y->says ? 1 : -1;
    return x->word - y->word;
}

/* list [d]: says = w[word][class] - max over the other classes c of w[word][c], sorted */
static void rank_words(loud *list, const float *w, size_t d, size_t k, size_t class)
{
    for (size_t j = 0; j < d; j++) {
        float most = -INFINITY;
        for (size_t c = 0; c < k; c++)
            if (c != class)
                most = fmaxf(most, w[j * k + c]);
        list[j] = (loud){w[j * k + class] - most, (int32_t)j};
    }
    qsort(list, d, sizeof *list, louder_first);
}

static graphss_status add_first(graphss_ctx *ctx, graphss_flips *flips, graphss_i_sandbox *s,
    int32_t node, const loud *list, const float *on, int64_t most)
{
    graphss_status st = GRAPHSS_OK;
    for (size_t j = 0; j < s->words.d && most > 0 && !st; j++) {
        const int32_t word = list[j].word;
        if (graphss_i_sandbox_feature(s, (size_t)node, word) != 0)
            continue;
        st = graphss_i_sandbox_set_feature(ctx, s, flips, node, node, word, on[word]);
        most--;
    }
    return st;
}

/* Class by class, so that words are ranked once for each. */
static graphss_status add_loudest(graphss_ctx *ctx, graphss_flips *flips,
    const graphss_attack_input *in, const uint8_t *wanted, int64_t most)
{
    const size_t d = in->features->n_cols, k = in->n_classes;
    graphss_attack_options opt;
    graphss_attack_options_init(&opt);
    graphss_i_sandbox s = {0};
    loud *list = graphss_i_alloc(ctx, d, sizeof *list);
    float *on = graphss_i_alloc(ctx, d, sizeof *on);
    graphss_status st = list && on ? graphss_i_sandbox_init(ctx, &s, in->graph, in->features)
                                   : GRAPHSS_ERR_NOMEM;
    if (!st)
        st = graphss_i_feature_index_on(
            ctx, on, &s.words, graphss_i_attack_domain(in->features, &opt));
    for (size_t c = 0; c < k && !st; c++) {
        bool ranked = false;
        for (size_t v = 0; v < in->n_victims && !st; v++) {
            if (!wanted[v] || (size_t)in->label[in->victim[v]] != c)
                continue;
            if (!ranked)
                rank_words(list, in->surrogate, d, k, c);
            ranked = true;
            st = add_first(ctx, flips, &s, in->victim[v], list, on, most);
        }
    }
    graphss_i_sandbox_destroy(ctx, &s);
    graphss_release(ctx, on);
    graphss_release(ctx, list);
    return st;
}

graphss_status graphss_i_praise(graphss_ctx *ctx, graphss_flips *flips,
    const graphss_attack_input *in, int64_t edges, int64_t words)
{
    const bool dense = graphss_features_dense(in->features);
    uint8_t *wanted = graphss_i_calloc(ctx, in->n_victims, sizeof *wanted);
    graphss_i_churning *each = graphss_i_calloc(ctx, in->n_victims, sizeof *each);
    int32_t *label = graphss_i_copy(ctx, in->label, in->graph->n_nodes, sizeof *label);
    graphss_status st = wanted && each && label ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t v = 0; v < in->n_victims && !st; v++) {
        wanted[v] = !dense && v % 2;
        each[v].joins = v / 2 % 2 ? edges : 0;
        each[v].adds = wanted[v] ? 0 : words;
    }
    if (!st && !dense)
        st = add_loudest(ctx, flips, in, wanted, words);
    if (!st) {
        const graphss_dataset data = {.graph = *in->graph,
            .features = *in->features,
            .label = label,
            .n_classes = in->n_classes};
        st = graphss_i_churn(ctx, flips, &data, in->victim, in->n_victims, in->seed, each, 1);
    }
    graphss_release(ctx, label);
    graphss_release(ctx, each);
    graphss_release(ctx, wanted);
    return st;
}

enum { TRIES = 200 };
const double graphss_i_moves[GRAPHSS_I_MOVES] = {0.4, 0.7, 1};

/* count [n_classes] of the first n changes: new edges of the victim to nodes of other classes
 */
static void count_edges(size_t *count, const graphss_attack_input *in, int32_t victim,
    const graphss_flip *flip, size_t n)
{
    memset(count, 0, in->n_classes * sizeof *count);
    for (size_t i = 0; i < n; i++) {
        if (flip[i].victim != victim || flip[i].kind != GRAPHSS_FLIP_EDGE ||
            flip[i].new_value == 0)
            continue;
        const int32_t end = flip[i].node == victim ? flip[i].target : flip[i].node;
        if (in->label[end] >= 0 && in->label[end] != in->label[victim])
            count[in->label[end]]++;
    }
}

/* A random node of the other class with the most new edges; -1: none was found. */
static int32_t look_for(
    const graphss_attack_input *in, int32_t victim, const size_t *count, graphss_rng *rng)
{
    size_t most = 0;
    for (size_t c = 0; c < in->n_classes; c++)
        most = count[c] > most ? count[c] : most;
    for (int i = 0; i < TRIES; i++) {
        const int32_t u = (int32_t)graphss_rng_below(rng, in->graph->n_nodes);
        if (in->label[u] >= 0 && in->label[u] != in->label[victim] &&
            count[in->label[u]] == most)
            return u;
    }
    return -1;
}

static graphss_status move_row(graphss_ctx *ctx, graphss_flips *flips,
    const graphss_features *x, int32_t node, int32_t like, double share)
{
    const size_t d = x->n_cols;
    graphss_status st = GRAPHSS_OK;
    for (size_t j = 0; j < d && !st; j++) {
        const float own = x->value[(size_t)node * d + j];
        const float there = x->value[(size_t)like * d + j];
        const graphss_flip flip = {.victim = node,
            .kind = GRAPHSS_FLIP_FEATURE,
            .node = node,
            .target = (int32_t)j,
            .old_value = own,
            .new_value = own + (float)share * (there - own)};
        if (flip.new_value != own)
            st = graphss_flips_add(ctx, flips, flip);
    }
    return st;
}

graphss_status graphss_i_move(graphss_ctx *ctx, graphss_flips *flips,
    const graphss_attack_input *in, const double *share, graphss_rng *rng)
{
    const size_t edges = flips->count; /* what follows are features */
    size_t *count = graphss_i_alloc(ctx, in->n_classes, sizeof *count);
    graphss_status st = count ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t v = 0; v < in->n_victims && !st; v++) {
        if (share[v] == 0)
            continue;
        count_edges(count, in, in->victim[v], flips->item, edges);
        const int32_t like = look_for(in, in->victim[v], count, rng);
        if (like >= 0)
            st = move_row(ctx, flips, in->features, in->victim[v], like, share[v]);
    }
    graphss_release(ctx, count);
    return st;
}
