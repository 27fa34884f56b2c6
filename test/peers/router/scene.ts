/** A router written in Go, relays as processes and the real admit function, with checks that compare their counts. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFailed, test } from 'vitest';
import { systemClock } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { DynamoLimitTable } from '../../../functions/core/limits/limit-table.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import { serveAdmit } from '../../../scripts/local/admit.ts';
import { until } from '../../../scripts/local/timing.ts';
import { rulesFrom } from '../../../scripts/proof/bench/bench-rules.ts';
import { MemoryStore } from '../../support/ledger/memory-store.ts';
import { type RelayProcess, startCountedRelay } from './counted-relay.ts';
import {
  buildPeer,
  isWanted,
  type LoadTally,
  PEER_PROJECTS,
  type PeerOptions,
  type PeerRouter,
  startPeer,
} from './peer.ts';

const INSTANCE = 'conformance.example.com';
const TOKEN = 'glrct-peer-not-a-secret';
const ROOTS = 4;
/** The project with a limit of 0: `blockedProject` in `question.go`. */
const BLOCKED_PROJECT = 1999;
const WARM_UP_JOBS = 96;
const LINES_MAX = 8;

const rootOf = (project: number): number => 100 + (project % ROOTS);
const projects = [BLOCKED_PROJECT, ...Array.from({ length: PEER_PROJECTS }, (_, index) => 2001 + index)];

/** The verdicts of `question.go` follow from these: one image is denied, one project may spend nothing. */
const DOCUMENTS = {
  policy: {
    currency: 'EUR',
    prices: {
      version: 'conformance',
      classes: [{ name: 'small', tags: [], rate_per_minute: '0.01' }],
      default_class: 'small',
    },
    estimate: { default: '10m' },
    rules: [
      { id: 'budgets', kind: 'budget', mode: 'enforce' },
      // Open: an unreadable request is left to the relay's own checks, which are under test.
      { id: 'images', kind: 'image', mode: 'enforce', on_error: 'open', deny: ['evil.example.com/**'] },
    ],
  },
  directory: {
    groups: Array.from({ length: ROOTS }, (_, index) => ({ id: 100 + index, path: `root-${100 + index}` })),
    projects: projects.map((id) => ({ id, group: rootOf(id), path: `root-${rootOf(id)}/project-${id}` })),
  },
  limits: {
    limits: [
      ...Array.from({ length: ROOTS }, (_, index) => ({
        ...{ on: { group: 100 + index }, money: 900_000_000, per: 'month' },
      })),
      { on: { project: BLOCKED_PROJECT }, money: 0, per: 'month' },
    ],
  },
};

/** Differences from "the ledger decided, and the router read it". Each is 0 by default. */
interface Exceptions {
  readonly fallback?: number;
  readonly unreadable?: number;
}

class Scene {
  readonly #program: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'tollgate-conformance-'));
  readonly #policyFile = join(this.#folder, 'policy.json');
  readonly #tokenFile = join(this.#folder, 'token');
  readonly #ends: (() => Promise<unknown>)[] = [];
  readonly #relays: RelayProcess[] = [];

  constructor(program: string) {
    this.#program = program;
    this.writeToken(TOKEN);
    const policy = { version: 'conformance', document: DOCUMENTS.policy };
    writeFileSync(this.#policyFile, JSON.stringify({ policy, directory: DOCUMENTS.directory }));
  }

  writeToken(token: string): void {
    writeFileSync(this.#tokenFile, token);
  }

  async router(options: PeerOptions): Promise<PeerRouter> {
    const router = await startPeer(this.#program, this.#folder, options);
    this.#ends.push(() => router.end());
    return router;
  }

  /** Starts a relay with its own admit function and ledger, since job ids restart with every test. */
  async relay(router: PeerRouter, more: { readonly heapMb?: number } = {}): Promise<RelayProcess> {
    const store = new MemoryStore({ instance: INSTANCE });
    const table = { table: new MemoryTable(), instance: INSTANCE, clock: systemClock, random: Math.random };
    const admit = await serveAdmit(
      createLedger({ store, clock: systemClock }),
      rulesFrom(DOCUMENTS),
      new DynamoLimitTable(table),
    );
    this.#ends.push(() => admit.stop());
    const files = { policyFile: this.#policyFile, tokenFile: this.#tokenFile };
    const relay = await startCountedRelay({ router, admitUrl: admit.url, ...files, ...more });
    this.#relays.push(relay);
    this.#ends.push(() => relay.kill());
    return relay;
  }

  async started(options: PeerOptions, more: { readonly heapMb?: number } = {}) {
    const router = await this.router(options);
    const relay = await this.relay(router, more);
    await warmUp(router);
    return { router, relay };
  }

  lastLines(): string {
    return this.#relays
      .flatMap(({ lines }) => lines)
      .slice(-LINES_MAX)
      .join('\n');
  }

  async close(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

let program: string | undefined;

export function phase(name: string, run: (scene: Scene) => Promise<void>): void {
  test.skipIf(!isWanted)(name, async () => {
    program ??= buildPeer();
    const scene = new Scene(program);
    onTestFailed(() => void process.stderr.write(`${scene.lastLines()}\n`));
    try {
      await run(scene);
    } finally {
      await scene.close();
    }
  });
}

export const MIXED = ['admit', 'image', 'blocked'] as const;

/** Admits jobs until the relay has proven its schema; it rejects no job before. */
export async function warmUp(router: PeerRouter, firstJobId = 1): Promise<void> {
  expect(await router.waits(4), 'a relay waits for requests').toBe(true);
  expectRight(await router.ask({ count: WARM_UP_JOBS, inFlight: 8, firstJobId, verdicts: ['admit'] }));
}

export const askedIn = ({ outcomes }: LoadTally): number =>
  Object.values(outcomes).reduce((sum, count) => sum + count, 0);
export const lostIn = (tally: LoadTally): number =>
  askedIn(tally) - (tally.outcomes.admitted ?? 0) - (tally.outcomes.rejected ?? 0);

export function expectRight(tally: LoadTally, what = ''): void {
  expect(lostIn(tally), `lost requests ${what} ${JSON.stringify(tally)}`).toBe(0);
  expect(tally.wrong, `wrong answers ${what} ${JSON.stringify(tally)}`).toBe(0);
}

export async function caughtUp(router: PeerRouter, relay: RelayProcess): Promise<void> {
  const { questions = 0 } = await router.report();
  await until(async () => {
    const { admitted, rejected } = await relay.counts();
    return admitted + rejected >= questions;
  });
}

export async function expectSameCounts(
  router: PeerRouter,
  relay: RelayProcess,
  exceptions: Exceptions = {},
): Promise<void> {
  await caughtUp(router, relay);
  const { questions = 0, admitted = 0, rejected = 0 } = await router.report();
  const { fallback = 0, unreadable = 0 } = exceptions;
  const decided = { requests: questions, admitted, rejected, fallback, unreadable, unheard: 0 };
  expect(await relay.counts()).toEqual(decided);
}
