/** Watches every commit of an in-memory table and checks what DESIGN §5 promises at that instant. Knows the model, not the code. */
import type {
  CorrectionEntry,
  Counter,
  HoldOutcome,
  JobRecord,
  RecordClaim,
} from '../../../functions/core/ledger/ledger.ts';
import type { StoredItem, Write } from '../../../functions/core/ledger/store.ts';
import { counterName } from '../../../policies/claim.ts';

/** The bounds an ask carried, as the record's `policyVersion` names them: subject → bound; `soft/…` and `grace/…` apart. */
export type Bounds = Readonly<Record<string, number>>;

export class History {
  readonly #dump: () => Iterable<StoredItem>;
  /** Born as: `<job>/<generation>` → state of its first record. */
  readonly #born = new Map<string, JobRecord['state']>();
  /** What the job was settled at; never edited after. */
  readonly #settled = new Map<string, readonly number[]>();
  /** Job → the commit since which its record says that it may run; deleted by the commit that ends it. */
  readonly #liveSince = new Map<number, number>();
  /** Pipelines of which a job ran or was to run at some time. Whoever read that may not know of a later release. */
  readonly #pipelines = new Set<string>();
  #before = new Map<string, Counter>();
  commits = 0;

  constructor(dump: () => Iterable<StoredItem>) {
    this.#dump = dump;
  }

  onCommit(writes: readonly Write[]): void {
    this.commits += 1;
    const now = snapshot(this.#dump());
    this.#countersEqualTheirRecords(now);
    this.#checkedClaimsFitted(writes);
    for (const record of now.records.values()) {
      this.#followLife(record);
      this.#chargedOnce(record, now.entries.get(record.jobId) ?? []);
      this.#neverEdited(record);
    }
    for (const write of writes) if (write.kind === 'record') this.#birth(write.record, write.replaces);
    for (const { key, committed } of now.counters.values()) {
      if (key.subject.startsWith('pipeline/') && committed > 0) this.#pipelines.add(key.subject);
    }
    this.#before = now.counters;
  }

  /**
   * 3: one generation has one answer, and an unrecorded rejection never contradicts a hold that was there before and
   * stayed: a job released meanwhile may well be rejected anew, also when somebody else then holds it again.
   */
  answered(jobId: number, outcome: HoldOutcome, askedAtCommit: number): void {
    if (outcome.outcome === 'undecided' || outcome.outcome === 'waiting') return;
    const born = this.#born.get(`${jobId}/${outcome.generation}`);
    if (outcome.outcome === 'admitted') {
      // SETTLED: it ran before anybody asked, and the question came late.
      const isRecorded = born === 'HELD' || born === 'REJECTED' || (born === 'SETTLED' && outcome.repeated);
      must(isRecorded, `job ${jobId} was admitted under generation ${outcome.generation} without a record`);
      // REJECTED and admitted: only when it ran nevertheless and was settled (bypass).
      const ran = this.#settled.has(`${jobId}/${outcome.generation}`);
      must(born !== 'REJECTED' || ran, `job ${jobId} was admitted on a rejection`);
      return;
    }
    if (born === 'REJECTED') return;
    must(!outcome.repeated, `job ${jobId}: a repeated rejection nobody recorded`);
    const liveSince = this.#liveSince.get(jobId) ?? Number.POSITIVE_INFINITY;
    must(liveSince > askedAtCommit, `job ${jobId} was held when asked and yet told rejected`);
  }

  #followLife({ jobId, state }: JobRecord): void {
    if (state !== 'HELD' && state !== 'RUNNING' && state !== 'SETTLED') this.#liveSince.delete(jobId);
    else if (!this.#liveSince.has(jobId)) this.#liveSince.set(jobId, this.commits);
  }

  /** 1: committed = settled + held = what the records and entries say, in every part. */
  #countersEqualTheirRecords(now: Snapshot): void {
    for (const name of new Set([...now.sums.keys(), ...now.counters.keys()])) {
      // A counter whose jobs all moved on to other periods has no record left and must show nothing.
      const sum = now.sums.get(name) ?? NOTHING;
      const { committed, fitted, settled, unchecked } = now.counters.get(name) ?? NO_AMOUNTS;
      const shown = [committed, fitted, settled, ...CAUSES.map((cause) => unchecked[cause])];
      must(`${shown}` === `${sum}`, `counter ${name} shows ${shown}, its records make ${sum}`);
    }
  }

