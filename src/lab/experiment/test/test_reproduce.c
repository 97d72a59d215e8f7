/* Runs that are cut short, resumed and repeated, on a graph of a few nodes. */
#include "lab/experiment/cell.h"
#include "lab/experiment/plan.h"
#include "lab/experiment/records.h"
#include "lab/experiment/test/testing_workplace.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char recipe[] = "what = defence\n"
                             "mode = honest\n"
                             "settings = seen new\n"
                             "datasets = synth:nodes=90,classes=3,features=30,degree=4\n"
                             "models = gcn sgc\n"
                             "methods = none label-propagation\n"
                             "train.epochs = 4\n"
                             "train.hidden = 4\n"
                             "attack.knows = truth\n" /* so that classifiers share snapshots */
                             "attack.links = 1\n"
                             "attack.features = 2\n";
enum { CELLS = 2 * 2 + 2 }; /* none for each classifier, label-propagation once */

TEST(finished_cells_are_not_run_again)
{
    const workplace p = make_workplace("again", recipe);
    graphss_reproduce_result done = reproduce(&p, 1);
    assert_int_equal(done.cells, CELLS);
    assert_int_equal(done.run, CELLS);
    assert_int_equal(done.failed, 0);
    done = reproduce(&p, 1);
    assert_int_equal(done.before, CELLS);
    assert_int_equal(done.run, 0);
    remove_workplace(&p);
}

TEST(the_number_of_workers_changes_nothing)
{
    const workplace one = make_workplace("one", recipe),
                    three = make_workplace("three", recipe);
    reproduce(&one, 1);
    reproduce(&three, 3);
    json_t *a = read_back(&one), *b = read_back(&three);
    /* Each names its own recipe. */
    const char *key;
    json_t *record;
    json_object_foreach(a, key, record)
    {
        json_t *other = json_object_get(b, key);
        json_object_del(json_object_get(record, "repeat"), "recipe");
        json_object_del(json_object_get(other, "repeat"), "recipe");
        assert_true(json_equal(record, other));
        assert_true(json_number_value(
                        json_object_get(json_object_get(record, "metrics"), "victims_n")) > 0);
    }
    assert_int_equal(json_object_size(a), CELLS);
    assert_int_equal(json_object_size(b), CELLS);
    json_decref(a);
    json_decref(b);
    remove_workplace(&one);
    remove_workplace(&three);
}

/* Cuts the file to its first lines and a piece of the next. */
static void tear(const char *path, size_t lines)
{
    char *text = calloc(1, 1 << 20);
    FILE *file = fopen(path, "r");
    const size_t n = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    char *at = text;
    for (size_t i = 0; i < lines; i++)
        at = strchr(at, '\n') + 1;
    assert_true(at + 20 < text + n);
    at[20] = '\0';
    write_text(path, text, "w");
    free(text);
}

TEST(a_killed_run_goes_on_where_it_was)
{
    const workplace p = make_workplace("killed", recipe);
    reproduce(&p, 1);
    json_t *whole = read_back(&p);
    for (size_t lines = 0; lines < CELLS; lines += 2) {
        tear(p.records, lines);
        const graphss_reproduce_result done = reproduce(&p, 2);
        assert_int_equal(done.before, lines);
        assert_int_equal(done.run, CELLS - lines);
        assert_true(done.cut == 20);
        json_t *again = read_back(&p);
        assert_true(json_equal(whole, again));
        json_decref(again);
    }
    json_decref(whole);
    remove_workplace(&p);
}

static bool stop_after_a_few(
    void *user, const char *state, size_t done, size_t total, const char *note)
{
    (void)state;
    (void)done;
    (void)total;
    int finished = 0;
    if (!note || sscanf(note, "%d of", &finished) != 1)
        return true;
    return finished < *(const int *)user;
}

