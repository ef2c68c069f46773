package faults

var serverPause = Fault{
	Name:   "server-pause",
	Does:   "a server stands still and keeps its connections (SIGSTOP, a stalled disk), 0.1–2.5 T",
	On:     OnServer,
	Stops:  true,
	Shares: "standing",
	Words: Words{
		Lane: "paused",
		Past: "{on} was|were paused{for}",
		Now:  "{on} is|are paused{for}",
		Over: "{on} goes|go on",
	},
	Start: pause.Start,
	Heal:  pause.Heal,
	Draw:  drawDuration,
}
