package main

import (
	"bytes"
	"fmt"
	"io"
)

// readBytes is how much of a body is read at once.
const readBytes = 64 << 10

// headMax bounds what is kept of a body: its first record's topic, partition and offset stand in front.
const headMax = 4 << 10

// body is a request's body: its length and its beginning. It is used again.
type body struct {
	size    int64
	head    []byte
	scratch [readBytes]byte
}

func (b *body) read(r io.Reader) error {
	b.size, b.head = 0, b.head[:0]
	for {
		n, err := r.Read(b.scratch[:])
		if room := headMax - len(b.head); room > 0 {
			b.head = append(b.head, b.scratch[:min(n, room)]...)
		}
		b.size += int64(n)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// first is the first record of the event: how a batch item failure names it, and how long it is.
func (b *body) first() (identifier string, size int64, ok bool) {
	topic, rest, ok1 := between(b.head, `{"topic":"`, `"`)
	partition, rest, ok2 := between(rest, `"partition":`, `,`)
	offset, rest, ok3 := between(rest, `"offset":`, `,`)
	_, record, ok4 := bytes.Cut(b.head, []byte(`{"topic":"`))
	next := bytes.Index(record, []byte(`{"topic":"`)) // the record behind it
	if next < 0 {
		next = len(record)
	}
	identifier = fmt.Sprintf(`{"partition":"%s-%s","offset":%s}`, topic, partition, offset)
	return identifier, int64(next), ok1 && ok2 && ok3 && ok4 && rest != nil
}

// between is what stands between two marks, and what follows.
func between(text []byte, before, after string) (found, rest []byte, ok bool) {
	if _, text, ok = bytes.Cut(text, []byte(before)); !ok {
		return nil, nil, false
	}
	return bytes.Cut(text, []byte(after))
}
