import type { BreakGlassState } from '../../core/limits/edit-model.ts';
import { ConsolePage } from './frame.tsx';
import { mayOpen } from './page-access.ts';
import { doneText, formatOf, type PageRoutes, send } from './page-deps.ts';
import { distance, edge, number, type PageFormat, pageCount } from './parts/amounts.tsx';
import { address, button, Done, Facts, type Markup, Plain, soft, subjectLink } from './parts/layout.tsx';

export const breakGlassRoutes: PageRoutes = (app, deps) => {
  app.get('/break-glass', async (c) =>
    send(c, breakGlassPage(await deps.read.breakGlasses(c.var.user), doneText(c), formatOf(c, deps))),
  );
};

function breakGlassPage(all: readonly BreakGlassState[], done: string | undefined, format: PageFormat) {
  const { user } = format;
  const may = user.roles.admin || user.roles.finance;
  return (
    <ConsolePage
      title="Break-glass"
      at="/break-glass"
      user={user}
      about="For a limited time, jobs of named users or on protected refs pass limits. They are charged, and security rules still apply."
      actions={
        may &&
        button(
          address('/edit', { kind: 'breakglass', subject: 'instance' }),
          'Break glass for the whole GitLab',
        )
      }
    >
      <Done text={done} />
      {all.length === 0 && <Plain>No break-glass has been opened.</Plain>}
      {all.map((each) => breakGlassCard(each, format))}
    </ConsolePage>
  );
}

function breakGlassCard(glass: BreakGlassState, format: PageFormat): Markup {
  const { id, subject, path, users, jobs, per, used, by } = glass;
  const { untilMs, fromMs, open, toReview, zone = 'UTC' } = glass;
  const { nowMs } = format;
  const names = users.map((user) => {
    const name = glass.userNames?.[user];
    return name === undefined ? String(user) : `${name} (${user})`;
  });
  const whose = users.length > 0 ? `of users ${names.join(', ')}` : 'of all users';
  const place = /^(group|project)\/|^instance$/.test(subject) ? subject : undefined;
  const edit = (kind: string, text: string): Markup =>
    button(address('/edit', { kind, breakglass: id, subject: place }), text);
  const mayEdit = mayOpen('GET /edit', format.user.roles);
  const closed = fromMs > nowMs ? 'scheduled' : 'over';
  return (
    <article class="card" aria-labelledby={`g-${id}`}>
      <h2 id={`g-${id}`}>
        <span>
          {subjectLink(subject, path ?? (subject === 'instance' ? 'The whole GitLab' : subject))}{' '}
          <span class={open ? 'tag bad' : 'tag'}>{open ? 'open' : closed}</span>{' '}
          {toReview && <span class="tag warn">to review</span>}
        </span>
        {soft(by !== undefined && `by ${by}, `, distance(fromMs, nowMs))}
      </h2>
      <p>
        {glass.reason} {glass.ticket !== undefined && soft(glass.ticket)}
      </p>
      <Facts
        of={[
          ['Jobs', `${whose}${glass.protected ? ' on protected refs' : ''}`],
          ['Used', `${number(used)} of ${pageCount(jobs, 'job')}${per === 'once' ? '' : ` per ${per}`}`],
          ['Until', edge(untilMs, 'end', { zone })],
          ['Review', glass.reviewedBy && [`by ${glass.reviewedBy}`, glass.note].filter(Boolean).join(': ')],
        ]}
      />
      <div class="actions">
        {mayEdit && open && edit('end-breakglass', 'End break-glass')}
        {mayEdit && toReview && edit('review-breakglass', 'Review break-glass')}
      </div>
    </article>
  );
}
