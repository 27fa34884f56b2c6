import { html } from 'hono/html';
import { amountText } from '../../../policies/text/amount-text.ts';
import { durationText } from '../../../policies/text/duration-text.ts';
import type { Explained, ExplainedCounter, ExplainedTerms } from '../../answers/job/model.ts';
import type { User } from '../../core/signin/user.ts';
import { page } from './frame.ts';
import { rulesPart } from './job-rules-part.ts';
import { address, outside, subjectLink } from './links.ts';
import type { Markup } from './markup.ts';
import { amount, distance, instant, modeTag, type Telling } from './told.ts';

/** Where a job is asked for; with a sentence if the last question had no answer. */
export const findJobPage = (user: User, word: string, sentence: string | undefined): Markup =>
  page(
    { title: 'Find a job', at: 'jobs', user },
    html`<div class="head"><div><h1>Find a job</h1><p>Why a job was admitted or rejected, and what would become of it now.</p></div></div>
${sentence !== undefined && html`<div class="note warn" role="status"><p>${sentence}</p></div>`}
<form class="card filters" method="get" action="/jobs" role="search"><label>Job id, decision id or the address of the job’s page<input type="search" name="q" value="${word}" maxlength="500" required autofocus placeholder="4711 or d-4711-1"></label><button class="main">Explain</button></form>`,
  );

export const jobPage = (user: User, job: Explained, telling: Telling): Markup =>
  page(
    { title: `Job ${job.jobId}`, at: 'jobs', user },
    html`<div class="head"><div><nav class="crumbs" aria-label="Above"><ol><li><a href="/jobs">Find a job</a></li></ol></nav><h1>${job.job.name ?? `Job ${job.jobId}`}</h1><p>${verdict(job)} ${instant(job.decidedAtMs, telling)} (${distance(job.decidedAtMs, telling.nowMs)})</p></div>${
      job.job.url !== undefined &&
      html`<div class="actions">${outside(job.job.url, 'The job in GitLab')}</div>`
    }</div>
${job.now !== undefined && job.now.outcome !== job.outcome && html`<div class="note ${job.now.outcome === 'admitted' ? 'good' : 'warn'}"><p>If it came now it would be <strong>${job.now.outcome}</strong>.</p></div>`}
<div class="two">
<section class="card" aria-labelledby="decision"><h2 id="decision">Decision</h2><dl class="facts"><dt>Job</dt><dd>${job.jobId}</dd><dt>Decision</dt><dd><code>${job.decisionId}</code></dd>${fact('Project', job.job.projectId === undefined ? job.job.projectPath : subjectLink(`project/${job.job.projectId}`, job.job.projectPath ?? String(job.job.projectId)))}${fact('Pipeline', job.job.pipelineId)}<dt>State</dt><dd>${STATES[job.state]}</dd><dt>Answered by</dt><dd>${ANSWERED[job.answered]}</dd>${fact('Not checked', job.unchecked && UNCHECKED[job.unchecked])}${job.flagged && html`<dt>Noted</dt><dd class="bad-text">it was rejected, and yet it ran</dd>`}${fact('Ran', job.durationSeconds === undefined ? undefined : durationText(job.durationSeconds))}${fact('Ended', job.endedAtMs === undefined ? undefined : instant(job.endedAtMs, telling))}</dl></section>
<section class="card" aria-labelledby="terms"><h2 id="terms">What it was expected to cost</h2>${termsTable(job, telling)}</section></div>
${job.rejectionText !== undefined && html`<section class="card" aria-labelledby="text"><h2 id="text">What its page says</h2><pre>${job.rejectionText}</pre>${wayOn(job)}</section>`}
<section class="card" aria-labelledby="counters"><h2 id="counters">Limits it counted on</h2>${counterTable(job, telling)}</section>
<section class="card" aria-labelledby="rules"><h2 id="rules">Rules</h2>${rulesPart(job.rules)}</section>
${job.notRecorded.length > 0 && html`<section class="card" aria-labelledby="unknown"><h2 id="unknown">What cannot be told</h2><ul class="soft">${job.notRecorded.map((line) => html`<li>${line}</li>`)}</ul></section>`}`,
  );

/** A rejected job's way on: to ask for more of the limit that refused it, of each that can be added to. */
function wayOn({ counters, job }: Explained): Markup | '' {
  const refused = counters.filter(
    ({ subject, atDecision }) => atDecision?.seen !== undefined && /^(group|project)\//.test(subject),
  );
  if (refused.length === 0) return '';
  return html`<p class="actions">${refused.map(
    ({ subject, label, limit }) =>
      html`<a class="button main" href="${address('/ask', { subject, limit, link: job.url })}">Ask for more of ${label}<span class="hidden"> ${limit}</span></a>`,
  )}</p>`;
}

