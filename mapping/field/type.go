package field

import "regexp"

// Kind is the kind of a type.
type Kind int

// The kinds of types. In brackets what [Read] returns for each.
const (
	// KindString is text (string).
	KindString Kind = iota
	// KindEnum is one of a few words (string).
	KindEnum
	// KindBool is true or false (bool).
	KindBool
	// KindSwitch is on or off, or true or false (bool).
	KindSwitch
	// KindInt is a whole number (int64).
	KindInt
	// KindDuration is a length of time, such as 30s (time.Duration).
	KindDuration
	// KindSize is an amount of bytes, such as 6MB, or a number of them (int64).
	KindSize
	// KindRate is bytes a second, such as 5MB/s, or «unlimited» (int64, 0 for unlimited).
	KindRate
	// KindTime is an instant, RFC 3339 or seconds since the epoch (time.Time).
	KindTime
	// KindAny is any value.
	KindAny
	// KindList is a list of values of one type.
	KindList
	// KindMap is an object whose keys the user names.
	KindMap
	// KindObject is an object with known fields.
	KindObject
)

// Type says which values are allowed.
type Type struct {
	Kind Kind
	// Min and Max bound, both included: characters of a string, the value of a KindInt, the nanoseconds of a KindDuration,
	// the bytes of a KindSize or KindRate, the number of elements of a KindList or KindMap. A rate may be unlimited all the
	// same.
	Min, Max int64
	// Also are values of a KindInt that are allowed besides Min to Max.
	Also []int64
	// Values are the words of a KindEnum.
	Values []string
	// Pattern is what a KindString matches; it keeps to what RE2 and ECMA-262 share. nil is any text.
	Pattern *regexp.Regexp
	// Looks says in words what text looks like that fits Pattern and Check.
	Looks string
	// Check says why text is not allowed, beyond Pattern, or "". It does not repeat the text. It is not called on text that
	// does not match Pattern.
	Check func(text string) string
	// Beyond says what Check refuses that the JSON Schema cannot; "" where Pattern says it all.
	Beyond string
	// Secret keeps the value out of every error.
	Secret bool
	// Path marks a file's name, relative to the file that holds it.
	Path bool
	// Elem is the type of the elements of a KindList and of the values of a KindMap.
	Elem *Type
	// Unique refuses a list that holds the same text twice.
	Unique bool
	// Keys is the pattern of a KindMap's keys, nil for any, and KeysLook says it in words.
	Keys     *regexp.Regexp
	KeysLook string
	// Fields are the fields of a KindObject.
	Fields []Field
	// Rules are what must hold between the fields of a KindObject that is a scope.
	Rules []Rule
	// Partial marks a KindObject that others complete, such as a block of defaults: nothing is required of it, and no condition
	// on other fields and no rule is asked.
	Partial bool
	// Scope makes a KindObject the root of the paths of the conditions and rules within it.
	Scope bool
}

// Field is one key of an object.
type Field struct {
	// Name is the key in YAML.
	Name string
	// AWS is the member of CreateEventSourceMapping (or the path to it) that it stands for; "" is Sluice's own.
	AWS string
	// Type says which values are allowed.
	Type Type
	// Default is the value where the field is missing, in the type that [Read] returns; nil is none.
	Default any
	// Cases are defaults that come before Default where their condition holds; the first counts.
	Cases []DefaultCase
	// DefaultNote is what the documentation says in place of a default, where that is no plain value.
	DefaultNote string
	// Required refuses an object without the field.
	Required bool
	// RequiredWhen refuses an object without the field where a condition holds.
	RequiredWhen []Requirement
	// Refused are the conditions under which the field may not be there, whatever its value.
	Refused []Refusal
	// Never says why the field is always refused, and what to use instead, as the message behind the field's path; "" for a
	// field that exists.
	Never string
	// NotYet says which of its values need something that does not exist yet; nil for none.
	NotYet *NotYet
	// Doc is one paragraph: what it means, in sentences.
	Doc string
	// Source names the page, KIP or rule where the behaviour was not ours to choose.
	Source string
}

