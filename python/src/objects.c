/* objects.c - handles of the library as Python objects, and arrays in and out. */
#include "core.h"
#include <string.h>

PyTypeObject *core_graph_type, *core_features_type, *core_model_type;
static PyTypeObject *array_type;
static graphss_ctx *home;

graphss_ctx *core_home(void)
{
    return home;
}

static void *allocate(PyTypeObject *type)
{
    return ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
}

static void let_go(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *no_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)type, (void)args, (void)kwargs;
    PyErr_SetString(PyExc_TypeError, "made by functions of the module only");
    return NULL;
}

/* ---- arrays out ---- */

typedef struct array {
    PyObject_HEAD /* */
        void *data;
    Py_ssize_t shape[2], strides[2];
    int dims;
    char format[2];
    Py_ssize_t item;
    PyObject *owner; /* NULL: data is its own */
} array;

static int array_get(PyObject *self, Py_buffer *view, int flags)
{
    array *a = (array *)self;
    if ((flags & PyBUF_WRITABLE) && a->owner) {
        PyErr_SetString(PyExc_BufferError, "the array is part of an object, and read only");
        view->obj = NULL;
        return -1;
    }
    view->obj = Py_NewRef(self);
    view->buf = a->data;
    view->itemsize = a->item;
    view->len = a->item * a->shape[0] * (a->dims == 2 ? a->shape[1] : 1);
    view->readonly = a->owner != NULL;
    view->format = a->format;
    view->ndim = a->dims;
    view->shape = a->shape;
    view->strides = a->strides;
    view->suboffsets = NULL;
    view->internal = NULL;
    return 0;
}

static void array_free(PyObject *self)
{
    array *a = (array *)self;
    if (!a->owner)
        graphss_release(home, a->data);
    Py_XDECREF(a->owner);
    let_go(self);
}

static PyType_Slot array_slots[] = {
    {Py_tp_new, no_new}, {Py_tp_dealloc, array_free}, {Py_bf_getbuffer, array_get}, {0, NULL}};
static PyType_Spec array_spec = {
    "graphss._core.Array", sizeof(array), 0, Py_TPFLAGS_DEFAULT, array_slots};

static Py_ssize_t size_of(char format)
{
    switch (format) {
    case 'i':
    case 'f':
        return 4;
    case 'q':
    case 'd':
        return 8;
    default:
        return 1;
    }
}

PyObject *core_array(
    void *data, Py_ssize_t rows, Py_ssize_t cols, const char *format, PyObject *owner)
{
    if (!data)
        return Py_NewRef(Py_None);
    array *a = allocate(array_type);
    if (!a) {
        if (!owner)
            graphss_release(home, data);
        return NULL;
    }
    a->data = data;
    a->dims = cols ? 2 : 1;
    a->format[0] = *format;
    a->item = size_of(*format);
    a->shape[0] = rows;
    a->shape[1] = cols ? cols : 1;
    a->strides[0] = a->item * (cols ? cols : 1);
    a->strides[1] = a->item;
    a->owner = Py_XNewRef(owner);
    return (PyObject *)a;
}

/* ---- graphs ---- */

static void graph_free(PyObject *self)
{
    core_graph *g = (core_graph *)self;
    graphss_graph_destroy(home, &g->graph);
    PyMem_Free(g->names.start);
    PyMem_Free(g->names.text);
    let_go(self);
}

static PyObject *graph_arrays(PyObject *self, PyObject *unused)
{
    core_graph *g = (core_graph *)self;
    const size_t n = g->graph.n_nodes;
    static int32_t none;
    (void)unused;
    PyObject *offset = core_array(g->graph.offset, (Py_ssize_t)n + 1, 0, "q", self);
    PyObject *target = core_array(g->graph.target ? g->graph.target : &none,
        (Py_ssize_t)g->graph.offset[n], 0, "i", self);
    PyObject *both = offset && target ? PyTuple_Pack(2, offset, target) : NULL;
    Py_XDECREF(offset);
    Py_XDECREF(target);
    return both;
}

