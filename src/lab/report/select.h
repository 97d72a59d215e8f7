/* select.h - selects records for a table, and aggregates them. Private. */
#ifndef GRAPHSS_REPORT_SELECT_H
#define GRAPHSS_REPORT_SELECT_H

#include "lab/report/runs.h"

/* Records whose fields equal these; NULL: any. */
typedef struct graphss_i_query {
    const char *what, *mode, *setting, *dataset, *model, *method, *train, *task, *parameter,
        *value;
} graphss_i_query;

bool graphss_i_matches(const graphss_i_run *record, const graphss_i_query *query);

/* Mean and standard deviation (divided by n - 1) of the finite values. sd is NaN for n < 2,
 * mean for n = 0. */
typedef struct graphss_i_stat {
    double mean, sd, low, high; /* low, high: the smallest and the largest */
    size_t n;
} graphss_i_stat;

graphss_i_stat graphss_i_stat_of(const double *value, size_t n);
graphss_i_stat graphss_i_stat_scaled(graphss_i_stat stat, double factor);
/* Half the width of the 95 % confidence interval of the mean (Student's t); NaN: n < 2. */
double graphss_i_stat_half(const graphss_i_stat *stat);

/* Of one metric over the matching records without error. A query for a model also takes
 * records of the model "any" if a method has none of its own. */
graphss_i_stat graphss_i_stat_metric(
    const graphss_i_runs *records, const graphss_i_query *query, const char *metric);
/* The same of metric a (of the records of query a) minus metric b, taken pair by pair: same
 * dataset, seed and set. */
graphss_i_stat graphss_i_stat_pairs(const graphss_i_runs *records, const graphss_i_query *a,
    const char *metric_a, const graphss_i_query *b, const char *metric_b);
/* The metric of each (seed, set) once, whatever the method: accuracies before the attack. */
graphss_i_stat graphss_i_stat_trials(
    const graphss_i_runs *records, const graphss_i_query *query, const char *metric);
/* The records of a query, without errors, the rule for "any" kept. In the arena of records. */
const graphss_i_run **graphss_i_runs_find(
    graphss_i_runs *records, const graphss_i_query *query, size_t *n);
size_t graphss_i_runs_count(const graphss_i_runs *records, const graphss_i_query *query);
/* The threads they ran on: "one thread", "2 threads", "1 to 2 threads". */
const char *graphss_i_threads_text(graphss_i_runs *records, const graphss_i_query *query);

/* The rate of false alarms that an alert had to keep, from its recipe. */
double graphss_i_stated_rate(const graphss_i_run *record);
/* Those of the records that match: "0.05", "0.01 to 0.05". */
const char *graphss_i_rates_text(graphss_i_runs *records, const graphss_i_query *query);

/* Distinct texts of one field among the matching records: known ones first, in their order,
 * then others alphabetically. */
typedef enum graphss_i_field {
    GRAPHSS_I_MODE,
    GRAPHSS_I_SETTING,
    GRAPHSS_I_DATASET,
    GRAPHSS_I_MODEL,
    GRAPHSS_I_METHOD,
    GRAPHSS_I_TRAIN,
    GRAPHSS_I_TASK,
    GRAPHSS_I_PARAMETER,
    GRAPHSS_I_VALUE, /* numbers in numeric order */
    GRAPHSS_I_WHAT
} graphss_i_field;

typedef struct graphss_i_list {
    const char **text;
    size_t n;
} graphss_i_list;

graphss_i_list graphss_i_distinct(
    graphss_i_runs *records, const graphss_i_query *query, graphss_i_field field);

/* How a name is shown: "GNN-Jaccard" for jaccard; the name itself when it is not known, of a
 * dataset's path the last part. */
const char *graphss_i_shown(graphss_i_field field, const char *name);
/* The same of a dataset; of a generated graph with a long list of options "synth", numbered
 * where there are several. _id: as it is in names of files, the name itself but for those. */
const char *graphss_i_dataset_name(graphss_i_runs *records, const char *name);
const char *graphss_i_short_id(graphss_i_runs *records, const char *name);
/* The datasets that are shortened so, in the order of the records. */
graphss_i_list graphss_i_long_names(graphss_i_runs *records);
/* Known names in their order, NULL past the last. */
const char *graphss_i_field_name(graphss_i_field field, size_t i);
/* Whether the paper's tables have this dataset or classifier. */
bool graphss_i_in_paper(graphss_i_field field, const char *name);

typedef enum graphss_i_family {
    GRAPHSS_I_OURS,
    GRAPHSS_I_TRIVIAL, /* none, keep-last, retrain, mlp, label-propagation */
    GRAPHSS_I_RIVAL    /* everything else */
} graphss_i_family;
graphss_i_family graphss_i_family_of(const char *method);

#endif
