package catalogue_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
)

func TestCasesNameWhatThereIs(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range catalogue.Cases {
		if seen[c.ID] {
			t.Errorf("%s is there twice", c.ID)
		}
		seen[c.ID] = true
		if c.Title == "" || c.Tells == "" || c.Source == "" || len(c.Schedules) == 0 {
			t.Errorf("%s does not say everything: Title, Tells, Source and Schedules", c.ID)
		}
		setups := []catalogue.Setup{c.Setup}
		if c.Remedy.None == "" {
			setups = append(setups, c.Remedy.Setup)
			if c.Remedy.Words == "" || len(c.Remedy.Keeps) == 0 {
				t.Errorf("%s: the remedy does not say what it is and keeps", c.ID)
			}
		}
		for _, s := range setups {
			lock, ok := catalogue.FindLock(s.Lock)
			if !ok {
				t.Errorf("%s: no lock %s", c.ID, s.Lock)
			}
			for o := range strings.SplitSeq(s.Options.String(), ",") {
				if o != "" && !slices.Contains(lock.Options, o) {
					t.Errorf("%s: %s has no option %s", c.ID, s.Lock, o)
				}
			}
		}
		for _, s := range c.Schedules {
			var clients []string
			for _, sc := range s.Scripts {
				clients = append(clients, sc.Client)
			}
			if len(s.Must) == 0 && c.Figure == nil {
				t.Errorf("%s: a schedule without an expectation: say in Must what it violates", c.ID)
			}
			lock, _ := catalogue.FindLock(c.Setup.Lock)
			layout := catalogue.NewLayout(&lock, c.Setup.Server, c.Setup.Options)
			for _, in := range s.Faults {
				if err := in.Validate(clients, layout.Stores(), layout.Sentinels); err != nil {
					t.Errorf("%s: %v", c.ID, err)
				}
				if f, _ := faults.Find(in.Fault); (f.On == faults.OnClient || f.On == faults.OnLink) && !slices.Contains(clients, in.On[0]) {
					t.Errorf("%s: %s on %s, who is not there", c.ID, in.Fault, in.On[0])
				}
				if in.Point != nil && !slices.Contains(clients, in.Point.Client) {
					t.Errorf("%s: a point of %s, who is not there", c.ID, in.Point.Client)
				}
			}
		}
	}
}

// A remedy keeps the property that the story of its case is about. Fencing protects
// the data only, so such a case has to lose data.
func TestRemediesKeepWhatCasesViolate(t *testing.T) {
	for _, c := range catalogue.Cases {
		if c.Kind == catalogue.Control || c.Remedy.None != "" {
			continue
		}
		some := false
		for _, s := range c.Schedules {
			if len(s.Must) == 0 {
				some = true // the figure shows the violation
				continue
			}
			some = some || slices.ContainsFunc(s.Must, func(p checker.Property) bool { return slices.Contains(c.Remedy.Keeps, p) })
			if first := s.Must[0]; c.Remedy.Setup.Fencing == "" && !slices.Contains(c.Remedy.Keeps, first) {
				t.Errorf("%s %s: its story is about %s, which the remedy does not keep", c.ID, s.Name, first)
			}
		}
		if !some {
			t.Errorf("%s: the remedy keeps nothing that the case violates", c.ID)
		}
	}
}

// The figures of a case and of its remedy are far apart, so that the environment
// cannot change the outcome.
func TestFiguresSeparateACaseFromItsRemedy(t *testing.T) {
	for _, c := range catalogue.Cases {
		if f := c.Figure; f != nil && f.AtMost > 0 && f.AtLeast < 1.05*f.AtMost {
			t.Errorf("%s: at least %v, and with the remedy at most %v", c.ID, f.AtLeast, f.AtMost)
		}
	}
}

// Every lock has all its descriptions, and a variant with a flaw is like a lock
// without.
func TestLocksSayWhatTheyAre(t *testing.T) {
	for i, l := range catalogue.Locks {
		if l.Does == "" || l.Promise == "" || l.Source == "" || l.Steps.Acquire < 1 || l.Steps.Release < 1 || l.New == nil {
			t.Errorf("%s does not say everything: Does, Promise, Source, Steps and New", l.ID)
		}
		if first := slices.IndexFunc(catalogue.Locks, func(other catalogue.Lock) bool { return other.ID == l.ID }); first != i {
			t.Errorf("%s is there twice", l.ID)
		}
		if _, err := catalogue.ParseOptions(strings.Join(l.Options, ",")); err != nil {
			t.Errorf("%s: %v", l.ID, err)
		}
		if (l.Like == "") != (l.Flaw == "") {
			t.Errorf("%s: like %q, with the flaw %q", l.ID, l.Like, l.Flaw)
		}
		if like, ok := catalogue.FindLock(l.Like); l.Like != "" && (!ok || like.Like != "" || like.Lease != l.Lease || like.Nodes != l.Nodes) {
			t.Errorf("%s is not like %s", l.ID, l.Like)
		}
	}
}

func TestOptionsAreReadAsTheyAreWritten(t *testing.T) {
	for _, o := range []catalogue.Options{{}, {Token: true}, {Spin: true, ReuseID: true, Claim: true, Retries: true}, {OwnToken: true, Cap: true, FixedWait: true, ExponentialWait: true}, {Token: true, Czxid: true}} {
		got, err := catalogue.ParseOptions(o.String())
		if err != nil || got != o {
			t.Errorf("%q is read as %+v, %v", o, got, err)
		}
	}
	if _, err := catalogue.ParseOptions("token,fast"); err == nil {
		t.Error("an option that does not exist is taken")
	}
}

func TestScaledChangesTimesAndNothingElse(t *testing.T) {
	for _, c := range catalogue.Cases {
		for _, s := range c.Schedules {
			ten, one := s.Scaled(10*catalogue.T), s.Scaled(catalogue.T)
			for i := range s.Faults {
				if ten.Faults[i].For != 10*s.Faults[i].For || one.Faults[i].For != s.Faults[i].For || ten.Faults[i].At != 10*s.Faults[i].At {
					t.Errorf("%s: a fault is not scaled", c.ID)
				}
			}
			for i := range s.Scripts {
				for k, step := range s.Scripts[i].Steps {
					if got := ten.Scripts[i].Steps[k]; got.At != 10*step.At || got.Limit != 10*step.Limit || got.Do != step.Do {
						t.Errorf("%s: step %+v becomes %+v", c.ID, step, got)
					}
				}
			}
		}
	}
}

// On real servers an operator needs entries that the servers show, or that a worker declares.
func TestLocksThatAnOperatorCannotSee(t *testing.T) {
	t.Parallel()
	f, _ := faults.Find("entry-lost")
	var hidden []string
	for _, l := range catalogue.Locks {
		if l.Strikes(f, "docker") != nil {
			hidden = append(hidden, l.ID)
		}
		if err := l.Strikes(f, "sim"); err != nil {
			t.Errorf("%s in sim: %v", l.ID, err)
		}
	}
	if want := []string{"mysql-get-lock-pool", "mysql-for-update"}; !slices.Equal(hidden, want) {
		t.Errorf("hidden are %q, want %q", hidden, want)
	}
	if worker, err := catalogue.WorkerLock("worker", "mysql"); err != nil || worker.Strikes(f, "docker") != nil {
		t.Errorf("a worker may declare its entries: %v, %v", err, worker.Strikes(f, "docker"))
	}
}
