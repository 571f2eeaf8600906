package openai

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Options is how to speak to one server.
type Options struct {
	// URL is the server's root; a trailing / or /v1 is dropped. user:password@ in
	// it becomes basic auth and is shown in no error.
	URL string
	// Headers go out with every request. A Host entry names the virtual host.
	Headers map[string]string
	// APIKey becomes `Authorization: Bearer …`, in place of one in Headers and of
	// the URL's basic auth. Blanks around it are trimmed; blank: no header at all.
	APIKey string
	// Timeout bounds one attempt, from the send to the last byte of the answer;
	// zero: DefaultTimeout.
	Timeout time.Duration
	// MaxRetries is how often Chat tries again after the first attempt.
	MaxRetries int
	// MaxConns is how many idle connections are kept: the concurrency. It is no
	// limit on open ones.
	MaxConns int
	// TLS is how an https server is trusted. Its files are read by New.
	TLS TLS
	// Proxy is the URL (http, https, socks5) that every request goes through; empty:
	// none, whatever the environment says. Its user:password@ is shown in no error.
	Proxy string
	// KeepText gives every Completion the text of its answer.
	KeepText bool

	// Wait waits between attempts and returns early when the context ends; nil: a
	// timer. For tests.
	Wait func(context.Context, time.Duration) error
	// Now is the clock; nil: time.Now. For tests.
	Now func() time.Time
}

// DefaultTimeout is the time that one attempt may take when Options say nothing.
const DefaultTimeout = 600 * time.Second

// Client speaks to one server. It is safe for concurrent use and keeps nothing
// but idle connections, which Close drops.
type Client struct {
	opts     Options
	root     *url.URL // with its userinfo
	shown    string   // the root as messages may show it
	host     string   // of Options.Headers; empty: the URL's
	header   http.Header
	scrub    *strings.Replacer // takes secrets out of what a server echoes
	http     *http.Client
	chat     *http.Request // what all chat completions share; net/http writes to none of it
	stale    time.Duration // see send
	maxReply int64         // bytes that are read of one answer, or of one event of a stream
	pool     sync.Pool     // of *scratch
}

// New makes a client. It reads the files of Options.TLS and sends nothing; its
// errors are about the options.
func New(o Options) (*Client, error) {
	root, err := parseRoot(o.URL)
	if err != nil {
		return nil, err
	}
	header, host, err := headers(o)
	if err != nil {
		return nil, err
	}
	proxy, err := parseProxy(o.Proxy)
	if err != nil {
		return nil, err
	}
	transport, err := transport(o, proxy)
	if err != nil {
		return nil, fmt.Errorf("server %s: %w", display(root), err)
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Wait == nil {
		o.Wait = Sleep
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Client{
		opts: o, root: root, shown: display(root), host: host, header: header,
		scrub: scrubber(o, root, proxy), stale: staleAfter, maxReply: defaultMaxReply,
		http: &http.Client{
			Transport: advised{transport, o.TLS},
			// A redirected POST would become a GET, or take the key to a host that
			// nobody named.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	if c.chat, err = c.request(context.Background(), http.MethodPost, chatPath); err != nil {
		return nil, err
	}
	c.chat.Header.Set("Content-Type", "application/json")
	return c, nil
}

// Close drops the idle connections. The client may be used again.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// URL is the server's root for messages and records: without userinfo.
func (c *Client) URL() string { return c.shown }

// idleTimeout is below the 5 s after which uvicorn (vLLM, SGLang) and llama.cpp
// close a connection that is idle. The side that closes first must be ours: a
// request that meets the server's close on its way has to be sent again.
const idleTimeout = 4 * time.Second

// How long a connection may take to come up, and how often it is kept awake.
const (
	dialTimeout = 10 * time.Second
	keepAlive   = 30 * time.Second
)

// transport is net/http's with everything that would bend a measurement taken
// out: no proxy from the environment, no decompression, no cap on connections (a
// request that waits for one would count as the server's time), and HTTP/1.1
// only, where each request in flight has a connection of its own. proxy is nil for
// none.
func transport(o Options, proxy *url.URL) (*http.Transport, error) {
	config, err := o.TLS.config()
	if err != nil {
		return nil, err
	}
	http1 := new(http.Protocols)
	http1.SetHTTP1(true)
	t := &http.Transport{
		Protocols:           http1,
		DialContext:         (&net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive}).DialContext,
		TLSClientConfig:     config,
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: max(o.MaxConns, 2), // the default of 2 makes most requests of a pass dial anew
		IdleConnTimeout:     idleTimeout,
		DisableCompression:  true,
	}
	if proxy == nil {
		return t, nil
	}
	return t, through(t, proxy, o.TLS)
}
