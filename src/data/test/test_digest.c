#include "data/digest.h"
#include "testing.h"

static void digest(char hex[65], graphss_i_digest_type kind, bool plain, const void *bytes,
    size_t n, size_t piece)
{
    graphss_i_digest d;
    graphss_i_digest_begin(&d, kind);
    d.plain = plain || d.plain;
    for (size_t at = 0; at < n; at += piece)
        graphss_i_digest_add(&d, (const char *)bytes + at, n - at < piece ? n - at : piece);
    graphss_i_digest_end(&d, hex);
}

/* The answers of FIPS 180-4's examples. */
TEST(known_digests)
{
    const struct {
        const char *text, *sha256, *sha1;
    } known[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "a9993e364706816aba3e25717850c26c9cd0d89d"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1"},
    };
    char hex[65];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (int plain = 0; plain < 2; plain++) {
            const char *text = known[i].text;
            digest(hex, GRAPHSS_I_SHA256, plain, text, strlen(text), 7);
            assert_string_equal(hex, known[i].sha256);
            digest(hex, GRAPHSS_I_SHA1, plain, text, strlen(text), 7);
            assert_string_equal(hex, known[i].sha1);
        }
}

TEST(a_million_letters)
{
    enum { N = 1000000 };
    char hex[65];
    char *text = malloc(N);
    assert_non_null(text);
    memset(text, 'a', N);
    for (int plain = 0; plain < 2; plain++) {
        digest(hex, GRAPHSS_I_SHA256, plain, text, N, 4096);
        assert_string_equal(
            hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
    digest(hex, GRAPHSS_I_SHA1, false, text, N, 1000);
    assert_string_equal(hex, "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    free(text);
}

TEST(the_pieces_do_not_matter)
{
    unsigned char bytes[300];
    char whole[65], hex[65];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * i >> 3);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        digest(whole, GRAPHSS_I_SHA256, true, bytes, n, sizeof bytes);
        for (size_t piece = 1; piece < 130; piece += 13) {
            digest(hex, GRAPHSS_I_SHA256, false, bytes, n, piece);
            assert_string_equal(hex, whole);
        }
    }
}

int main(void)
{
    return testing_run();
}
