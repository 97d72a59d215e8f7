/* test_csv.c */
#include "data/formats/csv.h"
#include "testing.h"

enum { MOST = 4096 };

typedef struct sample {
    const char *bytes;
    size_t n;
} sample;

/* Records as one text: fields between bars, a newline behind each record. */
static graphss_status read_all(
    graphss_ctx *ctx, char *out, char *delimiter, sample s, const char *comments, bool blanks)
{
    char copy[MOST];
    graphss_i_csv csv;
    bool more = true;
    graphss_status st = GRAPHSS_OK;
    assert_true(s.n <= sizeof copy);
    memcpy(copy, s.bytes, s.n);
    graphss_i_csv_start(&csv, "f.csv", copy, s.n, comments, blanks);
    *delimiter = csv.delimiter;
    for (*out = '\0';;) {
        st = graphss_i_csv_next(ctx, &more, &csv);
        if (st || !more)
            break;
        for (size_t i = 0; i < csv.count; i++) {
            const graphss_i_csv_field *f = &csv.field[i];
            out += sprintf(out, "%s%.*s", i ? "|" : "", (int)f->length, f->text);
        }
        out += sprintf(out, "\n");
    }
    graphss_i_csv_end(ctx, &csv);
    return st;
}

static void reads(const char *text, bool blanks, char want_delimiter, const char *want)
{
    char out[MOST], delimiter = 0;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    assert_ok(ctx, read_all(ctx, out, &delimiter, (sample){text, strlen(text)}, "#%", blanks));
    assert_string_equal(out, want);
    assert_int_equal(delimiter, want_delimiter);
    graphss_ctx_free(ctx);
}

TEST(the_delimiter_is_found_on_the_first_line)
{
    reads("a,b\n1,2", false, ',', "a|b\n1|2\n");
    reads("a;b\n1;2,5\n", false, ';', "a|b\n1|2,5\n");
    reads("a\tb c\n1\t2\n", false, '\t', "a|b c\n1|2\n");
    reads("a b\n1  2 \n", false, ' ', "a|b\n1|2\n");
    reads("\"a,b\"\tc\td\n", false, '\t', "a,b|c|d\n");
    reads(" 1 \t 2\n3 4\n", true, ' ', "1|2\n3|4\n");
    reads("x,y z\n", true, ',', "x|y z\n");
    reads("one\n", false, ' ', "one\n");
    reads("", false, ' ', "");
}

TEST(quotes_follow_rfc_4180)
{
    reads("a,b\n\"x,y\",\"say \"\"hi\"\"\"\n", false, ',', "a|b\nx,y|say \"hi\"\n");
    reads("a,b\n\"two\nlines\",\"\"\n3,4\n", false, ',', "a|b\ntwo\nlines|\n3|4\n");
    reads("a,b\n \"x\" , \" y \" \n", false, ',', "a|b\nx| y \n");
}

TEST(line_ends_marks_blanks_and_comments)
{
    reads("\xEF\xBB\xBF"
          "a,b\r\n1,2\r\n",
        false, ',', "a|b\n1|2\n");
    reads("a,b\r1,2\r", false, ',', "a|b\n1|2\n");
    reads("\n  \n# note, with, commas\na b\n\n%x\n1 2\n#", false, ' ', "a|b\n1|2\n");
    reads("a,b,\n,,\n", false, ',', "a|b|\n||\n");
    reads("a,b\n 1 , 2 \n", false, ',', "a|b\n1|2\n");
    reads("a\tb\n\t2\n", false, '\t', "a|b\n|2\n");
}

static void refused(const char *text, size_t n, const char *part)
{
    char out[MOST], delimiter = 0;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    assert_fails(ctx, read_all(ctx, out, &delimiter, (sample){text, n}, "", false),
        GRAPHSS_ERR_DATA, part);
    graphss_ctx_free(ctx);
}

TEST(errors_name_line_and_column)
{
    refused("a,b\n1,\"2\n3\n", 11, "f.csv:2:3: a quote that is never closed");
    refused("a,b\n1,\"2\"x\n", 11, "f.csv:2:6: text behind a closing quote");
    refused("a,b\n\"1\n\n\"x,2\n", 12, "f.csv:4:2: text behind");
    refused("a,b\n1,2\0003\n", 10, "f.csv:2:3: a NUL byte");
}

TEST_CTX(places_survive_quoted_newlines)
{
    char text[] = "a,b\n\"1\n\n\",2\nlong text,3\n";
    graphss_i_csv csv;
    bool more = false;
    graphss_i_csv_start(&csv, "f.csv", text, strlen(text), "", false);
    for (int i = 0; i < 3; i++)
        assert_ok(ctx, graphss_i_csv_next(ctx, &more, &csv));
    assert_int_equal(csv.count, 2);
    assert_int_equal(csv.field[1].line, 5);
    assert_int_equal(csv.field[1].column, 11);
    assert_int_equal(graphss_i_csv_fail(ctx, &csv, &csv.field[1], "a word"), GRAPHSS_ERR_DATA);
    assert_string_equal(graphss_ctx_error(ctx), "f.csv:5:11: found '3', want a word");
    graphss_i_csv_end(ctx, &csv);
}

TEST_CTX(a_line_of_delimiters_is_limited)
{
    enum { FIELDS = (1 << 20) + 5 };
    char *text = malloc(FIELDS);
    assert_non_null(text);
    memset(text, ',', FIELDS);
    graphss_i_csv csv;
    bool more = false;
    graphss_i_csv_start(&csv, "f.csv", text, FIELDS, "", false);
    assert_fails(ctx, graphss_i_csv_next(ctx, &more, &csv), GRAPHSS_ERR_LIMIT, "f.csv:1");
    graphss_i_csv_end(ctx, &csv);
    free(text);
}

int main(void)
{
    return testing_run();
}
