# hardened.sh - is what we ship built as distributions build (cmake/settings.cmake)?
# Usage: sh hardened.sh FILE...
set -u
command -v readelf >/dev/null || { echo "skipped: no readelf"; exit 77; }
failures=0

# wants FILE WHAT PATTERN OPTION: readelf's OPTION of the file shows the pattern
wants() {
    readelf -W "$4" "$1" | grep -qE "$3" && return
    printf '%s: %s\n' "$1" "$2"
    failures=1
}

for file; do
    wants "$file" "loads at a fixed address" 'Type: +DYN' -h
    wants "$file" "no table is read-only" 'GNU_RELRO' -l
    wants "$file" "not all tables are read-only: symbols are bound late" 'BIND_NOW|NOW' -d
    wants "$file" "the stack can be run" 'GNU_STACK.* RW +0x' -l
    wants "$file" "no stack protector" '__stack_chk_fail' --dyn-syms
    wants "$file" "no fortified calls" '__(mem|str|v?snprintf|v?fprintf)[a-z]*_chk' --dyn-syms
done
exit $failures
