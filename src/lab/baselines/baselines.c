/* baselines.c - the methods of the core and the published ones, as one list. */
#include "lab/baselines/baselines.h"
#include "recover/option_rows.h"
#include <string.h>

static const graphss_i_defence *const published[] = {
#define DEFENCE(name) &graphss_i_##name##_defence,
#include "lab/baselines/baselines.def"
#undef DEFENCE
};
enum { PUBLISHED = sizeof published / sizeof *published };

const graphss_recover_method *graphss_lab_method_at(size_t i)
{
    size_t core = 0;
    while (core < i && graphss_recover_method_at(core))
        core++;
    if (graphss_recover_method_at(core))
        return graphss_recover_method_at(i);
    return i - core < PUBLISHED ? published[i - core] : NULL;
}

const graphss_recover_method *graphss_lab_method_find(const char *name)
{
    for (size_t i = 0; name && i < PUBLISHED; i++)
        if (!strcmp(published[i]->name, name))
            return published[i];
    return graphss_recover_method_find(name);
}

const graphss_option *graphss_lab_options_table(void)
{
    static const graphss_option table[] = {GRAPHSS_I_COMMON_ROWS,
        GRAPHSS_I_ROW_ALPHA(propagation), GRAPHSS_I_ROW_STEPS(propagation),
        GRAPHSS_I_ROW_THRESHOLD(jaccard), GRAPHSS_I_ROW_SIMILARITY(jaccard),
        GRAPHSS_I_ROW_RANK(svd), GRAPHSS_I_ROW_GAMMA(rgcn), GRAPHSS_I_ROWS_RGCN(rgcn),
        GRAPHSS_I_ROWS_PAPER(paper), GRAPHSS_I_ROWS_PROGNN(prognn),
        GRAPHSS_I_ROW_NEIGHBOURS(prognn), GRAPHSS_I_ROWS_NRGNN(nrgnn),
        GRAPHSS_I_ROW_DROPNODE(grand), GRAPHSS_I_ROW_INPUT_DROPOUT(grand),
        GRAPHSS_I_ROWS_GRAND(grand), GRAPHSS_I_ROW_NEAR(prognn),
        GRAPHSS_I_ROW_ADVERSARIES(advtrain), GRAPHSS_I_FIT_ROWS, {0}};
    return table;
}

const graphss_i_defence *graphss_i_lab_defence(const char *name, int mode)
{
    return graphss_i_defence_in(graphss_lab_method_find(name), (graphss_mode)mode);
}
