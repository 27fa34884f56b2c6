import { capWords } from '../../../../policies/limits/cap.ts';
import type { SubjectView } from '../../../answers/groups/model.ts';
import type { LimitRow } from '../../../answers/status/model.ts';
import { Table } from '../parts/layout.tsx';
import {
  alertsText,
  lastAlertOf,
  leftClass,
  leftText,
  limitAmountWords,
  limitWords,
  OUTAGE_TEXTS,
} from '../parts/limit-words.ts';
import { address, contactLink } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { edge, modeTag, type PageFormat, pageAmount } from '../parts/page-format.tsx';
import { runsOut } from '../parts/run-out.tsx';
import { useCells } from '../parts/standing-cells.tsx';

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
