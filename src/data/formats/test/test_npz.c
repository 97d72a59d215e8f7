#include "data/formats/npz_private.h"
#include "testing.h"

static void write_bytes(const char *path, const unsigned char *bytes, size_t n);
static size_t read_bytes(const char *path, unsigned char *out, size_t size);

/* One member of a zip file, byte by byte. */
typedef struct raw_member {
    const char *name;
    const void *bytes;
    size_t n;
    bool encrypted;
} raw_member;

static void write_zip(const char *path, const raw_member *member, size_t n)
{
    static unsigned char bytes[1 << 20];
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_i_output out = {0};
    graphss_i_zip_writer zip = {.out = &out};
    assert_ok(ctx, graphss_i_output_open(ctx, &out, path));
    for (size_t i = 0; i < n; i++)
        assert_ok(ctx, graphss_i_zip_add(
                           ctx, &zip, member[i].name, member[i].bytes, member[i].n, NULL, 0));
    assert_ok(ctx, graphss_i_zip_finish(ctx, &zip));
    assert_ok(ctx, graphss_i_output_commit(ctx, &out));
    graphss_ctx_free(ctx);
    const size_t length = read_bytes(path, bytes, sizeof bytes);
    for (size_t i = 0, at = 0; i < n; i++, at++) { /* sets the flag of an encrypted member */
        while (memcmp(bytes + at, "PK\1\2", 4) != 0)
            at++;
        bytes[at + 8] |= member[i].encrypted;
    }
    write_bytes(path, bytes, length);
}

/* A .npy of version 1 with that header text and data. */
static size_t make_npy(unsigned char *out, const char *text, const void *data, size_t n)
{
    const size_t length = strlen(text);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (unsigned char)(length & 255);
    out[9] = (unsigned char)(length >> 8);
    memcpy(out + 10, text, length);
    if (n)
        memcpy(out + 10 + length, data, n);
    return 10 + length + n;
}

static size_t read_bytes(const char *path, unsigned char *out, size_t size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t n = fread(out, 1, size, file);
    assert_true(n < size);
    fclose(file);
    return n;
}

static void write_bytes(const char *path, const unsigned char *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

TEST(headers_of_numpy_are_understood)
{
    const struct {
        const char *text;
        char kind;
        size_t width, n_dims, rows, cols;
        bool fortran, big;
    } good[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 'f', 4, 1, 3, 1, 0, 0},
        {"{'descr': '>i8', 'fortran_order': True, 'shape': (3, 4), }  \n", 'i', 8, 2, 3, 4, 1,
            1},
        {"{\"shape\": (), \"fortran_order\": False, \"descr\": \"|b1\"}", 'b', 1, 0, 1, 1, 0,
            0},
        {"{'descr': '|S7', 'fortran_order': False, 'shape': (2708L,)}", 'S', 7, 1, 2708, 1, 0,
            0},
        {"{'descr': '>U5', 'fortran_order': False, 'shape': (0, 9), }", 'U', 20, 2, 0, 9, 0,
            1},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", 'O', 0, 1, 2, 1, 0, 0},
        {"{'descr': '<c16', 'fortran_order': False, 'shape': (2,), }", 'V', 0, 1, 2, 1, 0, 0},
        {"{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (2,), }", 'V', 0, 1, 2, 1, 0,
            0},
        {"{'descr': [('x', '<f4'), ('y', '<i4', (2,))], 'fortran_order': False, 'shape': "
         "(2,)}",
            'V', 0, 1, 2, 1, 0, 0},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        unsigned char bytes[256];
        graphss_i_npy npy;
        const size_t n = make_npy(bytes, good[i].text, NULL, 0);
        const char *fault = graphss_i_npy_parse(&npy, bytes, n);
        if (fault)
            fail_msg("%s: %s", good[i].text, fault);
        assert_int_equal(npy.info.kind, good[i].kind);
        assert_int_equal(npy.width, good[i].width);
        assert_int_equal(npy.info.n_dims, good[i].n_dims);
        assert_int_equal(npy.info.shape[0], good[i].rows);
        assert_int_equal(npy.info.shape[1], good[i].cols);
        assert_int_equal(npy.info.count, good[i].rows * good[i].cols);
        assert_int_equal(npy.info.fortran_order, good[i].fortran);
        assert_int_equal(npy.header, n);
        if (npy.width > 1)
            assert_int_equal(npy.big, good[i].big);
    }
}

