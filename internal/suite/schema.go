package suite

import _ "embed"

// Schema is the JSON Schema of a suite's file, for editors. A test writes it, from the
// types and their tables of keys.
//
//go:embed lockcheck.schema.json
var Schema []byte
