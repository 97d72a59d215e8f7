/* graphss_lab/baselines.h - the published defences that recover is compared with.
 *
 *     graphss_recover_options opt;
 *     graphss_recover_options_init(&opt, graphss_lab_method_find("svd"), GRAPHSS_MODE_DEFAULT,
 *                                  model);
 *     graphss_recover_run(ctx, &r, &in, &opt);
 *
 * docs/defences.md describes them. "svd" opens ARPACK when it is first used. */
#ifndef GRAPHSS_LAB_BASELINES_H
#define GRAPHSS_LAB_BASELINES_H

#include <graphss/recover.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All methods: those of the core (graphss_recover_method_at), then the published ones; NULL
 * past the last. */
GRAPHSS_API const graphss_recover_method *graphss_lab_method_at(size_t i);
/* The method of that name among all of them, or NULL. */
GRAPHSS_API const graphss_recover_method *graphss_lab_method_find(const char *name);
/* A row for each name that an option of any of them has, for command lines and help. To set an
 * option use the row of that name of graphss_recover_method_options: where it is stored
 * depends on the method. */
GRAPHSS_API const graphss_option *graphss_lab_options_table(void);

#ifdef __cplusplus
}
#endif
#endif
