/* graphss_lab/graphss_lab.h - the laboratory on top of the library: published defences to
 * compare with, experiments, reports, plots, downloads.
 *
 *     for (size_t i = 0; graphss_lab_method_at(i); i++)
 *         puts(graphss_recover_method_summary(graphss_lab_method_at(i)));
 *
 * It is a library of its own,
 * graphss_lab, so that programs which embed graphss alone need neither libcurl nor ARPACK.
 * What graphss/graphss.h says of every call holds here, too. */
#ifndef GRAPHSS_LAB_H
#define GRAPHSS_LAB_H

#include <graphss/graphss.h>
#include <graphss_lab/baselines.h>
#include <graphss_lab/fetch.h>
#include <graphss_lab/plot.h>
#include <graphss_lab/protocol.h>
#include <graphss_lab/report.h>
#include <graphss_lab/reproduce.h>
#include <graphss_lab/snapshot.h>
#include <graphss_lab/target.h>

#endif
