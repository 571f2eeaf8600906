package hub

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestFromEnv(t *testing.T) {
	home := t.TempDir()
	write := func(name, token string) {
		t.Helper()
		name = filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("hf/token", "hf_home\n")
	write("elsewhere", " hf_path \n")
	write("two", "hf_a\nhf_b\n")
	at := func(p string) string { return filepath.Join(home, p) }
	tests := map[string]struct {
		env  map[string]string
		want Options
		err  string
	}{
		"nothing set": {nil, Options{Endpoint: DefaultEndpoint, CacheDir: at(".cache/huggingface/hub")}, ""},
		"empty is not set": {map[string]string{"HF_HOME": "", "HF_ENDPOINT": "", "HF_TOKEN": " ", "HF_HUB_OFFLINE": ""},
			Options{Endpoint: DefaultEndpoint, CacheDir: at(".cache/huggingface/hub")}, ""},
		"XDG_CACHE_HOME": {map[string]string{"XDG_CACHE_HOME": "/x"}, Options{Endpoint: DefaultEndpoint, CacheDir: "/x/huggingface/hub"}, ""},
		"HF_HOME before XDG_CACHE_HOME, with its token": {map[string]string{"XDG_CACHE_HOME": "/x", "HF_HOME": at("hf")},
			Options{Endpoint: DefaultEndpoint, CacheDir: at("hf/hub"), Token: "hf_home"}, ""},
		"HUGGINGFACE_HUB_CACHE before HF_HOME": {map[string]string{"HUGGINGFACE_HUB_CACHE": "/old", "HF_HOME": "/none"},
			Options{Endpoint: DefaultEndpoint, CacheDir: "/old"}, ""},
		"HF_HUB_CACHE before all": {map[string]string{"HF_HUB_CACHE": "/new", "HUGGINGFACE_HUB_CACHE": "/old", "HF_HOME": "/none"},
			Options{Endpoint: DefaultEndpoint, CacheDir: "/new"}, ""},
		"home's sign": {map[string]string{"HF_HOME": "~/hf"}, Options{Endpoint: DefaultEndpoint, CacheDir: at("hf/hub"), Token: "hf_home"}, ""},
		"HF_TOKEN_PATH before the file in HF_HOME": {map[string]string{"HF_HOME": at("hf"), "HF_TOKEN_PATH": at("elsewhere")},
			Options{Endpoint: DefaultEndpoint, CacheDir: at("hf/hub"), Token: "hf_path"}, ""},
		"HF_TOKEN before all files": {map[string]string{"HF_HOME": at("hf"), "HF_TOKEN_PATH": at("elsewhere"), "HF_TOKEN": "hf_env"},
			Options{Endpoint: DefaultEndpoint, CacheDir: at("hf/hub"), Token: "hf_env"}, ""},
		"endpoint, offline": {map[string]string{"HF_ENDPOINT": "http://mirror:8080/hub/", "HF_HUB_OFFLINE": "YES"},
			Options{Endpoint: "http://mirror:8080/hub", CacheDir: at(".cache/huggingface/hub"), Offline: true}, ""},
		"0 is not offline":             {map[string]string{"HF_HUB_OFFLINE": "0"}, Options{Endpoint: DefaultEndpoint, CacheDir: at(".cache/huggingface/hub")}, ""},
		"endpoint without a scheme":    {map[string]string{"HF_ENDPOINT": "mirror"}, Options{}, "HF_ENDPOINT"},
		"endpoint with a password":     {map[string]string{"HF_ENDPOINT": "https://me:secret@mirror"}, Options{}, "HF_ENDPOINT"},
		"a token file with two tokens": {map[string]string{"HF_TOKEN_PATH": at("two")}, Options{}, at("two")},
		"a token that is a folder":     {map[string]string{"HF_TOKEN_PATH": home}, Options{}, "reading the Hub's token"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := FromEnv(func(k string) (string, bool) { v, ok := tt.env[k]; return v, ok }, home)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "hf_a") {
					t.Fatalf("error %v, want one about %q that tells no secret", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(Options{}, "HTTP", "Log", "Progress", "Wait")); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
	}
}
