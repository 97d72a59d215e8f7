/* change.c - the changes of a node. See change.h. */
#include "detect/state_model.h"
#include <math.h>

static bool has_edge(const graphss_graph *g, size_t a, int32_t b)
{
    return b >= 0 && graphss_graph_has_edge(g, (int32_t)a, b);
}

static void count_features(graphss_i_change_counts *c, graphss_i_row now, graphss_i_row past)
{
    if (!now.column || !past.column) {
        for (size_t j = 0; j < now.n && j < past.n; j++)
            c->features_added += now.value[j] != past.value[j];
        return;
    }
    size_t i = 0, j = 0, same = 0;
    while (i < now.n && j < past.n) {
        if (now.column[i] == past.column[j]) {
            same++;
            i++;
            j++;
        } else if (now.column[i] < past.column[j])
            i++;
        else
            j++;
    }
    c->features_added = now.n - same;
    c->features_removed = past.n - same;
}

graphss_i_change_counts graphss_i_change_count(const graphss_graph *graph,
    const graphss_features *features, size_t node, const graphss_graph *past_graph,
    const graphss_features *past_features, size_t was, const int32_t *before)
{
    graphss_i_change_counts c = {0};
    size_t same = 0;
    for (int64_t e = graph->offset[node]; e < graph->offset[node + 1]; e++) {
        const int32_t u = graph->target[e];
        same += has_edge(past_graph, was, before ? before[u] : u);
    }
    c.edges_added = graphss_graph_degree(graph, node) - same;
    c.edges_removed = graphss_graph_degree(past_graph, was) - same;
    count_features(&c, graphss_i_row_of(features, node), graphss_i_row_of(past_features, was));
    return c;
}

void graphss_i_change_row(float *out, const graphss_i_change_counts *counts, const float *now,
    const float *past, size_t k)
{
    static const graphss_i_source_id pushed[] = {SOURCE_NOW, SOURCE_FEATURES, SOURCE_EDGES};
    size_t own = 0;
    for (size_t c = 1; c < k; c++)
        if (past[c * GRAPHSS_I_ROW + SOURCE_NOW] > past[own * GRAPHSS_I_ROW + SOURCE_NOW])
            own = c;
    *out++ = (float)log1p((double)counts->edges_added);
    *out++ = (float)log1p((double)counts->edges_removed);
    *out++ = (float)log1p((double)counts->features_added);
    *out++ = (float)log1p((double)counts->features_removed);
    for (size_t s = 0; s < GRAPHSS_I_PLAIN_SOURCES; s++)
        *out++ = now[own * GRAPHSS_I_ROW + s] - past[own * GRAPHSS_I_ROW + s];
    for (size_t i = 0; i < sizeof pushed / sizeof *pushed; i++) { /* towards another class */
        float most = 0;
        for (size_t c = 0; c < k; c++)
            if (c != own)
                most = fmaxf(most,
                    now[c * GRAPHSS_I_ROW + pushed[i]] - past[c * GRAPHSS_I_ROW + pushed[i]]);
        *out++ = most;
    }
    for (size_t s = 0; s < GRAPHSS_I_PLAIN_SOURCES;
         s++) /* how far they stand by the class of before */
        *out++ = now[own * GRAPHSS_I_ROW + s];
    *out++ = past[own * GRAPHSS_I_ROW + SOURCE_NOW];
}
