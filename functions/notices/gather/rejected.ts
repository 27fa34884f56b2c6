/** Jobs that were rejected since the last time, per group, with the limits that did it and a few jobs to look at. */
import type { Policy } from '../../../policies/policy.ts';
import { type JobRecord, type Ledger, ranRejected, wasRejected } from '../../core/ledger/index.ts';
import { subjectPagePath } from '../../core/notify/console-links.ts';
import { findRecipient, type Ownership, subjectLabel } from '../../core/notify/recipient.ts';
import type { LatestRejections, RollupStore } from '../../core/usage/index.ts';
import type { Cursor } from './cursor.ts';
import type { OwnershipReader } from './known.ts';
import type { Notice } from './notice.ts';
import { type NoticeFormat, noticeCount } from './notice-format.ts';
import { rejectedGroups } from './rejected-groups.ts';
import { causesOf, examplesOf } from './rejection-causes.ts';
import { inPieces, newlyRejected, onlyRejected, type Tallies, talliesNow, withTallies } from './tallies.ts';

/** Records looked at for the causes of one group, and of all groups of a run. */
const LOOKED_AT_MAX = 20;
const RECORDS_MAX = 400;

export interface RejectedJobsContext {
  readonly cursor: Cursor;
  /** Those to look at, today first, and when the last of them begins, Unix ms. */
  readonly days: readonly string[];
  readonly sinceMs: number;
  readonly known: OwnershipReader;
  readonly policy: Policy;
  readonly ledger: Pick<Ledger, 'readCounters' | 'readRecords'>;
  readonly usage: Pick<RollupStore, 'readRejections' | 'readUsage'>;
  readonly telling: NoticeFormat;
}

export interface RejectedJobsNotices {
  readonly notices: readonly Notice[];
  readonly tallies: Tallies;
}

/** @throws {LedgerError} */
export async function noticesOfRejected(asked: RejectedJobsContext): Promise<RejectedJobsNotices> {
  const { cursor, days, sinceMs, usage, ledger } = asked;
  const ownership = await asked.known();
  const groups = await rejectedGroups(ownership, { usage, ledger, sinceMs });
  const now = await talliesNow(groups, days, usage);
  const newIn = groups.filter((group) => newlyRejected(group, now.get(group) ?? new Map(), cursor) > 0);
  const lists = await inPieces(newIn, (some) => usage.readRejections(some));
  let records = 0;
  const notices: Notice[] = [];
  for (const [index, group] of newIn.entries()) {
    const byDay = now.get(group) ?? new Map();
    const jobs = newlyRejected(group, byDay, cursor);
    const wanted = Math.min(jobs, LOOKED_AT_MAX, RECORDS_MAX - records);
    const looked = await latest(lists[index], wanted, ledger);
    records += wanted;
    const passes = [...byDay].map(([day, tally]) => ({
      kind: 'tally' as const,
      day,
      subject: group,
      tally: onlyRejected(tally),
    }));
    const notice = rejectedNotice(group, jobs, looked, ownership, asked);
    notices.push({ ...notice, passes });
  }
  return { notices, tallies: withTallies(cursor.tallies, days, mapped(now)) };
}

const mapped = (now: Awaited<ReturnType<typeof talliesNow>>) =>
  new Map(
    [...now].map(([subject, byDay]) => [
      subject,
      new Map([...byDay].map(([day, tally]) => [day, onlyRejected(tally)])),
    ]),
  );

async function latest(
  list: LatestRejections | undefined,
  wanted: number,
  ledger: RejectedJobsContext['ledger'],
): Promise<readonly JobRecord[]> {
  const ids = (list?.jobs ?? []).slice(0, Math.max(0, wanted)).map(({ jobId }) => jobId);
  if (ids.length === 0) return [];
  const records = await ledger.readRecords(ids);
  return records.flatMap((record) => (record !== undefined && wasRejected(record) ? [record] : []));
}

function rejectedNotice(
  subject: string,
  jobs: number,
  looked: readonly JobRecord[],
  ownership: Ownership,
  { cursor, days, policy, telling }: RejectedJobsContext,
): Notice {
  const to = findRecipient(subject, undefined, ownership);
  const label = subjectLabel(subject, ownership.directory);
  const causes = causesOf(looked, { subject, to, ownership, policy, telling });
  const ran = looked.filter(ranRejected).length;
  const of = looked.length < jobs && looked.length > 0 ? `Of the latest ${looked.length}: ` : '';
  const before = days.map((day) => cursor.tallies[day]?.[subject]?.rejected ?? 0);
  return {
    to,
    id: `rejected:${subject}:${days[0]}:${before.join('+')}+${jobs}`,
    kind: 'jobs-rejected',
    subject,
    label,
    lines: [
      `${noticeCount(jobs, 'job')} of ${label} ${jobs === 1 ? 'was' : 'were'} rejected.`,
      ...(ran > 0 ? [`${of}${ran} ran all the same: GitLab follows no answer in dry_run`] : []),
      ...causes.map((cause) => `${of}${cause.text}: ${cause.jobs}`),
    ],
    page: subjectPagePath(subject),
    examples: examplesOf(looked, ownership.directory),
    facts: {
      jobs,
      looked: looked.length,
      ran,
      causes: causes.map(({ text, jobs: by }) => `${text}: ${by}`).join('; '),
    },
  };
}
