/* inputs.c - where data comes from and what may be written. All
 * checks of outputs run before the work, so that an hour of training is never lost to a
 * folder that does not exist. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

graphss_status cli_find_data_dirs(cli *app)
{
    const graphss_status st = graphss_dataset_dirs(app->ctx, &app->usual_dirs);
    if (st)
        return st;
    size_t usual = 0, n = 0;
    while (app->usual_dirs[usual])
        usual++;
    app->data_dirs = cli_alloc(app->n_items + usual + 1, sizeof *app->data_dirs);
    for (size_t i = 0; i < app->n_items; i++)
        if (app->item[i].group < 0 && strcmp(app->item[i].row->name, "data-dir") == 0)
            app->data_dirs[n++] = app->item[i].text;
    for (size_t i = 0; i < usual; i++)
        app->data_dirs[n++] = app->usual_dirs[i];
    app->xdg_dir = app->data_dirs[n - 1];
    return GRAPHSS_OK;
}

graphss_status cli_read_dataset(cli *app, graphss_dataset *out, const char *where)
{
    const graphss_read_options opt = {.struct_size = sizeof opt,
        .data_dirs = app->data_dirs,
        .missing = (graphss_missing_rule)app->global.missing};
    const cli_file_type kind = cli_file_type_of(where);
    if (!app->warnings)
        app->warnings = json_array();
    if (app->engine.ranks)
        return cli_read_part(app, out, where);
    if (strcmp(where, "-") == 0 && app->stdin_read)
        return cli_usage(app, "standard input (-) can be read once only");
    app->stdin_read = app->stdin_read || strcmp(where, "-") == 0;
    if (kind == CLI_FILE_FLIPS) /* which could be read as a list of links */
        return cli_wrong_file(app, where, kind, "a dataset");
    const graphss_status st = graphss_dataset_read(app->ctx, out, where, &opt);
    terminal_clear(&app->term);
    if (st && (kind == CLI_FILE_MODEL || kind == CLI_FILE_LABELS || kind == CLI_FILE_SPLIT))
        return cli_wrong_file(app, where, kind, "a dataset");
    return st;
}

bool cli_is_public_name(const char *name)
{
    const graphss_fetch_item *item;
    for (size_t i = 0; (item = graphss_fetch_item_at(i)); i++)
        if (strcmp(item->dataset, name) == 0)
            return true;
    return false;
}

graphss_status cli_check_swapped(cli *app, const char *model, const char *dataset)
{
    const cli_file_type first = cli_file_type_of(model), second = cli_file_type_of(dataset);
    const bool data = first == CLI_FILE_DATASET || first == CLI_FILE_FOLDER ||
                      first == CLI_FILE_NPZ ||
                      (first == CLI_FILE_NONE && cli_is_public_name(model));
    if (!data || second != CLI_FILE_MODEL)
        return GRAPHSS_OK;
    return cli_fail(app, GRAPHSS_ERR_DATA,
        "%s is a model and %s a dataset: they are swapped, want --model-file %s "
        "and %s as the dataset",
        dataset, model, dataset, model);
}

graphss_status cli_load_model(cli *app, graphss_model **out, const char *path)
{
    const graphss_status st = graphss_model_load(app->ctx, out, path);
    const cli_file_type kind = st ? cli_file_type_of(path) : CLI_FILE_NONE;
    if (st && kind >= CLI_FILE_FOLDER && kind != CLI_FILE_MODEL)
        return cli_wrong_file(app, path, kind, "a model");
    if (st && kind == CLI_FILE_NONE && cli_is_public_name(path))
        return cli_fail(app, st,
            "--model-file: there is no file '%s', which is the name of a dataset: "
            "want a model that train wrote",
            path);
    const char *command = cli_given(app, "predictor");
    return !st && command ? cli_predictor_attach(app, *out, command) : st;
}

