/**
 * A round of the recount on a table whose pages are counted: each page is a megabyte, of which one record is made and shown. A run that
 * is killed repeats three minutes of it, and the progress that is kept between runs does not grow.
 */
import {
  type Counter,
  dynamoRecountRounds,
  type JobRecord,
  MemoryStore,
  recountOn,
} from '../../../functions/core/ledger/index.ts';
import {
  type Answers,
  type ItemTable,
  MemoryTable,
  type Operations,
} from '../../../functions/core/store/index.ts';
import { type HandClock, handClock } from '../../local/clock/hand-clock.ts';
import type { Figure } from './figure.ts';

type ScanSegment = MemoryStore['scanSegment'];

const INSTANCE = 'gitlab.example.com';
const MILLION = 1_000_000;
const SIZES = [1, 10, 100] as const;
/** As `functions/drift` gives it. */
const RUN_MS = 12 * 60_000;
const RUNS_MAX = 100;
/** A page takes so long while eight segments are read together. */
const PAGE_MS = 120;
const SEGMENTS = 8;
const PAGE_RECORDS = 1_024;
/** Eventually consistent. */
const PAGE_UNITS = 128;
const UNIT_BYTES = 1_024;
const COUNTERS = 2_000;
const MICROS = 6_000;

/** Records on counters that are right. */
class PagedBooks extends MemoryStore {
  units = 0;
  readonly shown: number;
  readonly #clock: HandClock;

  constructor(records: number, clock: HandClock) {
    super({ instance: INSTANCE, clock });
    this.#clock = clock;
    this.shown = SEGMENTS * Math.ceil(records / PAGE_RECORDS / SEGMENTS);
  }

  override async scanSegment({
    segment,
    consistency,
    from,
  }: Parameters<ScanSegment>[0]): ReturnType<ScanSegment> {
    const page = Number(from?.page?.N ?? 0);
    this.units += PAGE_UNITS * (consistency === 'consistent' ? 2 : 1);
    this.#clock.advance(PAGE_MS / SEGMENTS);
    const isLast = page + 1 === this.shown / SEGMENTS;
    const counters = isLast && segment.index === 0 ? Array.from({ length: COUNTERS }, (_, at) => at) : [];
    return {
      items: [
        { kind: 'record', record: recordOf(page * SEGMENTS + segment.index) },
        ...counters.map((at) => ({ kind: 'counter' as const, counter: this.#counter(at) })),
      ],
      ...(!isLast && { next: { page: { N: String(page + 1) } } }),
    };
  }

  #counter(at: number): Counter {
    const records = Math.floor(this.shown / COUNTERS) + (at < this.shown % COUNTERS ? 1 : 0);
    const amount = records * MICROS;
    const sums = { committed: amount, fitted: amount, settled: amount };
    return { key: keyOf(at), ...sums, unchecked: { exempt: 0, unmetered: 0, bypass: 0 }, rev: 2 * records };
  }
}

const keyOf = (at: number): Counter['key'] => ({
  subject: `group/${101 + at}`,
  limit: 'money-month',
  period: '2026-11',
});

const recordOf = (at: number): JobRecord => ({
  ...{
    jobId: at + 1,
    state: 'SETTLED',
    generation: 1,
    rev: 2,
    entries: 0,
    decidedAtMs: 0,
    endedAtMs: 60_000,
  },
  ...{ violations: [], shadow: [], answered: 'ledger', flagged: false, durationSeconds: 60 },
  facts: {
    ...{ runnerClass: 'small', estimateSeconds: 60, costMicros: MICROS, microsPerMinute: MICROS },
    ...{ priceVersion: 'p', policyVersion: 'v', timeoutSeconds: 3_600 },
  },
  claims: [
    {
      ...{ counter: keyOf(at % COUNTERS), unit: 'micros', held: MICROS, counted: MICROS, corrected: 0 },
      ...{ fitted: true, checked: true },
    },
  ],
});

/** Counts what is written of where a recount stands. */
class KeptTable implements ItemTable {
  readonly tableName = 'kept';
  /** What its largest write takes. */
  units = 0;
  readonly #table = new MemoryTable();
  readonly #dies: () => boolean;

  constructor(dies: () => boolean) {
    this.#dies = dies;
  }

  async send<Name extends keyof Operations>(name: Name, operation: Operations[Name]): Promise<Answers[Name]> {
    if (name === 'PutItem') {
      if (this.#dies()) throw new Error('killed');
      const bytes = JSON.stringify(operation).length;
      this.units = Math.max(this.units, Math.ceil(bytes / UNIT_BYTES));
    }
    return this.#table.send(name, operation);
  }
}

/** @param diesAtWrite - the run that would write for the n-th time is killed instead, once. */
async function recounted(records: number, diesAtWrite = 0) {
  const clock = handClock();
  const store = new PagedBooks(records, clock);
  let writes = 0;
  const table = new KeptTable(() => {
    writes += 1;
    return writes === diesAtWrite;
  });
  for (let runs = 1; runs <= RUNS_MAX; runs += 1) {
    let found: { readonly records: number; readonly drift: readonly unknown[] } | undefined;
    try {
      await recountOn(clock.monotonicMs() + RUN_MS, {
        ...{ store, clock, random: () => 0, newToken: () => 'bench', segments: SEGMENTS },
        // Each run is a process of its own.
        rounds: dynamoRecountRounds({ table, instance: INSTANCE, nowMs: clock.nowMs }),
        onOver: async (all) => {
          found = all;
        },
      });
    } catch (error) {
      if (writes !== diesAtWrite) throw error;
    }
    if (found === undefined) continue;
    if (found.records !== store.shown || found.drift.length > 0)
      throw new Error(`${found.records} of ${store.shown} records, ${found.drift.length} counters differ`);
    return { runs, units: store.units, keptUnits: table.units };
  }
  throw new Error(`not over after ${RUNS_MAX} runs`);
}

export async function recountFigures(): Promise<readonly Figure[]> {
  const found: { perRecord: number; units: number; runs: number; keptUnits: number }[] = [];
  for (const millions of SIZES) {
    const { units, ...more } = await recounted(millions * MILLION);
    found.push({ perRecord: units / (millions * MILLION), units, ...more });
  }
  const [smallest, , largest] = found;
  const killed = await recounted(100 * MILLION, 4);
  // Smaller ones are over before anything is put down.
  const half = await recounted(50 * MILLION);
  if (smallest === undefined || largest === undefined) throw new RangeError('no size was measured');
  const all = (of: (each: (typeof found)[number]) => number | string): string =>
    `${found.map(of).join(', ')} at 1, 10 and 100 million`;
  const figure = { kind: 'count', unit: '×' } as const;
  return [
    {
      ...{
        ...figure,
        name: 'read units of a whole recount for each record at 100 million records ÷ at 1 million',
      },
      ...{ value: largest.perRecord / smallest.perRecord, must: { atMost: 1 } },
      note: `${all(({ units }) => units)}; runs: ${all(({ runs }) => runs)}`,
    },
    {
      ...{
        ...figure,
        name: 'write units of where a recount stands, 2000 counters, at 100 million records ÷ at 50 million',
      },
      ...{ value: largest.keptUnits / half.keptUnits, must: { atMost: 1.1 } },
      note: `${half.keptUnits}, ${largest.keptUnits} units at 50 and 100 million`,
    },
    {
      ...{ ...figure, name: 'read units of a recount of 100 million records, one run killed ÷ none' },
      ...{ value: killed.units / largest.units, must: { atMost: 1.15 } },
      note: 'it repeats what was not written down, three minutes at most',
    },
  ];
}
