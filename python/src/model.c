/* model.c - classifiers: ours, imported ones, and callables of Python. */
#include "core.h"
#include <stdlib.h>
#include <string.h>

/* Names of nodes and their number, so that a later snapshot is matched by name. */
static graphss_status describe(
    core_call *call, graphss_model *model, const core_graph *g, const core_features *f)
{
    const graphss_dataset data = {.graph = g->graph,
        .features = f->features,
        .n_classes = graphss_model_classes(model),
        .node_names = g->names,
        .name = "python"};
    return graphss_model_set_dataset(call->ctx, model, &data);
}

static PyObject *floats(float **list, size_t n)
{
    static float none;
    PyObject *made = *list ? core_array(*list, (Py_ssize_t)n, 0, "f", NULL)
                           : core_array(&none, 0, 0, "f", Py_None);
    *list = NULL;
    return made;
}

static PyObject *training_dict(graphss_training *log)
{
    return Py_BuildValue("{s:n,s:n,s:d,s:d,s:d,s:N,s:N}", "epochs", (Py_ssize_t)log->epochs,
        "best_epoch", (Py_ssize_t)log->best_epoch, "train_accuracy", log->train_accuracy,
        "val_accuracy", log->val_accuracy, "seconds", log->seconds, "loss",
        floats(&log->loss, log->epochs), "val_accuracies", floats(&log->val_acc, log->epochs));
}

/* The preset of a model for these features, with the given options applied. */
static graphss_status train_options(core_call *call, graphss_train_options *opt,
    const char *model, int paper, const core_features *f, PyObject *dict)
{
    graphss_train_options_init(
        opt, model, paper ? GRAPHSS_MODE_PAPER : GRAPHSS_MODE_DEFAULT, &f->features);
    return core_options_set(call, opt, graphss_train_options_table(), dict);
}

static PyObject *int_list(const int32_t *value, size_t n)
{
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; i < n && list; i++) {
        PyObject *one = PyLong_FromLong(value[i]);
        if (one)
            PyList_SetItem(list, (Py_ssize_t)i, one);
        else
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *link_list(const graphss_flips *flips)
{
    PyObject *list = PyList_New((Py_ssize_t)flips->count);
    for (size_t i = 0; i < flips->count && list; i++) {
        PyObject *one =
            Py_BuildValue("ii", (int)flips->item[i].node, (int)flips->item[i].target);
        if (one)
            PyList_SetItem(list, (Py_ssize_t)i, one);
        else
            Py_CLEAR(list);
    }
    return list;
}

/* distrust(graph, features, n_classes, split, model, paper, options, seed, threads, progress)
 *     -> dict: links that are not trusted; train and train_labels that are; share */
static PyObject *distrust(PyObject *self, PyObject *args)
{
    PyObject *graph, *features, *split_of, *dict, *progress, *result = NULL;
    Py_ssize_t k, threads;
    unsigned long long seed;
    const char *name;
    int paper;
    core_split split;
    core_call call;
    graphss_train_options opt;
    graphss_poisoned_result found = {0};
    graphss_flips flips = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "OOnOspOKnO", &graph, &features, &k, &split_of, &name, &paper,
            &dict, &seed, &threads, &progress))
        return NULL;
    core_graph *g = core_as_graph(graph, "graph");
    core_features *f = g ? core_as_features(features, "features") : NULL;
    if (!f || core_split_get(&split, split_of))
        return NULL;
    if (core_call_open(&call, threads, progress) == 0) {
        graphss_status st = train_options(&call, &opt, name, paper, f, dict);
        core_call_begin(&call, NULL, 0);
        if (!st)
            st = graphss_poisoned_run(call.ctx, &found,
                &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                    .graph = &g->graph,
                    .features = &f->features,
                    .n_classes = (size_t)k,
                    .split = &split.split,
                    .seed = seed},
                &opt);
        if (!st)
            st = graphss_poisoned_flips(call.ctx, &flips, &g->graph, found.foreign);
        core_call_end(&call);
        result = st ? NULL
                    : Py_BuildValue("{s:N,s:N,s:N,s:d}", "links", link_list(&flips), "train",
                          int_list(found.split.train, found.split.n_train), "train_labels",
                          int_list(found.split.train_label, found.split.n_train), "share",
                          found.share);
        graphss_flips_destroy(core_home(), &flips);
        graphss_poisoned_result_destroy(core_home(), &found);
        result = core_call_close(&call, st, result);
    }
    core_split_release(&split);
    return result;
}

