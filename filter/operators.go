package filter

import (
	"fmt"
	"strings"
)

// list reads the tests of one field.
func (p *parser) list(v *value, at place) *tests {
	t := &tests{source: v}
	if len(v.items) == 0 {
		p.fail(v, at.shown, "the list is empty; allowed: at least one test")
	}
	for i, item := range v.items {
		here := at.item(i)
		switch item.kind {
		case kindNull:
			t.literals |= literalNull
		case kindTrue:
			t.literals |= literalTrue
		case kindFalse:
			t.literals |= literalFalse
		case kindString:
			t.exact(item.text)
		case kindNumber:
			t.number(item.text)
		case kindObject:
			p.operator(item, here, t)
		default:
			p.fail(item, here.shown, "a list is no test; allowed: a string, a number, true, false, null, or an operator")
		}
	}
	t.ready()
	return t
}

const operatorNames = "prefix, suffix, equals-ignore-case, wildcard, anything-but, numeric, exists, cidr, exactly"

// operator reads a test that is an object.
func (p *parser) operator(v *value, at place, t *tests) {
	if len(v.members) != 1 {
		p.fail(v, at.shown, "the test has %d operators; allowed: one of %s", len(v.members), operatorNames)
		return
	}
	name, of := v.members[0].name, v.members[0].value
	here := at.under(name)
	if p.rules.Strict && (name == "wildcard" || name == "cidr" || name == "exactly") {
		p.fail(of, here.shown, "Lambda's table of operators has no %s (strictFilters); allowed: prefix, suffix, equals-ignore-case, anything-but, numeric, exists", name)
		return
	}
	switch name {
	case "exactly":
		if s, ok := p.string(of, here); ok {
			t.strings.add(s)
		}
	case "prefix", "suffix":
		p.affix(name, of, here, &t.texting)
	case "equals-ignore-case":
		if s, ok := p.string(of, here); ok {
			t.folds = append(t.folds, newFold(s, foldWhole))
		}
	case "wildcard":
		p.glob(of, here, &t.texting)
	case "numeric":
		if r, ok := p.numeric(of, here); ok {
			t.ranges = append(t.ranges, r)
		}
	case "exists":
		switch of.kind {
		case kindTrue:
			t.present = true
		case kindFalse:
			t.absent = true
		default:
			p.fail(of, here.shown, "exists has %s; allowed: true or false", of.shown())
		}
	case "cidr":
		if s, ok := p.string(of, here); ok {
			b, err := parseBlock(s)
			if err != nil {
				p.fail(of, here.shown, "%v", err)
			}
			t.blocks = append(t.blocks, b)
		}
	case "anything-but":
		if b, ok := p.but(of, here); ok {
			t.buts = append(t.buts, b)
		}
	default:
		p.fail(&value{at: v.members[0].at}, here.shown, "%s is no operator; allowed: %s", quoted(name), operatorNames)
	}
}

func (p *parser) string(v *value, at place) (string, bool) {
	if v.kind != kindString {
		p.fail(v, at.shown, "%s is no string; allowed: a string", v.shown())
		return "", false
	}
	return v.text, true
}

// affix reads the operand of prefix and suffix: a string, or equals-ignore-case of one.
func (p *parser) affix(name string, v *value, at place, t *texting) {
	if v.kind == kindObject && len(v.members) == 1 && v.members[0].name == "equals-ignore-case" {
		here := at.under("equals-ignore-case")
		if p.rules.Strict {
			p.fail(v, here.shown, "Lambda's table of operators has no %s of equals-ignore-case (strictFilters)", name)
		}
		if s, ok := p.string(v.members[0].value, here); ok {
			where := foldPrefix
			if name == "suffix" {
				where = foldSuffix
			}
			t.folds = append(t.folds, newFold(s, where))
		}
		return
	}
	if v.kind != kindString {
		p.fail(v, at.shown, `%s has %s; allowed: a string, or {"equals-ignore-case": a string}`, name, v.shown())
		return
	}
	t.affix(name, v.text)
}

func (p *parser) glob(v *value, at place, t *texting) {
	s, ok := p.string(v, at)
	if !ok {
		return
	}
	g, err := parseGlob(s)
	if err != nil {
		p.fail(v, at.shown, "%v", err)
	}
	t.globs = append(t.globs, g)
}

const numericAllowed = `allowed: ["=", n], one of < <= > >= with a number, or a lower and an upper bound such as [">=", 1, "<", 5]`

