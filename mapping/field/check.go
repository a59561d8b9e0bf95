package field

import (
	"fmt"
	"strings"
	"time"
)

// Context is what a check needs to know beside the value.
type Context struct {
	// AllowNotYet lets values pass that need something that is not yet supported.
	AllowNotYet bool
	// Now is the time that instants are compared with.
	Now time.Time
}

// Check returns all that is wrong with n as a value of type t, in the order of the file as far as n has it. Each problem's
// path begins with path. One mistake makes one problem: a value that is wrong in itself is not asked whether it is allowed
// with others.
func Check(t *Type, n *Node, path string, c Context) []Problem {
	var ps problems
	k := checker{Context: c, found: &ps, scope: n, scopePath: path}
	k.check(t, n, path)
	return ps
}

// checker walks a type and a value together.
type checker struct {
	Context
	found     *problems
	scope     *Node
	scopePath string
	// partial is set within an object that others complete.
	partial bool
}

func (k checker) check(t *Type, n *Node, path string) {
	if n.Kind == Broken {
		return
	}
	switch t.Kind {
	case KindAny:
	case KindObject:
		k.object(t, n, path)
	case KindMap:
		k.dictionary(t, n, path)
	case KindList:
		k.list(t, n, path)
	default:
		k.scalar(t, n, path)
	}
}

func (k checker) scalar(t *Type, n *Node, path string) {
	if n.Kind == Null {
		k.noValue(n, path, t)
		return
	}
	_, failure := t.value(n)
	if failure == "" {
		return
	}
	shown := n.Shown()
	if t.Secret {
		shown = "the value"
	}
	if n.Reference != "" && t.Check != nil && !strings.HasPrefix(failure, "is longer") && failure != "is empty" {
		failure = "is not allowed" // what Check says may repeat parts of a value from outside the file
	}
	k.found.add(n.Place, path, scalarHint(t, n), "%s", sentence(t, shown, failure))
}

// sentence joins the value, what is wrong with it and what is allowed, once.
func sentence(t *Type, shown, failure string) string {
	if allowed := t.Allowed(); !strings.Contains(failure, allowed) && !strings.Contains(failure, "allowed:") {
		return fmt.Sprintf("%s %s; allowed: %s", shown, failure, allowed)
	}
	return shown + " " + failure
}

// scalarHint says what to do about frequent slips.
func scalarHint(t *Type, n *Node) string {
	if n.Reference != "" {
		return ""
	}
	switch t.Kind {
	case KindEnum:
		return DidYouMean(n.Text, t.Values)
	case KindString:
		if n.Kind == Boolean || n.Kind == Integer || n.Kind == Float {
			return "write it in quotes"
		}
	case KindInt, KindBool, KindSize:
		if n.Kind != Text {
			break
		}
		plain := *n
		plain.Reference = n.Text
		if _, failure := t.value(&plain); failure == "" {
			return "write it without quotes"
		}
	case KindDuration:
		if n.Kind == Integer {
			return "write it with its unit, such as " + n.Text + "s"
		}
	}
	return ""
}

// noValue reports a key with nothing behind it.
func (k checker) noValue(n *Node, path string, t *Type) {
	hint := ""
	if t.Kind == KindObject || t.Kind == KindMap {
		hint = "write {} for one without members"
	}
	k.found.add(n.Place, path, hint, "has no value; allowed: %s", t.Allowed())
}

// shape reports a value of the wrong kind.
func (k checker) shape(t *Type, n *Node, want NodeKind, path string) bool {
	if n.Kind == want {
		return true
	}
	if n.Kind == Null {
		k.noValue(n, path, t)
	} else {
		k.found.add(n.Place, path, "", "%s is not %s", n.Shown(), t.noun())
	}
	return false
}

func (k checker) list(t *Type, n *Node, path string) {
	if !k.shape(t, n, Sequence, path) {
		return
	}
	if size := int64(len(n.Items)); size < t.Min || size > t.Max {
		k.found.add(n.Place, path, "", "has %s; allowed: %s", count(len(n.Items), "element"), t.Allowed())
	}
	seen := map[string]*Node{}
	for i, item := range n.Items {
		at := fmt.Sprintf("%s[%d]", path, i)
		before := len(*k.found)
		k.check(t.Elem, item, at)
		if !t.Unique || len(*k.found) > before || item.Kind == Broken {
			continue
		}
		if first := seen[item.Text]; first != nil {
			k.found.add(item.Place, at, "", "%s is there twice, first at %s", item.Shown(), first.Place)
		} else {
			seen[item.Text] = item
		}
	}
}

func (k checker) dictionary(t *Type, n *Node, path string) {
	if !k.shape(t, n, Dictionary, path) {
		return
	}
	if size := int64(len(n.Members)); size < t.Min || size > t.Max {
		k.found.add(n.Place, path, "", "has %s; allowed: %s", count(len(n.Members), "entry"), t.Allowed())
	}
	for _, m := range n.Members {
		at := path + "." + m.Key
		if t.Keys != nil && !t.Keys.MatchString(m.Key) {
			k.found.add(m.Place, at, "", "the name is not allowed; allowed: %s", t.KeysLook)
		}
		k.check(t.Elem, m.Value, at)
	}
}

func count(n int, noun string) string {
	if n != 1 {
		noun = strings.TrimSuffix(noun, "y") + map[bool]string{true: "ies", false: "s"}[strings.HasSuffix(noun, "y")]
	}
	return fmt.Sprintf("%d %s", n, noun)
}
