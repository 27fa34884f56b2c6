import { html } from 'hono/html';
import type { LimitRow } from '../../answers/standing/model.ts';
import type { SubjectView } from '../../answers/subject/model.ts';
import { poolWords } from '../../core/limits/desk/pool-words.ts';
import { agreementText } from '../../core/usage/agreement-text.ts';
import { BAR_KEY, bar } from './bar.ts';
import { burnUpChart } from './burn-up-chart.ts';
import { freezeNotes, grantsPart } from './exceptions-part.ts';
import { type Frame, page } from './frame.ts';
import { groupTable } from './group-table.ts';
import { historyPart } from './history-part.ts';
import { leftClass, leftText, limitAmount, limitWords, onlyWatches, runsOut } from './limit-words.ts';
import { limitsPart } from './limits-part.ts';
import { address, contactLink, subjectHref, subjectLink } from './links.ts';
import type { Markup } from './markup.ts';
import { amount, bare, counted, modeTag, percent, type Telling } from './told.ts';
import { rejectionsPart, usagePart, usageSentence } from './usage-part.ts';

export interface SubjectShown {
  readonly view: SubjectView;
  /** What was just done, for a green line at the top. */
  readonly done: string | undefined;
}

export function subjectPage(
  frame: Pick<Frame, 'user'>,
  { view, done }: SubjectShown,
  telling: Telling,
): Markup {
  const { burnUp, limits, children, childCount, subject } = view;
  const main = limits.find(({ id }) => id === burnUp?.limit) ?? limits.find(({ inForce }) => inForce);
  return page(
    { ...frame, title: view.path, at: 'overview' },
    html`${head(view)}${done !== undefined && html`<div class="note good" role="status"><p>${done}</p></div>`}${freezeNotes(view, telling)}${poolNotes(view, telling)}${rolloutNote(view)}
${main !== undefined && mainCard(main, view, telling)}
<section class="card" aria-labelledby="limits"><h2 id="limits">Limits</h2>${limitsPart(view, telling)}</section>
<section class="card" aria-labelledby="grants"><h2 id="grants">Grants</h2>${grantsPart(view, telling)}</section>
<section class="card" aria-labelledby="rejected"><h2 id="rejected">Rejected jobs</h2><p class="soft">${usageSentence(view.usage, telling)}</p>${rejectionsPart(view.usage.rejections, telling)}</section>
${view.kind !== 'project' && usagePart(view, telling)}
${
  childCount > 0 &&
  html`<section class="card" aria-labelledby="children"><h2 id="children">${counted(childCount, 'group')} right below</h2>${BAR_KEY}${groupTable(children.slice(0, CHILDREN_SHOWN), 'Groups right below', telling, { sum: view.childrenSum })}${
    childCount > Math.min(children.length, CHILDREN_SHOWN) &&
    html`<p><a href="${address('/', { under: subject.startsWith('group/') ? subject.slice('group/'.length) : undefined, view: 'tree' })}">All ${counted(childCount, 'group')}</a></p>`
  }</section>`
}
<section class="card" aria-labelledby="history"><h2 id="history">History of edits</h2>${historyPart(view.history, subject, telling)}</section>`,
  );
}

/** What fits beside everything else on a page of 100 KB. */
const CHILDREN_SHOWN = 25;

const KIND_LABEL: Readonly<Record<SubjectView['kind'], string>> = {
  instance: 'All groups, projects and personal namespaces together',
  group: 'Group',
  project: 'Project',
  'runner-class': 'Runner class',
};

/** Nobody adds to what is unlimited. */
const canGrow = ({ limits }: SubjectView): boolean => limits.some(({ amount }) => amount !== 'unlimited');

function head(view: SubjectView): Markup {
  const { above, kind, path, subject, may } = view;
  const link = (text: string, query: Readonly<Record<string, string>>): Markup =>
    html`<a class="button" href="${address('/edit', { subject, ...query })}">${text}</a>`;
  return html`<div class="head"><div><nav class="crumbs" aria-label="Above"><ol><li><a href="/">Budgets</a></li>${above.map(
    (each) => html`<li>${subjectLink(each.subject, lastOf(each.path))}</li>`,
  )}</ol></nav><h1>${path}</h1><p>${KIND_LABEL[kind]}${kind !== 'instance' && html` <span class="id">${subject.slice(subject.indexOf('/') + 1)}</span>`}</p></div>
<div class="actions">${may.loosen && link('New limit', { kind: 'set' })}${may.grant && canGrow(view) && link('Grant more', { kind: 'grant' })}${
    may.ask &&
    !may.grant &&
    canGrow(view) &&
    html`<a class="button main" href="${address('/ask', { subject })}">Ask for more</a>`
  }${may.freeze && link('Freeze', { kind: 'freeze' })}${may.breakGlass && kind !== 'runner-class' && link('Break glass', { kind: 'breakglass' })}${may.rollOut && kind === 'group' && link('Roll out', { kind: 'rollout' })}</div></div>`;
}

