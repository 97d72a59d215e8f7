/* event_source.h - the interface of a kind of source. A kind is a row in the table of
 * event_sources.c and a file with its functions. */
#ifndef GRAPHSS_EVENT_SOURCE_H
#define GRAPHSS_EVENT_SOURCE_H

#include "base/base.h"
#include <graphss/live.h>

/* A line that waits to be given. */
typedef struct graphss_i_source_line {
    char *text;
    size_t n;
    uint64_t offset; /* behind it */
    bool part;       /* the next line belongs to it: GRAPHSS_EVENT_PART */
} graphss_i_source_line;

typedef struct graphss_i_source_kind {
    const char *prefix; /* "" is tried last */
    const char *text;   /* for people */
    graphss_status (*open)(graphss_ctx *ctx, graphss_event_source *s, const char *rest,
        const graphss_dataset *data);
    bool waits;   /* the end is not the end */
    bool resumes; /* offsets are places in a file */
    /* NULL for bytes of a file: puts lines that came within `seconds`, perhaps none. */
    graphss_status (*more)(graphss_ctx *ctx, graphss_event_source *s, double seconds);
    graphss_status (*resume)(graphss_ctx *ctx, graphss_event_source *s, uint64_t offset);
    /* Moves past the events that the live graph has; NULL: resume is enough. */
    graphss_status (*follow)(
        graphss_ctx *ctx, graphss_event_source *s, const graphss_live *live);
    graphss_status (*stored)(graphss_ctx *ctx, graphss_event_source *s, uint64_t offset);
    void (*close)(graphss_ctx *ctx, graphss_event_source *s);
} graphss_i_source_kind;

struct graphss_event_source {
    const graphss_i_source_kind *kind;
    char *name;
    int fd; /* of bytes; -1: lines are in text or line, all of them */
    char *text;
    size_t n, room, at; /* bytes in text, its room, and where the next line begins */
    uint64_t offset;    /* of text[at] */
    bool over;          /* nothing more can be read */
    bool skipping;      /* a line too long: its rest is passed over */
    /* of kinds with more() */
    graphss_i_source_line *line; /* [n_lines], given up to `given` */
    size_t n_lines, lines_room, given;
    char *trouble; /* why nothing comes now; NULL: nothing is wrong */
    void *self;
};

/* A copy of a line waits to be given. */
graphss_status graphss_i_source_put(graphss_ctx *ctx, graphss_event_source *s,
    const char *text, size_t n, uint64_t offset, bool part);
/* Records why nothing comes (NULL: all is well again); the text is copied. */
graphss_status graphss_i_source_say(
    graphss_ctx *ctx, graphss_event_source *s, const char *trouble);

/* ---- the kinds with files of their own ---- */

graphss_status graphss_i_postgresql_open(
    graphss_ctx *ctx, graphss_event_source *s, const char *rest, const graphss_dataset *data);
graphss_status graphss_i_postgresql_more(
    graphss_ctx *ctx, graphss_event_source *s, double seconds);
graphss_status graphss_i_postgresql_resume(
    graphss_ctx *ctx, graphss_event_source *s, uint64_t offset);
graphss_status graphss_i_postgresql_stored(
    graphss_ctx *ctx, graphss_event_source *s, uint64_t offset);
void graphss_i_postgresql_close(graphss_ctx *ctx, graphss_event_source *s);

graphss_status graphss_i_kafka_open(
    graphss_ctx *ctx, graphss_event_source *s, const char *rest, const graphss_dataset *data);
graphss_status graphss_i_kafka_more(graphss_ctx *ctx, graphss_event_source *s, double seconds);
graphss_status graphss_i_kafka_follow(
    graphss_ctx *ctx, graphss_event_source *s, const graphss_live *live);
graphss_status graphss_i_kafka_stored(
    graphss_ctx *ctx, graphss_event_source *s, uint64_t offset);
void graphss_i_kafka_close(graphss_ctx *ctx, graphss_event_source *s);

#endif
