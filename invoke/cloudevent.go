package invoke

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// cloudEvent is a CloudEvent on its way to the function.
type cloudEvent struct {
	// attributes are all context attributes but datacontenttype, as strings, which is a canonical form of every type
	// (CloudEvents 1.0.2, type system).
	attributes []attribute
	// contentType is the attribute datacontenttype; empty for none.
	contentType string
	// data is the event's data; nil for none. knownJSON says that somebody has looked and it is JSON.
	data      []byte
	knownJSON bool
	// document is the event's JSON where it came in structured mode; valid. It then holds everything but the
	// attributes above, which replace its own of the same names.
	document []byte
}

type attribute struct{ name, value string }

// isBinary says whether the event may be sent in HTTP's binary content mode: attributes as headers, data as the body.
// Three things make it a structured one:
//
//   - it came as one;
//   - an attribute that would have to be percent-encoded. The binding asks for that (section 3.1.3.2), but not every
//     SDK decodes it: the ones for Go and Java do not (cloudevents/spec, issue 1397), and would read another text;
//   - headers over HeaderBytesMax, or a media type that would make the event look like a structured one.
func (e *cloudEvent) isBinary() bool {
	if e.document != nil || isEventFormat(e.contentType) {
		return false
	}
	size := Header{"Content-Type", e.contentType}.size()
	for _, a := range e.attributes {
		if !isHeaderText(a.value) {
			return false
		}
		size += Header{"Ce-" + a.name, a.value}.size()
	}
	return size <= HeaderBytesMax
}

// header is the event's attributes for binary mode.
func (e *cloudEvent) header() []Header {
	list := make([]Header, 0, len(e.attributes)+1)
	if e.contentType != "" {
		list = append(list, Header{"Content-Type", e.contentType})
	}
	for _, a := range e.attributes {
		list = append(list, Header{canonical("Ce-", a.name), a.value})
	}
	return list
}

// appendJSON appends the event in the JSON event format.
func (e *cloudEvent) appendJSON(dst []byte) []byte {
	separator := byte('{')
	member := func(name string) {
		dst = append(dst, separator)
		dst = append(appendString(dst, name), ':')
		separator = ','
	}
	if e.document != nil {
		_ = jsonMembers(e.document, func(name, value []byte) error {
			if e.keeps(string(name), value) {
				member(string(name))
				dst = append(dst, value...)
			}
			return nil
		})
	}
	for _, a := range e.attributes {
		member(a.name)
		dst = appendString(dst, a.value)
	}
	if e.contentType != "" {
		member("datacontenttype")
		dst = appendString(dst, e.contentType)
	}
	if e.data != nil {
		switch e.dataForm() {
		case asJSON:
			member("data")
			dst = append(dst, e.data...)
		case asText:
			member("data")
			dst = appendString(dst, string(e.data))
		default:
			member("data_base64")
			dst = append(appendBase64(append(dst, '"'), e.data), '"')
		}
	}
	return append(dst, '}')
}

// keeps says whether a member of the document stays. One that is null is not set (JSON event format, section 2.2),
// and some readers fail on it; as data, null is a value.
func (e *cloudEvent) keeps(name string, value []byte) bool {
	if string(value) == "null" && name != "data" {
		return false
	}
	return !slices.ContainsFunc(e.attributes, func(a attribute) bool { return a.name == name })
}

// dataForm is how data stands in the JSON event format.
type dataForm uint8

const (
	asBase64 dataForm = iota // data_base64: any bytes
	asJSON                   // data: a JSON value
	asText                   // data: a string
)

// dataForm chooses the form that every receiver turns into the same bytes, or for JSON into the same value. Types that
// end in +json go as base64: the format would have them as JSON, but the SDK for Go wants a string there and would
// refuse the whole batch.
func (e *cloudEvent) dataForm() dataForm {
	if e.knownJSON {
		return asJSON
	}
	media, charset := mediaType(e.contentType)
	switch {
	case media == "" || media == "application/json" || media == "text/json":
		if isJSON(e.data) {
			return asJSON
		}
	case strings.HasPrefix(media, "text/") && (charset == "" || charset == "utf-8"):
		if utf8.Valid(e.data) {
			return asText
		}
	}
	return asBase64
}

// isJSON says whether data is a JSON text that may stand inside another: json.Valid lets bytes pass that are not UTF-8.
func isJSON(data []byte) bool { return json.Valid(data) && utf8.Valid(data) }

// isEventFormat says whether a media type is that of an event rather than of an event's data (Kafka and HTTP protocol
// bindings, section 3: by its beginning, in whatever case).
func isEventFormat(contentType string) bool {
	const prefix = "application/cloudevents"
	return len(contentType) >= len(prefix) && strings.EqualFold(contentType[:len(prefix)], prefix)
}
