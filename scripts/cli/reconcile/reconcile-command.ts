import type { Rules } from '../../../functions/core/admission/judge.ts';
import { readWholeDirectory } from '../../../functions/core/directory/directory-part.ts';
import { type LedgerClock, silentLog, systemClock } from '../../../functions/core/environment/environment.ts';
import { createGitLab } from '../../../functions/core/gitlab/rest-gitlab.ts';
import type { JobAction } from '../../../functions/core/job-ends/actions.ts';
import { chargeBypass } from '../../../functions/core/job-ends/charge-bypass.ts';
import { concludeAll, newConcludeTally } from '../../../functions/core/job-ends/conclude.ts';
import type { FindingKind, ProofFinding } from '../../../functions/core/job-ends/enforcement-proof.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import type { CounterAmounts, Drift } from '../../../functions/core/ledger/ledger.ts';
import type { LedgerStore } from '../../../functions/core/ledger/store.ts';
import { placeRecords } from '../../../functions/core/usage/contribution.ts';
import { rebuildUsage } from '../../../functions/core/usage/count-records.ts';
import { counterName } from '../../../policies/claim.ts';
import { timeoutEstimator } from '../../../policies/estimate.ts';
import { isZone } from '../../../policies/limits/calendar.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { EXIT, type ExitCode, standIn, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { command, orElse, print, text, toggle, type ValuesOf } from '../../terminal/define.ts';
import { printable, right, type Screen, screenOf, textLines } from '../../terminal/table.ts';
import { type LedgerFlags, rollupZone, TABLE_FLAGS } from '../ledger-flags.ts';
import { type OpenLedger, openLedger, openToRepair, withOpened } from '../open-ledger.ts';
import { readRules } from '../read-rules.ts';
import { shadowCount } from '../report/shadow-words.ts';
import { readSpan, SPAN_HELP } from '../report/span.ts';
import { RULES_FLAGS } from '../rules-flags.ts';
import { type Comparison, compareWithGitLab, type HoldComparison } from './compare-with-gitlab.ts';
import { neededGitLab, readGitLabPlace } from './gitlab-flags.ts';
import { confirmOnTerminal, progressOf, watched } from './progress.ts';

const FLAGS = {
  ...neededGitLab(),
  since: orElse(
    text('<time>', `compares live jobs and those since then: 24h, 7d, a day or an instant. ${SPAN_HELP}`),
    '24h',
  ),
  ...TABLE_FLAGS,
};
const AT = '--gitlab https://gitlab.example.com --token-file token --ledger tollgate-ledger';

const reconcileCommand = command({
  name: 'reconcile',
  about: `Looks at live jobs and those that ended lately, proves the enforcement like tollgate proof, and asks before it writes. The sweep
runs every minute and needs no help; use this for a longer time than the sweep looks back, or if it does not run.`,
  flags: {
    'dry-run': toggle('writes nothing'),
    yes: toggle('does not ask before it writes'),
    'charge-bypass': toggle(
      'also charges jobs that ran and have no record, by --policy, --limits and --directory',
    ),
    ...RULES_FLAGS,
    ...FLAGS,
  },
  examples: [`tollgate reconcile ${AT} --dry-run`, `tollgate reconcile ${AT} --since 7d --yes`],
  exits: {
    0: 'no differences, or all repaired',
    1: 'GitLab or the ledger does not answer',
    2: 'differences are left',
  },
  run: async ({ flags }, io) => {
    if (flags['dry-run'] && flags.yes)
      throw new UsageError('--yes: there is nothing to agree to with --dry-run');
    // Validate before asking GitLab: an invalid document must not charge.
    const rules = flags['charge-bypass']
      ? { ...readRules(flags, io), estimator: timeoutEstimator }
      : undefined;
    const { comparison, actions } = await compare(flags, io);
    const differences = comparison.findings.filter(({ remedy }) => remedy !== 'none');
    if (!flags.json) io.out(`${proofText(comparison, io)}\n${findingsText(differences, io)}`);
    const printReport = (acted: ActReport | undefined): void => {
      if (flags.json) io.out(`${JSON.stringify({ ...comparison, ...(acted && { acted }) })}\n`);
      else if (acted) io.out(`\n${actReportText(acted, screenOf(io))}`);
    };
    if (flags['dry-run'] || actions.length === 0) {
      printReport(undefined);
      return differences.length > 0 ? EXIT.wouldReject : EXIT.ok;
    }
    const question = `Write what the sweep would do about ${actions.length} jobs?`;
    const remedy = 'reconcile: there is no terminal to ask; add --dry-run to look only, or --yes to write';
    if (!flags.yes && !(await confirmOnTerminal(io, question, remedy))) {
      printReport(undefined);
      return EXIT.wouldReject;
    }
    return withOpened(openToRepair, flags, io, async ({ store }) => {
      const clock = { ...systemClock, nowMs: io.nowMs };
      const acted = await actOn(actions, store, clock, rules, comparison.runners === 'all');
      printReport(acted);
      const isComplete = acted.tally.undecided + acted.left.bypass + acted.left.expiry === 0;
      return isComplete && actions.length === differences.length ? EXIT.ok : EXIT.wouldReject;
    });
  },
});

