import { DAY_MS, dayNumber, dayOfIso } from '../../../../policies/limits/calendar.ts';
import { durationText } from '../../../../policies/unit-texts.ts';
import type { BurnUpChart, Rejections, SubjectView, UsageView } from '../../../answers/groups/model.ts';
import { dayText } from '../../../answers/reading/usage-days.ts';
import type { LimitRow } from '../../../answers/status/model.ts';
import { forecastText } from '../../../answers/status/texts.ts';
import * as ui from '../parts/ui.ts';

export function usagePart({ usage, subject }: SubjectView): ui.Markup {
  const { topProjects, otherProjectsMicros } = usage;
  const together = usage.settledMicros + usage.heldMicros;
  const group = subject.replace(/^group\//, '');
  return (
    <ui.Card id="projects" title="Costliest projects">
      {topProjects.length === 0 ? (
        <p class="soft">No project had costs in this period.</p>
      ) : (
        <ui.Table
          label="Costliest projects"
          columns={{
            Project: ({ projectId, path }) => <a href={`/projects/${projectId}`}>{ui.pathMarkup(path)}</a>,
            [ui.format().currency]: { style: 'n', cell: ({ micros }) => ui.bare(micros, 'micros') },
          }}
          rows={topProjects}
          foot={[
            otherProjectsMicros !== 0 && {
              Project: ui.soft('Other projects and earlier days'),
              [ui.format().currency]: ui.bare(otherProjectsMicros, 'micros'),
            },
            {
              Project: <>Total {ui.soft('spent and held')}</>,
              [ui.format().currency]: ui.bare(together, 'micros'),
            },
          ]}
        />
      )}
      {/^(group\/|instance$)/.test(subject) && (
        <p>
          <a href={ui.address('/reports', { group, by: 'group' })}>Groups</a> ·{' '}
          <a href={ui.address('/reports', { group, by: 'class' })}>Runner classes</a> ·{' '}
          <a href={ui.address('/reports', { group, by: 'job' })}>Job names</a>
        </p>
      )}
    </ui.Card>
  );
}

export function usageSentence(usage: UsageView): ui.Markup {
  const { jobs, settledMicros, heldMicros, seconds, rejected, unmetered, bypass } = usage;
  const unasked = unmetered + bypass;
  return (
    <>
      {ui.daySpan(usage)}: {ui.pageCount(jobs, 'job')}, {ui.pageAmount(settledMicros, 'micros')} spent,{' '}
      {ui.pageAmount(heldMicros, 'micros')} held, {durationText(seconds)} run; {ui.pageCount(rejected, 'job')}{' '}
      rejected
      {unasked > 0 && <span class="warn-text">, {ui.number(unasked)} ran without a decision</span>}.
    </>
  );
}

export function rejectionsPart({ byRule, watchedByRule, latest }: Rejections): ui.Markup {
  if (byRule.length + watchedByRule.length + latest.length === 0)
    return <p class="soft">No job was rejected in this period.</p>;
  const counts = (rules: Rejections['byRule']): ui.Markup[] =>
    ui.joined(rules.map(({ rule, jobs }) => [<code>{rule}</code>, ' ', ui.pageCount(jobs, 'job')]));
  return (
    <>
      {byRule.length > 0 && <p>Rejected, by rule: {counts(byRule)}.</p>}
      {watchedByRule.length > 0 && (
        <p>Would have been rejected, by rule in mode shadow or warn: {counts(watchedByRule)}.</p>
      )}
      {latest.length > 0 && (
        <ui.Table
          label="Rejected jobs"
          columns={{
            Job: ({ decisionId, jobName, jobId, projectPath, url }) => (
              <>
                <a href={`/jobs/${decisionId}`}>{jobName ?? `job ${jobId}`}</a>
                {ui.soft(projectPath, url !== undefined && [' · ', ui.outside(url, 'in GitLab')])}
              </>
            ),
            Time: ({ atMs }) => [ui.shortInstant(atMs), ' ', ui.soft(ui.distance(atMs))],
            Reason: {
              style: 'full',
              cell: ({ reasons }) =>
                reasons.map(({ code, text }) => (
                  <div>
                    <code>{code}</code> {text}
                  </div>
                )),
            },
          }}
          rows={latest}
        />
      )}
    </>
  );
}

/** Letters must stay readable: a narrow page gets a picture of its own, not a small one. */
const SIZES = [
  { name: 'for-wide', width: 1120, height: 280, labels: 8 },
  { name: 'for-narrow', width: 400, height: 250, labels: 4 },
] as const;
const [LEFT, RIGHT, TOP, BOTTOM] = [74, 16, 20, 26];

export function burnUpChart(burnUp: BurnUpChart, limit: LimitRow): ui.Markup {
  const { days, ahead, unit, unexplained, period, amount } = burnUp;
  if (days.length === 0) return <p class="soft">No use was counted in {period.label} yet.</p>;
  const sample = (name: string, text: string): ui.Markup => (
    <li>
      <svg class="chart sample" viewBox="0 0 22 11" aria-hidden="true">
        <path class={name} d="M1 5.5H21" />
      </svg>
      {text}
    </li>
  );
  return (
    <>
      <div
        role="img"
        aria-label={`Use per day in ${period.label} against the limit; the figures are in the table below`}
      >
        {SIZES.map((size) => drawing(burnUp, size))}
      </div>
      <ul class="key">
        {sample('line', 'spent and held so far')}
        {ahead.length > 0 && sample('ahead', 'forecast')}
        {amount !== undefined && sample('limit', 'limit')}
      </ul>
      <p>{forecastText(limit, ui.format().currency)}</p>
      <details>
        <summary>Figures of the chart</summary>
        <ui.Table
          label="Use per day"
          columns={{
            Day: ({ day }) => ui.shortDayLabel(day),
            'Use of the day': { style: 'n', cell: ({ used }) => ui.bare(used, unit) },
            'Total so far': { style: 'n', cell: ({ total }) => ui.bare(total, unit) },
          }}
          rows={days}
          foot={[
            unexplained !== 0 && {
              Day: 'Not assigned to a day',
              'Use of the day': ui.bare(unexplained, unit),
            },
          ]}
        />
      </details>
    </>
  );
}

/** From 0 upwards, in round steps, so that the last one is not below `highest`. */
function roundTicks(highest: number): readonly number[] {
  const rough = Math.max(highest / 4, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.ceil(([1, 2, 2.5, 5].find((each) => each * power >= rough) ?? 10) * power);
  const count = Math.ceil(Math.max(highest, 1) / step);
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

const dayNumberOf = (day: string): number => dayNumber(dayOfIso(day));

type Point = Readonly<Record<'at' | 'total', number>>;

function drawing(
  burnUp: BurnUpChart,
  { name, width, height, labels }: (typeof SIZES)[number],
): ui.Markup | '' {
  const { days, ahead, unit, amount: limit } = burnUp;
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return '';
  const pointsOf = (some: readonly { readonly day: string; readonly total: number }[]): readonly Point[] =>
    some.map(({ day, total }) => ({ at: dayNumberOf(day) + 1, total }));
  const from = dayNumberOf(first.day);
  const now = { at: dayNumberOf(last.day) + 1, total: last.total };
  const to = Math.max(now.at, dayNumberOf(ahead.at(-1)?.day ?? last.day) + 1, endDay(burnUp, from) + 1);
  const highest = Math.max(limit ?? 0, last.total, ahead.at(-1)?.total ?? 0);
  const ticks = roundTicks(highest * 1.04);
  const top = ticks.at(-1) ?? 1;
  const x = (day: number): number =>
    round(LEFT + ((day - from) / Math.max(1, to - from)) * (width - LEFT - RIGHT));
  const y = (value: number): number =>
    round(height - BOTTOM - (Math.max(0, value) / top) * (height - TOP - BOTTOM));
  const lineOf = (points: readonly Point[]): string =>
    points.map(({ at, total }) => `${x(at)} ${y(total)}`).join('L');
  const path = lineOf([{ at: from, total: 0 }, ...pointsOf(days)]);
  const onward = ahead.filter(({ day }) => dayNumberOf(day) + 1 > now.at);
  const every = Math.max(1, Math.ceil((to - from) / labels));
  const labelled = Array.from({ length: Math.ceil((to - from) / every) }, (_, index) => from + index * every);
  return (
    <svg class={`chart ${name}`} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      {ticks.map((value) => (
        <>
          <path class="grid" d={`M${LEFT} ${y(value)}H${width - RIGHT}`} />
          <text x={LEFT - 8} y={y(value) + 4} text-anchor="end">
            {ui.bare(value, unit).replace(/\.0+$/, '')}
          </text>
        </>
      ))}
      {labelled.map((day) => (
        <text x={x(day)} y={height - 8}>
          {ui.shortDayLabel(dayText(day))}
        </text>
      ))}
      <path class="area" d={`M${x(from)} ${y(0)}L${path}L${x(now.at)} ${y(0)}Z`} />
      <path class="line" d={`M${path}`} />
      {onward.length > 0 && <path class="ahead" d={`M${lineOf([now, ...pointsOf(onward)])}`} />}
      {limit !== undefined && (
        <>
          <path class="limit" d={`M${LEFT} ${y(limit)}H${width - RIGHT}`} />
          <text class="limit-text" x={LEFT + 4} y={y(limit) - 6}>
            limit {ui.bare(limit, unit)}
          </text>
        </>
      )}
      <circle class="dot" cx={x(now.at)} cy={y(now.total)} r="4.5" />
      <text class="dot-text" x={x(now.at) - 10} y={y(now.total) - 9} text-anchor="end">
        {ui.bare(now.total, unit)}
      </text>
    </svg>
  );
}

/** The last day of a period that ends; the chart shows how much of it is to come. */
function endDay({ period: { startMs, endMs } }: BurnUpChart, firstDay: number): number {
  if (endMs === null || !Number.isFinite(endMs)) return firstDay;
  return firstDay + Math.round((endMs - startMs) / DAY_MS) - 1;
}

const round = (value: number): number => Math.round(value * 10) / 10;
