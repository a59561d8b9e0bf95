package invoke

import (
	"encoding/binary"
	"slices"
	"strconv"
)

// signedNumber is one byte as Lambda's event writes header bytes: a signed decimal, here with its comma, padded
// so that it can be stored with one eight-byte write.
type signedNumber struct {
	text uint64
	size uint8
}

var signedNumbers = func() (t [256]signedNumber) {
	for i := range t {
		var b [8]byte
		n := len(strconv.AppendInt(b[:0], int64(int8(i)), 10))
		b[n] = ','
		t[i] = signedNumber{binary.LittleEndian.Uint64(b[:]), uint8(n + 1)}
	}
	return t
}()

// appendSigned appends value as an array of signed numbers (AWS, «Using Lambda with Kafka», event structure:
// -128…127, because Java writes it).
func appendSigned(dst, value []byte) []byte {
	if len(value) == 0 {
		return append(dst, '[', ']')
	}
	// Every number is stored with eight bytes and takes its own size of them. The up to six beyond the last one
	// are bytes of the event that follow it (`}]}]}}`): an event that was given exactly its room never grows,
	// and only where room is short are the bytes counted first.
	room := 1 + 5*len(value) + 6
	if cap(dst)-len(dst) < room {
		room = signedLen(value) + 6
		dst = slices.Grow(dst, room)
	}
	dst = append(dst, '[')
	out := dst[len(dst) : len(dst)+room-1]
	at := 0
	for _, b := range value {
		n := signedNumbers[b]
		binary.LittleEndian.PutUint64(out[at:], n.text)
		at += int(n.size)
	}
	out[at-1] = ']'
	return dst[:len(dst)+at]
}

// signedLen is the number of bytes that appendSigned appends.
func signedLen(value []byte) int {
	if len(value) == 0 {
		return 2
	}
	n := 1
	for _, b := range value {
		n += int(signedNumbers[b].size)
	}
	return n
}
