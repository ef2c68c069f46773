package deploy_test

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/suite"
)

var manifests = []string{"suite.yaml", "job.yaml", "merge.yaml", "again.yaml", "read.yaml"}

// read returns the objects of a manifest.
func read(t *testing.T, name string) (objects []map[string]any) {
	t.Helper()
	return decode(t, name, readText(t, "kubernetes/"+name))
}

func decode(t *testing.T, name, text string) (objects []map[string]any) {
	t.Helper()
	d := yaml.NewDecoder(strings.NewReader(text))
	for {
		var o map[string]any
		switch err := d.Decode(&o); err {
		case nil:
			objects = append(objects, o)
		case io.EOF:
			return objects
		default:
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// manifest has the fields of a Job, or of the pod that is its template, that the tests
// check.
type manifest struct {
	Kind     string
	Metadata struct{ Name string }
	Data     map[string]string // of a ConfigMap
	Spec     struct {
		Completions, Parallelism int
		BackoffLimitPerIndex     *int
		PodFailurePolicy         struct {
			Rules []struct {
				Action      string
				OnExitCodes struct {
					ContainerName string
					Values        []int
				}
			}
		}
		Template struct{ Spec pod }
	}
}

type pod struct {
	SecurityContext struct{ RunAsUser, RunAsGroup int }
	Containers      []container
	Volumes         []volume
}

type container struct {
	Name, Image, WorkingDir string
	Command, Args           []string
	Env                     []struct{ Name, Value string }
	SecurityContext         struct{ ReadOnlyRootFilesystem bool }
	VolumeMounts            []struct {
		Name, MountPath string
		ReadOnly        bool
	}
}

type volume struct {
	Name                  string
	ConfigMap             struct{ Name string }
	PersistentVolumeClaim struct{ ClaimName string }
}

// only returns the one object of a kind in a manifest.
func only(t *testing.T, name, kind string) *manifest {
	t.Helper()
	for _, o := range read(t, name) {
		if o["kind"] != kind {
			continue
		}
		text, err := json.Marshal(o)
		must(t, err)
		var m manifest
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if kind == "Pod" {
			if err := json.Unmarshal(text, &struct{ Spec *pod }{&m.Spec.Template.Spec}); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		return &m
	}
	t.Fatalf("%s has no %s", name, kind)
	return nil
}

// podOf returns the pod of a manifest, and its only container.
func podOf(t *testing.T, name string) (*pod, *container) {
	t.Helper()
	kind := "Job"
	if name == "read.yaml" {
		kind = "Pod"
	}
	p := &only(t, name, kind).Spec.Template.Spec
	if len(p.Containers) != 1 {
		t.Fatalf("%s has %d containers, want 1", name, len(p.Containers))
	}
	return p, &p.Containers[0]
}

func TestEveryObjectOfTheManifestsIsOneThatKubernetesTakes(t *testing.T) {
	check := validator(t)
	for _, name := range manifests {
		for _, o := range read(t, name) {
			if err := check(o); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// Every word of the manifests counts: each of these mistakes is rejected.
func TestAMistakeInAManifestIsRefused(t *testing.T) {
	check := validator(t)
	for _, m := range []struct{ file, right, wrong string }{
		{"job.yaml", "kind: Job", "kind: CronJob"},
		{"job.yaml", "apiVersion: batch/v1", "apiVersion: batch/v1beta1"},
		{"job.yaml", "completionMode: Indexed", "completionMode: indexed"},
		{"job.yaml", "completions: 4", `completions: "4"`},
		{"job.yaml", "parallelism: 4", "paralellism: 4"},
		{"job.yaml", "backoffLimitPerIndex: 0", "backoffLimitPerindex: 0"},
		{"job.yaml", "backoffLimitPerIndex: 0", "backoffLimitPerIndex: 0.5"},
		{"job.yaml", "podFailurePolicy:", "podFailurePolicies:"},
		{"job.yaml", "action: FailIndex", "action: FailPod"},
		{"job.yaml", "operator: In", "operator: OneOf"},
		{"job.yaml", "values: [1, 2, 3, 4, 5]", `values: ["1"]`},
		{"job.yaml", "          operator: In\n", ""},
		{"job.yaml", "restartPolicy: Never", "restartPolicy: No"},
		{"job.yaml", "readOnlyRootFilesystem: true", `readOnlyRootFilesystem: "yes"`},
		{"job.yaml", "capabilities: {drop: [ALL]}", "capabilities: {drop: ALL}"},
		{"job.yaml", "command: [sh, -c]", "command: sh -c"},
		{"job.yaml", "{cpu: \"2\", memory: 1Gi}", "{cpu: \"2\", memory: [1Gi]}"},
		{"job.yaml", "mountPath: /results", "path: /results"},
		{"job.yaml", "accessModes: [ReadWriteMany]", "accessModes: ReadWriteMany"},
		{"suite.yaml", "  lockcheck.yaml: |\n", "  lockcheck.yaml:\n"},
		{"suite.yaml", "data:\n", "dates:\n"},
		{"merge.yaml", "backoffLimit: 0", "backOffLimit: 0"},
		{"merge.yaml", "  name: lockcheck-merge", "  title: lockcheck-merge"},
		{"merge.yaml", "        - name: lockcheck\n", "        - title: lockcheck\n"},
		{"again.yaml", "value: \"0\"", "value: 0"},
		{"read.yaml", "containers:", "container:"},
		{"read.yaml", "claimName:", "name:"},
	} {
		text := readText(t, "kubernetes/"+m.file)
		if !strings.Contains(text, m.right) {
			t.Errorf("%s has no %q", m.file, m.right)
			continue
		}
		refused := false
		for _, o := range decode(t, m.file, strings.Replace(text, m.right, m.wrong, 1)) {
			refused = refused || check(o) != nil
		}
		if !refused {
			t.Errorf("%s: %q was taken", m.file, m.wrong)
		}
	}
}

// No schema can check that a name in one place is the name of something in another.
func TestTheManifestsFitTogether(t *testing.T) {
	job := only(t, "job.yaml", "Job")
	_, c := podOf(t, "job.yaml")
	if n := job.Spec.Completions; job.Spec.Parallelism != n || !strings.Contains(c.Args[0], fmt.Sprintf("--shard $((JOB_COMPLETION_INDEX + 1))/%d ", n)) {
		t.Errorf("%d completions, %d at once, and %s", n, job.Spec.Parallelism, c.Args[0])
	}
	for _, rule := range job.Spec.PodFailurePolicy.Rules {
		if rule.Action == "FailIndex" && (rule.OnExitCodes.ContainerName != c.Name || !reflect.DeepEqual(rule.OnExitCodes.Values, []int{1, 2, 3, 4, 5})) {
			t.Errorf("the rule %+v does not name all that lockcheck ends with", rule)
		}
	}
	if n := job.Spec.BackoffLimitPerIndex; n == nil || *n != 0 {
		t.Errorf("a shard that failed is tried again, and would fail again")
	}
	config := only(t, "suite.yaml", "ConfigMap")
	claim := only(t, "job.yaml", "PersistentVolumeClaim").Metadata.Name
	for _, name := range manifests[1:] {
		p, c := podOf(t, name)
		if want := "lockcheck:" + harness.Version; c.Image != want {
			t.Errorf("%s has the image %s, want %s", name, c.Image, want)
		}
		have := map[string]bool{}
		for _, v := range p.Volumes {
			have[v.Name] = true
			if v.ConfigMap.Name != "" && v.ConfigMap.Name != config.Metadata.Name || v.PersistentVolumeClaim.ClaimName != "" && v.PersistentVolumeClaim.ClaimName != claim {
				t.Errorf("%s: nothing is called as in %+v", name, v)
			}
		}
		for _, m := range c.VolumeMounts {
			if !have[m.Name] {
				t.Errorf("%s mounts %s, which is no volume", name, m.Name)
			}
			delete(have, m.Name)
		}
		if len(have) > 0 {
			t.Errorf("%s does not mount %v", name, have)
		}
	}
	if s, err := suite.Parse([]byte(config.Data[suite.File])); err != nil || len(s.Locks) == 0 {
		t.Errorf("the suite of %s: %+v, %v", config.Metadata.Name, s, err)
	}
}

// apply does not run a finished Job again, so the page removes the Job each time.
func TestThePageRunsEveryJobAnew(t *testing.T) {
	page := readText(t, "kubernetes/README.md")
	for _, name := range []string{"job.yaml", "merge.yaml", "again.yaml"} {
		before, _, ok := strings.Cut(page, "-f "+name)
		block := before[strings.LastIndex(before, "\n\n")+1:]
		if remove := "kubectl delete job " + only(t, name, "Job").Metadata.Name + " --ignore-not-found\n"; !ok || !strings.Contains(block, remove) {
			t.Errorf("before it runs %s the page does not say %s", name, remove)
		}
	}
}

// again.yaml is the pod of job.yaml, with a number instead of the index from
// Kubernetes.
func TestOneIndexIsRunAgainByTheSamePod(t *testing.T) {
	want, c := podOf(t, "job.yaml")
	got, again := podOf(t, "again.yaml")
	if len(again.Env) != 1 || again.Env[0].Name != "JOB_COMPLETION_INDEX" {
		t.Fatalf("the pod of again.yaml has the environment %v", again.Env)
	}
	again.Env = c.Env
	if !reflect.DeepEqual(got, want) {
		t.Errorf("again.yaml has\n%+v\nand job.yaml\n%+v", got, want)
	}
}
