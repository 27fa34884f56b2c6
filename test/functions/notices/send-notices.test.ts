import { describe, expect, test } from 'vitest';
import { MESSAGE_BYTES_MAX } from '../../../functions/core/notify/message.ts';
import { EDITS_MAX } from '../../../functions/notices/edits.ts';
import { cutName, cutText, type Notice } from '../../../functions/notices/notice.ts';
import { NOTICES_PER_MESSAGE_MAX, noticeMessage } from '../../../functions/notices/send-notices.ts';
import { aJob } from '../console/house.ts';
import { CONSOLE_URL, DAY_MS, FRITZ, noticesHarness, OWNED, readMessage } from './harness.ts';

const HOUR_MS = 3_600_000;
const lower = { kind: 'set', subject: 'group/101', limit: 'money-month', amount: 300 } as const;
/** Rejects every job of acme/payments. */
const full = {
  ...({ kind: 'set', subject: 'group/101', unit: 'money', amount: 0.5, per: 'month' } as const),
  owner: 'payments-leads',
};
const BETA = { projectId: 2, namespaceId: 201, rootNamespaceId: 200 };

describe('a message', () => {
  test('begins with what waits for its recipient, and is as urgent as that', async () => {
    const { edit, request, ask, run, notify } = await noticesHarness({
      limits: [full, { ...full, subject: 'group/100', owner: 'acme-leads' }],
    });
    await edit([{ kind: 'set', subject: 'group/100', limit: 'money-month', amount: 0.7 }]);
    await ask([aJob(1), aJob(2)]);
    await request();
    await run();
    const message = notify.sent.find(({ attributes }) => attributes?.owner === 'acme-leads');
    expect(message?.text.match(/^(Waiting for you|Jobs|Limits)$/gm)).toEqual([
      'Waiting for you',
      'Jobs',
      'Limits',
    ]);
    expect(message?.subject).toBe('Tollgate: Waiting for you: 1, Jobs: 1, Limits: 1');
    expect(message?.attributes?.severity).toBe('action');
  });

  test('fits SNS with the most notices of the longest texts', () => {
    const long = '"文\\'.repeat(200);
    const [text, name] = [cutText(long), cutName(long)];
    const notices = Array.from(
      { length: NOTICES_PER_MESSAGE_MAX + 1 },
      (_, at): Notice => ({
        ...{
          to: { owner: 'payments-leads' },
          kind: 'jobs-rejected',
          subject: 'group/101',
          page: '/jobs/9999999999',
        },
        id: `rejected:group/${at}:${'9'.repeat(80)}`,
        lines: [`${text}${text}${text}`, text, text, text, text, text, text],
        facts: { jobs: 3, by: name, from: text, to: text },
      }),
    );
    const message = noticeMessage({ owner: 'payments-leads' }, notices, CONSOLE_URL);
    const forms = { default: message.json, email: message.text, sms: message.subject };
    expect(Buffer.byteLength(JSON.stringify(forms))).toBeLessThan(MESSAGE_BYTES_MAX - 1_024);
    const { notices: shown, more = 0 } = readMessage(message);
    expect(more).toBe(1);
    expect(shown.length + more).toBe(notices.length);
    expect(message.subject).toMatch(/^[\x20-\x7e]{1,100}$/);
  });
});

