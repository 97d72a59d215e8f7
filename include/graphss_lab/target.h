/* graphss_lab/target.h - what the adaptive attacker searches against: alert or a method of
 * recover, "none" being the model alone, as he can run them with a copy of the program.
 *
 *     graphss_target target;
 *     graphss_target_init(&target);
 *     target.against = "jaccard";
 *     target.in = in;                     // a graphss_defence_input; current is filled in
 *     graphss_attack_input attack;
 *     graphss_attack_input_init(&attack); // graph, features, victims, ...
 *     attack.ask = graphss_target_ask;
 *     attack.asked = &target;
 *     graphss_attack_options opt;
 *     graphss_attack_options_init(&opt);
 *     opt.method = "adaptive";
 *     graphss_attack_run(ctx, &flips, NULL, &attack, &opt);
 *
 * He sees what the public interface answers: the posterior of a method, or an alert and how
 * likely it holds each node for perturbed. The true label of a test node is not among its
 * arguments. */
#ifndef GRAPHSS_LAB_TARGET_H
#define GRAPHSS_LAB_TARGET_H

#include <graphss/alert.h>
#include <graphss/attack.h>
#include <graphss_lab/baselines.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All borrowed. */
typedef struct graphss_target {
    uint32_t struct_size; /* sizeof(graphss_target) */
    const char *against;  /* "recover" (its default method), "alert", or the name of a method
                           * of graphss_lab_method_at */
    graphss_defence_input in; /* model, split, previous, seed and names as the defender has
                               * them; graph and features of current are those asked about */
} graphss_target;

/* Against "recover". */
GRAPHSS_API void graphss_target_init(graphss_target *target);
/* The i-th name that `against` may have; NULL past the last. */
GRAPHSS_API const char *graphss_target_name(size_t i);

/* A graphss_attack_ask; user is the graphss_target. A victim is won where the method
 * prefers another class to the one the attacker believes; against alert where the model does
 * and there is no alert, or one that does not hold the node for perturbed. Errors: INVALID (no
 * such name), and those of graphss_recover_run and graphss_alert_run. */
GRAPHSS_MUST_CHECK GRAPHSS_API graphss_status graphss_target_ask(void *user, graphss_ctx *ctx,
    double *loss, const graphss_attack_input *in, const graphss_graph *graph,
    const graphss_features *features);
/* label [n_nodes]: the labels that the defender has for such a snapshot. With alert these are
 * the model's, and -1 for a node that an alert flags as perturbed. */
GRAPHSS_MUST_CHECK GRAPHSS_API graphss_status graphss_target_label(graphss_ctx *ctx,
    int32_t *label, const graphss_target *target, const graphss_graph *graph,
    const graphss_features *features);

#ifdef __cplusplus
}
#endif
#endif