TEST(headers_that_make_no_sense_are_refused)
{
    const struct {
        const char *text, *part;
    } bad[] = {
        {"", "not understood"},
        {"{'descr': '<f4', 'fortran_order': False}", "not understood"},
        {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (3,), }", "not understood"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), } x", "not understood"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'os': 1}", "not understood"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)", "not understood"},
        {"{'descr': '<f4, 'fortran_order': False, 'shape': (3,), }", "not understood"},
        {"{'descr': [('x', '<f4'), 'fortran_order': False, 'shape': (3,), }",
            "not understood"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-3,), }", "no sense"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3 4), }", "no sense"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
            "no sense"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
            "no sense"},
        {"{'descr': '<U9999999999999999999', 'fortran_order': False, 'shape': (1,), }",
            "too large"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        unsigned char bytes[256];
        graphss_i_npy npy;
        const size_t n = make_npy(bytes, bad[i].text, NULL, 0);
        const char *fault = graphss_i_npy_parse(&npy, bytes, n);
        if (!fault || !strstr(fault, bad[i].part))
            fail_msg("%s: %s, want %s", bad[i].text, fault ? fault : "fine", bad[i].part);
    }
    graphss_i_npy npy;
    unsigned char bytes[64] = "\x93NUMPY\x04\x00\x10\x00\x00\x00";
    assert_string_equal(graphss_i_npy_parse(&npy, bytes, 64), "is of an unknown npy version");
    bytes[6] = 2;
    bytes[10] = 1;
    assert_string_equal(
        graphss_i_npy_parse(&npy, bytes, 64), "has a header beyond 4096 bytes");
    bytes[0] = 'P';
    assert_string_equal(graphss_i_npy_parse(&npy, bytes, 64), "is not in npy format");
}

TEST(a_header_of_ours_is_read_back)
{
    const size_t shape[2] = {12345, 6};
    for (size_t n_dims = 0; n_dims <= 2; n_dims++) {
        unsigned char bytes[256];
        graphss_i_npy npy;
        const size_t n = graphss_i_npy_format(bytes, sizeof bytes, "<i8", n_dims, shape);
        assert_int_equal(n % 64, 0);
        assert_null(graphss_i_npy_parse(&npy, bytes, n));
        assert_int_equal(npy.info.n_dims, n_dims);
        assert_int_equal(npy.info.count, n_dims == 0 ? 1 : n_dims == 1 ? 12345 : 12345 * 6);
    }
    unsigned char tiny[32];
    assert_int_equal(graphss_i_npy_format(tiny, sizeof tiny, "<i8", 1, shape), 0);
}

/* Opens a file with one array x made of that header text and data. */
static graphss_i_npz *open_one(
    graphss_ctx *ctx, const char *path, const char *text, const void *data, size_t n)
{
    unsigned char bytes[1024];
    const raw_member member = {"x.npy", bytes, make_npy(bytes, text, data, n), false};
    graphss_i_npz *npz = NULL;
    write_zip(path, &member, 1);
    assert_ok(ctx, graphss_i_npz_open(ctx, &npz, path, 0));
    return npz;
}

