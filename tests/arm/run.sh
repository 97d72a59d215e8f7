# run.sh - do the generic kernels compile for 64-bit ARM, compute the same and draw the same there?
# Usage: sh run.sh SOURCE WORK. Debian: gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, qemu-user.
set -eu
source=$1 work=$2
cross=${CROSS_CC:-aarch64-linux-gnu-gcc} emulator=${EMULATOR:-qemu-aarch64}
for tool in "$cross" "$emulator" cc; do
    command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
mkdir -p "$work"
options="-std=gnu11 -O3 -ffp-contract=fast -fno-math-errno -Wall -Wextra -Werror -I$source/src"
files="$source/tests/arm/kernels.c $source/src/kernels/kernels.c $source/src/kernels/kernels_generic.c"
"$cross" -static $options $files -lm -o "$work/arm"
"$emulator" "$work/arm" >"$work/arm.txt"
case $(uname -m) in
x86_64) # the other sets want options of their own
    for set in "avx2 -mavx2 -mfma -mpopcnt" "avx512 -mavx2 -mfma -mpopcnt -mavx512f -mavx512dq -mavx512bw -mavx512vl"; do
        cc $options ${set#* } -c "$source/src/kernels/kernels_${set%% *}.c" -o "$work/${set%% *}.o"
    done
    files="$files $work/avx2.o $work/avx512.o" ;;
esac
cc $options $files -lm -o "$work/here"
for set in generic avx2 avx512; do # what this processor lacks is not given
    GRAPHSS_KERNELS=$set "$work/here" >"$work/here.txt"
    cmp "$work/arm.txt" "$work/here.txt"
done