/* train(graph, features, n_classes, split, model, paper, options, seed, threads, progress,
 *       start, epochs) -> (Model, log); start: a model to go on from, or None */
static PyObject *train(PyObject *self, PyObject *args)
{
    PyObject *graph, *features, *split_of, *dict, *progress, *start_of, *result = NULL;
    Py_ssize_t k, threads, epochs;
    unsigned long long seed;
    const char *name;
    int paper;
    core_split split;
    core_call call;
    graphss_train_options opt;
    graphss_training log = {0};
    graphss_model *model = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOnOspOKnOOn", &graph, &features, &k, &split_of, &name,
            &paper, &dict, &seed, &threads, &progress, &start_of, &epochs))
        return NULL;
    core_graph *g = core_as_graph(graph, "graph");
    core_features *f = g ? core_as_features(features, "features") : NULL;
    core_model *start = f && start_of != Py_None ? core_as_model(start_of) : NULL;
    if (!f || (start_of != Py_None && !start) || core_split_get(&split, split_of))
        return NULL;
    if (core_call_open(&call, threads, progress) == 0) {
        graphss_status st = train_options(&call, &opt, name, paper, f, dict);
        core_call_begin(&call, start, 0);
        if (!st && start)
            st = graphss_model_continue(call.ctx, &model, &log, start->model,
                &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                    .graph = &g->graph,
                    .features = &f->features,
                    .split = &split.split,
                    .seed = seed},
                epochs);
        else if (!st)
            st = graphss_model_train(call.ctx, &model, &log,
                &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                    .graph = &g->graph,
                    .features = &f->features,
                    .n_classes = (size_t)k,
                    .split = &split.split,
                    .seed = seed},
                &opt);
        if (!st)
            st = describe(&call, model, g, f);
        core_call_end(&call);
        if (st) {
            graphss_model_free(core_home(), model);
        } else {
            PyObject *made = core_new_model(model, NULL);
            result = made ? Py_BuildValue("NN", made, training_dict(&log)) : NULL;
        }
        graphss_training_destroy(core_home(), &log);
        result = core_call_close(&call, st, result);
    }
    core_split_release(&split);
    return result;
}

/* predict(model, graph, features, threads) -> array [n x k] */
static PyObject *predict(PyObject *self, PyObject *args)
{
    PyObject *model_of, *graph, *features, *result = NULL;
    Py_ssize_t threads;
    core_call call;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOn", &model_of, &graph, &features, &threads))
        return NULL;
    core_model *m = core_as_model(model_of);
    core_graph *g = m ? core_as_graph(graph, "graph") : NULL;
    core_features *f = g ? core_as_features(features, "features") : NULL;
    if (!f || core_call_open(&call, threads, Py_None))
        return NULL;
    const size_t n = g->graph.n_nodes, k = graphss_model_classes(m->model);
    /* One block of numpy's size; the library has no public way to allocate. */
    PyObject *bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(n * k * sizeof(float)));
    graphss_status st = GRAPHSS_OK;
    if (bytes) {
        float *prob = (float *)(void *)PyByteArray_AsString(bytes);
        core_call_begin(&call, m, 0);
        st = graphss_model_predict(call.ctx, prob, m->model, &g->graph, &f->features);
        core_call_end(&call);
        result = st ? NULL : bytes;
        if (st)
            Py_DECREF(bytes);
    }
    return core_call_close(&call, st, result);
}

static PyObject *save(PyObject *self, PyObject *args)
{
    PyObject *model_of, *path, *result = NULL;
    core_call call;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO&", &model_of, PyUnicode_FSConverter, &path))
        return NULL;
    core_model *m = core_as_model(model_of);
    if (m && core_call_open(&call, 1, Py_None) == 0) {
        const char *where = PyBytes_AsString(path);
        core_call_begin(&call, m, 0);
        const graphss_status st = graphss_model_save(call.ctx, m->model, where);
        core_call_end(&call);
        result = core_call_close(&call, st, Py_NewRef(Py_None));
    }
    Py_DECREF(path);
    return result;
}

