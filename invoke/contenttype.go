package invoke

import (
	"mime"
	"strings"

	"github.com/sluicehq/sluice/record"
)

// contentTypeBytesMax bounds a media type that is taken over from a record.
const contentTypeBytesMax = 256

// contentType is the record's own media type and the index of its header: the last one named content-type, in
// whatever case, if it is a valid media type. Without one it is "" and -1.
func contentType(r *record.Record) (string, int) {
	for i := len(r.Headers) - 1; i >= 0; i-- {
		if strings.EqualFold(r.Headers[i].Key, "content-type") {
			if t := strings.Trim(string(r.Headers[i].Value), " \t"); isMediaType(t) {
				return t, i
			}
			return "", -1
		}
	}
	return "", -1
}

// isMediaType says whether t is a media type with its parameters (RFC 9110, section 8.3.1) that a header can hold.
func isMediaType(t string) bool {
	if len(t) > contentTypeBytesMax || strings.ContainsFunc(t, func(r rune) bool { return r < ' ' || r > '~' }) {
		return false
	}
	media, _, err := mime.ParseMediaType(t)
	return err == nil && strings.Contains(media, "/")
}

// mediaType is t without parameters, in small letters, and its charset; t is valid or empty.
func mediaType(t string) (media, charset string) {
	if t == "" {
		return "", ""
	}
	media, params, _ := mime.ParseMediaType(t)
	return media, strings.ToLower(params["charset"])
}
