package field

import (
	"strings"
	"time"
)

// object is a JSON Schema object on its way.
type object = map[string]any

// ReferenceSchema is what a scalar may be instead of its type: text with a «${…}» in it, whose value the schema cannot know.
// It stands in $defs under the name «reference».
func ReferenceSchema() map[string]any {
	return object{"type": "string", "pattern": `\$\{`, "description": "A value from outside: ${NAME} or ${file:PATH}."}
}

var reference = object{"$ref": "#/$defs/reference"}

// nothing matches no value.
func nothing() object { return object{"not": object{}} }

// Schema returns the JSON Schema (2020-12) of a type: its [Shape] and its [Conditions].
func Schema(t *Type) map[string]any {
	s := Shape(t)
	if all := Conditions(t); len(all) > 0 {
		s["allOf"] = all
	}
	return s
}

// Shape returns the JSON Schema of what a value of the type looks like in itself: kinds, ranges, known keys, fields that are
// always refused, and what is not yet supported. Of the objects in lists and maps it has the conditions too.
func Shape(t *Type) map[string]any {
	switch t.Kind {
	case KindAny:
		return object{}
	case KindObject:
		return t.objectShape()
	case KindList:
		return t.listShape()
	case KindMap:
		s := object{"type": "object", "additionalProperties": Schema(t.Elem), "maxProperties": t.Max}
		if t.Keys != nil {
			s["propertyNames"] = object{"pattern": t.Keys.String()}
		}
		return s
	}
	return object{"anyOf": []any{t.scalarShape(), reference}}
}

func (t *Type) objectShape() object {
	properties := object{}
	for i := range t.Fields {
		properties[t.Fields[i].Name] = t.Fields[i].shape()
	}
	return object{"type": "object", "properties": properties, "additionalProperties": false}
}

func (t *Type) listShape() object {
	s := object{"type": "array", "items": Schema(t.Elem), "maxItems": t.Max}
	if t.Min > 0 {
		s["minItems"] = t.Min
	}
	if t.Unique {
		s["uniqueItems"] = true
	}
	return s
}

func (t *Type) scalarShape() object {
	switch t.Kind {
	case KindEnum:
		return object{"enum": anys(t.Values)}
	case KindBool:
		return object{"type": "boolean"}
	case KindSwitch:
		return object{"enum": []any{"on", "off", true, false}}
	case KindInt:
		return t.intShape()
	case KindDuration:
		return object{"type": "string", "pattern": durationPattern}
	case KindSize:
		return object{"anyOf": []any{
			object{"type": "integer", "minimum": t.Min, "maximum": t.Max}, object{"type": "string", "pattern": sizePattern},
		}}
	case KindRate:
		return object{"type": "string", "pattern": ratePattern}
	case KindTime:
		return object{"anyOf": []any{
			object{"type": "number", "minimum": 0, "maximum": lastSecond},
			object{"type": "string", "pattern": secondsPattern},
			object{"type": "string", "pattern": instantPattern},
		}}
	}
	s := object{"type": "string", "maxLength": t.Max}
	if t.Min > 0 {
		s["minLength"] = t.Min
	}
	if t.Pattern != nil {
		s["pattern"] = t.Pattern.String()
	}
	return s
}

func (t *Type) intShape() object {
	s := object{"type": "integer", "minimum": t.Min, "maximum": t.Max}
	if len(t.Also) == 0 {
		return s
	}
	var also []any
	for _, v := range t.Also {
		also = append(also, v)
	}
	return object{"anyOf": []any{object{"enum": also}, s}}
}

func anys(words []string) []any {
	list := make([]any, len(words))
	for i, w := range words {
		list[i] = w
	}
	return list
}