graphss_status cli_read_nodes(
    cli *app, int32_t **nodes, size_t *n, const char *path, const graphss_dataset *data)
{
    if (cli_file_type_of(path) != CLI_FILE_FLIPS)
        return graphss_node_list_read(app->ctx, nodes, n, path, data);
    graphss_flips flips = {0};
    graphss_status st = graphss_flips_read(app->ctx, &flips, path, data);
    if (st)
        return st;
    if (flips.count == 0)
        st = cli_fail(app, GRAPHSS_ERR_DATA, "%s: no change in it, want some victims", path);
    else
        st = graphss_flips_victims(app->ctx, nodes, n, &flips);
    graphss_flips_destroy(app->ctx, &flips);
    return st;
}

graphss_status cli_align(
    cli *app, const graphss_model *model, graphss_dataset *data, bool *moved)
{
    graphss_alignment what = {0};
    const graphss_status st = graphss_dataset_align(app->ctx, &what, data, model);
    if (!st && what.columns && what.unknown + what.missing == 0)
        cli_note(app, "note: %s: features taken by name, their order differs", data->name);
    else if (!st && what.unknown)
        cli_note(app,
            "note: %s: features taken by name: %zu that the model does not know %s left "
            "out",
            data->name, what.unknown, what.unknown == 1 ? "is" : "are");
    if (!st && what.filled)
        cli_note(app,
            "note: %s: %zu empty cell%s taken as the mean in the data the model was "
            "trained on (%s)",
            data->name, what.filled, what.filled == 1 ? " is" : "s are",
            graphss_model_dataset_name(model));
    if (moved)
        *moved = what.columns || what.classes || what.filled;
    return st;
}

graphss_status cli_check_names(cli *app, bool *by_position, const graphss_observation *a,
    const char *a_file, const graphss_observation *b, const char *b_file)
{
    const size_t n = a->graph->n_nodes, m = b->graph->n_nodes;
    const bool named = a->names && a->names->count, other = b->names && b->names->count;
    int32_t *match = NULL;
    if (by_position)
        *by_position = !named && !other;
    if (named == other)
        return GRAPHSS_OK;
    const graphss_status st = graphss_observation_match(app->ctx, &match, a, b);
    size_t found = 0;
    for (size_t i = 0; i < n && !st; i++)
        found += match[i] >= 0;
    graphss_release(app->ctx, match);
    if (st || found == (n < m ? n : m))
        return st;
    const char *with = named ? a_file : b_file, *without = named ? b_file : a_file;
    if (n != m)
        return cli_fail(app, GRAPHSS_ERR_DATA,
            "%s has node names and %s has none, and the node counts differ (%zu "
            "and %zu), so nodes cannot be matched",
            with, without, named ? n : m, named ? m : n);
    cli_warn(app,
        "%s has node names and %s has none: nodes are matched by position, which is wrong "
        "unless both list them in the same order",
        with, without);
    if (by_position)
        *by_position = true;
    return GRAPHSS_OK;
}

graphss_status cli_check_model_names(cli *app, const graphss_model *model,
    const char *model_file, const graphss_observation *data, const char *file)
{
    const graphss_graph nodes = {.n_nodes = graphss_model_nodes(model)};
    const graphss_observation known = {
        .graph = &nodes, .names = graphss_model_node_names(model)};
    if (known.graph->n_nodes == 0) /* it does not know them */
        return GRAPHSS_OK;
    return cli_check_names(app, NULL, data, file, &known, model_file);
}

const char *cli_class_name(const graphss_dataset *data, size_t k, char buffer[24])
{
    if (k < data->class_names.count)
        return graphss_names_get(&data->class_names, k);
    snprintf(buffer, 24, "%zu", k);
    return buffer;
}

const char *cli_s(size_t n)
{
    return n == 1 ? "" : "s";
}

