/* synth.c - graphs made to order.
 *
 * The graph is a degree-corrected planted partition. Node i has a propensity w_i with a
 * Pareto tail, P(w > t) ~ t^-2, cut at 64 times the least. Nodes stand in order of class
 * on one line of length sum(w): a draw inside a class is a draw from its stretch, a draw
 * outside it skips the stretch, so both cost one look-up and nothing is ever rejected for
 * its class. Each node begins one edge, so hardly any is isolated, and the ends left over
 * are drawn by propensity. Which edges are inside a class is fixed beforehand, which gives
 * the homophily asked for and not merely its expectation. Edges that come out twice are
 * drawn again in up to ROUNDS rounds.
 *
 * The words of a node are drawn without repetition: a share `topic` from the words its
 * class owns, the rest from a Zipf law that all classes share.
 *
 * The same options give the same graph everywhere: whole numbers throughout (square roots
 * are exact by IEEE 754), and a generator for each block of fixed size, so that the number
 * of threads does not matter. */
#include "data/build.h"
#include "data/files/readers.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

enum {
    BLOCK = 1 << 14, /* nodes or edges a task */
    ROUNDS = 8,      /* of drawing duplicate edges again */
    TRIES = 16,      /* for a word that the node has already, or an edge to itself */
    UNIT = 64,       /* least propensity */
    TAIL = 64        /* largest, in units */
};

/* The purpose of a block's generator: no two parts share a sequence. */
typedef enum part {
    PART_CLASSES,
    PART_PROPENSITY,
    PART_WORDS,
    PART_VOCABULARY,
    PART_EDGES
} part;

static const graphss_option table[] = {
    {"nodes", GRAPHSS_OPTION_INT, offsetof(graphss_synth_options, nodes), 1, 1e9, NULL, "N",
        "nodes", 0},
    {"degree", GRAPHSS_OPTION_REAL, offsetof(graphss_synth_options, degree), 0, 1e6, NULL, "D",
        "mean degree", 0},
    {"classes", GRAPHSS_OPTION_INT, offsetof(graphss_synth_options, classes), 1, 1e4, NULL,
        "K", "classes", 0},
    {"features", GRAPHSS_OPTION_INT, offsetof(graphss_synth_options, features), 0, 1e8, NULL,
        "N", "words in the vocabulary", 0},
    {"homophily", GRAPHSS_OPTION_REAL, offsetof(graphss_synth_options, homophily), 0, 1, NULL,
        "SHARE", "share of edges inside a class", 0},
    {"words", GRAPHSS_OPTION_REAL, offsetof(graphss_synth_options, words), 0, 1e5, NULL, "N",
        "mean number of words a node", 0},
    {"topic", GRAPHSS_OPTION_REAL, offsetof(graphss_synth_options, topic), 0, 1, NULL, "SHARE",
        "share of words from the class's own", 0},
    {"seed", GRAPHSS_OPTION_INT, offsetof(graphss_synth_options, seed), 0, 0x1p53, NULL, "N",
        "seed of the generator", 0},
    {0},
};

void graphss_synth_options_init(graphss_synth_options *opt)
{
    *opt = (graphss_synth_options){.struct_size = sizeof(graphss_synth_options),
        .nodes = 1000,
        .degree = 5,
        .classes = 5,
        .features = 500,
        .homophily = 0.8,
        .words = 18,
        .topic = 0.15,
        .seed = 1};
}

const graphss_option *graphss_synth_options_table(void)
{
    return table;
}

static graphss_status unknown_key(graphss_ctx *ctx, const char *key)
{
    char list[256] = "";
    for (const graphss_option *row = table; row->name; row++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", row->name);
    }
    return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
        "synth: found '%.64s', want KEY=VALUE "
        "with a key of %s",
        key, list);
}

