import { systemClock } from '../../../functions/core/environment/index.ts';
import {
  createLimitsDesk,
  DynamoLimitTable,
  LimitStore,
  type LimitsDesk,
  type LimitsDocument,
} from '../../../functions/core/limits/index.ts';
import { MemoryTable } from '../../../functions/core/store/index.ts';
import { parseLimits } from '../../../policies/document/parse-limits.ts';
import { evaluate } from '../../../policies/evaluate.ts';
import { type Directory, directoryOf } from '../../../policies/place/directory.ts';
import type { Policy } from '../../../policies/policy.ts';
import { handClock } from '../../local/clock/hand-clock.ts';
import { benchRules } from './bench-rules.ts';
import { type Figure, ratioOfRounds } from './figure.ts';

const ROUNDS = 5;
const SMALL = 1_000;
const LARGE = 10_000;
const ROOT = 1;
const TEAMS_A_DIVISION = 50;
const NOW_MS = Date.UTC(2026, 10, 21, 12);
const ADMISSIONS = 10_000;

const clock = handClock(NOW_MS);
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** A root, divisions and teams; a budget with an owner and a quota on each. */
function company(count: number): { readonly directory: Directory; readonly document: LimitsDocument } {
  const groups = Array.from({ length: count }, (_, at) => {
    const id = ROOT + at;
    const division = 2 + Math.floor((at - 1) / TEAMS_A_DIVISION) * TEAMS_A_DIVISION;
    if (id === ROOT) return { id, path: 'acme', personal: false };
    if (id === division) return { id, parentId: ROOT, path: `acme/division-${id}`, personal: false };
    return { id, parentId: division, path: `acme/division-${division}/team-${id}`, personal: false };
  });
  const limits = groups.flatMap(({ id }) => [
    { on: { group: id }, money: '500.00', per: 'month', zone: 'Europe/Berlin', owner: `owner-${id}` },
    { on: { group: id }, jobs: 20 },
  ]);
  const sandboxes = [{ groups: 'acme/**', minutes: 5_000, per: 'month' }];
  return { directory: directoryOf(groups), document: { limits, group_defaults: sandboxes } };
}

interface Imported {
  readonly table: DynamoLimitTable;
  readonly desk: LimitsDesk;
  readonly directory: Directory;
  /** One more import, in which every budget is another one. */
  readonly again: () => Promise<void>;
}

function houseOf(count: number, policy: Policy): Imported {
  const { directory, document } = company(count);
  const table = new DynamoLimitTable({
    table: new MemoryTable(),
    instance: 'gitlab.example.com',
    clock: systemClock,
    random: Math.random,
  });
  let imports = 0;
  const desk = createLimitsDesk({
    table,
    policy,
    directory: async () => directory,
    ledger: { readCounters: async () => [] },
    clock,
    newId: () => 'bench',
  });
  const again = async (): Promise<void> => {
    imports += 1;
    const limits = (document.limits as readonly object[]).map((entry) =>
      'money' in entry ? { ...entry, money: `${500 + imports}.00` } : entry,
    );
    const outcome = await desk.apply([{ kind: 'replace', document: { ...document, limits } }], {
      actor: 'bench',
      rights: [{ role: 'finance' }],
      why: 'bench',
      source: 'bench',
      base: (await desk.live())?.pointer.set,
      confirmed: true,
    });
    if (outcome.outcome !== 'live') throw new Error(`the import of the bench is ${outcome.outcome}`);
  };
  return { table, desk, directory, again };
}

const timed = (run: () => Promise<void>, times: number) => async (): Promise<number> => {
  const startedMs = performance.now();
  for (let time = 0; time < times; time += 1) await run();
  return (performance.now() - startedMs) / times;
};

function storeOf({ table }: Imported, policy: Policy): LimitStore {
  const packed = parseLimits({}, 'packed', policy);
  if (!packed.ok) throw new Error('an empty document is valid');
  return new LimitStore({ table, policy, packed: packed.value, clock, previous: async () => [], log });
}

/** Jobs of one team after the other, on limits that are read already. */
async function admitting(house: Imported, count: number, policy: Policy): Promise<() => Promise<number>> {
  const store = storeOf(house, policy);
  const { estimator } = benchRules(1);
  await store.limitsFor([`group/${ROOT}`]);
  return timed(async () => {
    for (let job = 1; job <= ADMISSIONS; job += 1) {
      const namespaceId = 3 + ((job * 7) % (count - 3));
      const limits = await store.limitsFor([`group/${ROOT}`, `group/${namespaceId}`]);
      const request = { jobId: job, projectId: 1, namespaceId, rootNamespaceId: ROOT, timeoutSeconds: 3600 };
      evaluate(request, { policy, limits, directory: house.directory, estimator, nowMs: NOW_MS });
    }
  }, 1);
}

/** 10 000 groups under one root: all of them are in one chunk, which every job of the company needs. */
export async function limitsDeskFigures(): Promise<readonly Figure[]> {
  const { policy } = benchRules(1);
  const [small, large] = [houseOf(SMALL, policy), houseOf(LARGE, policy)];
  await Promise.all([small.again(), large.again()]);
  const imports = await ratioOfRounds(ROUNDS, timed(large.again, 1), timed(small.again, 3));
  const reading = (house: Imported) => async (): Promise<void> => {
    await storeOf(house, policy).limitsFor([`group/${ROOT}`]);
  };
  const loads = await ratioOfRounds(ROUNDS, timed(reading(large), 1), timed(reading(small), 3));
  const admissions = await ratioOfRounds(
    ROUNDS,
    await admitting(large, LARGE, policy),
    await admitting(small, SMALL, policy),
  );
  const ratio = (name: string, atMost: number, { median, range, noisy }: typeof imports): Figure => ({
    name,
    value: median,
    must: { atMost },
    unit: '×',
    kind: 'ratio',
    range,
    noisy,
  });
  return [
    ratio('import of 10 000 groups under one root, all changed ÷ 1000 (10 is linear)', 20, imports),
    ratio('reading their limits for admissions ÷ 1000 groups (10 is linear)', 20, loads),
    // Their counters and their chain are as many; what grows is what has to be found.
    ratio('evaluating jobs in 10 000 groups under one root ÷ 1000 groups', 3, admissions),
    await heldFigure(large, policy),
  ];
}

/** What an admit function holds of them, after collections. */
async function heldFigure(house: Imported, policy: Policy): Promise<Figure> {
  const before = settledHeapBytes();
  const store = storeOf(house, policy);
  const limits = await store.limitsFor([`group/${ROOT}`]);
  const held = (settledHeapBytes() - before) / 2 ** 20;
  return {
    name: 'heap that 20 000 limits of one root take in the admit function',
    value: held,
    must: { atMost: 20 },
    unit: 'MB',
    kind: 'count',
    note: `${limits.bySubject.size} subjects`,
  };
}

function settledHeapBytes(): number {
  for (let time = 0; time < 3; time += 1) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
