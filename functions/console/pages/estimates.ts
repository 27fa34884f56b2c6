/** Jobs that would have been rejected, estimated from the totals of each day: there at once, and for every day. */
import { html } from 'hono/html';
import type { EditEffect, LookBack } from '../../answers/preview/model.ts';
import type { Markup } from './markup.ts';
import { counted } from './told.ts';

export const estimatesOf = (effects: readonly EditEffect[]): Markup => html`${effects.map(estimateOf)}`;

function estimateOf({ path, lookBack }: EditEffect): Markup | '' {
  if (lookBack === undefined) return '';
  return html`<p>${path}, the last ${counted(lookBack.days, 'day')}: ${lookBackWords(lookBack)}</p>`;
}

function lookBackWords({ jobs, jobsStopped, jobsStoppedBefore, reachedOn }: LookBack): Markup {
  const stopped =
    jobsStopped === 0
      ? html`<strong class="good-text">none</strong> of ${counted(jobs, 'job')} would have been rejected`
      : html`about <strong class="warn-text">${counted(jobsStopped, 'job')}</strong> of ${jobs.toLocaleString('en-US')} would have been rejected${reachedOn !== undefined && html`, from ${reachedOn} on`}`;
  return html`${stopped}${jobsStoppedBefore !== jobsStopped && html` (${jobsStoppedBefore.toLocaleString('en-US')} with the limit as it is)`}. An estimate from the totals of each day.`;
}
