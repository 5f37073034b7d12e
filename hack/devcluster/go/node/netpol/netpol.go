// Package netpol enforces NetworkPolicies with kube-network-policies'
// controller and evaluator. Packets reach it by iptables' NFQUEUE target:
// nftables' own queue statement needs CONFIG_NFT_QUEUE, which small kernels
// lack. On such a kernel the controller's own nftables sync fails and only logs.
package netpol

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"sigs.k8s.io/kube-network-policies/pkg/networkpolicy"
)

// rules is the whole mangle table of this network namespace, which is ours
// alone. Loaded in one transaction, so a restart never leaves traffic unpoliced.
const rules = `*mangle
:PREROUTING ACCEPT [0:0]
:INPUT ACCEPT [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:POSTROUTING ACCEPT [0:0]
:SKERRY-NETPOL - [0:0]
-A SKERRY-NETPOL -m conntrack --ctstate ESTABLISHED,RELATED -j RETURN
-A SKERRY-NETPOL -s %[1]s -j NFQUEUE --queue-num %[2]d
-A SKERRY-NETPOL -d %[1]s -j NFQUEUE --queue-num %[2]d
# what the node's root user sends (the kubelet's probes) is not policed
-A POSTROUTING -m owner --uid-owner 0 -j ACCEPT
-A POSTROUTING -j SKERRY-NETPOL
# egress from a Pod to the node itself: the API server behind its Service
-A INPUT -j SKERRY-NETPOL
COMMIT
`

func install(podCIDR string, queue int) error {
	restore := exec.Command("iptables-restore", "-w")
	restore.Stdin = strings.NewReader(fmt.Sprintf(rules, podCIDR, queue))
	if out, err := restore.CombinedOutput(); err != nil {
		return fmt.Errorf("iptables-restore: %w: %s", err, out)
	}
	return nil
}

func enforce(kubeconfig, node, podCIDR string, queue int) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	controller, err := networkpolicy.NewController(client, factory.Networking().V1().NetworkPolicies(),
		factory.Core().V1().Namespaces(), factory.Core().V1().Pods(), nil, nil, nil, nil,
		networkpolicy.Config{QueueID: queue, NodeName: node})
	if err != nil {
		return err
	}
	// Not removed at the end: with nobody at the queue its packets are dropped.
	// A policy must not open because its guard died.
	if err := install(podCIDR, queue); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	if err := controller.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// Main runs until SIGTERM and returns the process's exit code.
func Main() int {
	kubeconfig := flag.String("kubeconfig", "", "path of the kubeconfig")
	node := flag.String("node", "", "name of this node")
	podCIDR := flag.String("pod-cidr", "", "addresses of this node's Pods")
	queue := flag.Int("queue", 100, "nfqueue number")
	klog.InitFlags(nil)
	flag.Parse()
	if err := enforce(*kubeconfig, *node, *podCIDR, *queue); err != nil {
		klog.Error(err)
		return 1
	}
	return 0
}
