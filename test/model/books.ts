/**
 * Watches every commit of the table and checks what DESIGN §5 promises at that instant, against GitLab's truth and the
 * rulebook. Knows the model, not the code.
 */
import type {
  CorrectionEntry,
  JobRecord,
  RecordClaim,
  UncheckedCause,
} from '../../functions/core/ledger/ledger.ts';
import type { CounterWrite, Write } from '../../functions/core/ledger/store.ts';
import { counterName } from '../../policies/claim.ts';
import { must } from '../support/ledger/history.ts';
import { type Birth, type BornClaim, birthOf, highestSlots } from './birth.ts';
import { type ChargedBy, chargesOf } from './charge.ts';
import type { Edition } from './rulebook.ts';
import { isOver, ranSeconds, type Truth } from './truth.ts';

export interface BooksDeps {
  readonly truth: Truth;
  readonly editions: readonly Edition[];
  readonly chargeUnknown: 'hold' | 'nothing';
  /** Told of every record as it is written. */
  readonly onRecord: (record: JobRecord) => void;
}

/** committed, fitted, settled, and the part of committed that did not ask, by cause. */
export type Amounts = readonly number[];

const CAUSES: readonly UncheckedCause[] = ['exempt', 'unmetered', 'bypass'];
const NOTHING: Amounts = [0, 0, 0, 0, 0, 0];

export class Books {
  readonly records = new Map<number, JobRecord>();
  readonly entries = new Map<number, CorrectionEntry[]>();
  /** As the writes to the counters make them. */
  readonly counters = new Map<string, Amounts>();
  /** As the records and entries make them. */
  readonly sums = new Map<string, Amounts>();
  /** Keyed by `<job>/<generation>`. */
  readonly births = new Map<string, Birth>();
  /** Keyed by counter: the commit and what it came to. */
  readonly courses = new Map<string, { readonly commit: number; readonly committed: number }[]>();
  /** Since which commit a job may run by its record. */
  readonly liveSince = new Map<number, number>();
  readonly #settledAt = new Map<string, string>();
  readonly #deps: BooksDeps;
  commits = 0;

  constructor(deps: BooksDeps) {
    this.#deps = deps;
  }

  onCommit(writes: readonly Write[]): void {
    this.commits += 1;
    const touched = new Set<string>();
    for (const write of writes) {
      if (write.kind === 'record') this.#born(write.record, write.replaces, writes);
    }
    this.#checkedClaimsFit(writes);
    for (const write of writes) {
      if (write.kind === 'record') this.#takeRecord(write.record, touched);
      if (write.kind === 'entry') this.#takeEntry(write.entry, touched);
      if (write.kind === 'counter') this.#takeCounter(write, touched);
      must(write.kind !== 'reset', 'nobody repairs counters here');
    }
    for (const name of touched) this.#sameSum(name);
    for (const write of writes) {
      if (write.kind !== 'record') continue;
      this.#chargedByItsState(write.record);
      this.#isTrue(write.record);
      this.#neverEdited(write.record);
      this.#deps.onRecord(write.record);
    }
  }

  birth({ jobId, generation }: Pick<JobRecord, 'jobId' | 'generation'>): Birth {
    const birth = this.births.get(`${jobId}/${generation}`);
    if (birth === undefined) throw new Error(`job ${jobId} has no generation ${generation}`);
    return birth;
  }

