# lists.sh - a file that fills the struct of a kind but is in no list would be left out in
# silence. Usage: sh lists.sh SOURCES
set -u
failures=0
while read -r folder list suffix; do
    filled=$(sed -n "s/^const graphss_i_[a-z_]* graphss_i_\([a-z0-9_]*\)_$suffix = {/\1/p" \
        "$1/src/$folder"/*.c | sort)
    listed=$(sed -n 's/^[A-Z]*(\([a-z0-9_]*\))$/\1/p' "$1/src/$folder/$list" | sort)
    [ -n "$filled" ] && [ "$filled" = "$listed" ] && continue
    printf 'src/%s/%s lists:\n%s\nfiles define:\n%s\n' "$folder" "$list" "$listed" "$filled"
    failures=1
done <<LISTS
models models.def model
attack attacks.def attack
defence defences.def defence
LISTS
exit $failures
