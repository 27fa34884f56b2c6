import { decide } from '../../functions/admit/decide.ts';
import { createLedger } from '../../functions/ledger/create-ledger.ts';
import { MemoryStore } from '../../functions/ledger/memory-store.ts';
import { silentLog } from '../../functions/shared/log.ts';
import type { AdmissionRequest } from '../../policies/request.ts';
import { createGroupCommit, type GroupCommit } from '../../relay/commit/group-commit.ts';
import { benchRequest, benchRules } from './bench-rules.ts';
import { contendedStore } from './contended-store.ts';
import { MODELLED_TRANSACTION_MS } from './contention-constants.ts';
import { countingStore, type StoreCounts } from './counting-store.ts';
import type { Figure } from './figure.ts';
import { seededRandom } from './seeded-random.ts';
import { VirtualTime } from './virtual-time.ts';

const INSTANCE = 'bench.example.com';
const IN_FLIGHT = 64;
/** Modelled, so it costs what the work costs and not this long. */
const MODELLED_MS = 2_000;
/** Longer than the product's: a job that gives up is not an admission, and naive needs its retries to look its best. */
const DEADLINE_MS = 5_000;

type Ask = (request: AdmissionRequest) => Promise<boolean>;

/** One modelled deployment: a table, and as many relays with a function each as are asked for. */
function deployment(roots: number, seed: number) {
  const time = new VirtualTime();
  const random = seededRandom(seed);
  const memory = new MemoryStore({ instance: INSTANCE });
  const store = countingStore(contendedStore(memory, time, random), INSTANCE);
  const clock = {
    nowMs: () => Date.UTC(2026, 10, 21) + time.nowMs(),
    monotonicMs: () => time.nowMs(),
    sleep: time.sleep.bind(time),
  };
  const rules = benchRules(roots);
  const newFunction = () => {
    const deps = {
      ledger: createLedger({ store, clock, random }),
      currentRules: async () => rules,
      clock,
      log: silentLog,
    };
    return (requests: readonly AdmissionRequest[], deadlineMs: number) => decide(requests, deadlineMs, deps);
  };

  /** One transaction per job: every question goes to the ledger on its own. */
  const naive = (): Ask => {
    const decideAll = newFunction();
    return async (request) => {
      const [decision] = await decideAll([request], time.nowMs() + DEADLINE_MS);
      return decision?.outcome === 'admitted';
    };
  };

  const relay = (): GroupCommit => {
    const decideAll = newFunction();
    return createGroupCommit({
      // The function's own decisions are verdicts already; only a wire would have to parse them.
      send: (jobs, remainingMs) =>
        decideAll(
          jobs.map((job) => job.request),
          time.nowMs() + remainingMs,
        ) as never,
      clock: { ...clock, after: time.after.bind(time) },
      observe: () => {},
      defer: (run) => void time.after(0, run),
    });
  };

  /** Each question reaches a relay at random, as a router picks a stream. */
  const grouped = (relays: number): Ask => {
    const commits = Array.from({ length: relays }, relay);
    return async (request) => {
      const commit = commits[Math.floor(random() * relays)];
      const verdict = await commit?.decide(request, time.nowMs() + DEADLINE_MS);
      return verdict?.outcome === 'admitted';
    };
  };

  return { time, counts: store.counts, naive, grouped };
}

interface Load {
  readonly admitted: number;
  readonly perSecond: number;
  readonly counts: StoreCounts;
}

/** Keeps a number of questions in flight for a while of modelled time. */
async function load(roots: number, side: 'naive' | 'grouped', relays = 1): Promise<Load> {
  const { time, counts, naive, grouped } = deployment(roots, 1);
  const ask = side === 'naive' ? naive() : grouped(relays);
  let jobId = 0;
  let admitted = 0;
  const asker = async (index: number): Promise<void> => {
    while (time.nowMs() < MODELLED_MS) {
      jobId += 1;
      if (await ask(benchRequest(jobId, index % roots))) admitted += 1;
    }
  };
  await time.run(Promise.all(Array.from({ length: IN_FLIGHT }, (_, index) => asker(index))));
  return { admitted, perSecond: (admitted * 1000) / time.nowMs(), counts };
}

/** The contention figures: group commit against one transaction per job, and what an admission costs. */
export async function contentionFigures(): Promise<readonly Figure[]> {
  const [naiveHot, groupedHot, twoRelays] = [
    await load(1, 'naive'),
    await load(1, 'grouped'),
    await load(1, 'grouped', 2),
  ];
  const [naiveCold, groupedCold] = [await load(64, 'naive'), await load(64, 'grouped')];
  const perAdmission = (count: number, { admitted }: Load): number => count / admitted;
  const speed = ({ perSecond }: Load): string => `${perSecond.toFixed(0)}/s`;
  return [
    {
      name: 'group commit ÷ one transaction per job, one hot group',
      value: groupedHot.perSecond / naiveHot.perSecond,
      must: { atLeast: 15 },
      unit: '×',
      kind: 'modelled',
      note: `${speed(groupedHot)} against ${speed(naiveHot)}, ${IN_FLIGHT} in flight`,
    },
    {
      name: 'group commit ÷ one transaction per job, 64 groups',
      value: groupedCold.perSecond / naiveCold.perSecond,
      must: { atLeast: 0.8 },
      unit: '×',
      kind: 'modelled',
      note: `${speed(groupedCold)} against ${speed(naiveCold)}`,
    },
    ...(
      [
        ['one relay', groupedHot, 0.1, 4],
        ['two relays', twoRelays, 0.2, 6],
      ] as const
    ).flatMap(([relays, run, conflictsMax, unitsMax]): Figure[] => [
      {
        name: `conflicts per admitted job, hot, 3 counters, ${relays}`,
        value: perAdmission(run.counts.conflicts, run),
        must: { atMost: conflictsMax },
        unit: 'per job',
        kind: 'modelled',
      },
      {
        name: `write units per admitted job, hot, 3 counters, ${relays}`,
        value: perAdmission(run.counts.tableUnits + run.counts.indexUnits, run),
        must: { atMost: unitsMax },
        unit: 'per job',
        kind: 'modelled',
        note: `by formula, index included; one transaction per job would take ${perAdmission(naiveHot.counts.tableUnits + naiveHot.counts.indexUnits, naiveHot).toFixed(0)}`,
      },
    ]),
  ];
}

/** 500 questions of one group at once: when the last answer leaves, in undisturbed transactions. */
export async function burstFigure(): Promise<Figure> {
  const { time, grouped } = deployment(1, 1);
  const ask = grouped(1);
  const answered = await time.run(
    Promise.all(Array.from({ length: 500 }, (_, index) => ask(benchRequest(index + 1, 0)))),
  );
  const admitted = answered.filter(Boolean).length;
  return {
    name: 'burst of 500 questions in one group, last answer',
    value: time.nowMs() / MODELLED_TRANSACTION_MS,
    must: { atMost: 10 },
    unit: 'tx',
    kind: 'modelled',
    note: `${admitted} of 500 admitted after ${time.nowMs().toFixed(0)} modelled ms; one transaction takes ${MODELLED_TRANSACTION_MS} ms`,
  };
}
