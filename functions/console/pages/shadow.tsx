import type { Child } from 'hono/jsx';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { ShadowRow, ShadowView } from '../../answers/rollout/model.ts';
import { ConsolePage } from './frame.tsx';
import { type PageRoutes, query, readReportDays, send } from './page.ts';
import { mayOpen } from './page-access.ts';
import * as ui from './parts/ui.ts';

const SPANS: readonly number[] = [7, 14, 30, 62];
/** A card is about a kilobyte: a page stays below 100 KB. */
const CARDS = 40;

export const shadowRoutes: PageRoutes = (app, deps) => {
  app.get('/shadow', async (c) => {
    const days = readReportDays(query.text(c, 'days'));
    const only = { group: query.number(c, 'group'), project: query.number(c, 'project') };
    const input = { days, ...withoutAbsent({ ...only, cursor: query.cursor(c) }), max: CARDS };
    const view = await deps.read.shadow(input, c.var.user);
    const shown = { days, only, canNotify: deps.notifyOwner !== undefined };
    return send(c, shadowPage(view, shown));
  });
};

interface ShadowOptions {
  readonly days: number;
  readonly only: { readonly group: number | undefined; readonly project: number | undefined };
  readonly canNotify: boolean;
}

function shadowPage(view: ShadowView, shown: ShadowOptions): ui.Markup {
  const { days, only } = shown;
  return (
    <ConsolePage
      title="Shadow report"
      at="/shadow"
      about={`Jobs that would have failed if all limits and rules in mode shadow or warn had been enforced. ${ui.daySpan(view)}.`}
      actions={<ui.DaysForm action="/shadow" only={only} choices={SPANS} days={days} />}
    >
      {view.rows.length === 0 ? (
        <ui.Plain>
          <strong>No limit or rule is in mode shadow or warn.</strong> A limit or rule in one of these modes
          shows here which jobs it would have rejected.
        </ui.Plain>
      ) : (
        <>
          {view.rows.map((row) => card(row, shown))}
          <ui.PageLinks
            next={view.next && ui.address('/shadow', { days, group: only.group, cursor: view.next })}
          >
            {ui.pageCount(view.total, only.project === undefined ? 'group' : 'project')} with limits or rules
            in these modes
          </ui.PageLinks>
        </>
      )}
    </ConsolePage>
  );
}

const ruleLines = (rules: ShadowRow['wouldFail'] | ShadowRow['ranRejectedBy']): readonly Child[] =>
  rules.map(({ rule, jobs }) => (
    <>
      <code>{rule}</code>: {ui.pageCount(jobs, 'job')}
    </>
  ));

function card(row: ShadowRow, { days, canNotify }: ShadowOptions): ui.Markup {
  const { subject, path, jobs, ranRejected, ranRejectedBy, wouldFail, limits, owner, contact } = row;
  const { user } = ui.format();
  const failing = wouldFail[0]?.jobs ?? 0;
  const id = `s-${subject.replace('/', '-')}`;
  const canSend =
    canNotify && (owner ?? contact) !== undefined && mayOpen('POST /rollout/report', user.roles);
  return (
    <ui.Card id={id} title={ui.subjectLink(subject, path)} aside={ui.pageCount(jobs, 'job')}>
      {ranRejected > 0 && (
        <>
          <p>
            <strong class="warn-text">{ui.pageCount(ranRejected, 'job')}</strong> ran although rejected:
            GitLab ignores decisions while the controller is in <code>dry_run</code>.
          </p>
          <ui.List of={ruleLines(ranRejectedBy)} />
        </>
      )}
      <p>
        <strong class={failing === 0 ? 'good-text' : 'warn-text'}>
          {wouldFail.length > 1 && 'At least '}
          {ui.pageCount(failing, 'job')}
        </strong>{' '}
        would have failed by limits and rules that are not enforced.
      </p>
      <ui.List of={ruleLines(wouldFail)} />
      <ui.List
        of={limits.map(
          ({ limit, refusedAmount }) =>
            `${ui.limitWords(limit)}, ${ui.limitAmountWords(limit)} (${limit.mode}): ${ui.pageAmount(refusedAmount, limit.unit)} would have been refused`,
        )}
      />
      <div class="actions">
        {canSend && (
          <ui.PostForm action="/rollout/report">
            {ui.hiddenFields({ subject, days: String(days), back: 'shadow' })}
            <button>Send report to owner{ui.hidden(` of ${path}`)}</button>
          </ui.PostForm>
        )}
        <span class="soft">
          Owner: {owner ?? 'unknown'}
          {contact !== undefined && <>, {ui.contactLink(contact)}</>}
        </span>
      </div>
    </ui.Card>
  );
}
