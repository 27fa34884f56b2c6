import type { Rules } from '../../../functions/core/admission/judge.ts';
import { type LedgerClock, silentLog, systemClock } from '../../../functions/core/environment/environment.ts';
import { createGitLab } from '../../../functions/core/gitlab/rest-gitlab.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import type { LedgerStore } from '../../../functions/core/ledger/store.ts';
import { concludeAll, newConcludeTally } from '../../../functions/core/truth/conclude.ts';
import type { FindingKind, ProofFinding } from '../../../functions/core/truth/enforcement-proof.ts';
import { settleTruths } from '../../../functions/core/truth/settle-truths.ts';
import type { JobVerdict } from '../../../functions/core/truth/verdict.ts';
import { timeoutEstimator } from '../../../policies/estimate.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { EXIT, standIn, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { command } from '../../terminal/define-command.ts';
import { orElse, text, toggle, type ValuesOf } from '../../terminal/flags.ts';
import { type Paint, paintWhen, printable } from '../../terminal/paint.ts';
import { firstRows } from '../../terminal/table.ts';
import { TABLE_FLAGS } from '../ledger-flags.ts';
import { openLedger, openToRepair, withOpened } from '../open-ledger.ts';
import { shadowCount } from '../report/shadow-words.ts';
import { readSpan, SPAN_HELP } from '../report/span.ts';
import { rollupZone } from '../rollup-zone.ts';
import { RULES_FLAGS, readRules } from '../rules-flags.ts';
import { type Comparison, compareWithGitLab, type HoldComparison } from './compare-with-gitlab.ts';
import { agreedTo } from './confirm.ts';
import { callsTo, neededGitLab, readGitLabPlace } from './gitlab-flags.ts';
import { progressOf, watched } from './progress.ts';

const FLAGS = {
  ...neededGitLab(),
  since: orElse(
    text('<time>', `compares live jobs and those since then: 24h, 7d, a day or an instant. ${SPAN_HELP}`),
    '24h',
  ),
  ...TABLE_FLAGS,
};
const JSON_HELP = 'the comparison as one JSON object';
const AT = '--gitlab https://gitlab.example.com --token-file token --ledger tollgate-ledger';

const reconcileCommand = command({
  name: 'reconcile',
  about: `Compares live jobs and those that ended lately with GitLab, lists every difference with what the sweep would do about it, and
proves the enforcement like tollgate proof. Then it asks, and does what the sweep would do: settles, corrects, releases and expires.
The sweep runs every minute and needs no help; use this for a longer time than the sweep looks
back, or if it does not run.`,
  flags: {
    'dry-run': toggle('writes nothing'),
    yes: toggle('does not ask before it writes'),
    'charge-bypass': toggle(
      'also charges jobs that ran and have no record, by --policy, --limits and --directory',
    ),
    ...RULES_FLAGS,
    ...FLAGS,
  },
  json: JSON_HELP,
  examples: [`tollgate reconcile ${AT} --dry-run`, `tollgate reconcile ${AT} --since 7d --yes`],
  exits: {
    0: 'no differences, or all of them repaired',
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
    const { comparison, verdicts } = await compare(flags, io);
    const differences = comparison.findings.filter(({ remedy }) => remedy !== 'none');
    if (!flags.json) io.out(`${proofText(comparison, io)}\n${findingsText(differences, io)}`);
    const printReport = (acted: ActReport | undefined): void => {
      if (flags.json) io.out(`${JSON.stringify({ ...comparison, ...(acted && { acted }) })}\n`);
      else if (acted) io.out(`\n${actReportText(acted, paintWhen(io.colours))}`);
    };
    if (flags['dry-run'] || verdicts.length === 0) {
      printReport(undefined);
      return differences.length > 0 ? EXIT.wouldReject : EXIT.ok;
    }
    const question = `Write what the sweep would do about ${verdicts.length} jobs?`;
    const remedy = 'reconcile: there is no terminal to ask; add --dry-run to look only, or --yes to write';
    if (!flags.yes && !(await agreedTo(io, question, remedy))) {
      printReport(undefined);
      return EXIT.wouldReject;
    }
    return withOpened(openToRepair, flags, io, async ({ store }) => {
      const clock = { ...systemClock, nowMs: io.nowMs };
      const acted = await actOn(verdicts, store, clock, rules, comparison.runners === 'all');
      printReport(acted);
      const isComplete = acted.tally.undecided + acted.left.bypass + acted.left.expiry === 0;
      return isComplete && verdicts.length === differences.length ? EXIT.ok : EXIT.wouldReject;
    });
  },
});

