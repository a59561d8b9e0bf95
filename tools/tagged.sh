#!/usr/bin/env bash
# Prints the packages, one per line, that have test files behind any of the given build tags.
# Usage: tools/tagged.sh TAG…
set -euo pipefail
cd "$(dirname "$0")/.."

(($# > 0)) || {
	echo 'usage: tools/tagged.sh TAG…' >&2
	exit 1
}
tags=$(
	IFS='|'
	echo "$*"
)
grep -rlE --include='*_test.go' "^//go:build (.*[^a-z])?($tags)([^a-z]|$)" . | xargs -r -n1 dirname | sort -u
