# Shared by the scripts; to be sourced.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

# One build folder for every clone, so that the second one is quick; below it one scratch path per set of flags.
build_dir=${COUNTERSIGN_BUILD_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/countersign}
debug_scratch=$build_dir/debug
release_scratch=$build_dir/release
# Many servers at once need many files; what a user may open at first is often 1024, and 256 on macOS.
ulimit -Sn 8192 2>/dev/null || ulimit -Sn "$(ulimit -Hn)" 2>/dev/null || true
# Every debug target is built with these, so that each is built once.
debug_flags=(--enable-code-coverage --scratch-path "$debug_scratch")
countersign=$debug_scratch/debug/countersign
profiles=$build_dir/profiles
# Instrumented programs write what they ran when they end; nobody wants that in their folder.
export LLVM_PROFILE_FILE=${LLVM_PROFILE_FILE:-/dev/null}
# Where a program crashes, who called whom stands in the log's last lines, not a list of libraries.
export SWIFT_BACKTRACE=${SWIFT_BACKTRACE:-color=no,images=none,registers=none,threads=crashed}

# Prints a heading and runs a part of the tests; its seconds are printed in the end.
part_names=()
part_seconds=()
part() {
    local name=$1 start=$SECONDS
    shift
    printf '\n== %s\n' "$name"
    "$@"
    part_names+=("$name")
    part_seconds+=($((SECONDS - start)))
}

# Notes something that was not run, with its reason: an error where everything must run.
not_run=()
leave_out() {
    if [ "${CI:-}" = true ]; then
        echo "error: $1: cannot be left out in continuous integration" >&2
        exit 1
    fi
    not_run+=("$1")
    echo "NOT RUN: $1"
}

have() { command -v "$1" >/dev/null 2>&1; }

# Prints how long each part took and what was left out.
summary() {
    printf '\n%-44s %8s\n' "part" "seconds"
    local index
    for index in "${!part_names[@]}"; do
        printf '%-44s %8s\n' "${part_names[$index]}" "${part_seconds[$index]}"
    done
    printf '%-44s %8s\n' "all" "$SECONDS"
    for index in "${!not_run[@]}"; do printf 'NOT RUN: %s\n' "${not_run[$index]}"; done
}