describe('edits', () => {
  test('go to the owner, with author, values and a link', async () => {
    const { edit, run, notify } = await noticesHarness();
    await edit([lower], { why: 'less work' });
    await run();
    expect(notify.sent).toHaveLength(1);
    const [message] = notify.sent;
    expect(message?.attributes).toEqual({ owner: 'payments-leads', kind: 'notices', severity: 'warning' });
    expect(message?.text).toBe(
      [
        'For the owner: payments-leads (payments@example.com)',
        '',
        'Limits',
        '- CI budget of group acme/payments tightened: amount from 500.00 EUR to 300.00 EUR.',
        '  By fritz on 21 Nov 2026 12:00 UTC (page): "less work"',
        `  ${CONSOLE_URL}/groups/101`,
        '',
      ].join('\n'),
    );
  });

  test('of hundreds of fields are read five in a run, and none is left out', async () => {
    const { edit, news, cursors } = await noticesHarness({ limits: [] });
    for (let made = 1; made <= 6; made += 1) {
      const limits = Array.from({ length: 41 }, (_, at) => ({
        on: { group: at + 1 },
        money: 100 - made,
        per: 'month',
      }));
      await edit([{ kind: 'replace', document: { limits } }]);
    }
    await news();
    expect((await cursors.read())?.cursor.edit).toBe(5);
    expect(await news()).toHaveLength(1);
    expect((await cursors.read())?.cursor.edit).toBe(6);
  });

  test('are not sent to their author', async () => {
    const { edit, news } = await noticesHarness();
    await edit([lower], { actor: 'Payments-Leads' });
    expect(await news()).toEqual([]);
  });

  const on = { subject: 'group/101', reason: 'audit' } as const;
  const grant = { ...on, kind: 'grant', limit: 'money-month', amount: 9, from: '2026-11-21' } as const;
  test.each([
    ['freeze-set', { ...on, kind: 'freeze' }],
    ['grant-given', { ...grant, until: '2026-12-01' }],
    ['break-glass-opened', { ...on, kind: 'breakglass', protected: true, jobs: 5, until: '2026-11-22' }],
    ['limit-loosened', { kind: 'rollout', subject: 'group/101', cost: 'shadow' }],
  ] as const)('have the kind %s', async (kind, made) => {
    const { edit, news } = await noticesHarness();
    await edit([made]);
    expect(await news()).toEqual([`payments-leads ${kind} group/101`]);
  });

  test('of many limits of one owner are one notice', async () => {
    const { edit, run, sent, lastText } = await noticesHarness();
    const kinds = ['hour', 'day', 'week', 'month', 'quarter', 'year'] as const;
    await edit(
      [101, 104].flatMap((group) =>
        kinds.map(
          (per) => ({ kind: 'set', subject: `group/${group}`, unit: 'starts', amount: 9, per }) as const,
        ),
      ),
    );
    await run();
    expect(sent()).toHaveLength(1);
    expect(lastText()).toContain(
      '12 changes of limits of group acme/payments and 1 other: 0 looser, 12 tighter.',
    );
  });

  test('beyond the bound of one run wait for the next, each once', async () => {
    const { edit, run, notify } = await noticesHarness();
    const edits = EDITS_MAX + 20;
    for (let at = 1; at <= edits; at += 1) await edit([{ ...lower, amount: 100 + at }]);
    for (let runs = 1; runs <= 3; runs += 1) await run();
    const counts = notify.sent.map(readMessage).map(({ notices, more = 0 }) => notices.length + more);
    expect(counts).toHaveLength(2);
    expect(counts.reduce((sum, each) => sum + each, 0)).toBe(edits);
  });
});

describe('requests', () => {
  test('go to the approver once, and after a day to finance as well', async () => {
    const { request, news, clock } = await noticesHarness();
    await request();
    expect(await news()).toEqual(['acme-leads request-waiting group/101']);
    clock.advance(DAY_MS - HOUR_MS);
    expect(await news()).toEqual([]);
    clock.advance(HOUR_MS);
    expect(await news()).toEqual([
      'acme-leads request-waiting group/101',
      'finance request-waiting group/101',
    ]);
    expect(await news()).toEqual([]);
  });

  test('about a cap of a group go past its owner, who may not raise it', async () => {
    const cap = { subject: 'group/101/each/pipeline', limit: 'money-once' };
    const limits = [...OWNED, { kind: 'set', ...cap, unit: 'money', amount: 2, per: 'once' } as const];
    const { request, news } = await noticesHarness({ limits });
    await request({ ...cap, amount: 1 });
    expect(await news()).toEqual([`acme-leads request-waiting ${cap.subject}`]);
  });

  test('decided: the owner gets the decision once, without a notice of the grant', async () => {
    const { request, limitEdits, news, lastText } = await noticesHarness();
    const id = await request();
    await news();
    await limitEdits.decide(id, { decision: 'approve', note: 'as agreed' }, FRITZ);
    expect(await news()).toEqual(['payments-leads request-decided group/101']);
    expect(lastText()).toContain('Approved: dana asks for 200 EUR more');
    expect(await news()).toEqual([]);
  });
});

