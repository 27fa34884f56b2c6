import type { CurrentVerdict } from '../../../functions/answers/job/asked-again.ts';
import type { CounterLine } from '../../../functions/answers/job/counters-then-and-now.ts';
import type { ExplainedRule, Explanation, PricedTerms } from '../../../functions/answers/job/explanation.ts';
import type { JobRetry } from '../../../functions/answers/job/model.ts';
import { BECAME } from '../../../functions/answers/job/retried.ts';
import type { RuleOutcome } from '../../../functions/answers/job/rule-results.ts';
import type { Violation } from '../../../policies/reason.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { reasonLine } from '../../../policies/text/reason-texts.ts';
import { classColumn } from '../../../policies/text/rejection-text.ts';
import { amountText, durationText } from '../../../policies/units/unit-texts.ts';
import { type Paint, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';

/**
 * The explanation for people, with a line break at its end.
 *
 * @param retry - where its group agreed that such jobs are retried.
 * @param zone - in which times are told
 */
export function explanationText(
  told: Explanation,
  retry: JobRetry | undefined,
  zone: string,
  paint: Paint,
  columns: number,
): string {
  const explanation = harmless(told);
  const { rejectionText, notRecorded } = explanation;
  const sections = [
    headText(explanation, zone, paint, columns),
    section('Rules', rulesText(explanation, paint, columns), paint),
    section('Counters', countersText(explanation, columns, paint), paint),
    ...(rejectionText === undefined
      ? []
      : [section("What the developer read (with today's footers)", indented(rejectionText), paint)]),
    ...(retry === undefined ? [] : [section('Retries', `  ${printable(retryText(retry, zone))}\n`, paint)]),
    section('Not recorded', notRecorded.map((line) => `  ${line}\n`).join(''), paint),
  ];
  return sections.join('\n');
}

function retryText(retry: JobRetry, zone: string): string {
  const { state, groupId, retries, retriesMax, untilMs, newJobId, retriedAtMs, became, why } = retry;
  if (newJobId !== undefined && retriedAtMs !== undefined)
    return `It was retried as job ${newJobId} on ${instantText(retriedAtMs, zone)}: ${BECAME[became ?? 'unasked']}. That was retry ${retries} of ${retriesMax}, with the consent of group ${groupId}.`;
  return state === 'over'
    ? `It is not retried any more: ${why}.`
    : `It is retried when there is room, with the consent of group ${groupId}: at most ${retriesMax === 1 ? 'once' : `${retriesMax} times`}, until ${instantText(untilMs, zone)}.${why === undefined ? '' : ` So far: ${why}.`}`;
}

/** Names of jobs, branches and images are other people's text; colours come after this. */
const harmless = (explanation: Explanation): Explanation =>
  JSON.parse(JSON.stringify(explanation), (_, value: unknown) =>
    typeof value === 'string' ? printable(value) : value,
  );

const section = (title: string, text: string, paint: Paint): string => `${paint.strong(title)}\n${text}`;

const indented = (text: string): string =>
  text
    .split('\n')
    .map((line) => `  ${line}\n`)
    .join('');

function headText(explanation: Explanation, zone: string, paint: Paint, columns: number): string {
  const { jobId, job, outcome, decisionId, currency, atDecision, now } = explanation;
  const word = outcome === 'admitted' ? paint.good(outcome) : paint.bad(outcome);
  const title = `${paint.strong(`Job ${jobId}${job.name === undefined ? '' : ` "${job.name}"`}`)}: ${word}, decision ${decisionId}\n`;
  const rows = [
    ['project', job.projectPath ?? idText(job.projectId)],
    ['pipeline', idText(job.pipelineId)],
    ['decided', `${instantText(explanation.decidedAtMs, zone)}, answered by ${answeredBy(explanation)}`],
    ['state', stateText(explanation, zone)],
    ['price then', priceText(atDecision, currency)],
    ['price now', now === undefined ? 'not asked again' : priceText(now, currency)],
    ['policy', versionText(atDecision.policyVersion, explanation.now?.policyVersion)],
    ['asked again', now === undefined ? 'cannot be: see below' : nowText(now, paint)],
  ];
  return `${title}${table([{}, {}], rows, columns)}`;
}

const idText = (id: number | undefined): string => (id === undefined ? 'not recorded' : String(id));

function answeredBy({ answered, unchecked }: Explanation): string {
  const who =
    answered === 'ledger'
      ? 'the ledger'
      : answered === 'fallback'
        ? "the relay's fallback"
        : 'nobody knows whom';
  return unchecked === undefined ? who : `${who}; charged without asking: ${unchecked}`;
}

function stateText(
  { state, flagged, endedAtMs, dueAtMs, durationSeconds }: Explanation,
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

const priceText = (terms: PricedTerms, currency: string): string =>
  `${amountText(terms.costMicros, 'micros', currency, 'up')} for ${durationText(terms.estimateSeconds)} on ${classColumn(terms)} at ${amountText(terms.microsPerMinute, 'micros', currency)} a minute (prices ${terms.priceVersion})`;

const versionText = (then: string, now: string | undefined): string =>
  now === undefined || then === now
    ? `${then}${now === undefined ? '' : ', the same as now'}`
    : `${then} then, ${now} now`;

function nowText({ outcome, violations, shadow }: CurrentVerdict, paint: Paint): string {
  const rejecting = [...new Set(violations.map(({ rule }) => rule))].join(', ');
  const watching = [...new Set(shadow.filter(({ exempt }) => !exempt).map(({ rule }) => rule))].join(', ');
  const verdict =
    outcome === 'admitted' ? paint.good('admitted') : `${paint.bad('rejected')} by ${rejecting}`;
  return `would be ${verdict}${watching === '' ? '' : `; against it, but only watching: ${watching}`}`;
}

function rulesText({ rules, currency }: Explanation, paint: Paint, columns: number): string {
  // Where no rule can be asked again, those that said nothing would only say it twice.
  const askable = rules.some(({ now }) => now !== undefined);
  const told = askable ? rules : rules.filter(({ atDecision }) => atDecision.length > 0);
  const rows = told.flatMap((rule) => {
    const then =
      rule.atDecision.length === 0 ? ['nothing'] : rule.atDecision.map((each) => against(each, currency));
    const lines: string[][] = then.map((text, index) => [
      index === 0 ? `  ${rule.id}` : '',
      index === 0 ? (rule.kind ?? '') : '',
      index === 0 ? (rule.mode ?? '') : '',
      'then',
      text,
    ]);
    return [...lines, ...nowLines(rule, currency).map((text) => ['', '', '', 'now', text])];
  });
  const columnsOf = [
    { title: '  rule' },
    { title: 'kind' },
    { title: 'mode' },
    {},
    { title: 'against the job' },
  ];
  const silent = rules.length - told.length;
  const rest =
    silent === 0
      ? ''
      : `  ${silent} ${told.length > 0 ? 'other ' : ''}rules did not match or had nothing against it then.\n`;
  return (rows.length === 0 ? '' : table(columnsOf, rows, columns, paint.dim)) + rest;
}

function nowLines(rule: ExplainedRule, currency: string): readonly string[] {
  if (rule.now === undefined) return [`not asked: ${rule.whyNot ?? 'unknown'}`];
  const { outcome, violations } = rule.now;
  return violations.length > 0 ? violations.map((each) => against(each, currency)) : [outcomeText(outcome)];
}

const against = ({ mode, reason, exempt }: Violation, currency: string): string =>
  `[${reason.code}] ${reasonLine(reason, currency)}${mode === 'enforce' ? '' : ` (${exempt ? 'exempt' : mode})`}`;

function outcomeText(outcome: RuleOutcome): string {
  switch (outcome.outcome) {
    case 'off':
      return 'off';
    case 'not matched':
      return `does not match: ${outcome.condition}${outcome.value === undefined ? '' : ` is ${outcome.value}`}`;
    case 'matched':
      return 'nothing';
    case 'missing':
      return 'cannot be told: a field is missing';
    case 'exempt':
      return `exempt: ${outcome.reason}`;
    case 'failed':
      return `failed: ${outcome.cause}`;
  }
}

function countersText({ counters, currency }: Explanation, columns: number, paint: Paint): string {
  if (counters.length === 0) return '  none: no limit is on the way of this job\n';
  const rows = counters.flatMap((line) => [thenRow(line, currency), nowRow(line, currency)]);
  const right = { align: 'right' } as const;
  const titles = [
    { title: '  limit' },
    {},
    { title: 'this job', ...right },
    { title: 'settled', ...right },
    { title: 'held', ...right },
    { title: 'bound', ...right },
    { title: 'left', ...right },
    {},
  ];
  return table(titles, rows, columns, paint.dim);
}

function thenRow({ counter, label, unit, atDecision }: CounterLine, currency: string): readonly string[] {
  const { limit, period } = counter;
  // What is held at once is of no period.
  const name = `  ${label} ${limit}${period === 'now' ? '' : ` ${period}`}`;
  if (atDecision === undefined) return [name, 'then', '–', '', '', '', '', 'not claimed'];
  const show = (amount: number): string => amountText(amount, unit, currency);
  const { seen, jobHeld } = atDecision;
  const note = atDecision.checked ? '' : 'did not ask';
  if (seen === undefined)
    return [name, 'then', show(jobHeld), '', '', '', '', note || 'had room; not recorded'];
  const { settled, held, bound, left, asked } = seen;
  const part = (amount: number | undefined): string => (amount === undefined ? '' : show(amount));
  return [
    name,
    'then',
    show(jobHeld),
    part(settled),
    part(held),
    show(bound),
    show(left),
    `asked ${show(asked)}`,
  ];
}

function nowRow({ unit, atDecision, now }: CounterLine, currency: string): readonly string[] {
  const show = (amount: number): string => amountText(amount, unit, currency);
  const { settled, held, bound, left, mode = '', wait, whenUnreachable } = now;
  const more = [wait && `jobs wait ${wait}`, whenUnreachable && `when unreachable ${whenUnreachable}`];
  return [
    '',
    'now',
    atDecision === undefined ? '–' : show(atDecision.jobCounts),
    show(settled),
    show(held),
    bound === undefined ? 'no limit' : bound === 'unlimited' ? bound : show(bound),
    left === undefined ? '' : show(left),
    [mode, ...more].filter((part) => part !== undefined).join(', '),
  ];
}