const proofCommand = command({
  name: 'proof',
  flags: FLAGS,
  examples: [`tollgate proof ${AT} --since 7d`],
  exits: {
    0: 'proven',
    1: 'GitLab or the ledger does not answer',
    2: 'a rejected job ran or one ran without an admission',
  },
  run: async ({ flags }, io) => {
    const { comparison } = await compare(flags, io);
    const breaches = comparison.findings.filter(({ kind }) => kind === 'rejected_ran' || kind === 'unseen');
    if (flags.json) io.out(`${JSON.stringify({ ...comparison, findings: breaches })}\n`);
    else io.out(proofText(comparison, io) + (breaches.length === 0 ? '' : `\n${findingsText(breaches, io)}`));
    return comparison.figures.unadmitted > 0 ? EXIT.wouldReject : EXIT.ok;
  },
});

async function compare(flags: ValuesOf<typeof FLAGS>, io: TerminalIo): Promise<HoldComparison> {
  const place = readGitLabPlace(flags, io);
  const { sinceMs } = readSpan(flags.since, undefined, io.nowMs(), rollupZone(io));
  const gitlab = standIn(io, createGitLab)(place);
  const calls = progressOf('calls to GitLab', io);
  return withOpened(openLedger, flags, io, async ({ store, scope }) =>
    compareWithGitLab(watched(store, progressOf('items read', io)), gitlab, {
      ...{ sinceMs, nowMs: io.nowMs(), scope: await scope?.() },
      ...{ sleep: place.clock.sleep, onCall: calls.step },
    }),
  ).finally(calls.done);
}

type ActReport = Awaited<ReturnType<typeof actOn>>;

/**
 * The sweep's decisions, by the same code.
 * @param rules - by which jobs without a record are charged; undefined: they are left to the sweep
 * @param seesAllJobs - false: a job that GitLab does not show may exist, so its hold stays
 */
async function actOn(
  actions: readonly JobAction[],
  store: LedgerStore,
  clock: LedgerClock,
  rules: Rules | undefined,
  seesAllJobs: boolean,
) {
  const bypass = actions.filter((action) => action.do === 'charge' && rules === undefined);
  const expiry = actions.filter((action) => action.do === 'expire' && !seesAllJobs);
  const left = new Set([...bypass, ...expiry]);
  const acting = actions.filter((action) => !left.has(action));
  const tally = newConcludeTally();
  const ledger = createLedger({ store, clock });
  await concludeAll(acting, {
    ...{ ledger, tally, chargeUnknown: 'nothing' },
    chargeBypass: async (gitlabJobs) => {
      if (rules === undefined) return gitlabJobs.map(() => 'undecided');
      return chargeBypass(gitlabJobs, { ledger, currentRules: async () => rules, clock, log: silentLog });
    },
  });
  return { tally, left: { bypass: bypass.length, expiry: expiry.length } };
}

const WORDS: Readonly<Record<FindingKind, string>> = {
  rejected_ran: 'rejected, and it ran',
  unseen: 'ran without an admission request',
  admitted_rejected: 'admitted, and the router let it fail',
  never_started: 'held for, and it never began',
  ended: 'held for, and it is over',
  gone: 'held for, and GitLab does not know it',
  released_ran: 'given back, and it ran',
  duration: 'charged for another duration',
};

type Counts = readonly (readonly [count: number, what: string])[];

/** `3 settled`, without what was counted never. */
const countTexts = (counts: Counts): readonly string[] =>
  counts.flatMap(([count, what]) => (count > 0 ? [`${shadowCount(count)} ${what}`] : []));

const notesText = (notes: Counts, screen: Screen): string => textLines(countTexts(notes).map(screen.warn));

