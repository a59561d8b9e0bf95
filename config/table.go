package config

import (
	"github.com/sluicehq/sluice/mapping"
	"github.com/sluicehq/sluice/mapping/field"
)

// Type returns the type of a configuration file: the one table of its keys. The caller may not change it.
func Type() *field.Type { return &documentType }

var documentType = field.Object(
	field.Field{
		Name: "server", Type: serverType,
		Doc: "The service itself: where it listens and how it ends.",
	},
	field.Field{
		Name: "state", Type: stateType, NotYet: &field.NotYet{What: "keeping mappings that the API made", EmptyIsFine: true},
		Doc: "Where mappings live that the API made.",
	},
	field.Field{
		Name: "secrets", Type: field.Any(), NotYet: &field.NotYet{What: "mapping secret ARNs to values", EmptyIsFine: true},
		Doc: "What the ARNs of SourceAccessConfigurations stand for.",
	},
	field.Field{
		Name: "clusters", Type: field.Map(clusterType, 1000, mapping.EntryNamePattern, mapping.EntryNameLooks),
		Doc: "The Kafka clusters by the names that mappings use.",
	},
	field.Field{
		Name: "functions", Type: field.Map(functionType, 10000, mapping.EntryNamePattern, mapping.EntryNameLooks),
		Doc: "The functions by the names that mappings use.",
	},
	field.Field{
		Name: "defaults", Type: defaultsType(),
		Doc: "Members for those mappings of the same file that lack them: objects are completed member by member, lists are " +
			"taken whole. A mapping undoes a default with null.",
	},
	field.Field{
		Name: "mappings", Type: field.List(*mapping.Type(), 0, 10000),
		Doc: "The event source mappings.",
	},
)

// defaultsType is a mapping's type for a block that mappings complete.
func defaultsType() field.Type {
	t := field.Type{Kind: field.KindObject, Partial: true}
	for _, f := range mapping.Type().Fields {
		if f.Name == "name" {
			f = field.Field{Name: f.Name, Never: "a name belongs to one mapping and has no default"}
		}
		t.Fields = append(t.Fields, f)
	}
	return t
}
