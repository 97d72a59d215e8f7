/* sage.c - GraphSAGE (Hamilton et al., NeurIPS 2017) with the aggregator called gcn: the mean
 * over the neighbours and the node itself, h_{l+1} = relu(mean(h_j : j in N(i) + i) W_l +
 * b_l). The node is always one of its neighbours, so self_loops has no meaning here. */
#include "models/model_type.h"

const graphss_i_model_type graphss_i_sage_model = {
    .name = "sage",
    .summary = "GraphSAGE, mean of neighbours and self (Hamilton et al. 2017)",
    .norm = GRAPHSS_I_NORM_ROW,
    .loops = GRAPHSS_I_LOOPS_ALWAYS,
    .paper_gain = 1.4142135623730951, /* sqrt(2), what its library took before a relu */
    .paper_drawn = true,
    .declare = graphss_i_layered_declare,
    .record = graphss_i_layered_record,
};
