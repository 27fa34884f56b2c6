import { html } from 'hono/html';
import type { Me } from '../../answers/me/model.ts';
import type { BreakGlassState } from '../../core/limits/desk/break-glass-state.ts';
import type { HistoryPage } from '../../core/limits/desk/history.ts';
import type { User } from '../../core/signin/user.ts';
import { csrf, page } from './frame.ts';
import { historyPart } from './history-part.ts';
import { address, subjectLink } from './links.ts';
import type { Markup } from './markup.ts';
import { mayOpen } from './page-access.ts';
import { counted, distance, edge, type Telling } from './told.ts';

/** Who was let in past limits, what is left of it, and whether somebody has looked at it. */
export function breakGlassPage(
  user: User,
  all: readonly BreakGlassState[],
  may: boolean,
  done: string | undefined,
  telling: Telling,
): Markup {
  return page(
    { title: 'Break-glass', at: 'break-glass', user },
    html`<div class="head"><div><h1>Break-glass</h1><p>Named people’s jobs, or those of protected refs, that may pass limits for a time. Always charged, never past security rules.</p></div>${
      may &&
      html`<div class="actions"><a class="button" href="/edit?kind=breakglass&amp;subject=instance">For the whole GitLab</a></div>`
    }</div>
${done !== undefined && html`<div class="note good" role="status"><p>${done}</p></div>`}
${all.length === 0 ? html`<div class="card"><p>Nobody was let in by breaking glass.</p>${may && html`<p class="soft">To open one for a group, go to its page and choose “Break glass”.</p>`}</div>` : all.map((each) => breakGlassCard(each, mayOpen('GET /edit', user.roles), telling))}`,
  );
}

const personText = (id: number, names: BreakGlassState['userNames'] = {}): string =>
  names[id] === undefined ? String(id) : `${names[id]} (${id})`;

function breakGlassCard(glass: BreakGlassState, mayEdit: boolean, telling: Telling): Markup {
  const {
    id,
    subject,
    path,
    users,
    jobs,
    per,
    used,
    untilMs,
    fromMs,
    reason,
    ticket,
    by,
    open,
    toReview,
    zone = 'UTC',
  } = glass;
  const who = [
    users.length > 0
      ? `jobs of ${users.length === 1 ? 'user' : 'users'} ${users.map((each) => personText(each, glass.userNames)).join(', ')}`
      : 'everybody’s jobs',
    glass.protected ? 'on protected refs' : '',
  ];
  const edit = (kind: string): string =>
    address('/edit', {
      kind,
      breakglass: id,
      subject: /^(group|project)\/|^instance$/.test(subject) ? subject : undefined,
    });
  return html`<article class="card" aria-labelledby="g-${id}"><h2 id="g-${id}"><span>${subjectLink(subject, path ?? (subject === 'instance' ? 'The whole GitLab' : subject))} ${
    open
      ? html`<span class="tag bad">open</span>`
      : fromMs > telling.nowMs
        ? html`<span class="tag">to come</span>`
        : html`<span class="tag">over</span>`
  } ${toReview && html`<span class="tag warn">to review</span>`}</span><small class="soft">${by !== undefined && html`by ${by}, `}${distance(fromMs, telling.nowMs)}</small></h2>
<p>${reason}${ticket !== undefined && html` <small class="soft">${ticket}</small>`}</p>
<dl class="facts"><dt>Whose</dt><dd>${who.filter((part) => part !== '').join(' ')}</dd><dt>Let in</dt><dd>${used.toLocaleString('en-US')} of ${counted(jobs, 'job')}${per !== 'once' && html` per ${per}`}</dd><dt>Until</dt><dd>${edge(untilMs, 'end', { zone })} (${distance(untilMs, telling.nowMs)})</dd>${
    glass.reviewedBy !== undefined &&
    html`<dt>Reviewed</dt><dd>by ${glass.reviewedBy}${glass.note !== undefined && html`: ${glass.note}`}</dd>`
  }</dl><div class="actions">${mayEdit && open && html`<a class="button" href="${edit('end-breakglass')}">End it now</a>`}${mayEdit && toReview && html`<a class="button" href="${edit('review-breakglass')}">Review it</a>`}</div></article>`;
}

export const historyPage = (
  user: User,
  history: HistoryPage,
  subject: string | undefined,
  done: string | undefined,
  telling: Telling,
): Markup =>
  page(
    { title: 'History', at: 'log', user },
    html`<div class="head"><div><h1>History of edits</h1><p>${
      subject === undefined
        ? 'Every change of a limit you may see, newest first.'
        : html`Of ${subjectLink(subject, subject)}. <a href="/history">All</a>`
    }</p></div></div>${done !== undefined && html`<div class="note good" role="status"><p>${done}</p></div>`}<section class="card" aria-label="Edits">${historyPart(history, subject, telling)}</section>`,
  );

const ROLE_SENTENCES: Readonly<Record<Me['roles'][number], string>> = {
  admin: 'Administrator: everything, also switching rules back.',
  finance: 'Finance: set, raise and grant everywhere, approve what others ask for.',
  owner:
    'Owner: see your groups and all below, tighten and freeze them; loosen what an enforced limit above still holds.',
  viewer: 'Viewer: see your groups and all below, ask for more.',
};

export const mePage = (user: User, me: Me): Markup =>
  page(
    { title: 'Who am I', at: 'none', user },
    html`<div class="head"><div><h1>${me.name}</h1><p>${me.username}, user ${me.id} in GitLab</p></div></div>
<section class="card" aria-labelledby="may"><h2 id="may">What you may do</h2>${
      me.roles.length === 0
        ? html`<p><strong>You are signed in, and nothing is yours to see.</strong> Rights come from membership in GitLab’s groups and are read anew every 15 minutes. Ask whoever runs Tollgate which groups give them.</p>`
        : html`<ul>${me.roles.map((role) => html`<li>${ROLE_SENTENCES[role]}</li>`)}</ul><p class="soft">From your groups in GitLab; read anew every 15 minutes.</p>`
    }${me.waiting > 0 && html`<p><a href="/requests">${counted(me.waiting, 'request')}</a> ${me.waiting === 1 ? 'waits' : 'wait'} for somebody with your rights.</p>`}</section>
${
  me.seesAll
    ? html`<section class="card" aria-labelledby="see"><h2 id="see">What you see</h2><p>The whole GitLab.</p></section>`
    : me.groups.length > 0 &&
      html`<section class="card" aria-labelledby="see"><h2 id="see">What you see</h2><table><caption class="hidden">Groups you see</caption><thead><tr><th scope="col">Group and all below</th><th scope="col">As</th></tr></thead><tbody>${me.groups.map(
        ({ id, path, role }) =>
          html`<tr><th scope="row" class="path"><a href="/groups/${id}">${path}</a></th><td>${role}</td></tr>`,
      )}</tbody></table></section>`
}
<form class="actions" method="post" action="/signout">${csrf(user)}<button>Sign out</button></form>`,
  );
