// Package secret says what counts as a secret by its name and takes secrets out of
// text and streams.
//
// It finds whole values that it was given, and the forms that they take in URLs and
// in basic authentication. It guesses nothing from the look of a value, and what
// somebody encrypts, splits over lines or shortens it does not find.
package secret

import "strings"

// words make a name secret wherever they stand in it: X-Api-Key, HF_TOKEN,
// proxy_passwd. Package plan, which imports nothing of the module, refuses headers
// with these words whose value stands in the plan; the two lists must agree.
func words() []string {
	return []string{"auth", "cookie", "credential", "key", "passwd", "password", "secret", "token"}
}

// harmless are longer words that hold one of words and mean something else; the
// variables of language models are full of tokenizers.
func harmless() []string { return []string{"tokenizer", "git_author", "keyboard"} }

// Name tells whether a header, variable or flag of that name holds a secret. Case
// does not matter.
func Name(name string) bool {
	name = strings.ToLower(name)
	for _, word := range harmless() {
		name = strings.ReplaceAll(name, word, "")
	}
	for _, word := range words() {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}
