/* weight_names.c - the names of other libraries' matrices, as their state_dicts have them.
 *
 * PyTorch Geometric keeps the matrices of its linear layers transposed; before 2.0 GCNConv had
 * `weight` as it is used. DeepRobust's GCN is its own, its other models are those of PyTorch
 * Geometric. */
#include "models/weights/model_file.h"
#include <string.h>

#define PYG GRAPHSS_LAYOUT_PYG
#define DGL GRAPHSS_LAYOUT_DGL
#define ROBUST GRAPHSS_LAYOUT_DEEPROBUST
#define WEIGHT GRAPHSS_I_ROLE_WEIGHT
#define SELF GRAPHSS_I_ROLE_SELF
#define SOURCE GRAPHSS_I_ROLE_SOURCE
#define TARGET GRAPHSS_I_ROLE_TARGET
#define BIAS GRAPHSS_I_ROLE_BIAS
#define TWIN GRAPHSS_I_ROLE_TWIN

/* clang-format off */
const graphss_i_weight_name graphss_i_weight_names[] = {
    {PYG, "gcn", "lin.weight", WEIGHT, true},
    {PYG, "gcn", "weight", WEIGHT, false},
    {PYG, "gcn", "bias", BIAS, false},
    {PYG, "sgc", "lin.weight", WEIGHT, true},
    {PYG, "sgc", "lin.bias", BIAS, false},
    {PYG, "sage-mean", "lin_l.weight", WEIGHT, true},
    {PYG, "sage-mean", "lin_l.bias", BIAS, false},
    {PYG, "sage-mean", "lin_r.weight", SELF, true},
    {PYG, "gat", "lin.weight", WEIGHT, true},
    {PYG, "gat", "lin_src.weight", WEIGHT, true},
    {PYG, "gat", "lin_l.weight", WEIGHT, true},
    {PYG, "gat", "lin_dst.weight", TWIN, true},
    {PYG, "gat", "lin_r.weight", TWIN, true},
    {PYG, "gat", "att_src", SOURCE, false},
    {PYG, "gat", "att_l", SOURCE, false},
    {PYG, "gat", "att_dst", TARGET, false},
    {PYG, "gat", "att_r", TARGET, false},
    {PYG, "gat", "bias", BIAS, false},
    {PYG, "mlp", "weight", WEIGHT, true},
    {PYG, "mlp", "bias", BIAS, false},

    {DGL, "gcn", "weight", WEIGHT, false},
    {DGL, "gcn", "bias", BIAS, false},
    {DGL, "sgc", "fc.weight", WEIGHT, true},
    {DGL, "sgc", "fc.bias", BIAS, false},
    {DGL, "sage", "fc_neigh.weight", WEIGHT, true},
    {DGL, "sage", "bias", BIAS, false},
    {DGL, "sage", "fc_neigh.bias", BIAS, false},
    {DGL, "sage-mean", "fc_neigh.weight", WEIGHT, true},
    {DGL, "sage-mean", "fc_self.weight", SELF, true},
    {DGL, "sage-mean", "fc_self.bias", BIAS, false},
    {DGL, "sage-mean", "bias", BIAS, false},
    {DGL, "sage-mean", "fc_neigh.bias", BIAS, false},
    {DGL, "gat", "fc.weight", WEIGHT, true},
    {DGL, "gat", "attn_l", SOURCE, false},
    {DGL, "gat", "attn_r", TARGET, false},
    {DGL, "gat", "bias", BIAS, false},
    {DGL, "mlp", "weight", WEIGHT, true},
    {DGL, "mlp", "bias", BIAS, false},

    {ROBUST, "gcn", "weight", WEIGHT, false},
    {ROBUST, "gcn", "bias", BIAS, false},
    {ROBUST, "sgc", "lin.weight", WEIGHT, true},
    {ROBUST, "sgc", "lin.bias", BIAS, false},
    {ROBUST, "sage-mean", "lin_l.weight", WEIGHT, true},
    {ROBUST, "sage-mean", "lin_l.bias", BIAS, false},
    {ROBUST, "sage-mean", "lin_r.weight", SELF, true},
    {ROBUST, "gat", "lin.weight", WEIGHT, true},
    {ROBUST, "gat", "lin_src.weight", WEIGHT, true},
    {ROBUST, "gat", "lin_l.weight", WEIGHT, true},
    {ROBUST, "gat", "lin_dst.weight", TWIN, true},
    {ROBUST, "gat", "lin_r.weight", TWIN, true},
    {ROBUST, "gat", "att_src", SOURCE, false},
    {ROBUST, "gat", "att_l", SOURCE, false},
    {ROBUST, "gat", "att_dst", TARGET, false},
    {ROBUST, "gat", "att_r", TARGET, false},
    {ROBUST, "gat", "bias", BIAS, false},
};
/* clang-format on */
const size_t graphss_i_weight_names_count =
    sizeof graphss_i_weight_names / sizeof *graphss_i_weight_names;

/* Is it the last part of the name, or the name itself? */
static bool ends_in(const char *name, const char *end)
{
    const size_t length = strlen(name), n = strlen(end);
    return length >= n && strcmp(name + length - n, end) == 0 &&
           (length == n || name[length - n - 1] == '.');
}

static bool is_for(const graphss_i_weight_name *row, graphss_layout layout, const char *model)
{
    return row->layout == layout && strcmp(row->model, model) == 0;
}

const graphss_i_weight_name *graphss_i_weight_name_find(
    graphss_layout layout, const char *model, const char *name)
{
    const graphss_i_weight_name *best = NULL;
    for (size_t i = 0; i < graphss_i_weight_names_count; i++) {
        const graphss_i_weight_name *row = &graphss_i_weight_names[i];
        if (is_for(row, layout, model) && ends_in(name, row->end) &&
            (!best || strlen(row->end) > strlen(best->end)))
            best = row;
    }
    return best;
}

const graphss_i_weight_name *graphss_i_weight_name_of(
    graphss_layout layout, const char *model, graphss_i_role role)
{
    for (size_t i = 0; i < graphss_i_weight_names_count; i++) {
        const graphss_i_weight_name *row = &graphss_i_weight_names[i];
        if (is_for(row, layout, model) && row->role == role)
            return row;
    }
    return NULL;
}

void graphss_i_layer_name(char *out, size_t size, graphss_layout layout, size_t l)
{
    if (layout == ROBUST)
        snprintf(out, size, "gc%zu.", l + 1);
    else
        snprintf(out, size, layout == DGL ? "layers.%zu." : "convs.%zu.", l);
}

const char *graphss_layout_text(graphss_layout layout)
{
    static const char *const names[] = {"pyg", "dgl", "deeprobust"};
    const bool known = (int)layout >= 0 && layout <= ROBUST;
    return known ? names[layout] : "?";
}
