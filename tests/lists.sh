# lists.sh - a file that fills the struct of a kind but is in no list would be left out in
# silence; a file that docs/tour.md walks through or CONTRIBUTING.md names must be there. Usage: sh lists.sh SOURCES
set -u
failures=0
while read -r folder list suffix; do
    filled=$(sed -n "s/^const graphss_i_[a-z_]* graphss_i_\([a-z0-9_]*\)_$suffix = {/\1/p" \
        "$1/src/$folder"/*.c "$1/src/$folder"/*/*.c 2>/dev/null | sort)
    listed=$(sed -n 's/^[A-Z]*(\([a-z0-9_]*\))$/\1/p' "$1/src/$folder/$list" | sort)
    [ -n "$filled" ] && [ "$filled" = "$listed" ] && continue
    printf 'src/%s/%s lists:\n%s\nfiles define:\n%s\n' "$folder" "$list" "$listed" "$filled"
    failures=1
done <<LISTS
models models.def model
attack attacks.def attack
recover defences.def defence
lab/baselines baselines.def defence
LISTS
# there PATH: it is in the tree, by itself or in some folder; NAME in it stands for any name.
there() {
    wanted=$(echo "$1" | sed 's/NAME/*/')
    for place in $wanted cli/$wanted tests/$wanted tests/cli/$wanted include/graphss/$wanted src/$wanted src/*/$wanted \
        src/*/*/$wanted src/*/*/*/$wanted; do
        [ -e "$place" ] && return
    done
    printf '%s names %s, which is nowhere\n' "$2" "$1"
    failures=1
}
cd "$1" || exit 1
for document in docs/tour.md CONTRIBUTING.md; do
    for file in $(grep -o '`[A-Za-z_0-9./*-]*`' $document | tr -d '`' |
        grep -E '^[a-z].*(/|\.(c|h|def|json|recipe|sh|txt))' | grep -vE "^corpus/|/X/"); do
        there "$file" $document
    done
done
exit $failures
