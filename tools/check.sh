#!/usr/bin/env bash
# The static checks. Every check runs even if an earlier one failed, so that one run shows everything.
# Usage: tools/check.sh TAG,TAG — the build tags whose files are checked too.
set -euo pipefail
cd "$(dirname "$0")/.."

tags=${1:?usage: tools/check.sh TAG,TAG}
failed=()

# run NAME COMMAND… — says what runs and how long it took, and remembers a failure.
run() {
	local name=$1 start=$SECONDS
	shift
	printf '%s ...\n' "$name"
	if "$@"; then
		printf '%s: ok (%d s)\n' "$name" $((SECONDS - start))
	else
		printf '%s: FAILED\n' "$name" >&2
		failed+=("$name")
	fi
}

format() {
	local files
	files=$("$(tools/install.sh gofumpt)" -l .) || return 1
	[[ -z $files ]] || {
		printf '%s\n' "$files" "these files are not in gofumpt's format; run: $(tools/install.sh gofumpt) -w ." >&2
		return 1
	}
}

lint() { "$(tools/install.sh staticcheck)" -tags "$tags" ./...; }

# Import directions, deciding rooms without clocks, documentation, sizes of files: see internal/arch.
arch() { go test -count 1 ./internal/arch; }

# A test whose name starts with TestUpToDate compares a generated file in the tree with what its generator says now.
stale() {
	local dirs
	mapfile -t dirs < <(grep -rlE --include='*_test.go' '^func TestUpToDate' . | xargs -r -n1 dirname | sort -u)
	((${#dirs[@]} == 0)) || go test -count 1 -run '^TestUpToDate' "${dirs[@]}"
}

run format format
run vet go vet -tags "$tags" ./...
run lint lint
run architecture arch
run 'stale tables' stale
run 'go.mod' go mod tidy -diff

if ((${#failed[@]} > 0)); then
	printf 'check: failed: %s\n' "${failed[*]}" >&2
	exit 1
fi
