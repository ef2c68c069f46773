package history

import "slices"

// Same reports whether e and o are equal.
func (e *Entry) Same(o *Entry) bool {
	return e.Index == o.Index && e.Time == o.Time && e.Client == o.Client && e.Process == o.Process &&
		e.Type == o.Type && e.F == o.F && e.Lock == o.Lock && e.Shared == o.Shared &&
		e.Grant == o.Grant && e.Token == o.Token && e.ValidUntil == o.ValidUntil && e.Value == o.Value && e.Was == o.Was &&
		e.Error == o.Error && e.Text == o.Text &&
		e.Key == o.Key && e.By == o.By && e.Op == o.Op &&
		e.ID == o.ID && slices.Equal(e.On, o.On) && e.Point == o.Point && e.Amount == o.Amount && e.Hits == o.Hits
}