// DefaultCase is a default under a condition.
type DefaultCase struct {
	When  Cond
	Value any
}

// Requirement is a reason why a field may not be missing.
type Requirement struct {
	When Cond
	// Why completes «is required …».
	Why string
}

// Refusal is a reason why a field may not be there.
type Refusal struct {
	When Cond
	// Why is the message behind the field's path: «is not for …».
	Why string
}

// NotYet says which values of a field are valid, but need something that is not yet supported.
type NotYet struct {
	// What is not yet supported, as the subject of a sentence; not needed with Values, which speak for themselves.
	What string
	// Hint says what is supported instead; may be empty.
	Hint string
	// Values are the words that need it, and Pattern matches the text that needs it; where both are nil every value does.
	Values  []string
	Pattern *regexp.Regexp
	// EmptyIsFine lets an empty string, list or object pass: it asks for nothing.
	EmptyIsFine bool
}

// Rule is something that must hold between fields of a scope.
type Rule struct {
	// Doc says it in a sentence.
	Doc string
	// Paths are the fields it looks at. It is not asked while one of them is wrong in itself.
	Paths []string
	// Check returns what is wrong, nothing if the rule holds.
	Check func(scope *Node, c Context) []Violation
	// Schema says the same in JSON Schema; where it cannot, or not all of it, Beyond says why.
	Schema map[string]any
	Beyond string
}

// Violation is a rule that does not hold: the path of the value to blame within the scope, what is wrong, and what to do.
type Violation struct {
	Path, Message, Hint string
}

// String returns a type of text of minChars to maxChars characters that matches pattern, "" for any; looks says in words what
// is allowed.
func String(minChars, maxChars int64, pattern, looks string) Type {
	return Type{Kind: KindString, Min: minChars, Max: maxChars, Pattern: compile(pattern), Looks: looks}
}

// Enum returns a type of words.
func Enum(values ...string) Type { return Type{Kind: KindEnum, Values: values} }

// Bool returns the type of true and false.
func Bool() Type { return Type{Kind: KindBool} }

// Switch returns the type of on and off.
func Switch() Type { return Type{Kind: KindSwitch} }

// Int returns a type of whole numbers: minimum to maximum, and also those.
func Int(minimum, maximum int64, also ...int64) Type {
	return Type{Kind: KindInt, Min: minimum, Max: maximum, Also: also}
}

// List returns a type of lists of minItems to maxItems elements.
func List(elem Type, minItems, maxItems int64) Type {
	return Type{Kind: KindList, Elem: &elem, Min: minItems, Max: maxItems}
}

// Map returns a type of objects with at most maxEntries keys that match keys.
func Map(elem Type, maxEntries int64, keys, keysLook string) Type {
	return Type{Kind: KindMap, Elem: &elem, Max: maxEntries, Keys: compile(keys), KeysLook: keysLook}
}

// compile returns a table's pattern, nil for "".
func compile(pattern string) *regexp.Regexp {
	if pattern == "" {
		return nil
	}
	return regexp.MustCompile(pattern)
}

// Object returns a type of objects with those fields.
func Object(fields ...Field) Type { return Type{Kind: KindObject, Fields: fields} }

// Any returns the type of all values.
func Any() Type { return Type{Kind: KindAny} }

// Field returns the object's field with that name, or nil.
func (t *Type) Field(name string) *Field {
	for i := range t.Fields {
		if t.Fields[i].Name == name {
			return &t.Fields[i]
		}
	}
	return nil
}

// names returns the names of the fields that one may write.
func (t *Type) names() []string {
	var names []string
	for i := range t.Fields {
		if t.Fields[i].Never == "" {
			names = append(names, t.Fields[i].Name)
		}
	}
	return names
}

// Section is a group of fields under a heading of the documentation.
type Section struct {
	Title string
	// Intro is a paragraph in front of the table; it may be empty.
	Intro  string
	Fields []Field
}