static PyObject *load(PyObject *self, PyObject *args)
{
    PyObject *path, *result = NULL;
    core_call call;
    graphss_model *model = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
        return NULL;
    if (core_call_open(&call, 1, Py_None) == 0) {
        const char *where = PyBytes_AsString(path);
        core_call_begin(&call, NULL, 0);
        const graphss_status st = graphss_model_load(call.ctx, &model, where);
        core_call_end(&call);
        result = core_call_close(&call, st, st ? NULL : core_new_model(model, NULL));
    }
    Py_DECREF(path);
    return result;
}

/* What a model stores. */
static PyObject *info(PyObject *self, PyObject *model_of)
{
    core_model *m = core_as_model(model_of);
    graphss_predictor_use use;
    (void)self;
    if (!m)
        return NULL;
    const bool predictor = graphss_model_predictor_use(&use, m->model);
    PyObject *options = PyDict_New();
    const graphss_train_options *opt = graphss_model_options(m->model);
    for (const graphss_option *row = graphss_train_options_table(); row->name && options;
         row++) {
        char text[128];
        graphss_option_text(text, sizeof text, opt, row);
        PyObject *value = PyUnicode_FromString(text);
        if (!value || PyDict_SetItemString(options, row->name, value) < 0)
            Py_CLEAR(options);
        Py_XDECREF(value);
    }
    if (!options)
        return NULL;
    const graphss_split *s = graphss_model_split(m->model);
    return Py_BuildValue("{s:n,s:n,s:n,s:K,s:N,s:O,s:n,s:n,s:d,s:O,s:n,s:n}", "n_features",
        (Py_ssize_t)graphss_model_features(m->model), "n_classes",
        (Py_ssize_t)graphss_model_classes(m->model), "n_nodes",
        (Py_ssize_t)graphss_model_nodes(m->model), "seed",
        (unsigned long long)graphss_model_seed(m->model), "options", options, "predictor",
        predictor ? Py_True : Py_False, "calls", (Py_ssize_t)use.calls, "some",
        (Py_ssize_t)use.some, "agreement", use.agreement, "by_answers",
        use.by_answers ? Py_True : Py_False, "n_train", (Py_ssize_t)s->n_train, "n_val",
        (Py_ssize_t)s->n_val);
}

/* weights(model) -> list of (name, array) */
static PyObject *weights(PyObject *self, PyObject *model_of)
{
    core_model *m = core_as_model(model_of);
    (void)self;
    if (!m)
        return NULL;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list; i++) {
        graphss_tensor w;
        if (!graphss_model_weight(&w, m->model, i))
            break;
        PyObject *entry = Py_BuildValue("sN", w.name,
            core_array((float *)(uintptr_t)w.value, (Py_ssize_t)w.shape[0],
                (Py_ssize_t)w.shape[1], "f", model_of));
        if (!entry || PyList_Append(list, entry) < 0)
            Py_CLEAR(list);
        Py_XDECREF(entry);
    }
    return list;
}

/* ---- weights of others ---- */

/* A list of (name, float32 array of 1 to 3 dimensions). */
typedef struct tensors {
    graphss_tensor *list;
    Py_buffer *view;
    Py_ssize_t n;
} tensors;

static void tensors_release(tensors *t)
{
    for (Py_ssize_t i = 0; i < t->n; i++)
        PyBuffer_Release(&t->view[i]);
    PyMem_Free(t->list);
    PyMem_Free(t->view);
}

