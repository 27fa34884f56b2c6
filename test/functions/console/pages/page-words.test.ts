/** No page says a word of AWS, an id or a time as programs write it: every page is opened as everybody, link by link. */
import type { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { JOB_SHEET_KINDS } from '../../../../functions/core/sheets/sheet-store.ts';
import type { SignInEnv } from '../../../../functions/core/signin/model.ts';
import { PEOPLE, type Person, pagesApp } from './pages-server.ts';

/** What programs call things. */
const FORBIDDEN: Readonly<Record<string, RegExp>> = {
  'a word of AWS':
    /\b(?:AWS|ARN|arn:|Lambda|DynamoDB|SSM|SNS|SQS|IAM|CloudWatch|EventBridge|Fargate|Parameter Store|partition key)\b/,
  'a subject of programs': /\b(?:group|project|user|runner|runner-class|instance)\/[\w-]+/,
  // People know the numbers of jobs, edits and statements: GitLab shows those of jobs, and others are counted for people.
  'an id': /\b(?:group|project|user|request|set) #?\d+\b|\b[pr]-?\d{1,3}\b(?!-)/i,
  'an instant as programs write it': /\d{4}-\d\d-\d\dT|\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z|\bT\d\d:\d\d/,
  'a day as programs write it': /\b\d{4}-\d\d-\d\d\b/,
  'what is no word': /\b(?:undefined|NaN|null|Infinity)\b|\[object/,
};

/** What people see and hear: texts and labels, and nothing they type into or that leads somewhere. */
function wordsOf(html: string): string {
  const labels = [...html.matchAll(/\s(?:title|aria-label|placeholder|alt)="([^"]*)"/g)].map(
    ([, text]) => text,
  );
  const text = html.replace(/<(script|style|template|textarea)\b.*?<\/\1>/gs, ' ').replace(/<[^>]*>/g, '\n');
  return [text, ...labels]
    .join('\n')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}

function findingsOf(path: string, html: string): string[] {
  const lines = wordsOf(html)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return Object.entries(FORBIDDEN).flatMap(([name, form]) =>
    lines.filter((line) => form.test(line)).map((line) => `${path}: ${name}: ${line}`),
  );
}

/** Pages differ by their path and by what a query asks for, hardly by whom it is about. */
const PER_SHAPE_MAX = 3;
const shapeOf = (path: string): string =>
  path.replace(/\d+/g, '0').replace(/([?&](?!by|kind|period|sort)\w+=)[^&]*/g, '$1');

const FIRST = [
  ...['/', '/instance', '/go', '/me', '/budgets', '/jobs/4711', '/jobs/4713', '/jobs/4715', '/jobs/4717'],
  ...[
    '/projects/900',
    '/groups/102',
    '/groups/999',
    '/edit?kind=grant&subject=group/101',
    '/ask?subject=group/101',
  ],
  ...['/edit?kind=set&subject=group/101&limit=money-month', '/edit?kind=freeze&subject=group/101'],
  ...['/edit?kind=breakglass&subject=group/101', '/edit?kind=rollout&subject=group/101'],
  ...['/requests/r1', '/history/42', '/statements/2026-09?group=101'],
  ...['group', 'project', 'class', 'day', 'month', ...JOB_SHEET_KINDS].map((by) => `/reports?by=${by}`),
  ...['/reports?from=2026-11-02&to=2026-11-01', '/rollout/step?subject=group/101'],
];

interface Visited {
  readonly paths: readonly string[];
  readonly findings: readonly string[];
}

async function visit(app: Hono<SignInEnv>, person: Person): Promise<Visited> {
  const paths = new Set<string>();
  const shapes = new Map<string, number>();
  const findings: string[] = [];
  const waiting = [...FIRST];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const count = shapes.get(shapeOf(path)) ?? 0;
    if (paths.has(path) || count >= PER_SHAPE_MAX) continue;
    shapes.set(shapeOf(path), count + 1);
    paths.add(path);
    const answer = await app.request(path, { headers: { cookie: `person=${person}` } });
    if (answer.headers.get('content-type')?.includes('html') !== true) continue;
    const html = await answer.text();
    findings.push(...findingsOf(path, html));
    for (const [, href = ''] of html.matchAll(/\shref="(\/[^"#]*)/g))
      waiting.push(href.replaceAll('&amp;', '&'));
  }
  return { paths: [...paths], findings };
}

const EVERYBODY = Object.keys(PEOPLE) as Person[];

describe.each(['full', 'empty'] as const)('with pages that are %s', (amount) => {
  test.each(EVERYBODY)('%s reads nothing but words of people', async (person) => {
    const { paths, findings } = await visit(pagesApp(amount).app, person);
    expect(findings).toEqual([]);
    expect(paths.length).toBeGreaterThan(FIRST.length);
  });
});

test.each([
  ['kept in DynamoDB', 'a word of AWS'],
  ['owner of group/101', 'a subject of programs'],
  ['Group 101', 'an id'],
  ['spent by user 7', 'an id'],
  ['since 2026-11-21T12:00:00Z', 'an instant as programs write it'],
  ['jobs since 2026-10-31', 'a day as programs write it'],
  ['undefined EUR', 'what is no word'],
])('“%s” would be found', (text, name) => {
  expect(findingsOf('/', `<p>${text}</p>`)).toContainEqual(expect.stringContaining(`: ${name}: `));
  expect(findingsOf('/', `<a title="${text}" href="/">x</a>`)).toContainEqual(
    expect.stringContaining(`: ${name}: `),
  );
});
