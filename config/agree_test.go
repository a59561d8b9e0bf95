package config_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sluicehq/sluice/config"
	"github.com/sluicehq/sluice/mapping"
	"github.com/sluicehq/sluice/mapping/field"
)

// trials are values of every kind, most of them wrong for any one field.
var trials = []string{
	"null", "true", "false", "0", "1", "-1", "5", "59", "60", "200", "300", "1000", "10000", "1000000", "1.5", "5.0", `""`, `"a"`, `"a b"`, `"5"`, "on", "off",
	"30s", "5MB", "5MB/s", "unlimited", "[]", "[a]", "[a, a]", "[5]", "{}", "{a: 1}", "[{}]", `"kafka://dlq"`, `"http://h/"`, "Stream", "Queue", "LATEST",
	"AT_TIMESTAMP", "pass", "drop", "key", "PLAIN", `"2026-11-01T00:00:00Z"`, "[ReportBatchItemFailures]", `"b:9092"`, `["b:9092"]`, `"127.0.0.1:1"`,
}

// TestLoadAndSchemaAgreeOnEveryFieldWithEveryKindOfValue puts each trial into each field of a file that is good otherwise.
func TestLoadAndSchemaAgreeOnEveryFieldWithEveryKindOfValue(t *testing.T) {
	schema := compileSchema(t)
	places := []struct {
		text   string // with %s where the member goes, and no member that is tried
		fields []field.Field
	}{
		{"server: {%s}\n", config.Type().Field("server").Type.Fields},
		{"clusters: {main: {%s}}\n", config.Type().Field("clusters").Type.Elem.Fields},
		{"functions: {f: {%s}}\n", config.Type().Field("functions").Type.Elem.Fields},
		{"clusters: {main: {bootstrapServers: [\"b:9092\"]}}\nfunctions: {f: {url: \"http://h/\"}}\nmappings: [{name: m, function: f, cluster: main, topics: [t], %s}]\n", mapping.Type().Fields},
	}
	for _, p := range places {
		for path, f := range members("", p.fields) {
			for _, trial := range trials {
				text := fmt.Sprintf(p.text, nested(path, trial))
				agree(t, schema, text, f)
			}
		}
	}
}

// members returns the fields by their dotted paths, those of objects included.
func members(prefix string, fields []field.Field) map[string]*field.Field {
	all := map[string]*field.Field{}
	for i := range fields {
		f := &fields[i]
		path := prefix + f.Name
		if strings.Contains(" name function cluster topics ", " "+path+" ") {
			continue // the file has them already
		}
		all[path] = f
		for p, inner := range members(path+".", f.Type.Fields) {
			all[p] = inner
		}
	}
	return all
}

// nested writes «a: {b: value}» for the path a.b.
func nested(path, value string) string {
	names := strings.Split(path, ".")
	for i := len(names) - 1; i > 0; i-- {
		value = "{" + names[i] + ": " + value + "}"
	}
	return names[0] + ": " + value
}

func agree(t *testing.T, schema *jsonschema.Schema, text string, f *field.Field) {
	t.Helper()
	_, loadErr := config.Parse("trial.yaml", []byte(text), options())
	value, ok := asEditorsSeeIt(t, []byte(text))
	if !ok {
		t.Fatalf("no YAML: %s", text)
	}
	schemaErr := schema.Validate(value)
	if (loadErr == nil) == (schemaErr == nil) || schemaErr == nil && beyond(loadErr, f) {
		return
	}
	t.Errorf("Load says %v, the schema says %v, of\n%s", loadErr, schemaErr, text)
}

// beyond says whether Load refuses what the schema cannot say: ranges of values with units, what the field's type names, files.
func beyond(err error, f *field.Field) bool {
	var all config.Errors
	errors.As(err, &all)
	switch f.Type.Kind {
	case field.KindDuration, field.KindSize, field.KindRate, field.KindTime:
		return strings.HasSuffix(all[0].Path, f.Name)
	}
	return f.Type.Beyond != "" || f.Type.Path
}
