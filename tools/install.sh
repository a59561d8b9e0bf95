#!/usr/bin/env bash
# Prints the path of a tool named in tools.txt, installing that version first if the cache does not have it.
# The version is part of the folder's name, so a raised pin never meets an old binary.
set -euo pipefail

name=${1:?usage: tools/install.sh NAME}
cache=${SLUICE_CACHE:-$HOME/.cache/sluice}
list=$(dirname "$0")/tools.txt

read -r module version < <(awk -v name="$name" '$1 == name {print $2, $3}' "$list") || {
	echo "tools/install.sh: $name is not in $list" >&2
	exit 1
}

dir=$cache/tools/$name@$version
if [[ ! -x $dir/$name ]]; then
	echo "installing $name $version" >&2
	GOFLAGS='' GOBIN=$dir go install "$module@$version"
fi
echo "$dir/$name"