graphss_status graphss_synth_options_parse(
    graphss_ctx *ctx, graphss_synth_options *out, const char *text)
{
    if (GRAPHSS_I_LACKS(ctx, {"text", text}, {"place for the options", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_synth_options opt;
    graphss_synth_options_init(&opt);
    char pair[128];
    while (*text) {
        const size_t length = strcspn(text, ",");
        if (length >= sizeof pair)
            return unknown_key(ctx, text);
        memcpy(pair, text, length);
        pair[length] = '\0';
        text += length + (text[length] == ',');
        if (length == 0)
            continue;
        char *equals = strchr(pair, '=');
        if (equals)
            *equals = '\0';
        const graphss_option *row = graphss_option_find(table, pair);
        if (!row || !equals)
            return unknown_key(ctx, pair);
        const graphss_status st = graphss_option_set(ctx, &opt, row, equals + 1);
        if (st)
            return graphss_i_fail_in(ctx, st, "synth");
    }
    *out = opt;
    return GRAPHSS_OK;
}

/* ---- draws in proportion to whole weights ---- */

/* Item i owns [sum[i], sum[i + 1]) of a line that is cut into parts of 2^shift, a little
 * less than the mean item; hint[p] is the first item that reaches into part p. So the search
 * from the hint ends after a step or two on average. */
typedef struct line {
    size_t n;
    uint64_t *sum;  /* [n + 1] */
    uint32_t *hint; /* [2 n + 1] at most are used */
    unsigned shift;
} line;

static uint64_t line_length(const line *l)
{
    return l->sum[l->n];
}

static size_t line_find(const line *l, uint64_t at)
{
    size_t i = l->hint[at >> l->shift];
    while (l->sum[i + 1] <= at)
        i++;
    return i;
}

/* Takes sum[i + 1] as the weight of item i, each at least 1, and makes the line of it. */
static void line_fill(line *l)
{
    l->sum[0] = 0;
    for (size_t i = 0; i < l->n; i++)
        l->sum[i + 1] += l->sum[i];
    l->shift = 0;
    while (line_length(l) / l->n >> (l->shift + 1))
        l->shift++;
    uint64_t p = 0;
    for (size_t i = 0; i < l->n; i++)
        for (; p << l->shift < l->sum[i + 1]; p++)
            l->hint[p] = (uint32_t)i;
}

static graphss_status line_new(graphss_ctx *ctx, line *l, size_t n)
{
    l->n = n;
    l->sum = graphss_i_alloc(ctx, n + 1, sizeof *l->sum);
    l->hint = graphss_i_alloc(ctx, 2 * n + 1, sizeof *l->hint);
    return l->sum && l->hint ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

static void line_destroy(graphss_ctx *ctx, line *l)
{
    graphss_release(ctx, l->hint);
    graphss_release(ctx, l->sum);
}

/* ---- the whole work ---- */

typedef struct synth {
    graphss_synth_options opt;
    size_t n, k, d;
    int32_t *label;  /* [n] */
    int32_t *member; /* [n] nodes in order of class */
    size_t *begin;   /* [k + 1] where the nodes of a class begin in member */
    line nodes;      /* indexed by position in member */

    size_t drawn, missing[2]; /* edges drawn so far; still to draw outside, inside a class */
    size_t round;
    int32_t *from, *to; /* [drawn + missing] */

    line background;   /* of words, by rank */
    int32_t *word;     /* [d] the word of a rank */
    size_t own;        /* words a class owns; class c owns own_word[c * own ...] */
    int32_t *own_word; /* [d], of which k * own are owned */
    int64_t *offset;   /* [n + 1] of features */
    int32_t *column;
    uint32_t *n_words; /* [n] words a node really has */
} synth;

/* SplitMix64 of seed, part, round and block: where a block's sequence starts. */
static graphss_rng block_rng(const synth *s, part p, size_t round, size_t block)
{
    uint64_t x = (uint64_t)s->opt.seed;
    const uint64_t more[3] = {(uint64_t)p, round, block};
    for (size_t i = 0; i < 3; i++) {
        x += UINT64_C(0x9e3779b97f4a7c15) * (more[i] + 1);
        x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
        x ^= x >> 31;
    }
    return graphss_rng_make(x, GRAPHSS_STREAM_SYNTH);
}

static size_t blocks_of(size_t n)
{
    return (n + BLOCK - 1) / BLOCK;
}

static size_t block_end(size_t block, size_t n)
{
    return n - block * BLOCK < BLOCK ? n : (block + 1) * BLOCK;
}

/* Class sizes fall from 5/4 to 3/4 of the mean; every class has a node. */
static graphss_status make_classes(graphss_ctx *ctx, synth *s)
{
    const size_t n = s->n, k = s->k;
    s->label = graphss_i_alloc(ctx, n, sizeof *s->label);
    s->member = graphss_i_alloc(ctx, n, sizeof *s->member);
    s->begin = graphss_i_alloc(ctx, k + 1, sizeof *s->begin);
    if (!s->label || !s->member || !s->begin)
        return GRAPHSS_ERR_NOMEM;
    /* weight of class c: 5k - 2c, from 5k down to about 3k; its first node is certain */
    const uint64_t total = 5 * k * k - k * (k - 1);
    uint64_t sum = 0;
    for (size_t c = 0; c <= k; c++) {
        s->begin[c] = c + (size_t)(sum * (n - k) / total);
        sum += 5 * k - 2 * c;
    }
    for (size_t i = 0; i < n; i++)
        s->member[i] = (int32_t)i;
    graphss_rng rng = block_rng(s, PART_CLASSES, 0, 0);
    graphss_rng_shuffle(&rng, s->member, n);
    for (size_t c = 0; c < k; c++)
        for (size_t i = s->begin[c]; i < s->begin[c + 1]; i++)
            s->label[s->member[i]] = (int32_t)c;
    return GRAPHSS_OK;
}

/* w = UNIT / sqrt(u) for u uniform in (0, 1], cut at UNIT * TAIL. */
static void draw_propensity(void *arg, size_t block)
{
    synth *s = arg;
    graphss_rng rng = block_rng(s, PART_PROPENSITY, 0, block);
    for (size_t i = block * BLOCK; i < block_end(block, s->n); i++) {
        const double w = UNIT / sqrt(1 - graphss_rng_double(&rng));
        s->nodes.sum[i + 1] = w < UNIT * TAIL ? (uint64_t)w : UNIT * TAIL;
    }
}

/* The other end of an edge that begins in a node of class c. */
static int32_t draw_end(const synth *s, graphss_rng *rng, size_t c, bool inside)
{
    const uint64_t first = s->nodes.sum[s->begin[c]], last = s->nodes.sum[s->begin[c + 1]];
    uint64_t at;
    if (inside) {
        at = first + graphss_rng_below(rng, last - first);
    } else {
        at = graphss_rng_below(rng, line_length(&s->nodes) - (last - first));
        if (at >= first)
            at += last - first;
    }
    return s->member[line_find(&s->nodes, at)];
}

/* Edge e of this round. missing[1] of the missing[0] + missing[1] are inside a class, spread
 * evenly. In the first round edge e begins in node e as long as there are nodes. */
static void draw_edges(void *arg, size_t block)
{
    synth *s = arg;
    const uint64_t inside = s->missing[1], all = s->missing[0] + s->missing[1];
    graphss_rng rng = block_rng(s, PART_EDGES, s->round, block);
    for (size_t e = block * BLOCK; e < block_end(block, all); e++) {
        const bool in = (e + 1) * inside / all != e * inside / all;
        int32_t from = (int32_t)e, to = 0;
        if (s->round > 0 || e >= s->n) {
            const uint64_t at = graphss_rng_below(&rng, line_length(&s->nodes));
            from = s->member[line_find(&s->nodes, at)];
        }
        for (size_t t = 0; t < TRIES; t++) {
            to = draw_end(s, &rng, (size_t)s->label[from], in);
            if (to != from)
                break;
        }
        s->from[s->drawn + e] = from;
        s->to[s->drawn + e] = to;
    }
}

/* Writes the graph's edges back to from and to; counts[1] of them are inside a class. */
static void list_edges(synth *s, const graphss_graph *graph, size_t counts[2])
{
    counts[0] = counts[1] = s->drawn = 0;
    for (size_t i = 0; i < s->n; i++)
        for (int64_t e = graph->offset[i]; e < graph->offset[i + 1]; e++) {
            const int32_t j = graph->target[e];
            if (j <= (int32_t)i)
                continue;
            counts[s->label[i] == s->label[j]]++;
            s->from[s->drawn] = (int32_t)i;
            s->to[s->drawn++] = j;
        }
}

static graphss_status make_graph(graphss_ctx *ctx, synth *s, graphss_graph *out)
{
    graphss_graph graph = {0};
    graphss_status st = line_new(ctx, &s->nodes, s->n);
    if (st)
        return st;
    graphss_i_parallel(ctx, blocks_of(s->n), draw_propensity, s);
    line_fill(&s->nodes);

    const double wanted = (double)s->n * s->opt.degree / 2 + 0.5;
    const double most = (double)s->n * (double)(s->n - 1) / 2;
    const size_t edges = (size_t)(wanted < most ? wanted : most);
    if (edges > INT32_MAX)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "synth: %zu edges, want fewer than 2^31", edges);
    /* With one class no edge leaves it. */
    const double share = s->k == 1 ? 1 : s->opt.homophily;
    const size_t inside = (size_t)((double)edges * share + 0.5);
    const size_t want[2] = {edges - inside, inside};
    s->from = graphss_i_alloc(ctx, edges, sizeof *s->from);
    s->to = graphss_i_alloc(ctx, edges, sizeof *s->to);
    if (!s->from || !s->to)
        return GRAPHSS_ERR_NOMEM;

    s->missing[0] = want[0];
    s->missing[1] = want[1];
    for (s->round = 0;; s->round++) {
        const size_t all = s->missing[0] + s->missing[1];
        graphss_i_parallel(ctx, blocks_of(all), draw_edges, s);
        s->drawn += all;
        graphss_graph_destroy(ctx, &graph);
        st = graphss_graph_build(ctx, &graph, NULL, s->n, s->from, s->to, s->drawn);
        if (st)
            return st;
        size_t have[2];
        list_edges(s, &graph, have);
        s->missing[0] = want[0] - have[0];
        s->missing[1] = want[1] - have[1];
        /* A thousandth too few is near enough: a large graph needs one round. */
        if (s->round + 1 == ROUNDS || (s->missing[0] + s->missing[1]) * 1000 <= edges)
            break;
    }
    *out = graph;
    return GRAPHSS_OK;
}

/* ---- words ---- */

/* Words are ranked by a shuffle; rank r has weight 1 / (r + 10). Half of the vocabulary is
 * shared out among the classes, every word of it owned by one. */
static graphss_status make_vocabulary(graphss_ctx *ctx, synth *s)
{
    graphss_rng rng = block_rng(s, PART_VOCABULARY, 0, 0);
    graphss_status st = line_new(ctx, &s->background, s->d);
    s->word = graphss_i_alloc(ctx, s->d, sizeof *s->word);
    s->own_word = graphss_i_alloc(ctx, s->d, sizeof *s->own_word);
    if (st || !s->word || !s->own_word)
        return GRAPHSS_ERR_NOMEM;
    for (size_t r = 0; r < s->d; r++) {
        s->background.sum[r + 1] = (UINT64_C(1) << 32) / (r + 10);
        s->word[r] = s->own_word[r] = (int32_t)r;
    }
    line_fill(&s->background);
    graphss_rng_shuffle(&rng, s->word, s->d);
    graphss_rng_shuffle(&rng, s->own_word, s->d);
    s->own = s->d / (2 * s->k);
    if (s->own == 0 && s->d >= s->k)
        s->own = 1;
    return st;
}

/* Number of words of node i: uniform between half and three halves of the mean. */
static size_t draw_length(const synth *s, graphss_rng *rng)
{
    const double length = s->opt.words * (0.5 + graphss_rng_double(rng)) + 0.5;
    return length < (double)s->d ? (size_t)length : s->d;
}

static int32_t draw_word(const synth *s, graphss_rng *rng, size_t class)
{
    if (s->own && graphss_rng_double(rng) < s->opt.topic)
        return s->own_word[class * s->own + graphss_rng_below(rng, s->own)];
    const uint64_t at = graphss_rng_below(rng, line_length(&s->background));
    return s->word[line_find(&s->background, at)];
}

/* Inserts a word into the ascending list of n; false if it is there already. */
static bool insert_word(int32_t *list, size_t n, int32_t word)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (list[middle] < word)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < n && list[low] == word)
        return false;
    memmove(list + low + 1, list + low, (n - low) * sizeof *list);
    list[low] = word;
    return true;
}

static void draw_words(void *arg, size_t block)
{
    synth *s = arg;
    graphss_rng rng = block_rng(s, PART_WORDS, 1, block);
    for (size_t i = block * BLOCK; i < block_end(block, s->n); i++) {
        int32_t *list = s->column + s->offset[i];
        const size_t want = (size_t)(s->offset[i + 1] - s->offset[i]);
        size_t n = 0;
        for (size_t w = 0; w < want; w++)
            for (size_t t = 0; t < TRIES; t++)
                if (insert_word(list, n, draw_word(s, &rng, (size_t)s->label[i]))) {
                    n++;
                    break;
                }
        s->n_words[i] = (uint32_t)n;
    }
}

/* Closes the gaps left by nodes with fewer words than reserved. */
static void close_gaps(synth *s)
{
    int64_t end = 0, next = 0;
    for (size_t i = 0; i < s->n; i++) {
        const int64_t begin = next;
        next = s->offset[i + 1];
        memmove(s->column + end, s->column + begin, s->n_words[i] * sizeof *s->column);
        end += s->n_words[i];
        s->offset[i + 1] = end;
    }
}

static graphss_status make_features(graphss_ctx *ctx, synth *s, graphss_features *out)
{
    graphss_status st = make_vocabulary(ctx, s);
    if (st)
        return st;
    s->offset = graphss_i_alloc(ctx, s->n + 1, sizeof *s->offset);
    s->n_words = graphss_i_alloc(ctx, s->n, sizeof *s->n_words);
    if (!s->offset || !s->n_words)
        return GRAPHSS_ERR_NOMEM;
    graphss_rng rng = block_rng(s, PART_WORDS, 0, 0);
    s->offset[0] = 0;
    for (size_t i = 0; i < s->n; i++)
        s->offset[i + 1] = s->offset[i] + (int64_t)draw_length(s, &rng);
    s->column = graphss_i_alloc(ctx, (size_t)s->offset[s->n], sizeof *s->column);
    if (!s->column)
        return GRAPHSS_ERR_NOMEM;
    graphss_i_parallel(ctx, blocks_of(s->n), draw_words, s);
    close_gaps(s);
    int64_t *offset = s->offset;
    int32_t *column = s->column;
    s->offset = NULL;
    s->column = NULL;
    return graphss_i_features_from_rows(
        ctx, out, s->n, s->d, offset, column, NULL, (size_t)offset[s->n], "words");
}

/* Bytes that all arrays take while the graph is built, with some to spare. */
static double bytes_needed(const graphss_synth_options *opt)
{
    const double n = (double)opt->nodes, edges = n * opt->degree / 2;
    const double words = n * opt->words;
    return 64 * n + 32 * edges + (opt->features ? 24 * words : 0) + 32 * (double)opt->features;
}

graphss_status graphss_i_synth_make(graphss_ctx *ctx, graphss_dataset *out,
    const graphss_synth_options *opt, uint64_t max_bytes)
{
    synth s = {.opt = *opt};
    graphss_dataset data = {0};
    graphss_status st = graphss_options_check(ctx, &s.opt, table);
    if (st)
        return graphss_i_fail_in(ctx, st, "synth");
    if (s.opt.classes > s.opt.nodes)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "synth: %lld classes, want at most the %lld nodes", (long long)s.opt.classes,
            (long long)s.opt.nodes);
    if (bytes_needed(&s.opt) > (double)max_bytes)
        return graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT,
            "synth: needs about %.0f MB of memory, %.0f MB are allowed",
            bytes_needed(&s.opt) / 1e6, (double)max_bytes / 1e6);
    s.n = (size_t)s.opt.nodes;
    s.k = (size_t)s.opt.classes;
    s.d = (size_t)s.opt.features;

    st = make_classes(ctx, &s);
    if (!st)
        st = make_graph(ctx, &s, &data.graph);
    if (!st && s.d)
        st = make_features(ctx, &s, &data.features);
    if (!st) {
        data.label = s.label;
        data.n_classes = s.k;
        s.label = NULL;
        st = graphss_i_dataset_finish(ctx, &data, "synth", "synth");
    }
    if (!st) {
        *out = data;
        data = (graphss_dataset){0};
    }
    graphss_dataset_destroy(ctx, &data);
    graphss_release(ctx, s.n_words);
    graphss_release(ctx, s.column);
    graphss_release(ctx, s.offset);
    graphss_release(ctx, s.own_word);
    graphss_release(ctx, s.word);
    line_destroy(ctx, &s.background);
    graphss_release(ctx, s.to);
    graphss_release(ctx, s.from);
    line_destroy(ctx, &s.nodes);
    graphss_release(ctx, s.begin);
    graphss_release(ctx, s.member);
    graphss_release(ctx, s.label);
    return st;
}

graphss_status graphss_synth_make(
    graphss_ctx *ctx, graphss_dataset *out, const graphss_synth_options *opt)
{
    if (GRAPHSS_I_LACKS(ctx, {"place for the dataset", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_synth_options standard;
    graphss_synth_options_init(&standard);
    const graphss_status st = GRAPHSS_I_TAKE(ctx, graphss_synth_options, &standard, opt);
    return st ? st
              : graphss_i_synth_make(ctx, out, &standard, graphss_i_machine_memory() / 4 * 3);
}
