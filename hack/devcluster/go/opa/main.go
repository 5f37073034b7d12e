// The server of Open Policy Agent, without its command line and what that draws in. It begins without policies: they come by its
// own API. Its first line of output is the address it listens on; a free port if none is given.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/open-policy-agent/opa/v1/plugins"
	"github.com/open-policy-agent/opa/v1/server"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
)

func main() {
	address := "127.0.0.1:0"
	if len(os.Args) > 1 {
		address = os.Args[1]
	}
	log.Fatal(serve(context.Background(), address))
}

func serve(ctx context.Context, address string) error {
	store := inmem.New()
	manager, err := plugins.New([]byte("{}"), "opa", store)
	if err != nil {
		return err
	}
	if err := manager.Start(ctx); err != nil {
		return err
	}
	opa, err := server.New().WithStore(store).WithManager(manager).Init(ctx)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	return http.Serve(listener, opa.Handler)
}
