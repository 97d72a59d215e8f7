/* scene.c - see scene.h. */
#include "scene.h"

#include <stdlib.h>
#include <string.h>

static graphss_observation observe(const graphss_dataset *data)
{
    return (graphss_observation){&data->graph, &data->features, &data->node_names};
}

/* The number that each class of the data has to the model, by name; NULL: the same. */
static int32_t *classes_of(const graphss_dataset *data, const graphss_model *model)
{
    const graphss_names *own = &data->class_names, *known = graphss_model_class_names(model);
    if (own->count == 0 || known->count == 0)
        return NULL;
    int32_t *to = cli_alloc(own->count, sizeof *to);
    for (size_t c = 0; c < own->count; c++) {
        to[c] = -1;
        for (size_t k = 0; k < known->count && to[c] < 0; k++)
            if (strcmp(graphss_names_get(own, c), graphss_names_get(known, k)) == 0)
                to[c] = (int32_t)k;
    }
    return to;
}

static void renumber(int32_t *label, size_t n, const int32_t *to)
{
    for (size_t i = 0; i < n && label && to; i++)
        label[i] = to[label[i]];
}

/* Of a file: its labels are those of the data as it was read. */
static graphss_status read_split(cli *app, cli_scene *s, const char *path)
{
    const graphss_dataset *data = &s->current;
    int32_t *to = classes_of(data, s->model);
    graphss_status st =
        graphss_split_read(app->ctx, &s->split, path, data->label, data->graph.n_nodes,
                           to ? data->class_names.count : graphss_model_classes(s->model));
    for (size_t c = 0; c < data->class_names.count && to && !st; c++)
        if (to[c] < 0) /* as adopting the data will say */
            graphss_split_destroy(app->ctx, &s->split);
    if (!st) {
        renumber(s->split.train_label, s->split.n_train, to);
        renumber(s->split.val_label, s->split.n_val, to);
    }
    free(to);
    return st;
}

graphss_status cli_scene_open(cli *app, cli_scene *s, const char *model, const char *current,
                              const char *previous, const char *split)
{
    graphss_status st = graphss_model_load(app->ctx, &s->model, model);
    if (!st)
        st = cli_read_dataset(app, &s->current, current);
    if (!st && split)
        st = read_split(app, s, split);
    if (!st)
        st = cli_adopt(app, s->model, &s->current, &s->moved);
    if (!st && previous)
        st = cli_read_dataset(app, &s->previous, previous);
    if (!st && previous)
        st = cli_adopt(app, s->model, &s->previous, NULL);
    s->past = observe(&s->previous);
    s->in = (graphss_recover_input){.current = observe(&s->current),
                                    .previous = previous ? &s->past : NULL,
                                    .model = s->model,
                                    .split = &s->split,
                                    .seed = (uint64_t)app->global.seed};
    if (!st && !split && graphss_model_nodes(s->model) == 0)
        cli_note(app, "note: the model's split is taken to be in the numbers of %s",
                 s->current.name);
    if (!st && !split)
        st = graphss_match_split(app->ctx, &s->split, s->model, &s->in.current);
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
