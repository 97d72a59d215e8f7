/* gcn.c - graph convolutional network (Kipf & Welling, ICLR 2017):
 * h_{l+1} = relu(A_hat h_l W_l + b_l), A_hat = D^-1/2 (A + I) D^-1/2; the last without relu.
 * The paper preset is what its public code ran: three weight layers, A without loops. */
#include "models/model_type.h"

const graphss_i_model_type graphss_i_gcn_model = {
    .name = "gcn",
    .summary = "graph convolutional network (Kipf and Welling 2017)",
    .norm = GRAPHSS_I_NORM_SYMMETRIC,
    .declare = graphss_i_layered_declare,
    .record = graphss_i_layered_record,
};