static int tensors_get(tensors *t, PyObject *list)
{
    *t = (tensors){0};
    if (!PyList_Check(list)) {
        PyErr_SetString(PyExc_TypeError, "weights: want a list");
        return -1;
    }
    const Py_ssize_t n = PyList_Size(list);
    t->list = PyMem_Calloc((size_t)n + 1, sizeof *t->list);
    t->view = PyMem_Calloc((size_t)n + 1, sizeof *t->view);
    if (!t->list || !t->view) {
        PyErr_NoMemory();
        tensors_release(t);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *array;
        const char *name;
        Py_buffer *view = &t->view[i];
        PyObject *one = core_tuple_at(list, i, "weights");
        if (!one || !PyArg_ParseTuple(one, "sO", &name, &array) ||
            PyObject_GetBuffer(array, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0)
            break;
        t->n++;
        graphss_tensor *x = &t->list[i];
        if (view->ndim < 1 || view->ndim > 3 || view->itemsize != 4 || !view->format ||
            strcmp(view->format, "f") != 0) {
            PyErr_Format(PyExc_TypeError, "%s: want float32 and 1 to 3 dimensions", name);
            break;
        }
        *x = (graphss_tensor){.name = name, .n_dims = (size_t)view->ndim, .value = view->buf};
        for (int d = 0; d < view->ndim; d++)
            x->shape[d] = (size_t)view->shape[d];
    }
    if (PyErr_Occurred()) {
        tensors_release(t);
        return -1;
    }
    return 0;
}

static int layout_of(graphss_layout *out, const char *name)
{
    for (int i = 0; i <= GRAPHSS_LAYOUT_DEEPROBUST; i++)
        if (strcmp(name, graphss_layout_text((graphss_layout)i)) == 0) {
            *out = (graphss_layout)i;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "layout: found '%s', want pyg, dgl or deeprobust", name);
    return -1;
}

/* from_tensors(list, layout, model, options) -> Model */
static PyObject *from_tensors(PyObject *self, PyObject *args)
{
    PyObject *list, *dict, *result = NULL;
    const char *layout_name, *name;
    graphss_layout layout;
    graphss_model *model = NULL;
    tensors t;
    core_call call;
    (void)self;
    if (!PyArg_ParseTuple(args, "OssO", &list, &layout_name, &name, &dict) ||
        layout_of(&layout, layout_name) || tensors_get(&t, list))
        return NULL;
    if (core_call_open(&call, 1, Py_None) == 0) {
        graphss_train_options how;
        graphss_import_options_init(&how, name);
        graphss_status st = core_options_set(&call, &how, graphss_train_options_table(), dict);
        if (!st)
            st = graphss_model_from_tensors(
                call.ctx, &model, t.list, (size_t)t.n, layout, &how);
        result = core_call_close(&call, st, st ? NULL : core_new_model(model, NULL));
    }
    tensors_release(&t);
    return result;
}

/* import_file(path, layout, model, options) -> Model */
static PyObject *import_file(PyObject *self, PyObject *args)
{
    PyObject *path, *dict, *result = NULL;
    const char *layout_name, *name;
    graphss_layout layout;
    graphss_model *model = NULL;
    core_call call;
    (void)self;
    if (!PyArg_ParseTuple(
            args, "O&ssO", PyUnicode_FSConverter, &path, &layout_name, &name, &dict))
        return NULL;
    if (layout_of(&layout, layout_name) == 0 && core_call_open(&call, 1, Py_None) == 0) {
        graphss_train_options how;
        graphss_import_options_init(&how, name);
        graphss_status st = core_options_set(&call, &how, graphss_train_options_table(), dict);
        if (!st)
            st = graphss_model_import(call.ctx, &model, PyBytes_AsString(path), layout, &how);
        result = core_call_close(&call, st, st ? NULL : core_new_model(model, NULL));
    }
    Py_DECREF(path);
    return result;
}

static PyObject *export_file(PyObject *self, PyObject *args)
{
    PyObject *model_of, *path, *result = NULL;
    const char *layout_name;
    graphss_layout layout;
    core_call call;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO&s", &model_of, PyUnicode_FSConverter, &path, &layout_name))
        return NULL;
    core_model *m = core_as_model(model_of);
    if (m && layout_of(&layout, layout_name) == 0 && core_call_open(&call, 1, Py_None) == 0) {
        const graphss_status st =
            graphss_model_export(call.ctx, m->model, PyBytes_AsString(path), layout);
        result = core_call_close(&call, st, Py_NewRef(Py_None));
    }
    Py_DECREF(path);
    return result;
}

/* settle(model, graph, features, prob or None, split or None) -> largest difference or None:
 * of an imported model, its probe and its split. */
static PyObject *settle(PyObject *self, PyObject *args)
{
    PyObject *model_of, *graph, *features, *prob_of, *split_of, *result = NULL;
    core_buffer prob = {0};
    core_split split;
    core_call call;
    double off = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOOO", &model_of, &graph, &features, &prob_of, &split_of))
        return NULL;
    core_model *m = core_as_model(model_of);
    core_graph *g = m ? core_as_graph(graph, "graph") : NULL;
    core_features *f = g ? core_as_features(features, "features") : NULL;
    if (!f || core_buffer_get(&prob, prob_of, "f4", 2, 1, "probabilities"))
        return NULL;
    if (core_split_get(&split, split_of)) {
        core_buffer_release(&prob);
        return NULL;
    }
    if (prob.view.obj &&
        (prob.rows != g->graph.n_nodes || prob.cols != graphss_model_classes(m->model)))
        PyErr_Format(PyExc_ValueError,
            "probabilities of %zu nodes and %zu classes, want %zu "
            "and %zu",
            prob.rows, prob.cols, g->graph.n_nodes, graphss_model_classes(m->model));
    else if (core_call_open(&call, 0, Py_None) == 0) {
        core_call_begin(&call, m, 1);
        graphss_status st = prob.view.obj ? graphss_model_probe(call.ctx, &off, m->model,
                                                &g->graph, &f->features, prob.data)
                                          : GRAPHSS_OK;
        if (!st)
            st = describe(&call, m->model, g, f);
        if (!st && split.given)
            st = graphss_model_set_split(call.ctx, m->model, &split.split);
        core_call_end(&call);
        result = core_call_close(
            &call, st, prob.view.obj ? PyFloat_FromDouble(off) : Py_NewRef(Py_None));
    }
    core_split_release(&split);
    core_buffer_release(&prob);
    return result;
}

/* ---- callables ---- */

/* f(graph, features, nodes or None) -> float32 buffer [n x k], which the library calls. */
typedef struct callable {
    PyObject *function; /* borrowed from the model's keep */
    size_t n_classes;
    core_call *call; /* where exceptions go while the model is being made */
} callable;

/* The exception of a callable, in the library's words and, for the caller, itself. */
static graphss_status tell(callable *c, char *why, size_t size)
{
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        PyErr_Clear();
        PyErr_SetInterrupt(); /* the end of the call sees it */
        return GRAPHSS_ERR_CANCELLED;
    }
    if (c->call) {
        core_call_keep_exception(c->call);
        return GRAPHSS_ERR_DATA;
    }
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *text = value ? PyObject_Str(value) : NULL;
    const char *said = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    PyObject *name = type ? PyObject_GetAttrString(type, "__name__") : NULL;
    const char *called = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    PyOS_snprintf(why, size, "%s: %s", called ? called : "exception", said ? said : "");
    Py_XDECREF(name);
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    PyErr_Clear();
    return GRAPHSS_ERR_DATA;
}

