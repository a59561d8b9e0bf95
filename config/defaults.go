package config

import "github.com/sluicehq/sluice/mapping/field"

// takeInDefaults completes the file's mappings with its defaults. It spends a value of the budget for each that it copies,
// and says whether they were there.
func takeInDefaults(root *field.Node, b *budget) bool {
	defaults, mappings := root.At("defaults"), root.At("mappings")
	if mappings == nil {
		return true
	}
	for i, m := range mappings.Items {
		if m.Kind != field.Dictionary || defaults == nil || defaults.Kind != field.Dictionary {
			continue
		}
		mappings.Items[i] = complete(m, defaults, b)
		if b.nodes < 0 {
			return false
		}
	}
	return true
}

// complete returns m with the members of defaults that it lacks: objects member by member, all else whole. A null in m that
// undoes a default goes away together with it. Neither m nor defaults is changed: both may stand behind an anchor that
// others use too.
func complete(m, defaults *field.Node, b *budget) *field.Node {
	out := &field.Node{Kind: field.Dictionary, Place: m.Place}
	missing := map[string]*field.Node{}
	for _, d := range defaults.Members {
		missing[d.Key] = d.Value
	}
	delete(missing, "name") // belongs to one mapping; the check refuses it
	for _, own := range m.Members {
		d := missing[own.Key]
		delete(missing, own.Key)
		if d != nil && own.Value.Kind == field.Null {
			continue
		}
		if d != nil && own.Value.Kind == field.Dictionary && d.Kind == field.Dictionary {
			own.Value = complete(own.Value, d, b)
		}
		out.Members = append(out.Members, own)
	}
	for _, d := range defaults.Members {
		if missing[d.Key] != nil && b.spend(1) {
			out.Members = append(out.Members, d)
		}
	}
	return out
}
