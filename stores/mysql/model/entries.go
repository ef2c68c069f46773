package model

// Entries calls f for each row that stands for somebody's grant, with the
// statement that made it so, in the order of the resources, until f says false.
func (s *Server) Entries(f func(name string, maker int) bool) {
	for _, e := range s.table.makers() {
		if !f(e.name, e.maker) {
			return
		}
	}
}
