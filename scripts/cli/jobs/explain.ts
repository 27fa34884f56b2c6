import { waitText } from '../../../functions/answers/job/decision-lines.ts';
import type {
  ExplainedCounter,
  ExplainedRuleRow,
  ExplainedTerms,
  JobExplanation,
  JobRejection,
  JobRetry,
} from '../../../functions/answers/job/model.ts';
import { parseJobReference } from '../../../functions/answers/job/recorded-job.ts';
import { BECAME } from '../../../functions/answers/job/retried.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { amountText, durationText } from '../../../policies/unit-texts.ts';
import { UsageError } from '../../terminal/command.ts';
import { command, print } from '../../terminal/define-command.ts';
import { word } from '../../terminal/flags.ts';
import { type Paint, paintWhen, printable } from '../../terminal/paint.ts';
import { right, table, wrapped } from '../../terminal/table.ts';
import { answeredInProcess } from '../api/api-in-process.ts';
import { withApi } from '../api/open-api.ts';
import { ruleNowLines, violationLine } from '../evaluation/rule-text.ts';
import { LEDGER_FLAGS, type LedgerFlags } from '../ledger-flags.ts';
import { rollupZone } from '../rollup-zone.ts';
import { RULES_FLAGS, type RulesFlags } from '../rules-flags.ts';