static graphss_status ask(callable *c, float *prob, const int32_t *node, size_t n,
    const graphss_graph *graph, const graphss_features *features, char *why, size_t size)
{
    const PyGILState_STATE state = PyGILState_Ensure();
    graphss_status st = GRAPHSS_ERR_DATA;
    graphss_graph graph_copy = {0};
    graphss_features features_copy = {0};
    core_buffer answer = {0};
    PyObject *nodes = Py_NewRef(Py_None), *said = NULL, *g = NULL, *f = NULL;
    /* Copies, since the callable may keep its arguments and the library frees the arrays. */
    if (graphss_graph_copy(core_home(), &graph_copy, graph) == GRAPHSS_OK &&
        graphss_features_copy(core_home(), &features_copy, features) == GRAPHSS_OK) {
        g = core_new_graph(&graph_copy);
        f = core_new_features(&features_copy);
    } else {
        graphss_graph_destroy(core_home(), &graph_copy);
        PyErr_NoMemory();
    }
    if (node) {
        Py_DECREF(nodes);
        nodes = PyBytes_FromStringAndSize((const char *)node, (Py_ssize_t)(n * sizeof *node));
    }
    if (g && f && nodes)
        said = PyObject_CallFunctionObjArgs(c->function, g, f, nodes, NULL);
    if (said && core_buffer_get(&answer, said, "f4", 2, 0, "probabilities") == 0) {
        if (answer.rows != n || answer.cols != c->n_classes) {
            PyErr_Format(PyExc_ValueError,
                "the predictor gave %zu x %zu probabilities, want %zu nodes x %zu "
                "classes",
                answer.rows, answer.cols, n, c->n_classes);
        } else {
            memcpy(prob, answer.data, n * c->n_classes * sizeof *prob);
            st = GRAPHSS_OK;
        }
    }
    core_buffer_release(&answer);
    if (st)
        st = tell(c, why, size);
    Py_XDECREF(said);
    Py_XDECREF(nodes);
    Py_XDECREF(g);
    Py_XDECREF(f);
    PyGILState_Release(state);
    return st;
}

