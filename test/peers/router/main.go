// A job router that shares nothing with Tollgate: see README.md. It obeys JSON commands on stdin, one a line, and answers
// each with a line on stdout, the last of which is its report.
package main

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
)

type command struct {
	ID       int    `json:"id"`
	Do       string `json:"do"`
	Streams  int    `json:"streams"`
	WithinMs int    `json:"within_ms"`
	Token    string `json:"token"`
	load
}

func main() {
	p := &peer{
		schemas: map[string]*schema{}, arrived: make(chan struct{}),
		waiting: map[*waitingStream]struct{}{}, counts: map[string]int64{},
	}
	token := flag.String("token", "glrct-peer-not-a-secret", "the controller's token")
	flag.DurationVar(&p.age, "age", 0, "of a connection until GOAWAY; 0 is for ever")
	flag.DurationVar(&p.grace, "grace", 5*time.Second, "from there until it is cut")
	tunnel := flag.Bool("ws", false, "take WebSockets instead of gRPC")
	authority := flag.String("authority", "", "serve with TLS, and write the certificate to this file")
	descriptors := flag.String("descriptors", "gitlab.binpb", "write the FileDescriptorSet to this file")
	flag.Parse()
	p.token.Store(*token)
	for upgrade := range upgrades {
		p.schemas[upgrade] = buildSchema(upgrade)
	}
	set, err := proto.Marshal(p.schemas["first"].set)
	check(err)
	check(os.WriteFile(*descriptors, set, 0o644))

	door := openFront()
	var listener net.Listener = door
	if *authority != "" {
		protocol := map[bool]string{true: "http/1.1", false: "h2"}[*tunnel]
		listener = tls.NewListener(listener, certificate(*authority, protocol))
	}
	if *tunnel {
		listener = serveTunnels(listener)
	}
	go p.server().Serve(listener)
	tell(map[string]any{"address": door.address})
	obey(p, door)
	tell(p.report())
}

var output sync.Mutex

func tell(what any) {
	output.Lock()
	defer output.Unlock()
	check(json.NewEncoder(os.Stdout).Encode(what))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// obey runs the commands beside each other until stdin ends; whoever wants an order waits for the answers.
func obey(p *peer, door *front) {
	stop := make(chan struct{})
	var running sync.WaitGroup
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var c command
		check(json.Unmarshal(lines.Bytes(), &c))
		if c.Do == "stop" {
			close(stop)
			stop = make(chan struct{})
		}
		stopped := stop
		running.Go(func() { tell(map[string]any{"id": c.ID, "result": act(p, door, c, stopped)}) })
	}
	close(stop)
	running.Wait()
}

func act(p *peer, door *front, c command, stopped <-chan struct{}) any {
	switch c.Do {
	case "ask":
		return p.ask(c.load, stopped)
	case "wait":
		return p.until(c.Streams, time.Duration(c.WithinMs)*time.Millisecond, func() {})
	case "report":
		return p.report()
	case "away":
		door.Listener.Close()
		door.each((*wire).reset)
	case "back":
		door.back()
	case "reset":
		door.each((*wire).reset)
	case "deaf":
		door.each(func(w *wire) { w.deaf.Store(true) })
	case "freeze": // As if the way had been cut: nothing comes or goes, nobody is told, no stream is used again.
		door.each(func(w *wire) { w.deaf.Store(true); w.mute.Store(true) })
		p.until(0, 0, func() { clear(p.waiting) })
	case "token": // The old one is revoked, and who came with it must come again.
		p.token.Store(c.Token)
		door.each(func(w *wire) { w.Close() })
	}
	return true
}