void cli_show_attack(graphss_perturbation attack, double share, const char *of)
{
    const char *kind = graphss_perturbation_text(attack);
    if (attack == GRAPHSS_PERTURBATION_NONE)
        printf("Attack   none named");
    else if (share < 0.0005) /* would round to 0 although a node was hit: see estimate_share */
        printf("Attack   %s; the number of attacked %s cannot be estimated", kind, of);
    else
        printf("Attack   %s, about %.1f %% of the %s", kind, 100 * share, of);
}

void cli_show_dataset(cli *app, const graphss_dataset *data)
{
    if (!app->global.quiet)
        cli_print_dataset(app, data);
}

void cli_print_dataset(cli *app, const graphss_dataset *data)
{
    const size_t edges = cli_edges(app, data), columns = data->features.n_cols;
    printf("Dataset  ");
    terminal_text(&app->term, stdout, data->name, 0);
    printf(" (%s): %zu node%s, %zu edge%s, ", data->format, data->graph.n_nodes,
        cli_s(data->graph.n_nodes), edges, cli_s(edges));
    if (columns > 0)
        printf("%zu %s feature%s, ", columns,
            data->features.kind == GRAPHSS_FEATURES_COUNTS
                ? "count"
                : graphss_feature_kind_text(data->features.kind),
            cli_s(columns));
    else
        printf("no features, ");
    printf("%zu class%s\n", data->n_classes, data->n_classes == 1 ? "" : "es");
    const graphss_cleaning *c = &data->cleaned;
    const struct {
        int64_t count;
        const char *one, *many, *what;
    } item[] = {{c->directed, "one-way edge", "one-way edges", "made mutual"},
        {c->duplicates, "duplicate edge", "duplicate edges", "dropped"},
        {c->loops, "loop", "loops", "dropped"},
        {c->zeros, "zero-weight entry", "zero-weight entries", "dropped"},
        {c->weighted, "edge weight", "edge weights", "dropped"},
        {c->isolated, "node", "nodes", "without an edge kept"}};
    const char *before = "Cleaned  ";
    for (size_t i = 0; i < sizeof item / sizeof *item; i++)
        if (item[i].count > 0) {
            printf("%s%lld %s %s", before, (long long)item[i].count,
                item[i].count == 1 ? item[i].one : item[i].many, item[i].what);
            before = ", ";
        }
    if (before[0] == ',')
        printf("\n");
}

static bool same_file(const char *path, const struct stat *output)
{
    struct stat s = {0};
    return stat(path, &s) == 0 && s.st_dev == output->st_dev && s.st_ino == output->st_ino;
}

/* A dataset may be a folder, a prefix or a name; these are its files. */
static bool reads(const cli *app, const char *input, const struct stat *output)
{
    static const char *const ending[] = {"", ".npz", "/nodes.csv", "/edges.csv",
        "/nodes.csv.gz", "/edges.csv.gz", ".x", ".y", ".tx", ".ty", ".allx", ".ally", ".graph",
        ".test.index"};
    for (size_t d = 0;; d++) {
        const char *dir = d == 0 ? "" : app->data_dirs[d - 1];
        if (!dir)
            return false;
        for (size_t e = 0; e < sizeof ending / sizeof *ending; e++) {
            char *path = cli_format("%s%s%s%s", dir, d ? "/" : "", input, ending[e]);
            const bool same = same_file(path, output);
            free(path);
            if (same)
                return true;
        }
    }
}

bool cli_has_extension(const char *path, const char *extension)
{
    const size_t n = strlen(path), m = strlen(extension);
    return n > m && strcmp(path + n - m, extension) == 0;
}

/* A file in this folder is found before a dataset of the data folders with the same name. */
static graphss_status check_name(
    cli *app, const char *path, const char *const *input, size_t n_inputs)
{
    char *here = realpath(".", NULL), *copy = cli_format("%s", path),
         *folder = realpath(dirname(copy), NULL);
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    graphss_status st = GRAPHSS_OK;
    if (here && folder && strcmp(here, folder) == 0) {
        bool hides = cli_is_public_name(name);
        for (size_t i = 0; i < n_inputs; i++)
            hides = hides || (input[i] && strcmp(input[i], name) == 0);
        if (hides)
            st = cli_usage(app,
                "%s is the name of a dataset, which a file of this name would "
                "hide: want another one, as %s.out",
                path, path);
    }
    free(folder);
    free(copy);
    free(here);
    return st;
}

