import type { Child } from 'hono/jsx';
import { withoutAbsent } from '../../../../policies/without-absent.ts';
import type { SubjectView } from '../../../answers/groups/model.ts';
import type { FreezeRow, GrantRow, LimitRow } from '../../../answers/status/model.ts';
import { ConsolePage } from '../frame.tsx';
import { historyPart } from '../history.tsx';
import { type PageContext, type PageRoutes, query, send } from '../page.ts';
import * as ui from '../parts/ui.ts';
import { sendUnknown } from '../problem-page.tsx';
import { limitsPart } from './limits-part.tsx';
import { burnUpChart, rejectionsPart, usagePart, usageSentence } from './usage-part.tsx';

export const subjectRoutes: PageRoutes = (app, deps) => {
  const show = async (c: PageContext, subject: string): Promise<Response> => {
    const view = await deps.read.subject(
      subject,
      withoutAbsent({ limit: query.text(c, 'limit') }),
      c.var.user,
    );
    return view === undefined ? sendUnknown(c) : send(c, subjectPage(view));
  };
  app.get('/instance', (c) => show(c, 'instance'));
  app.get('/:folder{groups|projects|runner-classes}/:name', (c) =>
    show(c, ui.subjectOfPath(c.req.param('folder'), c.req.param('name'))),
  );
};

const KIND_LABEL = {
  instance: 'All groups, projects and personal namespaces together',
  group: 'Group',
  project: 'Project',
  'runner-class': 'Runner class',
} as const;
/** A page stays below 100 KB. */
const CHILDREN_SHOWN = 25;

function subjectPage(view: SubjectView): ui.Markup {
  const { burnUp, limits, children, childCount, subject, path, kind, above, usage } = view;
  const main = limits.find(({ id }) => id === burnUp?.limit) ?? limits.find(({ inForce }) => inForce);
  const isClosed = kind === 'group' || kind === 'instance';
  const under = subject.startsWith('group/') ? subject.slice('group/'.length) : undefined;
  return (
    <ConsolePage
      title={path}
      at="/"
      crumbs={[
        <a href="/">Budgets</a>,
        ...above.map((each) => ui.subjectLink(each.subject, ui.lastOf(each.path))),
      ]}
      about={
        <>
          {KIND_LABEL[kind]}
          {isClosed && [
            ' · ',
            <a href={ui.address('/statements', { group: under ?? subject })}>Statements</a>,
          ]}
        </>
      }
      actions={actions(view)}
    >
      {view.freezes.map((freeze) => freezeNote(freeze, view))}
      {main !== undefined && mainLimitCard(main, view)}
      <ui.Card id="limits" title="Limits">
        {limitsPart(view)}
      </ui.Card>
      <ui.Card id="grants" title="Grants">
        {grantsPart(view)}
      </ui.Card>
      <ui.Card id="rejected" title="Rejected jobs">
        <p class="soft">{usageSentence(usage)}</p>
        {rejectionsPart(usage.rejections)}
      </ui.Card>
      {kind !== 'project' && usagePart(view)}
      {childCount > 0 && (
        <ui.Card id="children" title={`${ui.pageCount(childCount, 'group')} directly below`}>
          {ui.BAR_KEY}
          {ui.groupTable(children.slice(0, CHILDREN_SHOWN), 'Groups directly below')}
          {childCount > Math.min(children.length, CHILDREN_SHOWN) && (
            <p>
              <a href={ui.address('/', { under })}>All {ui.pageCount(childCount, 'group')}</a>
            </p>
          )}
        </ui.Card>
      )}
      <ui.Card id="history" title="History of edits">
        {historyPart(view.history, subject)}
      </ui.Card>
    </ConsolePage>
  );
}

function actions({ kind, subject, may, childCount, limits }: SubjectView): Child {
  // Unlimited amounts cannot grow.
  const canGrow = limits.some(({ amount }) => amount !== 'unlimited');
  const link = (isOffered: boolean, text: string, kindOfEdit: string): Child =>
    isOffered && ui.button(ui.address('/edit', { subject, kind: kindOfEdit }), text);
  return [
    link(may.loosen && (kind === 'instance' || childCount > 0), 'Scale all limits', 'scale'),
    link(may.loosen, 'New limit', 'set'),
    link(may.grant && canGrow, 'Grant more', 'grant'),
    may.ask && !may.grant && canGrow && ui.button(ui.address('/ask', { subject }), 'Request more'),
    link(may.freeze, 'Freeze jobs', 'freeze'),
    link(may.breakGlass && kind !== 'runner-class', 'Break glass', 'breakglass'),
    link(may.rollOut && kind === 'group', 'Set rollout mode', 'rollout'),
  ];
}

