/* snapshot_pair.c - see snapshot_pair.h. */
#include <string.h>

#include "snapshot_pair.h"

/* The split of a file in place of what came with the data: its labels are the data's. */
static graphss_status read_split(cli *app, graphss_dataset *data, const char *path, size_t k)
{
    const size_t named = data->class_names.count;
    graphss_split_destroy(app->ctx, &data->split);
    return cli_read_split(app, &data->split, path, data, named ? named : k);
}

/* Labelled nodes that are gone teach nothing. */
static void note_gone(cli *app, const cli_snapshot_pair *s)
{
    const graphss_split *own = graphss_model_split(s->model);
    const size_t had = own->n_train + own->n_val, has = s->split.n_train + s->split.n_val;
    if (2 * has <= had)
        cli_note(app,
                 "note: of %zu labelled nodes of the model %zu %s not in %s: answers rest on "
                 "the other %zu",
                 had, had - has, had - has == 1 ? "is" : "are", s->current.name, has);
}

graphss_status cli_snapshot_pair_open(cli *app, cli_snapshot_pair *s, const char *model,
                                      const char *current, const char *previous,
                                      const char *split)
{
    if (previous && strcmp(current, "-") == 0 && strcmp(previous, "-") == 0)
        return cli_usage(app, "standard input (-) can be read once only");
    graphss_status st = cli_check_swapped(app, model, current);
    if (!st)
        st = cli_load_model(app, &s->model, model);
    if (!st)
        st = cli_read_dataset(app, &s->current, current);
    if (!st && split)
        st = read_split(app, &s->current, split, graphss_model_classes(s->model));
    if (!st)
        st = cli_align(app, s->model, &s->current, &s->moved);
    if (!st && previous)
        st = cli_read_dataset(app, &s->previous, previous);
    if (!st && previous)
        st = cli_align(app, s->model, &s->previous, NULL);
    s->past = graphss_dataset_observe(&s->previous);
    s->in = (graphss_defence_input){.struct_size = sizeof(graphss_defence_input),
                                    .current = graphss_dataset_observe(&s->current),
                                    .previous = previous ? &s->past : NULL,
                                    .model = s->model,
                                    .split = &s->split,
                                    .seed = (uint64_t)app->global.seed};
    if (!st && !split && graphss_model_nodes(s->model) == 0)
        cli_note(app, "note: the model's split is taken to be in the numbers of %s",
                 s->current.name);
    if (!st && !split)
        st = cli_check_model_names(app, s->model, model, &s->in.current, current);
    if (!st && previous)
        st = cli_check_names(app, NULL, &s->in.current, current, &s->past, previous);
    if (!st && !split)
        st = graphss_split_match(app->ctx, &s->split, s->model, &s->in.current);
    if (!st && !split)
        note_gone(app, s);
    if (!st && split) {
        s->split = s->current.split;
        s->current.split = (graphss_split){0};
    }
    return st;
}

void cli_snapshot_pair_close(cli *app, cli_snapshot_pair *s)
{
    graphss_split_destroy(app->ctx, &s->split);
    graphss_dataset_destroy(app->ctx, &s->previous);
    graphss_dataset_destroy(app->ctx, &s->current);
    graphss_model_free(app->ctx, s->model);
    *s = (cli_snapshot_pair){0};
}
