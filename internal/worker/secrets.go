package worker

import (
	"regexp"
	"slices"
	"strings"
)

// maxText is how many characters of an error's text are kept.
const maxText = 200

// hidden stands for a secret.
const hidden = "[hidden]"

// secretName matches the names of environment variables whose values are secrets.
var secretName = regexp.MustCompile(`(?i)(password|passwd|passphrase|pwd|secret|token|credential|api_?key|private_?key|auth)`)

// directories are the variables of a shell with names like those of secrets.
var directories = []string{"PWD", "OLDPWD"}

// secretURL matches the password in a URL or a DSN.
var secretURL = regexp.MustCompile(`([\w.+-]*://[^/@\s:]*:)[^/@\s]+@`)

// shortestSecret is the shortest value, in bytes, that is taken for a secret: a shorter one
// stands in many texts.
const shortestSecret = 4

// hiding returns what takes the secrets of an environment out of a text.
func hiding(environment []string) *strings.Replacer {
	var pairs []string
	for _, entry := range environment {
		name, value, _ := strings.Cut(entry, "=")
		if len(value) >= shortestSecret && secretName.MatchString(name) && !slices.Contains(directories, name) {
			pairs = append(pairs, value, hidden)
		}
	}
	return strings.NewReplacer(pairs...)
}

// publishable returns a worker's text as a history keeps it: one line without secrets, of
// bounded length.
func (p *Process) publishable(text string) string {
	if text == "" {
		return ""
	}
	text = strings.Join(strings.Fields(p.secrets.Replace(text)), " ")
	text = secretURL.ReplaceAllString(text, "${1}"+hidden+"@")
	if letters := []rune(text); len(letters) > maxText {
		return string(letters[:maxText]) + "…"
	}
	return text
}
