# Shared by all scripts; for sourcing.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

# All clones share one build folder, so that a second clone builds quickly; it has one scratch path for each set of
# flags.
build_dir=${COUNTERSIGN_BUILD_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/countersign}
debug_scratch=$build_dir/debug
release_scratch=$build_dir/release
# Many concurrent servers need many open files; the default limit is often 1024, and 256 on macOS.
ulimit -Sn 8192 2>/dev/null || ulimit -Sn "$(ulimit -Hn)" 2>/dev/null || true
# All debug builds use the same flags, so that each target is built once.
debug_flags=(--enable-code-coverage --scratch-path "$debug_scratch")
countersign=$debug_scratch/debug/countersign
profiles=$build_dir/profiles
# How each test of the last run of a list ended: scripts/ended-tests.
ran=$build_dir/ended-tests
# Instrumented programs write a coverage profile when they end, which should not appear in the working folder.
export LLVM_PROFILE_FILE=${LLVM_PROFILE_FILE:-/dev/null}
# After a crash, the last lines of the log should contain the stack trace and not a list of libraries.
export SWIFT_BACKTRACE=${SWIFT_BACKTRACE:-color=no,images=none,registers=none,threads=crashed}

# Prints a heading and runs a part of the tests; the summary prints its duration.
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

# Records something that was not run, with the reason; this is an error where everything must run.
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

# Prints the duration of each part, and what was not run.
summary() {
    printf '\n%-44s %8s\n' "part" "seconds"
    local index
    for index in "${!part_names[@]}"; do
        printf '%-44s %8s\n' "${part_names[$index]}" "${part_seconds[$index]}"
    done
    printf '%-44s %8s\n' "all" "$SECONDS"
    for index in "${!not_run[@]}"; do printf 'NOT RUN: %s\n' "${not_run[$index]}"; done
}