static graphss_status ask_all(void *user, float *prob, const graphss_graph *graph,
    const graphss_features *features, char *why, size_t size)
{
    return ask(user, prob, NULL, graph->n_nodes, graph, features, why, size);
}

static graphss_status ask_some(void *user, float *prob, const int32_t *node, size_t n,
    const graphss_graph *graph, const graphss_features *features, char *why, size_t size)
{
    return ask(user, prob, node, n, graph, features, why, size);
}

static void free_callable(void *user)
{
    free(user);
}

/* from_predictor(function, some, hops, graph, features, n_classes, split, model, options,
 *                seed, threads, progress) -> Model */
static PyObject *from_predictor(PyObject *self, PyObject *args)
{
    PyObject *function, *graph, *features, *split_of, *dict, *progress, *result = NULL;
    Py_ssize_t hops, k, threads;
    int parts;
    const char *name;
    unsigned long long seed;
    core_split split;
    core_call call;
    graphss_model *model = NULL;
    graphss_train_options opt;
    (void)self;
    if (!PyArg_ParseTuple(args, "OpnOOnOsOKnO", &function, &parts, &hops, &graph, &features,
            &k, &split_of, &name, &dict, &seed, &threads, &progress))
        return NULL;
    core_graph *g = core_as_graph(graph, "graph");
    core_features *f = g ? core_as_features(features, "features") : NULL;
    if (!f || core_split_get(&split, split_of))
        return NULL;
    callable *c = calloc(1, sizeof *c);
    if (!c) {
        PyErr_NoMemory();
    } else if (k < 2 || hops < 0) {
        PyErr_SetString(PyExc_ValueError, "want at least two classes, and hops of 0 or more");
        free(c);
    } else if (core_call_open(&call, threads, progress) == 0) {
        *c = (callable){function, (size_t)k, &call};
        const graphss_predictor p = {.struct_size = sizeof p,
            .probabilities = ask_all,
            .some = parts ? ask_some : NULL,
            .release = free_callable,
            .user = c,
            .hops = (size_t)hops};
        graphss_status st = train_options(&call, &opt, name, 0, f, dict);
        core_call_begin(&call, NULL, 0);
        if (!st)
            st = graphss_model_from_predictor(call.ctx, &model, &p,
                &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                    .graph = &g->graph,
                    .features = &f->features,
                    .n_classes = (size_t)k,
                    .split = split.given ? &split.split : NULL,
                    .seed = seed},
                &opt);
        if (!st)
            st = describe(&call, model, g, f);
        core_call_end(&call);
        if (st) {
            if (model)
                graphss_model_free(core_home(), model);
            else
                free(c);
        } else {
            c->call = NULL;
            result = core_new_model(model, function);
        }
        result = core_call_close(&call, st, result);
    } else {
        free(c);
    }
    core_split_release(&split);
    return result;
}

/* set_predictor(model, function, some, hops): of a model that was loaded */
static PyObject *set_predictor(PyObject *self, PyObject *args)
{
    PyObject *model_of, *function;
    int parts;
    Py_ssize_t hops;
    core_call call;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOpn", &model_of, &function, &parts, &hops))
        return NULL;
    core_model *m = core_as_model(model_of);
    if (!m || core_call_open(&call, 1, Py_None))
        return NULL;
    callable *c = calloc(1, sizeof *c);
    graphss_status st = GRAPHSS_ERR_NOMEM;
    if (c) {
        *c = (callable){function, graphss_model_classes(m->model), NULL};
        const graphss_predictor p = {.struct_size = sizeof p,
            .probabilities = ask_all,
            .some = parts ? ask_some : NULL,
            .release = free_callable,
            .user = c,
            .hops = hops > 0 ? (size_t)hops : 0};
        PyObject *old = m->keep;
        core_call_begin(&call, m, 1);
        st = graphss_model_set_predictor(call.ctx, m->model, &p);
        core_call_end(&call);
        if (st) {
            free(c);
        } else {
            m->keep = Py_NewRef(function);
            Py_XDECREF(old);
        }
    }
    return core_call_close(&call, st, Py_NewRef(Py_None));
}

