/* core.h - what the files of the extension share.
 *
 * The extension handles objects and arrays only; conversions, defaults and the whole interface
 * are Python (python/graphss). It keeps to the limited API of CPython 3.11, so that one build
 * serves that version and all later ones. */
#ifndef GRAPHSS_PYTHON_CORE_H
#define GRAPHSS_PYTHON_CORE_H

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <graphss/graphss.h>
#include <graphss_lab/baselines.h>
#include <pthread.h>

/* ---- objects (objects.c) ---- */

typedef struct core_graph {
    PyObject_HEAD /* */
        graphss_graph graph;
    graphss_names names; /* its arrays are PyMem's */
} core_graph;

typedef struct core_features {
    PyObject_HEAD /* */
        graphss_features features;
} core_features;

typedef struct core_model {
    PyObject_HEAD /* */
        graphss_model *model;
    PyObject *keep; /* objects that the model borrows or calls; or NULL */
    pthread_rwlock_t lock;
} core_model;

extern PyTypeObject *core_graph_type, *core_features_type, *core_model_type;

/* A context that is used to free things, and never to compute. */
graphss_ctx *core_home(void);

/* New objects; they own their arguments, even on errors. NULL: an exception is set. */
PyObject *core_new_graph(graphss_graph *graph);
PyObject *core_new_features(graphss_features *features);
PyObject *core_new_model(graphss_model *model, PyObject *keep);
/* An array that exports the buffer protocol. data is released by graphss_release, or, where
 * owner is not NULL, by that. format: as in struct. cols 0: one dimension. data NULL: None. */
PyObject *core_array(
    void *data, Py_ssize_t rows, Py_ssize_t cols, const char *format, PyObject *owner);
int core_objects_init(PyObject *module);

/* ---- arguments (objects.c) ---- */

/* Elements of an array that was given: contiguous, in C order. */
typedef struct core_buffer {
    Py_buffer view; /* view.obj NULL: nothing was given */
    const void *data;
    size_t count, rows, cols;
} core_buffer;

/* kind: "i4", "i8", "f4", "u1"; dims 1 or 2. None: an empty buffer where `or_none`. */
int core_buffer_get(core_buffer *out, PyObject *object, const char *kind, int dims,
    int or_none, const char *what);
void core_buffer_release(core_buffer *buffer);

/* Item i of a list or tuple, which must be a tuple itself; borrowed. */
PyObject *core_tuple_at(PyObject *sequence, Py_ssize_t i, const char *what);
core_graph *core_as_graph(PyObject *object, const char *what);
core_features *core_as_features(PyObject *object, const char *what);
core_model *core_as_model(PyObject *object);
/* None: NULL, without an exception. */
int core_snapshot(graphss_observation *out, PyObject *graph, PyObject *features);

/* A tuple (train, train_labels, val, val_labels, test) of int32 arrays, or None. */
typedef struct core_split {
    graphss_split split;
    core_buffer part[5];
    int given;
} core_split;
int core_split_get(core_split *out, PyObject *object);
void core_split_release(core_split *split);

/* ---- calls (call.c) ---- */

/* A context with the callbacks of one call. */
typedef struct core_call {
    graphss_ctx *ctx;
    PyObject *progress;             /* callable or None; borrowed */
    PyObject *warnings;             /* list of (level, text) */
    PyObject *type, *value, *trace; /* an exception of a callback */
    PyThreadState *state;
    core_model *locked;
    double last;
} core_call;

int core_call_open(core_call *call, Py_ssize_t threads, PyObject *progress);
/* Around the library: other threads of Python run meanwhile. Those that use the same model run
 * as well unless one of them changes it. model may be NULL. */
void core_call_begin(core_call *call, core_model *model, int changes);
void core_call_end(core_call *call);
/* Ends the call: returns result, or releases it if the status, a callback or a warning raised
 * an exception. Warnings are issued here. */
PyObject *core_call_close(core_call *call, graphss_status st, PyObject *result);
/* Keeps the exception that is set for the end of the call. */
void core_call_keep_exception(core_call *call);
int core_call_init(PyObject *module);

/* Sets fields by a dict of texts. On an error the status, its text in the context. */
graphss_status core_options_set(
    core_call *call, void *options, const graphss_option *table, PyObject *dict);

/* Functions of the module. */
extern PyMethodDef core_data_methods[], core_model_methods[], core_defence_methods[],
    core_live_methods[];
int core_live_init(PyObject *module);

#endif
