import stringWidth from 'string-width';
import type { CheckedPipeline } from '../../../functions/answers/job/model.ts';
import { classColumn } from '../../../policies/text/rejection-text.ts';
import { amountText, bareAmountText } from '../../../policies/unit-texts.ts';
import { type Paint, paintWhen, printable } from '../../terminal/paint.ts';
import { right, table, wrapped } from '../../terminal/table.ts';
import { askText, ruleTable } from '../evaluation/rule-text.ts';
import type { JobCheck } from './job-check.ts';
import {
  conditionsText,
  conditionText,
  countOf,
  firstOf,
  isWhole,
  type PipelineCheck,
  type PipelineFinding,
  rejecting,
  rejectingNow,
  unreadBy,
  untelling,
  watching,
} from './pipeline-check.ts';

/** A part of the check, printed as text and as Markdown. Its title is ours, its entries quote files and rules. */
interface Section {
  readonly title: string;
  readonly entries: readonly SectionEntry[];
}

type SectionEntry = readonly [text: string, ...below: string[]];

function sectionsOf(
  check: PipelineCheck,
  before: PipelineCheck | undefined,
  now: CheckedPipeline | undefined,
): readonly Section[] {
  const { jobs, currency, pipeline } = check;
  const { isCreated, workflowDependsOn, leftOut, bridges } = pipeline;
  const lines = (all: readonly string[]): readonly SectionEntry[] => all.map((line) => [line]);
  const found = (findings: readonly PipelineFinding[]): readonly SectionEntry[] =>
    findings.map((each) => findingEntry(each, jobs.length));
  const created =
    isCreated === 'no'
      ? 'workflow:rules: GitLab creates no pipeline for this ref and source.'
      : `workflow:rules: whether GitLab creates a pipeline depends on ${conditionsText(workflowDependsOn)}.`;
  const depending = jobs.filter(({ job }) => job.dependsOn !== undefined);
  const others = [...new Set(leftOut.map(({ definedAs }) => definedAs))];
  const run = countOf(check, 'rejected') > 0 ? 'Without the rejected jobs one run' : 'One run';
  const unread = now !== undefined || check.limits.length === 0 ? '' : LEFT_UNREAD;
  const sections: readonly Section[] = [
    { title: 'Whether the jobs run', entries: isCreated === 'yes' ? [] : [[created]] },
    { title: 'Would be rejected', entries: found(rejecting(jobs, currency)) },
    { title: 'Would be rejected now, as the limits stand', entries: found(rejectingNow(check, now)) },
    { title: 'Cannot tell', entries: found(untelling(jobs, currency)) },
    { title: 'Only watched, the job runs', entries: found(watching(jobs, currency)) },
    { title: 'Costs that change', entries: before === undefined ? [] : lines(costChanges(check, before)) },
    { title: `${run} asks of the limits, as estimated${unread}`, entries: check.limits.map(askEntry(check)) },
    { title: 'Left now', entries: now === undefined ? [] : leftEntries(now, isWhole(check)) },
    {
      title: `Depends on rules, which the files and flags do not decide (${depending.length} jobs)`,
      entries: lines(
        byJobs(depending, ({ job }) => (job.dependsOn ?? []).map(conditionText)).map(
          ([condition, names]) => `${condition}: ${names}`,
        ),
      ),
    },
    {
      title: `Do not run: their rules leave them out (${leftOut.length} ${leftOut.length === 1 ? 'job' : 'jobs'})`,
      entries: others.length === 0 ? [] : [[firstOf(others, NAMES_SHOWN).join(', ')]],
    },
    {
      title: 'Not read: what rests on it is never "ok"',
      entries: lines([
        ...pipeline.notRead,
        ...byJobs(jobs, ({ job }) => unreadBy(job).filter((what) => !pipeline.notRead.includes(what))).map(
          ([what, names]) => `${names}: ${what}`,
        ),
      ]),
    },
    {
      title: 'Other pipelines started: their own projects are asked about their jobs',
      entries: lines(bridges),
    },
    { title: 'May differ in GitLab', entries: lines(pipeline.problems) },
  ];
  return sections.filter(({ entries }) => entries.length > 0);
}

const LEFT_UNREAD = '; what is left of them needs --console or --ledger';
const NAMES_SHOWN = 24;
const JOBS_SHOWN = 6;

function byJobs(
  checks: readonly JobCheck[],
  thingsOf: (check: JobCheck) => readonly string[],
): readonly (readonly [thing: string, names: string])[] {
  const all = checks.flatMap((check) =>
    thingsOf(check).map((thing) => ({ thing, name: check.job.definedAs })),
  );
  return [...Map.groupBy(all, ({ thing }) => thing)]
    .map(([thing, own]) => ({ thing, names: [...new Set(own.map(({ name }) => name))] }))
    .toSorted((one, other) => other.names.length - one.names.length)
    .map(({ thing, names }) => [thing, firstOf(names, JOBS_SHOWN).join(', ')]);
}

