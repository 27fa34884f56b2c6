import { html } from 'hono/html';
import type { DocumentProblem } from '../../../policies/document/parsed.ts';
import type { BacktestAnswer } from '../../answers/backtest/model.ts';
import type { RequestRow } from '../../answers/requests/model.ts';
import type { User } from '../../core/signin/user.ts';
import { SAVE_FORM } from './backtest-part.ts';
import { csrf, page } from './frame.ts';
import type { Markup } from './markup.ts';
import { previewPart, type ValidPreview } from './preview-part.ts';
import { requestFacts, wantedText } from './request-facts.ts';
import type { Telling } from './told.ts';

export interface DecideShown {
  readonly row: RequestRow;
  /** What approving it would do; or why it would be refused. */
  readonly preview:
    | ValidPreview
    | { readonly outcome: 'invalid'; readonly problems: readonly DocumentProblem[] };
  /** Absent: not counted yet. */
  readonly exact?: BacktestAnswer | undefined;
  readonly note: string;
}

const lockoutPart = ({ lockout }: ValidPreview): Markup | '' =>
  lockout.length > 0
    ? html`<div class="note bad"><p><strong>Jobs of those who run Tollgate would be rejected:</strong></p><ul>${lockout.slice(0, LOCKOUT_SHOWN).map((text) => html`<li>${text}</li>`)}</ul></div>`
    : '';

const LOCKOUT_SHOWN = 10;

/** What a request asks for and what giving it would do, before anybody says yes. */
export const decidePage = (
  user: User,
  { row, preview, exact, note }: DecideShown,
  telling: Telling,
): Markup =>
  page(
    { title: `Decide: ${wantedText(row, telling)} for ${row.path}`, at: 'requests', user },
    html`<div class="head"><div><nav class="crumbs" aria-label="Above"><ol><li><a href="/requests">Requests</a></li></ol></nav><h1>${wantedText(row, telling)} for ${row.path}</h1><p>Asked for by ${row.requestedBy}. Look at what it does, then decide.</p></div></div>
<section class="card" aria-labelledby="asked"><h2 id="asked">What is asked for</h2>${requestFacts(row, telling)}</section>
${
  preview.outcome === 'valid'
    ? html`${previewPart({ ...preview, needsApproval: [] }, telling, exact)}${lockoutPart(preview)}`
    : html`<div class="note bad" role="alert"><p><strong>It no longer fits the limits.</strong></p><ul>${preview.problems.map(({ message }) => html`<li>${message}</li>`)}</ul></div>`
}
<form class="card" id="${SAVE_FORM}" method="post" action="/requests/${row.id}">${csrf(user)}<div class="field"><label for="f-note">Note <small class="soft">required to decline</small></label><input id="f-note" name="note" value="${note}" maxlength="500" autocomplete="off"></div><div class="actions"><button class="main" name="verdict" value="approve"${preview.outcome === 'invalid' && html` disabled`}>Approve</button><button class="danger" name="verdict" value="decline">Decline</button><a class="button" href="/requests">Cancel</a></div></form>`,
  );
