// Package gate judges numbers by limits: a plan's thresholds over the cells of one
// run-set, and --fail-on over a comparison. It fills no rules of its own, prints
// nothing and sets no exit code.
package gate
