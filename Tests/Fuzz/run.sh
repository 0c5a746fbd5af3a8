#!/bin/sh
# Builds the fuzzers and runs each for some seconds: Tests/Fuzz/run.sh [SECONDS] [HARNESS…]
# Inputs that crash are left in .build/fuzz/crashes. Small pictures in $NUTHATCH_CORPUS are added to the seeds.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-60}
[ $# -gt 0 ] && shift
harnesses=${*:-probe jpeg png gif bitmaps webp avif incremental icc scans isolation}
out=.build/fuzz
mkdir -p "$out/crashes" "$out/seeds" "$out/module"
clang=$(dirname "$(readlink -f "$(command -v swiftc)")")/clang
[ -x "$clang" ] || clang=clang

printf 'module CSystem { umbrella header "%s/Sources/CSystem/include/CSystem.h" export * }\n' "$PWD" \
  > "$out/module/module.modulemap"
"$clang" -O1 -ITests/ImagingFixtures/include Tests/Fuzz/seeds.c Tests/ImagingFixtures/fixtures.c \
  -ljpeg -lpng16 -lwebp -llcms2 -lz -o "$out/make-seeds"
"$out/make-seeds" "$out/seeds"
cp Tests/Fuzz/seeds/* "$out/seeds"
if [ -n "${NUTHATCH_CORPUS:-}" ]; then
  find "$NUTHATCH_CORPUS" -type f \( -name '*.jp*g' -o -name '*.png' -o -name '*.gif' -o -name '*.bmp' \
    -o -name '*.ico' -o -name '*.webp' -o -name '*.avif' \) -size -8k | while read -r file; do
    { printf '\005'; cat "$file"; } > "$out/seeds/$(printf %s "$file" | cksum | cut -d' ' -f1)"
  done
fi

objects=
for source in Sources/CSystem/Codecs/*.c Sources/CSystem/Pixels/*.c; do
  object="$out/$(basename "$source" .c).o"
  "$clang" -g -O1 -fsanitize=address,fuzzer-no-link,undefined -fsanitize-trap=undefined \
    -ISources/CSystem/include -c "$source" -o "$object"
  objects="$objects $object"
done

# A crash would otherwise leave a process behind that waits for a terminal.
export SWIFT_BACKTRACE=enable=no
for harness in $harnesses; do
  echo "== $harness"
  # shellcheck disable=SC2046,SC2086
  swiftc -swift-version 6 -parse-as-library -O -gline-tables-only -wmo -sanitize=fuzzer,address -module-name Fuzz -package-name nuthatch -I "$out/module" \
    -Xcc -ISources/CSystem/include $(find Sources/NuthatchImaging -name '*.swift') Tests/Fuzz/Sink.swift \
    "Tests/Fuzz/$harness.swift" $objects -ldav1d -ljpeg -lpng16 -lwebp -llcms2 -lisal -ldl -o "$out/$harness" 2> "$out/build.log" \
    || { cat "$out/build.log"; exit 1; }
  mkdir -p "$out/found-$harness"
  "$out/$harness" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=20000 -print_final_stats=1 \
    -artifact_prefix="$out/crashes/$harness-" "$out/found-$harness" "$out/seeds" 2> "$out/$harness.log" \
    || { tail -20 "$out/$harness.log"; exit 1; }
  grep -E 'number_of_executed_units|decoded_to_pixels|peak_rss' "$out/$harness.log"
  case $harness in
    probe | icc | isolation) ;; # they decode nothing
    *) grep -q decoded_to_pixels "$out/$harness.log" || { echo "no input of $harness gave pixels" >&2; exit 1; } ;;
  esac
done
