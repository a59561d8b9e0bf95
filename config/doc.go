// Package config reads Sluice's configuration: YAML files in, validated clusters, functions and mappings out, or every
// mistake at once with its file, line and column.
//
// What is allowed stands in tables ([Type]; the mappings' part is mapping's) from which the check, the JSON Schema
// ([Schema]) and docs/CONFIGURATION.md ([Markdown]) are made. This package adds what is the files' matter: YAML with its
// anchors and merge keys, «${NAME}» and «${file:PATH}», defaults, several files, and references between entries.
//
// The way of a file:
//
//	files ─▶ read ─▶ YAML nodes ─▶ tree (anchors, ${…}) ─▶ defaults ─▶ check ─▶ join ─▶ references ─▶ Config
//
// It opens files and nothing else: whether a cluster answers is for others to try. Only cmd imports it, and translates
// its types into those of the rooms.
//
// # Several files
//
// Files, and the *.yaml and *.yml files of folders in the order of their names, are one configuration: their clusters,
// functions and mappings are put together, and a block's key that stands in two files is a mistake that names both places. A
// defaults block is for the mappings of its own file. A file holds one YAML document.
//
// # Defaults and null
//
// A member of defaults goes into each mapping that lacks it: objects member by member, lists and all else whole. In a mapping
// null undoes a default; anywhere else a key with nothing behind it is a mistake, so that a forgotten value is not ignored.
package config
