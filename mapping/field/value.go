package field

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// value reads a scalar as the type wants it, ranges included. The failure says what is wrong, without the value itself:
// «is not a whole number».
func (t *Type) value(n *Node) (v any, failure string) {
	if n.Kind == Sequence || n.Kind == Dictionary || n.Kind == Null {
		return nil, "is not " + t.noun()
	}
	switch t.Kind {
	case KindString:
		return t.stringValue(n)
	case KindEnum:
		if n.Kind != Text && n.Reference == "" || !slices.Contains(t.Values, n.Text) {
			return nil, "is not allowed"
		}
		return n.Text, ""
	case KindBool:
		return boolValue(n, n.Text, Boolean)
	case KindSwitch:
		return switchValue(n)
	case KindInt:
		return t.intValue(n)
	case KindDuration:
		return t.durationValue(n)
	case KindSize, KindRate:
		return t.bytesValue(n)
	case KindTime:
		return timeValue(n)
	}
	panic(fmt.Sprintf("field: a value of kind %d has no scalar", t.Kind))
}

func (t *Type) stringValue(n *Node) (any, string) {
	if n.Kind != Text && n.Reference == "" {
		return nil, "is " + n.Kind.String() + ", not text"
	}
	switch length := int64(utf8.RuneCountInString(n.Text)); {
	case length == 0 && t.Min > 0:
		return nil, "is empty"
	case length < t.Min:
		return nil, fmt.Sprintf("is shorter than %d characters", t.Min)
	case length > t.Max:
		return nil, fmt.Sprintf("is longer than %d characters", t.Max)
	case t.Pattern != nil && !t.Pattern.MatchString(n.Text):
		return nil, "is not " + t.Allowed()
	}
	if t.Check != nil {
		if why := t.Check(n.Text); why != "" {
			return nil, why
		}
	}
	return n.Text, ""
}

func boolValue(n *Node, text string, kind NodeKind) (any, string) {
	if n.Kind == kind || n.Reference != "" {
		switch text {
		case "true":
			return true, ""
		case "false":
			return false, ""
		}
	}
	return nil, "is not true or false"
}

func switchValue(n *Node) (any, string) {
	if n.Kind == Text {
		switch n.Text {
		case "on":
			return true, ""
		case "off":
			return false, ""
		}
	}
	if v, failure := boolValue(n, n.Text, Boolean); failure == "" {
		return v, ""
	}
	return nil, "is not on or off"
}

func (t *Type) intValue(n *Node) (any, string) {
	v, ok := wholeNumber(n)
	if !ok {
		return nil, "is not a whole number"
	}
	if (v < t.Min || v > t.Max) && !slices.Contains(t.Also, v) {
		return nil, "is not allowed"
	}
	return v, ""
}

// wholeNumber reads an integer; a float without a fraction is one, as in JSON Schema.
func wholeNumber(n *Node) (int64, bool) {
	if n.Kind == Text && n.Reference == "" {
		return 0, false
	}
	text := strings.TrimSpace(n.Text)
	if v, err := strconv.ParseInt(text, 10, 64); err == nil {
		return v, true
	}
	if n.Kind != Float && n.Kind != Integer {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange), math.IsNaN(f), f != math.Trunc(f):
		return 0, false
	case f >= math.MaxInt64:
		return math.MaxInt64, true // out of any range, but a whole number
	case f <= math.MinInt64:
		return math.MinInt64, true
	}
	return int64(f), true
}

func (t *Type) durationValue(n *Node) (any, string) {
	d, err := ParseDuration(strings.TrimSpace(n.Text))
	if err != nil || n.Kind != Text && n.Reference == "" {
		return nil, "is not a duration"
	}
	if d < time.Duration(t.Min) || d > time.Duration(t.Max) {
		return nil, "is not allowed"
	}
	return d, ""
}

func (t *Type) bytesValue(n *Node) (any, string) {
	var v int64
	var err error
	if t.Kind == KindRate {
		v, err = ParseRate(strings.TrimSpace(n.Text))
		if err == nil && strings.TrimSpace(n.Text) == "unlimited" {
			return v, ""
		}
	} else if number, ok := wholeNumber(n); ok {
		v = number
	} else {
		v, err = ParseSize(strings.TrimSpace(n.Text))
		if err == nil && n.Reference == "" && !sizeText.MatchString(n.Text) {
			return nil, "is text, not a number" // «"6291456"»: a bare number stands without quotes
		}
	}
	if err != nil {
		return nil, err.Error()
	}
	if v < t.Min || v > t.Max {
		return nil, "is not allowed"
	}
	return v, ""
}

func timeValue(n *Node) (any, string) {
	at, err := ParseTime(strings.TrimSpace(n.Text))
	if n.Kind == Float && n.Reference == "" {
		f, bad := strconv.ParseFloat(n.Text, 64) // YAML and JSON have exponents too
		if at, err = secondsToTime(f); bad != nil {
			return nil, "is not an instant"
		}
	}
	if err != nil {
		return nil, err.Error()
	}
	return at, ""
}

// noun is what the type's values are called.
func (t *Type) noun() string {
	return [...]string{
		KindString: "text", KindEnum: "a word", KindBool: "true or false", KindSwitch: "on or off",
		KindInt: "a whole number", KindDuration: "a duration", KindSize: "a size", KindRate: "a rate", KindTime: "an instant",
		KindAny: "a value", KindList: "a list", KindMap: "an object", KindObject: "an object",
	}[t.Kind]
}

// Allowed says in words which values are allowed: «1 to 10000», «Stream, Queue or Ordered».
func (t *Type) Allowed() string {
	switch t.Kind {
	case KindString:
		if t.Looks != "" {
			return t.Looks
		}
		return fmt.Sprintf("text of %d to %d characters", t.Min, t.Max)
	case KindEnum:
		return words(t.Values)
	case KindInt:
		return t.allowedInts()
	case KindDuration:
		return fmt.Sprintf("a duration from %s to %s", FormatDuration(time.Duration(t.Min)), FormatDuration(time.Duration(t.Max)))
	case KindSize:
		return fmt.Sprintf("%s to %s, as bytes or with a unit", FormatSize(t.Min), FormatSize(t.Max))
	case KindRate:
		return fmt.Sprintf("%s to %s, or unlimited", FormatRate(t.Min), FormatRate(t.Max))
	case KindTime:
		return "seconds since the epoch, or RFC 3339 such as 2026-11-30T10:15:00Z"
	case KindList:
		return t.allowedItems("elements")
	case KindMap:
		return t.allowedItems("entries")
	}
	return t.noun()
}

func (t *Type) allowedInts() string {
	var also []string
	for _, v := range t.Also {
		also = append(also, strconv.FormatInt(v, 10))
	}
	return words(append(also, fmt.Sprintf("%d to %d", t.Min, t.Max)))
}

func (t *Type) allowedItems(what string) string {
	if t.Min == t.Max {
		return fmt.Sprintf("exactly %d %s", t.Min, strings.TrimSuffix(what, "s"))
	}
	return fmt.Sprintf("%d to %d %s", t.Min, t.Max, what)
}

// words joins «a, b or c».
func words(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}