TEST(a_cancelled_run_keeps_what_is_finished)
{
    const workplace p = make_workplace("cancelled", recipe);
    int enough = 2;
    const graphss_ctx_options how = {.struct_size = sizeof how,
        .threads = 1,
        .progress = stop_after_a_few,
        .user = &enough};
    graphss_ctx *ctx = graphss_ctx_new(&how);
    const graphss_reproduce_options opt = options_of(&p);
    graphss_reproduce_result done;
    assert_int_equal(graphss_reproduce_run(ctx, &done, 1, &opt), GRAPHSS_ERR_CANCELLED);
    graphss_ctx_free(ctx);
    assert_true(done.run >= 2 && done.run < CELLS);
    const size_t kept = done.run;
    done = reproduce(&p, 1);
    assert_int_equal(done.before, kept);
    assert_int_equal(done.before + done.run, CELLS);
    remove_workplace(&p);
}

static bool note_the_first(
    void *user, const char *state, size_t done, size_t total, const char *note)
{
    (void)note;
    size_t *first = user; /* done, total */
    if (!strcmp(state, "reproduce") && first[1] == 0) {
        first[0] = done;
        first[1] = total;
    }
    return true;
}

/* Finished cells count by the seconds they took. */
TEST(the_bar_begins_where_the_run_stopped)
{
    const workplace p = make_workplace("bar", recipe);
    reproduce(&p, 1);
    json_t *all = read_back(&p), *record;
    const char *key;
    size_t lines = 0, first[2] = {0, 0};
    remove(p.records);
    json_object_foreach(all, key, record)
    {
        if (lines++ == 2)
            break;
        json_object_set_new(json_object_get(record, "metrics"), "seconds", json_real(50));
        char *line = json_dumps(record, JSON_COMPACT);
        write_text(p.records, line, "a");
        write_text(p.records, "\n", "a");
        free(line);
    }
    json_decref(all);
    graphss_ctx *ctx =
        graphss_ctx_new(&(graphss_ctx_options){.struct_size = sizeof(graphss_ctx_options),
            .threads = 1,
            .progress = note_the_first,
            .user = first});
    const graphss_reproduce_options opt = options_of(&p);
    graphss_reproduce_result done;
    assert_int_equal(graphss_reproduce_run(ctx, &done, 1, &opt), GRAPHSS_OK);
    graphss_ctx_free(ctx);
    assert_int_equal(done.before, 2);
    assert_int_equal(first[0], 100 * 1000);
    assert_true(first[1] > first[0]);
    remove_workplace(&p);
}

TEST(other_options_are_other_cells)
{
    const workplace p = make_workplace("options", recipe);
    reproduce(&p, 1);
    write_text(p.recipe, "split.noise = 0.2\n", "a");
    graphss_reproduce_result done = reproduce(&p, 1);
    assert_int_equal(done.before, 0);
    assert_int_equal(done.run, CELLS);
    done = reproduce(&p, 1);
    assert_int_equal(done.before, CELLS);
    remove_workplace(&p);
}

TEST(a_trial_that_cannot_be_made_is_an_error_of_its_cells)
{
    const workplace p = make_workplace("failed", recipe);
    write_text(p.recipe, "split.train = 0\n", "a");
    graphss_reproduce_result done = reproduce(&p, 2);
    assert_int_equal(done.cells, CELLS);
    assert_int_equal(done.failed, CELLS);
    assert_non_null(strstr(done.first_error, "train"));
    json_t *all = read_back(&p);
    const char *key;
    json_t *record;
    json_object_foreach(all, key, record)
    {
        assert_null(json_object_get(record, "metrics"));
        assert_int_equal(
            json_integer_value(json_object_get(json_object_get(record, "error"), "code")), 2);
        assert_true(
            json_is_false(json_object_get(json_object_get(record, "error"), "timeout")));
    }
    json_decref(all);
    done = reproduce(&p, 2); /* and is tried again */
    assert_int_equal(done.run, CELLS);
    remove_workplace(&p);
}

/* Adds an error to each record in folder. */
static void fail_all(const workplace *p, const char *error)
{
    json_t *all = read_back(p), *record;
    const char *key;
    remove(p->records);
    json_object_foreach(all, key, record)
    {
        json_object_del(record, "metrics");
        assert_int_equal(json_object_set_new(record, "error", json_loads(error, 0, NULL)), 0);
        char *line = json_dumps(record, JSON_COMPACT);
        write_text(p->records, line, "a");
        write_text(p->records, "\n", "a");
        free(line);
    }
    json_decref(all);
}