  /** 2: in arrival order, each checked claim fitted its bound at commit. */
  #checkedClaimsFitted(writes: readonly Write[]): void {
    const committed = new Map<string, number>();
    const fitted = new Map<string, number>();
    for (const write of writes) {
      if (write.kind !== 'record') continue;
      // What was kept for the job is its own to take.
      for (const claim of isKept(write.replaces) ? (write.replaces?.claims ?? []) : []) {
        const name = counterName(claim.counter);
        const before = this.#before.get(name);
        committed.set(name, (committed.get(name) ?? before?.committed ?? 0) - claim.counted);
        fitted.set(name, (fitted.get(name) ?? before?.fitted ?? 0) - claim.counted);
      }
      if (isKept(write.record)) {
        // What was kept before asks no bound again: it lasts longer, or goes to another job.
        const isNew = write.replaces !== undefined && !isKept(write.replaces);
        this.#keptFits(write.record, committed, isNew);
      }
      if (write.record.state !== 'HELD' || write.record.answered !== 'ledger') continue;
      const bounds: Bounds = JSON.parse(write.record.facts.policyVersion);
      for (const claim of write.record.claims) {
        const name = counterName(claim.counter);
        const before = this.#before.get(name);
        const sum = (committed.get(name) ?? before?.committed ?? 0) + claim.held;
        const fit = (fitted.get(name) ?? before?.fitted ?? 0) + (claim.fitted ? claim.held : 0);
        committed.set(name, sum);
        fitted.set(name, fit);
        if (!claim.checked) continue;
        const { subject } = claim.counter;
        const bound = this.#boundOf(write.record, subject, sum, bounds);
        const soft = bounds[`soft/${subject}`] ?? Number.POSITIVE_INFINITY;
        const of = `job ${write.record.jobId}: ${name} came to`;
        must(sum <= soft || isTold(write.record, subject), `${of} ${sum} over the soft ${soft}, untold`);
        const shadow = claim.counter.subject.startsWith('shadow');
        if (!shadow) must(bound > 0 && sum <= bound, `${of} ${sum} over ${bound}`);
        else if (claim.fitted) must(bound > 0 && fit <= bound, `${of} ${fit} fitted over ${bound}`);
      }
      for (const { counter } of write.record.claims)
        if (counter.subject.startsWith('pipeline/')) this.#pipelines.add(counter.subject);
    }
  }

  #keptFits(record: JobRecord, committed: Map<string, number>, isNew: boolean): void {
    const bounds: Bounds = JSON.parse(record.facts.policyVersion);
    for (const { counter, counted } of record.claims) {
      if (counted === 0) continue;
      const name = counterName(counter);
      const sum = (committed.get(name) ?? this.#before.get(name)?.committed ?? 0) + counted;
      committed.set(name, sum);
      const fits = sum <= (bounds[counter.subject] ?? 0);
      must(!isNew || fits, `${counted} of ${name} is kept for job ${record.jobId}, which came to ${sum}`);
    }
  }

  /** Past its bound a claim is there by the grace of a pipeline that ran before it, and its record says so. */
  #boundOf(record: JobRecord, subject: string, sum: number, bounds: Bounds): number {
    const bound = bounds[subject] ?? 0;
    const grace = bounds[`grace/${subject}`];
    if (grace === undefined || sum <= bound) return bound;
    const pipeline = record.claims.find(({ counter }) => counter.subject.startsWith('pipeline/'));
    const ran = this.#pipelines.has(pipeline?.counter.subject ?? '');
    must(ran, `job ${record.jobId}: ${sum} of ${subject} over ${bound} by grace, and no pipeline ran`);
    must(isTold(record, subject), `job ${record.jobId} is past ${subject} by grace and nobody is told`);
    return grace;
  }

  /** 3, 4, 5: what a job is charged follows from its state alone, however it got there. */
  #chargedOnce(record: JobRecord, entries: readonly CorrectionEntry[]): void {
    const live = record.state === 'HELD' || record.state === 'RUNNING' || record.state === 'RESERVED';
    const { jobId, state } = record;
    const isDueRight = (record.dueAtMs !== undefined) === live || state === 'REJECTED';
    must(isDueRight, `job ${jobId} is ${state} and due ${record.dueAtMs}`);
    must(entries.length === record.entries, `job ${jobId}: ${entries.length} entries, not ${record.entries}`);
    // Over all generations: what an earlier one left charged is not forgotten.
    const charges = new Map<string, number>();
    for (const { counter, delta } of entries.flatMap(({ deltas }) => deltas)) {
      charges.set(counterName(counter), (charges.get(counterName(counter)) ?? 0) + delta);
    }
    for (const claim of record.claims) {
      const name = counterName(claim.counter);
      const charged = claim.counted + (charges.get(name) ?? 0);
      charges.delete(name);
      const allowed = allowedCharges(record, claim);
      const says = `job ${jobId} (${state}) is charged ${charged} on ${name}, expected ${allowed}`;
      must(allowed.includes(charged), says);
    }
    for (const [name, charge] of charges)
      must(charge === 0, `job ${record.jobId} still pays ${charge} on ${name}`);
  }

  #neverEdited(record: JobRecord): void {
    if (record.state !== 'SETTLED') return;
    const key = `${record.jobId}/${record.generation}`;
    const counted = record.claims.map((claim) => claim.counted);
    const first = this.#settled.get(key) ?? counted;
    this.#settled.set(key, first);
    must(`${first}` === `${counted}`, `job ${record.jobId}: settled at ${first}, edited to ${counted}`);
  }

  #birth(record: JobRecord, replaces: JobRecord | undefined): void {
    if (replaces?.generation === record.generation) {
      // 6: within a generation the counters stay those of the admission. A reservation may add some.
      const names = (one: JobRecord) => one.claims.map((claim) => counterName(claim.counter));
      const [before, after] = [names(replaces), names(record)];
      const stays = record.state === 'REJECTED' ? after.slice(0, before.length) : after;
      must(`${before}` === `${stays}`, `job ${record.jobId} moved to other counters`);
      return;
    }
    // 2: whoever was charged without having held did not ask, in no claim, and never has a second generation.
    const asked = record.claims.some(({ checked, held }) => checked || held !== 0);
    const isBypass = record.generation === 1 && record.unchecked === 'bypass' && !asked;
    must(record.state !== 'SETTLED' || isBypass, `job ${record.jobId} was settled without a hold, no bypass`);
    const key = `${record.jobId}/${record.generation}`;
    must(!this.#born.has(key), `job ${record.jobId}: generation ${record.generation} began twice`);
    this.#born.set(key, record.state);
  }
}

