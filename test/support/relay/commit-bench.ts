import { createGroupCommit } from '../../../relay/commit/group-commit.ts';
import type { Lanes } from '../../../relay/commit/lanes.ts';
import type { RelayEvent } from '../../../relay/events.ts';
import type { LedgerDecision } from '../../../relay/exchange.ts';
import { type HandClock, handClock } from '../../../scripts/local/clock.ts';
import { admittedOf } from './decisions.ts';

/** A batch that was sent and waits for the test to say what comes of it. */
export interface SentBatch {
  readonly jobIds: readonly number[];
  readonly atMs: number;
  /** Resolves what `send` gave; without decisions every job is admitted. */
  readonly answer: (decisions?: readonly LedgerDecision[]) => Promise<void>;
}

export interface Asked {
  readonly jobId: number;
  decision: LedgerDecision | undefined;
}

interface AskedOf {
  readonly root?: number;
  readonly project?: number;
  /** From now. @default 2000 */
  readonly deadlineMs?: number;
  readonly padding?: number;
}

/** Lets everything run that waits for a promise or for `setImmediate`. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Passes time in steps of 10 ms, and lets everything run that can after each. */
export const passOn =
  (clock: HandClock) =>
  async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 10) {
      clock.advance(Math.min(10, left));
      await turn();
    }
  };

export function commitBench(options: { readonly lanes?: Lanes; readonly clock?: HandClock } = {}) {
  const { clock = handClock(1_000) } = options;
  const batches: SentBatch[] = [];
  const events: RelayEvent[] = [];
  const commit = createGroupCommit({
    ...options,
    clock,
    observe: (event) => events.push(event),
    defer: setImmediate,
    send: (jobs) =>
      new Promise((resolve) => {
        batches.push({
          jobIds: jobs.map((job) => job.request.jobId),
          atMs: clock.monotonicMs(),
          answer: (decisions = jobs.map((job) => admittedOf(job.request))) => {
            resolve(decisions);
            return turn();
          },
        });
      }),
  });

  function ask(jobId: number, of: AskedOf = {}): Asked {
    const { root = 1, project = 1, deadlineMs = 2_000, padding } = of;
    const asked: Asked = { jobId, decision: undefined };
    const image = padding === undefined ? {} : { image: 'x'.repeat(padding) };
    const request = { jobId, projectId: project, rootNamespaceId: root, ...image };
    void commit.decide(request, clock.monotonicMs() + deadlineMs).then((decision) => {
      asked.decision = decision;
    });
    return asked;
  }

  return {
    ...{ clock, commit, batches, events, ask, pass: passOn(clock) },
  };
}

export const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
