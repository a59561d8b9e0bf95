package config

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/sluicehq/sluice/mapping/field"
)

// parseYAML returns the root of the one document that data holds, nil for an empty one. ok is false where it cannot.
func parseYAML(file string, data []byte, errs *Errors) (root *yaml.Node, ok bool) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, true
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil, true // comments alone
	} else if err != nil {
		addSyntaxError(file, err, errs)
		return nil, false
	}
	if err := decoder.Decode(&second); err == nil {
		errs.add(field.Place{File: file, Line: max(1, second.Line), Col: max(1, second.Column)}, "", "write it into a file of its own",
			"is a second YAML document; allowed: one document a file")
		return nil, false
	} else if !errors.Is(err, io.EOF) {
		addSyntaxError(file, err, errs)
		return nil, false
	}
	if document.Kind != yaml.DocumentNode || len(document.Content) != 1 {
		return nil, true
	}
	root = document.Content[0]
	if root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" {
		return nil, true
	}
	return root, true
}

var syntaxLine = regexp.MustCompile(`^(?s)line (\d+): (.*)$`)

// countedFromZero matches the messages of yaml.v3's parser, whose lines count from 0; those of its scanner count from 1.
var countedFromZero = regexp.MustCompile(`^(did not find expected (<|node content|'-' indicator|key|',' or)|found (duplicate %|incompatible YAML|undefined tag))`)

// addSyntaxError adds what yaml.v3 says about a file that is no YAML. It knows the line where the broken part begins, and not
// the column.
func addSyntaxError(file string, err error, errs *Errors) {
	text, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if m := syntaxLine.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		if text = m[2]; countedFromZero.MatchString(text) {
			line++
		}
	}
	errs.add(field.Place{File: file, Line: max(1, line), Col: 1}, "", "", "is not YAML: %s", text)
}

// isTemplate says whether the root is that of a CloudFormation or SAM template.
func isTemplate(root *yaml.Node) bool {
	if root.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i < len(root.Content); i += 2 {
		if key := root.Content[i].Value; key == "Resources" || key == "AWSTemplateFormatVersion" {
			return true
		}
	}
	return false
}
