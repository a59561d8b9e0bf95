package invoke

// A record without a key has no "key" member; a record without a value (a tombstone) has "value":null; an empty key
// or value that is there is "". AWS documents neither; observed events leave the key out, and for tombstones a
// member that says null can be told from a record cut short. These two functions are the one place that decides.

const (
	keyMember   = `,"key":"`
	valueMember = `,"value":"`
	tombstone   = `,"value":null`
)

// appendPayload appends the members for key and value.
func appendPayload(dst, key, value []byte) []byte {
	if key != nil {
		dst = append(appendBase64(append(dst, keyMember...), key), '"')
	}
	if value == nil {
		return append(dst, tombstone...)
	}
	return append(appendBase64(append(dst, valueMember...), value), '"')
}

// payloadSize is the number of bytes that appendPayload appends.
func payloadSize(key, value []byte) int {
	n := 0
	if key != nil {
		n += len(keyMember) + base64Len(len(key)) + 1
	}
	if value == nil {
		return n + len(tombstone)
	}
	return n + len(valueMember) + base64Len(len(value)) + 1
}
