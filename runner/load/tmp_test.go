package load
import ("testing";"runtime";"sync/atomic";"net/http";"net/http/httptest";"io";"github.com/specsweep/specsweep/runner/openai";"fmt";"os";"runtime/pprof")
func TestTmpMem(t *testing.T){
	const concurrency=1000
	var arrived atomic.Int64
	open := make(chan struct{})
	show:=func(s string){ var m runtime.MemStats; runtime.ReadMemStats(&m); fmt.Println(s, "heap",m.HeapAlloc>>10,"stack",m.StackInuse>>10,"sys",m.Sys>>10,"gor",runtime.NumGoroutine())}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if arrived.Add(1) == concurrency { show("peak"); runtime.GC(); show("gc"); f,_:=os.Create("/tmp/openai_heap.out"); pprof.WriteHeapProfile(f); f.Close(); close(open) }
		<-open
		_, _ = w.Write(benchAnswer)
	}))
	show("start")
	c := client(t, s, openai.Options{MaxConns: concurrency})
	Run(t.Context(), c, bodies(1000), Options{Concurrency: concurrency})
	show("end")
	c.Close(); s.Close()
}
