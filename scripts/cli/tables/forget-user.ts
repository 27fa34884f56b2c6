import type { JobRecord } from '../../../functions/core/ledger/ledger.ts';
import {
  type KeptJob,
  kept,
  nameless,
  pseudonymOf,
  userIdOf,
  userIdsIn,
  yearOf,
} from '../../../functions/core/ledger/user-ids.ts';
import { addSumTo, eachSum, packedSums, type SheetSum } from '../../../functions/core/sheets/sheet-rows.ts';
import { type Sheet, USER_SHEET_DAYS } from '../../../functions/core/sheets/sheet-store.ts';
import { counterName } from '../../../policies/claim.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { EXIT, UsageError } from '../../terminal/command.ts';
import { command, print, toggle, word } from '../../terminal/define.ts';
import { printable, textLines } from '../../terminal/table.ts';
import { TABLE_FLAGS } from '../ledger-flags.ts';
import { type LedgerAccess, openToRepair, withOpened } from '../open-ledger.ts';
import { confirmOnTerminal } from '../reconcile/progress.ts';
import { shadowCount } from '../report/shadow-words.ts';

const forgetUserCommand = command({
  name: 'forget user',
  about: `Also ends the user's sign-ins to the console and deletes the rows of reports by user. Amounts stay as they are. It reads the
whole table, may be interrupted and repeated, and asks first. It reports what stays: jobs that are not over, and counters of
limits on the user. The change log keeps the names of authors.`,
  words: { id: word('<id>', "GitLab's number of the user") },
  flags: {
    'dry-run': toggle('only reports what would be changed'),
    yes: toggle('does not ask'),
    ...TABLE_FLAGS,
  },
  examples: ['tollgate forget user 4711 --dry-run'],
  exits: {
    1: 'the ledger does not answer, or records changed meanwhile (run it again)',
    2: 'nothing is kept about this user',
  },
  run: async ({ flags, words: { id } }, io) => {
    if (!/^[1-9]\d{0,14}$/.test(id))
      throw new UsageError(`"${printable(id)}": expected the id of a user, a number like 4711`);
    const userId = Number(id);
    const { 'dry-run': dryRun, yes } = flags;
    if (dryRun && yes)
      throw new UsageError('--yes: belongs to a run that changes something, not to --dry-run');
    return withOpened(openToRepair, flags, io, async (ledger) => {
      const { names, description } = ledger;
      if (names === undefined) throw new Error(`${description} cannot be rewritten`);
      const question = `Forget user ${userId} in ${description} for good?`;
      const remedy = 'forget user: there is no terminal to ask on; add --yes to forget without asking';
      if (!dryRun && !yes && !(await confirmOnTerminal(io, question, remedy))) return EXIT.ok;
      const forgotten = await forgetUser(userId, { ...names, dryRun, nowMs: io.nowMs() });
      print(io, flags, { user: userId, dryRun, ...forgotten }, () => reportText(userId, dryRun, forgotten));
      if (forgotten.left > 0) return EXIT.failed;
      return isNothing(forgotten) ? EXIT.wouldReject : EXIT.ok;
    });
  },
});

const isNothing = ({ records, sessions, reportDays, stays: { liveJobs, counters } }: ForgetReport): boolean =>
  records + sessions + reportDays + liveJobs + counters.length === 0;

function reportText(userId: number, dryRun: boolean, forgotten: ForgetReport): string {
  if (isNothing(forgotten)) return `Nothing is kept about user ${userId}.\n`;
  const { records, sessions, reportDays, left, stays } = forgotten;
  const count = shadowCount;
  return textLines([
    `${dryRun ? 'It would change' : 'Changed'} of user ${userId}: ${count(records)} job records, ${count(sessions)} sign-ins, reports by user of ${count(reportDays)} days.`,
    left > 0 && `${count(left)} records changed meanwhile: run it again.`,
    stays.liveJobs > 0 && `${count(stays.liveJobs)} jobs are not over: run it again when they are.`,
    stays.counters.length > 0 &&
      `Counters of limits on the user, and what jobs count in them, stay until 90 days after their period: ${stays.counters.map(printable).join(', ')}`,
  ]);
}

type ForgetDeps = NonNullable<LedgerAccess['names']> & {
  readonly nowMs: number;
  readonly dryRun: boolean;
};

type ForgetReport = Awaited<ReturnType<typeof forgetUser>>;

/** Replaces the pseudonym: only the existence of a user remains. */
const FORGOTTEN = '~';
const TIMEOUT_MS = 10_000;
const AT_ONCE = 10;
/** Even a user with limits per minute has fewer relevant counters. */
const COUNTERS_TOLD_MAX = 1_000;

