import { capWords } from '../../../../policies/limits/cap.ts';
import type { SubjectView } from '../../../answers/groups/model.ts';
import type { LimitRow } from '../../../answers/status/model.ts';
import {
  alertsText,
  daySpan,
  edge,
  lastAlertOf,
  leftClass,
  leftText,
  limitAmountWords,
  limitWords,
  modeTag,
  OUTAGE_TEXTS,
  type PageFormat,
  pageAmount,
  percent,
  runsOut,
  useCells,
} from '../parts/amounts.tsx';
import { address, Card, contactLink, type Markup, pathMarkup, subjectHref, Table } from '../parts/layout.tsx';
import { classLink, otherClasses } from './usage-part.tsx';

/** Every limit of the subject with its bar. */
export function limitsPart(view: SubjectView, telling: PageFormat): Markup {
  const { limits, limitsAbove } = view;
  return (
    <>
      {limits.length === 0 ? (
        <p>
          It has no limit of its own{limitsAbove.length > 0 ? '' : '; the groups above it may have some'}.
        </p>
      ) : (
        <Table
          label="Limits"
          caption="Limits and how they stand"
          columns={[
            'Limit',
            'Use',
            ['Used', 'n wide'],
            ['Spent', 'n wide'],
            ['Held', 'n wide'],
            ['Limit', 'n'],
            ['Left', 'n'],
            ['Runs out', 'wide'],
            [<span class="hidden">Do</span>],
          ]}
        >
          <tbody>{limits.map((limit) => limitLine(limit, view, telling))}</tbody>
        </Table>
      )}
      {capList(view, telling)}
      {aboveList(view, telling)}
    </>
  );
}

function limitLine(limit: LimitRow, { may }: SubjectView, telling: PageFormat): Markup {
  const { subject, id } = limit;
  const edit = address('/edit', { kind: 'set', subject, limit: id });
  return (
    <tr>
      <th scope="row">
        {limitWords(limit)} {modeTag(limit.rolledOutAs ?? limit.mode)}
        <small class="soft">{factsText(limit, telling)}</small>
      </th>
      {useCells(limit)}
      <td class="n" data-l="limit">
        {limitAmountWords(limit, telling)}
      </td>
      <td class={`n ${leftClass(limit)}`} data-l={(limit.left ?? 0) >= 0 ? 'left' : undefined}>
        {leftText(limit, telling)}
      </td>
      <td class="wide ro">
        {limit.per === undefined || limit.left === undefined ? (
          <span class="soft">–</span>
        ) : (
          runsOut(limit, telling.nowMs)
        )}
      </td>
      <td>
        {(may.tighten || may.loosen) && (
          <a href={edit}>
            Edit<span class="hidden"> {limitWords(limit)}</span>
          </a>
        )}
      </td>
    </tr>
  );
}

function factsText(limit: LimitRow, telling: PageFormat): Markup[] {
  const { unit, period, owner, softAmount, granted, carried, byDefault, inForce, fromMs, untilMs } = limit;
  const { whenUnreachable } = limit;
  const alerts = alertsText(limit);
  const last = lastAlertOf(limit, telling.currency);
  const parts: (Markup | undefined)[] = [
    <code>{limit.id}</code>,
    inForce ? undefined : <strong>not in force</strong>,
    period && <>{period.label}</>,
    granted > 0 ? <>with {pageAmount(granted, unit, telling)} granted</> : undefined,
    carried > 0 ? <>{pageAmount(carried, unit, telling)} carried over</> : undefined,
    carried < 0 ? <>{pageAmount(-carried, unit, telling)} overdrawn before</> : undefined,
    softAmount === undefined ? undefined : <>warns from {pageAmount(softAmount, unit, telling)}</>,
    ...cohortFacts(limit, telling),
    byDefault && <>default of groups like this</>,
    whenUnreachable && <>{OUTAGE_TEXTS[whenUnreachable]} while it cannot be asked</>,
    alerts === undefined ? undefined : <span>{alerts}</span>,
    last && <span class={last.state === 'failed' ? 'warn-text' : undefined}>{last.text}</span>,
    owner === undefined ? undefined : <>owner {owner}</>,
    fromMs === undefined ? undefined : <>from {edge(fromMs, 'start', limit)}</>,
    untilMs === undefined ? undefined : <>until {edge(untilMs, 'end', limit)}</>,
  ];
  return parts
    .filter((part) => part !== undefined)
    .map((part, index) => (
      <>
        {index > 0 && ' · '}
        {part}
      </>
    ));
}

const cohortFacts = ({ cohort, shared, borrowed = 0, unit }: LimitRow, telling: PageFormat): Markup[] =>
  shared === undefined
    ? []
    : [
        <>
          cohort {cohort}: {pageAmount(shared.used, unit, telling)} of{' '}
          {pageAmount(shared.amount, unit, telling)} lent in use
        </>,
        ...(shared.mayBorrow === 0
          ? []
          : [
              <>
                {pageAmount(borrowed, unit, telling)} of at most {pageAmount(shared.mayBorrow, unit, telling)}{' '}
                borrowed
              </>,
            ]),
      ];

/** Limits per pipeline, job or user, which have no single bar. */
const capList = ({ caps, may }: SubjectView, telling: PageFormat): Markup | '' =>
  caps.length === 0 ? (
    ''
  ) : (
    <>
      <h3>Caps per pipeline or user</h3>
      <ul>
        {caps.map((limit) => (
          <li>
            {capTitle(limit)}: {limitAmountWords(limit, telling)} {modeTag(limit.rolledOutAs ?? limit.mode)}{' '}
            <small class="soft">{factsText(limit, telling)}</small>{' '}
            {(may.tighten || may.loosen) && (
              <a href={address('/edit', { kind: 'set', subject: limit.subject, limit: limit.id })}>
                Edit<span class="hidden"> {capTitle(limit)}</span>
              </a>
            )}
          </li>
        ))}
      </ul>
    </>
  );

