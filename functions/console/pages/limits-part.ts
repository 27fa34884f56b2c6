import { html } from 'hono/html';
import type { LimitRow } from '../../answers/standing/model.ts';
import type { SubjectView } from '../../answers/subject/model.ts';
import { bar } from './bar.ts';
import { leftClass, leftText, limitAmount, limitWords, onlyWatches, runsOut } from './limit-words.ts';
import { address, contactLink } from './links.ts';
import type { Markup } from './markup.ts';
import { amount, bare, edge, modeTag, percent, type Telling } from './told.ts';

/** Every limit of the subject with its bar. */
export function limitsPart(view: SubjectView, telling: Telling): Markup {
  const { limits, limitsAbove } = view;
  return html`${
    limits.length === 0
      ? html`<p>It has no limit of its own${limitsAbove.length > 0 ? '' : '; the groups above it may have some'}.</p>`
      : html`<div class="scroll" role="region" aria-label="Limits" tabindex="0"><table class="stack"><caption class="hidden">Limits and how they stand</caption>
<thead><tr><th scope="col">Limit</th><th scope="col">Use</th><th scope="col" class="n wide">Used</th><th scope="col" class="n wide">Spent</th><th scope="col" class="n wide">Held</th><th scope="col" class="n">Limit</th><th scope="col" class="n">Left</th><th scope="col" class="wide">Runs out</th><th scope="col"><span class="hidden">Do</span></th></tr></thead>
<tbody>${limits.map((limit) => limitLine(limit, view, telling))}</tbody></table></div>`
  }${aboveList(view, telling)}`;
}

function limitLine(limit: LimitRow, { may }: SubjectView, telling: Telling): Markup {
  const { settled, held, unit, forecast, subject, id } = limit;
  const of = limit.amount === 'unlimited' ? undefined : limit.amount;
  const edit = address('/edit', { kind: 'set', subject, limit: id });
  return html`<tr><th scope="row">${limitWords(limit)} ${modeTag(limit.rolledOutAs ?? limit.mode)}<small class="soft">${factsText(limit, telling)}</small></th><td class="bar-cell">${
    of !== undefined &&
    limit.inForce &&
    bar({
      spent: settled,
      held,
      limit: of,
      ...(forecast?.atEndAmount !== undefined && { forecast: forecast.atEndAmount }),
    })
  }</td><td class="n wide">${of === undefined ? '–' : percent(settled + held, of)}</td><td class="n wide">${bare(settled, unit)}</td><td class="n wide">${bare(held, unit)}</td><td class="n" data-l="limit">${limitAmount(limit, telling)}</td><td class="n ${leftClass(limit)}"${(limit.left ?? 0) >= 0 && html` data-l="left"`}>${leftText(limit, telling)}</td><td class="wide ro">${
    limit.per === undefined || of === undefined
      ? html`<span class="soft">–</span>`
      : runsOut(forecast, limit.zone, telling.nowMs, onlyWatches(limit))
  }</td><td>${(may.tighten || may.loosen) && html`<a href="${edit}">Edit<span class="hidden"> ${limitWords(limit)}</span></a>`}</td></tr>`;
}

function factsText(limit: LimitRow, telling: Telling): Markup[] {
  const { unit, period, owner, softAmount, granted, carried, byDefault, inForce, fromMs, untilMs } = limit;
  const parts: (Markup | undefined)[] = [
    html`<code>${limit.id}</code>`,
    inForce ? undefined : html`<strong>not in force</strong>`,
    period && html`${period.label}`,
    granted > 0 ? html`with ${amount(granted, unit, telling)} granted` : undefined,
    carried > 0 ? html`${amount(carried, unit, telling)} carried over` : undefined,
    carried < 0 ? html`${amount(-carried, unit, telling)} overdrawn before` : undefined,
    softAmount === undefined ? undefined : html`warns from ${amount(softAmount, unit, telling)}`,
    byDefault && html`default of groups like this`,
    owner === undefined ? undefined : html`owner ${owner}`,
    fromMs === undefined ? undefined : html`from ${edge(fromMs, 'start', limit)}`,
    untilMs === undefined ? undefined : html`until ${edge(untilMs, 'end', limit)}`,
  ];
  return parts.filter((part) => part !== undefined).map((part, index) => html`${index > 0 && ' · '}${part}`);
}

const aboveList = ({ limitsAbove }: SubjectView, telling: Telling): Markup | '' =>
  limitsAbove.length === 0
    ? ''
    : html`<h3>Limits above that also count</h3><ul>${limitsAbove.map(
        (limit) =>
          html`<li>${limit.label}: ${amount(limit.left, limit.unit, telling)} left of ${amount(limit.amount, limit.unit, telling)}${limit.periodLabel !== undefined && html` for ${limit.periodLabel}`}${limit.contact !== undefined && html`; contact ${contactLink(limit.contact)}`}</li>`,
      )}</ul>`;