describe('time', () => {
  test('reports the end of a grant once, a day before', async () => {
    const { edit, news, clock } = await noticesHarness();
    await edit([
      {
        ...{ kind: 'grant', subject: 'group/101', limit: 'money-month', amount: 9, reason: 'r' },
        ...{ from: '2026-11-21', until: '2026-11-25T00:00:00Z' },
      },
    ]);
    await news();
    clock.advance(2 * DAY_MS);
    expect(await news()).toEqual([]);
    clock.advance(13 * HOUR_MS);
    expect(await news()).toEqual(['payments-leads grant-ending group/101']);
    expect(await news()).toEqual([]);
    clock.advance(3 * DAY_MS);
    expect(await news()).toEqual([]);
  });

  test('reports the jobs of a break-glass, and asks owner and finance for its review once a day', async () => {
    const { edit, news, clock, ask, limitEdits } = await noticesHarness({
      limits: [...OWNED, { kind: 'set', subject: 'group/104', unit: 'jobs', amount: 0 }],
    });
    await edit([
      {
        ...{ kind: 'breakglass', subject: 'group/101', users: [7], jobs: 3, reason: 'down' },
        until: '2026-11-21T14:00:00Z',
      },
    ]);
    await news();
    await ask([aJob(1, { userId: 7 })]);
    await ask([aJob(2, { userId: 7 })]);
    expect(await news()).toEqual(['payments-leads break-glass-used group/101']);
    expect(await news()).toEqual([]);
    clock.advance(3 * HOUR_MS);
    const review = ['payments-leads break-glass-review group/101', 'finance break-glass-review group/101'];
    expect(await news()).toEqual(review);
    expect(await news()).toEqual([]);
    clock.advance(DAY_MS);
    expect(await news()).toEqual(review);
    const [glass] = await limitEdits.breakGlasses();
    await edit([{ kind: 'review-breakglass', breakglass: glass?.id ?? '', note: 'fine' }]);
    await news();
    clock.advance(2 * DAY_MS);
    expect(await news()).toEqual([]);
  });
});

describe('rejected jobs', () => {
  test('are counted per group, with the limit, an example and a link', async () => {
    const { ask, news, notify, lastText } = await noticesHarness({ limits: [full] });
    await ask([aJob(1), aJob(2)]);
    expect(await news()).toEqual(['payments-leads jobs-rejected group/101']);
    expect(notify.sent.at(-1)?.subject).toBe('Tollgate: 2 jobs of group acme/payments were rejected.');
    expect(lastText()).toContain(
      '- 2 jobs of group acme/payments were rejected.\n  CI budget of group acme/payments, 0.50 EUR: 2',
    );
    expect(lastText()).toContain(`${CONSOLE_URL}/jobs/2`);
    expect([await news(), await news()]).toEqual([[], []]);
    await ask([aJob(3)]);
    expect(await news()).toEqual(['payments-leads jobs-rejected group/101']);
    expect(notify.sent.at(-1)?.subject).toBe('Tollgate: 1 job of group acme/payments was rejected.');
  });

  test('are all counted, and every group is found, if there are more than the lists hold', async () => {
    const { ask, run, notify, sent } = await noticesHarness({
      limits: [full, { ...full, subject: 'group/200', owner: 'beta-leads' }],
    });
    await ask([aJob(1_000, BETA)]);
    for (let jobId = 1; jobId <= 60; jobId += 1) await ask([aJob(jobId)]);
    await run();
    expect(sent().toSorted()).toEqual([
      'beta-leads jobs-rejected group/200',
      'payments-leads jobs-rejected group/101',
    ]);
    const jobs = notify.sent.map(readMessage).flatMap(({ notices }) => notices.map((each) => each.jobs));
    expect(jobs.sort()).toEqual([1, 60]);
  });

  test('disclose no groups of other owners, and no amount of a limit above', async () => {
    const { ask, run, notify } = await noticesHarness({
      limits: [
        { ...full, subject: 'group/100', owner: 'acme-leads' },
        { ...full, amount: 700 },
        { ...full, subject: 'group/200', owner: 'beta-leads' },
      ],
      rules: { disclose: { default: 'binding' } },
    });
    await ask([aJob(1), aJob(2, BETA)]);
    await run();
    const textFor = (owner: string) =>
      notify.sent.find(({ attributes }) => attributes?.owner === owner)?.text ?? '';
    expect(textFor('payments-leads')).toContain('CI budget of group acme: 1');
    expect(textFor('payments-leads')).not.toMatch(/beta|0\.50/);
    expect(textFor('acme-leads')).toContain('CI budget of group acme, 0.50 EUR: 1');
    expect(textFor('beta-leads')).not.toContain('acme');
  });
});

describe('warned jobs', () => {
  test('are sent by rule; jobs of a limit in shadow are not', async () => {
    const { ask, news, edit, lastText } = await noticesHarness({ limits: [{ ...full, mode: 'warn' }] });
    await ask([aJob(1), aJob(2)]);
    expect(await news()).toEqual(['payments-leads jobs-warned group/101']);
    expect(lastText()).toContain('Jobs of group acme/payments would have been rejected');
    expect(lastText()).toContain(`${CONSOLE_URL}/shadow?group=101`);
    expect(await news()).toEqual([]);
    await edit([{ ...full, mode: 'shadow' }], { actor: 'payments-leads' });
    await ask([aJob(3)]);
    expect(await news()).toEqual([]);
  });
});
