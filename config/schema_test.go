package config_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/sluicehq/sluice/config"
)

// compileSchema compiles the schema as an editor would.
func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(config.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("sluice.schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("sluice.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// asEditorsSeeIt reads YAML as the JSON that editors give to the schema; ok is false where it is no YAML for them.
func asEditorsSeeIt(t *testing.T, data []byte) (value any, ok bool) {
	t.Helper()
	var root yaml.Node
	if yaml.Unmarshal(data, &root) != nil {
		return nil, false
	}
	timestampsAreText(&root)
	var v any
	if root.Kind == 0 {
		return nil, true
	}
	if root.Decode(&v) != nil {
		return nil, false
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, false
	}
	value, err = jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return value, true
}

// timestampsAreText undoes the one tag of YAML 1.1 that JSON has not and YAML 1.2 neither.
func timestampsAreText(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!timestamp" {
		n.Tag = "!!str"
	}
	for _, c := range n.Content {
		timestampsAreText(c)
	}
}

// beyondSchema reads the list of files that the schema cannot refuse, with the reasons.
func beyondSchema(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile("testdata/beyond-schema.txt")
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if name, reason, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && !strings.HasPrefix(line, "#") {
			reasons[name] = reason
		}
	}
	return reasons
}

// TestLoadAndSchemaAgree has each file judged by both. Where they differ a line of beyond-schema.txt says why, and no line says
// so where they do not.
func TestLoadAndSchemaAgree(t *testing.T) {
	schema, beyond := compileSchema(t), beyondSchema(t)
	for _, file := range files(t, "testdata/*.*.yaml") {
		name, kind, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".yaml"), ".")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		value, readable := asEditorsSeeIt(t, data)
		refusal := "is no YAML"
		if readable {
			refusal = ""
			if err := schema.Validate(value); err != nil {
				refusal = err.Error()
			}
		}
		reason, excepted := beyond[name]
		delete(beyond, name)
		switch {
		case kind == "good" && refusal != "":
			t.Errorf("%s: Load takes it, the schema does not: %s", name, refusal)
		case kind == "bad" && refusal == "" && !excepted:
			t.Errorf("%s: Load refuses it, the schema does not, and beyond-schema.txt has no reason", name)
		case refusal != "" && excepted:
			t.Errorf("%s: the schema refuses it, although beyond-schema.txt says it cannot: %s", name, reason)
		}
	}
	for name := range beyond {
		t.Errorf("beyond-schema.txt: there is no file %s", name)
	}
}

func TestTheSchemaSaysWhatItIsAndIsTheSameEachTime(t *testing.T) {
	var s struct {
		Schema string `json:"$schema"`
	}
	if err := json.Unmarshal(config.Schema(), &s); err != nil || s.Schema != "https://json-schema.org/draft/2020-12/schema" {
		t.Errorf("got $schema %q, %v", s.Schema, err)
	}
	if !bytes.Equal(config.Schema(), config.Schema()) {
		t.Error("the schema differs from one call to the next")
	}
}
