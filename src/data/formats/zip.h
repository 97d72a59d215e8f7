/* zip.h - zip files as numpy writes them: members stored or deflated, with the extensions for
 * large files (zip64). No encryption, no archives in several parts.
 *
 *     graphss_i_zip *zip = NULL;
 *     graphss_i_zip_open(ctx, &zip, path);
 *     for (size_t i = 0; i < zip->n_entries; i++) ... zip->entry[i].name ...
 *     graphss_i_zip_stream s = {0};
 *     graphss_i_zip_stream_open(&s, ctx, zip, &zip->entry[i]);
 *     graphss_i_zip_stream_read(&s, bytes, n, &got) ... until got is 0
 *     graphss_i_zip_stream_close(&s);
 *     graphss_i_zip_close(ctx, zip);
 *
 * Nothing in a file is trusted: the directory is read only within the file, and a member gives
 * no more bytes than its record says. */
#ifndef GRAPHSS_ZIP_H
#define GRAPHSS_ZIP_H

#include "base/base.h"
#include <zlib.h>

typedef struct graphss_i_zip_entry {
    const char *name;      /* of the archive, ended by NUL */
    uint64_t size, packed; /* bytes, and of them in the file */
    uint64_t offset;       /* of its local header */
    uint32_t crc;
    uint16_t method;
    bool encrypted;
} graphss_i_zip_entry;

typedef struct graphss_i_zip {
    int fd;
    uint64_t file_size;
    graphss_i_zip_entry *entry; /* [n_entries] in the order of the directory */
    size_t n_entries;
    char *names;
} graphss_i_zip;

/* NOT_FOUND, IO, NOMEM; DATA: no sound zip file, or more than most_entries members. The caller
 * closes it. */
graphss_status graphss_i_zip_open(
    graphss_ctx *ctx, graphss_i_zip **out, const char *path, size_t most_entries);
void graphss_i_zip_close(graphss_ctx *ctx, graphss_i_zip *zip);

/* Why a member cannot be read. */
typedef enum graphss_i_zip_fault {
    GRAPHSS_I_ZIP_OK,
    GRAPHSS_I_ZIP_NO_MEMORY,
    GRAPHSS_I_ZIP_BROKEN,   /* not where the directory says, or not deflated data */
    GRAPHSS_I_ZIP_CHECKSUM, /* its bytes are not those that were written */
    GRAPHSS_I_ZIP_METHOD,   /* encrypted, or packed in a way that is not read */
    GRAPHSS_I_ZIP_UNREADABLE
} graphss_i_zip_fault;
/* "broken data", for people. */
const char *graphss_i_zip_fault_text(graphss_i_zip_fault fault);

/* One member while it is read. {0} is closed. */
typedef struct graphss_i_zip_stream {
    graphss_ctx *ctx;
    const graphss_i_zip *zip;
    const graphss_i_zip_entry *entry;
    uint64_t at, left; /* packed bytes: position of the next in the file, how many are left */
    uint64_t given;    /* bytes handed out */
    uint32_t crc;      /* of these */
    bool ended;        /* the deflated data came to their end */
    z_stream z;
    unsigned char *buffer;
} graphss_i_zip_stream;

graphss_i_zip_fault graphss_i_zip_stream_open(graphss_i_zip_stream *s, graphss_ctx *ctx,
    const graphss_i_zip *zip, const graphss_i_zip_entry *entry);
/* At most n bytes; *got 0: the end, and the checksum is right. */
graphss_i_zip_fault graphss_i_zip_stream_read(
    graphss_i_zip_stream *s, void *bytes, size_t n, size_t *got);
void graphss_i_zip_stream_close(graphss_i_zip_stream *s);

/* ---- writing ---- */

/* {0} is empty. Members are deflated, and dated midnight, 1 January 1980, the first moment zip
 * knows: the same members give the same bytes. */
typedef struct graphss_i_zip_writer {
    graphss_i_output *out;
    uint64_t at;              /* bytes written */
    unsigned char *directory; /* [used of room] */
    size_t used, room;
    uint64_t n_entries;
} graphss_i_zip_writer;

/* A member made of two pieces, one after the other. IO, NOMEM. */
graphss_status graphss_i_zip_add(graphss_ctx *ctx, graphss_i_zip_writer *w, const char *name,
    const void *first, size_t n_first, const void *second, size_t n_second);
/* Writes the directory; releases what the writer holds in any case. */
graphss_status graphss_i_zip_finish(graphss_ctx *ctx, graphss_i_zip_writer *w);
void graphss_i_zip_abandon(graphss_ctx *ctx, graphss_i_zip_writer *w);

/* ---- the records of a zip file, for zip.c and zip_write.c ---- */

/* The signature of a record, and its length without names, extra fields and comments. */
#define ZIP_LOCAL 0x04034b50u
#define ZIP_RECORD 0x02014b50u /* of the central directory */
#define ZIP_END 0x06054b50u
#define ZIP_END64 0x06064b50u
#define ZIP_LOCATOR 0x07064b50u /* says where the former is */
enum {
    ZIP_LOCAL_SIZE = 30,
    ZIP_RECORD_SIZE = 46,
    ZIP_END_SIZE = 22,
    ZIP_END64_SIZE = 56,
    ZIP_LOCATOR_SIZE = 20,
    ZIP_EXTRA64 = 1, /* the extra field with 64-bit sizes */
    ZIP_STORED = 0,
    ZIP_DEFLATED = 8
};

/* zlib's memory, from the context that is its opaque pointer. */
void *graphss_i_zip_alloc(void *ctx, unsigned count, unsigned size);
void graphss_i_zip_release(void *ctx, void *block);

/* The bytes of a text file: plain, gzip, or from standard input. */

/* The whole file in one block with a NUL behind it, unpacked if it begins as a gzip file does;
 * path "-" is standard input. LIMIT: more than max bytes, packed or not. DATA: a gzip file
 * that is cut short or damaged. NOT_FOUND, IO, NOMEM. */
graphss_status graphss_i_packed_read(
    graphss_ctx *ctx, char **bytes, size_t *n, const char *path, uint64_t max);
/* The name of a path in messages: "standard input" for "-". */
const char *graphss_i_packed_name(const char *path);

#endif
