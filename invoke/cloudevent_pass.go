package invoke

import (
	"bytes"
	"encoding/base64"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sluicehq/sluice/record"
)

// passedOn is the event that the record is, by the Kafka protocol binding for CloudEvents 1.0 (section 3): structured
// where its content-type says so, else binary where it has the headers of one. It must be a valid event: receivers
// give up a whole batch over one that is not, so that it is wrapped like any other record.
func passedOn(r *record.Record) (cloudEvent, bool) {
	own, _ := contentType(r)
	if isEventFormat(own) {
		document := bytes.Trim(r.Value, jsonBlanks)
		if media, _ := mediaType(own); media == cloudEventType && isEvent(document) {
			return cloudEvent{document: document}, true
		}
		return cloudEvent{}, false
	}
	return binaryEvent(r, own)
}

// binaryEvent reads the attributes from the record's ce_ headers.
func binaryEvent(r *record.Record, contentType string) (cloudEvent, bool) {
	ev := cloudEvent{contentType: contentType, data: r.Value}
	var names attributeNames
	for i := range r.Headers {
		name, ok := strings.CutPrefix(r.Headers[i].Key, "ce_")
		if !ok {
			if contentType == "" && strings.EqualFold(name, "content-type") {
				return cloudEvent{}, false // one that is not valid
			}
			continue
		}
		value := string(r.Headers[i].Value)
		switch {
		case value == "": // not set
		case name == "datacontenttype": // content-type says it; some producers have this alone
			if contentType == "" && isMediaType(value) {
				ev.contentType = value
			}
		case !names.add(name) || !isAttribute(name, value):
			return cloudEvent{}, false
		case !isPlace(name):
			ev.attributes = append(ev.attributes, attribute{name, value})
		}
	}
	if ev.data == nil {
		ev.contentType = ""
	}
	return ev, names.complete()
}

// attributeNames are the attributes that an event has; each may stand once.
type attributeNames []string

func (n *attributeNames) add(name string) bool {
	if n.has(name) {
		return false
	}
	*n = append(*n, name)
	return true
}

func (n *attributeNames) has(name string) bool {
	for _, is := range *n {
		if is == name {
			return true
		}
	}
	return false
}

// complete says whether the required ones are there (CloudEvents 1.0.2, required attributes).
func (n *attributeNames) complete() bool {
	return n.has("specversion") && n.has("id") && n.has("source") && n.has("type")
}

// attributesMax bounds the members of a structured event, because each is compared with those before it. What has more
// is no event to us.
const attributesMax = 256

var errNoEvent = errors.New("not an event")

// isEvent says whether document, without blanks around it, is a valid event in the JSON event format.
func isEvent(document []byte) bool {
	if len(document) == 0 || document[0] != '{' || !isJSON(document) {
		return false
	}
	var names attributeNames
	var contentType string
	var data, base64Data []byte
	err := jsonMembers(document, func(name, value []byte) error {
		if len(names) == attributesMax || !names.add(string(name)) {
			return errNoEvent
		}
		switch {
		case string(name) == "data":
			data = value
		case string(value) == "null":
			names[len(names)-1] = "" // not set
		case string(name) == "data_base64":
			base64Data = value
		case !isMember(string(name), value):
			return errNoEvent
		case string(name) == "datacontenttype":
			contentType = string(jsonText(value))
		}
		return nil
	})
	return err == nil && names.complete() && isData(contentType, data, base64Data)
}

// isMember says whether a member of the JSON event format is a valid attribute. The ones of the specification are
// strings; extensions may be booleans and integers of 32 bits as well (section 2.2).
func isMember(name string, value []byte) bool {
	switch value[0] {
	case '"':
		text := string(jsonText(value))
		return isAttribute(name, text) || text == "" && isExtension(name)
	case 't', 'f':
		return isExtension(name)
	case '{', '[':
		return false
	}
	_, err := strconv.ParseInt(string(value), 10, 32)
	return err == nil && isExtension(name)
}

// isData says whether the data of a structured event is one: JSON, or a string where the media type is not JSON's, or
// base64; not two at once.
func isData(contentType string, data, base64Data []byte) bool {
	switch {
	case base64Data != nil:
		if data != nil || base64Data[0] != '"' {
			return false
		}
		_, err := base64.StdEncoding.DecodeString(string(jsonText(base64Data)))
		return err == nil
	case data == nil || data[0] == '"' || contentType == "":
		return true
	}
	media, _ := mediaType(contentType)
	return strings.HasSuffix(media, "/json") || strings.HasSuffix(media, "+json")
}

// isExtension says whether name may be that of an extension attribute (CloudEvents 1.0.2, naming conventions).
func isExtension(name string) bool {
	switch name {
	case "", "data", "specversion", "id", "source", "type", "subject", "time", "datacontenttype", "dataschema":
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) < 0
}

// isAttribute says whether value may be that of the attribute name.
func isAttribute(name, value string) bool {
	if !isAttributeText(value) {
		return false
	}
	switch name {
	case "specversion":
		return value == specVersion
	case "id", "type", "subject":
		return true
	case "source":
		return isURI(value, false)
	case "dataschema":
		return isURI(value, true)
	case "time":
		_, err := time.Parse(time.RFC3339Nano, value)
		return err == nil
	case "datacontenttype":
		return isMediaType(value)
	}
	return isExtension(name)
}

// isURI says whether s is a URI reference (RFC 3986), or an absolute URI.
func isURI(s string, absolute bool) bool {
	if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"<>\\^`{|}", r) }) {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && (u.IsAbs() || !absolute)
}
