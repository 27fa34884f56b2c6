import type { ReportRow, ShadowReport } from '../../../functions/answers/rollout/shadow-report.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { visible } from '../../../policies/text/plain-text.ts';
import { armedCells, money, shadowCount, shadowSentences, spanText } from './shadow-words.ts';

/** One page with nothing to load: it is mailed and archived. */
export function shadowHtml(report: ShadowReport): string {
  const { group, zone, currency, ledger, ifArmed, rows } = report;
  const title = `Shadow report${group === undefined ? '' : `: ${group}`}`;
  const { armed, watched } = shadowSentences(report);
  const [head, ...body] = armedCells(ifArmed.rows);
  const watching = rows.map((row) => [
    ...[row.group, row.rule, row.mode, row.code, shadowCount(row.jobs), money(row.costMicros, currency)],
  ]);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escaped(title)}</h1>
<p class="dim">${escaped(`${spanText(report)}, by ${ledger}`)}</p>
${paragraphs(armed)}
${tableHtml(head ?? [], body)}
${ifArmed.rows.map((row) => jobsHtml(row, zone)).join('\n')}
${paragraphs(watched)}
${tableHtml(['group', 'rule', 'mode', 'code', 'would fail', 'cost'], watching)}
${rows.map((row) => jobsHtml(row, zone)).join('\n')}
</body>
</html>
`;
}

/** The first one is the verdict. */
const paragraphs = (sentences: readonly string[]): string =>
  sentences
    .map((each, index) => `<p${index === 0 ? ' class="verdict"' : ''}>${escaped(each)}</p>`)
    .join('\n');

function tableHtml(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const line = (tag: 'th' | 'td', cells: readonly string[]): string =>
    `<tr>${cells.map((cell) => `<${tag}>${escaped(cell)}</${tag}>`).join('')}</tr>`;
  return `<div class="wide"><table>\n${[line('th', head), ...rows.map((row) => line('td', row))].join('\n')}\n</table></div>`;
}

function jobsHtml({ group, rule, code, jobs, examples }: JobsOf, zone: string): string {
  if (examples.length === 0) return '';
  const of = `the latest ${examples.length} of ${shadowCount(jobs)} jobs`;
  const items = examples.map(({ jobId, jobName, projectPath = '', url, decidedAtMs }) => {
    const name = escaped(`${jobName ?? 'job'} (${jobId})`);
    const link = url === undefined ? name : `<a href="${escaped(url)}">${name}</a>`;
    return `<li>${instantText(decidedAtMs, zone)} ${link} <span class="dim">${escaped(projectPath)}</span></li>`;
  });
  return `<details><summary>${escaped(`${group}: ${rule} ${code}`)}, ${of}</summary><ul>\n${items.join('\n')}\n</ul></details>`;
}

type JobsOf = Pick<ReportRow, 'group' | 'rule' | 'code' | 'jobs' | 'examples'>;

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' },
};

/** For text and for quoted attributes. */
export const escaped = (text: string): string =>
  // Direction marks could turn a name around; control characters are no part of a page.
  visible(text, '�').replace(/[&<>"']/g, (each) => ENTITIES[each] ?? each);

/** Follows the reader's light or dark. */
const STYLE = `
:root { color-scheme: light dark; }
body { max-width: 72rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
.dim { opacity: .7; }
.verdict { font-size: 1.25rem; font-weight: 600; }
.wide { overflow-x: auto; margin: 1.5rem 0; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid #8888; vertical-align: top; }
details { border-bottom: 1px solid #8888; padding: .5rem 0; }
`;