  /** 6 and 4: once born a generation keeps its counters and its price; born again only where the table says so. */
  #born(record: JobRecord, replaces: JobRecord | undefined, writes: readonly Write[]): void {
    const { jobId, generation } = record;
    const known = this.records.get(jobId);
    must(known?.rev === replaces?.rev, `job ${jobId} was written over rev ${known?.rev}`);
    if (generation === 0 && known === undefined) {
      this.#handedOver(record, writes);
      return;
    }
    if (known?.generation === generation) {
      this.#keepsItsCounters(record, known);
      return;
    }
    must(generation === (known?.generation ?? 0) + 1, `job ${jobId} went to generation ${generation}`);
    must(
      known === undefined ||
        known.state === 'REJECTED' ||
        known.state === 'RELEASED' ||
        known.state === 'EXPIRED' ||
        known.state === 'RESERVED',
      `job ${jobId} was ${known?.state} and is evaluated anew`,
    );
    if (known?.endedAtMs !== undefined && isHeldByFallback(record) && known.state !== 'REJECTED') {
      const { endedAtMs } = known;
      const later = [...this.#deps.truth.byId(jobId).answeredAtMs].some((atMs) => atMs > endedAtMs);
      must(later, `job ${jobId} was ${known.state} after the fallback answered, and is held again`);
    }
    // It ran past us, and what is known of it is what was known of the job that was retried.
    const kept = known?.generation === 0 && record.unchecked === 'bypass' ? this.birth(known) : undefined;
    const birth = kept ?? birthOf(record, this.#deps.truth.byId(jobId), this.#deps.editions);
    this.births.set(`${jobId}/${generation}`, { ...birth, commit: this.commits });
  }

  /** A reservation for the retry of a rejected job counts on the limits of now: those that the job did not ask follow the others. */
  #keepsItsCounters(record: JobRecord, known: JobRecord): void {
    const { jobId, generation } = record;
    const added = record.state === 'REJECTED' ? record.claims.slice(known.claims.length) : [];
    const same = ({ facts }: JobRecord, claims: readonly RecordClaim[]) =>
      `${facts.priceVersion} ${claims.map(({ counter }) => counterName(counter))}`;
    const stays = same(record, record.claims.slice(0, record.claims.length - added.length));
    must(same(known, known.claims) === stays, `job ${jobId} moved to ${same(record, record.claims)}`);
    if (added.length === 0) return;
    must(isKept(record), `job ${jobId} is rejected and counts on ${same(record, added)} for nothing`);
    const { truth, editions } = this.#deps;
    const birth = this.birth(record);
    const claims = added.map(({ counter }): BornClaim => {
      const name = counterName(counter);
      const bound = highestSlots(name, truth.byId(jobId), editions.slice(birth.edition));
      must(
        bound !== undefined,
        `room for the retry of job ${jobId} is kept on ${name}, which limits nothing of it`,
      );
      return { unit: 'jobs', hold: 1, bound: bound ?? 0, mode: 'enforce' };
    });
    this.births.set(`${jobId}/${generation}`, { ...birth, claims: [...birth.claims, ...claims] });
  }

