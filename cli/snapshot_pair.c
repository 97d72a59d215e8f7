/* snapshot_pair.c - see snapshot_pair.h. */
#include <stdlib.h>
#include <string.h>

#include "snapshot_pair.h"

/* The split of a file, in place of the one that came with the data. Its labels are the data's.
 */
static graphss_status read_split(cli *app, graphss_dataset *data, const char *path, size_t k)
{
    const size_t named = data->class_names.count;
    graphss_split_destroy(app->ctx, &data->split);
    return cli_read_split(app, &data->split, path, data, named ? named : k);
}

/* Nodes that are gone are left out of the split. */
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

/* ---- answers in place of a model ---- */

graphss_status cli_check_answers(cli *app, const char *model, const char *previous)
{
    const char *now = cli_given(app, "answers"), *before = cli_given(app, "previous-answers");
    if (!now && !before)
        return model ? GRAPHSS_OK
                     : cli_usage(app, "%s: want --model-file MODEL, or --answers FILE.npz",
                           app->command->name);
    if (model || cli_given(app, "predictor"))
        return cli_usage(
            app, "--answers stands in place of --%s", model ? "model-file" : "predictor");
    if (!now || !before || !previous)
        return cli_usage(app, "answers alone: want --answers FILE.npz on --current and "
                              "--previous-answers FILE.npz on --previous, all four");
    return GRAPHSS_OK;
}

static graphss_status read_answers(
    cli *app, graphss_predictions *out, const char *path, const graphss_dataset *data)
{
    const graphss_status st = graphss_predictions_read(app->ctx, out, path);
    if (!st && !out->prob)
        return cli_fail(
            app, GRAPHSS_ERR_DATA, "%s has no array probabilities, nodes x classes", path);
    if (!st && out->n_nodes != data->graph.n_nodes)
        return cli_fail(app, GRAPHSS_ERR_DATA,
            "%s has probabilities of %zu nodes, %s has %zu nodes", path, out->n_nodes,
            data->name, data->graph.n_nodes);
    return st;
}

/* Columns have no names in answers, so both snapshots must have the same. */
static graphss_status check_columns(
    cli *app, const graphss_dataset *a, const graphss_dataset *b)
{
    for (size_t j = 0; j < a->column_names.count && j < b->column_names.count; j++) {
        const char *x = graphss_names_get(&a->column_names, j);
        const char *y = graphss_names_get(&b->column_names, j);
        if (strcmp(x, y) != 0)
            return cli_fail(app, GRAPHSS_ERR_DATA,
                "column %zu is '%s' in %s and '%s' in %s: answers alone want the "
                "same columns in both",
                j, x, a->name, y, b->name);
    }
    return GRAPHSS_OK;
}

/* Fitted to the answers on the previous snapshot, which is clean, and taught on it. */
static graphss_status model_of_answers(cli *app, cli_snapshot_pair *s, const char *split)
{
    const graphss_dataset *data[2] = {&s->previous, &s->current};
    const char *const option[2] = {"previous-answers", "answers"};
    graphss_answers known[2];
    graphss_predictor_use use;
    graphss_status st = check_columns(app, &s->previous, &s->current);
    for (int i = 0; i < 2 && !st; i++) {
        st = read_answers(app, &s->answers[i], cli_given(app, option[i]), data[i]);
        known[i] = (graphss_answers){&data[i]->graph, &data[i]->features, s->answers[i].prob};
    }
    const size_t k = s->answers[0].n_classes;
    if (!st && s->answers[1].n_classes != k)
        st = cli_fail(app, GRAPHSS_ERR_DATA, "%s has %zu classes, %s has %zu",
            cli_given(app, option[0]), k, cli_given(app, option[1]), s->answers[1].n_classes);
    if (!st && split)
        st = read_split(app, &s->previous, split, k);
    if (!st)
        st = graphss_model_from_answers(app->ctx, &s->model, known, 2, k,
            split ? &s->previous.split : NULL, (uint64_t)app->global.seed, NULL);
    if (!st)
        st = graphss_model_set_dataset(app->ctx, s->model, &s->previous);
    if (!st)
        st = cli_teach(app, s->model, &s->previous);
    if (!st && graphss_model_predictor_use(&use, s->model) && app->json)
        cli_json_set(app->json, "agreement", cli_json_real(use.agreement));
    return st;
}

/* ---- several ranks ---- */

/* Aligns the data with the model. On several ranks nothing can be moved. */
static graphss_status align(
    cli *app, const graphss_model *model, graphss_dataset *data, bool *moved)
{
    return app->part ? graphss_model_fits(app->ctx, model, data)
                     : cli_align(app, model, data, moved);
}

graphss_status cli_snapshot_pair_rows(
    cli *app, cli_snapshot_pair *s, const int32_t *node, size_t n)
{
    int32_t *match = NULL;
    if (!app->part)
        return GRAPHSS_OK;
    graphss_status st = graphss_part_rows(app->ctx, &s->current, app->part, node, n);
    if (st || !app->past)
        return st;
    st = graphss_observation_match(app->ctx, &match, &s->in.current, s->in.previous);
    if (st)
        return st;
    int32_t *then = cli_alloc(n, sizeof *then);
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (match[node[i]] >= 0)
            then[m++] = match[node[i]];
    st = graphss_part_rows(app->ctx, &s->previous, app->past, then, m);
    free(then);
    graphss_release(app->ctx, match);
    return st;
}

graphss_status cli_snapshot_pair_open(cli *app, cli_snapshot_pair *s, const char *model,
    const char *current, const char *previous, const char *split)
{
    if (previous && strcmp(current, "-") == 0 && strcmp(previous, "-") == 0)
        return cli_usage(app, "standard input (-) can be read once only");
    const bool answers = cli_given(app, "answers") != NULL;
    graphss_status st = answers ? GRAPHSS_OK : cli_check_swapped(app, model, current);
    if (!st && !answers)
        st = cli_load_model(app, &s->model, model);
    if (!st)
        st = cli_read_dataset(app, &s->current, current);
    if (!st && split && !answers)
        st = read_split(app, &s->current, split, graphss_model_classes(s->model));
    if (!st && !answers)
        st = align(app, s->model, &s->current, &s->moved);
    if (!st && previous)
        st = app->part ? cli_read_past(app, &s->previous, previous, &s->current)
                       : cli_read_dataset(app, &s->previous, previous);
    if (!st && previous && !answers)
        st = align(app, s->model, &s->previous, NULL);
    if (!st && answers) {
        st = model_of_answers(app, s, split);
        split = NULL; /* the model has it, in numbers of previous */
    }
    s->past = graphss_dataset_observe(&s->previous);
    s->in = (graphss_defence_input){.struct_size = sizeof(graphss_defence_input),
        .current = graphss_dataset_observe(&s->current),
        .previous = previous ? &s->past : NULL,
        .model = s->model,
        .split = &s->split,
        .seed = (uint64_t)app->global.seed};
    s->part = (graphss_part_input){.struct_size = sizeof s->part,
        .current = app->part,
        .table = &s->current,
        .previous = app->past,
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
    for (int i = 0; i < 2; i++)
        graphss_predictions_destroy(app->ctx, &s->answers[i]);
    *s = (cli_snapshot_pair){0};
}