const explain = command({
  name: 'explain',
  about: `Explains the decision about a job: for every rule its result then and now, for every counter its numbers then and now, price,
versions and the text the developer read. It only reads: no counter is changed.

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
  flags: { ...LEDGER_FLAGS, ...RULES_FLAGS },
  json: 'the whole explanation as one JSON object',
  examples: ['tollgate explain 4711', 'tollgate explain d-4711-1 --json'],
  exits: {
    0: 'found',
    1: 'the ledger or console does not answer',
    3: 'no such decision, wrong usage or invalid documents',
  },
  run: async ({ flags, words }, io) => {
    const read = parseJobReference(words.job);
    if (!read.ok) throw new UsageError(read.problems.join('; '));
    const explanation = await withApi(withFiles(flags), io, (api) =>
      answeredInProcess(api.jobs[':word'].$get({ param: { word: words.job } })),
    );
    const layout = { zone: rollupZone(io), columns: io.columns, paint: paintWhen(io.colours) };
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
  /** The zone that times are shown in. */
  readonly zone: string;
  readonly columns: number;
  readonly paint: Paint;
}

/** The explanation for people, with a line break at its end. */
function explanationText(explanation: JobExplanation, layout: Layout): string {
  const job = harmless(explanation);
  const { paint, columns, zone } = layout;
  const section = (title: string, text: string): string =>
    text === '' ? '' : `${paint.strong(title)}\n${text}`;
  const lines = (all: readonly string[]): string =>
    all.map((line) => `${wrapped(`  ${line}`, columns, '    ')}\n`).join('');
  const text = explanation.rejectionText?.split('\n').map(printable) ?? [];
  return [
    headText(job, layout),
    section('Rules', rulesText(job.rules, layout)),
    section('Counters', countersText(job, layout)),
    section('What stopped it, and what helps', lines(helpLines(job.rejection, job, layout))),
    section("What the developer read (with today's footers)", lines(text)),
    section('Retries', job.retry === undefined ? '' : lines([retryText(job.retry, zone)])),
    section('Not recorded', lines(job.notRecorded)),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

/** Names of jobs, branches and images are other people's text; colours come after this. */
const harmless = (explanation: JobExplanation): JobExplanation =>
  JSON.parse(JSON.stringify(explanation), (_, value: unknown) =>
    typeof value === 'string' ? printable(value) : value,
  );

function headText(explanation: JobExplanation, { zone, paint, columns }: Layout): string {
  const { jobId, job, outcome, decisionId, currency, atDecision, now, decidedAtMs } = explanation;
  const word = outcome === 'admitted' ? paint.good(outcome) : paint.bad(outcome);
  const name = job.name === undefined ? '' : ` "${job.name}"`;
  const rows = [
    ['project', job.projectPath ?? String(job.projectId ?? 'not recorded')],
    ['pipeline', String(job.pipelineId ?? 'not recorded')],
    ['decided', `${instantText(decidedAtMs, zone)}, answered by ${answeredBy(explanation)}`],
    ['state', stateText(explanation, zone)],
    ['price then', priceText(atDecision, currency)],
    ['price now', now === undefined ? 'not asked again' : priceText(now, currency)],
    ['policy', versionText(atDecision.policyVersion, now?.policyVersion)],
    ['asked again', now === undefined ? 'cannot be: see below' : nowText(now, paint)],
  ];
  return `${paint.strong(`Job ${jobId}${name}`)}: ${word}, decision ${decisionId}\n${table([{}, {}], rows, columns)}`;
}

const ANSWERED: Readonly<Record<JobExplanation['answered'], string>> = {
  ledger: 'the ledger',
  fallback: "the relay's fallback",
  unknown: 'an unknown program',
};

const answeredBy = ({ answered, unchecked }: JobExplanation): string =>
  unchecked === undefined
    ? ANSWERED[answered]
    : `${ANSWERED[answered]}; charged without asking: ${unchecked}`;

function stateText(
  { state, flagged, endedAtMs, dueAtMs, durationSeconds }: JobExplanation,
  zone: string,
): string {
  const ran = durationSeconds === undefined ? '' : ` after ${durationText(durationSeconds)}`;
  const when =
    endedAtMs !== undefined
      ? `, ended ${instantText(endedAtMs, zone)}${ran}`
      : dueAtMs !== undefined
        ? `, looked after at ${instantText(dueAtMs, zone)}`
        : '';
  return `${state}${when}${flagged ? '; flagged: it was rejected, or given up, and is charged all the same' : ''}`;
}

const priceText = (terms: ExplainedTerms, currency: string): string =>
  `${amountText(terms.costMicros, 'micros', currency, 'up')} for ${durationText(terms.estimateSeconds)} on ${terms.runnerClass} at ${amountText(terms.microsPerMinute, 'micros', currency)} a minute (prices ${terms.priceVersion})`;

const versionText = (then: string, now: string | undefined): string =>
  now === undefined || then === now
    ? `${then}${now === undefined ? '' : ', the same as now'}`
    : `${then} then, ${now} now`;

function nowText(now: NonNullable<JobExplanation['now']>, paint: Paint): string {
  const { outcome, reasons } = now;
  const rules = (isRejecting: boolean): string =>
    [
      ...new Set(reasons.flatMap(({ rule, mode }) => ((mode === 'enforce') === isRejecting ? [rule] : []))),
    ].join(', ');
  const watching = rules(false);
  const verdict =
    outcome === 'admitted'
      ? paint.good('admitted')
      : `${paint.bad('rejected')} by ${rules(true)}${waitText(now)}`;
  return `would be ${verdict}${watching === '' ? '' : `; against it, but only watching: ${watching}`}`;
}

function rulesText(rules: readonly ExplainedRuleRow[], { paint, columns }: Layout): string {
  // If no rule can be evaluated again, skip rules without a result.
  const askable = rules.some(({ now }) => now !== undefined);
  const shown = askable ? rules : rules.filter(({ atDecision }) => atDecision.length > 0);
  const rows = shown.flatMap(({ id, kind = '', mode = '', atDecision, now, whyNot }) => {
    const then = atDecision.length === 0 ? ['nothing'] : atDecision.map(violationLine);
    const current = now === undefined ? [`not asked: ${whyNot ?? 'unknown'}`] : ruleNowLines(now);
    return [
      ...then.map((text, index) => [...(index === 0 ? [`  ${id}`, kind, mode] : ['', '', '']), 'then', text]),
      ...current.map((text) => ['', '', '', 'now', text]),
    ];
  });
  const titles = ['  rule', 'kind', 'mode', {}, 'against the job'];
  const silent = rules.length - shown.length;
  const rest =
    silent === 0
      ? ''
      : `  ${silent} ${shown.length > 0 ? 'other ' : ''}rules did not match or had nothing against it then.\n`;
  return (rows.length === 0 ? '' : table(titles, rows, columns, paint.dim)) + rest;
}

function countersText(
  { counters, countersHidden, currency }: JobExplanation,
  { columns, paint }: Layout,
): string {
  const hidden =
    countersHidden === 0 ? '' : `  ${countersHidden} more, of groups whose figures are not yours to see.\n`;
  if (counters.length === 0) return hidden || '  none: no limit is on the way of this job\n';
  const titles = [
    ...['  limit', {}, right('this job'), right('used')],
    ...[right('bound'), right('left'), {}],
  ];
  const rows = counters.flatMap((row) => [thenRow(row, currency), nowRow(row, currency)]);
  return `${table(titles, rows, columns, paint.dim)}${hidden}`;
}

function thenRow(
  { limit, period, label, unit, atDecision }: ExplainedCounter,
  currency: string,
): readonly string[] {
  // Jobs in flight have no period.
  const name = `  ${label} ${limit}${period === 'now' ? '' : ` ${period}`}`;
  if (atDecision === undefined) return [name, 'then', '–', '', '', '', 'not claimed'];
  const show = (amount: number): string => amountText(amount, unit, currency);
  const { seen, jobHeld, checked } = atDecision;
  return seen === undefined
    ? [name, 'then', show(jobHeld), '', '', '', checked ? 'had room; not recorded' : 'did not ask']
    : [
        name,
        'then',
        ...[jobHeld, seen.committed, seen.bound, seen.left].map(show),
        `asked ${show(seen.asked)}`,
      ];
}

function nowRow({ unit, atDecision, now }: ExplainedCounter, currency: string): readonly string[] {
  const show = (amount: number): string => amountText(amount, unit, currency);
  const { settled, held, bound, left, mode, wait, whenUnreachable } = now;
  const more = [mode, wait && `jobs wait ${wait}`, whenUnreachable && `when unreachable ${whenUnreachable}`];
  return [
    ...['', 'now', atDecision === undefined ? '–' : show(atDecision.jobCounts), show(settled + held)],
    bound === undefined ? 'no limit' : bound === 'unlimited' ? bound : show(bound),
    left === undefined ? '' : show(left),
    more.filter(Boolean).join(', '),
  ];
}

function helpLines(
  rejection: JobRejection | undefined,
  { currency, now }: JobExplanation,
  { zone }: Layout,
): readonly string[] {
  if (rejection === undefined) return [];
  const { says, others, advice, renewsAtMs, owner, classes, timeoutSeconds } = rejection;
  if (now?.outcome === 'admitted')
    return [says, ...others, 'It would be admitted if it came now: retry it in GitLab.'];
  return [
    ...[says, ...others, ...advice],
    ...classes.map(
      ({ runnerClass, tags, costMicros }) =>
        `It would start on ${runnerClass} (tags: ${tags.join(', ')}), for ${amountText(costMicros, 'micros', currency, 'up')}.`,
    ),
    ...(timeoutSeconds === undefined
      ? []
      : [`It would start with a timeout of at most ${durationText(timeoutSeconds)}.`]),
    ...(renewsAtMs === undefined ? [] : [`The limit starts again ${instantText(renewsAtMs, zone)}.`]),
    ...(owner === undefined
      ? []
      : [`Owner: ${owner.name}${owner.contact === undefined ? '' : `, ${owner.contact}`}`]),
  ];
}

function retryText(retry: JobRetry, zone: string): string {
  const { state, groupId, retries, retriesMax, untilMs, newJobId, retriedAtMs, became, why } = retry;
  if (newJobId !== undefined && retriedAtMs !== undefined)
    return `It was retried as job ${newJobId} on ${instantText(retriedAtMs, zone)}: ${BECAME[became ?? 'unasked']}. That was retry ${retries} of ${retriesMax}, with the consent of group ${groupId}.`;
  return state === 'over'
    ? `It is not retried any more: ${why}.`
    : `It is retried when there is room, with the consent of group ${groupId}: at most ${retriesMax === 1 ? 'once' : `${retriesMax} times`}, until ${instantText(untilMs, zone)}.${why === undefined ? '' : ` So far: ${why}.`}`;
}

export const commands = [explain];
