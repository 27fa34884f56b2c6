import type { SubjectView } from '../../../answers/groups/model.ts';
import type { LimitRow } from '../../../answers/status/model.ts';
import { agreementText } from '../../../answers/status/texts.ts';
import { BAR_KEY, Bar } from '../parts/bar.tsx';
import { Card, Fact } from '../parts/layout.tsx';
import { leftClass, leftText, limitAmountWords, limitWords, NOT_COUNTED } from '../parts/limit-words.ts';
import { address, contactLink, subjectHref } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { bare, modeTag, type PageFormat, pageAmount, percent } from '../parts/page-format.tsx';
import { runsOut } from '../parts/run-out.tsx';
import { burnUpChart } from './burn-up-chart.tsx';

/** The limit that matters most here: its figures, its bar and its course. */
export function mainLimitCard(limit: LimitRow, view: SubjectView, telling: PageFormat): Markup {
  const { unit, settled, held = 0, forecast, owner, contact, reason, costCenter } = limit;
  const of = limit.amount === 'unlimited' ? undefined : limit.amount;
  const others = view.limits.filter(({ per, id }) => per !== undefined && id !== limit.id);
  const here = subjectHref(view.subject) ?? '/';
  return (
    <Card
      id="budget"
      title={
        <>
          <span>
            {limitWords(limit)} {modeTag(limit.rolledOutAs ?? limit.mode)}
          </span>
          <small class="soft">{limit.period?.label}</small>
        </>
      }
    >
      <dl class="figures">
        <div>
          <dt>Spent</dt>
          <dd>{settled === undefined ? NOT_COUNTED : pageAmount(settled, unit, telling)}</dd>
        </div>
        <div>
          <Fact name="Held">
            {settled === undefined ? '–' : pageAmount(held, unit, telling)}
            <small class="soft">by jobs that run or wait</small>
          </Fact>
        </div>
        <div>
          <Fact name="Limit">
            {limitAmountWords(limit, telling)}
            <small class="soft">{madeOf(limit)}</small>
          </Fact>
        </div>
        <div>
          <dt>Left</dt>
          <dd class={leftClass(limit)}>
            {leftText(limit, telling)}
            <small class="soft">
              {of !== undefined && settled !== undefined && <>{percent(settled + held, of)} used</>}
            </small>
          </dd>
        </div>
        <div>
          <Fact name="Runs out">
            {of === undefined ? <span class="soft">never</span> : runsOut(limit, telling.nowMs)}
          </Fact>
        </div>
      </dl>
      {of !== undefined && settled !== undefined && (
        <>
          <Bar spent={settled} held={held} limit={of} forecast={forecast?.atEndAmount} />
          {BAR_KEY}
        </>
      )}
      {agreementNote(limit, view, telling)}
      {view.burnUp !== undefined &&
        view.burnUp.limit === limit.id &&
        burnUpChart(view.burnUp, limit, telling)}
      {others.length > 0 && (
        <p class="soft">
          Chart of:{' '}
          {others.map((other, index) => (
            <>
              {index > 0 && ', '}
              <a href={address(here, { limit: other.id })}>{limitWords(other)}</a>
            </>
          ))}
        </p>
      )}
      {(owner ?? contact ?? reason ?? costCenter) !== undefined && (
        <dl class="facts">
          {owner !== undefined && (
            <Fact name="Owner">
              {owner}
              {contact !== undefined && <>, {contactLink(contact)}</>}
            </Fact>
          )}
          {owner === undefined && contact !== undefined && <Fact name="Contact">{contactLink(contact)}</Fact>}
          <Fact name="Cost centre">{costCenter}</Fact>
          <Fact name="Why">{reason}</Fact>
        </dl>
      )}
    </Card>
  );
}

/** Agreement of this page's figures, with difference and cause. */
function agreementNote(limit: LimitRow, { agreements }: SubjectView, telling: PageFormat): Markup | '' {
  const agreement = agreements.find((each) => each.limit === limit.id);
  if (agreement === undefined) return '';
  const { tone, text } = agreementText(agreement, telling.currency, telling.zone);
  return (
    <p class="agreement">
      <span class={`tag ${tone === 'fits' ? 'good' : 'warn'}`}>
        {tone === 'fits' ? 'figures agree' : 'figures differ'}
      </span>{' '}
      <small class="soft">{text}</small>
    </p>
  );
}

/** `500.00 + 200.00 granted` */
function madeOf({ baseAmount, granted, carried, unit }: LimitRow): string {
  if (baseAmount === 'unlimited' || (granted === 0 && carried === 0)) return '';
  return [
    bare(baseAmount, unit),
    granted > 0 ? `+ ${bare(granted, unit)} granted` : '',
    carried > 0 ? `+ ${bare(carried, unit)} carried over` : '',
    carried < 0 ? `− ${bare(-carried, unit)} overdrawn` : '',
  ]
    .filter((part) => part !== '')
    .join(' ');
}
