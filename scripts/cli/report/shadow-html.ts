import type {
  ArmedReport,
  ReportJob,
  ReportRow,
  ShadowReport,
} from '../../../functions/answers/rollout/shadow-report.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { visible } from '../../../policies/text/plain-text.ts';
import {
  apartSentence,
  armedSentence,
  money,
  rejectedSentences,
  retrySentence,
  shadowCount,
  spanText,
  verdictSentence,
} from './shadow-words.ts';

/** One page with nothing to load: it is mailed and archived. */
export function shadowHtml(report: ShadowReport): string {
  const { group, zone, ledger, ifArmed, rows, notes } = report;
  const title = `Shadow report${group === undefined ? '' : `: ${group}`}`;
  const armed = [retrySentence(ifArmed), ...rejectedSentences(report)].filter((line) => line !== undefined);
  const sentences = [apartSentence(report), ...notes].filter((line) => line !== undefined);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(title)}</title>
<style>${SHADOW_STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<p class="span">${escaped(`${spanText(report)}, by ${ledger}`)}</p>
<p class="verdict">${escaped(armedSentence(ifArmed))}</p>
${armed.map((sentence) => `<p>${escaped(sentence)}</p>`).join('\n')}
${ifArmed.rows.length === 0 ? '' : armedTableHtml(ifArmed)}
${ifArmed.rows.map((row) => jobsHtml(row, zone)).join('\n')}
<p class="verdict">${escaped(verdictSentence(report))}.</p>
${sentences.map((sentence) => `<p>${escaped(sentence)}</p>`).join('\n')}
${rows.length === 0 ? '' : tableHtml(report)}
${rows
  .filter(({ examples }) => examples.length > 0)
  .map((row) => jobsHtml(row, zone))
  .join('\n')}
</main>
</body>
</html>
`;
}

function armedTableHtml({ rows }: ArmedReport): string {
  const body = rows.map((row) => {
    const cells = [
      cell('group', row.group),
      cell('rule', row.rule),
      cell('limit', row.limit ?? ''),
      cell('code', row.code),
      number('would fail', shadowCount(row.jobs)),
      number('tried again', shadowCount(row.repeats)),
    ];
    return `<tr>${cells.join('')}</tr>`;
  });
  return `<div class="wide"><table>
<thead><tr><th>group</th><th>rule</th><th>limit</th><th>code</th><th class="n">would fail</th><th class="n">tried again</th></tr></thead>
<tbody>
${body.join('\n')}
</tbody>
</table></div>`;
}

function tableHtml({ rows, currency }: ShadowReport): string {
  const body = rows.map((row) => {
    const cells = [
      cell('group', row.group),
      cell('rule', row.rule),
      cell('mode', row.mode),
      cell('code', row.code),
      number('would fail', shadowCount(row.jobs)),
      number('cost', money(row.costMicros, currency)),
    ];
    return `<tr>${cells.join('')}</tr>`;
  });
  return `<div class="wide"><table>
<thead><tr><th>group</th><th>rule</th><th>mode</th><th>code</th><th class="n">would fail</th><th class="n">cost</th></tr></thead>
<tbody>
${body.join('\n')}
</tbody>
</table></div>`;
}

const cell = (label: string, text: string): string => `<td data-label="${label}">${escaped(text)}</td>`;
const number = (label: string, text: string): string =>
  `<td class="n" data-label="${label}">${escaped(text)}</td>`;

function jobsHtml(
  row: Pick<ReportRow, 'group' | 'rule' | 'code' | 'jobs' | 'examples'>,
  zone: string,
): string {
  const shown = row.examples.length;
  const of =
    shown < row.jobs
      ? `the latest ${shown} of ${shadowCount(row.jobs)} jobs`
      : `${shadowCount(row.jobs)} ${row.jobs === 1 ? 'job' : 'jobs'}`;
  return `<details>
<summary>${escaped(`${row.group}: ${row.rule}`)} <code>${escaped(row.code)}</code>, ${of}</summary>
<ul>
${row.examples.map((job) => jobHtml(job, zone)).join('\n')}
</ul>
</details>`;
}

function jobHtml(job: ReportJob, zone: string): string {
  const name = escaped(job.jobName ?? `job ${job.jobId}`);
  const where = job.projectPath === undefined ? '' : ` <span class="dim">${escaped(job.projectPath)}</span>`;
  const link = job.url === undefined ? `${name} (${job.jobId})` : `<a href="${escaped(job.url)}">${name}</a>`;
  return `<li><time datetime="${new Date(job.decidedAtMs).toISOString()}">${instantText(job.decidedAtMs, zone)}</time> ${link}${where}</li>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** For text and for quoted attributes. */
export const escaped = (text: string): string =>
  // Direction marks could turn a name around; control characters are no part of a page.
  visible(text, '�').replace(/[&<>"']/g, (each) => ENTITIES[each] ?? each);

/** Follows the reader's light or dark; below 40 rem each row of the table becomes a card. */
const SHADOW_STYLE = `
:root { color-scheme: light dark; --ink: #1d2228; --dim: #5c6670; --line: #d8dde2; --page: #ffffff; --mark: #b3401f; --link: #0b5cad; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ec; --dim: #9aa5b0; --line: #343b43; --page: #14181c; --mark: #ff9a76; --link: #7ab8ff; }
}
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.4rem; margin: 0; overflow-wrap: anywhere; }
.span, .dim, time { color: var(--dim); }
.span { margin: .25rem 0 1.25rem; }
.verdict { font-size: 1.25rem; font-weight: 600; color: var(--mark); margin: 0 0 .5rem; }
p { margin: .4rem 0; max-width: 60rem; }
a { color: var(--link); }
.wide { overflow-x: auto; margin: 1.5rem 0; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--dim); font-weight: 500; white-space: nowrap; }
td { overflow-wrap: anywhere; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
details { border-bottom: 1px solid var(--line); padding: .5rem 0; }
summary { cursor: pointer; overflow-wrap: anywhere; }
ul { list-style: none; margin: .5rem 0; padding: 0 0 0 1rem; }
li { padding: .2rem 0; overflow-wrap: anywhere; }
time { font-variant-numeric: tabular-nums; margin-right: .5rem; white-space: nowrap; }
code { font-size: .9em; }
@media (max-width: 40rem) {
  thead { display: none; }
  tr { display: block; padding: .6rem 0; border-bottom: 1px solid var(--line); }
  td, td.n { display: flex; justify-content: space-between; gap: 1rem; text-align: right; padding: .1rem 0; border: 0; white-space: normal; }
  td::before { content: attr(data-label); color: var(--dim); text-align: left; white-space: nowrap; }
}
`;
