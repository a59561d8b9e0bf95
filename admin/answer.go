package admin

import (
	"encoding/json"
	"net/http"
	"strings"
)

// Error is the answer to a request that failed.
type Error struct {
	// Error says what is wrong, and what is allowed.
	Error string `json:"error"`
}

// write sends a JSON document. The answers are built in memory, so that one that cannot be encoded is a whole 500 rather
// than half a 200.
func write(w http.ResponseWriter, code int, v any) {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		body, code = []byte(`{"error": "the answer cannot be encoded"}`), http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(append(body, '\n')) // the client has gone away: nobody to tell
}

func writeError(w http.ResponseWriter, code int, message string) {
	write(w, code, Error{Error: message})
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