/* from_answers([(graph, features, prob), ...], n_classes, split, model, options, seed,
 *              threads, progress) -> Model; the objects are kept with it */
static PyObject *from_answers(PyObject *self, PyObject *args)
{
    PyObject *list, *split_of, *dict, *progress, *result = NULL;
    Py_ssize_t k, threads;
    const char *name;
    unsigned long long seed;
    core_split split;
    core_call call;
    graphss_model *model = NULL;
    graphss_train_options opt;
    enum { MOST = 16 };
    graphss_answers known[MOST];
    core_buffer prob[MOST] = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "O!nOsOKnO", &PyTuple_Type, &list, &k, &split_of, &name, &dict,
            &seed, &threads, &progress))
        return NULL;
    const Py_ssize_t n = PyTuple_Size(list);
    if (n < 1 || n > MOST || k < 2)
        return PyErr_Format(PyExc_ValueError,
            "answers on %zd snapshots of %zd classes, want 1 "
            "to %d, and 2 or more",
            n, k, MOST);
    if (core_split_get(&split, split_of))
        return NULL;
    core_features *first = NULL;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *graph, *features, *array;
        graphss_observation seen;
        PyObject *one = core_tuple_at(list, i, "answers");
        if (!one || !PyArg_ParseTuple(one, "OOO", &graph, &features, &array) ||
            core_snapshot(&seen, graph, features) || !seen.graph ||
            core_buffer_get(&prob[i], array, "f4", 2, 0, "probabilities"))
            goto done;
        if (prob[i].rows != seen.graph->n_nodes || prob[i].cols != (size_t)k) {
            PyErr_Format(PyExc_ValueError,
                "snapshot %zd: %zu x %zu probabilities, want %zu "
                "nodes x %zd classes",
                i, prob[i].rows, prob[i].cols, seen.graph->n_nodes, k);
            goto done;
        }
        first = first ? first : (core_features *)features;
        known[i] = (graphss_answers){seen.graph, seen.features, prob[i].data};
    }
    if (core_call_open(&call, threads, progress))
        goto done;
    const core_graph *clean = (core_graph *)PyTuple_GetItem(PyTuple_GetItem(list, 0), 0);
    graphss_status st = train_options(&call, &opt, name, 0, first, dict);
    core_call_begin(&call, NULL, 0);
    if (!st)
        st = graphss_model_from_answers(call.ctx, &model, known, (size_t)n, (size_t)k,
            split.given ? &split.split : NULL, seed, &opt);
    if (!st)
        st = describe(&call, model, clean, first);
    core_call_end(&call);
    if (st)
        graphss_model_free(core_home(), model);
    else
        result = core_new_model(model, list);
    result = core_call_close(&call, st, result);
done:
    for (Py_ssize_t i = 0; i < n; i++)
        core_buffer_release(&prob[i]);
    core_split_release(&split);
    if (!result && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "answers: want (graph, features, probabilities)");
    return result;
}

PyMethodDef core_model_methods[] = {
    {"distrust", distrust, METH_VARARGS, NULL},
    {"train", train, METH_VARARGS, NULL},
    {"predict", predict, METH_VARARGS, NULL},
    {"save", save, METH_VARARGS, NULL},
    {"load", load, METH_VARARGS, NULL},
    {"info", info, METH_O, NULL},
    {"weights", weights, METH_O, NULL},
    {"from_tensors", from_tensors, METH_VARARGS, NULL},
    {"import_file", import_file, METH_VARARGS, NULL},
    {"export_file", export_file, METH_VARARGS, NULL},
    {"settle", settle, METH_VARARGS, NULL},
    {"from_predictor", from_predictor, METH_VARARGS, NULL},
    {"set_predictor", set_predictor, METH_VARARGS, NULL},
    {"from_answers", from_answers, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
