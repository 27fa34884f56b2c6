import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AdmitServer } from '../../local/admit-server.ts';
import { type LoadTally, type PeerOptions, type PeerRouter, startPeer } from './peer-router.ts';
import { type ConformanceRelaySettings, type RelayProcess, startRelay } from './relay-process.ts';
import { packedForRelay } from './rules.ts';

/** What a phase needs from outside: the peer's program and the service that decides. */
interface Ground {
  readonly program: string;
  readonly admit: Pick<AdmitServer, 'url' | 'stop'>;
}

/** One promise and what came of it. */
export interface PhaseCheck {
  readonly what: string;
  readonly holds: boolean;
  readonly got: string;
  readonly due: string;
}

/** A router and relays of its own, one kind of trouble, and what must hold all the same. */
export interface Phase {
  readonly name: string;
  /** In a line, for `--help` and the report. */
  readonly says: string;
  run(scene: Scene): Promise<void>;
}

const LINES_MAX = 8;

/** The token of the peer's one controller, as its flags have it. */
const TOKEN = 'glrct-peer-not-a-secret';

/** Where one phase takes place; ends everything that was started in it. */
export class Scene {
  readonly checks: PhaseCheck[] = [];
  readonly tokenFile: string;
  asked = 0;
  lost = 0;
  readonly #ground: Ground;
  readonly #folder: string;
  readonly #routers: PeerRouter[] = [];
  readonly #relays: RelayProcess[] = [];

  constructor(ground: Ground) {
    this.#ground = ground;
    this.#folder = mkdtempSync(join(tmpdir(), 'tollgate-conformance-'));
    this.tokenFile = join(this.#folder, 'token');
    this.writeToken(TOKEN);
    writeFileSync(this.#policyFile, packedForRelay());
  }

  get #policyFile(): string {
    return join(this.#folder, 'policy.json');
  }

  writeToken(token: string): void {
    writeFileSync(this.tokenFile, token);
  }

  async router(options: PeerOptions): Promise<PeerRouter> {
    const router = await startPeer(this.#ground.program, this.#folder, options);
    this.#routers.push(router);
    return router;
  }

  async relay(
    router: PeerRouter,
    more: Pick<ConformanceRelaySettings, 'deadlineMs' | 'heapMb'> = {},
  ): Promise<RelayProcess> {
    const relay = await startRelay({
      router,
      admitUrl: this.#ground.admit.url,
      policyFile: this.#policyFile,
      tokenFile: this.tokenFile,
      ...more,
    });
    this.#relays.push(relay);
    return relay;
  }

  /** Notes whether a value is what it must be. */
  expect(what: string, got: unknown, due: unknown): void {
    this.expectThat(what, got === due, String(got), String(due));
  }

  expectThat(what: string, holds: boolean, got: unknown, due: string): void {
    this.checks.push({ what, holds, got: String(got), due });
  }

  /** Every question has an answer, and the right one. */
  expectRight(what: string, tally: LoadTally): void {
    const { asked, lost } = questionsOf(tally);
    this.asked += asked;
    this.lost += lost;
    this.expectThat(`${what}: questions lost`, lost === 0, lostText(tally, lost), '0');
    const wrong = tally.samples.length === 0 ? '' : `, e.g. ${tally.samples[0]}`;
    this.expectThat(`${what}: wrong answers`, tally.wrong - lost <= 0, `${tally.wrong}${wrong}`, '0');
  }

  /** What the relays wrote last beside their decisions. */
  lastLines(): readonly string[] {
    return this.#relays.flatMap((relay) => relay.lastLines()).slice(-LINES_MAX);
  }

  async close(): Promise<void> {
    await Promise.all(this.#relays.map((relay) => relay.kill()));
    await Promise.all(this.#routers.map((router) => router.end()));
    await this.#ground.admit.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export function questionsOf({ outcomes }: LoadTally): { readonly asked: number; readonly lost: number } {
  const asked = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  return { asked, lost: asked - (outcomes.admitted ?? 0) - (outcomes.rejected ?? 0) };
}

function lostText({ outcomes }: LoadTally, lost: number): string {
  const kinds = Object.entries(outcomes).filter(([kind]) => kind !== 'admitted' && kind !== 'rejected');
  return lost === 0 ? '0' : `${lost} (${kinds.map(([kind, count]) => `${kind} ${count}`).join(', ')})`;
}
