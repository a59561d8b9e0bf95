package filter

import (
	"fmt"
	"strconv"
	"strings"
)

// address is an IP address. An IPv6 address that maps an IPv4 one is that one.
type address struct {
	bytes [16]byte // an IPv4 address stands in the first four
	six   bool
}

// v4Max and v6Max are the longest ways to write an address.
const (
	v4Max = len("255.255.255.255")
	v6Max = len("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")
)

// parseAddress reads an address as the reference does: IPv4 with leading zeros that mean nothing, IPv6 without dots and zones.
func parseAddress(s []byte) (address, bool) {
	if len(s) == 0 || len(s) > v6Max {
		return address{}, false
	}
	for _, c := range s {
		switch {
		case c == '.':
			return parseV4(s)
		case c == ':':
			return parseV6(s)
		case hexDigit(c) < 0:
			return address{}, false
		}
	}
	return address{}, false
}

func parseV4(s []byte) (a address, ok bool) {
	if len(s) > v4Max {
		return a, false
	}
	group, digits, n := 0, 0, 0
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9':
			digits++
			if n = n*10 + int(c-'0'); n > 255 {
				return a, false
			}
		case c == '.' && digits > 0 && group < 3:
			a.bytes[group] = byte(n)
			group, digits, n = group+1, 0, 0
		default:
			return a, false
		}
	}
	a.bytes[group] = byte(n)
	return a, group == 3 && digits > 0
}

func parseV6(s []byte) (a address, ok bool) {
	var groups [8]uint16
	n, gap := 0, -1 // groups so far; before which of them :: stands
	i := 0
	if len(s) >= 2 && s[0] == ':' {
		if s[1] != ':' {
			return a, false
		}
		gap, i = 0, 2
	}
	for i < len(s) {
		if n == len(groups) {
			return a, false
		}
		v, digits := 0, 0
		for ; i < len(s) && hexDigit(s[i]) >= 0; i++ {
			v = v<<4 | hexDigit(s[i])
			digits++
		}
		if digits == 0 || digits > 4 {
			return a, false
		}
		groups[n] = uint16(v)
		n++
		if i == len(s) {
			break
		}
		if s[i] != ':' {
			return a, false
		}
		if i++; i == len(s) {
			return a, false // one colon at the end
		}
		if s[i] == ':' {
			if gap >= 0 {
				return a, false
			}
			gap = n
			i++
		}
	}
	switch {
	case gap < 0 && n < len(groups), gap >= 0 && n == len(groups):
		return a, false
	case gap >= 0:
		moved := copy(groups[len(groups)-(n-gap):], groups[gap:n])
		clear(groups[gap : len(groups)-moved])
	}
	if groups[5] == 0xffff && groups[0]|groups[1]|groups[2]|groups[3]|groups[4] == 0 {
		a.bytes = [16]byte{byte(groups[6] >> 8), byte(groups[6]), byte(groups[7] >> 8), byte(groups[7])}
		return a, true
	}
	for i, g := range groups {
		a.bytes[2*i], a.bytes[2*i+1] = byte(g>>8), byte(g)
	}
	a.six = true
	return a, true
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// block is the operand of cidr.
type block struct {
	address address
	bits    int
}

// parseBlock reads address/bits. A block of one address is refused, as in the reference: the address itself is the test.
func parseBlock(text string) (block, error) {
	const allowed = `allowed: an address and its bits, such as "10.0.0.0/8" (0 to 31) or "2001:db8::/32" (0 to 127)`
	base, width, found := strings.Cut(text, "/")
	a, ok := parseAddress([]byte(base))
	if !found || !ok {
		return block{}, fmt.Errorf("%s is no block of addresses; %s", quoted(text), allowed)
	}
	most := 31
	if a.six {
		most = 127
	}
	bits, err := strconv.ParseUint(width, 10, 8)
	if err != nil || int(bits) > most {
		return block{}, fmt.Errorf("%s has %s bits; %s", quoted(text), quoted(width), allowed)
	}
	b := block{a, int(bits)}
	b.address.mask(b.bits)
	return b, nil
}

// mask clears all but the first bits.
func (a *address) mask(bits int) {
	for i := range a.bytes {
		switch n := bits - 8*i; {
		case n <= 0:
			a.bytes[i] = 0
		case n < 8:
			a.bytes[i] &= 0xff << (8 - n)
		}
	}
}

func (b *block) holds(a address) bool {
	a.mask(b.bits)
	return a == b.address
}
