import { waitText } from '../../../functions/answers/job/decision-lines.ts';
import { parseJobReference } from '../../../functions/answers/job/job-reference.ts';
import type {
  ExplainedCounter,
  ExplainedRuleRow,
  ExplainedTerms,
  JobExplanation,
  JobRetry,
} from '../../../functions/answers/job/model.ts';
import { RETRY_OUTCOME_TEXTS } from '../../../functions/answers/job/retried.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { amountText, durationText } from '../../../policies/unit-texts.ts';
import { UsageError } from '../../terminal/command.ts';
import { command, print, word } from '../../terminal/define.ts';
import { printable, right, type Screen, screenOf, wrapped } from '../../terminal/table.ts';
import { readInProcess } from '../api/answers.ts';
import { withApi } from '../api/open-api.ts';
import { ruleNowLines, violationLine } from '../evaluation/rule-text.ts';
import { type LedgerFlags, rollupZone } from '../ledger-flags.ts';
import { type RulesFlags, SOURCE_FLAGS } from '../rules-flags.ts';

const explain = command({
  name: 'explain',
  about: `Also price, versions and the text the developer read. It only reads: no counter is changed.

It shows the same as the job's page: limits, grants, freezes and groups are the live ones, unless a file is named or nothing
is live. With --console it shows what you may see; in a CI job by its id_token in TOLLGATE_ID_TOKEN. Times are those of
$TOLLGATE_ROLLUP_ZONE, else UTC; --json has Unix milliseconds.`,
  words: {
    job: word(
      '<job id | decision id>',
      "4711, or the address of the job's page: its last decision; or d-4711-1, as on the job page and in the log",
    ),
  },
  expects: 'one job id (4711) or decision id (d-4711-1)',
  flags: SOURCE_FLAGS,
  examples: ['tollgate explain 4711', 'tollgate explain d-4711-1 --json'],
  exits: {
    1: 'the ledger or console does not answer',
    3: 'no such decision, wrong usage or invalid documents',
  },
  run: async ({ flags, words }, io) => {
    const read = parseJobReference(words.job);
    if (!read.ok) throw new UsageError(read.problems.join('; '));
    const explanation = await withApi(withFiles(flags), io, (api) =>
      readInProcess(api.jobs[':word'].$get({ param: { word: words.job } })),
    );
    const layout = { zone: rollupZone(io), screen: screenOf(io) };
    return print(io, flags, explanation, () => explanationText(explanation, layout));
  },
});

/** A file that is named is meant, and only a ledger is judged by it. @throws {UsageError} */
function withFiles(flags: LedgerFlags & RulesFlags): LedgerFlags & RulesFlags {
  const namesFile = [flags.policy, flags.limits, flags.directory].some((file) => file !== undefined);
  if (!namesFile) return flags;
  if (flags.console === undefined) return { ...flags, ledger: flags.ledger ?? 'local' };
  throw new UsageError(
    '--console: has rules and limits of its own; expected no --policy, --limits or --directory',
  );
}

interface Layout {
  readonly zone: string;
  readonly screen: Screen;
}

