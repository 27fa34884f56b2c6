import type { LimitRow } from '../../../answers/standing/model.ts';
import type { SubjectView } from '../../../answers/subject/model.ts';
import { poolWords } from '../../../core/limits/desk/pool-words.ts';
import type { User } from '../../../core/signin/user.ts';
import { agreementText } from '../../../core/usage/agreement-text.ts';
import { Page } from '../frame.tsx';
import { BAR_KEY, Bar } from '../parts/bar.tsx';
import { groupTable } from '../parts/group-table.tsx';
import { historyPart } from '../parts/history-part.tsx';
import { Card, Crumbs, Done, Fact } from '../parts/layout.tsx';
import { leftClass, leftText, limitAmount, limitWords, onlyWatches, runsOut } from '../parts/limit-words.tsx';
import { address, contactLink, subjectHref, subjectLink } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { amount, bare, counted, modeTag, percent, type Telling } from '../parts/told.tsx';
import { burnUpChart } from './burn-up-chart.tsx';
import { freezeNotes, grantsPart } from './exceptions-part.tsx';
import { limitsPart } from './limits-part.tsx';
import { rejectionsPart, usagePart, usageSentence } from './usage-part.tsx';

export interface SubjectShown {
  readonly view: SubjectView;
  /** What was just done, for a green line at the top. */
  readonly done: string | undefined;
}

export function subjectPage(user: User, { view, done }: SubjectShown, telling: Telling): Markup {
  const { burnUp, limits, children, childCount, subject } = view;
  const main = limits.find(({ id }) => id === burnUp?.limit) ?? limits.find(({ inForce }) => inForce);
  return (
    <Page title={view.path} at="/" user={user}>
      {head(view)}
      <Done text={done} />
      {freezeNotes(view, telling)}
      {poolNotes(view, telling)}
      {rolloutNote(view)}
      {main !== undefined && mainCard(main, view, telling)}
      <Card id="limits" title="Limits">
        {limitsPart(view, telling)}
      </Card>
      <Card id="grants" title="Grants">
        {grantsPart(view, telling)}
      </Card>
      <Card id="rejected" title="Rejected jobs">
        <p class="soft">{usageSentence(view.usage, telling)}</p>
        {rejectionsPart(view.usage.rejections, telling)}
      </Card>
      {view.kind !== 'project' && usagePart(view, telling)}
      {childCount > 0 && (
        <Card id="children" title={<>{counted(childCount, 'group')} right below</>}>
          {BAR_KEY}
          {groupTable(children.slice(0, CHILDREN_SHOWN), 'Groups right below', telling, {
            sum: view.childrenSum,
          })}
          {childCount > Math.min(children.length, CHILDREN_SHOWN) && (
            <p>
              <a
                href={address('/', {
                  under: subject.startsWith('group/') ? subject.slice('group/'.length) : undefined,
                  view: 'tree',
                })}
              >
                All {counted(childCount, 'group')}
              </a>
            </p>
          )}
        </Card>
      )}
      <Card id="history" title="History of edits">
        {historyPart(view.history, subject, telling)}
      </Card>
    </Page>
  );
}

/** What fits beside everything else on a page of 100 KB. */
const CHILDREN_SHOWN = 25;

const KIND_LABEL: Readonly<Record<SubjectView['kind'], string>> = {
  instance: 'All groups, projects and personal namespaces together',
  group: 'Group',
  project: 'Project',
  'runner-class': 'Runner class',
};

/** Nobody adds to what is unlimited. */
const canGrow = ({ limits }: SubjectView): boolean => limits.some(({ amount }) => amount !== 'unlimited');