TEST_CTX(numbers_keep_their_value_or_are_refused)
{
    char path[256];
    testing_temporary(path, sizeof path, "numbers.npz");
    const uint16_t halves[] = {0x3c00, 0xc000, 0x0001, 0x7bff}; /* 1, -2, 2^-24, 65504 */
    const double wants[] = {1, -2, 0x1p-24, 65504};
    double *value = NULL;
    float *single = NULL;
    int32_t *small = NULL;
    int64_t *large = NULL;
    size_t n = 0;
    graphss_i_npz *npz = open_one(ctx, path,
        "{'descr': '<f2', 'fortran_order': False, 'shape': (4,), }", halves, sizeof halves);
    assert_ok(ctx, graphss_i_npz_double(ctx, &value, &n, npz, "x", 4));
    assert_memory_equal(value, wants, sizeof wants);
    graphss_release(ctx, value);
    assert_fails(ctx, graphss_i_npz_int32(ctx, &small, &n, npz, "x", SIZE_MAX),
        GRAPHSS_ERR_DATA, "array 'x': entry 2 is 5.96046448e-08, want a 32-bit");
    assert_fails(ctx, graphss_i_npz_int32(ctx, &small, &n, npz, "x", 5), GRAPHSS_ERR_DATA,
        "array 'x': 4 elements, want 5");
    assert_fails(ctx, graphss_i_npz_int32(ctx, &small, &n, npz, "y", 5), GRAPHSS_ERR_DATA,
        "array 'y' is missing");
    graphss_i_npz_close(ctx, npz);

    const uint64_t unsigneds[] = {7, UINT64_C(1) << 40, UINT64_MAX};
    npz = open_one(ctx, path, "{'descr': '<u8', 'fortran_order': False, 'shape': (3,), }",
        unsigneds, sizeof unsigneds);
    assert_fails(ctx, graphss_i_npz_int32(ctx, &small, &n, npz, "x", 3), GRAPHSS_ERR_DATA,
        "entry 1 is 1099511627776, want a 32-bit integer");
    assert_fails(ctx, graphss_i_npz_int64(ctx, &large, &n, npz, "x", 3), GRAPHSS_ERR_DATA,
        "entry 2 is 18446744073709551615, want a 64-bit integer");
    graphss_i_npz_close(ctx, npz);

    const double reals[] = {1e300, 2};
    npz = open_one(ctx, path, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }",
        reals, sizeof reals);
    assert_fails(ctx, graphss_i_npz_float(ctx, &single, &n, npz, "x", 2), GRAPHSS_ERR_DATA,
        "entry 0 is 1e+300, want a number within float");
    assert_fails(ctx, graphss_i_npz_int64(ctx, &large, &n, npz, "x", 2), GRAPHSS_ERR_DATA,
        "entry 0 is 1e+300, want a 64-bit integer");
    graphss_i_npz_close(ctx, npz);

    const int16_t columns[] = {1, 2, 3, 4, 5, 6}; /* 2 x 3, column by column */
    const int32_t by_rows[] = {1, 3, 5, 2, 4, 6};
    npz = open_one(ctx, path, "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }",
        columns, sizeof columns);
    assert_ok(ctx, graphss_i_npz_int32(ctx, &small, &n, npz, "x", 6));
    assert_memory_equal(small, by_rows, sizeof by_rows);
    graphss_release(ctx, small);
    graphss_i_npz_close(ctx, npz);
    assert_null(single);
    assert_null(large);
    unlink(path);
}

TEST_CTX(more_numbers_than_a_chunk_come_whole)
{
    enum { N = 5000 };
    char path[256];
    static int64_t numbers[N];
    for (int64_t i = 0; i < N; i++)
        numbers[i] = i * i * i - 12345;
    const graphss_i_array_out out[] = {
        {.name = "x", .dtype = "<i8", .n_dims = 2, .shape = {N / 2, 2}, .data = numbers}};
    testing_temporary(path, sizeof path, "chunks.npz");
    assert_ok(ctx, graphss_i_npz_write(ctx, path, out, 1));
    graphss_i_npz *npz = NULL;
    int64_t *back = NULL;
    size_t n = 0;
    assert_ok(ctx, graphss_i_npz_open(ctx, &npz, path, 0));
    assert_ok(ctx, graphss_i_npz_int64(ctx, &back, &n, npz, "x", N));
    assert_memory_equal(back, numbers, sizeof numbers);
    graphss_release(ctx, back);
    graphss_i_npz_close(ctx, npz);
    unlink(path);
}

TEST_CTX(strings_that_are_no_text_are_refused)
{
    char path[256];
    testing_temporary(path, sizeof path, "strings.npz");
    graphss_names names = {0};
    const uint32_t surrogate[] = {'a', 0xd800}, beyond[] = {0x110000, 'b'};
    const char *text = "{'descr': '<U1', 'fortran_order': False, 'shape': (2,), }";
    graphss_i_npz *npz = open_one(ctx, path, text, surrogate, sizeof surrogate);
    assert_fails(ctx, graphss_i_npz_names(ctx, &names, npz, "x", 2), GRAPHSS_ERR_DATA,
        "array 'x': entry 1 holds");
    graphss_i_npz_close(ctx, npz);
    npz = open_one(ctx, path, text, beyond, sizeof beyond);
    assert_fails(ctx, graphss_i_npz_names(ctx, &names, npz, "x", 2), GRAPHSS_ERR_DATA,
        "array 'x': entry 0 holds");
    assert_fails(ctx, graphss_i_npz_names(ctx, &names, npz, "x", 3), GRAPHSS_ERR_DATA,
        "2 elements, want 3");
    graphss_i_npz_close(ctx, npz);
    npz = open_one(
        ctx, path, "{'descr': '|S3', 'fortran_order': False, 'shape': (1,), }", "a\0b", 3);
    assert_fails(
        ctx, graphss_i_npz_names(ctx, &names, npz, "x", 1), GRAPHSS_ERR_DATA, "entry 0 holds");
    int32_t *numbers = NULL;
    size_t n;
    assert_fails(ctx, graphss_i_npz_int32(ctx, &numbers, &n, npz, "x", 1), GRAPHSS_ERR_DATA,
        "strings, want numbers");
    graphss_i_npz_close(ctx, npz);
    assert_int_equal(names.count, 0);
    unlink(path);
}

