/* plan.c - see plan.h. The order of the cells is that of the recipe: points of a sweep
 * outside, then datasets, seeds, classifiers, settings, sets, and methods inside. Points that
 * differ in options of methods alone share a trial and are inside, too. */
#include "lab/experiment/plan.h"

#include "attack/attack_method.h"
#include "lab/baselines/baselines.h"
#include "lab/experiment/records.h"
#include "recover/defence.h"
#include <string.h>

/* ---- the keys of a recipe ---- */

static const char *const whats[] = {"datasets", "defence", "alert", "runtime", "parameters",
    "ablation", "confusion", "budget", "noise", "scale", "calibration", "attackers", NULL};
static const char *const keys[] = {"what", "mode", "settings", "datasets", "models", "methods",
    "skip", "once", "first-set", "seeds", "sets", "limit", "alone", "parameter", NULL};

static bool in_list(const char *word, size_t n, const char *const *list)
{
    for (size_t i = 0; list[i]; i++)
        if (strlen(list[i]) == n && !memcmp(list[i], word, n))
            return true;
    return false;
}

/* ---- names ---- */

typedef const char *(*name_fn)(size_t i); /* NULL past the last */

static const char *method_name(size_t i)
{
    return graphss_recover_method_name(graphss_lab_method_at(i));
}

static const char *method_or_alert(size_t i)
{
    if (method_name(i))
        return method_name(i);
    return i && method_name(i - 1) ? "alert" : NULL; /* past the last */
}

static const char *setting_name(size_t i)
{
    return i <= GRAPHSS_SETTING_GROWING ? graphss_setting_text((graphss_setting)i) : NULL;
}

/* The index of the word among the names, SIZE_MAX if it is none of them. */
static size_t place_of(const char *word, size_t n, name_fn name)
{
    for (size_t i = 0; name(i); i++)
        if (strlen(name(i)) == n && !memcmp(name(i), word, n))
            return i;
    return SIZE_MAX;
}

/* Words that an option gave: each must be a name. */
static graphss_status check_words(
    graphss_ctx *ctx, const char *option, const char *words, name_fn name)
{
    for (size_t n; words && (n = graphss_i_word(&words)) > 0; words += n)
        if (place_of(words, n, name) == SIZE_MAX)
            return graphss_i_no_such_name(ctx, option, words, n, name);
    return GRAPHSS_OK;
}

/* ---- jobs ---- */

typedef struct planner {
    graphss_ctx *ctx;
    graphss_i_plan *plan;
    const graphss_reproduce_options *opt;
    uint64_t first_seed;
    size_t points; /* points of the recipe, if they share a trial; else 0 */
    int64_t sets;  /* sets of victims, for the present jobs */
} planner;

/* The word as a text of its own that lives as long as the plan; NULL: no memory. */
static const char *keep_word(planner *p, const char *word, size_t n)
{
    graphss_i_plan *plan = p->plan;
    for (size_t i = 0; i < plan->n_words; i++)
        if (strlen(plan->word[i]) == n && !memcmp(plan->word[i], word, n))
            return plan->word[i];
    if (plan->n_words == plan->word_room) {
        const size_t room = plan->word_room ? 2 * plan->word_room : 16;
        char **list = graphss_i_grow(p->ctx, plan->word, plan->n_words, room, sizeof *list);
        if (!list)
            return NULL;
        plan->word = list;
        plan->word_room = room;
    }
    char *copy = graphss_i_alloc(p->ctx, n + 1, 1);
    if (!copy)
        return NULL;
    memcpy(copy, word, n);
    copy[n] = '\0';
    plan->word[plan->n_words++] = copy;
    return copy;
}

/* True if the answer of the method does not depend on the classifier, on the same snapshots:
 * it has its own network, or none. Most attacks ignore the classifier. */
static bool own_network(const graphss_i_defence *m)
{
    return m->untrained || (m->evasion_previous && !m->on_model);
}

/* True if the method is on a list of the recipe. */
static bool listed(const graphss_i_job *job, const char *key, const char *method)
{
    const char *list = graphss_i_recipe_get(job->recipe, key, job->dataset);
    return list && graphss_i_word_in(method, strlen(method), list);
}

