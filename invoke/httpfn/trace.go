package httpfn

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
)

// appendTraceparent appends the header's value for a new trace (W3C, Trace Context: version-traceid-parentid-flags).
// Every invocation is a trace of its own. The flag «sampled» is set: a function whose tracer follows its parent, which is
// OpenTelemetry's default, then traces as it would if nobody had sent the header; without the flag it would fall
// silent.
func appendTraceparent(dst []byte) []byte {
	var id [24]byte
	for i := 0; i < len(id); i += 8 {
		v := rand.Uint64()
		if v == 0 { // all zero is not an id
			v = 1
		}
		binary.LittleEndian.PutUint64(id[i:], v)
	}
	dst = append(dst, "00-"...)
	dst = hex.AppendEncode(dst, id[:16])
	dst = append(dst, '-')
	dst = hex.AppendEncode(dst, id[16:])
	return append(dst, "-01"...)
}

func traceparent() string { return string(appendTraceparent(nil)) }