function mainCard(limit: LimitRow, view: SubjectView, telling: Telling): Markup {
  const { unit, settled, held, forecast, owner, contact, reason, costCenter } = limit;
  const of = limit.amount === 'unlimited' ? undefined : limit.amount;
  const others = view.limits.filter(({ per, id }) => per !== undefined && id !== limit.id);
  const here = subjectHref(view.subject) ?? '/';
  return html`<section class="card" aria-labelledby="budget"><h2 id="budget"><span>${limitWords(limit)} ${modeTag(limit.rolledOutAs ?? limit.mode)}</span><small class="soft">${limit.period?.label}</small></h2>
<dl class="figures"><div><dt>Spent</dt><dd>${amount(settled, unit, telling)}</dd></div><div><dt>Held</dt><dd>${amount(held, unit, telling)}<small class="soft">by jobs that run or wait</small></dd></div><div><dt>Limit</dt><dd>${limitAmount(limit, telling)}<small class="soft">${madeOf(limit)}</small></dd></div><div><dt>Left</dt><dd class="${leftClass(limit)}">${leftText(limit, telling)}<small class="soft">${of !== undefined && html`${percent(settled + held, of)} used`}</small></dd></div><div><dt>Runs out</dt><dd>${of === undefined ? html`<span class="soft">never</span>` : runsOut(forecast, limit.zone, telling.nowMs, onlyWatches(limit))}</dd></div></dl>
${of !== undefined && html`${bar({ spent: settled, held, limit: of, ...(forecast?.atEndAmount !== undefined && { forecast: forecast.atEndAmount }) })}${BAR_KEY}`}
${agreementNote(limit, view, telling)}
${view.burnUp !== undefined && view.burnUp.limit === limit.id && burnUpChart(view.burnUp, limit, telling)}
${others.length > 0 && html`<p class="soft">Chart of: ${others.map((other, index) => html`${index > 0 && ', '}<a href="${address(here, { limit: other.id })}">${limitWords(other)}</a>`)}</p>`}
${
  (owner ?? contact ?? reason ?? costCenter) !== undefined &&
  html`<dl class="facts">${owner !== undefined && html`<dt>Owner</dt><dd>${owner}${contact !== undefined && html`, ${contactLink(contact)}`}</dd>`}${owner === undefined && contact !== undefined && html`<dt>Contact</dt><dd>${contactLink(contact)}</dd>`}${costCenter !== undefined && html`<dt>Cost centre</dt><dd>${costCenter}</dd>`}${reason !== undefined && html`<dt>Why</dt><dd>${reason}</dd>`}</dl>`
}</section>`;
}

/** Whether the figures of this page are one, by how much not, and why. */
function agreementNote(limit: LimitRow, { agreements }: SubjectView, telling: Telling): Markup | '' {
  const agreement = agreements.find((each) => each.limit === limit.id);
  if (agreement === undefined) return '';
  const { tone, text } = agreementText(agreement, telling.currency, telling.zone);
  return html`<p class="agreement"><span class="tag ${tone === 'fits' ? 'good' : 'warn'}">${tone === 'fits' ? 'figures agree' : 'figures differ'}</span> <small class="soft">${text}</small></p>`;
}

/** `500.00 + 200.00 granted` */
function madeOf({ baseAmount, granted, carried, unit }: LimitRow): string {
  if (baseAmount === 'unlimited' || (granted === 0 && carried === 0)) return '';
  return [
    bare(baseAmount, unit),
    granted > 0 ? `+ ${bare(granted, unit)} granted` : '',
    carried > 0 ? `+ ${bare(carried, unit)} carried over` : '',
    carried < 0 ? `− ${bare(-carried, unit)} overdrawn` : '',
  ]
    .filter((part) => part !== '')
    .join(' ');
}

const poolNotes = ({ pools, limits }: SubjectView, telling: Telling): Markup[] =>
  pools.flatMap((pool) => {
    const limit = limits.find(({ id }) => id === pool.limit);
    if (limit === undefined || limit.amount === 'unlimited') return [];
    return [
      html`<div class="note"><p><strong>${limitWords(limit)} is a pool:</strong> ${poolWords(pool, limit.amount, (whole) => amount(whole, limit.unit, telling))}. Whoever comes first has it.${
        pool.larger.length > 0 && html` Larger than the pool, or unlimited: ${pool.larger.join(', ')}.`
      }</p></div>`,
    ];
  });

function rolloutNote({ rollout }: SubjectView): Markup | '' {
  if (rollout === undefined || (rollout.cost ?? rollout.capacity) === undefined) return '';
  const parts = [
    rollout.cost && html`cost rules go as far as <strong>${rollout.cost}</strong>`,
    rollout.capacity && html`capacity rules go as far as <strong>${rollout.capacity}</strong>`,
  ].filter((part) => part !== undefined);
  return html`<div class="note warn"><p>Being rolled out: ${parts.map((part, index) => html`${index > 0 && ', '}${part}`)}.</p></div>`;
}

const lastOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
