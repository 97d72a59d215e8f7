/* part_scene.h - the input of alert and recover on one of several ranks.
 *
 *     graphss_i_scene scene = {0};
 *     graphss_i_scene_open(ctx, &scene, in);
 *     ... scene.in, scene.before, scene.split ...
 *     graphss_i_scene_close(ctx, &scene); */
#ifndef GRAPHSS_PART_SCENE_H
#define GRAPHSS_PART_SCENE_H

#include "models/part_private.h"
#include "observation/observation.h"
#include <graphss/engine.h>

/* {0} is empty; must not be moved. */
typedef struct graphss_i_scene {
    graphss_i_part *now, *past; /* past NULL: no earlier snapshot */
    graphss_defence_input in;   /* own rows; its split is in own numbers, without test nodes */
    graphss_observation previous;
    graphss_split split, previous_split; /* own nodes, by own numbers */
    const graphss_split *whole;          /* in global numbers */
    const int32_t *before;        /* [own and ghosts of now] number in the past, or -1 */
    const graphss_dataset *table; /* what every rank stores of the current snapshot */
    size_t n_all, n_all_past;
} graphss_i_scene;

/* All ranks call it together. SHAPE, DATA, INVALID: as graphss_i_check_input. */
graphss_status graphss_i_scene_open(
    graphss_ctx *ctx, graphss_i_scene *scene, const graphss_part_input *in);
void graphss_i_scene_close(graphss_ctx *ctx, graphss_i_scene *scene);

#endif