function proofText(comparison: Comparison, io: TerminalIo): string {
  const screen = screenOf(io);
  const { figures, unadmittedShare, sinceMs, unasked, runners } = comparison;
  const { compared, rejected, rejectedRan, admitted, admittedRan, ran, unadmitted, unseen } = figures;
  const judged = (bad: number, line: string): string => (bad === 0 ? screen.good(line) : screen.bad(line));
  const n = shadowCount;
  const share = unadmittedShare === undefined ? '' : `, ${(unadmittedShare * 100).toFixed(2)} %`;
  const notes = [
    [figures.outOfScope, "jobs ran on runners out of the controller's scope."],
    [unasked, 'jobs were not compared: their project is not known, or there were too many.'],
  ] as const;
  const refused =
    "The token may not list runners (it takes an administrator's): jobs without an admission are not seen.";
  return `${screen.dim(`${n(compared)} jobs compared with GitLab, since ${instantText(sinceMs, rollupZone(io))}`)}
${judged(rejectedRan, `${n(rejected - rejectedRan)} of ${n(rejected)} rejected jobs did not run.`)}
${n(admittedRan)} of ${n(admitted)} admitted jobs have run or run.
${judged(unadmitted, `${n(unadmitted)} of ${n(ran)} jobs ran without an admission${share}; of ${n(unseen)} there is no record.`)}
${notesText(notes, screen)}${runners === 'refused' ? `${screen.warn(refused)}\n` : ''}`;
}

function findingsText(findings: readonly ProofFinding[], io: TerminalIo): string {
  const screen = screenOf(io);
  if (findings.length === 0) return screen.good('No differences.\n');
  const rows = findings.map(({ jobId, state, status, remedy, kind, ranSeconds, ...finding }) => [
    ...[String(jobId), state ?? 'no record', status ?? 'unknown'],
    remedy === 'none' ? 'charged already' : remedy,
    `${finding.chargedSeconds ?? '–'} → ${ranSeconds ?? '–'}`,
    ...[WORDS[kind], printable(finding.projectPath ?? `${finding.projectId ?? ''}`)],
  ]);
  const titles = ['job', 'ledger', 'GitLab', 'the sweep would', 'seconds', 'why', 'project'];
  return screen.firstRows(titles, rows, { max: 100 });
}

function actReportText({ tally, left }: ActReport, screen: Screen): string {
  const done = [
    [tally.settled, 'settled'],
    [tally.corrected, 'corrected'],
    [tally.released, 'released'],
    [tally.expired, 'expired'],
    [tally.bypass, 'charged as bypass'],
    [tally.unchanged, 'done by another program meanwhile'],
  ] as const;
  const notes = [
    [tally.undecided, 'could not be written: run it again.'],
    [left.bypass, 'jobs without a record are left to the sweep; --charge-bypass charges them.'],
    [left.expiry, 'holds of jobs GitLab does not know stay: the token may not see all jobs.'],
  ] as const;
  return `${screen.good(`${countTexts(done).join(', ') || 'Nothing was written'}.`)}\n${notesText(notes, screen)}`;
}

const rebuild = command({
  name: 'rebuild',
  about: `Counts twice, from closing entries, job records and correction entries, and reports as drift only what both counts agree on while
the counter was not written. There should be none. A period that was never closed and whose records may have expired is neither
compared nor repaired. Nothing is compared while the table has items of a newer Tollgate.`,
  flags: {
    repair: toggle('sets the counters that drift to the sums of their records; asks first'),
    yes: toggle('does not ask'),
    usage: toggle(
      'counts every job record into the usage of groups and days again, and adds what is missing there; counters stay unchanged. It may run at any time',
    ),
    zone: text('<zone>', 'with --usage: where days begin and end (default: $TOLLGATE_ROLLUP_ZONE, else UTC)'),
    ...TABLE_FLAGS,
  },
  examples: [
    'tollgate rebuild --ledger tollgate-ledger',
    'tollgate rebuild --ledger tollgate-ledger --repair',
  ],
  exits: {
    0: 'no drift, all of it repaired, or usage complete',
    1: 'the ledger does not answer',
    2: 'something is left',
  },
  run: async ({ flags }, io) => {
    if (flags.usage && flags.repair)
      throw new UsageError('--usage: mends usage, --repair counters; expected one');
    if (flags.yes && !flags.repair)
      throw new UsageError('--yes: belongs to --repair; without it nothing is changed that needs a yes');
    if (flags.usage) return rebuildAllUsage(flags, io);
    const finish = (found: RebuildResult): ExitCode => {
      print(io, flags, found, (screen) => rebuildText(found, screen));
      return found.drift.length > found.repaired || found.passedOver > 0 ? EXIT.wouldReject : EXIT.ok;
    };
    const found = await recount(openLedger, false, flags, io);
    if (found.drift.length === 0 || !flags.repair) return finish(found);
    if (!flags.yes) {
      if (!flags.json) io.out(driftText(found, screenOf(io)));
      const question = `Set ${found.drift.length} counters to what their records make?`;
      const remedy = '--repair: there is no terminal to ask; add --yes to repair without asking';
      if (!(await confirmOnTerminal(io, question, remedy))) return EXIT.wouldReject;
    }
    // It counts again: moved counters are no drift any more.
    return finish(await recount(openToRepair, true, flags, io));
  },
});

