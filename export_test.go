package lockcheck

// Slowly makes the default time too short for any run.
func Slowly() Option { return func(s *settings) { s.limit, s.patient = 1, true } }

// What a test does with its name.
var (
	Directory = directory
	Pattern   = pattern
)
