/* dataset.c - chooses a reader: "synth:" and "-" first; then an existing path, by its type and
 * ending; then a name in the data folders. A folder without nodes.csv is not a dataset, so its
 * name (after "snapshots -o cora", say) is looked up in the data folders.
 *
 * A new format is a file with a reader and a line in the table below. */
#include "data/files/readers.h"
#include "data/shards/shard.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* The datasets that graphss fetch knows, and other names of their files. */
static const struct {
    const char *name, *file;
} public[] = {
    {"cora", NULL},
    {"citeseer", NULL},
    {"pubmed", NULL},
    {"amazon_photo", "amazon_electronics_photo"},
    {"coauthor_cs", "ms_academic_cs"},
};

typedef enum entry { ENTRY_NONE, ENTRY_FILE, ENTRY_FOLDER } entry;

static entry look(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return ENTRY_NONE;
    return S_ISDIR(info.st_mode) ? ENTRY_FOLDER : ENTRY_FILE;
}

/* 1, 0, or -1 without memory. */
static int is_file(graphss_ctx *ctx, const char *path, const char *ending)
{
    char *whole = graphss_i_format(ctx, "%s%s", path, ending);
    const int found = whole ? look(whole) == ENTRY_FILE : -1;
    graphss_release(ctx, whole);
    return found;
}

static bool ends_with(const char *text, const char *ending)
{
    const size_t n = strlen(text), m = strlen(ending);
    return n > m && !strcasecmp(text + n - m, ending);
}

/* Length of the prefix when path is one of the eight files "DIR/ind.NAME.x" ..., or 0. */
static size_t planetoid_prefix(const char *path)
{
    static const char *const endings[] = {
        ".x", ".y", ".tx", ".ty", ".allx", ".ally", ".graph", ".test.index"};
    const char *slash = strrchr(path, '/');
    if (strncmp(slash ? slash + 1 : path, "ind.", 4))
        return 0;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(path, endings[i]))
            return strlen(path) - strlen(endings[i]);
    return 0;
}

/* Files by the ending of their names; text may be packed, as FILE.csv.gz. */
static const struct {
    const char *ending;
    bool text;
    graphss_i_reader reader;
} formats[] = {
    {".npz", false, graphss_i_read_npz},
    {".csv", true, graphss_i_read_edge_list},
    {".tsv", true, graphss_i_read_edge_list},
    {".txt", true, graphss_i_read_edge_list},
    {".edges", true, graphss_i_read_edge_list},
    {".graphml", true, graphss_i_read_graphml},
    {".xml", true, graphss_i_read_graphml},
};

static graphss_i_reader reader_of(const char *path)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        char packed[16];
        snprintf(packed, sizeof packed, "%s.gz", formats[i].ending);
        if (ends_with(path, formats[i].ending) || (formats[i].text && ends_with(path, packed)))
            return formats[i].reader;
    }
    return NULL;
}

static graphss_status read_file(graphss_ctx *ctx, graphss_dataset *out, const char *path,
    uint64_t max_bytes, graphss_missing_rule missing)
{
    const graphss_i_reader reader = reader_of(path);
    if (reader)
        return reader(ctx, out, path, max_bytes, missing);
    const size_t length = planetoid_prefix(path);
    if (length) {
        char *prefix = graphss_i_strdup(ctx, path);
        if (!prefix)
            return GRAPHSS_ERR_NOMEM;
        prefix[length] = '\0';
        const graphss_status st =
            graphss_i_read_planetoid(ctx, out, prefix, max_bytes, missing);
        graphss_release(ctx, prefix);
        return st;
    }
    char list[128] = "";
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", formats[i].ending);
    }
    return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
        "%s: want a name that ends in one of %s (text also as .gz)", path, list);
}

/* A pattern of a dataset in a folder: `at`, NAME, `after`, if this path with `proof` appended
 * is a file. */
static const struct {
    const char *before, *after, *proof;
    graphss_i_reader reader;
} location[] = {
    {"", ".npz", "", graphss_i_read_npz},
    {"planetoid/ind.", "", ".x", graphss_i_read_planetoid},
    {"ind.", "", ".x", graphss_i_read_planetoid},
    {"", "", "/nodes.csv", graphss_i_read_csv_folder},
    {"", "", "/nodes.csv.gz", graphss_i_read_csv_folder},
    {"", "", "/" GRAPHSS_I_MANIFEST_FILE, graphss_i_read_shards},
};

/* *path: the dataset in the folder, or NULL if it is not there; released by the caller. */
static graphss_status find_in(
    graphss_ctx *ctx, char **out, graphss_i_reader *reader, const char *dir, const char *name)
{
    *out = NULL;
    for (size_t i = 0; i < sizeof location / sizeof *location; i++) {
        char *path = graphss_i_format(
            ctx, "%s/%s%s%s", dir, location[i].before, name, location[i].after);
        const int there = path ? is_file(ctx, path, location[i].proof) : -1;
        if (there > 0) {
            *out = path;
            *reader = location[i].reader;
            return GRAPHSS_OK;
        }
        graphss_release(ctx, path);
        if (there < 0)
            return GRAPHSS_ERR_NOMEM;
    }
    return GRAPHSS_OK;
}

