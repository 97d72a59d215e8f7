/* graphss/synth.h - graphs made to order.
 *
 *     graphss_synth_options opt;
 *     graphss_synth_options_init(&opt);
 *     opt.nodes = 5000;
 *     graphss_synth_make(ctx, &data, &opt);
 *
 * A degree-corrected planted partition whose nodes carry bags of words drawn by class. The
 * same options give the same graph everywhere. */
#ifndef GRAPHSS_SYNTH_H
#define GRAPHSS_SYNTH_H

#include <graphss/dataset.h>
#include <graphss/options.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graphss_synth_options {
    uint32_t struct_size; /* sizeof(graphss_synth_options) */
    int64_t nodes;        /* default 1000 */
    double degree;        /* mean degree, default 5 */
    int64_t classes;      /* default 5 */
    int64_t features;     /* columns (the size of the vocabulary), default 500 */
    double homophily;     /* share of edges inside a class, default 0.8 */
    double words;         /* mean number of words a node, default 18 */
    double topic;         /* share of a node's words drawn from its class's own words, 0.15 */
    int64_t seed;         /* default 1 */
} graphss_synth_options;

GRAPHSS_API void graphss_synth_options_init(graphss_synth_options *opt);
/* The table behind "synth:KEY=VALUE,...". */
GRAPHSS_API const graphss_option *graphss_synth_options_table(void);
/* text is "nodes=1000,degree=5" or "": INVALID names the key that is unknown or wrong. */
GRAPHSS_MUST_CHECK graphss_status graphss_synth_options_parse(
    graphss_ctx *ctx, graphss_synth_options *out, const char *text);
/* Errors: INVALID (an option out of its range), LIMIT (more than 3/4 of the machine's memory),
 * NOMEM. Time O(nodes + edges + words). */
GRAPHSS_MUST_CHECK graphss_status graphss_synth_make(
    graphss_ctx *ctx, graphss_dataset *out, const graphss_synth_options *opt);

#ifdef __cplusplus
}
#endif
#endif