static bool wanted(const planner *p, const graphss_i_job *job, int64_t set, const char *method)
{
    const char *given = p->plan->given_methods;
    if (given && !graphss_i_word_in(method, strlen(method), given))
        return false;
    if (listed(job, "skip", method) || (set > 1 && listed(job, "first-set", method)))
        return false;
    if ((set > 1 || job->seed > (int64_t)p->first_seed) && listed(job, "once", method))
        return false;
    return listed(job, "methods", method) ||
           (listed(job, "methods", "*") && strcmp(method, "alert") != 0);
}

/* An attack that uses the classifier, or an attacker who believes its answers, makes other
 * snapshots for every classifier, and in every setting, since each has a past of its own to
 * train on. */
static graphss_status looks_at_model(graphss_ctx *ctx, const graphss_i_job *job, bool *yes)
{
    graphss_i_job_options opt;
    const graphss_status st = graphss_i_job_options_fill(ctx, &opt, job);
    *yes = !st && (graphss_attack_needs_model(opt.protocol.attack.method) ||
                      opt.protocol.attack.knows == GRAPHSS_KNOWLEDGE_PREDICTIONS);
    return st;
}

/* A method that trains on the current snapshot, or not at all, ignores the past, and our
 * attack leads to the same current snapshot in every setting. */
static bool without_past(const graphss_i_cell *cell)
{
    return !strcmp(cell->train, "retrain") || !strcmp(cell->train, "none");
}

static bool is_point(const graphss_i_recipe_line *line)
{
    return !strncmp(line->key, "point ", 6);
}

/* The job with the given cells, at every point if they share it. */
static graphss_status add_job(
    planner *p, graphss_i_job *job, const graphss_i_cell *cell, size_t n)
{
    graphss_i_plan *plan = p->plan;
    const graphss_i_recipe *r = job->recipe;
    if (plan->n_jobs == plan->job_room) {
        const size_t room = plan->job_room ? 2 * plan->job_room : 64;
        graphss_i_job *list =
            graphss_i_grow(p->ctx, plan->job, plan->n_jobs, room, sizeof *list);
        if (!list)
            return GRAPHSS_ERR_NOMEM;
        plan->job = list;
        plan->job_room = room;
    }
    const size_t copies = p->points ? p->points : 1;
    job->n_cells = 0;
    job->cell = graphss_i_alloc(p->ctx, copies * n, sizeof *job->cell);
    if (!job->cell)
        return GRAPHSS_ERR_NOMEM;
    for (size_t line = 0; line < (p->points ? r->n_lines : 1); line++)
        for (size_t i = 0; i < n && (!p->points || is_point(&r->line[line])); i++) {
            graphss_i_cell *made = &job->cell[job->n_cells++];
            *made = cell[i];
            made->point = p->points ? &r->line[line] : job->point;
        }
    plan->job[plan->n_jobs++] = *job;
    return GRAPHSS_OK;
}

enum { MOST_OF_A_SET = 128, MOST_SETS = 100 };

/* The cells of one set of victims; share: those that ignore the classifier go to the job of
 * any. Returns how many there are. */
static size_t cells_of_set(
    const planner *p, const graphss_i_job *job, int64_t set, bool share, graphss_i_cell *cell)
{
    size_t n = 0;
    for (size_t i = 0; method_name(i) && n + 2 < MOST_OF_A_SET; i++) {
        const char *name = method_name(i);
        const graphss_i_defence *m = graphss_i_lab_defence(name, job->mode);
        if (!wanted(p, job, set, name) || (job->any != (share && own_network(m))))
            continue;
        if (m->untrained || !m->retrain || !m->evasion) {
            cell[n++] = (graphss_i_cell){.method = name,
                .set = set,
                .train = m->untrained ? "none"
                         : m->retrain ? "retrain"
                                      : "evasion"};
            continue;
        }
        cell[n++] = (graphss_i_cell){.method = name, .set = set, .train = "evasion"};
        cell[n++] = (graphss_i_cell){.method = name, .set = set, .train = "retrain"};
    }
    if (!job->any && wanted(p, job, set, "alert"))
        cell[n++] = (graphss_i_cell){.method = "alert", .set = set, .train = "evasion"};
    return n;
}