const capTitle = (limit: LimitRow): string =>
  limit.each === undefined ? limitWords(limit) : `${limitWords(limit)} of ${capWords(limit.each)}`;

const aboveList = ({ limitsAbove }: SubjectView, telling: PageFormat): Markup | '' =>
  limitsAbove.length === 0 ? (
    ''
  ) : (
    <>
      <h3>Limits above that also count</h3>
      <ul>
        {limitsAbove.map((limit) => (
          <li>
            {limit.label}: {pageAmount(limit.left, limit.unit, telling)} left of{' '}
            {pageAmount(limit.amount, limit.unit, telling)}
            {limit.periodLabel !== undefined && <> for {limit.periodLabel}</>}
            {limit.contact !== undefined && <>; contact {contactLink(limit.contact)}</>}
          </li>
        ))}
      </ul>
    </>
  );

/** Rows with their own part; more cannot be distinguished. */
const SHOWN_MAX = 6;

interface Eater {
  readonly name: Markup | string;
  readonly micros: number;
}

interface Stack {
  readonly id: string;
  readonly title: string;
  readonly days: string;
  /** Most first. */
  readonly eaters: readonly Eater[];
  /** The total. */
  readonly together: number;
  /** Label of the rest. */
  readonly others: string;
}

/** One bar each for subgroups, projects and runner classes, with figures as text. */
export function eatersPart(view: SubjectView, telling: PageFormat): Markup | '' {
  const stacks = stacksOf(view).filter(({ eaters, together }) => together > 0 && eaters.length > 0);
  if (stacks.length === 0) return '';
  return (
    <Card id="eaters" title="Top users of the budget">
      <div class={stacks.length > 1 ? 'two' : ''}>{stacks.map((stack) => drawn(stack, telling))}</div>
    </Card>
  );
}

function stacksOf({ usage, subject, children, childrenSum }: SubjectView): readonly Stack[] {
  const { topProjects, runnerClasses, settledMicros, heldMicros, fromDay, toDay } = usage;
  const inUsage = { days: daySpan(usage), together: settledMicros + heldMicros };
  const sinceDay = children[0]?.metered.sinceDay ?? fromDay;
  const { total } = childrenSum ?? { total: { settledMicros: 0, heldMicros: 0 } };
  return [
    {
      ...{ id: 'by-group', title: 'Groups right below', days: daySpan({ fromDay: sinceDay, toDay }) },
      eaters: mostFirst(
        children.map(({ subject, path, metered }) => ({
          name: <a href={subjectHref(subject)}>{pathMarkup(path)}</a>,
          micros: metered.settledMicros + metered.heldMicros,
        })),
      ),
      together: total.settledMicros + total.heldMicros,
      others: 'Others, and its own projects',
    },
    {
      ...{ id: 'by-project', title: 'Projects', ...inUsage, others: 'Other projects' },
      eaters: mostFirst(
        topProjects.map(({ projectId, path, micros }) => ({
          name: <a href={`/projects/${projectId}`}>{pathMarkup(path)}</a>,
          micros,
        })),
      ),
    },
    {
      ...{ id: 'by-class', title: 'Runner classes', ...inUsage, others: otherClasses(subject) },
      eaters: mostFirst(
        runnerClasses.map(({ name, micros }) => ({
          name: classLink(name, subject),
          micros,
        })),
      ),
    },
  ];
}

const mostFirst = (eaters: readonly Eater[]): readonly Eater[] =>
  eaters.filter(({ micros }) => micros > 0).sort((a, b) => b.micros - a.micros);

function drawn({ id, title, days, eaters, together, others }: Stack, telling: PageFormat): Markup {
  const shown = eaters.slice(0, SHOWN_MAX);
  const rest = together - shown.reduce((sum, { micros }) => sum + micros, 0);
  // Groups that were moved here with their usage have more than the group itself.
  const whole = Math.max(together, together - rest);
  const parts = [...shown, ...(rest > 0 ? [{ name: <span class="soft">{others}</span>, micros: rest }] : [])];
  let before = 0;
  const placed = parts.map((part, index) => {
    const from = before;
    before += part.micros;
    return { ...part, from, style: index < shown.length ? `eat${index}` : 'eat-rest' };
  });
  return (
    <section aria-labelledby={id}>
      <h3 id={id}>
        {title} <small class="soft">{days}</small>
      </h3>
      <svg class="eaters" aria-hidden="true">
        {placed.map(({ micros, from, style }) => (
          <rect class={style} x={share(from, whole)} width={share(micros, whole)} height="100%" />
        ))}
        {placed.slice(1).map(({ from }) => (
          <rect class="edge" x={`calc(${share(from, whole)} - 1px)`} width="2" height="100%" />
        ))}
      </svg>
      <table class="eats">
        <caption class="hidden">
          {title}, most first, {days}
        </caption>
        <tbody>
          {placed.map(({ name, micros, style }) => (
            <tr>
              <th scope="row" class="path">
                <svg aria-hidden="true">
                  <rect class={style} width="100%" height="100%" />
                </svg>
                {name}
              </th>
              <td class="n">{pageAmount(micros, 'micros', telling)}</td>
              <td class="n">{percent(micros, whole)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const share = (part: number, whole: number): string => `${Math.round((part / whole) * 10_000) / 100}%`;
