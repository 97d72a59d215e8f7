/* graphss/status.h - the status that calls return.
 *
 *     const graphss_status st = graphss_dataset_read(ctx, &data, "cora.npz", NULL);
 *     if (st)
 *         fprintf(stderr, "%s: %s\n", graphss_status_text(st), graphss_ctx_error(ctx));
 *
 * Every fallible call returns a graphss_status; 0 is fine. The context has a sentence with
 * what was found, what was wanted and where: graphss_ctx_error(ctx). */
#ifndef GRAPHSS_STATUS_H
#define GRAPHSS_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GRAPHSS_API __attribute__((visibility("default")))
#define GRAPHSS_MUST_CHECK GRAPHSS_API __attribute__((warn_unused_result))
#define GRAPHSS_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#else
#define GRAPHSS_API
#define GRAPHSS_MUST_CHECK
#define GRAPHSS_PRINTF(fmt, first)
#endif

typedef enum graphss_status {
    GRAPHSS_OK = 0,
    GRAPHSS_ERR_INVALID,   /* an argument or option out of its range */
    GRAPHSS_ERR_DATA,      /* a file that is malformed */
    GRAPHSS_ERR_SHAPE,     /* two sound things that do not fit together */
    GRAPHSS_ERR_NOT_FOUND, /* no such file, dataset, node or class */
    GRAPHSS_ERR_NOMEM,     /* out of memory */
    GRAPHSS_ERR_IO,        /* reading or writing failed: disk full, no permission */
    GRAPHSS_ERR_LIMIT,     /* more memory or time than the caller allowed */
    GRAPHSS_ERR_NETWORK,   /* a download failed */
    GRAPHSS_ERR_CHECKSUM,  /* a download differs from the file that was asked for */
    GRAPHSS_ERR_CANCELLED, /* the progress callback asked to stop */
    GRAPHSS_ERR_INTERNAL   /* a mistake of ours */
} graphss_status;

/* A short constant name, such as "out of memory". */
GRAPHSS_API const char *graphss_status_text(graphss_status status);
/* Exit code of the program: 0, 2 usage, 3 data, 4 memory, disk or limit, 5 network, 130
 * cancelled, 70 a bug of ours. */
GRAPHSS_API int graphss_status_exit_code(graphss_status status);

#ifdef __cplusplus
}
#endif
#endif