TEST(what_took_too_long_is_tried_again_with_more_time_and_other_failures_always)
{
    const struct {
        const char *error;
        size_t run;
    } list[] = {
        {"{\"code\": 4, \"message\": \"m\", \"limit\": 900, \"timeout\": true}", 0},
        {"{\"code\": 4, \"message\": \"m\", \"limit\": 899, \"timeout\": true}", CELLS},
        {"{\"code\": 4, \"message\": \"m\", \"limit\": 900, \"timeout\": false}", CELLS},
        {"{\"code\": 4, \"message\": \"m\", \"limit\": 900}", 0}, /* before the mark */
        {"{\"code\": 70, \"message\": \"m\", \"limit\": 900}", CELLS},
    };
    const workplace p = make_workplace("slow", recipe);
    write_text(p.recipe, "limit = 900\n", "a");
    reproduce(&p, 2);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        fail_all(&p, list[i].error);
        const graphss_reproduce_result done = reproduce(&p, 2);
        assert_int_equal(done.cells, CELLS);
        assert_int_equal(done.run, list[i].run);
        assert_int_equal(done.failed, CELLS - list[i].run);
    }
    remove_workplace(&p);
}

TEST(points_of_a_sweep_are_cells)
{
    const workplace p = make_workplace("sweep", recipe);
    write_text(p.recipe,
        "parameter = links\n"
        "point 1 = attack.links=1 attack.features=0\n"
        "point 3 = attack.links=3 attack.features=0 recover.steps=2\n",
        "a");
    const graphss_reproduce_result done = reproduce(&p, 1);
    assert_int_equal(done.cells, 2 * CELLS);
    assert_int_equal(done.failed, 0);
    json_t *all = read_back(&p);
    const char *key;
    json_t *record;
    json_object_foreach(all, key, record)
    {
        const json_t *o = json_object_get(json_object_get(record, "repeat"), "options");
        const json_int_t edges =
            json_integer_value(json_object_get(json_object_get(o, "attack"), "links"));
        assert_string_equal(json_string_value(json_object_get(record, "parameter")), "links");
        assert_int_equal(json_integer_value(json_object_get(record, "value")), edges);
        const json_t *steps = json_object_get(json_object_get(o, "recover"), "steps");
        if (steps) /* label-propagation alone reads it */
            assert_int_equal(json_integer_value(steps), edges == 3 ? 2 : 50);
    }
    json_decref(all);
    remove_workplace(&p);
}

/* One trial, all points on it: the same cells, with fewer trainings. */
TEST(points_that_differ_in_methods_alone_share_a_trial)
{
    const workplace p = make_workplace("shared", recipe);
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const graphss_reproduce_options opt = options_of(&p);
    graphss_i_plan plan = {0};
    assert_ok(ctx, graphss_i_plan_make(ctx, &plan, 1, &opt));
    const size_t jobs = plan.n_jobs;
    graphss_i_plan_destroy(ctx, &plan);
    write_text(p.recipe,
        "parameter = steps\n"
        "point 2 = recover.steps=2\n"
        "point 9 = recover.steps=9\n",
        "a");
    assert_ok(ctx, graphss_i_plan_make(ctx, &plan, 1, &opt));
    assert_int_equal(plan.n_jobs, jobs);
    graphss_i_plan_destroy(ctx, &plan);
    const graphss_reproduce_result done = reproduce(&p, 1);
    assert_int_equal(done.cells, 2 * CELLS);
    assert_int_equal(done.failed, 0);
    json_t *all = read_back(&p), *record;
    const char *key;
    size_t swept = 0;
    json_object_foreach(all, key, record)
    {
        const json_t *o = json_object_get(json_object_get(record, "repeat"), "options");
        const json_t *steps = json_object_get(json_object_get(o, "recover"), "steps");
        const json_int_t value = json_integer_value(json_object_get(record, "value"));
        assert_true(value == 2 || value == 9);
        if (!steps)
            continue;
        assert_int_equal(json_integer_value(steps), value);
        swept++;
    }
    assert_true(swept >= 2);
    json_decref(all);
    graphss_ctx_free(ctx);
    remove_workplace(&p);
}