function mainLimitCard(limit: LimitRow, view: SubjectView): ui.Markup {
  const { unit, settled, held = 0, owner, contact, reason, costCenter, granted, carried } = limit;
  const others = view.limits.filter(({ per, id }) => per !== undefined && id !== limit.id);
  const amount = (whole: number): string => ui.pageAmount(whole, unit);
  const isCounted = settled !== undefined && limit.amount !== 'unlimited';
  return (
    <ui.Card
      id="budget"
      title={
        <>
          {ui.limitWords(limit)} {ui.modeTag(limit.rolledOutAs ?? limit.mode)}
        </>
      }
      aside={limit.period?.label}
    >
      <ui.Facts
        style="figures"
        of={[
          ['Spent', settled === undefined ? ui.NOT_COUNTED : amount(settled)],
          ['Held', [settled === undefined ? '–' : amount(held), ui.soft('by jobs that run or wait')]],
          ['Limit', ui.limitAmountWords(limit)],
          ['Granted', granted > 0 && amount(granted)],
          ['Carried over', carried !== 0 && amount(carried)],
          ['Left', ui.leftText(limit), ui.leftClass(limit)],
          ['Runs out', ui.runsOut(limit)],
        ]}
      />
      {ui.limitBar(limit)}
      {isCounted && ui.BAR_KEY}
      {view.burnUp?.limit === limit.id && burnUpChart(view.burnUp, limit)}
      {others.length > 0 && (
        <p class="soft">
          Chart of:{' '}
          {ui.joined(
            others.map((other) => (
              <a href={ui.address(ui.subjectHref(view.subject) ?? '/', { limit: other.id })}>
                {ui.limitWords(other)}
              </a>
            )),
          )}
        </p>
      )}
      <ui.Facts
        of={[
          ['Owner', owner],
          ['Contact', contact && ui.contactLink(contact)],
          ['Cost centre', costCenter],
          ['Reason', reason],
        ]}
      />
    </ui.Card>
  );
}

function grantsPart({ grants, may, subject }: SubjectView): ui.Markup {
  if (grants.length === 0) return <p class="soft">There are no grants.</p>;
  return (
    <ui.Table
      label="Grants"
      columns={{
        Grant: ({ reason, limit, ticket }) => [
          reason,
          ' ',
          ui.soft(<code>{limit}</code>, ticket && ` · ${ticket}`),
        ],
        Amount: { style: 'n', cell: ({ amount, unit }) => `+${ui.pageAmount(amount, unit)}` },
        Validity: (grant) => grantState(grant),
        [ui.DO]: ({ id, reason }) =>
          id !== undefined &&
          may.tighten && (
            <a href={ui.address('/edit', { kind: 'revoke', grant: id, subject })}>
              Revoke{ui.hidden(` ${reason}`)}
            </a>
          ),
      }}
      rows={grants}
    />
  );
}

const grantState = ({ state, fromMs, untilMs, zone }: GrantRow): ui.Markup =>
  state === 'to_come' ? (
    <>
      <span class="tag">scheduled</span> begins {ui.distance(fromMs)}{' '}
      {ui.soft(ui.edge(fromMs, 'start', { zone }))}
    </>
  ) : (
    <>
      <span class="tag good">in force</span> ends {ui.distance(untilMs)}{' '}
      {ui.soft(ui.edge(untilMs, 'end', { zone }))}
    </>
  );

function freezeNote(freeze: FreezeRow, { may, subject }: SubjectView): ui.Markup {
  const { fromMs = 0, untilMs, above, reason, owner, id } = freeze;
  return (
    <ui.Note tone="bad">
      <strong>
        Frozen
        {above !== undefined && ` with ${above}`}:
      </strong>{' '}
      {reason}. No new job starts
      {fromMs > ui.format().nowMs && <> from {ui.edge(fromMs, 'start', freeze)}</>}
      {untilMs === undefined ? ' until it is lifted' : <> until {ui.edge(untilMs, 'end', freeze)}</>}. Running
      jobs finish.{owner !== undefined && ` Ask ${owner}.`}{' '}
      {may.freeze && above === undefined && (
        <a href={ui.address('/edit', { kind: 'unfreeze', freeze: id, subject })}>Lift freeze</a>
      )}
    </ui.Note>
  );
}
