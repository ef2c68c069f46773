package main

import "github.com/spf13/cobra"

// commandGroup is a group of commands with one purpose.
type commandGroup struct {
	title    string
	commands []*cobra.Command
}

// commandGroups returns all commands, grouped as the help lists them.
func (a *app) commandGroups() []commandGroup {
	return []commandGroup{
		{"Learn how locks break", []*cobra.Command{a.caseCommand(), a.matrixCommand(), a.benchCommand(), a.listCommand()}},
		{"Look for violations", []*cobra.Command{a.runCommand(), a.replayCommand(), a.shrinkCommand(), a.checkCommand()}},
		{"Keep a lock safe in CI", []*cobra.Command{a.initCommand(), a.suiteCommand(), a.mergeCommand()}},
		{"The rest", []*cobra.Command{a.cleanCommand(), a.versionCommand(), a.workerCommand()}},
	}
}
