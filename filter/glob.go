package filter

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// glob is the operand of wildcard: pieces of text with any run of characters between them. The leftmost place is the right
// one for every piece, so that a value is passed once.
type glob struct {
	first  []byte   // what a value begins with
	middle [][]byte // what follows somewhere, in this order
	last   []byte   // what it ends with
	exact  bool     // there is no *: first is all
}

// parseGlob reads text in which * is any run of characters, and \* and \\ are those characters.
func parseGlob(text string) (glob, error) {
	var pieces [][]byte
	var piece []byte
	star := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '*':
			if star {
				return glob{}, errors.New(`"**" may not stand in a wildcard; allowed: one *`)
			}
			pieces = append(pieces, piece)
			piece, star = nil, true
			continue
		case '\\':
			if i++; i == len(text) || !strings.ContainsRune(`*\`, rune(text[i])) {
				return glob{}, fmt.Errorf(`a backslash in a wildcard stands before something else than * or \ (character %d of it)`, column(text, i-1))
			}
			piece = append(piece, text[i])
		default:
			piece = append(piece, c)
		}
		star = false
	}
	if len(pieces) == 0 {
		return glob{first: piece, exact: true}, nil
	}
	return glob{first: pieces[0], middle: pieces[1:], last: piece}, nil
}

func (g *glob) accepts(s []byte) bool {
	if g.exact {
		return bytes.Equal(s, g.first)
	}
	if len(s) < len(g.first)+len(g.last) || !bytes.HasPrefix(s, g.first) || !bytes.HasSuffix(s, g.last) {
		return false
	}
	s = s[len(g.first) : len(s)-len(g.last)]
	for _, piece := range g.middle {
		i := bytes.Index(s, piece)
		if i < 0 {
			return false
		}
		s = s[i+len(piece):]
	}
	return true
}
