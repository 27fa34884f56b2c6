import type { ExplainedCounter, JobExplanation } from '../../../answers/job/model.ts';
import { Table } from '../parts/layout.tsx';
import { OUTAGE_TEXTS } from '../parts/limit-words.ts';
import { subjectLink } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { modeTag, type PageFormat, pageAmount } from '../parts/page-format.tsx';

/** The limits a job counted on, then and now. */
export function countersPart({ counters, countersHidden }: JobExplanation, telling: PageFormat): Markup {
  const hidden = countersHidden > 0 && <p class="soft">{countersHidden} more of groups you may not see.</p>;
  if (counters.length === 0)
    return (
      <>
        <p class="soft">None that you may see.</p>
        {hidden}
      </>
    );
  return (
    <>
      <Table
        label="Limits"
        caption="Limits it counted on, then and now"
        columns={['Limit', 'Then', ['Now spent and held', 'n'], ['Limit now', 'n'], ['Left now', 'n']]}
      >
        <tbody>{counters.map((counter) => counterLine(counter, telling))}</tbody>
      </Table>
      {hidden}
    </>
  );
}

function counterLine(
  { subject, label, limit, period, unit, atDecision, now }: ExplainedCounter,
  telling: PageFormat,
): Markup {
  const told = (whole: number): string => pageAmount(whole, unit, telling);
  const before =
    atDecision === undefined ? (
      <span class="soft">not asked</span>
    ) : atDecision.seen !== undefined ? (
      <>
        <strong class="bad-text">refused:</strong> {told(atDecision.seen.left)} left of{' '}
        {told(atDecision.seen.bound)}, it asked for {told(atDecision.seen.asked)}
      </>
    ) : (
      <>
        {told(atDecision.jobHeld)} held
        {!atDecision.checked && (
          <>
            {' '}
            <span class="tag">not checked</span>
          </>
        )}
      </>
    );
  const bound = now.bound === undefined ? 'none' : now.bound === 'unlimited' ? 'unlimited' : told(now.bound);
  return (
    <tr>
      <th scope="row" class="path">
        {subjectLink(subject, label)}
        <small class="soft">
          <code>{limit}</code> {period !== 'now' && period} {now.mode !== undefined && modeTag(now.mode)}{' '}
          {now.wait !== undefined && <>· jobs wait {now.wait}</>}{' '}
          {now.whenUnreachable && <>· {OUTAGE_TEXTS[now.whenUnreachable]} while it cannot be asked</>}
        </small>
      </th>
      <td class="full">{before}</td>
      <td class="n" data-l="now">
        {told(now.settled + now.held)}
      </td>
      <td class="n" data-l="of">
        {bound}
      </td>
      <td class="n" data-l="left">
        {now.left === undefined ? '–' : told(now.left)}
      </td>
    </tr>
  );
}