static graphss_status add_cells(
    planner *p, graphss_i_job *job, bool models_first, bool settings_first)
{
    if (job->mode < 0)
        return job->any ? GRAPHSS_OK
                        : add_job(p, job, &(graphss_i_cell){.train = "none", .set = 1}, 1);
    bool needs_model = false;
    graphss_status st = looks_at_model(p->ctx, job, &needs_model);
    if (st)
        return st;
    const bool share = job->mode == GRAPHSS_MODE_DEFAULT && !needs_model;
    graphss_i_cell *cell =
        graphss_i_alloc(p->ctx, (size_t)p->sets * MOST_OF_A_SET, sizeof *cell);
    size_t n = 0;
    if (!cell)
        return GRAPHSS_ERR_NOMEM;
    for (int64_t set = 1; set <= p->sets; set++)
        n += cells_of_set(p, job, set, share, cell + n);
    for (size_t i = 0; i < n; i++)
        cell[i].copied = share && !settings_first && without_past(&cell[i]) &&
                         strcmp(job->what, "confusion") != 0;
    if (n && (!job->any || models_first))
        st = add_job(p, job, cell, n);
    graphss_release(p->ctx, cell);
    return st;
}

static bool number_of(const graphss_i_recipe *r, const char *key, const char *dataset,
    int64_t missing, int64_t *out)
{
    const char *text = graphss_i_recipe_get(r, key, dataset);
    *out = missing;
    return !text ||
           (graphss_i_parse_int(out, text, strlen(text)) && *out >= 0 && *out <= 1000000);
}

static graphss_status for_settings(planner *p, graphss_i_job *job, bool first_model)
{
    const char *list = graphss_i_recipe_get(job->recipe, "settings", job->dataset);
    const char *at = list && job->mode == GRAPHSS_MODE_DEFAULT ? list : "seen";
    bool first = true;
    for (size_t n; (n = graphss_i_word(&at)) > 0; at += n) {
        const size_t setting = place_of(at, n, setting_name);
        if (setting == SIZE_MAX)
            return graphss_i_no_such_name(p->ctx, "settings of a recipe", at, n, setting_name);
        if (p->plan->given_settings && !graphss_i_word_in(at, n, p->plan->given_settings))
            continue;
        job->setting = (int)setting;
        for (int any = 0; any < 2; any++) {
            job->any = any;
            const graphss_status st = add_cells(p, job, first_model, first);
            if (st)
                return st;
        }
        first = false;
    }
    return GRAPHSS_OK;
}

static graphss_status for_models(planner *p, graphss_i_job *job)
{
    const char *list = graphss_i_recipe_get(job->recipe, "models", job->dataset);
    const bool all = p->opt->what && !strcmp(p->opt->what, "all");
    const char *at = p->plan->given_models && !all ? p->plan->given_models : list;
    if (job->mode < 0)
        return for_settings(p, job, true);
    bool first = true;
    for (size_t n; at && (n = graphss_i_word(&at)) > 0; at += n) {
        if (place_of(at, n, graphss_model_name) == SIZE_MAX)
            return graphss_i_no_such_name(
                p->ctx, "models of a recipe", at, n, graphss_model_name);
        if (all && p->plan->given_models && !graphss_i_word_in(at, n, p->plan->given_models))
            continue;
        if (!(job->model = keep_word(p, at, n)))
            return GRAPHSS_ERR_NOMEM;
        const graphss_status st = for_settings(p, job, first);
        if (st)
            return st;
        first = false;
    }
    return GRAPHSS_OK;
}

/* "5 1": five sets with the first seed, one with each of the others. */
static bool sets_of(const graphss_i_recipe *r, const char *dataset, int64_t seed, int64_t *out)
{
    const char *at = graphss_i_recipe_get(r, "sets", dataset);
    *out = 1;
    for (size_t n; at && seed >= 0 && (n = graphss_i_word(&at)) > 0; at += n, seed--)
        if (!graphss_i_parse_int(out, at, n) || *out < 1 || *out > MOST_SETS)
            return false;
    return true;
}

