package deploy_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// swagger is the file to cut the definitions from again; see schema/README.md.
var swagger = flag.String("swagger", "", "`FILE` of Kubernetes' API definitions, to cut the schema from anew")

const schemaFile = "kubernetes/schema/kubernetes.json"

// schema is the file: JSON Schema, draft 7.
type schema struct {
	Comment     string                `json:"$comment"`
	Draft       string                `json:"$schema"`
	Definitions map[string]definition `json:"definitions"`
}

// definition is one object of the API.
type definition = map[string]any

const (
	batch = "io.k8s.api.batch.v1."
	core  = "io.k8s.api.core.v1."
)

// objects are the possible objects of manifests, by apiVersion and kind.
var objects = map[[2]string]string{
	{"batch/v1", "Job"}:             batch + "Job",
	{"v1", "ConfigMap"}:             core + "ConfigMap",
	{"v1", "PersistentVolumeClaim"}: core + "PersistentVolumeClaim",
	{"v1", "Pod"}:                   core + "Pod",
}

// words are the values that the server accepts. Kubernetes lists them only in the texts
// of its definitions.
var words = []struct {
	definition, property string
	values               []any
}{
	{batch + "JobSpec", "completionMode", []any{"NonIndexed", "Indexed"}},
	{batch + "JobSpec", "podReplacementPolicy", []any{"TerminatingOrFailed", "Failed"}},
	{batch + "PodFailurePolicyRule", "action", []any{"FailJob", "FailIndex", "Ignore", "Count"}},
	{batch + "PodFailurePolicyOnExitCodesRequirement", "operator", []any{"In", "NotIn"}},
	{core + "PodSpec", "restartPolicy", []any{"Always", "OnFailure", "Never"}},
	{core + "Container", "imagePullPolicy", []any{"Always", "IfNotPresent", "Never"}},
	{core + "SeccompProfile", "type", []any{"RuntimeDefault", "Localhost", "Unconfined"}},
}

// cut keeps the definitions that manifests need: the objects and the definitions that
// they refer to. It drops descriptions and fields that only the server writes. It
// panics if an object is missing.
func cut(from map[string]definition) map[string]definition {
	kept := map[string]definition{}
	written := slices.Collect(maps.Values(objects))
	var keep func(name string)
	keep = func(name string) {
		if _, done := kept[name]; done || from[name] == nil {
			return
		}
		d := bare(from[name]).(definition)
		kept[name] = d
		if props, ok := d["properties"].(definition); ok {
			if slices.Contains(written, name) {
				delete(props, "status")
			}
			delete(props, "managedFields")
			d["additionalProperties"] = false
		}
		for _, ref := range refs(d) {
			keep(ref)
		}
	}
	for gvk, name := range objects {
		keep(name)
		d := kept[name]
		props := d["properties"].(definition)
		props["apiVersion"], props["kind"] = definition{"const": gvk[0]}, definition{"const": gvk[1]}
		d["required"] = []any{"apiVersion", "kind", "metadata"}
	}
	for _, w := range words {
		if props, ok := kept[w.definition]["properties"].(definition); ok {
			props[w.property] = definition{"enum": w.values}
		}
	}
	return kept
}

// bare returns a definition without descriptions and without fields for client
// generators.
func bare(v any) any {
	switch v := v.(type) {
	case definition:
		out := definition{}
		for key, value := range v {
			_, text := value.(string)
			if key == "description" && text || strings.HasPrefix(key, "x-kubernetes-") {
				continue
			}
			out[key] = bare(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = bare(v[i])
		}
		return out
	}
	return v
}

// refs returns the definitions that a definition refers to.
func refs(v any) (names []string) {
	switch v := v.(type) {
	case definition:
		if ref, ok := v["$ref"].(string); ok {
			names = append(names, strings.TrimPrefix(ref, "#/definitions/"))
		}
		for _, value := range v {
			names = append(names, refs(value)...)
		}
	case []any:
		for _, value := range v {
			names = append(names, refs(value)...)
		}
	}
	return names
}

// text returns the schema as its file has it: one definition a line.
func (s *schema) text(t *testing.T) []byte {
	t.Helper()
	line := func(v any) string {
		text, err := json.Marshal(v)
		must(t, err)
		return string(text)
	}
	var b bytes.Buffer
	b.WriteString("{\"$comment\": " + line(s.Comment) + ",\n \"$schema\": " + line(s.Draft) + ",\n \"definitions\": {\n")
	for i, name := range slices.Sorted(maps.Keys(s.Definitions)) {
		if i > 0 {
			b.WriteString(",\n")
		}
		b.WriteString("  " + line(name) + ": " + line(s.Definitions[name]))
	}
	b.WriteString("\n }\n}\n")
	return b.Bytes()
}

func readSchema(t *testing.T, path string) *schema {
	t.Helper()
	var s schema
	if err := json.Unmarshal([]byte(readText(t, path)), &s); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return &s
}

// The schema equals a fresh cut from Kubernetes' file, and cutting it again changes
// nothing.
func TestTheSchemaIsCutFromKubernetesDefinitions(t *testing.T) {
	from := *swagger
	if from == "" {
		from = schemaFile
	}
	s := readSchema(t, from)
	s.Comment = "Cut from api/openapi-spec/swagger.json of Kubernetes v1.34.1, Copyright The Kubernetes Authors, Apache License 2.0; see README.md"
	s.Draft = "http://json-schema.org/draft-07/schema#"
	s.Definitions = cut(s.Definitions)
	if *swagger != "" {
		must(t, os.WriteFile(schemaFile, s.text(t), 0o644))
	}
	if readText(t, schemaFile) != string(s.text(t)) {
		t.Errorf("%s is not what cutting leaves; schema/README.md says how it is made", schemaFile)
	}
	for gvk, name := range objects {
		if s.Definitions[name] == nil {
			t.Errorf("%v is not in %s", gvk, schemaFile)
		}
	}
}

// validator returns a function that checks objects of manifests against the schema.
func validator(t *testing.T) func(object map[string]any) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(readText(t, schemaFile)))
	must(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	must(t, c.AddResource("kubernetes.json", doc))
	compiled := map[[2]string]*jsonschema.Schema{}
	for gvk, name := range objects {
		if compiled[gvk], err = c.Compile("kubernetes.json#/definitions/" + name); err != nil {
			t.Fatal(err)
		}
	}
	return func(object map[string]any) error {
		version, _ := object["apiVersion"].(string)
		kind, _ := object["kind"].(string)
		s := compiled[[2]string{version, kind}]
		if s == nil {
			return fmt.Errorf("no schema for %s %s", version, kind)
		}
		return s.Validate(object)
	}
}
