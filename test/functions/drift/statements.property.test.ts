/**
 * Years of a GitLab in virtual time. Groups move, become top-level and are deleted; limits begin, end and change their zones;
 * the fiscal year changes; ends come late and more than once. A rulebook of some lines says what each job is charged, and to whom.
 */
import { describe, expect, test } from 'vitest';
import { silentLog } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { dynamoSheetStore } from '../../../functions/core/sheets/sheet-store.ts';
import {
  type ClosedStatement,
  chainBreak,
  dynamoStatementChain,
} from '../../../functions/core/statements/closed-statement.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import { placeRecords } from '../../../functions/core/usage/contribution.ts';
import { rollUp } from '../../../functions/core/usage/roll-up.ts';
import { closeMonths } from '../../../functions/drift/close-months.ts';
import { packJobs } from '../../../functions/drift/pack-jobs.ts';
import { packSheets } from '../../../functions/drift/pack-sheets.ts';
import { type Directory, indexDirectory } from '../../../policies/directory.ts';
import { periodAt } from '../../../policies/limits/period.ts';
import { seededRandom } from '../../../scripts/local/random.ts';
import { aPolicy } from '../../policies/documents.ts';
import { someFacts } from '../../support/ledger/asks.ts';
import { MemoryRollupStore } from '../../support/ledger/memory-rollup-store.ts';
import { MemoryStore } from '../../support/ledger/memory-store.ts';
import { Feed } from '../../support/ledger/rollup-bench.ts';
import { manualClock } from '../../support/ledger/test-clock.ts';
import { FULL } from '../../support/property-runs.ts';

const INSTANCE = 'gitlab.example.com';
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const BEGIN_MS = Date.UTC(2026, 0, 1);
const DAYS = FULL ? 730 : 400;
const PACKED_DAYS = 5;
const CLOSED_DAYS = 3;
/** A job is in three nights' packing: each third night has all of them. */
const NIGHTS = 3;
/** The last end comes after 70 days, and the next month closes after 36 more. */
const QUIET_DAYS = 112;
/** One micro-unit a millisecond: nothing is rounded. */
const MICROS_A_SECOND = 1_000;
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Pacific/Apia'];
const FISCAL_STARTS = ['01-01', '04-06', '11-20', '07-15'];

/** What happens in a life; what is absent does not. */
interface Kind {
  readonly name: string;
  readonly zones?: true;
  readonly fiscal?: true;
  readonly limits?: true;
  /** Days between two moves, on average. */
  readonly moves?: number;
  readonly late?: true;
  /** Groups move between two packings, and jobs are packed by night. */
  readonly unpacked?: true;
}

const KINDS: readonly Kind[] = [
  { name: 'all of it', zones: true, fiscal: true, limits: true, moves: 4, late: true },
  { name: 'groups that are deleted before the hour of their jobs is packed', moves: 4, unpacked: true },
  { name: 'days and limits in any zone', zones: true },
  { name: 'limits that begin, end, are unlimited or switched off', limits: true },
  { name: 'fiscal years that change', fiscal: true },
  { name: 'groups that move, become top-level and are deleted', moves: 25 },
  { name: 'ends that come late and repeatedly', late: true },
];
/** A year of all of it and of unpacked groups; in CI two years of each. */
const LIVED = FULL ? KINDS : KINDS.slice(0, 2);

interface JobInLife {
  readonly root: number;
  micros: number;
  ran: boolean;
}

interface LimitInLife {
  readonly subject: string;
  readonly zone: string;
  readonly kind: 'money' | 'unlimited' | 'off' | 'ended';
}

