package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	batchclient "k8s.io/client-go/kubernetes/typed/batch/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// answers is how long an API server has for its first answer.
const answers = 10 * time.Second

// kubernetes are clients of the parts of an API server that are used here: a client of all of it takes a minute more to
// compile.
type kubernetes struct {
	core   coreclient.CoreV1Interface
	batch  batchclient.BatchV1Interface
	leases coordinationclient.CoordinationV1Interface
	others dynamic.Interface // what definitions add to the cluster
}

func newKubernetes(cfg *rest.Config) (k kubernetes, err error) {
	h, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return k, err
	}
	var err1, err2, err3, err4 error
	k.core, err1 = coreclient.NewForConfigAndClient(cfg, h)
	k.batch, err2 = batchclient.NewForConfigAndClient(cfg, h)
	k.leases, err3 = coordinationclient.NewForConfigAndClient(cfg, h)
	k.others, err4 = dynamic.NewForConfigAndClient(cfg, h)
	return k, errors.Join(err1, err2, err3, err4)
}

// dialKubernetes returns clients of the API server, once that has answered.
func dialKubernetes(ctx context.Context, path string) (k kubernetes, err error) {
	path = cmp.Or(path, os.Getenv("KUBECONFIG"))
	var cfg *rest.Config
	if path == "" {
		cfg, err = rest.InClusterConfig()
	} else {
		cfg, err = clientcmd.BuildConfigFromFlags("", path)
	}
	switch {
	case errors.Is(err, rest.ErrNotInCluster):
		return k, errors.New("this runs in no cluster: name one by --kubeconfig FILE")
	case err != nil:
		return k, fmt.Errorf("read kubeconfig %q: %w", path, err)
	}
	if err := fresh(cfg, time.Now()); err != nil {
		return k, fmt.Errorf("kubeconfig %q: %w", path, err)
	}
	cfg.UserAgent = "lightloom-kube"
	cfg.QPS, cfg.Burst = 200, 400 // a Job of hundreds of pods is released at once
	short := rest.CopyConfig(cfg)
	short.Timeout = answers
	probe, err := newKubernetes(short)
	if err != nil {
		return k, fmt.Errorf("kubeconfig %q: %w", path, err)
	}
	err = probe.core.RESTClient().Get().AbsPath("/api/v1").Do(ctx).Error() // what any known user may read
	switch {
	case apierrors.IsUnauthorized(err):
		return k, fmt.Errorf("API server %s does not know the user of kubeconfig %q: its token or certificate has ended "+
			"or is of another cluster: get a new one", cfg.Host, path)
	case err != nil:
		return k, fmt.Errorf("reach API server %s: %w", cfg.Host, err)
	}
	return newKubernetes(cfg)
}

// ownerOf returns the owner of a cluster's slices, which no other cluster has: each ends those of its owner that have
// no Job. As by custom, a cluster is told from others by the uid of its namespace kube-system.
func ownerOf(ctx context.Context, k kubernetes) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, answers)
	defer cancel()
	n, err := k.core.Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	switch {
	case err != nil:
		return "", fmt.Errorf("tell this cluster from others: %w: allow it as deploy/rbac.yaml does, or write --owner NAME",
			err)
	case n.UID == "":
		return "", fmt.Errorf("tell this cluster from others: namespace %s has no uid: write --owner NAME", n.Name)
	}
	return "kubernetes-" + string(n.UID), nil
}

// fresh returns an error if the client certificate has ended: API servers say no more than Unauthorized.
func fresh(cfg *rest.Config, now time.Time) error {
	t, err := rest.TLSConfigFor(cfg)
	if err != nil || t == nil || t.GetClientCertificate == nil {
		return err
	}
	pair, err := t.GetClientCertificate(&tls.CertificateRequestInfo{})
	if err != nil {
		return err
	}
	if pair.Leaf != nil && now.After(pair.Leaf.NotAfter) {
		return fmt.Errorf("its client certificate ended on %s: get a new kubeconfig", pair.Leaf.NotAfter.Format(time.RFC3339))
	}
	return nil
}
