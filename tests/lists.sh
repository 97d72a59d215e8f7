# lists.sh - a file that fills the struct of a kind but is in no list would be left out in
# silence; a file that docs/tour.md walks through must be there. Usage: sh lists.sh SOURCES
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
for file in $(grep -o '`[a-z_0-9]*\.[ch]`' "$1/docs/tour.md" | tr -d '`'); do
    set -- "$1" "$1"/src/*/"$file" "$1"/src/*/*/"$file" "$1"/src/*/*/*/"$file" "$1/cli/$file" "$1/include/graphss/$file"
    for place; do
        [ -f "$place" ] && continue 2
    done
    printf 'docs/tour.md names %s, which is nowhere\n' "$file"
    failures=1
done
exit $failures
