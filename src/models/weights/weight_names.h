/* weight_names.h - how other libraries call the matrices of a layer. Private. */
#ifndef GRAPHSS_WEIGHT_NAMES_H
#define GRAPHSS_WEIGHT_NAMES_H

#include "base/base.h"
#include <graphss/weights.h>

/* What a matrix is to its layer. */
typedef enum graphss_i_role {
    GRAPHSS_I_ROLE_WEIGHT, /* of the neighbours, or of all */
    GRAPHSS_I_ROLE_SELF,   /* sage-mean: of the node itself */
    GRAPHSS_I_ROLE_SOURCE, /* gat: attention's vectors for a neighbour */
    GRAPHSS_I_ROLE_TARGET, /* and for the node itself */
    GRAPHSS_I_ROLE_BIAS,
    GRAPHSS_I_ROLE_TWIN, /* gat: the weights once more, which must be the same */
    GRAPHSS_I_ROLES
} graphss_i_role;

/* The end of a matrix's name; the first of a role is the one that is written. */
typedef struct graphss_i_weight_name {
    graphss_layout layout;
    const char *model, *end;
    graphss_i_role role;
    bool transposed; /* kept as [out x in] */
} graphss_i_weight_name;

extern const graphss_i_weight_name graphss_i_weight_names[];
extern const size_t graphss_i_weight_names_count;

/* The row whose end is the longest that fits a name; NULL: none. */
const graphss_i_weight_name *graphss_i_weight_name_find(graphss_layout layout,
                                                        const char *model, const char *name);
/* The row that a role is written by; NULL: none. */
const graphss_i_weight_name *graphss_i_weight_name_of(graphss_layout layout, const char *model,
                                                      graphss_i_role role);
/* What stands before the end for layer l, counted from 0: "convs.0." */
void graphss_i_layer_name(char *out, size_t size, graphss_layout layout, size_t l);

#endif
