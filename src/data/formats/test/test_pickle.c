/* test_pickle.c */
#include "data/formats/pickle.h"
#include "testing.h"

enum { PLENTY = 1 << 20 };

/* A pickle written as a string literal; its bytes are copied, the machine changes them. */
typedef struct sample {
    const char *bytes;
    size_t n;
} sample;
#define SAMPLE(text) ((sample){(text), sizeof(text) - 1})

static graphss_status read_sample(
    graphss_ctx *ctx, graphss_i_pickle **out, char *copy, sample s)
{
    memcpy(copy, s.bytes, s.n);
    return graphss_i_pickle_read(ctx, out, copy, s.n, "f.pkl", PLENTY);
}

static void refused(sample s, const char *part)
{
    char copy[4096];
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_i_pickle *p = NULL;
    assert_fails(ctx, read_sample(ctx, &p, copy, s), GRAPHSS_ERR_DATA, part);
    assert_null(p);
    graphss_ctx_free(ctx);
}

#define DTYPE "cnumpy\ndtype\n(S'i4'\nI0\nI1\ntR(I3\nS'<'\nNNNI-1\nI-1\nI0\ntb"
#define ARRAY0 \
    "cnumpy.core.multiarray\n_reconstruct\np0\n(cnumpy\nndarray\np1\n(I0\ntS'b'\ntRp2\n"
/* np.array([[1, 2], [-3, 4]], dtype='i4') in protocol 0, as Python 2 wrote it */
#define ARRAY \
    ARRAY0 \
    "(I1\n(I2\nI2\nt" DTYPE "I00\n" \
    "S'\\x01\\x00\\x00\\x00\\x02\\x00\\x00\\x00\\xfd\\xff\\xff\\xff\\x04\\x00\\x00\\x00'" \
    "\ntb"

