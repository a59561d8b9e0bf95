package httpfn

import (
	"encoding/hex"
	"math/rand/v2"
)

// traceparent makes the header for a new trace (W3C, Trace Context: version-traceid-parentid-flags). Every
// invocation is a trace of its own. The flag «sampled» is set: a function whose tracer follows its parent, which is
// OpenTelemetry's default, then traces as it would if nobody had sent the header; without the flag it would fall
// silent.
func traceparent() string {
	var id [24]byte
	for i := 0; i < len(id); i += 8 {
		v := rand.Uint64()
		if v == 0 { // all zero is not an id
			v = 1
		}
		for j := range 8 {
			id[i+j] = byte(v >> (8 * j))
		}
	}
	text := []byte("00-00000000000000000000000000000000-0000000000000000-01")
	hex.Encode(text[3:35], id[:16])
	hex.Encode(text[36:52], id[16:])
	return string(text)
}