// numeric reads the operand of numeric as a range.
func (p *parser) numeric(v *value, at place) (interval, bool) {
	r := interval{lower: -maxFloat, upper: maxFloat, withLower: true, withUpper: true}
	if v.kind != kindList || len(v.items) != 2 && len(v.items) != 4 {
		p.fail(v, at.shown, "numeric has %s; %s", listShown(v), numericAllowed)
		return r, false
	}
	for i := 0; i < len(v.items); i += 2 {
		sign, bound := v.items[i], v.items[i+1]
		here := at.item(i)
		if sign.kind != kindString || !strings.Contains(" = < <= > >= ", " "+sign.text+" ") {
			p.fail(sign, here.shown, "%s is no comparison; %s", sign.shown(), numericAllowed)
			return r, false
		}
		f, ok := p.bound(bound, at.item(i+1))
		if !ok {
			return r, false
		}
		switch {
		case sign.text == "=" && len(v.items) == 2:
			r.lower, r.upper = f, f
		case sign.text[0] == '>' && i == 0:
			r.lower, r.withLower = f, sign.text == ">="
		case sign.text[0] == '<' && (i == 2 || len(v.items) == 2):
			r.upper, r.withUpper = f, sign.text == "<="
		default:
			p.fail(sign, here.shown, "%s may not stand here; %s", sign.shown(), numericAllowed)
			return r, false
		}
	}
	switch {
	case len(v.items) == 4 && r.lower >= r.upper:
		p.fail(v, at.shown, "the lower bound %s is not below the upper bound %s", short(v.items[1].text), short(v.items[3].text))
		return r, false
	case r.lower == maxFloat && r.upper == maxFloat && v.items[0].text != "=", r.upper == -maxFloat && v.items[0].text != "=":
		p.fail(v, at.shown, "the bound is the last number that there is; allowed: bounds between the ends of 64-bit floats")
		return r, false
	}
	return r, true
}

func listShown(v *value) string {
	if v.kind == kindList {
		return fmt.Sprintf("a list of %d", len(v.items))
	}
	return v.shown()
}

// bound reads a number that must be comparable.
func (p *parser) bound(v *value, at place) (float64, bool) {
	if v.kind != kindNumber {
		p.fail(v, at.shown, "%s is no number; allowed: a number", v.shown())
		return 0, false
	}
	f, ok := parseNumber([]byte(v.text))
	if !ok {
		p.fail(v, at.shown, "%s cannot be compared: a 64-bit float does not hold it; allowed: a number that it does, such as %s", v.shown(), nearest(v.text))
	}
	return f, ok
}

// but reads the operand of anything-but.
func (p *parser) but(v *value, at place) (but, bool) {
	var b but
	bad := len(p.errs)
	switch v.kind {
	case kindString:
		b.strings.add(v.text)
	case kindNumber:
		p.butNumber(v, at, &b)
	case kindList:
		p.butList(v, at, &b)
	case kindObject:
		p.butOperator(v, at, &b)
	default:
		p.fail(v, at.shown, "anything-but has %s; %s", v.shown(), butAllowed)
	}
	b.ready()
	return b, len(p.errs) == bad
}

const butAllowed = "allowed: a string, a number, a list of strings or of numbers, or one of prefix, suffix, equals-ignore-case, wildcard"

func (p *parser) butNumber(v *value, at place, b *but) {
	if f, ok := p.bound(v, at); ok {
		b.numbers = append(b.numbers, f)
	}
}

func (p *parser) butList(v *value, at place, b *but) {
	if len(v.items) == 0 {
		p.fail(v, at.shown, "the list is empty; %s", butAllowed)
		return
	}
	for i, item := range v.items {
		here := at.item(i)
		switch {
		case item.kind != kindString && item.kind != kindNumber:
			p.fail(item, here.shown, "%s may not stand in anything-but; %s", item.shown(), butAllowed)
		case item.kind != v.items[0].kind:
			p.fail(item, here.shown, "strings and numbers are mixed; %s", butAllowed)
		case item.kind == kindString:
			b.strings.add(item.text)
		default:
			p.butNumber(item, here, b)
		}
	}
}

// butOperator reads anything-but of prefix, suffix, equals-ignore-case or wildcard, with a string or a list of them.
func (p *parser) butOperator(v *value, at place, b *but) {
	if len(v.members) != 1 {
		p.fail(v, at.shown, "anything-but has %d operators; %s", len(v.members), butAllowed)
		return
	}
	name, of := v.members[0].name, v.members[0].value
	here := at.under(name)
	if !strings.Contains(" prefix suffix equals-ignore-case wildcard ", " "+name+" ") {
		p.fail(of, here.shown, "%s may not stand in anything-but; %s", quoted(name), butAllowed)
		return
	}
	if p.rules.Strict {
		p.fail(of, here.shown, "Lambda's table of operators has no anything-but of %s (strictFilters)", name)
	}
	items := []*value{of}
	if of.kind == kindList {
		items = of.items
	}
	if len(items) == 0 {
		p.fail(of, here.shown, "the list is empty; allowed: a string, or a list of strings")
	}
	for i, item := range items {
		at := here
		if of.kind == kindList {
			at = here.item(i)
		}
		switch {
		case item.kind != kindString:
			p.fail(item, at.shown, "%s is no string; allowed: a string, or a list of strings", item.shown())
		case name == "wildcard":
			p.glob(item, at, &b.texting)
		case name == "equals-ignore-case":
			b.folds = append(b.folds, newFold(item.text, foldWhole))
		case item.text == "":
			p.fail(item, at.shown, "%s of anything-but is empty; allowed: at least one character", name)
		default:
			b.affix(name, item.text)
		}
	}
}
