# usage.sh - the command line itself: help, mistakes, the shape of errors.
. "$(dirname "$0")/harness.sh"

case_ "without arguments the program says what it can do"
run
exits 0; out "Examples:"; out "graphss train cora"; no_err

case_ "every command has help that begins with examples"
for command_name in demo info fetch convert split train predict recover evaluate version help; do
    run "$command_name" --help
    exits 0; out "Usage: graphss $command_name"; no_err
    [ "$(head -n 1 ../stdout)" = "Examples:" ] || complain "does not begin with examples"
    run help "$command_name"
    exits 0; out "Usage: graphss $command_name"
done

case_ "a mistyped command gets a suggestion"
run trian
exits 2; no_out; err "unknown command 'trian', did you mean 'train'?"

case_ "a word that is like no command gets none"
run xyzzy-plugh
exits 2; err "unknown command 'xyzzy-plugh' (see: graphss --help)"

case_ "a mistyped option gets a suggestion"
run train synth: --hiden 3
exits 2; no_out; err "unknown option --hiden, did you mean --hidden?"

case_ "an option cut short that could be several is refused"
run train synth: --mod gcn
exits 2; err "could be any of --model, --mode"

case_ "an option without its value is refused"
run train synth: --model
exits 2; err "--model needs a value"

case_ "a value for a switch is refused"
run info synth: --json=yes
exits 2; err "--json takes no value"

case_ "a missing argument is refused"
run info
exits 2; no_out; err "want: graphss info DATASET"

case_ "an argument too many is refused"
run info a b
exits 2; err "too many: 'b'"

case_ "bad values name the option and the range"
run train synth: --dropout 1.5
exits 2; no_out; err "--dropout: found '1.5'"
run train synth: --train many
exits 2; err "--train: found 'many'"
run info synth: --seed -1
exits 2; err "--seed: found '-1'"
run info synth: --threads 0
exits 2; err "--threads: found '0'"
run train synth: --mode fair
exits 2; err "want one of default, paper"

case_ "an unknown model is refused with the known ones"
run train synth: --model gnc
exits 2; err "want one of gcn, sgc, sage, sage-mean, gat, mlp"; err "did you mean gcn?"

case_ "an unknown key of synth is refused"
run info synth:nodez=3
exits 2; err "nodez"

case_ "a split cannot be given and made at once"
run train synth: --split public --noise 0.2
exits 2; err "--noise"

case_ "global options go before or after the command"
run --json --seed 4 version
exits 0; json version "$("$graphss" --version | cut -d' ' -f2)"
run version --seed 4 --json
exits 0; json version "$("$graphss" --version | cut -d' ' -f2)"

case_ "letters may be bundled, as many as one likes"
run -qv version
exits 0; no_err
run "-$(printf '%05000d' 0 | tr 0 q)" version
exits 0; no_err
run version "-$(printf '%05000d' 0 | tr 0 q)"
exits 0; no_err

case_ "with --json a wrong command line is an error document"
run --json trian
exits 2; json error.code 2
err "did you mean"
run trian --json
exits 2; json error.code 2
run --json info nowhere.npz
exits 3; json error.code 3
run --json
exits 2; json error.code 2

case_ "help in JSON is one document"
run --json train --help
exits 0; no_err
"$json_value" help <../stdout >/dev/null || complain "no help field"

case_ "the man page and the completions know the commands and options"
run --man
exits 0; out ".TH GRAPHSS 1"; out "graphss predict"; out 'weight\-decay'; no_err
if command -v man >/dev/null; then
    man --warnings=w -l ../stdout >/dev/null 2>../warnings
    [ ! -s ../warnings ] || complain "man warns: $(cat ../warnings)"
fi
run --completion bash
exits 0; out "--weight-decay"; out "gcn sgc sage sage-mean gat mlp"
if command -v bash >/dev/null; then
    found=$(bash -c '. ../stdout; COMP_WORDS=(graphss train x --model s); COMP_CWORD=4
                     _graphss; echo "${COMPREPLY[@]}"')
    [ "$found" = "sgc sage sage-mean" ] || complain "completes --model s as: $found"
    found=$(bash -c '. ../stdout; COMP_WORDS=(graphss ev); COMP_CWORD=1
                     _graphss; echo "${COMPREPLY[@]}"')
    [ "$found" = "evaluate events" ] || complain "completes ev as: $found"
fi
case_ "names of a list appear wherever they can be given"
for list in "attack --list" "recover --list"; do
    run $list
    sed -n 's/^\([a-z0-9-]*\) .*/\1/p' ../stdout >names
    [ -s names ] || complain "no names"
    for text in "help ${list% *}" --man "--completion bash" "--completion fish"; do
        run $text
        exits 0
        while read -r each; do
            sed 's/\\//g' ../stdout | grep -qw -e "$each" || complain "$text lacks $each"
        done <names
    done
done
run --completion bash
out "attack:--method) values='nettack random"; out "snapshots:--method) values='nettack random"
out "recover:--method) values='graphss none"
run --completion fish
out "-l method -x -a 'nettack random"; out "-l model -x -a 'gcn sgc"
run help snapshots
out "one of gcn, sgc"
run attack
exits 2; err "want: graphss attack DATASET"
run attack synth: --method nettak
exits 2; err "want one of nettack, random"; err "did you mean nettack?"
run snapshots synth: -o none --model gnc
exits 2; err "want one of gcn, sgc"; absent none
run recover --method nope --model-file a --current b -o c.npz
exits 2; err "want one of graphss, none"

case_ "other shells"
run --completion zsh
exits 0; out "#compdef graphss"
run --completion fish
exits 0; out "complete -c graphss"
run --completion tcsh
exits 2; err "want bash, zsh or fish"

case_ "help is as wide as the terminal, from 40 to 100 columns"
for columns in 20 40 60 80 100 300; do
    widest=$columns
    [ $widest -ge 40 ] || widest=40
    [ $widest -le 100 ] || widest=100
    COLUMNS=$columns
    export COLUMNS
    longest=0
    for command_name in "" demo info fetch convert split train predict attack apply snapshots alert \
        recover evaluate reproduce report version; do
        run help $command_name
        exits 0
        awk -v w=$widest 'length($0) > w && $0 ~ /[^ ].* [^ ]/ { print; bad = 1 } END { exit bad }' \
            ../stdout >../long || complain "over $widest columns: $(head -n 1 ../long)"
        length=$(awk '{ if (length($0) > m) m = length($0) } END { print m }' ../stdout)
        [ "$length" -le $longest ] || longest=$length
    done
    [ $longest -ge $((widest - 12)) ] || complain "no line is near $widest columns: $longest"
done
unset COLUMNS
COLUMNS=wide
export COLUMNS
run help train
exits 0; out "Usage: graphss train DATASET [--model NAME] [-o MODEL]"
unset COLUMNS

finish
