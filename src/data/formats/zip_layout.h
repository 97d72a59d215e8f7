/* zip_layout.h - the records of a zip file, for zip.c and zip_write.c. */
#ifndef GRAPHSS_ZIP_LAYOUT_H
#define GRAPHSS_ZIP_LAYOUT_H

/* What a record begins with, and its length without names, extra fields and comments. */
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

#endif
