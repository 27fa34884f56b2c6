import { connect, createServer, type Socket } from 'node:net';

/** A TCP proxy on loopback that can lose bytes, connections and itself. */
export interface FaultProxy {
  readonly port: number;
  readonly connections: number;
  /** From now on every byte vanishes, both ways, and nobody is told: a half-open connection. */
  blackHole(): void;
  /** Bytes flow again; connections that lost some are cut, as the network would in the end. */
  heal(): void;
  /** RST on every connection; the number of them. */
  reset(): number;
  close(): Promise<void>;
}

export async function startFaultProxy(targetPort: number): Promise<FaultProxy> {
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
  const address = server.address();
  const reset = (): number => {
    const cut = [...pairs];
    for (const pair of cut) for (const socket of pair) socket.resetAndDestroy();
    return cut.length;
  };
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    get connections() {
      return connections;
    },
    blackHole() {
      swallowing = true;
    },
    heal() {
      swallowing = false;
      reset();
    },
    reset,
    close() {
      swallowing = false;
      reset();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
