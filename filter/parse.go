package filter

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// clauses is a branch that is being built: the tests of each dotted path.
type clauses map[string]*tests

// parser turns the text of one pattern into branches.
type parser struct {
	rules   Rules
	pattern int
	text    string
	errs    Errors
	full    bool // the branches have become too many; that is said once
}

// place is where in a pattern something stands: as the path that it names, and as a JSON path for people.
type place struct {
	top    bool
	dotted string
	shown  string
}

var plainName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$-]*$`)

func (p place) name(name string) place {
	shown := p.shown + "." + name
	if !plainName.MatchString(name) {
		shown = fmt.Sprintf("%s[%s]", p.shown, quoted(name))
	}
	if p.top {
		return place{dotted: name, shown: shown}
	}
	return place{dotted: p.dotted + "." + name, shown: shown}
}

func (p place) item(i int) place {
	return place{top: p.top, dotted: p.dotted, shown: fmt.Sprintf("%s[%d]", p.shown, i)}
}

// under is a place inside a test, which names no field.
func (p place) under(name string) place {
	return place{dotted: p.dotted, shown: p.shown + "." + name}
}

// fail notes what is wrong at v, or with the pattern as a whole without v.
func (p *parser) fail(v *value, shown, format string, args ...any) {
	e := Error{Pattern: p.pattern, Path: shown, Message: fmt.Sprintf(format, args...)}
	if v != nil {
		e.Column = column(p.text, v.at)
	}
	p.errs = append(p.errs, e)
}

// parse returns the branches of the pattern, or none with p.errs.
func (p *parser) parse() []clauses {
	root, at, err := readJSON(p.text)
	if err != nil {
		p.fail(&value{at: at}, "", "the pattern is not JSON: %v", err)
		return nil
	}
	start := place{top: true, shown: "$"}
	if root.kind != kindObject {
		p.fail(root, "$", "%s is no pattern; allowed: an object of fields", root.shown())
		return nil
	}
	branches := p.object(root, start, []clauses{{}}, false)
	for _, b := range branches {
		if len(b) > FieldsMax && !p.full {
			p.full = true
			p.fail(nil, "", "%d fields must hold at once; allowed: up to %d", len(b), FieldsMax)
		}
	}
	if len(p.errs) > 0 {
		return nil
	}
	return branches
}

// object applies the members of an object of fields, in the order of the text, to the branches so far.
func (p *parser) object(v *value, at place, branches []clauses, inOr bool) []clauses {
	if len(v.members) == 0 {
		p.fail(v, at.shown, "the object is empty; allowed: at least one field")
	}
	for _, m := range v.members {
		below := at.name(m.name)
		switch {
		case at.top && m.name != "$or" && !p.known(m, below):
		case m.name == "$or":
			branches = p.or(m.value, below, at, branches)
		case inOr && reserved[m.name]:
			p.fail(&value{at: m.at}, below.shown, "%s is the name of an operator, which a field inside $or may not have", quoted(m.name))
		case m.value.kind == kindObject:
			branches = p.object(m.value, below, branches, inOr)
		case m.value.kind == kindList:
			p.fitsRecord(m, below)
			list := p.list(m.value, below)
			for _, b := range branches {
				b[below.dotted] = list
			}
		case reserved[m.name]:
			p.fail(&value{at: m.at}, at.shown, "the operator %s stands outside of a list of tests; allowed: a list such as [{%s: %s}]", m.name, quoted(m.name), m.value.shown())
		default:
			p.fail(m.value, below.shown, "%s is no list of tests; allowed: a list such as [%s], or an object of fields", m.value.shown(), m.value.shown())
		}
	}
	return branches
}

// or returns one copy of the branches for each alternative, with the alternative applied to it.
func (p *parser) or(v *value, at, parent place, branches []clauses) []clauses {
	if v.kind != kindList || len(v.items) < 2 {
		p.fail(v, at.shown, "$or has %s; allowed: a list of at least two objects", listShown(v))
		return branches
	}
	var all []clauses
	for i, alternative := range v.items {
		here := place{top: parent.top, dotted: parent.dotted, shown: fmt.Sprintf("%s[%d]", at.shown, i)}
		if alternative.kind != kindObject {
			p.fail(alternative, here.shown, "%s is no alternative of $or; allowed: an object of fields", alternative.shown())
			continue
		}
		if len(all)+len(branches) > BranchesMax {
			p.tooMany(v, at)
			return branches
		}
		copied := make([]clauses, len(branches))
		for j, b := range branches {
			copied[j] = maps.Clone(b)
		}
		all = append(all, p.object(alternative, here, copied, true)...)
		if len(all) > BranchesMax { // by the alternative's own $or
			p.tooMany(v, at)
			return branches
		}
	}
	if len(all) == 0 {
		return branches
	}
	return all
}

func (p *parser) tooMany(or *value, at place) {
	if !p.full {
		p.full = true
		p.fail(or, at.shown, "the pattern's $or multiply to more than %d alternatives; allowed: up to %d", BranchesMax, BranchesMax)
	}
}

// reserved are the names that a field inside $or may not have: operators of the reference, also those to come.
var reserved = set("exactly", "equals-ignore-case", "prefix", "suffix", "anything-but", "exists", "wildcard", "numeric", "cidr",
	"=", "<", "<=", ">", ">=", "regex", "not-wildcard", "not-equals-ignore-case", "date-after", "date-on-or-after", "date-before",
	"date-on-or-before", "in-date-range", "ip-address-in-range", "ip-address-not-in-range")

func set(names ...string) map[string]bool {
	all := make(map[string]bool, len(names))
	for _, name := range names {
		all[name] = true
	}
	return all
}

// RecordFields are the names at the top of what a pattern sees of a record.
var RecordFields = []string{"value", "key", "topic", "partition", "offset", "timestamp", "timestampType", "headers"}

// known says whether a name at the top is one of a record's, and complains if not.
func (p *parser) known(m member, at place) bool {
	top, _, _ := strings.Cut(m.name, ".")
	switch {
	case p.rules.AnyField:
	case !slices.Contains(RecordFields, top):
		p.fail(&value{at: m.at}, at.shown, "a record has no field %s; allowed: %s; fields of its JSON stand under value", quoted(top), strings.Join(RecordFields, ", "))
		return false
	case p.rules.Strict && top != "value":
		p.fail(&value{at: m.at}, at.shown, "Lambda filters by value alone, not by %s (strictFilters); allowed: value", top)
		return false
	}
	return true
}

// fitsRecord complains about a list of tests where a record has an object, and the other way round.
func (p *parser) fitsRecord(m member, at place) {
	top, below, deeper := strings.Cut(at.dotted, ".")
	switch {
	case p.rules.AnyField:
	case top == "headers" && !deeper:
		p.fail(&value{at: m.at}, at.shown, "headers has a list of tests; allowed: an object with the names of headers")
	case deeper && top != "value" && top != "key" && top != "headers":
		p.fail(&value{at: m.at}, at.shown, "%s has no field %s; allowed: a list of tests", top, quoted(below))
	}
}
