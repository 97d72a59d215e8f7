/* recover_options.c - the presets of the options of defences. */
#include "recover/defence.h"
#include "recover/option_rows.h"
#include <string.h>

const char *const graphss_i_train_names[] = {"auto", "evasion", "retrain", NULL};
const char *const graphss_i_head_names[] = {"classifier", "miner", NULL};
const char *const graphss_i_similarity_names[] = {
    "auto", "jaccard", "cosine", "weighted", NULL};

const graphss_option graphss_i_common_options[] = {GRAPHSS_I_COMMON_ROWS, {0}};
const graphss_option graphss_i_training_options[] = {
    GRAPHSS_I_COMMON_ROWS, GRAPHSS_I_FIT_ROWS, {0}};

const graphss_option *graphss_recover_method_options(
    const graphss_recover_method *method, graphss_mode mode)
{
    const graphss_i_defence *m = graphss_i_defence_in(method, mode);
    return m ? m->options : NULL;
}

bool graphss_recover_method_uses(
    const graphss_recover_method *method, graphss_mode mode, const char *option)
{
    const graphss_option *table = graphss_recover_method_options(method, mode);
    return table && graphss_option_find(table, option);
}

bool graphss_recover_method_finds(const graphss_recover_method *method, graphss_mode mode)
{
    const graphss_i_defence *m = graphss_i_defence_in(method, mode);
    return m && m->finds;
}

/* The appendix gives each rival the training of its authors' code: two layers of 16 units (one
 * where all hops come first), half of them dropped, Adam with rate 0.01, 200 epochs. */
static void paper_fit(graphss_train_options *fit)
{
    const graphss_i_model_type *type = graphss_i_model_type_find(fit->model);
    fit->mode = GRAPHSS_MODE_PAPER;
    fit->layers = type && type->hops_by_option ? 1 : 2;
    fit->hidden = 16;
    fit->dropout = 0.5;
    fit->weight_decay = 5e-4;
    fit->learning_rate = 0.01;
    fit->epochs = 200;
    fit->patience = 0;
    fit->self_loops = true;
}

void graphss_recover_options_init(graphss_recover_options *opt,
    const graphss_recover_method *method, graphss_mode mode, const graphss_model *model)
{
    graphss_train_options gcn;
    graphss_train_options_init(&gcn, "gcn", mode, NULL);
    *opt = graphss_i_recover_preset(method, mode, model ? graphss_model_options(model) : &gcn,
        model ? graphss_model_dataset_name(model) : NULL);
}

graphss_recover_options graphss_i_recover_preset(const graphss_recover_method *method,
    graphss_mode mode, const graphss_train_options *fit, const char *dataset)
{
    const graphss_i_defence *m = graphss_i_defence_in(method, mode);
    graphss_recover_options opt = {.struct_size = sizeof opt,
        .method = method,
        .mode = mode,
        .fit = *fit,
        .reserved = {0}};
    if (mode == GRAPHSS_MODE_PAPER && m && !m->as_model)
        paper_fit(&opt.fit);
    if (m && m->adjust)
        m->adjust(&opt);
    if (fit->standardise &&
        mode == GRAPHSS_MODE_DEFAULT) { /* whatever the preset of the model is */
        opt.fit.standardise = true;
        opt.fit.row_normalise = fit->row_normalise;
    }
    if (m && m->suit && dataset && mode == GRAPHSS_MODE_PAPER)
        m->suit(&opt, dataset);
    return opt;
}
