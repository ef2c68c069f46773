// Package models has the abstract objects that a history can be compared with,
// and for each of them two judges: a direct one that is exact and takes
// O(n log n), and Porcupine, which decides where the direct one does not, and
// confirms it where it can.
package models

// A Model is an abstract object: a lock of some kind, or something that a lock guards.
type Model struct {
	Name  string
	Param string // what the number in "name=number" is: "permits", "limit"; "" where there is none
	N     int    // that number; 0: none

	State  string // what the object remembers
	Rules  string // what it allows
	Source string // where the rules come from
	Exact  string // why the direct judge is right, and where it leaves the decision to Porcupine
}

// String is the model as Parse reads it.
func (m Model) String() string { return m.Name }

// All lists the models.
func All() []Model { return nil }

// Parse finds a model by its name, with its number if it has one:
// "owner-mutex", "semaphore=3". An error says what there is instead.
func Parse(text string) (Model, error) { return Model{}, nil }