  /** What is kept anew fits a bound that was in force since the job was rejected. */
  #keptFits(record: JobRecord, added: Map<string, Amounts>): void {
    const { truth, editions } = this.#deps;
    const since = editions.slice(this.birth(record).edition);
    for (const { counter, counted } of record.claims) {
      if (counted === 0) continue;
      const name = counterName(counter);
      const [committed = 0, fitted = 0] = added.get(name) ?? this.counters.get(name) ?? NOTHING;
      added.set(name, [committed + counted, fitted + counted]);
      const bound = highestSlots(name, truth.byId(record.jobId), since) ?? 0;
      must(
        counted === 1 && committed + counted <= bound,
        `${counted} of ${name} is kept for the retry of job ${record.jobId}, which came to ${committed + counted} over ${bound}`,
      );
    }
  }

  /** Nobody decided it: room is kept for it, that was kept for the job which it is a retry of. */
  #handedOver(record: JobRecord, writes: readonly Write[]): void {
    const { jobId, state } = record;
    const { sameAs } = this.#deps.truth.byId(jobId);
    const [from] = writes.flatMap((write) =>
      write.kind === 'record' && write.record.jobId !== jobId && isKept(write.replaces) ? [write.record] : [],
    );
    must(state === 'RESERVED' && from !== undefined, `job ${jobId} is ${state}, and nothing was kept for it`);
    if (from === undefined) return;
    const before = this.#deps.truth.byId(from.jobId);
    must(before.sameAs === sameAs, `what was kept for job ${from.jobId} is kept for job ${jobId}`);
    this.births.set(`${jobId}/0`, { ...this.birth(from), commit: this.commits });
  }

  /** 2: in arrival order, each checked claim fitted its bound at commit. */
  #checkedClaimsFit(writes: readonly Write[]): void {
    const added = new Map<string, Amounts>();
    for (const write of writes) {
      if (write.kind !== 'record') continue;
      const { record } = write;
      // What was kept for the job is its own to take, or is there for the next one.
      for (const { counter, counted } of isKept(write.replaces) ? (write.replaces?.claims ?? []) : []) {
        const name = counterName(counter);
        const [committed = 0, fitted = 0] = added.get(name) ?? this.counters.get(name) ?? NOTHING;
        added.set(name, [committed - counted, fitted - counted]);
      }
      if (record.state === 'REJECTED' && isKept(record) && !isKept(write.replaces))
        this.#keptFits(record, added);
      if (record.state !== 'HELD') continue;
      if (this.birth(record).commit !== this.commits || record.answered !== 'ledger') continue;
      for (const [index, claim] of record.claims.entries()) {
        const name = counterName(claim.counter);
        const [committed = 0, fitted = 0] = added.get(name) ?? this.counters.get(name) ?? NOTHING;
        const sums = [committed + claim.held, fitted + (claim.fitted ? claim.held : 0)] as const;
        added.set(name, sums);
        const { bound, mode } = this.birth(record).claims[index] ?? { bound: 0, mode: 'enforce' };
        const sum = mode === 'enforce' ? sums[0] : sums[1];
        if (!claim.checked || (mode === 'shadow' && !claim.fitted)) {
          must(mode === 'shadow', `job ${record.jobId} holds on ${name} and did not ask it`);
          continue;
        }
        must(bound > 0 && sum <= bound, `job ${record.jobId}: ${name} came to ${sum} over ${bound}`);
      }
    }
  }

  #takeRecord(record: JobRecord, touched: Set<string>): void {
    const { jobId, state } = record;
    const before = this.records.get(jobId);
    if (before !== undefined) this.#addRecord(before, -1, touched);
    this.#addRecord(record, 1, touched);
    this.records.set(jobId, record);
    if (state !== 'HELD' && state !== 'RUNNING' && state !== 'SETTLED') this.liveSince.delete(jobId);
    else if (!this.liveSince.has(jobId)) this.liveSince.set(jobId, this.commits);
  }

  #addRecord({ claims, state, unchecked }: JobRecord, sign: 1 | -1, touched: Set<string>): void {
    for (const claim of claims) {
      const settled = state === 'SETTLED' ? claim.counted : 0;
      this.#add(claim, sign * claim.counted, sign * settled, unchecked, touched);
    }
  }

  #takeEntry(entry: CorrectionEntry, touched: Set<string>): void {
    const entries = this.entries.get(entry.jobId) ?? [];
    must(
      entry.number === entries.length + 1,
      `job ${entry.jobId} has entry ${entry.number} twice or too early`,
    );
    this.entries.set(entry.jobId, [...entries, entry]);
    for (const delta of entry.deltas) this.#add(delta, delta.delta, delta.delta, entry.unchecked, touched);
  }

  #add(
    claim: Pick<RecordClaim, 'counter' | 'fitted' | 'checked'>,
    amount: number,
    settled: number,
    cause: UncheckedCause | undefined,
    touched: Set<string>,
  ): void {
    const name = counterName(claim.counter);
    touched.add(name);
    const causes = CAUSES.map((each) => (!claim.checked && each === cause ? amount : 0));
    this.sums.set(
      name,
      plus(this.sums.get(name) ?? NOTHING, [amount, claim.fitted ? amount : 0, settled, ...causes]),
    );
  }

  #takeCounter({ key, committed, fitted, settled, unchecked }: CounterWrite, touched: Set<string>): void {
    const name = counterName(key);
    touched.add(name);
    const causes = CAUSES.map((cause) => unchecked[cause] ?? 0);
    const after = plus(this.counters.get(name) ?? NOTHING, [committed, fitted, settled, ...causes]);
    this.counters.set(name, after);
    const course = this.courses.get(name) ?? [];
    this.courses.set(name, course);
    course.push({ commit: this.commits, committed: after[0] ?? 0 });
  }

  /** 1: committed is the sum of what its records count, in every part. */
  #sameSum(name: string): void {
    const [shown, sum] = [this.counters.get(name) ?? NOTHING, this.sums.get(name) ?? NOTHING];
    must(`${shown}` === `${sum}`, `counter ${name} shows ${shown}, its records make ${sum}`);
  }

  /** 3, 4, 5: what a job is charged follows from its state alone, over all its generations. */
  #chargedByItsState(record: JobRecord): void {
    const { jobId, state } = record;
    const entries = this.entries.get(jobId) ?? [];
    must(
      entries.length === record.entries,
      `job ${jobId}: ${entries.length} entries, its record says ${record.entries}`,
    );
    must(
      (record.dueAtMs !== undefined) === (state === 'HELD' || state === 'RUNNING' || isKept(record)),
      `job ${jobId} is ${state} and due ${record.dueAtMs}`,
    );
    const expectations = chargesOf(this.chargedBy(record));
    const charges = new Map<string, number>();
    for (const { counter, delta } of entries.flatMap(({ deltas }) => deltas)) {
      charges.set(counterName(counter), (charges.get(counterName(counter)) ?? 0) + delta);
    }
    for (const [index, claim] of record.claims.entries()) {
      const name = counterName(claim.counter);
      const charged = claim.counted + (charges.get(name) ?? 0);
      charges.delete(name);
      const slots = isKept(record) && this.birth(record).claims[index]?.unit === 'jobs';
      const expected = slots ? claim.counted : (expectations[index] ?? 0);
      must(charged === expected, `job ${jobId} (${state}) pays ${charged} on ${name}, expected ${expected}`);
    }
    for (const [name, charge] of charges) must(charge === 0, `job ${jobId} still pays ${charge} on ${name}`);
  }

  /** All that says what a job must be charged. */
  chargedBy(record: JobRecord): ChargedBy {
    const { truth, chargeUnknown } = this.#deps;
    const entries = this.entries.get(record.jobId) ?? [];
    return { record, birth: this.birth(record), job: truth.byId(record.jobId), entries, chargeUnknown };
  }

  /** Nothing ends without GitLab's word for it. */
  #isTrue({ jobId, state, generation, durationSeconds }: JobRecord): void {
    const job = this.#deps.truth.byId(jobId);
    const ran = ranSeconds(job);
    if (state === 'SETTLED')
      must(
        durationSeconds === Math.ceil(ran ?? -1),
        `job ${jobId} settled at ${durationSeconds} s, it ran ${ran}`,
      );
    if (state === 'RELEASED' && generation > 0)
      must(isOver(job) && ran === undefined, `job ${jobId} was freed while it is ${job.status}`);
    if (state === 'EXPIRED')
      must(job.removed, `job ${jobId} was given up while GitLab knows it as ${job.status}`);
  }

  #neverEdited({ jobId, generation, state, claims }: JobRecord): void {
    if (state !== 'SETTLED') return;
    const counted = `${claims.map((claim) => claim.counted)}`;
    const first = this.#settledAt.get(`${jobId}/${generation}`) ?? counted;
    this.#settledAt.set(`${jobId}/${generation}`, first);
    must(first === counted, `job ${jobId}: settled at ${first}, edited to ${counted}`);
  }
}

const plus = (a: Amounts, b: Amounts): Amounts => a.map((each, index) => each + (b[index] ?? 0));

/** A job that ran all the same is settled, not held, whatever the fallback answered before. */
const isHeldByFallback = ({ state, answered }: JobRecord): boolean =>
  state === 'HELD' && answered === 'fallback';

/** Its slots are kept for a retry: of it, or as it. */
const isKept = (record: JobRecord | undefined): boolean =>
  record?.state === 'RESERVED' || (record?.state === 'REJECTED' && record.dueAtMs !== undefined);
