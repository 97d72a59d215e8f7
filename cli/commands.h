/* commands.h - one line for each cmd_*.c. */
#ifndef GRAPHSS_COMMANDS_H
#define GRAPHSS_COMMANDS_H

#include "cli.h"

extern const cli_command cli_alert;
extern const cli_command cli_alerts;
extern const cli_command cli_apply_command;
extern const cli_command cli_attack;
extern const cli_command cli_audit;
extern const cli_command cli_convert;
extern const cli_command cli_demo;
extern const cli_command cli_evaluate;
extern const cli_command cli_events;
extern const cli_command cli_export;
extern const cli_command cli_fetch;
extern const cli_command cli_help_command;
extern const cli_command cli_import;
extern const cli_command cli_info;
extern const cli_command cli_plan;
extern const cli_command cli_predict;
extern const cli_command cli_recover;
extern const cli_command cli_report;
extern const cli_command cli_reproduce;
extern const cli_command cli_serve;
extern const cli_command cli_shard;
extern const cli_command cli_snapshots;
extern const cli_command cli_split;
extern const cli_command cli_train;
extern const cli_command cli_version;
extern const cli_command cli_extract;
extern const cli_command cli_watch;

#endif
