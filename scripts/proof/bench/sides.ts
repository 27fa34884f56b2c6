import { decide } from '../../../functions/core/admission/index.ts';
import { type LedgerClock, silentLog } from '../../../functions/core/environment/index.ts';
import { createLedger, type LedgerStore } from '../../../functions/core/ledger/index.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { createGroupCommit } from '../../../relay/commit/group-commit.ts';
import { createLanes } from '../../../relay/commit/lanes.ts';
import type { RelayClock } from '../../../relay/exchange.ts';
import { benchRequest, benchRules } from './bench-rules.ts';

/** One question, answered by one of the sides: was it admitted? */
type Ask = (request: AdmissionRequest) => Promise<boolean>;

/** Longer than the product's: a job that gives up is not an admission, and naive needs its retries to look its best. */
const PATIENT_MS = 5_000;

/** The two ways to the ledger that the bench compares, over any store and in any kind of time. */
export function sides(options: {
  readonly store: LedgerStore;
  readonly clock: LedgerClock & RelayClock;
  readonly random: () => number;
  readonly defer: (run: () => void) => void;
  readonly roots: number;
  /** All roots count on one limit of the instance besides. @default false */
  readonly isShared?: boolean;
  /** From question to answer. @default PATIENT_MS */
  readonly deadlineMs?: number;
}) {
  const { store, clock, random, isShared = false, deadlineMs = PATIENT_MS } = options;
  const rules = benchRules(options.roots, [], undefined, isShared);
  const newFunction = () => {
    const deps = {
      ledger: createLedger({ store, clock, random }),
      currentRules: async () => rules,
      clock,
      log: silentLog,
    };
    return (
      requests: readonly AdmissionRequest[],
      deadlineMs: number,
      onContended: (counter: string, jobIds: readonly number[]) => void = () => {},
    ) => decide(requests, deadlineMs, { ...deps, onContended });
  };

  /** Every question goes to the ledger on its own. */
  const naive = (): Ask => {
    const decideAll = newFunction();
    return async (request) => {
      const [decision] = await decideAll([request], clock.monotonicMs() + deadlineMs);
      return decision?.outcome === 'admitted';
    };
  };

  /** Each question reaches one of the relays at random, as a router picks a stream. */
  const grouped = (relays: number): Ask => {
    const commits = Array.from({ length: relays }, () => {
      const decideAll = newFunction();
      const lanes = createLanes(clock);
      return createGroupCommit({
        send: (jobs, remainingMs) => {
          const rootOf = new Map(jobs.map(({ request, root }) => [request.jobId, root]));
          return decideAll(
            jobs.map((job) => job.request),
            clock.monotonicMs() + remainingMs,
            (counter, jobIds) =>
              lanes.noteContended(
                counter,
                jobIds.map((jobId) => rootOf.get(jobId) ?? ''),
              ),
          );
        },
        clock,
        lanes,
        observe: () => {},
        defer: options.defer,
      });
    });
    return async (request) => {
      const commit = commits[Math.floor(random() * relays)];
      const verdict = await commit?.decide(request, clock.monotonicMs() + deadlineMs);
      return verdict?.outcome === 'admitted';
    };
  };

  return { naive, grouped };
}

/** What a load found: admissions, and how long each question waited, ms. */
export interface Load {
  readonly admitted: number;
  readonly seconds: number;
  readonly latenciesMs: readonly number[];
}

/** Keeps `inFlight` questions open for a while of the clock's time, spread over the roots. */
export async function closedLoop(
  ask: Ask,
  options: {
    readonly clock: LedgerClock;
    readonly forMs: number;
    readonly inFlight: number;
    readonly roots: number;
    readonly firstJobId: number;
  },
): Promise<Load> {
  const { clock, roots } = options;
  const startedMs = clock.monotonicMs();
  const latenciesMs: number[] = [];
  let jobId = options.firstJobId;
  let admitted = 0;
  const asker = async (index: number): Promise<void> => {
    while (clock.monotonicMs() - startedMs < options.forMs) {
      const askedMs = clock.monotonicMs();
      if (await ask(benchRequest(jobId++, index % roots))) admitted += 1;
      latenciesMs.push(clock.monotonicMs() - askedMs);
    }
  };
  await Promise.all(Array.from({ length: options.inFlight }, (_, index) => asker(index)));
  return {
    admitted,
    seconds: (clock.monotonicMs() - startedMs) / 1000,
    latenciesMs: latenciesMs.toSorted((a, b) => a - b),
  };
}
