/* ground.h - what Nettack needs of a snapshot whoever the victims are and whatever is believed:
 * made once where many attacks start from the same snapshot, and read by all of them. */
#ifndef GRAPHSS_GROUND_H
#define GRAPHSS_GROUND_H

#include "attack/cooccur.h"

/* {0} is empty. */
typedef struct graphss_i_ground {
    graphss_i_words x;
    graphss_i_cooccur together;
    float *on; /* [d] what an absent word becomes */
} graphss_i_ground;

/* features are borrowed. Words of the listed nodes have their row in `together`. */
graphss_status graphss_i_ground_init(graphss_ctx *ctx, graphss_i_ground *ground,
                                     const graphss_features *features,
                                     graphss_feature_domain domain, const int32_t *node,
                                     size_t n_nodes);
void graphss_i_ground_destroy(graphss_ctx *ctx, graphss_i_ground *ground);

#endif
