package invoke

// Header is one HTTP header of a request. Whoever makes one sees to it that Name is a token in canonical form
// (RFC 9110, section 5.1) and Value printable ASCII, whatever a record holds.
type Header struct{ Name, Value string }
