/** One side of a comparison in a process of its own, so that its CPU time is its own and so is its garbage. */
import { fileURLToPath } from 'node:url';
import { systemRelayClock } from '../../../relay/relay.ts';
import { createStreamPool } from '../../../relay/streams/pool.ts';
import { encodeAdmitted, loadSchema } from '../../../relay/wire/schema.ts';
import { obeyParent, startBenchProcess, tellParent } from './bench-process.ts';
import { benchRelay } from './bench-relay.ts';
import { benchRouter } from './bench-router.ts';
import { startBareClient } from './floor-clients.ts';

/**
 * `relay`: the whole relay with function and ledger inside. `streams`: the relay's client and stream pool, which admit
 * without looking. `bare`: raw grpc-js that does the same.
 */
export type SideKind = 'relay' | 'streams' | 'bare';

export interface SideProcess {
  /** CPU time the process has used, µs: user and system. */
  cpuMicros(): Promise<number>;
  stop(): void;
}

const STREAMS = 128;

export async function startSideProcess(kind: SideKind, url: string, token: string): Promise<SideProcess> {
  const child = startBenchProcess(fileURLToPath(import.meta.url), [kind, url, token]);
  await child.next();
  return { cpuMicros: () => child.send<number>('cpu'), stop: child.stop };
}

const START: Readonly<Record<SideKind, (url: string, token: string) => void>> = {
  relay: (url, token) => benchRelay(url, token, STREAMS),
  bare: (url, token) => startBareClient({ url, token, schema: loadSchema(), streams: STREAMS }),
  streams: (url, token) => {
    const schema = loadSchema();
    const admitted = encodeAdmitted(schema);
    const router = benchRouter(url, schema, token);
    process.once('exit', () => router.close());
    createStreamPool({
      router,
      answer: async () => ({ answer: { outcome: 'admitted' }, delivered: () => {} }),
      encode: { admitted: () => admitted, rejected: () => admitted },
      clock: systemRelayClock,
      random: Math.random,
      observe: () => {},
      sizes: { start: STREAMS, max: STREAMS * 2, openMax: 1024 },
    }).start();
  },
};

if (import.meta.main) {
  const [kind, url = '', token = ''] = process.argv.slice(2);
  START[kind as SideKind](url, token);
  obeyParent(() => {
    const { user, system } = process.cpuUsage();
    return user + system;
  });
  tellParent({});
}