const verdict = ({ outcome }: Explained): Markup =>
  outcome === 'admitted'
    ? html`<span class="tag good">admitted</span>`
    : html`<span class="tag bad">rejected</span>`;

const fact = (name: string, value: Markup | string | number | undefined): Markup | '' =>
  value === undefined ? '' : html`<dt>${name}</dt><dd>${value}</dd>`;

const STATES: Readonly<Record<Explained['state'], string>> = {
  HELD: 'held: waits or begins',
  RUNNING: 'runs',
  SETTLED: 'ended and settled',
  RELEASED: 'given back: it never ran',
  EXPIRED: 'expired: GitLab does not know it any more',
  REJECTED: 'rejected',
};

const ANSWERED: Readonly<Record<Explained['answered'], string>> = {
  ledger: 'the ledger',
  fallback: 'the relay by itself, because no answer came in time',
  unknown: 'not known',
};

const UNCHECKED: Readonly<Record<NonNullable<Explained['unchecked']>, string>> = {
  exempt: 'exempt by the policy',
  unmetered: 'admitted while no answer came; charged later',
  bypass: 'it ran without being asked about',
};

function termsTable({ atDecision, now, currency }: Explained, telling: Telling): Markup {
  const rows: readonly (readonly [string, (terms: ExplainedTerms) => string])[] = [
    ['Runner class', ({ runnerClass }) => runnerClass],
    ['Estimate', ({ estimateSeconds }) => durationText(estimateSeconds)],
    ['Price per minute', ({ microsPerMinute }) => amountText(microsPerMinute, 'micros', currency)],
    ['Cost', ({ costMicros }) => amount(costMicros, 'micros', telling)],
    ['Prices', ({ priceVersion }) => priceVersion],
    ['Policy', ({ policyVersion }) => policyVersion],
  ];
  return html`<table><caption class="hidden">Expected cost then and now</caption><thead><tr><th scope="col"><span class="hidden">What</span></th><th scope="col">Then</th>${now !== undefined && html`<th scope="col">Now</th>`}</tr></thead><tbody>${rows.map(
    ([name, told]) =>
      html`<tr><th scope="row">${name}</th><td>${told(atDecision)}</td>${now !== undefined && html`<td>${told(now)}</td>`}</tr>`,
  )}</tbody></table>`;
}

function counterTable({ counters, countersHidden }: Explained, telling: Telling): Markup {
  const hidden =
    countersHidden > 0 && html`<p class="soft">${countersHidden} more of groups you may not see.</p>`;
  if (counters.length === 0) return html`<p class="soft">None that you may see.</p>${hidden}`;
  return html`<div class="scroll" role="region" aria-label="Limits" tabindex="0"><table class="stack"><caption class="hidden">Limits it counted on, then and now</caption><thead><tr><th scope="col">Limit</th><th scope="col">Then</th><th scope="col" class="n">Now spent and held</th><th scope="col" class="n">Limit now</th><th scope="col" class="n">Left now</th></tr></thead><tbody>${counters.map(
    (counter) => counterLine(counter, telling),
  )}</tbody></table></div>${hidden}`;
}

function counterLine(
  { subject, label, limit, period, unit, atDecision, now }: ExplainedCounter,
  telling: Telling,
): Markup {
  const told = (whole: number): string => amount(whole, unit, telling);
  const before =
    atDecision === undefined
      ? html`<span class="soft">not asked</span>`
      : atDecision.seen !== undefined
        ? html`<strong class="bad-text">refused:</strong> ${told(atDecision.seen.left)} left of ${told(atDecision.seen.bound)}, it asked for ${told(atDecision.seen.asked)}`
        : html`${told(atDecision.jobHeld)} held${!atDecision.checked && html` <span class="tag">not checked</span>`}`;
  const bound = now.bound === undefined ? 'none' : now.bound === 'unlimited' ? 'unlimited' : told(now.bound);
  return html`<tr><th scope="row" class="path">${subjectLink(subject, label)}<small class="soft"><code>${limit}</code> ${period !== 'now' && period} ${now.mode !== undefined && modeTag(now.mode)}</small></th><td class="full">${before}</td><td class="n" data-l="now">${told(now.settled + now.held)}</td><td class="n" data-l="of">${bound}</td><td class="n" data-l="left">${now.left === undefined ? '–' : told(now.left)}</td></tr>`;
}
