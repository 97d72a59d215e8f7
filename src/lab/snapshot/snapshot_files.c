/* snapshot_files.c - the folder that snapshots live in. */
#include "data/build.h"
#include "data/formats/npz.h"
#include <dirent.h>
#include <errno.h>
#include <graphss_lab/snapshot.h>
#include <string.h>
#include <sys/stat.h>

graphss_status graphss_snapshots_check_folder(graphss_ctx *ctx, const char *dir, bool force)
{
    if (GRAPHSS_I_LACKS(ctx, {"folder", dir}))
        return GRAPHSS_ERR_INVALID;
    DIR *folder = opendir(dir);
    if (!folder && errno == ENOENT)
        return GRAPHSS_OK;
    if (!folder)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_IO, "%s: cannot open this folder: %s", dir, strerror(errno));
    bool empty = true;
    for (const struct dirent *e = readdir(folder); e; e = readdir(folder))
        empty = empty && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0);
    closedir(folder);
    if (!empty && !force)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "%s: this folder holds files; want an empty one, or --force", dir);
    return GRAPHSS_OK;
}

static graphss_status open_folder(graphss_ctx *ctx, const char *dir, bool force)
{
    const graphss_status st = graphss_snapshots_check_folder(ctx, dir, force);
    if (st || mkdir(dir, 0777) == 0 || errno == EEXIST)
        return st;
    return graphss_i_fail(
        ctx, GRAPHSS_ERR_IO, "%s: cannot make this folder: %s", dir, strerror(errno));
}

static graphss_status write_groups(
    graphss_ctx *ctx, const graphss_snapshots *s, const char *path)
{
    const size_t n = (size_t)s->group_start[s->n_groups];
    int64_t *node = graphss_i_widen(ctx, s->group_node, n);
    int64_t *victim = graphss_i_widen(ctx, s->victim, s->n_victims);
    int64_t *churned = graphss_i_widen(ctx, s->churned, s->n_churned);
    graphss_status st = GRAPHSS_ERR_NOMEM;
    if (node && victim && churned) {
        const graphss_i_array_out array[] = {{"nodes", "<i8", 1, {n, 1}, node, NULL},
            {"offset", "<i8", 1, {s->n_groups + 1, 1}, s->group_start, NULL},
            {"attacked", "|b1", 1, {s->n_groups, 1}, s->attacked, NULL},
            {"victims", "<i8", 1, {s->n_victims, 1}, victim, NULL},
            {"churned", "<i8", 1, {s->n_churned, 1}, churned, NULL}};
        st = graphss_i_npz_write(ctx, path, array, sizeof array / sizeof *array);
    }
    graphss_release(ctx, churned);
    graphss_release(ctx, victim);
    graphss_release(ctx, node);
    return st;
}

static graphss_status write_list(
    graphss_ctx *ctx, const graphss_snapshots *s, size_t group, const char *path)
{
    graphss_i_output out = {0};
    graphss_status st = graphss_i_output_open(ctx, &out, path);
    for (int64_t i = s->group_start[group]; i < s->group_start[group + 1] && !st; i++) {
        const char *name = graphss_names_get(&s->current.node_names, (size_t)s->group_node[i]);
        st = graphss_i_node_list_line(ctx, &out, name);
    }
    if (!st)
        return graphss_i_output_commit(ctx, &out);
    graphss_i_output_abandon(ctx, &out);
    return st;
}

enum { PREVIOUS, CURRENT, SPLIT, PREVIOUS_SPLIT, FLIPS, GROUPS, LISTS };

static graphss_status write_one(
    graphss_ctx *ctx, const graphss_snapshots *s, size_t what, const char *path)
{
    switch (what) {
    case PREVIOUS:
        return graphss_dataset_write(ctx, &s->previous, path);
    case CURRENT:
        return graphss_dataset_write(ctx, &s->current, path);
    case SPLIT:
        return graphss_split_write(ctx, &s->split, path);
    case PREVIOUS_SPLIT:
        return graphss_split_write(ctx, &s->previous_split, path);
    case FLIPS:
        return graphss_flips_write(ctx, &s->flips, path, &s->current);
    case GROUPS:
        return write_groups(ctx, s, path);
    default:
        return write_list(ctx, s, what - LISTS, path);
    }
}

graphss_status graphss_snapshots_write(
    graphss_ctx *ctx, const graphss_snapshots *s, const char *dir, bool force)
{
    if (GRAPHSS_I_LACKS(ctx, {"snapshots", s}, {"folder", dir}))
        return GRAPHSS_ERR_INVALID;
    static const char *const name[] = {"previous.npz", "current.npz", "split.npz",
        "previous_split.npz", "flips.tsv", "groups.npz"};
    if (!s->group_start)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "no snapshots were planned");
    graphss_status st = open_folder(ctx, dir, force);
    const size_t count = LISTS + (s->n_groups > 1 ? s->n_groups : 0);
    for (size_t i = 0; i < count && !st; i++) {
        char *path = i < LISTS ? graphss_i_format(ctx, "%s/%s", dir, name[i])
                               : graphss_i_format(ctx, "%s/group%zu.txt", dir, i - LISTS + 1);
        st = path ? write_one(ctx, s, i, path) : GRAPHSS_ERR_NOMEM;
        graphss_release(ctx, path);
    }
    return st;
}
