import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { costMicros } from '../../../policies/prices/price.ts';
import type { Violation } from '../../../policies/reason.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { type JobRecord, ranRejected, wasRejected } from '../../core/ledger/index.ts';
import { isLetInByGrace, isOnCounter, NaiveReplay } from './naive-replay.ts';
import type { ShadowFigureRow, ShadowFigures } from './shadow-figures.ts';
import {
  FURTHER_ROWS,
  type GroupOfJob,
  NOT_RECORDED,
  type RejectionCause,
  RowTally,
  whyKey,
  whyOf,
} from './shadow-row.ts';

export interface ShadowOptions {
  /** Unix ms; jobs decided from here on count. */
  readonly sinceMs: number;
  /** Unix ms, exclusive. */
  readonly untilMs: number;
  /** Whether a record's job is to be counted; its claims are replayed all the same. */
  readonly counts: (record: JobRecord) => boolean;
  /** Rules that let pass a job that lacks a field: no simulation would reject it. */
  readonly passesMissing: (rule: string) => boolean;
  /** Those of the document: the naive count is judged by them. */
  readonly limits?: LimitSet;
  /** Tells which groups have which limits by default. */
  readonly directory?: Directory;
  /** @default CLAIMS_MAX */
  readonly claimsMax?: number;
}

/** Groups × rules × codes: nobody reads the end of a longer list. What is beyond is counted together. */
const ROWS_MAX = 5_000;

/**
 * Both counts from a ledger's records, one by one and in any order. The true one is as recorded: shadow violations come
 * from counters that leave out whom they refused. The naive one is replayed.
 */
export class ShadowSimulation {
  readonly #options: ShadowOptions;
  readonly #replay: NaiveReplay;
  readonly #rows = new Map<string, RowTally>();
  /** Indexed by the job's number: who is counted, and where. */
  readonly #groups: (GroupOfJob | undefined)[] = [];
  readonly #groupsKnown = new Map<string, GroupOfJob>();
  readonly #naive = new Set<number>();
  readonly #counts = {
    jobs: 0,
    rejected: 0,
    ranRejected: 0,
    unasked: 0,
    wouldFail: 0,
    costMicros: 0,
    exempt: 0,
    softLimit: 0,
    missingPassed: 0,
  };

  constructor(options: ShadowOptions) {
    this.#options = options;
    this.#replay = new NaiveReplay(options);
  }

  add(record: JobRecord): void {
    const { sinceMs, untilMs, counts } = this.#options;
    const job = this.#groups.length;
    const inside = record.decidedAtMs >= sinceMs && record.decidedAtMs < untilMs && counts(record);
    // A job that never asked has nothing against it, and none of its claims asked either.
    const admitted = !wasRejected(record) && record.unchecked !== 'bypass';
    this.#groups.push(inside && admitted ? this.#groupOnce(groupOf(record)) : undefined);
    if (record.decidedAtMs < untilMs) this.#replay.add(record, job);
    if (!inside) return;
    this.#counts.jobs += 1;
    if (admitted) this.#count(record, job);
    else if (!wasRejected(record)) this.#counts.unasked += 1;
    else {
      this.#counts.rejected += 1;
      if (ranRejected(record)) this.#counts.ranRejected += 1;
    }
  }

  #count(record: JobRecord, job: number): void {
    const against: Violation[] = [];
    const apart = new Set<'exempt' | 'softLimit' | 'missingPassed'>();
    for (const violation of record.shadow) {
      const { reason, rule, exempt } = violation;
      if (isLetInByGrace(record, violation)) continue;
      if (exempt === true) apart.add('exempt');
      else if (reason.code === 'SOFT_LIMIT') apart.add('softLimit');
      else if (reason.code === 'FIELD_MISSING' && this.#options.passesMissing(rule))
        apart.add('missingPassed');
      else against.push(violation);
    }
    for (const each of apart) this.#counts[each] += 1;
    // A record that had no room for its violations still says on which counters it was refused.
    const refused = record.claims.some(({ checked, fitted }) => checked && !fitted);
    const unnamed = refused && !against.some(isOnCounter);
    if (against.length === 0 && !unnamed) return;
    const cost = costOf(record);
    this.#counts.wouldFail += 1;
    this.#counts.costMicros += cost;
    const whys = [...against.map(whyOf), ...(unnamed ? [NOT_RECORDED] : [])];
    for (const row of new Set(whys.map((why) => this.#row(job, why)))) row.count(record, cost);
    // Where no counter is involved both counts have it.
    for (const violation of against) if (!isOnCounter(violation)) this.#countNaive(job, whyOf(violation));
    if (unnamed) this.#countNaive(job, NOT_RECORDED);
  }

  #countNaive(job: number, why: RejectionCause): void {
    if (this.#groups[job] === undefined) return;
    this.#naive.add(job);
    this.#row(job, why).countNaive(job);
  }

  #row(job: number, why: RejectionCause): RowTally {
    const group = this.#groups[job] ?? {};
    const key = `${group.rootId ?? ''}/${group.groupId ?? ''}\n${whyKey(why)}`;
    const existing = this.#rows.get(key);
    if (existing !== undefined) return existing.in(group);
    if (this.#rows.size >= ROWS_MAX) return this.#further();
    const row = new RowTally(group, why);
    this.#rows.set(key, row);
    return row;
  }

  #further(): RowTally {
    const row = this.#rows.get('') ?? new RowTally({}, FURTHER_ROWS);
    this.#rows.set('', row);
    return row;
  }

  /** One object for all jobs of a project: there may be a million of them. */
  #groupOnce(group: GroupOfJob): GroupOfJob {
    const key = `${group.rootId} ${group.groupId} ${group.projectPath}`;
    const known = this.#groupsKnown.get(key) ?? group;
    this.#groupsKnown.set(key, known);
    return known;
  }

  /** Call once, after the last record. */
  figures(): ShadowFigures {
    const refusals = this.#replay.refusals();
    for (const { job, why = NOT_RECORDED } of refusals ?? []) this.#countNaive(job, why);
    const counted = refusals !== undefined;
    const rows = [...this.#rows.values()].map((row): ShadowFigureRow => row.figures(counted));
    return {
      ...this.#counts,
      ...(counted && { naive: this.#naive.size }),
      rows: rows.sort(byWeight),
    };
  }
}

const byWeight = (a: ShadowFigureRow, b: ShadowFigureRow): number =>
  b.jobs - a.jobs || (b.naive ?? 0) - (a.naive ?? 0) || (nameOf(a) < nameOf(b) ? -1 : 1);

const nameOf = ({ rootId = 0, groupId = 0, rule, code }: ShadowFigureRow): string =>
  `${rootId}/${groupId}/${rule}/${code}`;

const groupOf = ({ facts: { rootId, groupId, projectPath } }: JobRecord): GroupOfJob =>
  withoutAbsent({ rootId, groupId, projectPath });

const costOf = ({ facts, durationSeconds }: JobRecord): number =>
  durationSeconds === undefined
    ? facts.costMicros
    : costMicros(facts.microsPerMinute, durationSeconds, facts.round);