/* Names of nodes, one for each: they tell nodes apart across snapshots. */
static PyObject *graph_set_names(PyObject *self, PyObject *list)
{
    core_graph *g = (core_graph *)self;
    const Py_ssize_t n = PySequence_Size(list);
    if (n < 0)
        return NULL;
    if ((size_t)n != g->graph.n_nodes)
        return PyErr_Format(PyExc_ValueError, "%zd names, want one for each of %zu nodes", n,
            g->graph.n_nodes);
    size_t room = 16 * (size_t)n + 16, used = 0;
    size_t *start = PyMem_Malloc(((size_t)n + 1) * sizeof *start);
    char *text = PyMem_Malloc(room);
    int bad = !start || !text;
    if (bad)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n && !bad; i++) {
        PyObject *item = PySequence_GetItem(list, i);
        Py_ssize_t length = 0;
        const char *name = item ? PyUnicode_AsUTF8AndSize(item, &length) : NULL;
        bad = !name;
        if (name && strlen(name) != (size_t)length) {
            PyErr_Format(PyExc_ValueError, "name %zd holds a null character", i);
            bad = 1;
        }
        if (!bad && used + (size_t)length + 1 > room) {
            room = 2 * (used + (size_t)length + 1);
            char *grown = PyMem_Realloc(text, room);
            bad = !grown;
            if (grown)
                text = grown;
            else
                PyErr_NoMemory();
        }
        if (!bad) {
            start[i] = used;
            memcpy(text + used, name, (size_t)length + 1);
            used += (size_t)length + 1;
        }
        Py_XDECREF(item);
    }
    if (bad) {
        PyMem_Free(start);
        PyMem_Free(text);
        return NULL;
    }
    start[n] = used;
    PyMem_Free(g->names.start);
    PyMem_Free(g->names.text);
    g->names = (graphss_names){(size_t)n, start, text};
    return Py_NewRef(Py_None);
}

static PyObject *graph_nodes(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(((core_graph *)self)->graph.n_nodes);
}

static PyObject *graph_edges(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(graphss_graph_edges(&((core_graph *)self)->graph));
}

static PyMethodDef graph_methods[] = {{"arrays", graph_arrays, METH_NOARGS, NULL},
    {"set_names", graph_set_names, METH_O, NULL}, {NULL, NULL, 0, NULL}};
