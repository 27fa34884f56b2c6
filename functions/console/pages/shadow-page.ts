import { html } from 'hono/html';
import type { ShadowRow, ShadowView } from '../../answers/shadow/model.ts';
import type { User } from '../../core/signin/user.ts';
import { daySpan } from './chart-scale.ts';
import { csrf, page } from './frame.ts';
import { limitAmount, limitWords } from './limit-words.ts';
import { address, contactLink, isMail, subjectLink } from './links.ts';
import type { Markup } from './markup.ts';
import { mayOpen } from './page-access.ts';
import type { OwnerMessage } from './pages-deps.ts';
import { amount, counted, type Telling } from './told.ts';

export interface ShadowShown {
  readonly view: ShadowView;
  readonly days: number;
  readonly group: number | undefined;
  /** A message can be sent from here; else a mail is opened where the reader is. */
  readonly canTell: boolean;
  readonly origin: string;
  readonly done: string | undefined;
}

const SPANS: readonly number[] = [7, 14, 30, 62];

/** What would have been rejected by whatever only watches. */
export function shadowPage(user: User, shown: ShadowShown, telling: Telling): Markup {
  const { view, days, group, done } = shown;
  return page(
    { title: 'Shadow report', at: 'shadow', user },
    html`<div class="head"><div><h1>Shadow report</h1><p>What would have failed, had the limits and rules that only watch been enforced. ${daySpan(view)}.</p></div>
<form class="filters" method="get" action="/shadow" data-at-once>${group !== undefined && html`<input type="hidden" name="group" value="${group}">`}<label>Days<select name="days">${SPANS.map((each) => html`<option value="${each}"${each === days && html` selected`}>the last ${each}</option>`)}</select></label><button>Show</button></form></div>
${done !== undefined && html`<div class="note good" role="status"><p>${done}</p></div>`}
${
  view.rows.length === 0
    ? html`<div class="card"><p><strong>Nothing watches here.</strong></p><p>A limit in mode <code>shadow</code> or <code>warn</code> shows here what it would have rejected. Everything you see is enforced, off, or had nothing to say.</p></div>`
    : html`${view.rows.map((row) => card(user, row, shown, telling))}<nav class="pages" aria-label="Pages"><span>${counted(view.total, 'group')} with something that watches</span>${view.next !== undefined && html`<a class="button" rel="next" href="${address('/shadow', { days, group, cursor: view.next })}">Next</a>`}</nav>`
}`,
  );
}

function card(user: User, row: ShadowRow, { days, canTell, origin }: ShadowShown, telling: Telling): Markup {
  const { subject, path, jobs, ranRejected, ranRejectedBy, wouldFail, limits, owner, contact } = row;
  const failing = wouldFail[0]?.jobs ?? 0;
  const message = ownerMessage(row, days, origin, telling);
  const mail = isMail(contact)
    ? `mailto:${encodeURIComponent(contact)}?subject=${encodeURIComponent(message.subject)}&body=${encodeURIComponent(message.text)}`
    : undefined;
  return html`<article class="card" aria-labelledby="s-${subject.replace('/', '-')}"><h2 id="s-${subject.replace('/', '-')}"><span>${subjectLink(subject, path)}</span><small class="soft">${counted(jobs, 'job')}</small></h2>
${
  ranRejected > 0 &&
  html`<p><strong class="warn-text">${counted(ranRejected, 'job')}</strong> ran although ${ranRejected === 1 ? 'it was' : 'they were'} rejected: GitLab follows no answer while the controller is in <code>dry_run</code>. Enabled, it would have failed them.</p>
<ul>${ranRejectedBy.map(({ rule, jobs: count }) => html`<li><code>${rule}</code>: ${counted(count, 'job')}</li>`)}</ul>`
}
<p>${failing === 0 ? html`<strong class="good-text">By what only watches no job would have failed.</strong>` : html`<strong class="warn-text">${wouldFail.length > 1 ? 'At least ' : ''}${counted(failing, 'job')}</strong> would have failed by what only watches.`}</p>
${wouldFail.length > 0 && html`<ul>${wouldFail.map(({ rule, jobs: count }) => html`<li><code>${rule}</code>: ${counted(count, 'job')}</li>`)}</ul>`}
${limits.length > 0 && html`<ul>${limits.map(({ limit, refusedAmount }) => html`<li>${limitWords(limit)}, ${limitAmount(limit, telling)} (${limit.mode})${limit.period !== undefined && html`, ${limit.period.label}`}: ${amount(refusedAmount, limit.unit, telling)} would not have been let in</li>`)}</ul>`}
<div class="actions">${
    canTell && (owner ?? contact) !== undefined && mayOpen('POST /shadow/send', user.roles)
      ? html`<form method="post" action="/shadow/send">${csrf(user)}<input type="hidden" name="group" value="${subject.slice(subject.indexOf('/') + 1)}"><input type="hidden" name="days" value="${days}"><button>Send to owner<span class="hidden"> of ${path}</span></button></form>`
      : mail !== undefined
        ? html`<a class="button" href="${mail}">Send to owner<span class="hidden"> of ${path}</span></a>`
        : html`<span class="soft">No mail address of an owner is known${contact !== undefined && html`; contact ${contactLink(contact)}`}.</span>`
  }${owner !== undefined && html`<span class="soft">Owner: ${owner}</span>`}</div></article>`;
}

/** What the owner of a group reads: whose, how many, by what, and where to look. */
export function ownerMessage(row: ShadowRow, days: number, origin: string, telling: Telling): OwnerMessage {
  const { path, jobs, ranRejected, wouldFail, limits, owner, contact, subject } = row;
  const lines = [
    `In the last ${days} days ${path} ran ${counted(jobs, 'CI job')}. These would have failed, had every limit and rule been enforced:`,
    '',
    ...wouldFail.map(({ rule, jobs: count }) => `- ${rule}: ${counted(count, 'job')}`),
    ...limits.map(
      ({ limit, refusedAmount }) =>
        `- ${limitWords(limit)}, ${limitAmount(limit, telling)}: ${amount(refusedAmount, limit.unit, telling)} too much`,
    ),
    ...(wouldFail.length + limits.length === 0 ? ['- none'] : []),
    '',
    ...(ranRejected > 0
      ? [
          `${counted(ranRejected, 'job')} ran although rejected by what is enforced: the runner controller is in dry run, or was then. Armed, it would have failed them.`,
          '',
        ]
      : []),
    `${ranRejected > 0 ? 'What only watches rejects nothing yet.' : 'Nothing was rejected: these limits only watch so far.'} The figures, and how to ask for more:`,
    `${origin}/groups/${subject.slice(subject.indexOf('/') + 1)}`,
  ];
  return {
    subject: `CI limits of ${path}: what would have failed`,
    text: lines.join('\n'),
    about: subject,
    path,
    ...(owner !== undefined && { owner }),
    ...(contact !== undefined && { contact }),
  };
}
