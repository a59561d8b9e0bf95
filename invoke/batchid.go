package invoke

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/sluicehq/sluice/record"
)

// BatchID names a batch by what is in it: a hash, in 32 hex digits, of the mapping's name and the set of its
// topic-partition@offsets. The same records give the same id in every invocation and every process, in whatever
// order or runs they come, so that a function can recognise a batch that it has seen.
//
// Every record gives 128 bits, which are added up: a sum needs no sorting. It costs a few nanoseconds a record.
func BatchID(mapping string, runs []record.Run) string {
	var lo, hi, count uint64
	for i := range runs {
		seedLo, seedHi := partitionSeed(runs[i].TopicPartition)
		for _, r := range runs[i].Records {
			lo += mix(seedLo ^ uint64(r.Offset))
			hi += mix(seedHi ^ uint64(r.Offset))
		}
		count += uint64(len(runs[i].Records))
	}
	var stack [128]byte
	text := binary.BigEndian.AppendUint64(stack[:0], lo)
	text = binary.BigEndian.AppendUint64(text, hi)
	text = binary.BigEndian.AppendUint64(text, count)
	text = append(text, mapping...)
	sum := sha256.Sum256(text)
	var id [32]byte
	hex.Encode(id[:], sum[:16])
	return string(id[:])
}

// partitionSeed hashes a partition into 128 bits.
func partitionSeed(tp record.TopicPartition) (lo, hi uint64) {
	var stack [256]byte // a topic has at most 249 bytes
	text := binary.BigEndian.AppendUint32(stack[:0], uint32(tp.Partition))
	text = append(text, tp.Topic...)
	sum := sha256.Sum256(text)
	return binary.BigEndian.Uint64(sum[:]), binary.BigEndian.Uint64(sum[8:])
}

// mix spreads every bit of v over all 64 (the finalizer of splitmix64, a bijection).
func mix(v uint64) uint64 {
	v += 0x9e3779b97f4a7c15
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}
