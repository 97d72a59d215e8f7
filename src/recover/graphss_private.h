/* graphss_private.h - an inspection under way, for inspect*.c and prior_from_alert.c only. */
#ifndef GRAPHSS_INSPECT_PRIVATE_H
#define GRAPHSS_INSPECT_PRIVATE_H

#include "detect/aux_models.h"
#include "detect/sim_plan.h"
#include "recover/graphss_run.h"

enum {
    GROUPS = 2, /* nodes without history, with */
    ROWS = 256  /* a task's share of the nodes */
};

typedef struct inspection {
    const graphss_i_defence_input *scene;
    graphss_i_lens lens;
    graphss_i_drills drills;
    graphss_i_view view[GRAPHSS_I_VIEWS]; /* drills.views are in use */
    graphss_i_witnesses witnesses;
    float middle;      /* how alike the ends of half of the links are, or more */
    int32_t *believed; /* [n] labels an attacker would assume */
    uint8_t *fixed;    /* [n] training or validation node */
    float *before_prob, *before_degree, *before_words;
    graphss_i_suspicion suspicion[GROUPS];
    bool fitted[GROUPS];
    uint8_t *still;   /* [n] as in the past, so not hit; NULL: no past */
    double untouched; /* prior weight of that state, for every free node */
    bool calm;        /* the quick look was asked, and found nothing */
    double share[GROUPS][GRAPHSS_I_STATES]; /* as found */
    float *chance;                          /* [tasks x k x ROW] scratch: classes by state */
    double *mixed;                          /* [tasks x k] scratch */
} inspection;

/* Who is judged as a node with history. */
static inline size_t group_of(const inspection *x, size_t node)
{
    return x->fitted[1] && x->scene->before[node] >= 0;
}

/* An errand: sets untouched and calm (prior_from_alert.c). arg: the inspection */
graphss_status graphss_i_doubt(graphss_ctx *ctx, void *arg, size_t job);

/* Attacks the snapshot in every drill, and opens views of it and of what becomes of it
 * (graphss_views.c). */
graphss_status graphss_i_inspect_views(graphss_ctx *ctx, inspection *x);

/* The snapshot itself: fills out and share, and settles its view (graphss_infer.c). */
graphss_status graphss_i_inspect_infer(graphss_ctx *ctx, graphss_i_inspection *out,
                                       inspection *x);
/* What the nodes of a view vote with from now on. out: of the snapshot, where nodes without a
 * label are inferred and the others get their place; NULL: a simulated view. */
graphss_status graphss_i_inspect_settle(graphss_ctx *ctx, inspection *x, graphss_i_view *v,
                                        graphss_i_inspection *out);

#endif
