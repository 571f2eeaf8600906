// Package bench measures what specsweep's client costs beside other clients: on
// plain answers, on streams, and against a server that knows how long it took.
//
// Everything is in the tests' files, so that neither its server nor the libraries
// that this needs get into the program. The test binary starts itself again as the
// server and as each client, so that each is a process whose core can be chosen and
// whose processor time the kernel counts. Run it with .ci/bench.
package bench