class Life {
  readonly #kind: Kind;
  readonly #random: () => number;
  readonly clock = manualClock();
  readonly #feed = new Feed();
  readonly #store = new MemoryStore({
    instance: INSTANCE,
    clock: this.clock,
    onCommit: this.#feed.onCommit,
  });
  readonly #ledger = createLedger({ store: this.#store, clock: this.clock });
  readonly #usage = new MemoryRollupStore({ instance: INSTANCE });
  readonly #table = new MemoryTable();
  readonly chain = dynamoStatementChain({ table: this.#table, instance: INSTANCE });
  readonly #sheets = dynamoSheetStore({
    ...{ table: this.#table, instance: INSTANCE, clock: this.clock, random: () => 0 },
  });
  readonly #policy = aPolicy({});
  readonly jobs = new Map<number, JobInLife>();
  readonly zone: string;
  #fiscalStart = '01-01';
  /** Parents by group; a top-level group has none. */
  #parents = new Map<number, number | undefined>([
    [100, undefined],
    [110, 100],
    [111, 110],
    [200, undefined],
    [210, 200],
    [300, undefined],
    [310, 300],
  ]);
  #limits: readonly LimitInLife[] = [];
  #due: { readonly atMs: number; readonly does: () => Promise<unknown> }[] = [];
  #nextGroup = 400;

  constructor(kind: Kind, seed: number) {
    this.#kind = kind;
    this.#random = seededRandom(seed);
    this.zone = this.#zone();
    this.#limits = ['instance', 'group/100', 'group/200'].map((subject) => ({
      ...{ subject, zone: this.#zone(), kind: 'money' as const },
    }));
    this.clock.advance(BEGIN_MS - this.clock.nowMs());
  }

  async live(): Promise<void> {
    for (let day = 0; day < DAYS + QUIET_DAYS; day += 1) {
      if (day < DAYS) {
        await this.#change();
        for (let jobs = this.#below(3); jobs > 0; jobs -= 1)
          this.#at(this.clock.nowMs() + this.#below(DAY_MS), () => this.#job());
      }
      await this.#until(BEGIN_MS + (day + 1) * DAY_MS);
      await this.#rollUp();
      // A deployment packs every hour. Between two moves of groups it makes no difference.
      if (day % PACKED_DAYS === 0) await this.#pack();
      if (this.#kind.unpacked && day % NIGHTS === 0) await this.#packJobs();
      if (day % CLOSED_DAYS === 0) await this.#close();
    }
  }

  async statements(): Promise<readonly ClosedStatement[]> {
    const { last } = await this.chain.register();
    const numbers = await this.chain.numbers(1);
    expect(numbers.map(({ number }) => number)).toEqual(Array.from({ length: last }, (_, at) => at + 1));
    const found: ClosedStatement[] = [];
    for (const subject of new Set(numbers.map((each) => each.subject))) {
      const own = await this.chain.of(subject);
      expect(chainBreak(own)).toBeUndefined();
      found.push(...own.map(({ statement }) => statement));
    }
    return found;
  }

  #one<T>(from: readonly T[]): T {
    return from[this.#below(from.length)] as T;
  }

  #zone(): string {
    return this.#kind.zones ? this.#one(ZONES) : 'UTC';
  }

  #below(bound: number): number {
    return Math.floor(this.#random() * bound);
  }

  #at(atMs: number, does: () => Promise<unknown>): void {
    this.#due.push({ atMs, does });
    this.#due.sort((a, b) => a.atMs - b.atMs);
  }

  async #until(endMs: number): Promise<void> {
    for (let next = this.#due[0]; next !== undefined && next.atMs < endMs; next = this.#due[0]) {
      this.#due.shift();
      this.clock.advance(Math.max(0, next.atMs - this.clock.nowMs()));
      await next.does();
    }
    this.clock.advance(endMs - this.clock.nowMs());
  }

  async #change(): Promise<void> {
    const { fiscal, limits, moves } = this.#kind;
    if (fiscal && this.#below(90) === 0) this.#fiscalStart = this.#one(FISCAL_STARTS);
    if (limits && this.#below(20) === 0) {
      const subject = this.#one(['instance', 'group/100', 'group/110', 'group/200']);
      const kind = this.#one(['money', 'unlimited', 'off', 'ended'] as const);
      const others = this.#limits.filter((each) => each.subject !== subject);
      this.#limits = [...others, { subject, zone: this.#zone(), kind }];
    }
    if (moves !== undefined && this.#below(moves) === 0) {
      if (!this.#kind.unpacked) await this.#pack();
      this.#move();
    }
  }

  #move(): void {
    const groups = [...this.#parents.keys()];
    const group = this.#one(groups);
    const below = this.#one(groups);
    const how = this.#below(5);
    if (how === 0) this.#parents.set(group, undefined);
    else if (how === 1) {
      // GitLab deletes a group with all below it.
      const deleted = groups.filter((each) => this.#chainOf(each).includes(group));
      if (groups.length - deleted.length >= 3) for (const each of deleted) this.#parents.delete(each);
    } else if (how === 2) {
      this.#parents.set(this.#nextGroup, undefined);
      this.#nextGroup += 1;
    } else if (!this.#chainOf(below).includes(group)) this.#parents.set(group, below);
  }

  /** Root first. */
  #chainOf(group: number): readonly number[] {
    const parent = this.#parents.get(group);
    return parent === undefined ? [group] : [...this.#chainOf(parent), group];
  }

  #directory(): Directory {
    const depth = (id: number): number => this.#chainOf(id).length;
    return indexDirectory(
      [...this.#parents]
        .sort(([a], [b]) => depth(a) - depth(b))
        .map(([id, parentId]) => ({
          ...{ id, path: this.#chainOf(id).join('/'), personal: false },
          ...(parentId !== undefined && { parentId }),
        })),
      [],
    );
  }

  async #job(): Promise<void> {
    const jobId = this.jobs.size + 1;
    const group = this.#one([...this.#parents.keys()]);
    const groupIds = this.#chainOf(group);
    const [rootId = 0] = groupIds;
    const nowMs = this.clock.nowMs();
    const facts = someFacts({
      ...{ rootId, groupId: group, groupIds, projectId: 10_000 + group },
      ...{ microsPerMinute: 60 * MICROS_A_SECOND, costMicros: 600 * MICROS_A_SECOND },
    });
    const claims = this.#limits
      .filter(({ subject, kind }) => kind === 'money' && this.#isAbove(subject, groupIds))
      .map(({ subject, zone }) => ({
        ...({ unit: 'micros', mode: 'enforce', rule: 'budget', class: 'cost' } as const),
        amount: facts.costMicros,
        counter: {
          ...{ subject, limit: 'money-month' },
          period: periodAt('month', zone, nowMs, this.#fiscalStart).key,
        },
        refusal: (): never => {
          throw new Error('nothing asks here');
        },
      }));
    const job: JobInLife = { root: rootId, micros: 0, ran: false };
    this.jobs.set(jobId, job);
    const seconds = 1 + this.#below(3_000);
    const settle = (ranSeconds: number, afterMs: number): void =>
      this.#at(nowMs + seconds * 1_000 + afterMs, async () => {
        const end = { jobId, durationSeconds: ranSeconds, endedAtMs: this.clock.nowMs() };
        await this.#ledger.settle([end]);
        Object.assign(job, { micros: ranSeconds * MICROS_A_SECOND, ran: true });
      });
    const fate = this.#below(20);
    const late = this.#kind.late === true;
    if (late && fate === 0) {
      // It passed by: found when it ends, or weeks after.
      const foundMs = nowMs + seconds * 1_000 + this.#below(20 * DAY_MS);
      this.#at(foundMs, async () => {
        const end = { jobId, durationSeconds: seconds, endedAtMs: this.clock.nowMs() };
        const asked = { decidedAtMs: nowMs, facts, claims, violations: [], unchecked: 'bypass' } as const;
        await this.#ledger.recordBypass([{ ...end, ...asked }]);
        Object.assign(job, { micros: seconds * MICROS_A_SECOND, ran: true });
      });
      return;
    }
    const isRejected = fate === 1;
    const violations = isRejected
      ? [{ rule: 'images', class: 'security', mode: 'enforce', reason: { code: 'IMAGE_MISSING' } } as never]
      : [];
    await this.#ledger.hold(
      [{ jobId, decidedAtMs: nowMs, facts, violations, claims }],
      Number.POSITIVE_INFINITY,
    );
    if (isRejected) {
      // In dry run it runs all the same, and some are reported late.
      if (late) settle(seconds, this.#below(70) * DAY_MS);
      return;
    }
    if (fate === 2) {
      this.#at(nowMs + MINUTE_MS, () => this.#ledger.release([{ jobId, cause: 'canceled' }]));
      if (late) settle(seconds, 40 * DAY_MS);
      return;
    }
    if (fate === 3) {
      this.#at(nowMs + DAY_MS, async () => {
        await this.#ledger.expire([{ jobId, cause: 'gone', charge: 'hold' }]);
        job.micros = facts.costMicros;
      });
      if (late && this.#below(2) === 0) settle(seconds, 30 * DAY_MS);
      return;
    }
    settle(seconds, late && fate < 6 ? this.#below(70 * DAY_MS) : 0);
    if (late && fate < 8) settle(1 + this.#below(3_000), 70 * DAY_MS);
  }

  #isAbove(subject: string, groupIds: readonly number[]): boolean {
    return subject === 'instance' || groupIds.some((id) => subject === `group/${id}`);
  }

  async #rollUp(): Promise<void> {
    const { clock } = this;
    await rollUp(
      { Records: this.#feed.records.splice(0) },
      {
        ...{ store: this.#usage, keys: this.#store.keys, clock, random: () => 0, log: silentLog },
        placeOf: placeRecords(this.#directory(), this.zone),
      },
    );
  }

  async #pack(): Promise<void> {
    const { clock } = this;
    const directory = this.#directory();
    await packSheets(clock.monotonicMs() + DAY_MS, {
      ...{ sheets: this.#sheets, usage: this.#usage, zone: this.zone, clock },
      subjects: async () => ({ directory, classNames: ['small'] }),
    });
  }

  async #packJobs(): Promise<void> {
    const { clock } = this;
    await packJobs(clock.monotonicMs() + DAY_MS, {
      ...{ sheets: this.#sheets, zone: this.zone, clock },
      readRecords: this.#ledger.readRecords,
      recentJobIds: async () => [this.jobs.size],
    });
  }

  async #close(): Promise<void> {
    const { clock } = this;
    const directory = this.#directory();
    const found = await closeMonths(clock.monotonicMs() + DAY_MS, {
      ...{ chain: this.chain, sheets: this.#sheets, directory, clock, log: silentLog, instance: INSTANCE },
      ...{ usage: this.#usage, zone: this.zone, fiscalStart: this.#fiscalStart },
      ...{ currency: 'EUR', prices: this.#policy.prices },
    });
    expect(found).toMatchObject({ left: 0, failed: 0 });
  }
}

const sumOf = (numbers: Iterable<number>): number => [...numbers].reduce((sum, each) => sum + each, 0);

describe.each(LIVED)('$name', (kind) => {
  test.each(Array.from({ length: FULL ? 6 : 1 }, (_, seed) => seed + 1))(
    'each job is on exactly one statement of a group, to the micro-unit (life %i)',
    async (seed) => {
      const life = new Life(kind, seed);
      await life.live();
      const statements = await life.statements();
      const jobs = [...life.jobs.values()];
      const roots = new Set(jobs.filter(({ micros }) => micros > 0).map(({ root }) => root));
      const charged = (root?: number) => {
        const own = jobs.filter((job) => root === undefined || job.root === root);
        return { micros: sumOf(own.map(({ micros }) => micros)), jobs: own.filter(({ ran }) => ran).length };
      };
      const due = (isMeant: (subject: string) => boolean) => {
        const own = statements.filter(({ subject }) => isMeant(subject));
        const parts = own.flatMap(({ totals, adjustments }) => [totals, ...adjustments]);
        return {
          micros: sumOf(own.map(({ totals }) => totals.dueMicros)),
          jobs: sumOf(parts.map((each) => each.jobs)),
        };
      };
      expect(due((subject) => subject === 'instance')).toEqual(charged());
      expect(due((subject) => subject !== 'instance')).toEqual(charged());
      for (const root of roots)
        expect([root, due((subject) => subject === `group/${root}`)]).toEqual([root, charged(root)]);
      for (const [subject, own] of Map.groupBy(statements, (each) => each.subject)) {
        const days = own.flatMap(({ lines }) => lines.map(({ day }) => day));
        expect([subject, new Set(days).size]).toEqual([subject, days.length]);
        for (const [at, { startMs }] of own.entries()) if (at > 0) expect(startMs).toBe(own[at - 1]?.endMs);
      }
    },
  );
});
