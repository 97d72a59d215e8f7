/* scene.c - see scene.h. */
#include "scene.h"

#include <string.h>

static graphss_observation observe(const graphss_dataset *data)
{
    return (graphss_observation){&data->graph, &data->features, &data->node_names};
}

/* In numbers of current: of a file (path), else the model's own. */
static graphss_status choose_split(cli *app, graphss_split *out, const char *path,
                                   const graphss_model *model, const graphss_dataset *current)
{
    const graphss_observation now = observe(current);
    if (path)
        return graphss_split_read(app->ctx, out, path, current->label, current->graph.n_nodes,
                                  graphss_model_classes(model));
    if (graphss_model_nodes(model) == 0)
        cli_note(app, "note: the model's split is taken to be in the numbers of %s",
                 current->name);
    return graphss_match_split(app->ctx, out, model, &now);
}

graphss_status cli_scene_open(cli *app, cli_scene *s, const char *model, const char *current,
                              const char *previous, const char *split)
{
    graphss_status st = graphss_model_load(app->ctx, &s->model, model);
    if (!st)
        st = cli_read_dataset(app, &s->current, current);
    if (!st)
        st = cli_adopt(app, s->model, &s->current, &s->moved);
    if (!st && previous)
        st = cli_read_dataset(app, &s->previous, previous);
    if (!st && previous)
        st = cli_adopt(app, s->model, &s->previous, NULL);
    if (!st)
        st = choose_split(app, &s->split, split, s->model, &s->current);
    s->past = observe(&s->previous);
    s->in = (graphss_recover_input){.current = observe(&s->current),
                                    .previous = previous ? &s->past : NULL,
                                    .model = s->model,
                                    .split = &s->split,
                                    .seed = (uint64_t)app->global.seed};
    return st;
}

void cli_scene_close(cli *app, cli_scene *s)
{
    graphss_split_destroy(app->ctx, &s->split);
    graphss_dataset_destroy(app->ctx, &s->previous);
    graphss_dataset_destroy(app->ctx, &s->current);
    graphss_model_free(app->ctx, s->model);
    *s = (cli_scene){0};
}
