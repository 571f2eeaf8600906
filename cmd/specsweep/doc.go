// Specsweep runs checked-in sweep plans against SGLang and vLLM servers and says
// what a speculative-decoding drafter is worth: acceptance length, acceptance
// rate, output throughput and the speedup over a server without speculation.
//
//	specsweep run PLAN         carry out a plan; leaves a run-set of rows and tables
//	specsweep plan PLAN        check a plan and print its matrix; sends nothing
//	specsweep bench …          the Python scripts bench_sglang, bench_vllm and bench_sweep in one verb
//	specsweep report DIR…      render the tables of a run-set again, offline
//	specsweep compare OLD NEW  two run-sets, or two servers of one, side by side
//	specsweep merge DIR…       one run-set of the shards of a plan (run --shard i/n)
//	specsweep datasets         the built-in datasets; datasets show NAME|PATH prints prompts
//	specsweep sim …            a simulated server, for trying plans without a GPU
//	specsweep schema           the JSON Schema of plans
//	specsweep completion …     completion for a shell
//	specsweep version
//
// This package is the program around the others: flags, settings, signals, exit
// codes and wiring. It measures nothing and formats no table itself.
package main