TEST_CTX(members_that_cannot_be_read_are_refused_only_when_asked_for)
{
    char path[256];
    testing_temporary(path, sizeof path, "members.npz");
    unsigned char good[128], object[128], shorter[128], longer[128], cube[128];
    const raw_member member[] = {
        {"good.npy", good,
            make_npy(
                good, "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }", "ab", 2),
            false},
        {"object.npy", object,
            make_npy(
                object, "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", "ab", 2),
            false},
        {"shorter.npy", shorter,
            make_npy(
                shorter, "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", "ab", 2),
            false},
        {"longer.npy", longer,
            make_npy(
                longer, "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }", "ab", 2),
            false},
        {"cube.npy", cube,
            make_npy(cube, "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2, 1), }",
                "ab", 2),
            false},
        {"text.npy", "hello", 5, false},
        {"empty.npy", "", 0, false},
        {"README.txt", "hello", 5, false},
        {"secret.npy", good, 12, true},
    };
    write_zip(path, member, sizeof member / sizeof *member);
    graphss_i_npz *npz = NULL;
    int32_t *value = NULL;
    size_t n = 0;
    assert_ok(ctx, graphss_i_npz_open(ctx, &npz, path, 0));
    assert_true(graphss_i_npz_has(npz, "good"));
    assert_false(graphss_i_npz_has(npz, "object"));
    assert_false(graphss_i_npz_has(npz, "README"));
    assert_ok(ctx, graphss_i_npz_int32(ctx, &value, &n, npz, "good", 2));
    assert_int_equal(value[1], 'b');
    graphss_release(ctx, value);
    value = NULL;
    const char *const refused[][2] = {{"object", "Python objects"},
        {"shorter", "disagrees with its header"}, {"longer", "disagrees with its header"},
        {"cube", "more than two dimensions"}, {"text", "is not in npy format"},
        {"empty", "is not in npy format"}, {"secret", "is encrypted"}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_fails(ctx, graphss_i_npz_int32(ctx, &value, &n, npz, refused[i][0], SIZE_MAX),
            GRAPHSS_ERR_DATA, refused[i][1]);
    assert_null(value);
    graphss_i_npz_close(ctx, npz);
    unlink(path);
}

/* Offset of the central directory record of a member. */
static size_t find_record(const unsigned char *bytes, size_t n, const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i + 46 + length <= n; i++)
        if (memcmp(bytes + i, "PK\1\2", 4) == 0 && memcmp(bytes + i + 46, name, length) == 0)
            return i;
    fail_msg("no record of %s", name);
    return 0;
}

TEST(a_member_that_claims_too_much_costs_nothing)
{
    testing_memory memory = {0};
    graphss_ctx *ctx = testing_ctx(&memory, 1);
    char path[256];
    unsigned char bytes[2048], claim[128];
    testing_temporary(path, sizeof path, "bomb.npz");
    /* 320 MB of integers, says the header, and the directory of the zip agrees. */
    const raw_member member = {"x.npy", claim,
        make_npy(claim, "{'descr': '<i8', 'fortran_order': False, 'shape': (40000000,), }",
            "12345678", 8),
        false};
    write_zip(path, &member, 1);
    const size_t n = read_bytes(path, bytes, sizeof bytes);
    const size_t record = find_record(bytes, n, "x.npy");
    const uint32_t size = (uint32_t)(member.n - 8 + 8 * 40000000u);
    for (size_t b = 0; b < 4; b++)
        bytes[record + 24 + b] = (unsigned char)(size >> 8 * b);
    write_bytes(path, bytes, n);
    graphss_i_npz *npz = NULL;
    int64_t *value = NULL;
    size_t count = 0;
    assert_ok(ctx, graphss_i_npz_open(ctx, &npz, path, 0));
    memory.left = 0; /* not one allocation more */
    assert_fails(ctx, graphss_i_npz_int64(ctx, &value, &count, npz, "x", SIZE_MAX),
        GRAPHSS_ERR_DATA, "40000000 elements are implausible");
    memory.left = -1;
    graphss_i_npz_close(ctx, npz);

    npz = open_one(
        ctx, path, "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }", "12345678", 8);
    graphss_i_npz_close(ctx, npz);
    assert_ok(ctx, graphss_i_npz_open(ctx, &npz, path, 10));
    assert_fails(ctx, graphss_i_npz_int64(ctx, &value, &count, npz, "x", SIZE_MAX),
        GRAPHSS_ERR_LIMIT, "beyond the limit of 10 bytes");
    graphss_i_npz_close(ctx, npz);
    assert_null(value);
    unlink(path);
    graphss_ctx_free(ctx);
}

