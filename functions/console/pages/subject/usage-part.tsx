import { DAY_MS } from '../../../../policies/limits/calendar.ts';
import { durationText } from '../../../../policies/unit-texts.ts';
import type { BurnUpChart, Rejections, SubjectView, UsageView } from '../../../answers/groups/model.ts';
import { dayText } from '../../../answers/reading/usage-days.ts';
import type { LimitRow } from '../../../answers/status/model.ts';
import { forecastText } from '../../../answers/status/texts.ts';
import {
  bare,
  dayNumberOf,
  daySpan,
  distance,
  forecastSentence,
  type PageFormat,
  pageAmount,
  pageCount,
  roundTicks,
  shortDayLabel,
  shortInstant,
} from '../parts/amounts.tsx';
import { Card, Columns, type Markup, outside, subjectLink, Table } from '../parts/layout.tsx';

/** Use by user and class. */
export function usagePart({ usage, subject }: SubjectView, telling: PageFormat): Markup {
  const { topProjects, topJobs, runnerClasses, otherProjectsMicros, otherClassesMicros } = usage;
  const together = usage.settledMicros + usage.heldMicros;
  return (
    <>
      <div class="two">
        <Card id="projects" title="Costliest projects">
          {topProjects.length === 0 ? (
            <p class="soft">
              {together === 0
                ? 'No project has cost anything in these days.'
                : 'Which projects a runner class was used by is not kept.'}
            </p>
          ) : (
            <table>
              <caption class="hidden">Costliest projects</caption>
              <Columns of={['Project', [telling.currency, 'n']]} />
              <tbody>
                {topProjects.map(({ projectId, path, micros }) => (
                  <tr>
                    <th scope="row" class="path">
                      <a href={`/projects/${projectId}`}>{path}</a>
                    </th>
                    <td class="n">{bare(micros, 'micros')}</td>
                  </tr>
                ))}
                {otherRow(otherProjectsMicros, otherProjects(usage))}
              </tbody>
              {togetherRow(together)}
            </table>
          )}
        </Card>
        <Card id="jobs" title="Longest jobs">
          {topJobs.length === 0 ? (
            <p class="soft">No job is remembered yet.</p>
          ) : (
            <table>
              <caption class="hidden">Jobs that usually run longest</caption>
              <Columns of={['Job', ['Usually', 'n'], ['Runs', 'n']]} />
              <tbody>
                {topJobs.map(({ path, job, runs, usualSeconds }) => (
                  <tr>
                    <th scope="row" class="path">
                      {job}
                      <small class="soft">{path}</small>
                    </th>
                    <td class="n">{durationText(usualSeconds)}</td>
                    <td class="n">{runs}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </Card>
      </div>
      {runnerClasses.length > 0 && (
        <Card id="classes" title="Runner classes">
          <table>
            <caption class="hidden">Use by runner class</caption>
            <Columns of={['Class', [telling.currency, 'n'], ['Ran', 'n'], ['Jobs', 'n']]} />
            <tbody>
              {runnerClasses.map(({ name, micros, seconds, jobs }) => (
                <tr>
                  <th scope="row">{classLink(name, subject)}</th>
                  <td class="n">{bare(micros, 'micros')}</td>
                  <td class="n">{durationText(seconds)}</td>
                  <td class="n">{jobs.toLocaleString('en-US')}</td>
                </tr>
              ))}
              {otherRow(otherClassesMicros, otherClasses(subject), 2)}
            </tbody>
            {togetherRow(together, 2)}
          </table>
        </Card>
      )}
    </>
  );
}

/** Pages of classes are of the whole GitLab, and there is none of a class the policy has no more. */
export const classLink = (name: string, subject: string): Markup | string =>
  subject === 'instance' ? subjectLink(`runner-class/${name}`, name) : name;

/** Classes of groups and projects are computed at night. */
export const otherClasses = (subject: string): string =>
  subject === 'instance' ? 'No class' : 'No class, or not yet known';

/** The rest of a table, so that rows add up. @param empty - cells after the amount */
const otherRow = (micros: number, label: string, empty = 0): Markup | '' =>
  micros === 0 ? (
    ''
  ) : (
    <tr>
      <th scope="row" class="soft">
        {label}
      </th>
      <td class="n">{bare(micros, 'micros')}</td>
      {emptyCells(empty)}
    </tr>
  );

const togetherRow = (micros: number, empty = 0): Markup => (
  <tfoot>
    <tr>
      <th scope="row">
        Together <small class="soft">spent and held</small>
      </th>
      <td class="n">{bare(micros, 'micros')}</td>
      {emptyCells(empty)}
    </tr>
  </tfoot>
);

const emptyCells = (count: number): Markup[] => Array.from({ length: count }, () => <td />);

const otherProjects = ({ fromDay, topFromDay }: UsageView): string =>
  fromDay === topFromDay ? 'Other projects' : `Other projects, and days before ${shortDayLabel(topFromDay)}`;

export const usageSentence = (usage: UsageView, telling: PageFormat): Markup => (
  <>
    {daySpan(usage)}: {pageCount(usage.jobs, 'job')}, {pageAmount(usage.settledMicros, 'micros', telling)}{' '}
    spent, {pageAmount(usage.heldMicros, 'micros', telling)} held, {durationText(usage.seconds)} run;{' '}
    {pageCount(usage.rejected, 'job')} rejected
    {usage.ranRejected > 0 && (
      <>
        , <span class="warn-text">{usage.ranRejected.toLocaleString('en-US')} of them ran all the same</span>
      </>
    )}
    {usage.unmetered + usage.bypass > 0 && (
      <>
        ,{' '}
        <span class="warn-text">
          {(usage.unmetered + usage.bypass).toLocaleString('en-US')} ran without being asked about
        </span>
      </>
    )}
    {usage.exempt > 0 && <>, {usage.exempt.toLocaleString('en-US')} exempt</>}.
  </>
);

/** Rejected jobs with reasons. */
export function rejectionsPart({ byRule, watchedByRule, latest }: Rejections, telling: PageFormat): Markup {
  if (byRule.length + watchedByRule.length + latest.length === 0)
    return <p class="soft">No job was rejected in these days.</p>;
  return (
    <>
      {byRule.length > 0 && <p>Rejected, by rule: {ruleCounts(byRule)}.</p>}
      {watchedByRule.length > 0 && (
        <p>Would have been rejected, by rules that only watch: {ruleCounts(watchedByRule)}.</p>
      )}
      {latest.length > 0 && (
        <Table label="Rejected jobs" caption="The latest rejected jobs" columns={['Job', 'When', 'Why']}>
          <tbody>
            {latest.map((job) => (
              <tr>
                <th scope="row" class="path job">
                  <a href={`/jobs/${job.decisionId}`}>{job.jobName ?? `job ${job.jobId}`}</a>
                  <small class="soft">
                    {job.projectPath}
                    {job.url !== undefined && <> · {outside(job.url, 'in GitLab')}</>}
                  </small>
                </th>
                <td>
                  {shortInstant(job.atMs, telling)}
                  <small class="soft"> {distance(job.atMs, telling.nowMs)}</small>
                </td>
                <td class="full">
                  {job.reasons.map(({ code, text }) => (
                    <div>
                      <code>{code}</code> {text}
                    </div>
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </>
  );
}

const ruleCounts = (rules: Rejections['byRule']): Markup[] =>
  rules.map(({ rule, jobs }, index) => (
    <>
      {index > 0 && ', '}
      <code>{rule}</code> {pageCount(jobs, 'job')}
    </>
  ));

interface Size {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  /** Number of labelled days. */
  readonly labels: number;
}

/** Letters must stay readable: a narrow page gets a picture of its own, not a small one. */
const SIZES: readonly Size[] = [
  { name: 'for-wide', width: 1120, height: 280, labels: 8 },
  { name: 'for-narrow', width: 400, height: 250, labels: 4 },
];
const LEFT = 74;
const RIGHT = 16;
const TOP = 20;
const BOTTOM = 26;

/** Cumulated use against the limit, with the same figures in a table. */
export function burnUpChart(burnUp: BurnUpChart, limit: LimitRow | undefined, telling: PageFormat): Markup {
  const { days, ahead, unit, unexplained, period } = burnUp;
  const described = limit === undefined ? '' : forecastSentence(limit, telling.nowMs);
  const forecast = limit && forecastText(limit, telling.currency);
  if (days.length === 0) return <p class="soft">Nothing was counted in {period.label} yet.</p>;
  return (
    <>
      <div
        role="img"
        aria-label={`Use per day in ${period.label} against the limit; the figures are in the table below`}
      >
        {SIZES.map((size) => drawing(burnUp, size))}
      </div>
      <ul class="key">
        <li>{sample('line')}spent and held so far</li>
        {ahead.length > 0 && <li>{sample('ahead')}forecast</li>}
        {ahead.some(({ high }) => high !== undefined) && (
          <li>{sample('band')}where four of five such forecasts ended</li>
        )}
        {burnUp.amount !== undefined && <li>{sample('limit')}limit</li>}
      </ul>
      <p>{described}</p>
      {forecast !== undefined && <p>{forecast}</p>}
      <details>
        <summary>The figures as a table</summary>
        <div class="scroll" role="group" aria-label="Use per day" tabindex={0}>
          <table>
            <caption>{period.label}; each day with what it came to, and all together until its end</caption>
            <Columns of={['Day', ['That day', 'n'], ['Together', 'n']]} />
            <tbody>
              {days.map(({ day, used, total }) => (
                <tr>
                  <th scope="row">{shortDayLabel(day)}</th>
                  <td class="n">{bare(used, unit)}</td>
                  <td class="n">{bare(total, unit)}</td>
                </tr>
              ))}
              {unexplained !== 0 && (
                <tr>
                  <th scope="row">Not on a day</th>
                  <td class="n">{bare(unexplained, unit)}</td>
                  <td class="n">
                    <span class="soft">–</span>
                  </td>
                </tr>
              )}
            </tbody>
          </table>
        </div>
      </details>
    </>
  );
}

const sample = (name: string): Markup => (
  <svg class="chart sample" viewBox="0 0 22 11" aria-hidden="true">
    <path class={name} d="M1 5.5H21" />
  </svg>
);

function drawing(burnUp: BurnUpChart, { name, width, height, labels }: Size): Markup | '' {
  const { days, ahead, unit, amount: limit } = burnUp;
  const first = days[0];
  const last = days.at(-1);
  if (first === undefined || last === undefined) return '';
  const from = dayNumberOf(first.day);
  // A line from the beginning of the first day to the end of the last.
  const to = Math.max(dayNumberOf(ahead.at(-1)?.day ?? last.day), endDay(burnUp)) + 1;
  const highest = Math.max(limit ?? 0, last.total, ahead.at(-1)?.high ?? ahead.at(-1)?.total ?? 0);
  const ticks = roundTicks(highest * 1.04);
  const top = ticks.at(-1) ?? 1;
  const x = (day: number): number =>
    round(LEFT + ((day - from) / Math.max(1, to - from)) * (width - LEFT - RIGHT));
  const y = (value: number): number =>
    round(height - BOTTOM - (Math.max(0, value) / top) * (height - TOP - BOTTOM));
  const points = [
    { at: from, total: 0 },
    ...days.map(({ day, total }) => ({ at: dayNumberOf(day) + 1, total })),
  ];
  const now = points.at(-1) ?? { at: from, total: 0 };
  const path = points.map(({ at, total }) => `${x(at)} ${y(total)}`).join('L');
  const onward = [
    now,
    ...ahead.map(({ day, total }) => ({ at: dayNumberOf(day) + 1, total })).filter(({ at }) => at > now.at),
  ];
  const every = Math.max(1, Math.ceil((to - from) / labels));
  return (
    <svg class={`chart ${name}`} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      {ticks.map((value) => (
        <>
          <path class="grid" d={`M${LEFT} ${y(value)}H${width - RIGHT}`} />
          <text x={LEFT - 8} y={y(value) + 4} text-anchor="end">
            {tickText(value, unit)}
          </text>
        </>
      ))}
      {Array.from({ length: Math.ceil((to - from) / every) }, (_, index) => from + index * every).map(
        (day) => (
          <text x={x(day)} y={height - 8}>
            {shortDayLabel(dayText(day))}
          </text>
        ),
      )}
      <path class="band" d={bandPath(burnUp, now, x, y)} />
      <path class="area" d={`M${x(from)} ${y(0)}L${path}L${x(now.at)} ${y(0)}Z`} />
      <path class="line" d={`M${path}`} />
      {onward.length > 1 && (
        <path class="ahead" d={`M${onward.map(({ at, total }) => `${x(at)} ${y(total)}`).join('L')}`} />
      )}
      {limit !== undefined && (
        <>
          <path class="limit" d={`M${LEFT} ${y(limit)}H${width - RIGHT}`} />
          <text class="limit-text" x={LEFT + 4} y={y(limit) - 6}>
            limit {bare(limit, unit)}
          </text>
        </>
      )}
      <circle class="dot" cx={x(now.at)} cy={y(now.total)} r="4.5" />
      {nowLabel(x(now.at), y(now.total), bare(now.total, unit), {
        width,
        lineY: limit === undefined ? undefined : y(limit),
      })}
    </svg>
  );
}

/** From now along the upper edge to the end, and back along the lower one; empty where there is no band. */
function bandPath(
  { ahead }: BurnUpChart,
  now: { readonly at: number; readonly total: number },
  x: (day: number) => number,
  y: (value: number) => number,
): string {
  const edges = ahead.flatMap(({ day, low, high }) => {
    const at = dayNumberOf(day) + 1;
    return low === undefined || high === undefined || at <= now.at ? [] : [{ at, low, high }];
  });
  if (edges.length === 0) return '';
  const upper = edges.map(({ at, high }) => `L${x(at)} ${y(high)}`);
  const lower = edges.toReversed().map(({ at, low }) => `L${x(at)} ${y(low)}`);
  return `M${x(now.at)} ${y(now.total)}${upper.join('')}${lower.join('')}Z`;
}

/** Below the line to its right, where the area leaves room; near the edge, or on the limit's line, above it on its left. */
function nowLabel(
  x: number,
  y: number,
  text: string,
  { width, lineY }: { readonly width: number; readonly lineY: number | undefined },
): Markup {
  const crossed = lineY !== undefined && lineY > y && lineY < y + 22;
  return x > width - 140 || crossed ? (
    <text class="dot-text" x={x - 10} y={y - 9} text-anchor="end">
      {text}
    </text>
  ) : (
    <text class="dot-text" x={x + 10} y={y + 14}>
      {text}
    </text>
  );
}

/** The last day of a period that ends; the chart shows how much of it is to come. */
function endDay({ period, days }: BurnUpChart): number {
  const last = dayNumberOf(days.at(-1)?.day ?? '1970-01-01');
  if (!Number.isFinite(period.endMs) || period.endMs === null) return last;
  const length = Math.round((period.endMs - period.startMs) / DAY_MS);
  return Math.max(last, dayNumberOf(days[0]?.day ?? '1970-01-01') + length - 1);
}

/** Ticks are round: decimals say nothing. */
const tickText = (value: number, unit: BurnUpChart['unit']): string => bare(value, unit).replace(/\.0+$/, '');

const round = (number: number): number => Math.round(number * 10) / 10;
