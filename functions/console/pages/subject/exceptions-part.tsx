import type { SubjectView } from '../../../answers/groups/model.ts';
import type { FreezeRow, GrantRow } from '../../../answers/status/model.ts';
import { Table } from '../parts/layout.tsx';
import { address } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { distance, edge, type PageFormat, pageAmount } from '../parts/page-format.tsx';

/** Grants with their remaining time. */
export function grantsPart({ grants, may, subject }: SubjectView, telling: PageFormat): Markup {
  if (grants.length === 0) return <p class="soft">Nothing was granted on top.</p>;
  return (
    <Table label="Grants" columns={['Grant', ['Amount', 'n'], 'Counts', [<span class="hidden">Do</span>]]}>
      <tbody>
        {grants.map((grant) => (
          <tr>
            <th scope="row">
              {grant.reason}
              <small class="soft">
                <code>{grant.limit}</code>
                {grant.ticket !== undefined && <> · {grant.ticket}</>}
              </small>
            </th>
            <td class="n">+{pageAmount(grant.amount, grant.unit, telling)}</td>
            <td>{stateText(grant, telling)}</td>
            <td>
              {grant.state !== 'over' && grant.id !== undefined && may.tighten && (
                <a href={address('/edit', { kind: 'revoke', grant: grant.id, subject })}>
                  Revoke<span class="hidden"> {grant.reason}</span>
                </a>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function stateText({ state, fromMs, untilMs, zone }: GrantRow, telling: PageFormat): Markup {
  switch (state) {
    case 'in_force':
      return (
        <>
          <span class="tag good">in force</span> ends {distance(untilMs, telling.nowMs)}{' '}
          <small class="soft">{edge(untilMs, 'end', { zone })}</small>
        </>
      );
    case 'to_come':
      return (
        <>
          <span class="tag">to come</span> begins {distance(fromMs, telling.nowMs)}{' '}
          <small class="soft">{edge(fromMs, 'start', { zone })}</small>
        </>
      );
    case 'over':
      return (
        <>
          <span class="tag">over</span> since {edge(untilMs, 'end', { zone })}
        </>
      );
  }
}

/** At the top of a page: nothing else matters while it holds. */
export const freezeNotes = ({ freezes, may, subject }: SubjectView, telling: PageFormat): Markup[] =>
  freezes.map((freeze) => (
    <div class="note bad">
      <p>
        <strong>
          {isToCome(freeze, telling) ? 'Will be frozen' : 'Frozen'}
          {freeze.above !== undefined && <> with {freeze.above}</>}:
        </strong>{' '}
        {freeze.reason}
      </p>
      <p>
        {isToCome(freeze, telling) ? (
          <>No new job starts from {edge(freeze.fromMs ?? 0, 'start', freeze)}</>
        ) : (
          'No new job starts'
        )}
        {freeze.untilMs === undefined ? (
          ' until it is lifted'
        ) : (
          <>
            {' '}
            until {edge(freeze.untilMs, 'end', freeze)} ({distance(freeze.untilMs, telling.nowMs)})
          </>
        )}
        . Running jobs finish.{freeze.owner !== undefined && <> Ask {freeze.owner}.</>}
        {may.freeze && freeze.above === undefined && (
          <>
            {' '}
            <a href={address('/edit', { kind: 'unfreeze', freeze: freeze.id, subject })}>Lift it</a>
          </>
        )}
      </p>
    </div>
  ));

const isToCome = ({ fromMs }: FreezeRow, { nowMs }: PageFormat): boolean =>
  fromMs !== undefined && fromMs > nowMs;
