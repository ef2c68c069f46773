package history

import (
	"reflect"
	"testing"
)

// Entries that differ in any field are not the same.
func TestSameLooksAtEveryField(t *testing.T) {
	var e Entry
	if o := e; !e.Same(&o) {
		t.Error("an entry is not the same as itself")
	}
	for i := range reflect.TypeFor[Entry]().NumField() {
		var o Entry
		f := reflect.ValueOf(&o).Elem().Field(i)
		switch f.Interface().(type) {
		case Process:
			o.Process.N = 1
		case Opt:
			f.Set(reflect.ValueOf(Some(0)))
		case []string:
			f.Set(reflect.ValueOf([]string{"c1"}))
		case bool:
			f.SetBool(true)
		case string:
			f.SetString("x")
		default:
			f.Set(reflect.ValueOf(1).Convert(f.Type()))
		}
		if e.Same(&o) || o.Same(&e) {
			t.Errorf("%s is ignored", reflect.TypeFor[Entry]().Field(i).Name)
		}
	}
}