/** It may be cut short and repeated: what is done is not done again. @throws {LedgerError} `ledger_unavailable` */
async function forgetUser(userId: number, deps: ForgetDeps) {
  const { store, keys, dryRun, nowMs } = deps;
  const counters = new Set<string>();
  const sum = { records: 0, left: 0, liveJobs: 0 };
  let page: KeptJob[] = [];
  const flush = async (): Promise<void> => {
    const done = await Promise.all(
      page.map(({ record, entries }) => dryRun || store.rewrite(record, entries, { timeoutMs: TIMEOUT_MS })),
    );
    sum.records += done.filter((each) => each).length;
    sum.left += done.filter((each) => !each).length;
    page = [];
  };
  for await (const item of store.scan()) {
    if (item.kind === 'counter' && userIdOf(item.counter.key.subject) === userId) {
      if (counters.size < COUNTERS_TOLD_MAX) counters.add(counterName(item.counter.key));
    }
    if (item.kind !== 'record' || !(await names(item.record))) continue;
    if (item.record.endedAtMs === undefined) sum.liveJobs += 1;
    else {
      const job = await without(item.record);
      if (job !== undefined) page.push(job);
      if (page.length >= AT_ONCE) await flush();
    }
  }
  await flush();
  const sessions = await deps.sessions.end(userId, { dryRun });
  // After the records, from which sheets are made.
  const reportDays = await forgetInSheets(userId, deps);
  const { records, left, liveJobs } = sum;
  // Jobs that are not over have ends that are counted by the user; counters go 90 days after their period.
  return { records, sessions, reportDays, left, stays: { liveJobs, counters: [...counters].sort() } };

  async function names(record: JobRecord): Promise<boolean> {
    if (userIdsIn(record).includes(userId)) return true;
    const { userPseudonym } = record.facts;
    if (userPseudonym === undefined) return false;
    const key = await keys.find(yearOf(record.decidedAtMs));
    return key !== undefined && pseudonymOf(key, userId) === userPseudonym;
  }

  /** Undefined: all that it still says of the user is needed. */
  async function without(record: JobRecord): Promise<KeptJob | undefined> {
    const year = yearOf(record.decidedAtMs);
    const key = dryRun ? await keys.find(year) : await keys.keyOf(year);
    const job = nameless(await kept(record, store), (id) => (key ? pseudonymOf(key, id) : '~'), nowMs);
    const less =
      record.facts.userPseudonym !== FORGOTTEN || userIdsIn(job.record).length < userIdsIn(record).length;
    const facts = { ...job.record.facts, userPseudonym: FORGOTTEN };
    return less ? { ...job, record: { ...job.record, facts } } : undefined;
  }
}

/** Zones are a day ahead at most, and what is due to go may stay for some days. */
const DAYS_BEYOND = 10;

/** Removes the user's costs from all rows. @returns the number of changed days. @throws {LedgerError} */
async function forgetInSheets(
  userId: number,
  { sheets, nowMs, dryRun }: Pick<ForgetDeps, 'sheets' | 'nowMs' | 'dryRun'>,
): Promise<number> {
  const today = Math.floor(nowMs / DAY_MS) + 1;
  const days = Array.from({ length: USER_SHEET_DAYS + DAYS_BEYOND }, (_, back) => dayText(today - back));
  const read = await sheets.read(days.map((span) => ({ kind: 'user', span })));
  const naming = read.filter((sheet) => sheet?.names?.some(isUserRow(userId)) === true);
  for (const sheet of naming)
    if (sheet !== undefined && !dryRun) await sheets.write(sheetWithout(userId, sheet));
  return naming.length;
}

const dayText = (number: number): string => new Date(number * DAY_MS).toISOString().slice(0, 10);

const isUserRow = (userId: number) => (name: string) => name.endsWith(`\n${userId}`);

function sheetWithout(userId: number, sheet: Sheet): Sheet {
  const names = sheet.names ?? [];
  const kept = names.filter((name) => !isUserRow(userId)(name));
  const places = new Map(kept.map((name, place) => [name, place]));
  const rows = new Map<number, SheetSum>();
  eachSum(sheet, (row, sum) => {
    const place = places.get(names[row] ?? '');
    if (place !== undefined) addSumTo(rows, place, sum);
  });
  const { kind, span, days } = sheet;
  return { kind, span, ...withoutAbsent({ days }), names: kept, ...packedSums(rows) };
}

export const commands = [forgetUserCommand];