/* The same in the first of the folders that has it, under either of its names. */
static graphss_status find_name(graphss_ctx *ctx, char **out, graphss_i_reader *reader,
    const char *name, const char *const *dirs)
{
    const char *other = NULL; /* another name of its file */
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < sizeof public / sizeof *public; i++)
        if (!strcmp(name, public[i].name))
            other = public[i].file;
    *out = NULL;
    for (size_t i = 0; dirs[i] && name[0] && !strchr(name, '/') && !*out && !st; i++) {
        st = find_in(ctx, out, reader, dirs[i], name);
        if (!st && !*out && other)
            st = find_in(ctx, out, reader, dirs[i], other);
    }
    return st;
}

/* Edit distance between a and b; large if either is long. */
static size_t distance(const char *a, const char *b)
{
    enum { LONGEST = 32 };
    size_t row[LONGEST + 1];
    const size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return SIZE_MAX;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            const size_t change = corner + (a[i - 1] != b[j - 1]);
            const size_t step = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);
            corner = row[j];
            row[j] = change < step ? change : step;
        }
    }
    return row[m];
}

static graphss_status not_found(graphss_ctx *ctx, const char *name, const char *const *dirs)
{
    char folders[512] = "", hint[160] = "";
    for (size_t i = 0; dirs[i]; i++) {
        const size_t used = strlen(folders);
        snprintf(folders + used, sizeof folders - used, "%s%s", i ? ", " : "", dirs[i]);
    }
    for (size_t i = 0; i < sizeof public / sizeof *public; i++) {
        const size_t far = distance(name, public[i].name);
        if (far == 0)
            snprintf(hint, sizeof hint, "; 'graphss fetch %s' downloads it", public[i].name);
        else if (far <= 2 && !hint[0])
            snprintf(hint, sizeof hint, "; did you mean %s?", public[i].name);
    }
    return graphss_i_fail(ctx, GRAPHSS_ERR_NOT_FOUND,
        "dataset '%s': %s, and not in the data folders (%s)%s", name,
        look(name) == ENTRY_FOLDER ? "the folder here has no nodes.csv" : "no such file",
        folders[0] ? folders : "none given", hint);
}

static graphss_status read_name_in(graphss_ctx *ctx, graphss_dataset *out, const char *name,
    const char *const *dirs, uint64_t max_bytes, graphss_missing_rule missing)
{
    bool known = false;
    char *path = NULL;
    graphss_i_reader reader = NULL;
    for (size_t i = 0; i < sizeof public / sizeof *public; i++)
        known = known || !strcmp(name, public[i].name);
    graphss_status st = find_name(ctx, &path, &reader, name, dirs);
    if (!st && path)
        st = reader(ctx, out, path, max_bytes, missing);
    else if (!st && !known && look(name) == ENTRY_FOLDER) /* reports what it lacks */
        st = graphss_i_read_csv_folder(ctx, out, name, max_bytes, missing);
    else if (!st)
        st = not_found(ctx, name, dirs);
    if (!st && path && known)
        snprintf(out->name, sizeof out->name, "%s", name);
    graphss_release(ctx, path);
    return st;
}

/* dirs NULL: the default folders. */
static graphss_status read_name(graphss_ctx *ctx, graphss_dataset *out, const char *name,
    const char *const *dirs, uint64_t max_bytes, graphss_missing_rule missing)
{
    const char **usual = NULL;
    graphss_status st = dirs ? GRAPHSS_OK : graphss_dataset_dirs(ctx, &usual);
    if (!st)
        st = read_name_in(ctx, out, name, dirs ? dirs : usual, max_bytes, missing);
    graphss_release(ctx, (void *)usual);
    return st;
}

graphss_status graphss_dataset_locate(
    graphss_ctx *ctx, char **path, const char *name, const char *const *data_dirs)
{
    if (GRAPHSS_I_LACKS(ctx, {"dataset", name}, {"place for the path", path}))
        return GRAPHSS_ERR_INVALID;
    const char **usual = NULL;
    char *found = NULL;
    graphss_i_reader reader = NULL;
    graphss_status st = data_dirs ? GRAPHSS_OK : graphss_dataset_dirs(ctx, &usual);
    const char *const *dirs = data_dirs ? data_dirs : usual;
    if (!st)
        st = find_name(ctx, &found, &reader, name, dirs);
    if (!st && !found)
        st = not_found(ctx, name, dirs);
    if (!st)
        *path = found;
    graphss_release(ctx, (void *)usual);
    return st;
}