TEST(a_dear_method_may_be_run_once)
{
    const workplace p = make_workplace("once", recipe);
    write_text(p.recipe, "seeds = 2\nsets = 2\nonce = none\n", "a");
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const graphss_reproduce_options opt = options_of(&p);
    graphss_i_plan plan = {0};
    size_t none = 0, other = 0;
    assert_ok(ctx, graphss_i_plan_make(ctx, &plan, 5, &opt));
    for (size_t j = 0; j < plan.n_jobs; j++)
        for (size_t c = 0; c < plan.job[j].n_cells; c++) {
            const bool dear = !strcmp(plan.job[j].cell[c].method, "none");
            none += dear;
            other += !dear;
            assert_true(!dear || (plan.job[j].seed == 5 && plan.job[j].cell[c].set == 1));
        }
    assert_int_equal(none, 2 * 2);
    assert_int_equal(other, 2 * 4);
    graphss_i_plan_destroy(ctx, &plan);
    graphss_ctx_free(ctx);
    remove_workplace(&p);
}

/* An attack that uses the classifier: nothing may be shared between classifiers or settings.
 */
TEST(a_point_may_be_an_attacker_of_another_kind)
{
    const workplace p = make_workplace("attackers",
        "what = attackers\nmode = honest\nsettings = new seen\nmodels = gcn\n"
        "datasets = synth:nodes=90,classes=3,features=30,degree=4\n"
        "methods = none rgcn retrain\nattack.features = 0\nattack.links = 2\n"
        "attack.knows = truth\n"
        "parameter = attacker\npoint dice = attack.method=dice\n"
        "point prbcd = attack.method=prbcd\n");
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const graphss_reproduce_options opt = options_of(&p);
    graphss_i_plan plan = {0};
    size_t shared = 0, copies = 0, own = 0;
    assert_ok(ctx, graphss_i_plan_make(ctx, &plan, 1, &opt));
    for (size_t j = 0; j < plan.n_jobs; j++) {
        const graphss_i_job *job = &plan.job[j];
        const bool prbcd = !strcmp(job->point->key, "point prbcd");
        graphss_i_job_options options;
        assert_ok(ctx, graphss_i_job_options_fill(ctx, &options, job));
        assert_string_equal(options.protocol.attack.method, prbcd ? "prbcd" : "dice");
        for (size_t c = 0; c < job->n_cells; c++) {
            assert_false(prbcd && (job->any || job->cell[c].copied));
            shared += job->any;
            copies += job->cell[c].copied;
            own += prbcd;
        }
    }
    assert_int_equal(shared, 4); /* rgcn, two trainings in two settings */
    assert_int_equal(copies, 2);  /* retrain, and rgcn retrained */
    assert_int_equal(own, 8);
    graphss_i_plan_destroy(ctx, &plan);
    graphss_ctx_free(ctx);
    remove_workplace(&p);
}