static graphss_status for_seeds(planner *p, graphss_i_job *job)
{
    int64_t seeds;
    const graphss_i_recipe *r = job->recipe;
    if (!number_of(r, "seeds", job->dataset, 1, &seeds) ||
        !number_of(r, "limit", job->dataset, 0, &job->limit))
        return graphss_i_fail(p->ctx, GRAPHSS_ERR_INVALID,
            "recipe %s: want whole numbers for seeds and limit", r->name);
    if (p->opt->seeds > 0 && strcmp(job->what, "datasets") != 0)
        seeds = p->opt->seeds;
    for (int64_t seed = 0; seed < seeds; seed++) {
        if (!sets_of(r, job->dataset, seed, &p->sets))
            return graphss_i_fail(p->ctx, GRAPHSS_ERR_INVALID,
                "recipe %s: want 1 to %d sets, for each seed", r->name, MOST_SETS);
        if (p->sets > 1 && (p->points || job->point))
            return graphss_i_fail(p->ctx, GRAPHSS_ERR_INVALID,
                "recipe %s: points meet one set of victims, found %lld", r->name,
                (long long)p->sets);
        job->seed = (int64_t)p->first_seed + seed;
        const graphss_status st = for_models(p, job);
        if (st)
            return st;
    }
    return GRAPHSS_OK;
}

static graphss_status for_datasets(planner *p, graphss_i_job *job)
{
    /* A point may name its own dataset. */
    const char *own;
    const size_t n_own = graphss_i_point_says(job->point, "dataset", &own);
    if (n_own) {
        if (!(job->dataset = keep_word(p, own, n_own)))
            return GRAPHSS_ERR_NOMEM;
        return for_seeds(p, job);
    }
    const char *at = p->plan->given_datasets
                         ? p->plan->given_datasets
                         : graphss_i_recipe_get(job->recipe, "datasets", NULL);
    if (!at)
        return graphss_i_fail(p->ctx, GRAPHSS_ERR_INVALID, "recipe %s: want a line 'datasets'",
            job->recipe->name);
    for (size_t n; (n = graphss_i_word(&at)) > 0; at += n) {
        if (!(job->dataset = keep_word(p, at, n)))
            return GRAPHSS_ERR_NOMEM;
        const graphss_status st = for_seeds(p, job);
        if (st)
            return st;
    }
    return GRAPHSS_OK;
}

static graphss_status unknown_key(
    graphss_ctx *ctx, const graphss_i_recipe *r, const graphss_i_recipe_line *line)
{
    char text[128];
    snprintf(text, sizeof text, "no key is called '%.60s'", line->key);
    return graphss_i_recipe_refuse(ctx, r, line->number, text);
}

/* Refuses settings that would have no effect. */
static graphss_status check_effect(
    graphss_ctx *ctx, const graphss_i_recipe *r, const graphss_i_recipe_line *line)
{
    char text[160];
    if (!strcmp(line->key, "alone") && strcmp(line->value, "yes") != 0 &&
        strcmp(line->value, "no") != 0) {
        snprintf(text, sizeof text, "found '%.60s', want yes or no", line->value);
        return graphss_i_recipe_refuse(ctx, r, line->number, text);
    }
    bool effect = strcmp(line->key, "parameter") != 0;
    for (size_t i = 0; i < r->n_lines && !effect; i++)
        effect = is_point(&r->line[i]);
    return effect ? GRAPHSS_OK
                  : graphss_i_recipe_refuse(
                        ctx, r, line->number, "a parameter wants points, 'point NAME = ...'");
}

/* *shared: the number of points, if they differ only in options of methods, else 0. */
static graphss_status check_lines(graphss_ctx *ctx, const graphss_i_recipe *r, size_t *shared)
{
    bool of_methods = true;
    *shared = 0;
    for (size_t i = 0; i < r->n_lines; i++) {
        const graphss_i_recipe_line *line = &r->line[i];
        bool known = in_list(line->key, strlen(line->key), keys);
        if (is_point(line) && !line->at) {
            bool this_one;
            const graphss_status st = graphss_i_point_check(ctx, r, line, &this_one);
            if (st)
                return st;
            of_methods = of_methods && this_one;
            known = true;
            ++*shared;
        }
        if (!known) {
            const graphss_status st = graphss_i_assign(
                ctx, NULL, NULL, line->key, strlen(line->key), line->value, true, &known);
            if (st)
                return st;
        }
        if (!known)
            return unknown_key(ctx, r, line);
        const graphss_status effect = check_effect(ctx, r, line);
        if (effect)
            return effect;
        if (!strcmp(line->key, "methods") || !strcmp(line->key, "skip") ||
            !strcmp(line->key, "once") || !strcmp(line->key, "first-set")) {
            const char *at = line->value;
            for (size_t n; (n = graphss_i_word(&at)) > 0; at += n) {
                known = (n == 1 && *at == '*') || (n == 5 && !memcmp(at, "alert", 5)) ||
                        place_of(at, n, method_name) != SIZE_MAX;
                if (!known)
                    return graphss_i_recipe_refuse(ctx, r, line->number,
                        "want methods of `graphss recover --list`, alert or *");
            }
        }
    }
    *shared = of_methods ? *shared : 0;
    return GRAPHSS_OK;
}

