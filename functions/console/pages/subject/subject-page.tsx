import { Hono } from 'hono';
import type { SubjectView } from '../../../answers/groups/model.ts';
import type { FreezeRow, GrantRow, LimitRow } from '../../../answers/status/model.ts';
import { agreementText, poolText } from '../../../answers/status/texts.ts';
import type { SignInEnv, User } from '../../../core/signin/model.ts';
import { ConsolePage } from '../frame.tsx';
import { doneText, type PageContext, type PagesDeps, pageFormatOf, query, send } from '../page-deps.ts';
import {
  BAR_KEY,
  Bar,
  bare,
  distance,
  edge,
  leftClass,
  leftText,
  limitAmountWords,
  limitWords,
  modeTag,
  NOT_COUNTED,
  type PageFormat,
  pageAmount,
  pageCount,
  percent,
  runsOut,
} from '../parts/amounts.tsx';
import {
  address,
  Card,
  Crumbs,
  contactLink,
  Done,
  Fact,
  type Markup,
  subjectHref,
  subjectLink,
  subjectOfPath,
  Table,
} from '../parts/layout.tsx';
import { historyPart } from '../parts/preview-part.tsx';
import { groupTable } from '../parts/tables.tsx';
import { unknownPlace } from '../problem-page.tsx';
import { eatersPart, limitsPart } from './limits-part.tsx';
import { burnUpChart, rejectionsPart, usagePart, usageSentence } from './usage-part.tsx';

/** The limit that matters most here: its figures, its bar and its course. */
function mainLimitCard(limit: LimitRow, view: SubjectView, telling: PageFormat): Markup {
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

/** Grants with their remaining time. */
function grantsPart({ grants, may, subject }: SubjectView, telling: PageFormat): Markup {
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
const freezeNotes = ({ freezes, may, subject }: SubjectView, telling: PageFormat): Markup[] =>
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

interface SubjectShown {
  readonly view: SubjectView;
  /** Result text at the top. */
  readonly done: string | undefined;
}

function subjectPage(user: User, { view, done }: SubjectShown, telling: PageFormat): Markup {
  const { burnUp, limits, children, childCount, subject } = view;
  const main = limits.find(({ id }) => id === burnUp?.limit) ?? limits.find(({ inForce }) => inForce);
  return (
    <ConsolePage title={view.path} at="/" user={user}>
      {head(view)}
      <Done text={done} />
      {freezeNotes(view, telling)}
      {poolNotes(view, telling)}
      {rolloutNote(view)}
      {main !== undefined && mainLimitCard(main, view, telling)}
      {view.kind !== 'project' && eatersPart(view, telling)}
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
        <Card id="children" title={<>{pageCount(childCount, 'group')} right below</>}>
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
                All {pageCount(childCount, 'group')}
              </a>
            </p>
          )}
        </Card>
      )}
      <Card id="history" title="History of edits">
        {historyPart(view.history, subject, telling)}
      </Card>
    </ConsolePage>
  );
}

/** Rows that fit into a page of 100 KB. */
const CHILDREN_SHOWN = 25;

const KIND_LABEL: Readonly<Record<SubjectView['kind'], string>> = {
  instance: 'All groups, projects and personal namespaces together',
  group: 'Group',
  project: 'Project',
  'runner-class': 'Runner class',
};

/** Unlimited amounts cannot grow. */
const canGrow = ({ limits }: SubjectView): boolean => limits.some(({ amount }) => amount !== 'unlimited');

function head(view: SubjectView): Markup {
  const { above, kind, path, subject, may, childCount } = view;
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
          {(kind === 'group' || kind === 'instance') && (
            <>
              {' · '}
              <a href={address('/statements', { group: subject.replace('group/', '') })}>Statements</a>
            </>
          )}
        </p>
      </div>
      <div class="actions">
        {may.loosen &&
          (kind === 'instance' || childCount > 0) &&
          link('Change all by a share', { kind: 'scale' })}
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

const poolNotes = ({ pools, limits }: SubjectView, telling: PageFormat): Markup[] =>
  pools.flatMap((pool) => {
    const limit = limits.find(({ id }) => id === pool.limit);
    if (limit === undefined || limit.amount === 'unlimited') return [];
    return [
      <div class="note">
        <p>
          <strong>{limitWords(limit)} is a pool:</strong>{' '}
          {poolText(pool, limit.amount, (whole) => pageAmount(whole, limit.unit, telling))}. Whoever comes
          first has it.
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

/** One group, project or runner class, or the whole GitLab. */
export function subjectRoutes(deps: PagesDeps): Hono<SignInEnv> {
  const app = new Hono<SignInEnv>();

  app.get('/instance', (c) => showSubject(c, deps, 'instance'));
  app.get('/:folder{groups|projects|runner-classes}/:name', (c) => {
    const subject = subjectOfPath(c.req.param('folder'), c.req.param('name'));
    return subject === undefined ? send(c, unknownPlace(c.var.user), 404) : showSubject(c, deps, subject);
  });

  return app;
}

async function showSubject(c: PageContext, deps: PagesDeps, subject: string): Promise<Response> {
  const { user } = c.var;
  const limit = query(c, 'limit');
  const view = await deps.read.subject(subject, limit === undefined ? {} : { limit }, user);
  if (view === undefined) return send(c, unknownPlace(user), 404);
  return send(c, subjectPage(user, { view, done: doneText(c) }, pageFormatOf(deps)));
}
