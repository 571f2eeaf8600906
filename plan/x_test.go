package plan
import ("testing";"os";"fmt";"path/filepath")
func TestX(t *testing.T){
 fs,_:=filepath.Glob("../plans/*.yaml")
 for _,f:=range fs { p,err:=Load(f,Options{Engines:[]string{"vllm","sglang"}}); if err!=nil {fmt.Println(err);continue}; r:=p.Expand(); fmt.Println(f,len(r)); fmt.Println(string(r[0].Cell), r[0].RunID) }
 s,err:=Schema(); fmt.Println(string(s),err)
 _=os.Args
}
