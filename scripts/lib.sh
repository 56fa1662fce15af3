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
# All debug builds use the same flags, so that each target is built once. Only BoringSSL is in C++; without optimisation
# its cryptography, above all making RSA keys, takes a large part of the time of the tests.
debug_flags=(--enable-code-coverage -Xcxx -O2 --scratch-path "$debug_scratch")
countersign=$debug_scratch/debug/countersign
profiles=$build_dir/profiles
# How each test of the last run of a list ended: scripts/ended-tests.
ran=$build_dir/ended-tests
# What our SDK has made in the last run of a list, for the client of docs/protocol: MadeVectorTests.
made_vectors=$build_dir/made-vectors
# What the last run of a list left out: leave_out.
not_run=$build_dir/not-run
# Instrumented programs write a coverage profile when they end, which should not appear in the working folder.
export LLVM_PROFILE_FILE=${LLVM_PROFILE_FILE:-/dev/null}
# After a crash, the last lines of the log should contain the stack trace and not a list of libraries.
export SWIFT_BACKTRACE=${SWIFT_BACKTRACE:-color=no,images=none,registers=none,threads=crashed}

# Prints a heading and runs a part of the tests; the summary prints its duration. A part that fails does not end the
# list, so that one run names everything that fails.
part_names=()
part_seconds=()
failed_parts=()
part() {
    local name=$1 start=$SECONDS status
    shift
    printf '\n== %s\n' "$name"
    # In a shell whose status nothing tests, because bash ignores errors inside of a command whose status is tested.
    set +e
    (
        set -e
        "$@"
    )
    status=$?
    set -e
    part_names+=("$name")
    part_seconds+=($((SECONDS - start)))
    if [ "$status" != 0 ]; then
        failed_parts+=("$name")
        echo "FAILED: $name"
    fi
}

# Runs parts one after the other beside those that follow, until `join`. They are a process group of their own, so that
# they end with this script. Usage: beside NAME COMMAND [NAME COMMAND…], as words for the shell to evaluate.
beside() {
    beside_log=$(mktemp)
    set -m
    (
        set +m
        part_names=() part_seconds=() failed_parts=()
        while [ "$#" != 0 ]; do
            eval "part \"$1\" $2"
            shift 2
        done
        beside_names=("${part_names[@]}") beside_seconds=("${part_seconds[@]}") beside_failed=("${failed_parts[@]}")
        declare -p beside_names beside_seconds beside_failed >"$beside_log.parts"
    ) >"$beside_log" 2>&1 &
    beside=$!
    set +m
    trap 'kill -- "-$beside" 2>/dev/null || true' EXIT
}

# Waits for the parts that run beside, and prints what they have printed.
join() {
    local beside_names=() beside_seconds=() beside_failed=("the parts beside")
    wait "$beside" || true
    trap - EXIT
    printf '\nBeside the parts above:\n'
    cat "$beside_log"
    # shellcheck disable=SC1091 # the subshell of `beside` has written it
    source "$beside_log.parts" || true
    part_names+=("${beside_names[@]}")
    part_seconds+=("${beside_seconds[@]}")
    failed_parts+=("${beside_failed[@]}")
    rm -f "$beside_log" "$beside_log.parts"
}

# Records something that was not run, with the reason; this is an error where everything must run.
leave_out() {
    if [ "${CI:-}" = true ]; then
        echo "error: $1: cannot be left out in continuous integration" >&2
        exit 1
    fi
    echo "NOT RUN: $1" | tee -a "$not_run"
}

have() { command -v "$1" >/dev/null 2>&1; }

# Prints the duration of each part, what was not run and what failed; fails if a part did.
summary() {
    printf '\n%-44s %8s\n' "part" "seconds"
    local index
    for index in "${!part_names[@]}"; do
        printf '%-44s %8s\n' "${part_names[$index]}" "${part_seconds[$index]}"
    done
    printf '%-44s %8s\n' "all" "$SECONDS"
    cat "$not_run"
    for index in "${!failed_parts[@]}"; do printf 'FAILED: %s\n' "${failed_parts[$index]}"; done
    [ "${#failed_parts[@]}" = 0 ]
}
