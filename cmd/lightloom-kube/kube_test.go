package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// measured skips what takes a control plane and a fabric.
func measured(t *testing.T) {
	t.Helper()
	if os.Getenv("LIGHTLOOM_MEASURE") != "kube" {
		t.Skip("runs etcd, three servers of Kubernetes and lightloom up: set LIGHTLOOM_MEASURE=kube")
	}
}

// servers is a control plane that runs until the test ends.
type servers struct {
	*testing.T
	dir     string
	program string
	url     string
	api     *exec.Cmd
	admin   kubernetes
}

// await waits until something is so, for two minutes at most.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	end := time.After(2 * time.Minute)
	for !ok() {
		select {
		case <-end:
			t.Fatalf("%s: it is not so after two minutes", what)
		case <-time.After(50 * time.Millisecond): // other processes' doing, of which nothing tells
		}
	}
}

// program returns the file of the control plane, which is built where LIGHTLOOM_CONTROLPLANE names none.
func program(t *testing.T) string {
	t.Helper()
	if named := os.Getenv("LIGHTLOOM_CONTROLPLANE"); named != "" {
		return named
	}
	path := filepath.Join(t.TempDir(), "controlplane")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", path, ".")
	build.Dir, build.Env = "controlplane", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the control plane: %v: %s", err, out)
	}
	return path
}

// start runs a program until the test ends, and shows the end of what it said if the test fails.
func start(t *testing.T, dir, name string, args ...string) *exec.Cmd {
	t.Helper()
	return startUntil(t, syscall.SIGKILL, dir, name, args...)
}

// alone has a process be a session of its own, and get a signal when this one is killed. The kernel sends it when the
// thread that started the process ends, and nothing here ends a thread.
func alone(last syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: last}
}

// startUntil is start with the signal that the program gets when the test is killed.
func startUntil(t *testing.T, last syscall.Signal, dir, name string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(name, args...)
	c.SysProcAttr = alone(last)
	log, err := os.Create(filepath.Join(dir, strings.ReplaceAll(filepath.Base(name)+"-"+args[0], "/", "-")+".log"))
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout, c.Stderr, c.Dir = log, log, dir
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		_ = c.Wait()
		close(gone)
	}()
	t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		select {
		case <-gone:
		case <-time.After(20 * time.Second):
			_ = c.Process.Kill()
			<-gone
		}
		_ = log.Close()
		if text, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("%s: …%s", filepath.Base(log.Name()), text[max(0, len(text)-3000):])
		}
	})
	return c
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// tokens are the users: what runs beside this program is root, and this program what its manifests say.
const tokens = `admin-token,admin,1,system:masters
manager-token,system:kube-controller-manager,2,system:masters
scheduler-token,system:kube-scheduler,3,system:masters
ours-token,system:serviceaccount:lightloom:lightloom-kube,4,"system:serviceaccounts,system:authenticated"
`

// startServers runs etcd and Kubernetes on loopback.
func startServers(t *testing.T) *servers {
	t.Helper()
	s := &servers{T: t, dir: t.TempDir(), program: program(t)}
	s.write("tokens.csv", tokens)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	s.write("sa.key", string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY",
		Bytes: x509.MarshalPKCS1PrivateKey(key)})))
	etcd, peer := "http://127.0.0.1:"+freePort(t), "http://127.0.0.1:"+freePort(t)
	start(t, s.dir, s.program, "etcd", "--data-dir", filepath.Join(s.dir, "etcd"), "--listen-client-urls", etcd,
		"--advertise-client-urls", etcd, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
		"--initial-cluster", "default="+peer, "--unsafe-no-fsync")
	port := freePort(t)
	s.url = "https://127.0.0.1:" + port
	s.api = start(t, s.dir, s.program, "kube-apiserver", "--etcd-servers", etcd, "--bind-address", "127.0.0.1",
		"--secure-port", port, "--cert-dir", filepath.Join(s.dir, "certs"), "--authorization-mode", "RBAC",
		"--token-auth-file", filepath.Join(s.dir, "tokens.csv"), "--service-cluster-ip-range", "10.96.0.0/24",
		"--service-account-issuer", "https://kubernetes.default.svc", "--service-account-key-file",
		filepath.Join(s.dir, "sa.key"), "--service-account-signing-key-file", filepath.Join(s.dir, "sa.key"),
		"--disable-admission-plugins", "ServiceAccount")
	s.admin = s.client("admin")
	await(t, "kube-apiserver to be ready", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		return s.admin.core.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() == nil
	})
	start(t, s.dir, s.program, "kube-controller-manager", "--kubeconfig", s.kubeconfig("manager"), "--leader-elect=false",
		"--secure-port", "0", "--kube-api-qps", "300", "--kube-api-burst", "600", "--controllers",
		"job-controller,garbage-collector-controller,pod-garbage-collector-controller,node-lifecycle-controller,"+
			"taint-eviction-controller", "--service-account-private-key-file", filepath.Join(s.dir, "sa.key"))
	start(t, s.dir, s.program, "kube-scheduler", "--kubeconfig", s.kubeconfig("scheduler"), "--leader-elect=false",
		"--secure-port", "0")
	return s
}