TEST_CTX(wrong_recipes_are_refused_before_any_work)
{
    const struct {
        const char *text, *part;
    } bad[] = {
        {"mode = honest\n", "'what'"},
        {"what = nonsense\nmode = honest\n", "'what'"},
        {"what = defence\n", "'mode'"},
        {"what = defence\nmode = both\n", "paper or honest"},
        {"what = defence\nmode = honest\nfrobnicate = 1\n", "line 3"},
        {"what = defence\nmode = honest\nattack.frob = 1\n", "line 3"},
        {"what = defence\nmode = honest\nmethods = cure-all\n", "line 3"},
        {"what = defence\nmode = honest\nwhat = alert\n", "line 1 already"},
        {"what = defence\nmode = honest\nnonsense\n", "key = value"},
        {"what = defence\nmode = honest\nmodels = gcn\nmethods = none\n", "'datasets'"},
        {"what = defence\nmode = honest\ndatasets = synth:\nmethods = none\n",
            "want a line 'models'"},
        {"what = defence\nmode = honest\nmodels = gcn\ndatasets = synth:\n",
            "want a line 'methods'"},
        {"what = defence\nmode = honest\nmodels = gnc\ndatasets = synth:\nmethods = none\n",
            "gnc"},
        {"what = defence\nmode = honest\nmodels = gcn\ndatasets = synth:\nmethods = none\n"
         "settings = old\n",
            "old"},
        {"what = defence\nmode = honest\nmodels = gcn\ndatasets = synth:\nmethods = none\n"
         "train.epochs = -4\n",
            "epochs"},
        {"what = defence\nmode = honest\nmodels = gcn\ndatasets = synth:\nmethods = none\n"
         "parameter = x\npoint 1 = attack.frob=1\n",
            "GROUP.OPTION"},
        {"what = defence\nmode = honest\nmodels = gcn\ndatasets = synth:\nmethods = none\n"
         "parameter = x\npoint 1 = recover.frob=1\n",
            "GROUP.OPTION"},
        {"what = defence\nmode = honest\nmodels = gcn\ndatasets = synth:\nmethods = none\n"
         "point 1 = recover.steps=2\n",
            "'parameter'"},
        {"what = attackers\nmode = honest\nmodels = gcn\ndatasets = synth:\nmethods = none\n"
         "parameter = x\npoint 1 = attack.method=frob\n",
            "GROUP.OPTION"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const workplace p = make_workplace("wrong", bad[i].text);
        const graphss_reproduce_options opt = options_of(&p);
        graphss_reproduce_result done;
        const graphss_status st = graphss_reproduce_run(ctx, &done, 1, &opt);
        assert_true(st == GRAPHSS_ERR_INVALID || st == GRAPHSS_ERR_DATA);
        if (!strstr(graphss_ctx_error(ctx), bad[i].part))
            fail_msg(
                "recipe %zu: \"%s\" lacks \"%s\"", i, graphss_ctx_error(ctx), bad[i].part);
        assert_int_equal(done.run, 0);
        remove_workplace(&p);
    }
}

TEST_CTX(lists_of_the_command_line_keep_generated_graphs_whole)
{
    char *words = graphss_i_words_of(ctx, "cora,synth:nodes=5,degree=2,pubmed,synth:,a/b.npz");
    assert_string_equal(words, "cora synth:nodes=5,degree=2 pubmed synth: a/b.npz");
    graphss_release(ctx, words);
    assert_true(graphss_i_same_dataset("x/y/cora.npz", "cora"));
    assert_false(graphss_i_same_dataset("cora2", "cora"));
}

TEST_CTX(every_recipe_of_the_program_can_be_planned)
{
    const char *name, *text;
    size_t n;
    for (size_t i = 0; (name = graphss_reproduce_recipe(i, &text, &n)) != NULL; i++) {
        const graphss_reproduce_options opt = {.struct_size = sizeof opt, .what = name};
        graphss_i_plan plan = {0};
        assert_ok(ctx, graphss_i_plan_make(ctx, &plan, 1, &opt));
        assert_true(plan.n_jobs > 0);
        for (size_t j = 0; j < plan.n_jobs; j++)
            for (size_t c = 0; c < plan.job[j].n_cells; c++) {
                json_t *options = NULL;
                assert_ok(ctx, graphss_i_cell_options_json(
                                   ctx, &options, &plan.job[j], &plan.job[j].cell[c]));
                json_decref(options);
            }
        graphss_i_plan_destroy(ctx, &plan);
        assert_int_equal(text[0], '#'); /* says what it makes, and how long that takes */
    }
}

/* Results that are shared by all classifiers must be the same for each. */
TEST(methods_with_a_network_of_their_own_do_not_see_the_classifier)
{
    const char *const datasets[] = {"synth:nodes=90,classes=3,features=30,degree=4"};
    json_t *found[2];
    for (int m = 0; m < 2; m++) {
        char text[512];
        snprintf(text, sizeof text,
            "what = defence\nmode = honest\nsettings = new\ndatasets = %s\nmodels = %s\n"
            "methods = *\ntrain.epochs = 4\ntrain.hidden = 8\nrecover.epochs = 3\n"
            "recover.rank = 3\nattack.links = 1\nattack.knows = truth\n",
            datasets[0], m ? "sage" : "gcn");
        const workplace p = make_workplace(m ? "sage" : "gcn", text);
        const graphss_reproduce_result done = reproduce(&p, 1);
        if (done.failed)
            fail_msg("%s", done.first_error);
        found[m] = read_back(&p);
        remove_workplace(&p);
    }
    size_t shared = 0;
    const char *key;
    json_t *record;
    json_object_foreach(found[0], key, record)
    {
        if (strcmp(json_string_value(json_object_get(record, "model")), "any") != 0)
            continue;
        const json_t *a = json_object_get(record, "metrics");
        const json_t *b = json_object_get(json_object_get(found[1], key), "metrics");
        static const char *const same[] = {"victims", "others", "test", "validation", "ece"};
        for (size_t i = 0; i < sizeof same / sizeof *same; i++)
            if (!json_equal(json_object_get(a, same[i]), json_object_get(b, same[i])))
                fail_msg("%s: %s depends on the classifier",
                    json_string_value(json_object_get(record, "method")), same[i]);
        shared++;
    }
    assert_true(shared >= 9);
    json_decref(found[0]);
    json_decref(found[1]);
}

/* A method trained on the current snapshot runs in the first setting; the others copy it. */
TEST(what_does_not_see_the_past_is_the_same_in_every_setting)
{
    json_t *found[2];
    for (int m = 0; m < 2; m++) {
        char text[512];
        snprintf(text, sizeof text,
            "what = defence\nmode = honest\nsettings = %s\n"
            "datasets = synth:nodes=90,classes=3,features=30,degree=4\nmodels = sgc\n"
            "methods = none retrain jaccard label-propagation rgcn\ntrain.epochs = 4\n"
            "train.hidden = 8\nrecover.epochs = 3\nattack.links = 1\nattack.knows = truth\n",
            m ? "new growing" : "growing");
        const workplace p = make_workplace(m ? "copies" : "single", text);
        const graphss_reproduce_result done = reproduce(&p, 1);
        assert_int_equal(done.failed, 0);
        assert_int_equal(done.run, done.cells);
        found[m] = read_back(&p);
        remove_workplace(&p);
    }
    assert_int_equal(json_object_size(found[1]), 2 * json_object_size(found[0]));
    size_t copied = 0;
    const char *key;
    json_t *record;
    json_object_foreach(found[0], key, record)
    {
        json_t *copy = json_object_get(found[1], key);
        assert_non_null(copy);
        assert_true(json_equal(json_object_get(json_object_get(record, "repeat"), "options"),
            json_object_get(json_object_get(copy, "repeat"), "options")));
        if (!json_object_get(copy, "copied_from"))
            continue;
        assert_string_equal(json_string_value(json_object_get(copy, "copied_from")), "new");
        static const char *const same[] = {"victims", "others", "test", "validation", "ece"};
        for (size_t i = 0; i < sizeof same / sizeof *same; i++)
            assert_true(
                json_equal(json_object_get(json_object_get(record, "metrics"), same[i]),
                    json_object_get(json_object_get(copy, "metrics"), same[i])));
        copied++;
    }
    assert_int_equal(copied, 4); /* all but none, jaccard and rgcn as evasion */
    json_decref(found[0]);
    json_decref(found[1]);
}

TEST(groups_are_judged_in_both_modes)
{
    for (int m = 0; m < 2; m++) {
        char text[512];
        snprintf(text, sizeof text,
            "what = alert\nmode = %s\nmethods = alert\nmodels = gcn\n"
            "datasets = synth:nodes=240,classes=3,features=40,degree=4\n"
            "train.epochs = 10\ntrain.hidden = 8\nsnapshots.groups = 6\n"
            "snapshots.attacked-groups = 2\nsnapshots.victims = 0.5\n%s",
            m ? "paper" : "honest", m ? "" : "snapshots.background = yes\n");
        const workplace p = make_workplace(m ? "paper" : "honest", text);
        const graphss_reproduce_result done = reproduce(&p, 1);
        if (done.failed)
            fail_msg("%s", done.first_error);
        json_t *all = read_back(&p);
        json_t *record = json_object_iter_value(json_object_iter(all));
        const json_t *groups = json_object_get(record, "groups");
        const json_t *curve = json_object_get(record, "curve");
        assert_int_equal(json_array_size(json_object_get(groups, "score")), 6);
        graphss_i_scored item[6];
        size_t hits = 0;
        for (size_t g = 0; g < 6; g++) {
            item[g].score =
                json_number_value(json_array_get(json_object_get(groups, "score"), g));
            item[g].hit = (int32_t)json_integer_value(
                json_array_get(json_object_get(groups, "attacked"), g));
            hits += (size_t)item[g].hit;
        }
        graphss_i_scored_sort(item, 6);
        assert_int_equal(hits, 2);
        assert_true(graphss_i_auc(item, 6) == json_number_value(json_object_get(
                                                  json_object_get(record, "metrics"), "auc")));
        const size_t corners = json_array_size(json_object_get(curve, "x"));
        assert_true(corners >= 3);
        assert_true(
            json_number_value(json_array_get(json_object_get(curve, "y"), corners - 1)) == 1);
        assert_true((json_object_get(groups, "p_value") != NULL) == (m == 0));
        json_decref(all);
        remove_workplace(&p);
    }
}

static graphss_status reproduce_starved(graphss_ctx *ctx, void *arg)
{
    const workplace *p = arg;
    const graphss_reproduce_options opt = options_of(p);
    graphss_reproduce_result done;
    return graphss_reproduce_run(ctx, &done, 1, &opt);
}

TEST(it_survives_every_failing_allocation)
{
    workplace p = make_workplace("starved", "what = datasets\ndatasets = synth:nodes=30\n");
    testing_each_allocation_fails(reproduce_starved, &p);
    remove_workplace(&p);
}

static graphss_status plan_starved(graphss_ctx *ctx, void *arg)
{
    const workplace *p = arg;
    const graphss_reproduce_options opt = {.struct_size = sizeof opt,
        .recipe = p->recipe,
        .folder = p->folder,
        .models = "gcn",
        .methods = "none"};
    graphss_i_plan plan = {0};
    const graphss_status st = graphss_i_plan_make(ctx, &plan, 1, &opt);
    if (!st)
        graphss_i_plan_destroy(ctx, &plan);
    return st;
}

TEST(planning_survives_every_failing_allocation)
{
    workplace p = make_workplace("planned", recipe);
    testing_each_allocation_fails(plan_starved, &p);
    remove_workplace(&p);
}

/* Kills all children once there is a first record. */
static void kill_children(void *user, graphss_log_level level, const char *line)
{
    char path[64];
    long child;
    if (level != GRAPHSS_LOG_INFO || !strstr(line, "1/2 "))
        return;
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    FILE *list = fopen(path, "r");
    while (list && fscanf(list, "%ld", &child) == 1)
        *(bool *)user = kill((pid_t)child, SIGKILL) == 0;
    if (list)
        fclose(list);
}

TEST(a_worker_that_dies_late_does_not_blame_the_trial)
{
    char children[64];
    snprintf(children, sizeof children, "/proc/self/task/%ld/children", (long)getpid());
    if (access(children, R_OK) != 0) {
        print_message("skipped: the system does not list children\n");
        skip();
    }
    const workplace p =
        make_workplace("killed", "what = defence\nmode = honest\nsettings = seen\n"
                                 "datasets = synth:nodes=90,classes=3,features=30,degree=4\n"
                                 "models = gcn\nmethods = none retrain\ntrain.epochs = 4\n"
                                 "train.hidden = 4\nattack.links = 1\nattack.features = 2\n"
                                 "recover.epochs = 10000000\nrecover.patience = 0\n");
    bool killed = false;
    const graphss_ctx_options own = {
        .struct_size = sizeof own, .threads = 1, .log = kill_children, .user = &killed};
    graphss_ctx *ctx = graphss_ctx_new(&own);
    graphss_reproduce_result done;
    const graphss_reproduce_options opt = options_of(&p);
    assert_ok(ctx, graphss_reproduce_run(ctx, &done, 1, &opt));
    graphss_ctx_free(ctx);
    assert_true(killed);
    assert_int_equal(done.failed, 1);
    assert_non_null(strstr(done.first_error, "after 1 record: ended by signal 9"));
    json_t *all = read_back(&p), *record;
    const char *key;
    json_object_foreach(all, key, record)
    {
        const json_t *error = json_object_get(record, "error");
        if (error)
            assert_int_equal(json_integer_value(json_object_get(error, "code")), 4);
    }
    json_decref(all);
    remove_workplace(&p);
}

/* Then the parent cannot wait for its children, unless a worker does. */
TEST(who_ignores_his_children_gets_their_time_and_memory_too)
{
    const workplace p = make_workplace("ignored", recipe);
    signal(SIGCHLD, SIG_IGN);
    const graphss_reproduce_result done = reproduce(&p, 2);
    struct sigaction now;
    sigaction(SIGCHLD, NULL, &now);
    signal(SIGCHLD, SIG_DFL);
    assert_true(now.sa_handler == SIG_IGN);
    assert_int_equal(done.failed, 0);
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_i_records r = {0};
    assert_ok(ctx, graphss_i_records_open(ctx, &r, p.records));
    const char *key;
    json_t *record;
    json_object_foreach(r.index, key, record)
    {
        const json_t *metrics = json_object_get(record, "metrics");
        assert_true(json_number_value(json_object_get(metrics, "cpu_seconds")) > 0);
        assert_true(json_number_value(json_object_get(metrics, "peak_memory")) > 0);
    }
    graphss_i_records_close(ctx, &r);
    graphss_ctx_free(ctx);
    remove_workplace(&p);
}

TEST(a_worker_without_its_parent_ends)
{
    const graphss_i_job job = {0};
    const pid_t child = fork();
    if (child == 0)
        graphss_i_worker_run(&(graphss_i_worker){.job = &job, .parent = getpid()}, 1);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 70);
}

