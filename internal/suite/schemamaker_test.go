package suite

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/endpoints"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/names"
)

// object is a JSON object.
type object = map[string]any

// makeSchema makes the schema from the types and their tables of keys. Only lockcheck
// itself can check the rest, for example which fault strikes which lock.
func makeSchema() ([]byte, error) {
	root := schemaOf(reflect.TypeFor[Suite](), suiteKeys)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "A suite of lockcheck, " + File
	entry := schemaOf(reflect.TypeFor[Entry](), entryKeys)
	entry["oneOf"] = []object{{"required": []string{"lock"}}, {"required": []string{"worker"}}}
	entry["allOf"] = together
	root["$defs"] = object{"entry": entry}
	text, err := json.MarshalIndent(root, "", "  ")
	return append(text, '\n'), err
}

// together are the rules for combining keys of an entry.
var together = []object{
	{"if": said("worker"), "then": object{"properties": object{
		"on": object{"enum": []string{"docker", External}}, "options": false, "name": object{"not": object{"enum": names.Locks()}},
	}}},
	{"if": said("store"), "then": said("worker")},
	{"if": object{"anyOf": ownServers()}, "then": saying("on", External)},
	{"if": saying("on", External), "then": object{"oneOf": ownServers()[:4]}},
	{"if": said("depth"), "then": saying("strategy", harness.PCT)},
	{"if": saying("strategy", harness.PCT), "then": object{"properties": object{"on": object{"const": "sim"}, "worker": false}}},
	{"anyOf": ownName()},
	{"if": saying("clients", 1), "then": object{"properties": object{"promises": object{"not": object{"anyOf": []object{
		{"enum": checker.Contested}, {"type": "array", "contains": object{"enum": checker.Contested}},
	}}}}}},
	{"if": saying("faults", names.None, []string{names.None}), "then": object{"properties": object{"faults-per-run": false, "mix": false}}},
}

// ownServers matches an object with a word for the user's own servers; the first four are
// their kinds.
func ownServers() (list []object) {
	for _, w := range new(endpoints.Servers).Words() {
		list = append(list, said(w.Name))
	}
	return list
}

// ownName returns the rules for the name of an entry: not the name of a lock, except
// that of its own.
func ownName() []object {
	own := []object{{"properties": object{"name": object{"not": object{"enum": names.Locks()}}}}}
	for _, lock := range names.Locks() {
		own = append(own, object{"properties": object{"name": object{"const": lock}, "lock": object{"const": lock}}})
	}
	return own
}

// said matches an object that has a key.
func said(key string) object { return object{"required": []string{key}} }

// saying matches an object whose key has one of the values.
func saying(key string, values ...any) object {
	return object{"required": []string{key}, "properties": object{key: object{"enum": values}}}
}

// schemaOf returns the schema of a struct.
func schemaOf(t reflect.Type, keys map[string]key) object {
	properties := object{}
	var need []string
	for _, f := range fieldsOf(t) {
		name := f.Tag.Get("yaml")
		k := keys[name]
		value := k.schema(f.Type)
		value["description"] = strings.ReplaceAll(k.about, "`", "")
		properties[name] = value
		if k.need {
			need = append(need, name)
		}
	}
	o := object{"type": "object", "properties": properties, "additionalProperties": false}
	if need != nil {
		o["required"] = need
	}
	return o
}

// schema returns the schema of the values of a key.
func (k key) schema(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[[]Entry]():
		return object{"type": "array", "items": object{"$ref": "#/$defs/entry"}, "minItems": 1}
	case reflect.TypeFor[Duration]():
		return length.schema()
	case reflect.TypeFor[[]string](), reflect.TypeFor[checker.Promise]():
		one := object{"enum": k.words()}
		return object{"anyOf": []object{one, {"type": "array", "items": one, "minItems": 1, "uniqueItems": true}}}
	}
	switch t.Kind() {
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Uint64:
		return object{"type": "integer", "minimum": k.least(), "maximum": k.most}
	}
	if k.words != nil {
		return object{"enum": k.words()}
	}
	return k.form.schema()
}

func (f *form) schema() object {
	var all []object
	for _, p := range f.all {
		all = append(all, object{"pattern": p.String()})
	}
	return object{"type": "string", "allOf": all}
}
