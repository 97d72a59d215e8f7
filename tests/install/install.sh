# install.sh SOURCE BUILD CC - installs the build into a temporary folder, then does what
# users do: pkg-config and find_package, shared and static, each header alone in C and C++,
# the program, its man page and completions. Says which step failed and stops there.
# shellcheck disable=SC2046,SC2086,SC2154 # flags are lists of words
set -eu
source=$1
build=$2
cc=$3
folder=$(mktemp -d)
prefix=$folder/prefix
step=
step() { step=$1; }
trap 'code=$?; [ $code = 0 ] || echo "failed: $step"; rm -rf "$folder"; exit $code' EXIT
refuse() { # the command must fail (set -e lets a plain "! command" pass)
    if "$@"; then
        return 1
    fi
}
wants() { # wants TEXT COMMAND...: its output contains TEXT
    text=$1
    shift
    "$@" >"$folder/output" || { cat "$folder/output"; return 1; }
    grep -qF -e "$text" "$folder/output" || { cat "$folder/output"; return 1; }
}

step "cmake --install"
cmake --install "$build" --prefix "$prefix" >"$folder/log" || { cat "$folder/log"; exit 1; }
libdir=$(dirname "$(find "$prefix" -name libgraphss.so)")
export PKG_CONFIG_PATH="$libdir/pkgconfig"
cd "$folder"

step "no installed text names the source or the build folder"
refuse grep -rlIF -e "$source" -e "$build" "$prefix"

step "only graphss_ names are exported, and no private ones"
for library in graphss graphss_lab; do
    nm -D --defined-only "$libdir/lib$library.so" | awk '{ print $3 }' >"exported${library#graphss}"
    refuse grep -v -e '^graphss_' -e '^GRAPHSS_' "exported${library#graphss}"
done
grep -q '^graphss_model_train@@' exported
refuse grep '^graphss_i_.*@@GRAPHSS_[0-9]' exported
grep -q '^graphss_lab_method_find@@' exported_lab
refuse grep '^graphss_i_' exported_lab

step "the core needs neither libcurl nor ARPACK"
ldd "$libdir/libgraphss.so" >linked
refuse grep -e libcurl -e libarpack linked

step "the version of graphss.pc is the library's"
wants "$(pkg-config --modversion graphss)" "$prefix/bin/graphss" --version

step "the shared library is asked for by major and minor version"
minor=$(pkg-config --modversion graphss | cut -d. -f1,2)
test -e "$libdir/libgraphss.so.$minor"

warnings='-Wall -Wextra -Wpedantic -Werror'
for header in "$prefix"/include/graphss*/*.h; do
    name=${header#"$prefix"/include/}
    printf '#include <%s>\n#include <%s>\n' "$name" "$name" >header.c
    step "$name alone in C17"
    "$cc" -std=c17 $warnings $(pkg-config --cflags graphss) -fsyntax-only header.c
    step "$name alone in C++17"
    if command -v c++ >/dev/null; then
        c++ -std=c++17 $warnings $(pkg-config --cflags graphss) -x c++ -fsyntax-only header.c
    fi
done
command -v c++ >/dev/null || echo "no C++ compiler: headers were tried in C only"

for name in train own_graph; do
    expect='test nodes are right'
    [ $name = train ] || expect='node 7: class 1'
    example=$source/examples/$name.c
    step "$name with pkg-config, shared"
    "$cc" -std=c17 $warnings "$example" $(pkg-config --cflags --libs graphss) \
        -Wl,-rpath,"$libdir" -o "$name"
    wants "$expect" "./$name"
    ldd "./$name" | grep -qF "$libdir/libgraphss.so"
    step "$name with pkg-config, static"
    mkdir -p static
    cp "$libdir/libgraphss.a" static/
    "$cc" -std=c17 $warnings "$example" -Lstatic $(pkg-config --cflags graphss) \
        $(pkg-config --libs --static graphss | sed "s:-L$libdir ::") -o "$name.static"
    ldd "./$name.static" >linked
    refuse grep -F libgraphss linked
    wants "$expect" "./$name.static"
done

step "find_package"
mkdir project
cat >project/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.21)
project(user C)
find_package(graphss 0.1 REQUIRED COMPONENTS static)
foreach(name train own_graph)
    add_executable(${name} ${EXAMPLES}/${name}.c)
    target_link_libraries(${name} PRIVATE graphss::graphss)
    add_executable(${name}_static ${EXAMPLES}/${name}.c)
    target_link_libraries(${name}_static PRIVATE graphss::graphss_static)
endforeach()
END
cmake -S project -B project/build -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_COMPILER="$cc" -DEXAMPLES="$source/examples" >log 2>&1 || { cat log; exit 1; }
cmake --build project/build >log 2>&1 || { cat log; exit 1; }
for name in train train_static; do
    wants 'test nodes are right' "project/build/$name"
done
ldd project/build/train_static >linked
refuse grep -F libgraphss linked
rm -rf project/build

step "the program runs"
wants '"nodes"' "$prefix/bin/graphss" --json info synth:nodes=100
step "man page and completions are there"
test -s "$prefix/share/man/man1/graphss.1"
bash -n "$prefix/share/bash-completion/completions/graphss"
grep -q '^#compdef graphss' "$prefix/share/zsh/site-functions/_graphss"
test -s "$prefix/share/fish/vendor_completions.d/graphss.fish"
echo "installed and used"
