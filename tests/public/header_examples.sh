# header_examples.sh CC INCLUDE - compiles the example that every public header begins with:
# the first lines of its head that are set in by five blanks.
compiler=$1
include=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
for header in "$include"/graphss/*.h "$include"/graphss_lab/*.h; do
    awk '/\*\// { exit } /^ \*     / { sub(/^ \*     /, ""); print; begun = 1; next } begun { exit }' \
        "$header" >"$work/example"
    if [ ! -s "$work/example" ]; then
        echo "$header begins with no example"
        failed=1
        continue
    fi
    {
        echo '#include <graphss_lab/graphss_lab.h>'
        echo '#include <stdio.h>'
        echo '#include <stdlib.h>'
        # What an example may take for granted.
        echo 'enum { K = 3 };
extern graphss_ctx *ctx;
extern graphss_dataset data, larger, attacked, now, before;
extern graphss_graph graph;
extern graphss_features features;
extern graphss_names names;
extern graphss_split split;
extern graphss_model *model;
extern graphss_flips flips;
extern graphss_defence_input in;
extern graphss_recover_result r;
extern graphss_recover_options recover_options;
extern float *prob, *w;
extern double off, *phi;
extern int32_t *victim, *node, *y_a;
extern size_t n, n_nodes, k;
extern uint64_t seed;
void example(void);
void example(void)
{'
        cat "$work/example"
        echo '}'
    } >"$work/example.c"
    "$compiler" -std=c11 -fsyntax-only -Wall -Wextra -Werror -Wno-unused -Wno-unused-result \
        -Wno-missing-field-initializers -Wno-unused-but-set-variable \
        -I"$include" "$work/example.c" || {
        echo "the example of $header does not compile"
        failed=1
    }
done
exit $failed
