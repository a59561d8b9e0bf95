package config

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/sluicehq/sluice/mapping"
	"github.com/sluicehq/sluice/mapping/field"
)

// Schema returns the JSON Schema (2020-12) of a configuration file, for editors, made from the tables that [Load] checks by.
//
// It says all that JSON Schema can say of one file. It cannot compare two values, look into other files or the environment, or
// read regular expressions and durations; and where a file has defaults, it does not ask whether a mapping is complete.
func Schema() []byte { return schemaText() }

var schemaText = sync.OnceValue(func() []byte {
	text, err := json.MarshalIndent(schema(), "", "  ")
	if err != nil {
		panic(fmt.Sprintf("config: the schema is no JSON: %v", err)) // it is maps, lists and scalars
	}
	return append(text, '\n')
})

func schema() map[string]any {
	s := field.Shape(&documentType)
	properties := s["properties"].(map[string]any)
	replaceItems(properties, "mappings", "#/$defs/mapping")
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "Sluice configuration"
	s["type"] = []any{"object", "null"} // a file of comments alone is null
	s["$defs"] = map[string]any{
		"reference":       field.ReferenceSchema(),
		"mapping":         nullable(field.Shape(mapping.Type())),
		"completeMapping": completeMapping(),
	}
	s["if"] = map[string]any{"required": []any{"defaults"}}
	s["else"] = map[string]any{"properties": map[string]any{"mappings": map[string]any{"items": map[string]any{"$ref": "#/$defs/completeMapping"}}}}
	return s
}

// replaceItems makes a list's elements a reference.
func replaceItems(properties map[string]any, name, ref string) {
	properties[name].(map[string]any)["items"] = map[string]any{"$ref": ref}
}

// nullable lets each member be null, which undoes a default.
func nullable(s map[string]any) map[string]any {
	properties := s["properties"].(map[string]any)
	for name, p := range properties {
		properties[name] = map[string]any{"anyOf": []any{p, map[string]any{"type": "null"}}}
		if mapping.Type().Field(name).Never != "" {
			properties[name] = p
		}
	}
	return s
}

// completeMapping is what is asked of a mapping that no defaults complete.
func completeMapping() map[string]any {
	return map[string]any{
		"allOf":                field.Conditions(mapping.Type()),
		"additionalProperties": map[string]any{"not": map[string]any{"type": "null"}},
	}
}
