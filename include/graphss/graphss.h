/* graphss/graphss.h - the whole library: node classifiers on graphs that change, the
 * attacks they meet, and what to do about it. docs/tour.md is the place to start. */
#ifndef GRAPHSS_H
#define GRAPHSS_H

#include <graphss/alert.h>
#include <graphss/attack.h>
#include <graphss/benign.h>
#include <graphss/context.h>
#include <graphss/dataset.h>
#include <graphss/evaluate.h>
#include <graphss/fetch.h>
#include <graphss/flips.h>
#include <graphss/graph.h>
#include <graphss/model.h>
#include <graphss/options.h>
#include <graphss/plot.h>
#include <graphss/predictions.h>
#include <graphss/protocol.h>
#include <graphss/recover.h>
#include <graphss/report.h>
#include <graphss/reproduce.h>
#include <graphss/rng.h>
#include <graphss/selfsup.h>
#include <graphss/snapshot.h>
#include <graphss/split.h>
#include <graphss/status.h>
#include <graphss/synth.h>
#include <graphss/transition.h>

#endif