const isKept = (record: JobRecord | undefined): boolean =>
  record?.state === 'RESERVED' || (record?.state === 'REJECTED' && record.dueAtMs !== undefined);

/** The record notes a warning about this subject. */
const isTold = (record: JobRecord, subject: string): boolean =>
  record.shadow.some(
    ({ mode, reason }) => mode === 'warn' && 'subject' in reason && reason.subject === subject,
  );

function allowedCharges(record: JobRecord, claim: RecordClaim): readonly number[] {
  const inFlight = claim.unit === 'jobs' || claim.unit === 'millicpu' || claim.unit === 'bytes';
  switch (record.state) {
    case 'HELD':
    case 'RUNNING':
      return [claim.held];
    case 'SETTLED':
      // One micro-unit per second is the model's price, and durations are whole.
      if (claim.unit === 'starts') return [1];
      return inFlight ? [0] : [record.durationSeconds ?? -1];
    case 'EXPIRED':
      return inFlight ? [0] : record.flagged ? [claim.held, 0] : [0];
    case 'REJECTED':
    case 'RESERVED':
      // What is kept for a retry, or as one.
      return inFlight && record.dueAtMs !== undefined ? [claim.counted] : [0];
    case 'RELEASED':
      return [0];
  }
}

interface Snapshot {
  readonly records: Map<number, JobRecord>;
  readonly entries: Map<number, CorrectionEntry[]>;
  readonly counters: Map<string, Counter>;
  /** committed, fitted, settled, exempt, unmetered, bypass */
  readonly sums: Map<string, number[]>;
}

const NOTHING = [0, 0, 0, 0, 0, 0];
const NO_AMOUNTS = { committed: 0, fitted: 0, settled: 0, unchecked: { exempt: 0, unmetered: 0, bypass: 0 } };
const CAUSES = ['exempt', 'unmetered', 'bypass'] as const;

function snapshot(items: Iterable<StoredItem>): Snapshot {
  const now: Snapshot = { records: new Map(), entries: new Map(), counters: new Map(), sums: new Map() };
  const add = (
    { counter, fitted, checked }: Pick<RecordClaim, 'counter' | 'fitted' | 'checked'>,
    amount: number,
    settled: number,
    cause: string | undefined,
  ): void => {
    const causes = CAUSES.map((each) => (!checked && cause === each ? amount : 0));
    const more = [amount, fitted ? amount : 0, settled, ...causes];
    const before = now.sums.get(counterName(counter)) ?? NOTHING;
    now.sums.set(
      counterName(counter),
      more.map((each, index) => each + (before[index] ?? 0)),
    );
  };
  for (const item of items) {
    if (item.kind === 'counter') now.counters.set(counterName(item.counter.key), item.counter);
    if (item.kind === 'record') {
      now.records.set(item.record.jobId, item.record);
      for (const claim of item.record.claims) {
        add(claim, claim.counted, item.record.state === 'SETTLED' ? claim.counted : 0, item.record.unchecked);
      }
    }
    if (item.kind === 'entry') {
      const entries = now.entries.get(item.entry.jobId) ?? [];
      now.entries.set(item.entry.jobId, [...entries, item.entry]);
      for (const delta of item.entry.deltas) add(delta, delta.delta, delta.delta, item.entry.unchecked);
    }
  }
  return now;
}

export function must(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}