TEST_CTX(every_kind_of_number_is_read)
{
    const struct {
        sample s;
        int64_t want;
    } cases[] = {
        {SAMPLE("I-7\n."), -7},
        {SAMPLE("I01\n."), 1},
        {SAMPLE("L123456789012L\n."), 123456789012},
        {SAMPLE("K\xff."), 255},
        {SAMPLE("M\xff\xff."), 65535},
        {SAMPLE("J\xfe\xff\xff\xff."), -2},
        {SAMPLE("\x8a\x02\x00\x80."), -32768},
        {SAMPLE("\x8a\x00."), 0},
        {SAMPLE("\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80."), INT64_MIN},
        {SAMPLE("\x8b\x01\x00\x00\x00\x7f."), 127},
        {SAMPLE("\x88."), 1},
        {SAMPLE("\x80\x02K\x05q\x01"
                "0h\x01."),
            5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char copy[64];
        graphss_i_pickle *p = NULL;
        int64_t found = 99;
        assert_ok(ctx, read_sample(ctx, &p, copy, cases[i].s));
        assert_true(graphss_i_pickle_int(&found, p, graphss_i_pickle_root(p)));
        assert_int_equal(found, cases[i].want);
        graphss_i_pickle_free(ctx, p);
    }
}

TEST_CTX(an_array_of_protocol_0_is_read)
{
    char copy[512];
    graphss_i_pickle *p = NULL;
    assert_ok(ctx, read_sample(ctx, &p, copy, SAMPLE(ARRAY ".")));
    const graphss_i_pickle_array *a = graphss_i_pickle_array_of(p, graphss_i_pickle_root(p));
    assert_non_null(a);
    assert_int_equal(a->n_dims, 2);
    assert_int_equal(a->count, 4);
    static const int64_t want[] = {1, 2, -3, 4};
    for (size_t i = 0; i < 4; i++) {
        int64_t found = 0;
        assert_true(graphss_i_pickle_int_at(&found, a, i));
        assert_int_equal(found, want[i]);
        assert_true(graphss_i_pickle_real_at(a, i) == (double)want[i]);
    }
    graphss_i_pickle_free(ctx, p);
}

TEST(array_items_of_every_type_are_read)
{
    static const unsigned char bytes[] = {
        0xff, 0xfe, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f};
    const struct {
        char type;
        size_t size, at;
        bool big, whole;
        double want;
    } cases[] = {
        {'u', 1, 0, false, true, 255},
        {'i', 1, 0, false, true, -1},
        {'u', 2, 0, false, true, 0xfeff},
        {'u', 2, 0, true, true, 0xfffe},
        {'i', 2, 0, true, true, -2},
        {'f', 8, 8, false, true, 1},
        {'u', 8, 0, true, false, 0xfffe00000000f03fp0},
        {'b', 1, 2, false, true, 0},
        {'f', 4, 12, false, false, 1.875},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const graphss_i_pickle_array a = {.type = cases[i].type,
            .size = cases[i].size,
            .big_endian = cases[i].big,
            .n_dims = 1,
            .shape = {1, 1},
            .count = 1,
            .data = bytes + cases[i].at};
        int64_t whole = 0;
        assert_true(graphss_i_pickle_real_at(&a, 0) == cases[i].want);
        assert_int_equal(graphss_i_pickle_int_at(&whole, &a, 0), cases[i].whole);
        if (cases[i].whole)
            assert_true((double)whole == cases[i].want);
    }
    const graphss_i_pickle_array fortran = {.type = 'u',
        .size = 1,
        .fortran_order = true,
        .n_dims = 2,
        .shape = {2, 3},
        .count = 6,
        .data = (const unsigned char *)"\0\3\1\4\2\5"};
    for (size_t i = 0; i < 6; i++)
        assert_true(graphss_i_pickle_real_at(&fortran, i) == (double)i);
}

TEST_CTX(containers_keep_their_items)
{
    char copy[128];
    graphss_i_pickle *p = NULL;
    /* defaultdict(list, {7: [1, 2], 'k': (3,), 'k': [4]}) */
    assert_ok(ctx, read_sample(ctx, &p, copy,
                       SAMPLE("\x80\x02"
                              "ccollections\ndefaultdict\nc__builtin__\nlist\n"
                              "\x85R(K\x07](K\x01K\x02"
                              "eU\x01kK\x03\x85U\x01k]K\x04"
                              "au.")));
    const graphss_i_pickle_ref root = graphss_i_pickle_root(p);
    assert_int_equal(graphss_i_pickle_type_of(p, root), GRAPHSS_I_PICKLE_DICT);
    graphss_i_pickle_walk walk = graphss_i_pickle_walk_start(p, root);
    int64_t found = 0;
    assert_true(graphss_i_pickle_int(&found, p, graphss_i_pickle_next(&walk)));
    assert_int_equal(found, 7);
    graphss_i_pickle_walk items = graphss_i_pickle_walk_start(p, graphss_i_pickle_next(&walk));
    for (int64_t want = 1; want <= 2; want++) {
        assert_true(graphss_i_pickle_int(&found, p, graphss_i_pickle_next(&items)));
        assert_int_equal(found, want);
    }
    assert_int_equal(graphss_i_pickle_next(&items), 0);
    const graphss_i_pickle_ref last = graphss_i_pickle_get(p, root, "k");
    assert_int_equal(graphss_i_pickle_type_of(p, last), GRAPHSS_I_PICKLE_LIST);
    assert_int_equal(graphss_i_pickle_get(p, root, "absent"), 0);
    graphss_i_pickle_free(ctx, p);
}

TEST_CTX(a_list_inside_itself_does_no_harm)
{
    char copy[64];
    graphss_i_pickle *p = NULL;
    assert_ok(ctx, read_sample(ctx, &p, copy,
                       SAMPLE("]q\x00h\x00"
                              "a.")));
    graphss_i_pickle_walk walk = graphss_i_pickle_walk_start(p, graphss_i_pickle_root(p));
    assert_int_equal(graphss_i_pickle_next(&walk), graphss_i_pickle_root(p));
    assert_int_equal(graphss_i_pickle_next(&walk), 0);
    graphss_i_pickle_free(ctx, p);
}

TEST(calls_of_anything_else_are_refused)
{
    refused(SAMPLE("cos\nsystem\n(S'touch x'\ntR."), "byte 0: global 'os.system' is refused");
    refused(SAMPLE("cposix\nsystem\n(S'touch x'\ntR."), "posix.system");
    refused(SAMPLE("\x80\x04\x8c\x02os\x8c\x06system\x93."), "byte 14: global 'os.system'");
    refused(SAMPLE("(S'touch x'\nios\nsystem\n."), "os.system");
    refused(SAMPLE("c__builtin__\neval\n(S'1'\ntR."), "__builtin__.eval");
    refused(SAMPLE("ccopy_reg\n_reconstructor\n."), "copy_reg._reconstructor");
    refused(SAMPLE("c_codecs\nencode\n."), "_codecs.encode");
    refused(SAMPLE("cnumpy\nload\n."), "numpy.load");
    refused(SAMPLE("c\x1b[2J\nevil\n."), "?[2J.evil");
    refused(SAMPLE("c__builtin__\nlist\n(S'1'\ntR."), "a call that is refused");
    refused(SAMPLE("cnumpy\nndarray\n)R."), "a call that is refused");
    refused(SAMPLE("cnumpy\nndarray\n)\x81."), "only csr_matrix is made");
    refused(SAMPLE("S'x'\n)R."), "a call that is refused");
    refused(SAMPLE("]}b."), "state for something");
    refused(SAMPLE("(c__builtin__\nlist\no."), "opcode 0x6f is refused");
    refused(SAMPLE("Ppersistent\n."), "opcode 0x50 is refused");
    refused(SAMPLE("\x82\x01."), "opcode 0x82 is refused");
    refused(SAMPLE("(i__builtin__\nlist\n."), "INST");
    refused(SAMPLE("\x80\x05N."), "protocol 5");
}

TEST(broken_pickles_are_refused_with_their_place)
{
    refused(SAMPLE(""), "byte 0: the pickle ends before its STOP");
    refused(SAMPLE("."), "wants 1 values on the stack, found 0");
    refused(SAMPLE("T\xff\xff\xff\xff"
                   "abc."),
        "4294967295 bytes announced");
    refused(SAMPLE("\x8e\xff\xff\xff\xff\xff\xff\xff\xff"
                   "a."),
        "bytes announced");
    refused(SAMPLE("\x8a\x09"
                   "123456789."),
        "an integer of 9 bytes");
    refused(SAMPLE("L99999999999999999999L\n."), "not an integer of 64 bits");
    refused(SAMPLE("Fabc\n."), "not a number");
    refused(SAMPLE("S'abc\n."), "without its quotes");
    refused(SAMPLE("S'a\\q'\n."), "escape");
    refused(SAMPLE("S'a\\x1'\n."), "escape");
    refused(SAMPLE("S'a\\'\n."), "escape");
    refused(SAMPLE("I1"), "a line without an end");
    refused(SAMPLE("h\x05."), "memo number 5 was never set");
    refused(SAMPLE("Nr\xff\xff\xff\x7f."), "memo number 2147483647 in a file of 7 bytes");
    refused(SAMPLE("Np-1\n."), "a memo number that is none");
    refused(SAMPLE("q\x01."), "wants 1 values");
    refused(SAMPLE("(K\x01u."), "nothing on the stack");
    refused(SAMPLE("}(K\x01u."), "odd number");
    refused(SAMPLE("](K\x01K\x02u."), "not a dict");
    refused(SAMPLE(")K\x01"
                   "a."),
        "not a list");
    refused(SAMPLE("K\x01t."), "wants a mark");
    refused(SAMPLE("K\x01(\x85."), "wants 1 values on the stack, found 0");
    refused(SAMPLE("(K\x01"
                   "d."),
        "odd number");
    refused(SAMPLE("0."), "wants 1 values");
}

TEST(unsound_arrays_are_refused)
{
    refused(SAMPLE("cnumpy\ndtype\n(S'O8'\nI0\nI1\ntR."), "dtype 'O8'");
    refused(SAMPLE("cnumpy\ndtype\n(tR."), "a dtype without a name");
    refused(SAMPLE("cnumpy\ndtype\n(S'i4'\ntR(I3\nS'!'\ntb."), "byte order");
    refused(SAMPLE("cnumpy.core.multiarray\n_reconstruct\n(c__builtin__\nlist\ntR."),
        "not numpy.ndarray");
    refused(SAMPLE(ARRAY0 "(I1\n(I3\nt" DTYPE "I00\nS'abcd'\ntb."), "3 x 1 items of 4 bytes");
    refused(SAMPLE(ARRAY0 "(I1\n(I-1\nt" DTYPE "I00\nS'abcd'\ntb."), "no size");
    refused(SAMPLE(ARRAY0 "(I1\n(L4611686018427387904L\nI8\nt" DTYPE "I00\nS'abcd'\ntb."),
        "a side of");
    refused(SAMPLE(ARRAY0 "(I1\n(I1\nI1\nI1\nt" DTYPE "I00\nS'abcd'\ntb."), "3 dimensions");
    refused(SAMPLE(ARRAY0 "(I1\n(I1\nt" DTYPE "I00\n]tb."), "whose state is not");
    refused(SAMPLE(ARRAY0 "(I1\ntb."), "whose state is not");
    refused(SAMPLE("cscipy.sparse.csr\ncsr_matrix\n)\x81]b."), "no dict");
}

TEST_CTX(an_array_that_was_never_built_is_none)
{
    char copy[256];
    graphss_i_pickle *p = NULL;
    assert_ok(ctx, read_sample(ctx, &p, copy, SAMPLE(ARRAY0 ".")));
    assert_null(graphss_i_pickle_array_of(p, graphss_i_pickle_root(p)));
    graphss_i_pickle_free(ctx, p);
}

TEST(a_pickle_cut_anywhere_is_refused)
{
    const sample whole = SAMPLE(ARRAY ".");
    for (size_t n = 0; n < whole.n; n++)
        refused((sample){whole.bytes, n}, "byte");
}

TEST_CTX(deep_nesting_is_no_recursion)
{
    enum { DEPTH = 200000 };
    graphss_i_pickle *p = NULL;
    char *bytes = malloc(2 * DEPTH + 2);
    assert_non_null(bytes);
    memset(bytes, '(', DEPTH);
    memset(bytes + DEPTH, 't', DEPTH);
    bytes[2 * DEPTH] = '.';
    assert_ok(ctx, graphss_i_pickle_read(ctx, &p, bytes, 2 * DEPTH + 1, "f.pkl", 1 << 26));
    assert_int_equal(
        graphss_i_pickle_type_of(p, graphss_i_pickle_root(p)), GRAPHSS_I_PICKLE_TUPLE);
    graphss_i_pickle_free(ctx, p);
    p = NULL;
    assert_fails(ctx, graphss_i_pickle_read(ctx, &p, bytes, 2 * DEPTH + 1, "f.pkl", 1 << 16),
        GRAPHSS_ERR_LIMIT, "65536 bytes allowed");
    assert_null(p);
    free(bytes);
}

static graphss_status read_and_free(graphss_ctx *ctx, void *arg)
{
    char copy[512];
    graphss_i_pickle *p = NULL;
    const graphss_status st = read_sample(ctx, &p, copy, *(const sample *)arg);
    graphss_i_pickle_free(ctx, p);
    return st;
}

TEST(each_allocation_may_fail)
{
    sample s = SAMPLE(ARRAY ".");
    testing_each_allocation_fails(read_and_free, &s);
}

int main(void)
{
    return testing_run();
}
