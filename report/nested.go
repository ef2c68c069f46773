package report

// deepened returns the grant that g's process got within g, if it took over the entry
// of g and released it before the climax, while g was held.
func (g *grant) deepened(climax int) *grant {
	for _, s := range g.op.stays {
		if s.by == nil || s.by.grant == nil || s.by.grant == g || s.by.grant.nest != g.nest {
			continue
		}
		inner := s.by.grant
		if last := inner.lastEntry(); last != nil && last.own() && last.to <= climax && g.holds(last.to) {
			return inner
		}
	}
	return nil
}

// deepens tells how a holder was granted the lock again, and that the inner release
// freed the lock of the outer hold.
func (p *plot) deepens(inner *grant) {
	p.granted(inner, ", though it held it already", ", though it holds it")
	s := inner.lastEntry()
	p.add(moment{
		pos: s.to, lane: s.server, actor: inner.client, who: inner.client + "'s release of that",
		did:  "removed its entry" + p.still(inner.nest, s.to),
		line: inner.client + "'s release of that removes its entry",
	})
	p.ride(s.by)
}