func (s *servers) write(name, text string) string {
	s.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
	return path
}

// kubeconfig writes how a user reaches the API server.
func (s *servers) kubeconfig(user string) string {
	return s.write(user+".yaml", fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: test
clusters: [{name: test, cluster: {server: %q, certificate-authority: %q}}]
users: [{name: test, user: {token: %s-token}}]
contexts: [{name: test, context: {cluster: test, user: test}}]
`, s.url, filepath.Join(s.dir, "certs", "apiserver.crt"), user))
}

func (s *servers) client(user string) kubernetes {
	s.Helper()
	c, err := newKubernetes(&rest.Config{Host: s.url, BearerToken: user + "-token", QPS: 1000, Burst: 1000,
		TLSClientConfig: rest.TLSClientConfig{Insecure: true}}) // it makes its certificate as it starts
	if err != nil {
		s.Fatal(err)
	}
	return c
}

// apply has kubectl apply what deploy says, as its page says, without the Deployment: no node here runs images.
func (s *servers) apply() {
	s.Helper()
	for _, f := range []string{"namespace.yaml", "slices.yaml", "rbac.yaml"} {
		s.kubectl("-n", "lightloom", "apply", "-f", filepath.Join("deploy", f))
	}
	s.kubectl("apply", "--dry-run=server", "-k", "deploy")
}

func (s *servers) kubectl(args ...string) {
	s.Helper()
	c := exec.CommandContext(s.Context(), "kubectl", append([]string{"--kubeconfig", s.kubeconfig("admin")}, args...)...)
	if out, err := c.CombinedOutput(); err != nil {
		s.Fatalf("kubectl %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// fabric is a real controller over an emulated fabric.
type fabric struct {
	socket  string
	program string
}

const (
	racks = "hybrid:racks=4,hosts=2,spines=1,eps=50Mbps,ocs=1Gbps,dark=10ms"
	cubes = "pod:cubes=8,side=2,spines=1,eps=20Mbps,ocs=100Mbps,dark=10ms"
)

// startFabric runs lightloom up, and a socket to its controller, until the test ends. LIGHTLOOM_PROGRAM names it.
func startFabric(t *testing.T, spec string) *fabric {
	t.Helper()
	name := os.Getenv("LIGHTLOOM_PROGRAM")
	if name == "" {
		name = "lightloom"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("no lightloom: set LIGHTLOOM_PROGRAM to the program: %v", err)
	}
	dir := t.TempDir()
	startUntil(t, syscall.SIGTERM, dir, path, "up", "--page", "off", "--fabric", spec)
	await(t, "the fabric to be up", func() bool { return exec.CommandContext(t.Context(), path, "status").Run() == nil })
	// A program of that name in our place shows where lightloom kube offers the controller.
	seen := filepath.Join(dir, "args")
	if err := os.WriteFile(filepath.Join(dir, "lightloom-kube"),
		[]byte("#!/bin/sh\necho \"$2\" >"+seen+".new && mv "+seen+".new "+seen+"\nexec sleep 3600\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	startUntil(t, syscall.SIGTERM, dir, path, "kube")
	f := &fabric{program: path}
	await(t, "lightloom kube to offer the controller", func() bool {
		text, err := os.ReadFile(seen)
		f.socket = string(bytes.TrimSpace(text))
		return err == nil
	})
	return f
}

// in is a command in a host of the fabric, or beside the switches, that ends with ctx.
func (f *fabric) in(ctx context.Context, name string, command ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, f.program, append([]string{"exec", name, "--"}, command...)...)
	c.Env = os.Environ()
	return c
}
