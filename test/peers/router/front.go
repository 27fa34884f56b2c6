package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

const messageBytesMax = 10 << 20

// front is an address whose door may close for a while: a net.Listener that outlives its socket.
type front struct {
	net.Listener // the socket of now
	address      string
	conns        chan net.Conn
	wires        sync.Map
}

func openFront() *front {
	f := &front{address: "127.0.0.1:0", conns: make(chan net.Conn)}
	f.back()
	return f
}

func (f *front) Accept() (net.Conn, error) { return <-f.conns, nil }

// back opens the door, each time at the same port.
func (f *front) back() {
	socket, err := net.Listen("tcp", f.address)
	check(err)
	f.address, f.Listener = socket.Addr().String(), socket
	go func() {
		for {
			conn, err := socket.Accept()
			if err != nil {
				return
			}
			w := &wire{Conn: conn, front: f, closed: make(chan struct{})}
			f.wires.Store(w, nil)
			f.conns <- w
		}
	}()
}

// each does something to every connection there is.
func (f *front) each(act func(*wire)) {
	f.wires.Range(func(w, _ any) bool {
		act(w.(*wire))
		return true
	})
}

// tunnels is a listener of what comes out of WebSockets: HTTP/2 in binary messages, as GitLab's router takes it.
type tunnels struct {
	net.Listener
	conns chan net.Conn
}

func (t *tunnels) Accept() (net.Conn, error) { return <-t.conns, nil }

func serveTunnels(inside net.Listener) *tunnels {
	t := &tunnels{inside, make(chan net.Conn)}
	go http.Serve(inside, http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		socket, err := websocket.Accept(response, request, &websocket.AcceptOptions{Subprotocols: []string{"ws-tunnel"}})
		if err != nil {
			return
		}
		if socket.Subprotocol() != "ws-tunnel" {
			socket.Close(websocket.StatusProtocolError, "expecting the subprotocol ws-tunnel")
			return
		}
		socket.SetReadLimit(messageBytesMax)
		t.conns <- websocket.NetConn(context.Background(), socket, websocket.MessageBinary)
	}))
	return t
}

// wire is a TCP connection that breaks in the ways of networks. The operating system goes on acknowledging, so the other
// end learns of deaf and mute only from what does not come.
type wire struct {
	net.Conn
	front      *front
	deaf, mute atomic.Bool
	once       sync.Once
	closed     chan struct{}
}

func (w *wire) Read(into []byte) (int, error) {
	n, err := w.Conn.Read(into)
	if w.deaf.Load() {
		<-w.closed
		return 0, net.ErrClosed
	}
	return n, err
}

func (w *wire) Write(bytes []byte) (int, error) {
	if w.mute.Load() {
		return len(bytes), nil
	}
	return w.Conn.Write(bytes)
}

func (w *wire) Close() error {
	w.once.Do(func() { close(w.closed) })
	w.front.wires.Delete(w)
	return w.Conn.Close()
}

// reset ends the connection with RST instead of FIN.
func (w *wire) reset() {
	w.Conn.(*net.TCPConn).SetLinger(0)
	w.Close()
}

// certificate makes a pair for 127.0.0.1 and writes the public half for whoever shall trust it.
func certificate(file string, protocol string) *tls.Config {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	check(err)
	check(os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644))
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, NextProtos: []string{protocol}}
}