function findingEntry(
  { rule, mode, text, message, jobs }: PipelineFinding,
  jobsOfPipeline: number,
): SectionEntry {
  const entries = [...Map.groupBy(jobs, ({ job }) => job.definedAs)].map(([name, own]) => {
    const place = own[0]?.job.place;
    const shown = own.length === 1 ? (own[0]?.job.name ?? name) : `${name} (${own.length} jobs)`;
    return place === undefined ? shown : `${shown}  ${place.file}:${place.line}`;
  });
  const isEvery = jobs.length === jobsOfPipeline && jobs.length > 1;
  return [
    `${mode === 'enforce' ? rule : `${rule} (${mode})`}: ${text}`,
    ...(message === undefined ? [] : [message]),
    ...(isEvery ? ['every job'] : firstOf(entries, JOBS_SHOWN)),
  ];
}

function costChanges(check: PipelineCheck, before: PipelineCheck): readonly string[] {
  const [then, now] = [before, check].map(({ jobs }) => {
    const costs = new Map<string, number>();
    for (const { job, terms } of jobs)
      costs.set(job.definedAs, (costs.get(job.definedAs) ?? 0) + terms.costMicros);
    return costs;
  });
  const money = (micros: number): string => amountText(micros, 'micros', check.currency, 'up');
  return [...new Set([...(now?.keys() ?? []), ...(then?.keys() ?? [])])]
    .map((name) => ({ name, from: then?.get(name), to: now?.get(name) }))
    .filter(({ from, to }) => from !== to)
    .toSorted((one, other) => changeMicros(other) - changeMicros(one))
    .map(({ name, from, to }) => {
      if (from === undefined) return `${name}: new, ${money(to ?? 0)}`;
      return to === undefined
        ? `${name}: gone, was ${money(from)}`
        : `${name}: ${money(from)} → ${money(to)}`;
    });
}

const changeMicros = ({ from = 0, to = 0 }: { from?: number | undefined; to?: number | undefined }): number =>
  Math.abs(to - from);

const askEntry =
  ({ currency }: PipelineCheck) =>
  (ask: PipelineCheck['limits'][number]): SectionEntry => {
    const text = `${ask.limit} of ${ask.subjectLabel}: ${askText(ask, currency)}${ask.perStage ? ', in the largest stage' : ''}`;
    return ask.exceeds ? [text, 'more than the whole limit: some jobs would be rejected'] : [text];
  };

/** Amounts that the counters of a console or ledger leave. @param whole - everything was read that the pipeline rests on. */
function leftEntries(
  { limits, limitsHidden, currency }: CheckedPipeline,
  whole: boolean,
): readonly SectionEntry[] {
  const entries = limits.map(
    ({ limit, label, asked, left, amount, unit, periodLabel, mode, fits }): SectionEntry => {
      const rest = `${bareAmountText(Math.max(0, left), unit, 'down')} of ${amountText(amount, unit, currency)}`;
      const during = periodLabel === undefined ? '' : ` for ${periodLabel}`;
      const watching = mode === 'enforce' ? '' : ` (${mode})`;
      const text = `${limit} of ${label}: asks ${bareAmountText(asked, unit, 'up')}, left ${rest}${during}${watching}`;
      return fits ? [text] : [text, 'more is asked than is left'];
    },
  );
  const hidden = `${limitsHidden} more ${limitsHidden === 1 ? 'limit' : 'limits'} whose figures are not told here`;
  return [
    ...entries,
    ...(limitsHidden === 0 ? [] : [[hidden] as const]),
    ...(whole ? [] : [['Jobs and values that were not read may ask for more.'] as const]),
  ];
}

export function leftSection(
  now: CheckedPipeline,
  whole: boolean,
  { columns, paint }: { readonly columns: number; readonly paint: Paint },
): string {
  const entries = leftEntries(now, whole);
  return entries.length === 0 ? '' : entriesText('Left now', entries, columns, paint);
}

interface Layout {
  readonly columns: number;
  readonly paint: Paint;
  readonly verbose: boolean;
}

export function checkText(
  check: PipelineCheck,
  before: PipelineCheck | undefined,
  { columns, paint, verbose }: Layout,
  now?: CheckedPipeline,
): string {
  const { jobs, currency } = check;
  const columnsOf = ['job', 'class', right('cost'), 'verdict', 'rules'];
  const parts = [
    ...(jobs.length === 0
      ? []
      : [table(columnsOf, jobRows(jobs, currency, columns, paint), columns, paint.strong)]),
    ...sectionsOf(check, before, now).map(({ title, entries }) =>
      entriesText(title, entries, columns, paint),
    ),
    ...(verbose
      ? jobs.map(
          ({ job, results }) =>
            `${paint.strong(printable(job.name))}\n${ruleTable(results, currency, columns, paint)}`,
        )
      : []),
    `${summaryText(check, before, now, paint)}\n`,
  ];
  return parts.join('\n');
}

