import { html } from 'hono/html';
import type { FreezeRow, GrantRow } from '../../answers/standing/model.ts';
import type { SubjectView } from '../../answers/subject/model.ts';
import { address } from './links.ts';
import type { Markup } from './markup.ts';
import { amount, distance, edge, type Telling } from './told.ts';

/** What was given on top for a time, with how long it still counts. */
export function grantsPart({ grants, may, subject }: SubjectView, telling: Telling): Markup {
  if (grants.length === 0) return html`<p class="soft">Nothing was granted on top.</p>`;
  return html`<div class="scroll" role="region" aria-label="Grants" tabindex="0"><table class="stack"><caption class="hidden">Grants</caption><thead><tr><th scope="col">Grant</th><th scope="col" class="n">Amount</th><th scope="col">Counts</th><th scope="col"><span class="hidden">Do</span></th></tr></thead><tbody>${grants.map(
    (grant) =>
      html`<tr><th scope="row">${grant.reason}<small class="soft"><code>${grant.limit}</code>${grant.ticket !== undefined && html` · ${grant.ticket}`}</small></th><td class="n">+${amount(grant.amount, grant.unit, telling)}</td><td>${stateText(grant, telling)}</td><td>${
        grant.state !== 'over' &&
        grant.id !== undefined &&
        may.tighten &&
        html`<a href="${address('/edit', { kind: 'revoke', grant: grant.id, subject })}">Revoke<span class="hidden"> ${grant.reason}</span></a>`
      }</td></tr>`,
  )}</tbody></table></div>`;
}

function stateText({ state, fromMs, untilMs, zone }: GrantRow, telling: Telling): Markup {
  switch (state) {
    case 'in_force':
      return html`<span class="tag good">in force</span> ends ${distance(untilMs, telling.nowMs)} <small class="soft">${edge(untilMs, 'end', { zone })}</small>`;
    case 'to_come':
      return html`<span class="tag">to come</span> begins ${distance(fromMs, telling.nowMs)} <small class="soft">${edge(fromMs, 'start', { zone })}</small>`;
    case 'over':
      return html`<span class="tag">over</span> since ${edge(untilMs, 'end', { zone })}`;
  }
}

/** At the top of a page: nothing else matters while it holds. */
export const freezeNotes = ({ freezes, may, subject }: SubjectView, telling: Telling): Markup[] =>
  freezes.map(
    (freeze) =>
      html`<div class="note bad"><p><strong>${isToCome(freeze, telling) ? 'Will be frozen' : 'Frozen'}${freeze.above !== undefined && html` with ${freeze.above}`}:</strong> ${freeze.reason}</p><p>${
        isToCome(freeze, telling)
          ? html`No new job starts from ${edge(freeze.fromMs ?? 0, 'start', freeze)}`
          : 'No new job starts'
      }${freeze.untilMs === undefined ? ' until somebody lifts it' : html` until ${edge(freeze.untilMs, 'end', freeze)} (${distance(freeze.untilMs, telling.nowMs)})`}. Running jobs finish.${freeze.owner !== undefined && html` Ask ${freeze.owner}.`}${
        may.freeze &&
        freeze.above === undefined &&
        html` <a href="${address('/edit', { kind: 'unfreeze', freeze: freeze.id, subject })}">Lift it</a>`
      }</p></div>`,
  );

const isToCome = ({ fromMs }: FreezeRow, { nowMs }: Telling): boolean =>
  fromMs !== undefined && fromMs > nowMs;