const proofCommand = command({
  name: 'proof',
  about: `Checks that Tollgate is enforced: rejected jobs really failed, admitted ones ran, and GitLab asked about every job that
ran.`,
  flags: FLAGS,
  json: JSON_HELP,
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

export const commands = [reconcileCommand, proofCommand];

async function compare(flags: ValuesOf<typeof FLAGS>, io: TerminalIo): Promise<HoldComparison> {
  const place = readGitLabPlace(flags, io);
  const { sinceMs } = readSpan(flags.since, undefined, io.nowMs(), rollupZone(io));
  const gitlab = standIn(io, createGitLab)(callsTo(place));
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
  verdicts: readonly JobVerdict[],
  store: LedgerStore,
  clock: LedgerClock,
  rules: Rules | undefined,
  seesAllJobs: boolean,
) {
  const bypass = verdicts.filter((verdict) => verdict.do === 'charge' && rules === undefined);
  const expiry = verdicts.filter((verdict) => verdict.do === 'expire' && !seesAllJobs);
  const left = new Set([...bypass, ...expiry]);
  const acting = verdicts.filter((verdict) => !left.has(verdict));
  const tally = newConcludeTally();
  const ledger = createLedger({ store, clock });
  await concludeAll(acting, {
    ...{ ledger, tally, chargeUnknown: 'nothing' },
    chargeBypass: async (truths) => {
      if (rules === undefined) return truths.map(() => 'undecided');
      return settleTruths(truths, { ledger, currentRules: async () => rules, clock, log: silentLog });
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

const notesText = (notes: readonly (readonly [count: number, what: string])[], paint: Paint): string =>
  notes
    .map(([count, what]) => (count > 0 ? `${paint.warn(`${shadowCount(count)} ${what}`)}\n` : ''))
    .join('');

function proofText(comparison: Comparison, io: TerminalIo): string {
  const paint = paintWhen(io.colours);
  const { figures, unadmittedShare, sinceMs, unasked, runners } = comparison;
  const { compared, rejected, rejectedRan, admitted, admittedRan, ran, unadmitted, unseen } = figures;
  const judged = (bad: number, line: string): string => (bad === 0 ? paint.good(line) : paint.bad(line));
  const n = shadowCount;
  const share = unadmittedShare === undefined ? '' : `, ${(unadmittedShare * 100).toFixed(2)} %`;
  const notes = [
    [figures.outOfScope, "jobs ran on runners out of the controller's scope."],
    [unasked, 'jobs were not compared: their project is not known, or there were too many.'],
  ] as const;
  const refused =
    "The token may not list runners (it takes an administrator's): jobs without an admission are not seen.";
  return `${paint.dim(`${n(compared)} jobs compared with GitLab, since ${instantText(sinceMs, rollupZone(io))}`)}
${judged(rejectedRan, `${n(rejected - rejectedRan)} of ${n(rejected)} rejected jobs did not run.`)}
${n(admittedRan)} of ${n(admitted)} admitted jobs have run or run.
${judged(unadmitted, `${n(unadmitted)} of ${n(ran)} jobs ran without an admission${share}; of ${n(unseen)} there is no record.`)}
${notesText(notes, paint)}${runners === 'refused' ? `${paint.warn(refused)}\n` : ''}`;
}

function findingsText(findings: readonly ProofFinding[], io: TerminalIo): string {
  const paint = paintWhen(io.colours);
  if (findings.length === 0) return paint.good('No differences.\n');
  const rows = findings.map(({ jobId, state, status, remedy, kind, ranSeconds, ...finding }) => [
    ...[String(jobId), state ?? 'no record', status ?? 'unknown'],
    remedy === 'none' ? 'charged already' : remedy,
    `${finding.chargedSeconds ?? '–'} → ${ranSeconds ?? '–'}`,
    ...[WORDS[kind], printable(finding.projectPath ?? `${finding.projectId ?? ''}`)],
  ]);
  const titles = ['job', 'ledger', 'GitLab', 'the sweep would', 'seconds', 'why', 'project'];
  return firstRows(titles, rows, { max: 100, width: io.columns, dim: paint.dim });
}

function actReportText({ tally, left }: ActReport, paint: Paint): string {
  const done = [
    [tally.settled, 'settled'],
    [tally.corrected, 'corrected'],
    [tally.released, 'released'],
    [tally.expired, 'expired'],
    [tally.bypass, 'charged as bypass'],
    [tally.unchanged, 'done by another program meanwhile'],
  ] as const;
  const named = done.filter(([jobs]) => jobs > 0).map(([jobs, what]) => `${shadowCount(jobs)} ${what}`);
  const notes = [
    [tally.undecided, 'could not be written: run it again.'],
    [left.bypass, 'jobs without a record are left to the sweep; --charge-bypass charges them.'],
    [left.expiry, 'holds of jobs GitLab does not know stay: the token may not see all jobs.'],
  ] as const;
  return `${paint.good(`${named.join(', ') || 'Nothing was written'}.`)}\n${notesText(notes, paint)}`;
}
