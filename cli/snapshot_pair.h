/* snapshot_pair.h - the inputs of `alert` and `recover`: a model, the snapshot, the previous
 * one. */
#ifndef GRAPHSS_CLI_SNAPSHOT_PAIR_H
#define GRAPHSS_CLI_SNAPSHOT_PAIR_H

#include "cli.h"

/* {0} is empty. `in` points into the struct, so it must not be moved. */
typedef struct cli_snapshot_pair {
    graphss_model *model;
    graphss_dataset current, previous; /* aligned with the model */
    bool moved;                        /* current was in others */
    graphss_split split;               /* in node numbers of current */
    graphss_observation past;
    graphss_predictions answers[2]; /* --answers: before and now; the model borrows them */
    graphss_defence_input in;
    graphss_part_input part; /* the same on several ranks: current and previous are tables */
} cli_snapshot_pair;

/* Reads the files named; previous and split may be NULL. Without a split the model's own is
 * taken, whose nodes are found by name. With --answers there is no model file: the model is
 * made of the answers on both snapshots, and split is of the previous one. Close it even on
 * errors. */
graphss_status cli_snapshot_pair_open(cli *app, cli_snapshot_pair *s, const char *model,
    const char *current, const char *previous, const char *split);
/* Wrong usage: not exactly one of a model file and --answers, or only half of the answers. */
graphss_status cli_check_answers(cli *app, const char *model, const char *previous);
/* The rows of nodes [n] of current, and of the same nodes before, which a table of several
 * ranks does not have. */
graphss_status cli_snapshot_pair_rows(
    cli *app, cli_snapshot_pair *s, const int32_t *node, size_t n);
void cli_snapshot_pair_close(cli *app, cli_snapshot_pair *s);

#endif