/* For any dataset, or for the named ones. */
static bool has_line(const graphss_i_recipe *r, const char *key)
{
    for (size_t i = 0; i < r->n_lines; i++)
        if (strcmp(r->line[i].key, key) == 0)
            return true;
    return false;
}

static graphss_status add_recipe(planner *p, const graphss_i_recipe *r)
{
    static const char *const needed[] = {"models", "methods"};
    const char *what = graphss_i_recipe_get(r, "what", NULL);
    const char *mode = graphss_i_recipe_get(r, "mode", NULL);
    const char *alone = graphss_i_recipe_get(r, "alone", NULL);
    if (!what || !in_list(what, strlen(what), whats))
        return graphss_i_fail(p->ctx, GRAPHSS_ERR_INVALID,
            "recipe %s: want a line 'what' with a known experiment", r->name);
    if (mode && strcmp(mode, "paper") != 0 && strcmp(mode, "honest") != 0 &&
        strcmp(mode, "default") != 0)
        return graphss_i_fail(p->ctx, GRAPHSS_ERR_INVALID,
            "recipe %s: found mode '%s', want paper or honest", r->name, mode);
    if (!mode && strcmp(what, "datasets") != 0)
        return graphss_i_fail(
            p->ctx, GRAPHSS_ERR_INVALID, "recipe %s: want a line 'mode'", r->name);
    graphss_status st = check_lines(p->ctx, r, &p->points);
    if (st)
        return st;
    graphss_i_job job = {.recipe = r,
        .what = what,
        .mode = !strcmp(what, "datasets") ? -1
                : !strcmp(mode, "paper")  ? GRAPHSS_MODE_PAPER
                                          : GRAPHSS_MODE_DEFAULT,
        .predictor = p->opt->predictor,
        .predictor_name = p->opt->predictor_name,
        .alone = alone && !strcmp(alone, "yes")};
    for (size_t i = p->plan->given_models ? 1 : 0; i < 2 && job.mode >= 0; i++)
        if (!has_line(r, needed[i]))
            return graphss_i_fail(p->ctx, GRAPHSS_ERR_INVALID, "recipe %s: want a line '%s'",
                r->name, needed[i]);
    bool points = p->points > 0;
    for (size_t i = 0; i < r->n_lines && !st && !p->points; i++)
        if (is_point(&r->line[i])) {
            points = true;
            job.point = &r->line[i];
            st = for_datasets(p, &job);
        }
    if (points && !st && !graphss_i_recipe_get(r, "parameter", NULL))
        st = graphss_i_fail(
            p->ctx, GRAPHSS_ERR_INVALID, "recipe %s: points want a line 'parameter'", r->name);
    return st || job.point ? st : for_datasets(p, &job);
}

/* The requested ones of the built-in recipes. */
static bool asked(const graphss_reproduce_options *opt, const graphss_i_recipe *r)
{
    const char *what = graphss_i_recipe_get(r, "what", NULL);
    const char *mode = graphss_i_recipe_get(r, "mode", NULL);
    if (strcmp(opt->what, "all") != 0 && strcmp(opt->what, r->name) != 0 &&
        (!what || strcmp(opt->what, what) != 0))
        return false;
    const char *want = opt->mode && !strcmp(opt->mode, "default") ? "honest" : opt->mode;
    return !want || !mode || !strcmp(want, mode);
}