// shape returns the schema of a field's value, with its documentation for editors.
func (f *Field) shape() object {
	if f.Never != "" {
		s := nothing()
		s["description"] = "This key " + f.Never + "."
		return s
	}
	s := f.supportedShape()
	s["description"] = f.Doc
	if f.NotYet != nil && f.NotYet.Values == nil && f.NotYet.Pattern == nil {
		s["description"] = "Not yet supported. " + f.Doc
	}
	if d := f.plainDefault(); d != nil {
		s["default"] = d
	}
	return s
}

// supportedShape returns the shape without what is not yet supported.
func (f *Field) supportedShape() object {
	ny := f.NotYet
	if ny == nil && f.Type.Scope {
		return Schema(&f.Type)
	}
	if ny == nil {
		return Shape(&f.Type)
	}
	switch {
	case ny.Values != nil:
		return object{"allOf": []any{Shape(&f.Type), object{"not": object{"enum": anys(ny.Values)}}}}
	case ny.Pattern != nil:
		return object{"allOf": []any{Shape(&f.Type), object{"not": object{"type": "string", "pattern": ny.Pattern.String()}}}}
	case !ny.EmptyIsFine:
		return nothing()
	case f.Type.Kind == KindString:
		return object{"anyOf": []any{object{"const": ""}, reference}}
	}
	return object{"anyOf": []any{
		object{"type": "array", "maxItems": 0}, object{"type": "object", "maxProperties": 0},
	}, "allOf": []any{Shape(&f.Type)}}
}

// plainDefault returns the default as it would be written, nil where there is none or it depends on other fields.
func (f *Field) plainDefault() any {
	if len(f.Cases) > 0 || f.DefaultNote != "" {
		return nil
	}
	switch v := f.Default.(type) {
	case time.Duration:
		return FormatDuration(v)
	case bool:
		if f.Type.Kind == KindSwitch {
			return map[bool]string{true: "on", false: "off"}[v]
		}
	}
	return f.Default
}

// Conditions returns the JSON Schemas of what is required of an object of the type, of what its conditions refuse and of its
// rules, as far as JSON Schema can say them: all of them must match.
func Conditions(t *Type) []any {
	if t.Kind != KindObject || t.Partial {
		return nil
	}
	all := t.conditions("")
	for i := range t.Rules {
		if s := t.Rules[i].Schema; s != nil {
			all = append(all, s)
		}
	}
	return all
}

func (t *Type) conditions(prefix string) []any {
	var all, required []any
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Never != "" {
			continue
		}
		if f.Required {
			required = append(required, f.Name)
		}
		for _, r := range f.RequiredWhen {
			all = append(all, object{"if": r.When.schema(), "then": within(prefix, object{"required": []any{f.Name}})})
		}
		for _, r := range f.Refused {
			all = append(all, object{"if": r.When.schema(), "then": within(prefix, object{"properties": object{f.Name: nothing()}})})
		}
		if f.Type.Kind == KindObject && !f.Type.Scope {
			all = append(all, f.Type.conditions(join(prefix, f.Name))...)
		}
	}
	if required != nil {
		all = append(all, within(prefix, object{"required": required}))
	}
	return all
}

// within returns a schema that puts s to the object at a dotted path, if that is there.
func within(path string, s object) object {
	names := strings.Split(path, ".")
	for i := len(names) - 1; i >= 0 && path != ""; i-- {
		s = object{"properties": object{names[i]: s}}
	}
	return s
}

// schema returns the condition as a schema of its scope. Where a value comes from outside, a condition that it is something
// does not hold, nor does one that it is not.
func (c Cond) schema() object {
	leaf := object{"not": object{"enum": []any{"", nil, []any{}, object{}}}}
	if c.Is != nil {
		leaf = object{"enum": anys(c.Is)}
		if c.Not {
			leaf = object{"anyOf": []any{leaf, reference}}
		}
	}
	s := leaf
	names := strings.Split(c.Path, ".")
	for i := len(names) - 1; i >= 0; i-- {
		s = object{"type": "object", "properties": object{names[i]: s}, "required": []any{names[i]}}
	}
	if c.Not {
		return object{"not": s}
	}
	return s
}