TEST_CTX(a_wrong_checksum_and_twins_are_noticed)
{
    char path[256];
    unsigned char bytes[2048], a[128], b[128];
    testing_temporary(path, sizeof path, "crc.npz");
    const char *text = "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }";
    const raw_member member[] = {{"twina.npy", a, make_npy(a, text, "ab", 2), false},
        {"twinb.npy", b, make_npy(b, text, "cd", 2), false}};
    write_zip(path, member, 2);
    const size_t n = read_bytes(path, bytes, sizeof bytes);
    bytes[find_record(bytes, n, "twina.npy") + 16] ^= 1; /* its CRC-32 */
    write_bytes(path, bytes, n);
    graphss_i_npz *npz = NULL;
    int32_t *value = NULL;
    size_t count = 0;
    assert_ok(ctx, graphss_i_npz_open(ctx, &npz, path, 0));
    assert_fails(ctx, graphss_i_npz_int32(ctx, &value, &count, npz, "twina", 2),
        GRAPHSS_ERR_DATA, "corrupt");
    assert_null(value);
    graphss_i_npz_close(ctx, npz);

    npz = NULL;
    for (size_t i = 0; i + 5 <= n; i++)
        if (memcmp(bytes + i, "twinb", 5) == 0)
            bytes[i + 4] = 'a';
    write_bytes(path, bytes, n);
    assert_fails(ctx, graphss_i_npz_open(ctx, &npz, path, 0), GRAPHSS_ERR_DATA,
        "members 0 and 1 have the same name");
    assert_null(npz);
    unlink(path);
    assert_fails(ctx, graphss_i_npz_open(ctx, &npz, path, 0), GRAPHSS_ERR_NOT_FOUND, path);
    write_bytes(path, (const unsigned char *)"not a zip", 9);
    assert_fails(ctx, graphss_i_npz_open(ctx, &npz, path, 0), GRAPHSS_ERR_DATA, "zip");
    unlink(path);
    assert_fails(ctx, graphss_i_npz_open(ctx, &npz, "/", 0), GRAPHSS_ERR_DATA, "not a file");
}

TEST_CTX(writing_to_where_one_cannot_is_an_io_error)
{
    const int32_t one = 1;
    const graphss_i_array_out out[] = {
        {.name = "x", .dtype = "<i4", .n_dims = 0, .data = &one}};
    assert_fails(ctx, graphss_i_npz_write(ctx, "/nowhere/at/all.npz", out, 1), GRAPHSS_ERR_IO,
        "/nowhere/at/all.npz");
}

TEST_CTX(names_too_wide_for_memory_are_not_written)
{
    enum { COUNT = 2000000, LONGEST = 1 << 20 };
    size_t *start =
        calloc(COUNT + 1, sizeof *start); /* the long name first, then empty ones */
    char *text = malloc(LONGEST + 1);
    assert_non_null(start);
    assert_non_null(text);
    memset(text, 'x', LONGEST);
    text[LONGEST] = 0;
    for (size_t i = 1; i <= COUNT; i++)
        start[i] = LONGEST;
    const graphss_names names = {COUNT, start, text};
    const graphss_i_array_out out[] = {{.name = "x", .dtype = "<U", .names = &names}};
    assert_fails(ctx, graphss_i_npz_write(ctx, "never.npz", out, 1), GRAPHSS_ERR_LIMIT,
        "the longest of 1048576 characters");
    free(text);
    free(start);
}

int main(void)
{
    return testing_run();
}