static graphss_status read_recipes(planner *p)
{
    graphss_i_plan *plan = p->plan;
    const char *name, *bytes;
    size_t n, count = 0;
    while (graphss_i_recipe_built_in(count, &name, &bytes, &n))
        count++;
    plan->recipe = graphss_i_calloc(p->ctx, count + 1, sizeof *plan->recipe);
    if (!plan->recipe)
        return GRAPHSS_ERR_NOMEM;
    if (p->opt->recipe) {
        char *text = NULL;
        graphss_status st = graphss_i_file_read(p->ctx, &text, &n, p->opt->recipe, 1 << 20);
        if (!st)
            st = graphss_i_recipe_parse(p->ctx, &plan->recipe[0], p->opt->recipe, text, n);
        graphss_release(p->ctx, text);
        plan->n_recipes = st ? 0 : 1;
        return st;
    }
    for (size_t i = 0; graphss_i_recipe_built_in(i, &name, &bytes, &n); i++) {
        graphss_i_recipe r = {0};
        const graphss_status st = graphss_i_recipe_parse(p->ctx, &r, name, bytes, n);
        if (st)
            return st;
        if (asked(p->opt, &r))
            plan->recipe[plan->n_recipes++] = r;
        else
            graphss_i_recipe_destroy(p->ctx, &r);
    }
    if (plan->n_recipes == 0)
        return graphss_i_fail(p->ctx, GRAPHSS_ERR_INVALID,
            "there is no recipe for '%s'%s%s: `graphss reproduce --list` "
            "names them",
            p->opt->what, p->opt->mode ? " in mode " : "", p->opt->mode ? p->opt->mode : "");
    return GRAPHSS_OK;
}

static graphss_status give(graphss_ctx *ctx, char **out, const char *list)
{
    if (list && !(*out = graphss_i_words_of(ctx, list)))
        return GRAPHSS_ERR_NOMEM;
    return GRAPHSS_OK;
}

graphss_status graphss_i_plan_make(graphss_ctx *ctx, graphss_i_plan *out, uint64_t first_seed,
    const graphss_reproduce_options *opt)
{
    graphss_i_plan plan = {0};
    graphss_reproduce_options given = *opt;
    planner p = {.ctx = ctx, .plan = &plan, .opt = &given, .first_seed = first_seed};
    if (opt->predictor && !opt->predictor_name)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "a predictor without a name");
    if (opt->predictor && opt->mode && !strcmp(opt->mode, "paper"))
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "a predictor in paper mode, whose attacker knows the weights");
    if (opt->predictor && !opt->mode)
        given.mode = "honest";
    graphss_status st = give(ctx, &plan.given_datasets, opt->datasets);
    if (!st)
        st = give(ctx, &plan.given_models, opt->models);
    if (!st)
        st = give(ctx, &plan.given_settings, opt->settings);
    if (!st)
        st = give(ctx, &plan.given_methods, opt->methods);
    if (!st)
        st = check_words(ctx, "--models", plan.given_models, graphss_model_name);
    if (!st)
        st = check_words(ctx, "--settings", plan.given_settings, setting_name);
    if (!st)
        st = check_words(ctx, "--methods", plan.given_methods, method_or_alert);
    if (!st)
        st = read_recipes(&p);
    for (size_t i = 0; i < plan.n_recipes && !st; i++)
        st = add_recipe(&p, &plan.recipe[i]);
    if (st)
        graphss_i_plan_destroy(ctx, &plan);
    else
        *out = plan;
    return st;
}

void graphss_i_plan_destroy(graphss_ctx *ctx, graphss_i_plan *plan)
{
    for (size_t i = 0; i < plan->n_jobs; i++)
        graphss_release(ctx, plan->job[i].cell);
    for (size_t i = 0; i < plan->n_words; i++)
        graphss_release(ctx, plan->word[i]);
    for (size_t i = 0; i < plan->n_recipes; i++)
        graphss_i_recipe_destroy(ctx, &plan->recipe[i]);
    graphss_release(ctx, plan->job);
    graphss_release(ctx, plan->word);
    graphss_release(ctx, plan->recipe);
    graphss_release(ctx, plan->given_datasets);
    graphss_release(ctx, plan->given_models);
    graphss_release(ctx, plan->given_settings);
    graphss_release(ctx, plan->given_methods);
    *plan = (graphss_i_plan){0};
}