static graphss_status read_synth(
    graphss_ctx *ctx, graphss_dataset *out, const char *text, uint64_t max_bytes)
{
    graphss_synth_options opt;
    const graphss_status st = graphss_synth_options_parse(ctx, &opt, text);
    return st ? st : graphss_i_synth_make(ctx, out, &opt, max_bytes);
}

/* True if a folder is meant: always if the path names it explicitly, else only if it is a
 * dataset. 1, 0, or -1 without memory. */
static int is_meant(graphss_ctx *ctx, const char *folder)
{
    if (strchr(folder, '/') || folder[0] == '.')
        return 1;
    const int plain = is_file(ctx, folder, "/nodes.csv");
    return plain ? plain : is_file(ctx, folder, "/nodes.csv.gz");
}

void graphss_read_options_init(graphss_read_options *opt)
{
    *opt = (graphss_read_options){.struct_size = sizeof *opt};
}

graphss_status graphss_dataset_read(
    graphss_ctx *ctx, graphss_dataset *out, const char *where, const graphss_read_options *opt)
{
    if (GRAPHSS_I_LACKS(ctx, {"dataset", where}, {"place for the dataset", out}) ||
        GRAPHSS_I_TAKE(ctx, graphss_read_options, NULL, opt))
        return GRAPHSS_ERR_INVALID;
    const uint64_t max_bytes =
        opt && opt->max_bytes ? opt->max_bytes : graphss_i_machine_memory() / 4 * 3;
    const graphss_missing_rule missing = opt ? opt->missing : GRAPHSS_MISSING_ERROR;
    if (!strncmp(where, "synth:", 6))
        return read_synth(ctx, out, where + 6, max_bytes);
    if (!strcmp(where, "-"))
        return graphss_i_read_edge_list(ctx, out, where, max_bytes, missing);
    switch (look(where)) {
    case ENTRY_FOLDER: {
        const int shards = is_file(ctx, where, "/" GRAPHSS_I_MANIFEST_FILE);
        if (shards < 0)
            return GRAPHSS_ERR_NOMEM;
        if (shards)
            return graphss_i_read_shards(ctx, out, where, max_bytes, missing);
        const int meant = is_meant(ctx, where);
        if (meant < 0)
            return GRAPHSS_ERR_NOMEM;
        if (meant)
            return graphss_i_read_csv_folder(ctx, out, where, max_bytes, missing);
        break;
    }
    case ENTRY_FILE:
        return read_file(ctx, out, where, max_bytes, missing);
    case ENTRY_NONE:
        break;
    }
    char *proof = graphss_i_format(ctx, "%s.x", where);
    if (!proof)
        return GRAPHSS_ERR_NOMEM;
    const bool planetoid = look(proof) == ENTRY_FILE && planetoid_prefix(proof);
    graphss_release(ctx, proof);
    if (planetoid)
        return graphss_i_read_planetoid(ctx, out, where, max_bytes, missing);
    return read_name(ctx, out, where, opt ? opt->data_dirs : NULL, max_bytes, missing);
}

/* The folders that names of datasets are looked up in. The library reads the environment only
 * here. */

/* The folders of a colon-separated list; their texts are stored in *text one after another. */
static size_t cut(const char **dir, char *text, const char *list)
{
    size_t n = 0;
    for (const char *at = list; *at;) {
        const size_t length = strcspn(at, ":");
        if (length) {
            memcpy(text, at, length);
            text[length] = '\0';
            dir[n++] = text;
            text += length + 1;
        }
        at += length + (at[length] == ':');
    }
    return n;
}

graphss_status graphss_dataset_dirs(graphss_ctx *ctx, const char ***out)
{
    if (GRAPHSS_I_LACKS(ctx, {"place for the folders", out}))
        return GRAPHSS_ERR_INVALID;
    const char *listed = getenv("GRAPHSS_DATA"), *xdg = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    const bool given = xdg && xdg[0] == '/';
    const char *base = given ? xdg : home && *home ? home : ".";
    const char *rest = given ? "/graphss" : "/.local/share/graphss";
    size_t most = 3; /* those of GRAPHSS_DATA, the default, NULL */
    if (!listed)
        listed = "";
    for (const char *c = listed; *c; c++)
        most += *c == ':';
    /* One block: the pointers, then the texts. */
    const size_t letters = strlen(listed) + strlen(base) + strlen(rest) + 2;
    const char **dir = graphss_i_alloc(ctx, most * sizeof *dir + letters, 1);
    if (!dir)
        return GRAPHSS_ERR_NOMEM;
    char *text = (char *)(dir + most);
    size_t n = cut(dir, text, listed);
    text += strlen(listed) + 1;
    snprintf(text, letters - strlen(listed) - 1, "%s%s", base, rest);
    dir[n++] = text;
    dir[n] = NULL;
    *out = dir;
    return GRAPHSS_OK;
}
