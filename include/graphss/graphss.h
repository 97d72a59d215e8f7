/* graphss/graphss.h - the whole library: node classifiers on graphs that change, the attacks
 * they meet, and what to do about it. docs/tour.md is the place to start.
 *
 *     graphss_ctx *ctx = graphss_ctx_new(NULL);
 *     graphss_dataset data = {0};
 *     if (graphss_dataset_read(ctx, &data, "cora.npz", NULL) != GRAPHSS_OK)
 *         fprintf(stderr, "%s\n", graphss_ctx_error(ctx));
 *     graphss_dataset_destroy(ctx, &data);
 *     graphss_ctx_free(ctx);
 *
 * Conventions of every call, unless its header says otherwise:
 *
 * Names and order. graphss_noun_verb(context, outputs, object, inputs, seed, options). A
 * result is written on GRAPHSS_OK only.
 *
 * Errors. A call that can fail returns a graphss_status. NOMEM may come from any of them, IO
 * from any that writes a file.
 *
 * Ownership. Arguments are borrowed for the call. What a call fills in is the caller's:
 * _destroy for a plain value, which accepts {0} and leaves {0}; _free for a hidden type;
 * graphss_release for a single block; all accept NULL. A const pointer that is returned is
 * borrowed: constant text, or a part of the object asked, valid until that is freed. An output
 * is {0} or destroyed before the call: what it held is not released. What a call allocated is
 * released with a context of the same allocator; with the standard one, any.
 *
 * NULL. If a fallible call gets NULL for a required argument it returns INVALID, and the text
 * names the argument. Headers say what may be NULL; empty arrays may be. The context must not
 * be NULL (context.h), nor the object of a call that cannot fail.
 *
 * Structs. Options and inputs, which a program fills, begin with struct_size. Their _init sets
 * it, and so does {.struct_size = sizeof in, ...}. Fields are only ever added at the end, so
 * the size tells which of them the program was compiled with; INVALID where it is 0 or
 * unknown. Results and data, which a call fills, are plain values with a frozen layout: fields
 * to come take their reserved words, which are 0 until then, and nothing else of them changes.
 * Hidden types (graphss_ctx, graphss_model ...) are only seen through calls. Enums grow at the
 * end. `make check` compares all of this with a baseline (tools/abi).
 *
 * Options. opt NULL means what _options_init() gives. _options_table() is constant.
 *
 * Units. Times are in seconds, sizes in bytes, accuracies and other fractions in [0, 1]; nodes
 * and classes count from 0.
 *
 * Threads. One context a thread. What is const in a call may be shared: several threads, each
 * with a context of its own, may use one model, graph or dataset at once as long as none
 * changes it. No result depends on the number of threads. */
#ifndef GRAPHSS_H
#define GRAPHSS_H

#include <graphss/alert.h>
#include <graphss/attack.h>
#include <graphss/benign.h>
#include <graphss/context.h>
#include <graphss/dataset.h>
#include <graphss/engine.h>
#include <graphss/events.h>
#include <graphss/flips.h>
#include <graphss/graph.h>
#include <graphss/labels.h>
#include <graphss/live.h>
#include <graphss/model.h>
#include <graphss/observation.h>
#include <graphss/options.h>
#include <graphss/predictions.h>
#include <graphss/predictor.h>
#include <graphss/recover.h>
#include <graphss/rng.h>
#include <graphss/selfsup.h>
#include <graphss/shards.h>
#include <graphss/split.h>
#include <graphss/status.h>
#include <graphss/synth.h>
#include <graphss/transition.h>
#include <graphss/weights.h>

#endif
