import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy on loopback that can lose bytes, connections and itself. */
export async function startFaultProxy(targetPort: number) {
  const pairs = new Set<readonly [Socket, Socket]>();
  let swallowing = false;
  let connections = 0;
  const server = createServer({ noDelay: true }, (client) => {
    connections += 1;
    const upstream = connect({ port: targetPort, host: '127.0.0.1', noDelay: true });
    const pair = [client, upstream] as const;
    pairs.add(pair);
    join(client, upstream, () => pairs.delete(pair));
    join(upstream, client, () => pairs.delete(pair));
  });
  const join = (from: Socket, to: Socket, gone: () => void): void => {
    from.on('data', (bytes) => {
      if (!swallowing) to.write(bytes);
    });
    from.on('error', () => {});
    from.on('close', () => {
      gone();
      // In a black hole not even the end of the other side is heard.
      if (!swallowing) to.destroy();
    });
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  /** RST on every connection; the number of them. */
  const reset = (): number => {
    const cut = [...pairs];
    for (const pair of cut) for (const socket of pair) socket.resetAndDestroy();
    return cut.length;
  };
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    /** Drops every byte from now on, both ways and without an error: a half-open connection. */
    blackHole(): void {
      swallowing = true;
    },
    /** Bytes flow again; connections that lost some are cut, as the network would in the end. */
    heal(): void {
      swallowing = false;
      reset();
    },
    reset,
    close(): Promise<void> {
      swallowing = false;
      reset();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
