// Command controlplane is a whole control plane of Kubernetes in one program, for tests: etcd, kube-apiserver,
// kube-controller-manager and kube-scheduler, unchanged, each under its name as the first argument. It is a module of
// its own, because it has a large tree of dependencies that nothing else here needs.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register" // what the real ones have
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "controlplane: name etcd, kube-apiserver, kube-controller-manager or kube-scheduler")
		os.Exit(2)
	}
	os.Args = os.Args[1:]
	var c *cobra.Command
	switch os.Args[0] {
	case "etcd":
		etcdmain.Main(os.Args)
		return
	case "kube-apiserver":
		c = apiserver.NewAPIServerCommand()
	case "kube-controller-manager":
		c = manager.NewControllerManagerCommand()
	case "kube-scheduler":
		c = scheduler.NewSchedulerCommand()
	default:
		fmt.Fprintf(os.Stderr, "controlplane: %q is no part of it\n", os.Args[0])
		os.Exit(2)
	}
	os.Exit(cli.Run(c))
}