function entriesText(title: string, entries: readonly SectionEntry[], columns: number, paint: Paint): string {
  const line = (text: string, indent: number): string =>
    `${wrapped(`${' '.repeat(indent)}${printable(text)}`, columns, ' '.repeat(indent + 2))}\n`;
  const texts = entries.map(([text, ...below]) =>
    [line(text, 2), ...below.map((each) => line(each, 6))].join(''),
  );
  return `${paint.strong(wrapped(title, columns, '  '))}\n${texts.join('')}`;
}

const ENTRIES_SHOWN = 20;
const CODE_COLUMNS_MAX = 400;

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
  now?: CheckedPipeline,
): string {
  const sections = sectionsOf(check, before, now).map(({ title, entries }) => {
    const items = entries.map(([text, ...below]) =>
      [`- ${code(text)}`, ...below.map((each) => `  - ${code(each)}`)].join('\n'),
    );
    const more = items.length - ENTRIES_SHOWN;
    const rest = more > 0 ? [`- and ${more} more`] : [];
    return [`**${title}**`, '', ...items.slice(0, ENTRIES_SHOWN), ...rest].join('\n');
  });
  return `${[`### Tollgate: ${summaryText(check, before, now, paintWhen(false))}`, ...sections].join('\n\n')}\n`;
}

function code(text: string): string {
  const line = printable(text).replaceAll(/\s+/g, ' ').replaceAll('`', "'").trim();
  return `\`${shortenedName(line, CODE_COLUMNS_MAX)}\``;
}

function summaryText(
  check: PipelineCheck,
  before: PipelineCheck | undefined,
  now: CheckedPipeline | undefined,
  paint: Paint,
): string {
  const { jobs, currency } = check;
  const cost = ({ costMicros }: PipelineCheck): string => amountText(costMicros, 'micros', currency, 'up');
  const rejected = countOf(check, 'rejected');
  const late = new Set(rejectingNow(check, now).flatMap((finding) => finding.jobs)).size;
  const unsure = countOf(check, 'not sure');
  const depends = jobs.filter(({ job }) => job.dependsOn !== undefined).length;
  const none = isWhole(check)
    ? paint.good('none would be rejected')
    : paint.warn('none is rejected by what was read');
  return [
    `${jobs.length} ${jobs.length === 1 ? 'job' : 'jobs'}, about ${cost(check)} a run`,
    before && `before about ${cost(before)}`,
    rejected > 0 ? paint.bad(`${rejected} would be rejected`) : none,
    late > 0 && paint.bad(`${late} would be rejected now`),
    unsure > 0 && paint.warn(`${unsure} not sure`),
    unsure === 0 && !isWhole(check) && paint.warn('not sure about what was not read'),
    depends > 0 && paint.warn(`${depends} ${depends === 1 ? 'depends' : 'depend'} on rules`),
  ]
    .filter((part) => typeof part === 'string')
    .join('; ');
}

const NAME_COLUMNS_MIN = 28;

function jobRows(
  checks: readonly JobCheck[],
  currency: string,
  columns: number,
  paint: Paint,
): readonly (readonly string[])[] {
  const alike = ({ job, terms, verdict, ...check }: JobCheck): string =>
    JSON.stringify([job.definedAs, classColumn(terms), terms.costMicros, verdict, whyOf({ job, ...check })]);
  return [...Map.groupBy(checks, alike).values()].flatMap(([first, ...more]) => {
    if (first === undefined) return [];
    const { job, terms, verdict } = first;
    const count = 1 + more.length;
    const name = printable(count === 1 ? job.name : `${job.definedAs} (${count} jobs)`);
    return [
      [
        shortenedName(name, Math.max(NAME_COLUMNS_MIN, Math.floor(columns / 3))),
        printable(classColumn(terms)),
        amountText(terms.costMicros * count, 'micros', currency, 'up'),
        paint[verdict === 'rejected' ? 'bad' : verdict === 'ok' ? 'good' : 'warn'](verdict),
        printable(whyOf(first)),
      ],
    ];
  });
}

function whyOf({
  job,
  rejects,
  untold,
  watched,
}: Pick<JobCheck, 'job' | 'rejects' | 'untold' | 'watched'>): string {
  const rules = (list: readonly { readonly rule: string; readonly mode: string }[], sign = '') =>
    list.map(({ rule, mode }) => `${mode === 'enforce' ? rule : `${rule} (${mode})`}${sign}`);
  const why = [...rules(rejects), ...rules(untold, '?'), ...rules(watched)];
  if (job.dependsOn !== undefined) why.push('depends on rules');
  if (unreadBy(job).length > 0) why.push('not read');
  return [...new Set(why)].join(', ');
}

/** Shortens the middle, because the end distinguishes jobs of a matrix. */
function shortenedName(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text;
  const letters = [...text];
  const tail = Math.floor((columns - 1) / 2);
  return `${letters.slice(0, columns - 1 - tail).join('')}…${letters.slice(letters.length - tail).join('')}`;
}