type RebuildResult = Awaited<ReturnType<typeof recount>>;

const recount = (open: OpenLedger, repair: boolean, flags: LedgerFlags, io: TerminalIo) =>
  withOpened(open, flags, io, async ({ store, description }) => {
    const ledger = createLedger({
      store: watched(store, progressOf('items counted', io)),
      clock: { ...systemClock, nowMs: io.nowMs },
    });
    return { ledger: description, ...(await ledger.rebuild({ repair })) };
  });

function rebuildText(result: RebuildResult, screen: Screen): string {
  const { drift, repaired, passedOver, unproven } = result;
  const left = drift.length - repaired;
  const summary =
    passedOver > 0
      ? `${shadowCount(passedOver)} items were written by a newer Tollgate: drift is unknown. Run the newer one.`
      : `${drift.length === 0 ? 'No' : shadowCount(drift.length)} counters drift${repaired > 0 ? `ed, ${shadowCount(repaired)} are repaired` : ''}.${repaired > 0 && left > 0 ? ' Others were written meanwhile: run it again.' : ''}`;
  const isBad = left > 0 || passedOver > 0;
  const head = `${(isBad ? screen.bad : screen.good)(summary)}\n${driftText(result, screen)}`;
  if (unproven.length === 0) return head;
  const listed = unproven.map(({ key }) => [printable(counterName(key))]);
  return `${head}
${screen.bad(`${shadowCount(unproven.length)} counters are left as they are.`)} Their records may have expired before the period was closed.
${screen.firstRows(['counter'], listed, { max: 50 })}`;
}

function driftText({ ledger, records, counters, drift }: RebuildResult, screen: Screen): string {
  const counted = screen.dim(
    `${shadowCount(counters)} counters of ${ledger}, counted from ${shadowCount(records)} job records\n`,
  );
  if (drift.length === 0) return counted;
  const titles = ['counter', 'amount', ...['shows', 'records make', 'difference'].map(right)];
  return counted + screen.table(titles, drift.flatMap(driftRows));
}

function driftRows({ key, counter, recount }: Drift): readonly (readonly string[])[] {
  const made = amountsOf(recount);
  return Object.entries(amountsOf(counter)).flatMap(([name, amount]) => {
    const makes = made[name] ?? 0;
    if (amount === makes) return [];
    return [[printable(counterName(key)), name, whole(amount), whole(makes), whole(amount - makes)]];
  });
}

const amountsOf = ({ unchecked, ...amounts }: CounterAmounts): Readonly<Record<string, number>> => ({
  ...amounts,
  ...unchecked,
});

const whole = (amount: number): string => `${amount < 0 ? '-' : ''}${shadowCount(Math.abs(amount))}`;

const TIMEOUT_MS = 15_000;

/** Counts every record into usage once more. Safe at any time, also while the stream is read: both go the same way. */
async function rebuildAllUsage(
  flags: LedgerFlags & { readonly zone: string | undefined; readonly json: boolean },
  io: TerminalIo,
): Promise<ExitCode> {
  const zone = flags.zone ?? rollupZone(io);
  if (!isZone(zone)) throw new UsageError(`--zone "${zone}": expected a time zone like Europe/Berlin or UTC`);
  return withOpened(openToRepair, flags, io, async ({ usage, directory: groups, description, store }) => {
    if (usage === undefined) throw new Error(`${description} keeps no usage`);
    const directory = groups && (await readWholeDirectory(groups, { timeoutMs: TIMEOUT_MS }))?.directory;
    const clock: LedgerClock = { ...systemClock, nowMs: io.nowMs };
    const rebuilt = await rebuildUsage(watched(store, progressOf('items counted', io)).scan(), {
      ...{ store: usage, clock, random: Math.random, placeOf: placeRecords(directory, zone), log: silentLog },
    });
    const { records, changed, failed, passedOver } = rebuilt;
    const counts = [
      [changed, 'were missing and are counted now.'],
      [failed, 'could not be counted: run it again.'],
      [passedOver, 'were written by a newer Tollgate and passed over.'],
    ] as const;
    const text = textLines(countTexts(counts)) || 'Nothing was missing.\n';
    print(io, flags, { ledger: description, ...rebuilt }, () => {
      return `${shadowCount(records)} job records looked at.\n${text}`;
    });
    return failed > 0 ? EXIT.wouldReject : EXIT.ok;
  });
}

export const commands = [reconcileCommand, proofCommand, rebuild];
