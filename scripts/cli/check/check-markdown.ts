import { amountText } from '../../../policies/unit-texts.ts';
import { printable } from '../../terminal/paint.ts';
import { askText } from '../evaluation/rule-text.ts';
import { shortenedName } from './check-text.ts';
import {
  asksAndLeftText,
  hiddenText,
  type LiveCheck,
  rejectedNow,
  rejectingNow,
  UNREAD_ASKS,
} from './live-check.ts';
import {
  countOf,
  firstOf,
  isWhole,
  NOT_READ,
  type PipelineCheck,
  type PipelineFinding,
  rejecting,
  resultOf,
  unreadRows,
  untelling,
} from './pipeline-check.ts';

const FINDINGS_SHOWN = 20;
const JOBS_SHOWN = 6;
const CHANGES_SHOWN = 20;
const LIMITS_SHOWN = 20;
const NOT_READ_SHOWN = 20;
const TEXT_COLUMNS_MAX = 400;

/**
 * The check for a merge request. Texts of files and rules are in code spans on one line, so that GitLab does
 * not read quick actions, mentions or tables.
 *
 * @param before - the target branch's pipeline.
 * @param now - the decisions of a console or ledger.
 */
export function checkMarkdown(
  check: PipelineCheck,
  before: PipelineCheck | undefined,
  now?: LiveCheck,
): string {
  const { jobs, currency } = check;
  const parts = [
    `### Tollgate: ${costLine(check, before)}`,
    totalsTable(check, before, now),
    listed('Would be rejected', findingLines(rejecting(jobs, currency)), FINDINGS_SHOWN),
    listed(
      'Would be rejected now, as the limits stand',
      findingLines(rejectingNow(check, now)),
      FINDINGS_SHOWN,
    ),
    ...(now === undefined ? [] : [leftPart(now, isWhole(check))]),
    listed('Cannot tell', findingLines(untelling(jobs, currency)), FINDINGS_SHOWN),
    ...(before === undefined ? [] : [listed('Costs that change', changeLines(check, before), CHANGES_SHOWN)]),
    listed('One run asks of the limits, as estimated', limitLines(check), LIMITS_SHOWN),
    listed(NOT_READ, notReadLines(check), NOT_READ_SHOWN),
    listed('May differ in GitLab', check.pipeline.problems.map(code), 10),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function costLine({ costMicros, currency }: PipelineCheck, before: PipelineCheck | undefined): string {
  const now = `about ${money(costMicros, currency)} a run`;
  if (before === undefined) return now;
  const more = costMicros - before.costMicros;
  if (more === 0) return `${now}, as before`;
  return `${now}, ${money(Math.abs(more), currency)} ${more > 0 ? 'more' : 'less'} than before`;
}

function totalsTable(check: PipelineCheck, before: PipelineCheck | undefined, now?: LiveCheck): string {
  const both = before === undefined ? [check] : [check, before];
  const row = (title: string, text: (each: PipelineCheck) => string | number): string =>
    `| ${[title, ...both.map(text)].join(' | ')} |`;
  return [
    before === undefined ? '| | now |' : '| | now | before |',
    before === undefined ? '|---|--:|' : '|---|--:|--:|',
    row('Result', resultOf),
    row('Cost of a run', ({ costMicros, currency }) => money(costMicros, currency)),
    row('Jobs', ({ jobs }) => jobs.length),
    row('Would be rejected', (each) => countOf(each, 'rejected')),
    ...(now === undefined
      ? []
      : [
          row('Would be rejected now, by what is left', (each) =>
            each === check ? rejectedNow(check, now) : '',
          ),
        ]),
    row('Not sure', (each) => countOf(each, 'not sure')),
    row('Depend on rules', ({ jobs }) => jobs.filter(({ job }) => job.dependsOn !== undefined).length),
  ].join('\n');
}

/** `` `a`, `b` and 3 more``. */
function namesText(names: readonly string[]): string {
  const rest = names.length - JOBS_SHOWN;
  return `${names.slice(0, JOBS_SHOWN).map(code).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

const findingLines = (findings: readonly PipelineFinding[]): readonly string[] =>
  findings.map(({ rule, text, message, jobs, everyJob }) => {
    const isEvery = everyJob && jobs.length > 1;
    const names = isEvery ? 'every job' : namesText([...new Set(jobs.map(({ job }) => job.definedAs))]);
    return `${code(rule)}: ${code(text)} (${names})${message === undefined ? '' : `: ${code(message)}`}`;
  });

/** Cost of an entry's jobs, if it changed; largest change first. */
function changeLines(check: PipelineCheck, before: PipelineCheck): readonly string[] {
  const now = costByEntry(check);
  const then = costByEntry(before);
  return [...new Set([...now.keys(), ...then.keys()])]
    .map((name) => ({ name, from: then.get(name), to: now.get(name) }))
    .filter(({ from, to }) => from !== to)
    .toSorted((a, b) => changeMicros(b) - changeMicros(a))
    .map(({ name, from, to }) => {
      const texts = [from, to].map((each) => (each === undefined ? undefined : money(each, check.currency)));
      const [was, is] = texts;
      if (was === undefined) return `${code(name)}: new, ${is}`;
      return is === undefined ? `${code(name)}: gone, was ${was}` : `${code(name)}: ${was} → ${is}`;
    });
}

const changeMicros = ({ from = 0, to = 0 }: { from?: number | undefined; to?: number | undefined }): number =>
  Math.abs(to - from);

function costByEntry({ jobs }: PipelineCheck): ReadonlyMap<string, number> {
  const costs = new Map<string, number>();
  for (const { job, terms } of jobs)
    costs.set(job.definedAs, (costs.get(job.definedAs) ?? 0) + terms.costMicros);
  return costs;
}

function leftPart(now: LiveCheck, whole: boolean): string {
  const lines = now.limits.map((row) => {
    const what = `${code(row.limit)} of ${code(row.label)}: ${code(asksAndLeftText(row, now.currency))}`;
    return row.fits ? what : `${what}, **more than is left**`;
  });
  const hidden = hiddenText(now);
  const all = listed(`Left now, in ${code(now.place.path)}`, lines, LIMITS_SHOWN);
  return [all, hidden, whole ? '' : UNREAD_ASKS].filter((part) => part !== '').join('\n\n');
}

const limitLines = ({ limits, currency }: PipelineCheck): readonly string[] =>
  limits.map((ask) => {
    const what = `${code(ask.limit)} of ${code(ask.subjectLabel)}: ${code(askText(ask, currency))}`;
    return ask.exceeds ? `${what}, **more than the whole limit**` : what;
  });

const notReadLines = (check: PipelineCheck): readonly string[] => [
  ...check.pipeline.notRead.map(code),
  ...unreadRows(check).map(({ what, jobs }) => `${namesText(jobs)}: ${code(what)}`),
];

function listed(title: string, lines: readonly string[], shownMax: number): string {
  if (lines.length === 0) return '';
  return [`**${title}**`, '', ...firstOf(lines, shownMax).map((line) => `- ${line}`)].join('\n');
}

const money = (micros: number, currency: string): string => amountText(micros, 'micros', currency, 'up');

/** Untrusted text. */
function code(text: string): string {
  const line = printable(text).replaceAll(/\s+/g, ' ').replaceAll('`', "'").trim();
  return `\`${shortenedName(line, TEXT_COLUMNS_MAX)}\``;
}