graphss_status cli_check_output(
    cli *app, const char *path, const char *const *input, size_t n_inputs)
{
    struct stat s = {0};
    if (!cli_leads(app)) /* it writes nothing, and the folder may not exist */
        return GRAPHSS_OK;
    if (!*path)
        return cli_usage(app, "the name of the output file is empty");
    if (stat(path, &s) == 0) {
        if (S_ISDIR(s.st_mode))
            return cli_usage(app, "%s is a folder, want a file to write", path);
        if (!S_ISREG(s.st_mode))
            return cli_usage(app, "%s is not a plain file and will not be replaced", path);
        for (size_t i = 0; i < n_inputs; i++)
            if (input[i] && reads(app, input[i], &s))
                return cli_usage(
                    app, "%s is read by this command and will not be overwritten", path);
    }
    const graphss_status hides = check_name(app, path, input, n_inputs);
    if (hides)
        return hides;
    char *copy = cli_format("%s", path);
    const char *dir = dirname(copy);
    graphss_status st = GRAPHSS_OK;
    if (stat(dir, &s) != 0)
        st = cli_fail(
            app, GRAPHSS_ERR_IO, "%s: cannot write in %s: %s", path, dir, strerror(errno));
    else if (!S_ISDIR(s.st_mode))
        st = cli_fail(app, GRAPHSS_ERR_IO, "%s: %s is not a folder", path, dir);
    else if (access(dir, W_OK | X_OK) != 0)
        st = cli_fail(
            app, GRAPHSS_ERR_IO, "%s: cannot write in %s: %s", path, dir, strerror(errno));
    free(copy);
    return st;
}

/* fopen for a file that does not exist yet. Mode, owner and group are those of the file it
 * will replace, if there is one (src/base/output.c does the same for the library). */
static FILE *open_part(const char *part, const char *path)
{
    struct stat old;
    const bool replaces = stat(path, &old) == 0;
    const int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, replaces ? 0600 : 0666);
    if (fd < 0)
        return NULL;
    if (replaces) {
        mode_t mode = old.st_mode & 0777;
        if (fchown(fd, old.st_uid, old.st_gid) != 0 && fchown(fd, (uid_t)-1, old.st_gid) != 0)
            mode = (mode & 0707) | (mode & (mode << 3) & 0070);
        if (fchmod(fd, mode) != 0)
            errno = 0; /* then the file stays private */
    }
    FILE *file = fdopen(fd, "w");
    if (!file) {
        close(fd);
        unlink(part);
    }
    return file;
}

graphss_status cli_write_file(cli *app, const char *path, const char *text, size_t size)
{
    enum { TRIES = 100 };
    char *part = NULL;
    FILE *file = NULL;
    for (int i = 0; i < TRIES && !file && (i == 0 || errno == EEXIST); i++) {
        free(part);
        part = cli_format("%s.%ld-%d.part", path, (long)getpid(), i);
        file = open_part(part, path);
    }
    bool good = file && fwrite(text, 1, size, file) == size && fflush(file) == 0 &&
                fsync(fileno(file)) == 0;
    int error = errno;
    if (file && fclose(file) != 0 && good) {
        error = errno;
        good = false;
    }
    if (good && rename(part, path) != 0) {
        error = errno;
        good = false;
    }
    if (file && !good)
        unlink(part);
    free(part);
    return good ? GRAPHSS_OK
                : cli_fail(
                      app, GRAPHSS_ERR_IO, "%s: cannot be written: %s", path, strerror(error));
}
