# harness.sh - the words the test files are written in. Usage: sh FILE.sh GRAPHSS JSON_VALUE
#
#   case_ NAME             begins a case; its name is a sentence
#   run ARGUMENT...        runs the program; stdout, stderr and code are kept
#   exits CODE             the code was CODE
#   out PART / err PART    stdout / stderr contains PART (fixed text)
#   no_out / no_err        stdout / stderr is empty
#   json PATH VALUE        stdout is one JSON document, and PATH (a.b.0) in it is VALUE
#   same A B / absent A    files are equal / there is no such file
#
# A case that fails says what was found; the file then goes on and ends with code 1.
# Everything happens in a fresh folder, with no data folders of the user's.
set -u
graphss=$1
json_value=$2
LC_ALL=C.UTF-8
TERM=xterm
export LC_ALL TERM
unset GRAPHSS_DATA NO_COLOR
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
XDG_DATA_HOME=$folder/xdg
export XDG_DATA_HOME
mkdir "$folder/work"
cd "$folder/work" || exit 1
failures=0
cases=0
name=

complain() {
    failures=$((failures + 1))
    printf 'not ok: %s: %s\n  command: %s\n' "$name" "$1" "$command"
    sed 's/^/  stdout: /' ../stdout | head -n 20
    sed 's/^/  stderr: /' ../stderr | head -n 20
}

case_() {
    name=$1
    cases=$((cases + 1))
}

run() {
    command="graphss $*"
    code=0
    "$graphss" "$@" >../stdout 2>../stderr </dev/null || code=$?
}

exits() { [ "$code" = "$1" ] || complain "code $code, want $1"; }
out() { grep -qF -e "$1" ../stdout || complain "stdout lacks: $1"; }
err() { grep -qF -e "$1" ../stderr || complain "stderr lacks: $1"; }
no_out() { [ ! -s ../stdout ] || complain "stdout is not empty"; }
no_err() { [ ! -s ../stderr ] || complain "stderr is not empty"; }
same() { cmp -s "$1" "$2" || complain "$1 and $2 differ"; }
absent() { [ ! -e "$1" ] || complain "$1 exists"; }
present() { [ -s "$1" ] || complain "$1 is missing or empty"; }

json() {
    found=$("$json_value" "$1" <../stdout) || complain "no JSON, or no $1 in it"
    [ "$found" = "$2" ] || complain "$1 is $found, want $2"
}

# Root may write anywhere, so some cases mean nothing then.
skip_as_root() {
    [ "$(id -u)" != 0 ] || { printf 'skipped as root: %s\n' "$name"; return 0; }
    return 1
}

finish() {
    printf '%s cases, %s failures\n' "$cases" "$failures"
    [ "$failures" = 0 ]
}
