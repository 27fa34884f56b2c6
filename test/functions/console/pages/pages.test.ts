/** Every link of every page of the sample, as each kind of user: it opens, and it has words of people. */
import { describe, expect, test } from 'vitest';
import { sampleWorld } from '../sample-world.ts';
import { signedInConsole } from '../signed-in.ts';
import { crawled, FIRST } from './crawl.ts';

/** What programs call things. */
const FORBIDDEN: Readonly<Record<string, RegExp>> = {
  'a word of AWS':
    /\b(?:AWS|ARN|arn:|Lambda|DynamoDB|SSM|SNS|SQS|IAM|CloudWatch|EventBridge|Fargate|Parameter Store|partition key)\b/,
  'a subject of programs': /\b(?:group|project|user|runner|runner-class|instance)\/[\w-]+/,
  // People know the numbers of jobs, edits and statements.
  'an id': /\b(?:group|project|user|request|set) #?\d+\b|\b[pr]-?\d{1,3}\b(?!-)/i,
  'an instant as programs write it': /\d{4}-\d\d-\d\dT|\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z|\bT\d\d:\d\d/,
  'a day as programs write it': /\b\d{4}-\d\d-\d\d\b/,
  'what is no word': /\b(?:undefined|NaN|null|Infinity)\b|\[object/,
};

/** What people see and hear: texts and labels, and nothing they type into or that leads somewhere. */
function findingsOf(path: string, html: string): readonly string[] {
  const labels = [...html.matchAll(/\s(?:title|aria-label|placeholder|alt)="([^"]*)"/g)].map(
    ([, text]) => text,
  );
  const text = html.replace(/<(script|style|template|textarea)\b.*?<\/\1>/gs, ' ').replace(/<[^>]*>/g, '\n');
  const lines = [text, ...labels].join('\n').split('\n');
  return Object.entries(FORBIDDEN).flatMap(([name, form]) =>
    lines.filter((line) => form.test(line)).map((line) => `${path}: ${name}: ${line.trim()}`),
  );
}

describe.each([false, true])('nothing there yet: %s', async (empty) => {
  const { send } = await signedInConsole(await sampleWorld(empty));
  test.each(['finance', 'admin', 'owner', 'viewer', 'none'] as const)(
    'every link that %s meets opens a page of at most 100 KB in the words of people',
    async (who) => {
      const pages = await crawled((path) => send(who, path), FIRST);
      // What is no link may be closed to them, or not there.
      const broken = pages.filter(({ status, from }) => status >= 400 && from !== undefined);
      expect(broken.map(({ path, status, from }) => `${status} ${path}, a link of ${from}`)).toEqual([]);
      const html = pages.filter(({ type }) => type.startsWith('text/html'));
      expect(html.flatMap(({ path, text }) => findingsOf(path, text))).toEqual([]);
      expect(html.filter(({ text }) => Buffer.byteLength(text) > 100 * 1024).map(({ path }) => path)).toEqual(
        [],
      );
      expect(html.length).toBeGreaterThan(who === 'none' ? 5 : 20);
    },
  );
});
