package ledger

import "hash/crc32"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum is the checksum of a record's key and value that Produced and Run compare.
func Sum(key, value []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value)
}
