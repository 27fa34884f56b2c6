import { expect, test } from 'vitest';
import { MESSAGE_BYTES_MAX } from '../../../functions/core/notify/message.ts';
import { readNoticesConfig } from '../../../functions/notices/config.ts';
import { NOTICES_PER_MESSAGE_MAX, noticeDigest } from '../../../functions/notices/digest.ts';
import type { Notice, NoticeKind } from '../../../functions/notices/gather/notice.ts';
import { name, words } from '../../../functions/notices/gather/notice-format.ts';

const to = { owner: 'payments-leads', root: 100 };
const aNotice = (kind: NoticeKind, over: Partial<Notice> = {}): Notice => ({
  to,
  id: `${kind}:1`,
  kind,
  subject: 'group/101',
  label: 'group acme/payments',
  lines: [`${kind} happened.`],
  page: '/groups/101',
  facts: { jobs: 3 },
  ...over,
});
const told = (notices: readonly Notice[], consoleUrl?: string) => noticeDigest(to, notices, { consoleUrl });

test('what waits for the owner comes first, whatever happened first', () => {
  const { text, subject, attributes } = told([
    aNotice('limit-loosened'),
    aNotice('jobs-rejected'),
    aNotice('request-waiting'),
  ]);
  expect(text.match(/^(Waiting for you|Jobs|Limits)$/gm)).toEqual(['Waiting for you', 'Jobs', 'Limits']);
  expect(subject).toBe(
    'Tollgate: 1 request waits, 3 jobs of group acme/payments rejected, 1 change of limits',
  );
  expect(attributes?.severity).toBe('action');
});

test.each([
  ['request-decided', 'info'],
  ['jobs-warned', 'warning'],
  ['break-glass-review', 'action'],
] as const)('%s is as bad as %s', (kind, severity) => {
  expect(told([aNotice('limit-described'), aNotice(kind)]).attributes?.severity).toBe(severity);
});

test('the same notices make the same id in any order, others another', () => {
  const [one, two] = [aNotice('freeze-set'), aNotice('freeze-lifted')];
  expect(told([one, two]).id).toBe(told([two, one]).id);
  expect(told([one]).id).not.toBe(told([two]).id);
});

test('without a console nothing is a link', () => {
  const message = told([aNotice('jobs-rejected', { examples: [{ text: 'Job 7', page: '/jobs/7' }] })]);
  expect(`${message.text}${message.json}`).not.toMatch(/undefined|\/jobs|\/groups/);
  expect(message.text).toContain('  Job 7\n');
});

test('the fullest message of the longest texts is one that SNS takes, under a subject it takes', () => {
  const long = '"文\\'.repeat(200);
  const notices = Array.from({ length: NOTICES_PER_MESSAGE_MAX + 1 }, (_, at) =>
    aNotice('jobs-rejected', {
      id: `rejected:group/${at}:${'9'.repeat(80)}`,
      label: `group ${long.slice(0, 100)}`,
      lines: [`${words(long)}${words(long)}`, words(long), words(long), words(long), words(long)],
      examples: Array.from({ length: 3 }, () => ({
        text: `${name(long)}${name(long)}`,
        page: `/jobs/${'9'.repeat(16)}`,
      })),
      facts: { causes: Array.from({ length: 4 }, () => words(long)).join('; '), why: words(long) },
    }),
  );
  const { subject, text, json } = told(notices, 'https://budget.example.com');
  const bytes = Buffer.byteLength(JSON.stringify({ default: json, email: text, sms: subject }));
  expect(bytes).toBeLessThan(MESSAGE_BYTES_MAX - 1_024);
  const { notices: shown, more } = JSON.parse(json);
  expect(shown.length + more).toBe(notices.length);
  expect(subject).toMatch(/^[\x20-\x7e]{1,100}$/);
});

test('every setting that is missing is named at once', () => {
  expect(() => readNoticesConfig({ TOLLGATE_ROLLUP_ZONE: 'Mars' })).toThrow(
    /TOLLGATE_LEDGER_TABLE is not set; .*TOLLGATE_THRESHOLDS_TOPIC is not set; TOLLGATE_ROLLUP_ZONE is "Mars"/,
  );
});
