#!/usr/bin/env bash
# Prints -race if the race detector can be built here: it needs cgo, hence a C compiler with its headers and linker.
set -euo pipefail

cc=$(go env CC)
if printf '#include <stdlib.h>\nint main(void) { return EXIT_SUCCESS; }\n' | $cc -x c -o /dev/null - 2>/dev/null; then
	echo -race
fi