function head(view: SubjectView): Markup {
  const { above, kind, path, subject, may } = view;
  const link = (text: string, query: Readonly<Record<string, string>>): Markup => (
    <a class="button" href={address('/edit', { subject, ...query })}>
      {text}
    </a>
  );
  return (
    <div class="head">
      <div>
        <Crumbs>
          <li>
            <a href="/">Budgets</a>
          </li>
          {above.map((each) => (
            <li>{subjectLink(each.subject, lastOf(each.path))}</li>
          ))}
        </Crumbs>
        <h1>{path}</h1>
        <p>
          {KIND_LABEL[kind]}
          {kind !== 'instance' && (
            <>
              {' '}
              <span class="id">{subject.slice(subject.indexOf('/') + 1)}</span>
            </>
          )}
        </p>
      </div>
      <div class="actions">
        {may.loosen && link('New limit', { kind: 'set' })}
        {may.grant && canGrow(view) && link('Grant more', { kind: 'grant' })}
        {may.ask && !may.grant && canGrow(view) && (
          <a class="button main" href={address('/ask', { subject })}>
            Ask for more
          </a>
        )}
        {may.freeze && link('Freeze', { kind: 'freeze' })}
        {may.breakGlass && kind !== 'runner-class' && link('Break glass', { kind: 'breakglass' })}
        {may.rollOut && kind === 'group' && link('Roll out', { kind: 'rollout' })}
      </div>
    </div>
  );
}

function mainCard(limit: LimitRow, view: SubjectView, telling: Telling): Markup {
  const { unit, settled, held, forecast, owner, contact, reason, costCenter } = limit;
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
          <dd>{amount(settled, unit, telling)}</dd>
        </div>
        <div>
          <Fact name="Held">
            {amount(held, unit, telling)}
            <small class="soft">by jobs that run or wait</small>
          </Fact>
        </div>
        <div>
          <Fact name="Limit">
            {limitAmount(limit, telling)}
            <small class="soft">{madeOf(limit)}</small>
          </Fact>
        </div>
        <div>
          <dt>Left</dt>
          <dd class={leftClass(limit)}>
            {leftText(limit, telling)}
            <small class="soft">{of !== undefined && <>{percent(settled + held, of)} used</>}</small>
          </dd>
        </div>
        <div>
          <Fact name="Runs out">
            {of === undefined ? (
              <span class="soft">never</span>
            ) : (
              runsOut(forecast, limit.zone, telling.nowMs, onlyWatches(limit))
            )}
          </Fact>
        </div>
      </dl>
      {of !== undefined && (
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

/** Whether the figures of this page are one, by how much not, and why. */
function agreementNote(limit: LimitRow, { agreements }: SubjectView, telling: Telling): Markup | '' {
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

const poolNotes = ({ pools, limits }: SubjectView, telling: Telling): Markup[] =>
  pools.flatMap((pool) => {
    const limit = limits.find(({ id }) => id === pool.limit);
    if (limit === undefined || limit.amount === 'unlimited') return [];
    return [
      <div class="note">
        <p>
          <strong>{limitWords(limit)} is a pool:</strong>{' '}
          {poolWords(pool, limit.amount, (whole) => amount(whole, limit.unit, telling))}. Whoever comes first
          has it.
          {pool.larger.length > 0 && <> Larger than the pool, or unlimited: {pool.larger.join(', ')}.</>}
        </p>
      </div>,
    ];
  });

function rolloutNote({ rollout }: SubjectView): Markup | '' {
  if (rollout === undefined || (rollout.cost ?? rollout.capacity) === undefined) return '';
  const parts = [
    rollout.cost && (
      <>
        cost rules go as far as <strong>{rollout.cost}</strong>
      </>
    ),
    rollout.capacity && (
      <>
        capacity rules go as far as <strong>{rollout.capacity}</strong>
      </>
    ),
  ].filter((part) => part !== undefined);
  return (
    <div class="note warn">
      <p>
        Being rolled out:{' '}
        {parts.map((part, index) => (
          <>
            {index > 0 && ', '}
            {part}
          </>
        ))}
        .
      </p>
    </div>
  );
}

const lastOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
