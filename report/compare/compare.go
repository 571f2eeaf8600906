// Package compare puts two sides next to each other, cell by cell: two run-sets, or
// two servers of one. It says what each side alone has and what was measured in
// another way before it says what changed, and it calls nothing better than the
// samples can carry.
//
// It prints nothing and reads no files.
package compare
