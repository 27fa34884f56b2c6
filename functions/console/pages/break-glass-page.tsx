import type { BreakGlassState } from '../../core/limits/edit-model.ts';
import { ConsolePage } from './frame.tsx';
import { type PageRoutes, send } from './page.ts';
import { mayOpen } from './page-access.ts';
import * as ui from './parts/ui.ts';

export const breakGlassRoutes: PageRoutes = (app, deps) => {
  app.get('/break-glass', async (c) => send(c, breakGlassPage(await deps.read.breakGlasses(c.var.user))));
};

function breakGlassPage(all: readonly BreakGlassState[]) {
  const { user } = ui.format();
  const may = user.roles.admin || user.roles.finance;
  return (
    <ConsolePage
      title="Break-glass"
      at="/break-glass"
      about="For a limited time, jobs of named users or on protected refs pass limits. They are charged, and security rules still apply."
      actions={
        may &&
        ui.button(
          ui.address('/edit', { kind: 'breakglass', subject: 'instance' }),
          'Break glass for the whole GitLab',
        )
      }
    >
      {all.length === 0 && <ui.Plain>No break-glass has been opened.</ui.Plain>}
      {all.map((each) => breakGlassCard(each))}
    </ConsolePage>
  );
}

function breakGlassCard(glass: BreakGlassState): ui.Markup {
  const { id, subject, path, users, jobs, per, used, by } = glass;
  const { untilMs, fromMs, open, toReview, zone = 'UTC' } = glass;
  const { nowMs } = ui.format();
  const names = users.map((user) => {
    const name = glass.userNames?.[user];
    return name === undefined ? String(user) : `${name} (${user})`;
  });
  const whose = users.length > 0 ? `of users ${names.join(', ')}` : 'of all users';
  const place = /^(group|project)\/|^instance$/.test(subject) ? subject : undefined;
  const edit = (kind: string, text: string): ui.Markup =>
    ui.button(ui.address('/edit', { kind, breakglass: id, subject: place }), text);
  const mayEdit = mayOpen('GET /edit', ui.format().user.roles);
  const closed = fromMs > nowMs ? 'scheduled' : 'over';
  return (
    <ui.Card
      id={`g-${id}`}
      title={
        <>
          {ui.subjectLink(subject, path ?? (subject === 'instance' ? 'The whole GitLab' : subject))}{' '}
          <span class={open ? 'tag bad' : 'tag'}>{open ? 'open' : closed}</span>{' '}
          {toReview && <span class="tag warn">to review</span>}
        </>
      }
      aside={[by !== undefined && `by ${by}, `, ui.distance(fromMs)]}
    >
      <p>
        {glass.reason} {glass.ticket !== undefined && ui.soft(glass.ticket)}
      </p>
      <ui.Facts
        of={[
          ['Jobs', `${whose}${glass.protected ? ' on protected refs' : ''}`],
          [
            'Used',
            `${ui.number(used)} of ${ui.pageCount(jobs, 'job')}${per === 'once' ? '' : ` per ${per}`}`,
          ],
          ['Until', ui.edge(untilMs, 'end', { zone })],
          ['Review', glass.reviewedBy && [`by ${glass.reviewedBy}`, glass.note].filter(Boolean).join(': ')],
        ]}
      />
      <div class="actions">
        {mayEdit && open && edit('end-breakglass', 'End break-glass')}
        {mayEdit && toReview && edit('review-breakglass', 'Review break-glass')}
      </div>
    </ui.Card>
  );
}
