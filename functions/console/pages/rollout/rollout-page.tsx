import type { RolloutStep } from '../../../../policies/rollout-step.ts';
import type { RolloutClassRow, RolloutRow, RolloutView } from '../../../answers/rollout/model.ts';
import { rolloutNeedText } from '../../../answers/rollout/rollout-moves.ts';
import type { User } from '../../../core/signin/index.ts';
import { ConsolePage } from '../frame.tsx';
import { mayOpen } from '../page-access.ts';
import { daySpan } from '../parts/chart-scale.ts';
import { Done, PageLinks, Table } from '../parts/layout.tsx';
import { address, subjectLink } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { distance, type PageFormat, pageCount } from '../parts/page-format.tsx';

/** Rollout steps with requirements of the next. */
export function rolloutPage(
  user: User,
  view: RolloutView,
  done: string | undefined,
  telling: PageFormat,
): Markup {
  const mayLook = mayOpen('GET /rollout/step', user.roles);
  return (
    <ConsolePage title="Rollout" at="/rollout" user={user}>
      <div class="head">
        <div>
          <h1>Rollout</h1>
          <p>
            From watching to enforcing: shadow, report to the owner, warn, enforce. What has no step of its
            own follows what is above it. Security rules are the policy’s and stand in no step.
          </p>
        </div>
      </div>
      <Done text={done} />
      {view.rows.length === 0 ? (
        <div class="card">
          <p>No group of yours has a step.</p>
        </div>
      ) : (
        <div class="card">
          <Table
            label="Steps"
            columns={['Group', 'Cost', 'Capacity', 'For the next step', ...(mayLook ? [''] : [])]}
          >
            <tbody>{view.rows.map((row) => line(row, mayLook, telling))}</tbody>
          </Table>
          <PageLinks next={view.next === undefined ? undefined : address('/rollout', { cursor: view.next })}>
            {pageCount(view.total, 'row')}; jobs since{' '}
            {daySpan({ fromDay: view.fromDay, toDay: view.fromDay })}
          </PageLinks>
        </div>
      )}
    </ConsolePage>
  );
}

const line = (row: RolloutRow, mayLook: boolean, telling: PageFormat): Markup => (
  <tr>
    <th scope="row" class="path">
      {subjectLink(row.subject, row.path)}
    </th>
    {row.classes.map((each) => (
      <td data-l={each.class}>
        {stepTag(each.step)} <small class="soft">{sinceText(each, row.subject, telling)}</small>
      </td>
    ))}
    <td class="full">{missingText(row.classes)}</td>
    {mayLook && (
      <td class="full">
        <a class="button" href={address('/rollout/step', { subject: row.subject })}>
          Look<span class="hidden"> at {row.path}</span>
        </a>
      </td>
    )}
  </tr>
);

const TAGS: Readonly<Record<RolloutStep, string>> = {
  off: 'tag',
  shadow: 'tag',
  reported: 'tag',
  warn: 'tag warn',
  enforce: 'tag good',
};

export const stepTag = (step: RolloutStep): Markup => <span class={TAGS[step]}>{step}</span>;

/** `12 days ago`, `as The whole GitLab`. */
export function sinceText(
  { from, fromPath, sinceMs }: RolloutClassRow,
  subject: string,
  { nowMs }: PageFormat,
): string {
  const since = sinceMs === undefined ? '' : distance(sinceMs, nowMs);
  if (from === undefined || from === subject) return since;
  return [`as ${fromPath ?? from}`, since].filter((part) => part !== '').join(', ');
}

function missingText(classes: readonly RolloutClassRow[]): Markup | string {
  if (classes.every(({ next }) => next === undefined)) return '';
  const missing = classes.flatMap(({ needs }) => needs.filter(({ met }) => !met).map(rolloutNeedText));
  if (missing.length === 0) return <strong class="good-text">ready</strong>;
  return [...new Set(missing)].join('; ');
}