enum { DESCRIPTORS = 64 };

typedef struct pipe_watch {
    bool before[DESCRIPTORS];
    size_t seen, open_to_programs;
} pipe_watch;

static bool watch_pipes(
    void *user, const char *state, size_t done, size_t total, const char *note)
{
    (void)state, (void)done, (void)total, (void)note;
    pipe_watch *w = user;
    for (int fd = 3; fd < DESCRIPTORS; fd++) {
        struct stat info;
        const int flags = fcntl(fd, F_GETFD);
        if (w->before[fd] || flags < 0 || fstat(fd, &info) != 0 || !S_ISFIFO(info.st_mode))
            continue;
        w->seen++;
        w->open_to_programs += !(flags & FD_CLOEXEC);
    }
    return true;
}

TEST(other_programs_do_not_inherit_the_pipes)
{
    const workplace p = make_workplace("pipes", recipe);
    pipe_watch w = {0};
    graphss_reproduce_result done;
    const graphss_reproduce_options opt = options_of(&p);
    for (int fd = 3; fd < DESCRIPTORS; fd++)
        w.before[fd] = fcntl(fd, F_GETFD) >= 0;
    graphss_ctx *ctx =
        graphss_ctx_new(&(graphss_ctx_options){.struct_size = sizeof(graphss_ctx_options),
            .threads = 1,
            .progress = watch_pipes,
            .user = &w});
    assert_ok(ctx, graphss_reproduce_run(ctx, &done, 1, &opt));
    graphss_ctx_free(ctx);
    assert_true(w.seen > 0);
    assert_int_equal(w.open_to_programs, 0);
    remove_workplace(&p);
}

int main(void)
{
    return testing_run();
}
