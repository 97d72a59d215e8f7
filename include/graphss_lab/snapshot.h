/* graphss_lab/snapshot.h - two snapshots of a living graph, some nodes of the second attacked.
 *
 *     graphss_snapshots s = {0};
 *     graphss_snapshots_plan(ctx, &s, &data, &split, 1, NULL);
 *     // train on s.previous with s.previous_split; choose changes to s.current for s.victim
 *     // with graphss_attack_run or graphss_benign_churn
 *     graphss_snapshots_change(ctx, &s, &flips);
 *     graphss_snapshots_write(ctx, &s, "DIR", false);
 *     graphss_snapshots_destroy(ctx, &s);
 *
 * What the past knows of the victims is the setting:
 *   seen     previous is the clean graph; current is the same, attacked
 *   new      previous lacks the victims altogether: they first appear in current
 *   growing  previous lacks a share of the edges that current has before the attack
 * Nodes are matched across snapshots by name: both always have node names, the numbers of
 * the dataset where it had none. */
#ifndef GRAPHSS_LAB_SNAPSHOT_H
#define GRAPHSS_LAB_SNAPSHOT_H

#include <graphss/dataset.h>
#include <graphss/flips.h>
#include <graphss/options.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum graphss_setting {
    GRAPHSS_SETTING_SEEN,
    GRAPHSS_SETTING_NEW,
    GRAPHSS_SETTING_GROWING
} graphss_setting;

typedef struct graphss_snapshot_options {
    uint32_t struct_size;    /* sizeof(graphss_snapshot_options) */
    graphss_setting setting; /* seen */
    double victims;          /* share of the nodes of an attacked group, (0, 1]; 0.2 */
    /* growing: share of the present edges that previous lacks, [0, 1); 0.5 */
    double missing;
    int64_t groups;          /* number of groups the test nodes are divided into; 1 */
    int64_t attacked_groups; /* number of attacked groups; 1 */
    bool background; /* the same share of the other groups' nodes is listed in `churned` */
} graphss_snapshot_options;

GRAPHSS_API void graphss_snapshot_options_init(graphss_snapshot_options *opt);
GRAPHSS_API const graphss_option *graphss_snapshot_options_table(void);
/* "seen", "new" or "growing"; "?" for any other. */
GRAPHSS_API const char *graphss_setting_text(graphss_setting setting);

/* A plain value: {0} is empty. Node numbers are those of current, but for previous_split. */
typedef struct graphss_snapshots {
    graphss_dataset previous, current;
    /* previous_split: the split without nodes that previous lacks */
    graphss_split previous_split, split;
    size_t n_groups;
    int64_t *group_start; /* [n_groups + 1] into group_node */
    int32_t *group_node;  /* the test nodes, group by group, ascending in each */
    uint8_t *attacked;    /* [n_groups] */
    size_t n_victims, n_churned;
    int32_t *victim;      /* ascending, all in attacked groups */
    int32_t *churned;     /* ascending, in the others; empty without background */
    graphss_flips flips;  /* from current before the changes to current */
    uint64_t reserved[4]; /* 0 */
} graphss_snapshots;

/* Divides the test nodes into groups, draws the victims (stream VICTIMS) and the missing edges
 * (stream BENIGN), and makes previous; current is a copy of data. Errors: INVALID (an option;
 * more attacked groups than groups; unsound data, a node twice in a list of the split), DATA
 * (fewer test nodes than groups; parts of the data that do not fit), SHAPE (a node of the
 * split that the data lacks), NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_snapshots_plan(graphss_ctx *ctx,
    graphss_snapshots *out, const graphss_dataset *data, const graphss_split *split,
    uint64_t seed, const graphss_snapshot_options *opt);
/* Applies changes to current and appends them to flips. It may be called again, with changes
 * to the new current. DATA: they do not fit; nothing is changed. */
GRAPHSS_MUST_CHECK graphss_status graphss_snapshots_change(
    graphss_ctx *ctx, graphss_snapshots *s, const graphss_flips *flips);
/* Writes previous.npz, current.npz, split.npz, previous_split.npz, flips.tsv and groups.npz
 * into dir, which is made; each file appears completely or not at all. groups.npz is for
 * evaluation only: nodes and offset (groups one after another), attacked, victims, churned.
 * With more than one group also group1.txt ... for alert --group. INVALID: dir holds files
 * and force is false. */
GRAPHSS_MUST_CHECK graphss_status graphss_snapshots_write(
    graphss_ctx *ctx, const graphss_snapshots *s, const char *dir, bool force);
/* Runs only the checks of graphss_snapshots_write, so that callers can fail early. Creates
 * nothing. */
GRAPHSS_MUST_CHECK graphss_status graphss_snapshots_check_folder(
    graphss_ctx *ctx, const char *dir, bool force);
GRAPHSS_API void graphss_snapshots_destroy(graphss_ctx *ctx, graphss_snapshots *s);

#ifdef __cplusplus
}
#endif
#endif