function explanationText(explanation: JobExplanation, layout: Layout): string {
  // Names of jobs, branches and images are other people's text; colours come after this.
  const job: JobExplanation = JSON.parse(JSON.stringify(explanation), (_, value: unknown) =>
    typeof value === 'string' ? printable(value) : value,
  );
  const { screen, zone } = layout;
  const section = (title: string, text: string): string =>
    text === '' ? '' : `${screen.strong(title)}\n${text}`;
  const lines = (all: readonly string[]): string =>
    all.map((line) => `${wrapped(`  ${line}`, screen.columns, '    ')}\n`).join('');
  const text = explanation.rejectionText?.split('\n').map(printable) ?? [];
  return [
    headText(job, layout),
    section('Rules', rulesText(job.rules, layout)),
    section('Counters', countersText(job, layout)),
    section('Reasons and remedies', lines(helpLines(job, zone))),
    section("Text for the developer (with today's footers)", lines(text)),
    section('Retries', job.retry === undefined ? '' : lines([retryText(job.retry, zone)])),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

const ANSWERED = { ledger: 'the ledger', fallback: "the relay's fallback", unknown: 'an unknown program' };

function headText(explanation: JobExplanation, { zone, screen }: Layout): string {
  const { jobId, job, outcome, decisionId, currency, atDecision: then, now, unchecked } = explanation;
  const word = outcome === 'admitted' ? screen.good(outcome) : screen.bad(outcome);
  const name = job.name === undefined ? '' : ` "${job.name}"`;
  const by = ANSWERED[explanation.answered];
  const uncharged = unchecked === undefined ? '' : `; charged without asking: ${unchecked}`;
  const versions = [then.policyVersion, now?.policyVersion ?? then.policyVersion] as const;
  const policies = versions[0] === versions[1] ? versions[0] : `${versions[0]} then, ${versions[1]} now`;
  const rows = [
    ['project', job.projectPath ?? String(job.projectId ?? 'not recorded')],
    ['pipeline', String(job.pipelineId ?? 'not recorded')],
    ['decided', `${instantText(explanation.decidedAtMs, zone)}, answered by ${by}${uncharged}`],
    ['state', stateText(explanation, zone)],
    ['price then', priceText(then, currency)],
    ['price now', now === undefined ? 'not asked again' : priceText(now, currency)],
    ['policy', policies],
    ['asked again', now === undefined ? 'cannot be: the question was not kept' : nowText(now, screen)],
  ];
  return `${screen.strong(`Job ${jobId}${name}`)}: ${word}, decision ${decisionId}\n${screen.table([{}, {}], rows)}`;
}

function stateText(job: JobExplanation, zone: string): string {
  const { state, flagged, endedAtMs, dueAtMs, durationSeconds } = job;
  const ran = durationSeconds === undefined ? '' : ` after ${durationText(durationSeconds)}`;
  const ended = endedAtMs === undefined ? '' : `, ended ${instantText(endedAtMs, zone)}${ran}`;
  const due = dueAtMs === undefined ? '' : `, looked after at ${instantText(dueAtMs, zone)}`;
  const note = flagged ? '; flagged: it was rejected, or given up, and is charged all the same' : '';
  return `${state}${ended || due}${note}`;
}

const priceText = (terms: ExplainedTerms, currency: string): string =>
  `${amountText(terms.costMicros, 'micros', currency, 'up')} for ${durationText(terms.estimateSeconds)} on ${terms.runnerClass} at ${amountText(terms.microsPerMinute, 'micros', currency)} a minute (prices ${terms.priceVersion})`;

function nowText(now: NonNullable<JobExplanation['now']>, screen: Screen): string {
  const rulesOf = (isEnforced: boolean): string => {
    const reasons = now.reasons.filter(({ mode }) => (mode === 'enforce') === isEnforced);
    return [...new Set(reasons.map(({ rule }) => rule))].join(', ');
  };
  const watching = rulesOf(false);
  const rejected = `${screen.bad('rejected')} by ${rulesOf(true)}${waitText(now)}`;
  const decision = now.outcome === 'admitted' ? screen.good('admitted') : rejected;
  return `would be ${decision}${watching === '' ? '' : `; against it, but only watching: ${watching}`}`;
}

function rulesText(rules: readonly ExplainedRuleRow[], { screen }: Layout): string {
  // If no rule can be evaluated again, skip rules without a result.
  const isAskable = rules.some(({ now }) => now !== undefined);
  const shown = isAskable ? rules : rules.filter(({ atDecision }) => atDecision.length > 0);
  const rows = shown.flatMap(({ id, kind = '', mode = '', atDecision, now, whyNot }) => {
    const then = atDecision.length === 0 ? ['nothing'] : atDecision.map(violationLine);
    const current = now === undefined ? [`not asked: ${whyNot ?? 'unknown'}`] : ruleNowLines(now);
    const lines = [...then.map((text) => ['then', text]), ...current.map((text) => ['now', text])];
    return lines.map((cells, at) => [...(at === 0 ? [`  ${id}`, kind, mode] : ['', '', '']), ...cells]);
  });
  const silent = rules.length - shown.length;
  const rest = silent === 0 ? '' : `  ${silent} rules had nothing against it then.\n`;
  const titles = ['  rule', 'kind', 'mode', {}, 'against the job'];
  return (rows.length === 0 ? '' : screen.table(titles, rows)) + rest;
}

function countersText({ counters, countersHidden, currency }: JobExplanation, { screen }: Layout) {
  const hidden =
    countersHidden === 0 ? '' : `  ${countersHidden} more, of groups whose figures are not yours to see.\n`;
  if (counters.length === 0) return hidden || '  none: no limit is on the way of this job\n';
  const titles = ['  limit', {}, right('this job'), right('used'), right('bound'), right('left'), {}];
  const rows = counters.flatMap((row) => counterRows(row, currency));
  return `${screen.table(titles, rows)}${hidden}`;
}

function counterRows(
  { label, limit, period, unit, atDecision: then, now }: ExplainedCounter,
  currency: string,
): readonly (readonly string[])[] {
  const show = (amount: number | string | undefined): string =>
    typeof amount === 'number' ? amountText(amount, unit, currency) : (amount ?? '');
  // Jobs in flight have no period.
  const name = `  ${label} ${limit}${period === 'now' ? '' : ` ${period}`}`;
  const seen = then?.seen;
  const unseen = then?.checked ? 'had room; not recorded' : 'did not ask';
  const note = seen === undefined ? unseen : `asked ${show(seen.asked)}`;
  const { mode, wait, whenUnreachable } = now;
  const more = [mode, wait && `jobs wait ${wait}`, whenUnreachable && `when unreachable ${whenUnreachable}`];
  const before = [then?.jobHeld ?? '–', seen?.committed, seen?.bound, seen?.left].map(show);
  const after = [then?.jobCounts ?? '–', now.settled + now.held, now.bound ?? 'no limit', now.left].map(show);
  return [
    [name, 'then', ...before, then === undefined ? 'not claimed' : note],
    ['', 'now', ...after, more.filter(Boolean).join(', ')],
  ];
}

function helpLines({ rejection, currency, now }: JobExplanation, zone: string): readonly string[] {
  if (rejection === undefined) return [];
  const { says, others, advice, renewsAtMs, owner, classes } = rejection;
  const reasons = [says, ...others];
  if (now?.outcome === 'admitted')
    return [...reasons, 'It would be admitted if it came now: retry it in GitLab.'];
  const classLines = classes.map(
    ({ runnerClass, tags, costMicros }) =>
      `It would start on ${runnerClass} (tags: ${tags.join(', ')}), for ${amountText(costMicros, 'micros', currency, 'up')}.`,
  );
  const renewal = renewsAtMs ? [`The limit starts again ${instantText(renewsAtMs, zone)}.`] : [];
  const contact = owner ? [`Owner: ${[owner.name, owner.contact].filter(Boolean).join(', ')}`] : [];
  return [...reasons, ...advice, ...classLines, ...renewal, ...contact];
}

function retryText(retry: JobRetry, zone: string): string {
  const { state, groupId, retries, retriesMax, untilMs, newJobId, retriedAtMs, became, why } = retry;
  const consent = `with the consent of group ${groupId}`;
  if (newJobId !== undefined && retriedAtMs !== undefined)
    return `It was retried as job ${newJobId} on ${instantText(retriedAtMs, zone)}: ${RETRY_OUTCOME_TEXTS[became ?? 'unasked']}. That was retry ${retries} of ${retriesMax}, ${consent}.`;
  if (state === 'over') return `It is not retried any more: ${why}.`;
  const sofar = why === undefined ? '' : ` So far: ${why}.`;
  return `It is retried when there is room, ${consent}: at most ${retriesMax} times, until ${instantText(untilMs, zone)}.${sofar}`;
}

export const commands = [explain];
