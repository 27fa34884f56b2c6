import { html } from 'hono/html';
import { durationText } from '../../../policies/text/duration-text.ts';
import type { SubjectView } from '../../answers/subject/model.ts';
import type { Rejections, UsageView } from '../../answers/usage/model.ts';
import { dayLabel, daySpan } from './chart-scale.ts';
import { outside } from './links.ts';
import type { Markup } from './markup.ts';
import { amount, bare, counted, distance, shortInstant, type Telling } from './told.ts';

/** Who and what used it. */
export function usagePart({ usage }: SubjectView, telling: Telling): Markup {
  const { topProjects, topJobs, runnerClasses, otherProjectsMicros, otherClassesMicros } = usage;
  const together = usage.settledMicros + usage.heldMicros;
  return html`<div class="two">
<section class="card" aria-labelledby="projects"><h2 id="projects">Costliest projects</h2>${
    topProjects.length === 0
      ? html`<p class="soft">${together === 0 ? 'No project has cost anything in these days.' : 'Which projects a runner class was used by is not kept.'}</p>`
      : html`<table><caption class="hidden">Costliest projects</caption><thead><tr><th scope="col">Project</th><th scope="col" class="n">${telling.currency}</th></tr></thead><tbody>${topProjects.map(
          ({ projectId, path, micros }) =>
            html`<tr><th scope="row" class="path"><a href="/projects/${projectId}">${path}</a></th><td class="n">${bare(micros, 'micros')}</td></tr>`,
        )}${otherRow(otherProjectsMicros, otherProjects(usage))}</tbody>${togetherRow(together)}</table>`
  }</section>
<section class="card" aria-labelledby="jobs"><h2 id="jobs">Longest jobs</h2>${
    topJobs.length === 0
      ? html`<p class="soft">No job is remembered yet.</p>`
      : html`<table><caption class="hidden">Jobs that usually run longest</caption><thead><tr><th scope="col">Job</th><th scope="col" class="n">Usually</th><th scope="col" class="n">Runs</th></tr></thead><tbody>${topJobs.map(
          ({ path, job, runs, usualSeconds }) =>
            html`<tr><th scope="row" class="path">${job}<small class="soft">${path}</small></th><td class="n">${durationText(usualSeconds)}</td><td class="n">${runs}</td></tr>`,
        )}</tbody></table>`
  }</section></div>${
    runnerClasses.length > 0 &&
    html`<section class="card" aria-labelledby="classes"><h2 id="classes">Runner classes</h2><table><caption class="hidden">Use by runner class</caption><thead><tr><th scope="col">Class</th><th scope="col" class="n">${telling.currency}</th><th scope="col" class="n">Ran</th><th scope="col" class="n">Jobs</th></tr></thead><tbody>${runnerClasses.map(
      ({ name, micros, seconds, jobs }) =>
        html`<tr><th scope="row"><a href="/runner-classes/${encodeURIComponent(name)}">${name}</a></th><td class="n">${bare(micros, 'micros')}</td><td class="n">${durationText(seconds)}</td><td class="n">${jobs.toLocaleString('en-US')}</td></tr>`,
    )}${otherRow(otherClassesMicros, 'No class', 2)}</tbody>${togetherRow(together, 2)}</table></section>`
  }`;
}

/** What a table leaves out, so that its rows come to what stands below them. @param empty - cells after the amount */
const otherRow = (micros: number, label: string, empty = 0): Markup | '' =>
  micros === 0
    ? ''
    : html`<tr><th scope="row" class="soft">${label}</th><td class="n">${bare(micros, 'micros')}</td>${emptyCells(empty)}</tr>`;

const togetherRow = (micros: number, empty = 0): Markup =>
  html`<tfoot><tr><th scope="row">Together <small class="soft">spent and held</small></th><td class="n">${bare(micros, 'micros')}</td>${emptyCells(empty)}</tr></tfoot>`;

const emptyCells = (count: number): Markup[] => Array.from({ length: count }, () => html`<td></td>`);

const otherProjects = ({ fromDay, topFromDay }: UsageView): string =>
  fromDay === topFromDay ? 'Other projects' : `Other projects, and days before ${dayLabel(topFromDay)}`;

export const usageSentence = (usage: UsageView, telling: Telling): Markup =>
  html`${daySpan(usage)}: ${counted(usage.jobs, 'job')}, ${amount(usage.settledMicros, 'micros', telling)} spent, ${amount(usage.heldMicros, 'micros', telling)} held, ${durationText(usage.seconds)} run; ${counted(usage.rejected, 'job')} rejected${
    usage.ranRejected > 0 &&
    html`, <span class="warn-text">${usage.ranRejected.toLocaleString('en-US')} of them ran all the same</span>`
  }${
    usage.unmetered + usage.bypass > 0 &&
    html`, <span class="warn-text">${(usage.unmetered + usage.bypass).toLocaleString('en-US')} ran without being asked about</span>`
  }${usage.exempt > 0 && html`, ${usage.exempt.toLocaleString('en-US')} exempt`}.`;

/** Which jobs were turned away, and what they were told. */
export function rejectionsPart({ byRule, watchedByRule, latest }: Rejections, telling: Telling): Markup {
  if (byRule.length + watchedByRule.length + latest.length === 0)
    return html`<p class="soft">No job was rejected in these days.</p>`;
  return html`${byRule.length > 0 && html`<p>Rejected, by rule: ${ruleCounts(byRule)}.</p>`}${
    watchedByRule.length > 0 &&
    html`<p>Would have been rejected, by rules that only watch: ${ruleCounts(watchedByRule)}.</p>`
  }${
    latest.length > 0 &&
    html`<div class="scroll" role="region" aria-label="Rejected jobs" tabindex="0"><table class="stack"><caption class="hidden">The latest rejected jobs</caption><thead><tr><th scope="col">Job</th><th scope="col">When</th><th scope="col">Why</th></tr></thead><tbody>${latest.map(
      (job) =>
        html`<tr><th scope="row" class="path job"><a href="/jobs/${job.decisionId}">${job.jobName ?? `job ${job.jobId}`}</a><small class="soft">${job.projectPath}${job.url !== undefined && html` · ${outside(job.url, 'in GitLab')}`}</small></th><td>${shortInstant(job.atMs, telling)}<small class="soft"> ${distance(job.atMs, telling.nowMs)}</small></td><td class="full">${job.reasons.map(
          ({ code, text }) => html`<div><code>${code}</code> ${text}</div>`,
        )}</td></tr>`,
    )}</tbody></table></div>`
  }`;
}

const ruleCounts = (rules: Rejections['byRule']): Markup[] =>
  rules.map(
    ({ rule, jobs }, index) => html`${index > 0 && ', '}<code>${rule}</code> ${counted(jobs, 'job')}`,
  );
