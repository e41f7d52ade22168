package page

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// guard lets in browsers that have come with a ticket. Browsers have no client certificates, and
// everybody on the machine can reach a port of the loopback: what is secret is the ticket, which is
// good once, and then the cookie that it was changed for. Host and Origin are checked, so that no page
// of another site can use the cookie.
type guard struct {
	port string

	mu       sync.Mutex
	tickets  [][32]byte // that were not used yet, oldest first
	sessions [][32]byte // oldest first
}

// mostKept bounds tickets and sessions; the oldest go first.
const mostKept = 64

// ticketWord names the ticket in an address.
const ticketWord = "ticket"

func keep(all [][32]byte, secret string) [][32]byte {
	if all = append(all, sha256.Sum256([]byte(secret))); len(all) > mostKept {
		all = slices.Delete(all, 0, 1)
	}
	return all
}

// ticket returns a new one.
func (g *guard) ticket() string {
	t := rand.Text()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tickets = keep(g.tickets, t)
	return t
}

// redeem changes a ticket for a session; false if it is not good, or was used.
func (g *guard) redeem(ticket string) (session string, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.tickets, sha256.Sum256([]byte(ticket)))
	if i < 0 {
		return "", false
	}
	g.tickets = slices.Delete(g.tickets, i, i+1)
	session = rand.Text()
	g.sessions = keep(g.sessions, session)
	return session, true
}

func (g *guard) known(session string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Contains(g.sessions, sha256.Sum256([]byte(session)))
}

// cookie is the name of the cookie: browsers give cookies to all ports of a host.
func (g *guard) cookie() string { return "lightloom-" + g.port }

// ours reports whether a request names this server as its host, and comes from no page of another site.
func (g *guard) ours(r *http.Request) error {
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil || port != g.port || host != "127.0.0.1" && host != "localhost" && host != "::1" {
		return fmt.Errorf("this page is at 127.0.0.1:%s, not at %q", g.port, r.Host)
	}
	if from := r.Header.Get("Origin"); from != "" && from != "http://"+r.Host {
		return fmt.Errorf("a page of %q asks", from)
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case site == "" || site == "same-origin" || site == "none":
	case r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate": // a link that somebody follows
	default:
		return fmt.Errorf("a page of another site asks (%s)", site)
	}
	return nil
}

// protect lets a request through if it is allowed, and answers it otherwise.
func (g *guard) protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := g.ours(r); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		if t := r.URL.Query().Get(ticketWord); t != "" && r.URL.Path == "/" && r.Method == http.MethodGet {
			g.enter(w, r, t)
			return
		}
		if !g.in(r) {
			refuse(w)
			return
		}
		if r.Method != http.MethodGet && !changes(r) {
			http.Error(w, "a change is a POST of JSON from the page itself", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// changes reports whether a request can be a change that the page itself asks for.
func changes(r *http.Request) bool {
	return r.Method == http.MethodPost && r.Header.Get("Origin") != "" &&
		strings.HasPrefix(r.Header.Get("Content-Type"), "application/json")
}

func (g *guard) in(r *http.Request) bool {
	c, err := r.Cookie(g.cookie())
	return err == nil && g.known(c.Value)
}

// enter changes a ticket for a cookie, and takes the ticket out of the address. Who is in needs none.
func (g *guard) enter(w http.ResponseWriter, r *http.Request, ticket string) {
	session, ok := g.redeem(ticket)
	if !ok && !g.in(r) {
		refuse(w)
		return
	}
	if ok {
		http.SetCookie(w, &http.Cookie{Name: g.cookie(), Value: session, Path: "/", HttpOnly: true,
			SameSite: http.SameSiteStrictMode})
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func refuse(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusUnauthorized)
	fmt.Fprintln(w, "Lightloom: this address was used, or is not known.\n\n"+
		"Each address that lightloom prints is good once. lightloom page prints another.")
}
