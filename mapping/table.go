package mapping

import (
	"github.com/sluicehq/sluice/mapping/field"
)

// Type returns the type of an element of the configuration's mappings list: the one table of a mapping's fields and rules.
// The caller may not change it.
func Type() *field.Type { return &mappingType }

// Sections returns the same fields under the headings of the documentation.
func Sections() []field.Section { return sections }

var sections = []field.Section{
	{Title: "What is read, and by whom", Fields: sourceFields},
	{Title: "Batches", Fields: batchFields},
	{Title: "Filters and schemas", Fields: filterFields},
	{Title: "Failure", Fields: failureFields},
	{Title: "Pollers", Fields: pollerFields},
	{
		Title: "Ordered mode", Fields: orderedFields,
		Intro: "These fields belong to `consumptionMode: Ordered` alone and are refused in the other modes. The mode is not yet supported.",
	},
	{
		Title: "Queue mode", Fields: queueFields,
		Intro: "These fields belong to `consumptionMode: Queue` alone and are refused in the other modes. The mode is not yet supported.",
	},
	{Title: "Observation and labels", Fields: otherFields},
	{
		Title: "Members of AWS's API that are refused", Fields: refusedFields,
		Intro: "AWS Lambda takes these for other event sources, or Sluice has another place for them. Each is refused with the reason.",
	},
}

// fields is the table without the rules, which themselves read fields by it.
var fields = func() field.Type {
	t := field.Type{Kind: field.KindObject, Scope: true}
	for _, s := range sections {
		t.Fields = append(t.Fields, s.Fields...)
	}
	return t
}()

var mappingType = func() field.Type {
	t := fields
	t.Rules = rules
	return t
}()

// inQueue, inOrdered and their opposites are the conditions of the mode rules.
var (
	inQueue    = field.Is("consumptionMode", string(Queue))
	notQueue   = field.IsNot("consumptionMode", string(Queue))
	notOrdered = field.IsNot("consumptionMode", string(Ordered))
)

// onlyInOrdered and onlyInQueue refuse a field in the other modes.
func onlyInOrdered() []field.Refusal {
	return []field.Refusal{{When: notOrdered, Why: "is for consumptionMode Ordered alone"}}
}

func onlyInQueue() []field.Refusal {
	return []field.Refusal{{When: notQueue, Why: "is for consumptionMode Queue alone"}}
}

// entryNameType is the type of names of mappings, functions and clusters.
func entryNameType() field.Type {
	return field.String(1, 128, EntryNamePattern, EntryNameLooks)
}

// EntryNameLooks says in words what [EntryNamePattern] allows.
const EntryNameLooks = "1 to 128 letters, digits, '.', '_' and '-', beginning with a letter or a digit"

// enumOf returns the type of the words of an enumeration.
func enumOf[T ~string](values ...T) field.Type {
	t := field.Type{Kind: field.KindEnum}
	for _, v := range values {
		t.Values = append(t.Values, string(v))
	}
	return t
}