static PyGetSetDef graph_get[] = {{"n_nodes", graph_nodes, NULL, NULL, NULL},
    {"n_edges", graph_edges, NULL, NULL, NULL}, {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot graph_slots[] = {{Py_tp_new, no_new}, {Py_tp_dealloc, graph_free},
    {Py_tp_methods, graph_methods}, {Py_tp_getset, graph_get}, {0, NULL}};
static PyType_Spec graph_spec = {
    "graphss._core.Graph", sizeof(core_graph), 0, Py_TPFLAGS_DEFAULT, graph_slots};

PyObject *core_new_graph(graphss_graph *graph)
{
    core_graph *g = allocate(core_graph_type);
    if (g)
        g->graph = *graph;
    else
        graphss_graph_destroy(home, graph);
    *graph = (graphss_graph){0};
    return (PyObject *)g;
}

/* ---- features ---- */

static void features_free(PyObject *self)
{
    graphss_features_destroy(home, &((core_features *)self)->features);
    let_go(self);
}

/* (offset, column, value), or (None, None, value [rows x cols]) of dense ones */
static PyObject *features_arrays(PyObject *self, PyObject *unused)
{
    const graphss_features *f = &((core_features *)self)->features;
    static int32_t no_column;
    static float no_value;
    (void)unused;
    const Py_ssize_t stored = (Py_ssize_t)graphss_features_stored(f);
    const int dense = graphss_features_dense(f);
    PyObject *offset =
        core_array(dense ? NULL : f->offset, (Py_ssize_t)f->n_rows + 1, 0, "q", self);
    PyObject *column = core_array(dense       ? NULL
                                  : f->column ? f->column
                                              : &no_column,
        stored, 0, "i", self);
    PyObject *value = core_array(f->value ? f->value : &no_value,
        dense ? (Py_ssize_t)f->n_rows : stored, dense ? (Py_ssize_t)f->n_cols : 0, "f", self);
    PyObject *all = offset && column && value ? PyTuple_Pack(3, offset, column, value) : NULL;
    Py_XDECREF(offset);
    Py_XDECREF(column);
    Py_XDECREF(value);
    return all;
}

static PyObject *features_shape(PyObject *self, void *unused)
{
    const graphss_features *f = &((core_features *)self)->features;
    (void)unused;
    return Py_BuildValue("nn", (Py_ssize_t)f->n_rows, (Py_ssize_t)f->n_cols);
}

static PyObject *features_kind(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(
        graphss_feature_kind_text(((core_features *)self)->features.kind));
}

static PyMethodDef features_methods[] = {
    {"arrays", features_arrays, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyGetSetDef features_get[] = {{"shape", features_shape, NULL, NULL, NULL},
    {"kind", features_kind, NULL, NULL, NULL}, {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot features_slots[] = {{Py_tp_new, no_new}, {Py_tp_dealloc, features_free},
    {Py_tp_methods, features_methods}, {Py_tp_getset, features_get}, {0, NULL}};
static PyType_Spec features_spec = {
    "graphss._core.Features", sizeof(core_features), 0, Py_TPFLAGS_DEFAULT, features_slots};

PyObject *core_new_features(graphss_features *features)
{
    core_features *f = allocate(core_features_type);
    if (f)
        f->features = *features;
    else
        graphss_features_destroy(home, features);
    *features = (graphss_features){0};
    return (PyObject *)f;
}

/* ---- models ---- */

static int model_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((core_model *)self)->keep);
    return 0;
}

static int model_clear(PyObject *self)
{
    Py_CLEAR(((core_model *)self)->keep);
    return 0;
}

static void model_free(PyObject *self)
{
    core_model *m = (core_model *)self;
    PyObject_GC_UnTrack(self);
    graphss_model_free(home, m->model);
    pthread_rwlock_destroy(&m->lock);
    Py_CLEAR(m->keep);
    let_go(self);
}

static PyType_Slot model_slots[] = {{Py_tp_new, no_new}, {Py_tp_dealloc, model_free},
    {Py_tp_traverse, model_traverse}, {Py_tp_clear, model_clear}, {0, NULL}};
static PyType_Spec model_spec = {"graphss._core.Model", sizeof(core_model), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, model_slots};

PyObject *core_new_model(graphss_model *model, PyObject *keep)
{
    core_model *m = allocate(core_model_type);
    if (!m) {
        graphss_model_free(home, model);
        return NULL;
    }
    m->model = model;
    pthread_rwlock_init(&m->lock, NULL);
    m->keep = Py_XNewRef(keep);
    return (PyObject *)m;
}

/* ---- arguments ---- */

static int is_kind(const Py_buffer *view, const char *kind)
{
    const char *format = view->format ? view->format : "B";
    if (*format == '<' || *format == '=' || *format == '@')
        format++;
    if (!*format || format[1] || view->itemsize != kind[1] - '0')
        return 0;
    switch (*kind) {
    case 'i':
        return strchr("ilq", *format) != NULL;
    case 'u':
        return strchr("B?b", *format) != NULL;
    default:
        return strchr("fd", *format) != NULL;
    }
}

int core_buffer_get(core_buffer *out, PyObject *object, const char *kind, int dims,
    int or_none, const char *what)
{
    static const char empty[64] = "";
    memset(out, 0, sizeof *out);
    out->data = empty;
    if (object == Py_None && or_none)
        return 0;
    if (PyObject_GetBuffer(object, &out->view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) {
        out->view.obj = NULL;
        return -1;
    }
    if (out->view.ndim != dims || !is_kind(&out->view, kind)) {
        PyErr_Format(PyExc_TypeError,
            "%s: an array of %d dimensions and format '%s', want %d and %s", what,
            out->view.ndim, out->view.format ? out->view.format : "B", dims, kind);
        core_buffer_release(out);
        return -1;
    }
    out->rows = (size_t)out->view.shape[0];
    out->cols = dims == 2 ? (size_t)out->view.shape[1] : 1;
    out->count = out->rows * out->cols;
    if (out->count)
        out->data = out->view.buf;
    return 0;
}

void core_buffer_release(core_buffer *buffer)
{
    if (buffer->view.obj)
        PyBuffer_Release(&buffer->view);
    buffer->view.obj = NULL;
}

PyObject *core_tuple_at(PyObject *sequence, Py_ssize_t i, const char *what)
{
    PyObject *item =
        PyList_Check(sequence) ? PyList_GetItem(sequence, i) : PyTuple_GetItem(sequence, i);
    if (item && PyTuple_Check(item))
        return item;
    if (item)
        PyErr_Format(PyExc_TypeError, "%s %zd: want a tuple", what, i);
    return NULL;
}

core_graph *core_as_graph(PyObject *object, const char *what)
{
    if (PyObject_TypeCheck(object, core_graph_type))
        return (core_graph *)object;
    PyErr_Format(PyExc_TypeError, "%s: want a graph of graphss._core", what);
    return NULL;
}

core_features *core_as_features(PyObject *object, const char *what)
{
    if (PyObject_TypeCheck(object, core_features_type))
        return (core_features *)object;
    PyErr_Format(PyExc_TypeError, "%s: want features of graphss._core", what);
    return NULL;
}

core_model *core_as_model(PyObject *object)
{
    if (PyObject_TypeCheck(object, core_model_type) && ((core_model *)object)->model)
        return (core_model *)object;
    PyErr_SetString(PyExc_TypeError, "want a model of graphss._core");
    return NULL;
}

int core_snapshot(graphss_observation *out, PyObject *graph, PyObject *features)
{
    *out = (graphss_observation){0};
    if (graph == Py_None && features == Py_None)
        return 0;
    core_graph *g = core_as_graph(graph, "graph");
    core_features *f = g ? core_as_features(features, "features") : NULL;
    if (!f)
        return -1;
    *out = (graphss_observation){&g->graph, &f->features, &g->names};
    return 0;
}

int core_split_get(core_split *out, PyObject *object)
{
    static const char *const names[] = {"train", "train labels", "val", "val labels", "test"};
    memset(out, 0, sizeof *out);
    if (object == Py_None)
        return 0;
    if (!PyTuple_Check(object) || PyTuple_Size(object) != 5) {
        PyErr_SetString(PyExc_TypeError, "split: want a tuple of five arrays");
        return -1;
    }
    for (int i = 0; i < 5; i++)
        if (core_buffer_get(&out->part[i], PyTuple_GetItem(object, i), "i4", 1, 0, names[i])) {
            core_split_release(out);
            return -1;
        }
    if (out->part[0].count != out->part[1].count || out->part[2].count != out->part[3].count) {
        PyErr_SetString(PyExc_ValueError, "split: want a label for each node");
        core_split_release(out);
        return -1;
    }
    int32_t *list[5];
    for (int i = 0; i < 5; i++)
        list[i] = (int32_t *)(uintptr_t)out->part[i].data; /* only read */
    out->split = (graphss_split){.n_train = out->part[0].count,
        .n_val = out->part[2].count,
        .n_test = out->part[4].count,
        .train = list[0],
        .train_label = list[1],
        .val = list[2],
        .val_label = list[3],
        .test = list[4]};
    out->given = 1;
    return 0;
}

void core_split_release(core_split *split)
{
    for (int i = 0; i < 5; i++)
        core_buffer_release(&split->part[i]);
}

int core_objects_init(PyObject *module)
{
    const struct {
        PyTypeObject **type;
        PyType_Spec *spec;
        const char *name;
    } made[] = {{&array_type, &array_spec, "Array"}, {&core_graph_type, &graph_spec, "Graph"},
        {&core_features_type, &features_spec, "Features"},
        {&core_model_type, &model_spec, "Model"}};
    if (!home) {
        home = graphss_ctx_new(
            &(graphss_ctx_options){.struct_size = sizeof(graphss_ctx_options), .threads = 1});
        if (!home) {
            PyErr_NoMemory();
            return -1;
        }
    }
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        if (!*made[i].type)
            *made[i].type = (PyTypeObject *)PyType_FromSpec(made[i].spec);
        if (!*made[i].type ||
            PyModule_AddObjectRef(module, made[i].name, (PyObject *)*made[i].type) < 0)
            return -1;
    }
    return 0;
}
