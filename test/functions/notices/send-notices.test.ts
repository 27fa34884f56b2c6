import { describe, expect, test } from 'vitest';
import { MemoryNotifier, NotifyError } from '../../../functions/core/notify/message.ts';
import { NOTICES_PER_MESSAGE_MAX } from '../../../functions/notices/digest.ts';
import { MESSAGES_MAX } from '../../../functions/notices/send-notices.ts';
import { aJob } from '../console/house.ts';
import { CONSOLE_URL, memoryCursors, noticesHouse, OWNED, readMessage } from './house.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DANA = { actor: 'dana', rights: [{ role: 'viewer', groups: [101] }] } as const;
const FINANCE = { actor: 'fritz', rights: [{ role: 'finance' }] } as const;

const more = (over: object = {}) => ({
  subject: 'group/101',
  limit: 'money-month',
  amount: 200,
  from: '2026-11-21',
  until: '2026-11-30',
  reason: 'load test',
  ...over,
});
const lower = { kind: 'set', subject: 'group/101', limit: 'money-month', amount: 300 } as const;

describe('where nothing happened', () => {
  test('no message is sent, and nothing is written', async () => {
    const { news, cursors, clock } = await noticesHouse();
    const before = cursors.now();
    clock.advance(15 * 60_000);
    expect(await news()).toEqual([]);
    expect(cursors.now()).toEqual(before);
  });

  test('what lies before the first run is history, what waits is not', async () => {
    const house = await noticesHouse();
    await house.desk.request(more(), DANA);
    await house.ask([aJob(1, { runnerTags: ['large'] })]);
    const { notify, ...late } = await noticesHouse({ limits: [] });
    expect(notify.sent).toEqual([]);
    const notices = new MemoryNotifier();
    const other = { ...house.deps, cursors: memoryCursors(), notify: notices };
    await late.runWith(other);
    expect(notices.sent.map(readMessage).flatMap((each) => each.notices.map(({ kind }) => kind))).toEqual([
      'request-waiting',
    ]);
  });
});

describe('edits', () => {
  test('are told to the owner, with who, from where to where, and a link', async () => {
    const { edit, run, notify } = await noticesHouse();
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
        '- CI budget of group acme/payments tightened: amount 500.00 EUR → 300.00 EUR.',
        '  By fritz on 21 Nov 2026 12:00 UTC (page): "less work"',
        `  ${CONSOLE_URL}/groups/101`,
        '',
      ].join('\n'),
    );
  });

  test('that somebody made of their own limits are not told to them', async () => {
    const { edit, news } = await noticesHouse();
    await edit([lower], { actor: 'Payments-Leads' });
    expect(await news()).toEqual([]);
  });

  test('a limit does not change hands without a word to whom it belonged to', async () => {
    const { edit, news } = await noticesHouse();
    await edit([{ ...lower, owner: 'newcomers' }]);
    expect((await news()).toSorted()).toEqual([
      'newcomers limit-tightened group/101',
      'payments-leads limit-described group/101',
    ]);
  });

  test('go to the closest owner above, and to finance where nobody is named', async () => {
    const { edit, news } = await noticesHouse();
    await edit([
      { kind: 'set', subject: 'group/104', unit: 'jobs', amount: 3 },
      { kind: 'set', subject: 'group/201', unit: 'jobs', amount: 3 },
    ]);
    expect(await news()).toEqual([
      'payments-leads limit-tightened group/104',
      'finance limit-tightened group/201',
    ]);
  });

  test.each([
    ['a freeze', { kind: 'freeze', subject: 'group/101', reason: 'audit' }, 'freeze-set'],
    [
      'a grant',
      {
        kind: 'grant',
        subject: 'group/101',
        limit: 'money-month',
        amount: 9,
        from: '2026-11-21',
        until: '2026-12-01',
        reason: 'r',
      },
      'grant-given',
    ],
    [
      'broken glass',
      {
        kind: 'breakglass',
        subject: 'group/101',
        protected: true,
        jobs: 5,
        until: '2026-11-22',
        reason: 'down',
      },
      'break-glass-opened',
    ],
    ['a rollout', { kind: 'rollout', subject: 'group/101', cost: 'shadow' }, 'limit-loosened'],
  ] as const)('%s has its own kind', async (_, made, kind) => {
    const { edit, news } = await noticesHouse();
    await edit([made], {});
    expect(await news()).toEqual([`payments-leads ${kind} group/101`]);
  });

  test('one freeze that is lifted is told, too', async () => {
    const { edit, news, desk } = await noticesHouse();
    await edit([{ kind: 'freeze', subject: 'group/101', reason: 'audit' }]);
    await news();
    const freeze = [...((await desk.live())?.limits.freezes?.values() ?? [])].flat()[0]?.id ?? '';
    await edit([{ kind: 'unfreeze', freeze }]);
    expect(await news()).toEqual(['payments-leads freeze-lifted group/101']);
  });

  test('a hundred edits are one message with forty lines and the number of the others', async () => {
    const { edit, run, notify } = await noticesHouse();
    for (let amount = 401; amount <= 400 + NOTICES_PER_MESSAGE_MAX + 7; amount += 1)
      await edit([{ ...lower, amount }]);
    await run();
    expect(notify.sent).toHaveLength(1);
    expect(notify.sent[0]?.text).toContain(`and 7 more: ${CONSOLE_URL}/history`);
    expect(readMessage(notify.sent[0] ?? { json: '' })).toMatchObject({ more: 7 });
  });

  test('what one edit does to many limits of an owner is one line', async () => {
    const { edit, run, notify } = await noticesHouse();
    const kinds = ['hour', 'day', 'week', 'month', 'quarter', 'year'] as const;
    await edit(
      [101, 104].flatMap((group) =>
        kinds.map(
          (per) => ({ kind: 'set', subject: `group/${group}`, unit: 'starts', amount: 9, per }) as const,
        ),
      ),
    );
    await run();
    expect(notify.sent).toHaveLength(1);
    expect(notify.sent[0]?.text).toContain(
      '12 changes of limits of group acme/payments and 1 other: 0 looser, 12 tighter.',
    );
  });

  test('more edits than a run reads are told by the next ones, each once', async () => {
    const { edit, run, notify } = await noticesHouse();
    const edits = 320;
    for (let at = 1; at <= edits; at += 1) await edit([{ ...lower, amount: 100 + at }]);
    for (let runs = 1; runs <= 3; runs += 1) await run();
    const lines = notify.sent
      .map(readMessage)
      .reduce((sum, { notices, more: others = 0 }) => sum + notices.length + others, 0);
    expect(notify.sent).toHaveLength(2);
    expect(lines).toBe(edits);
  });
});

describe('requests', () => {
  test('are told once to who may approve: the owner above, held by a limit; later to finance, too, once a day', async () => {
    const { desk, news, clock } = await noticesHouse();
    await desk.request(more(), DANA);
    expect(await news()).toEqual(['acme-leads request-waiting group/101']);
    expect(await news()).toEqual([]);
    clock.advance(DAY_MS - HOUR_MS);
    expect(await news()).toEqual([]);
    clock.advance(HOUR_MS);
    expect(await news()).toEqual([
      'acme-leads request-waiting group/101',
      'finance request-waiting group/101',
    ]);
    expect(await news()).toEqual([]);
  });

  test('go to finance where no owner above may approve them', async () => {
    const { desk, news } = await noticesHouse();
    await desk.request(more({ subject: 'group/100' }), {
      actor: 'dana',
      rights: [{ role: 'viewer', groups: [100] }],
    });
    expect(await news()).toEqual(['finance request-waiting group/100']);
  });

  test.each(['approve', 'decline'] as const)(
    '%s: the owner of the group hears of it once',
    async (verdict) => {
      const { desk, news, notify } = await noticesHouse();
      const asked = await desk.request(more(), DANA);
      await news();
      if (asked.outcome !== 'filed') throw new Error(asked.outcome);
      await desk.decide(asked.request.id, { verdict, note: 'as agreed' }, FINANCE);
      // The grant itself is not told a second time.
      expect(await news()).toEqual(['payments-leads request-decided group/101']);
      expect(notify.sent.at(-1)?.text).toContain(
        `${verdict === 'approve' ? 'Approved' : 'Declined'}: dana asks for 200 EUR more`,
      );
      expect(await news()).toEqual([]);
    },
  );
});

describe('time', () => {
  test('a grant that ends within a day is told once', async () => {
    const { edit, news, clock } = await noticesHouse();
    const grant = {
      kind: 'grant',
      subject: 'group/101',
      limit: 'money-month',
      amount: 9,
      reason: 'r',
    } as const;
    await edit([{ ...grant, from: '2026-11-21', until: '2026-11-25T00:00:00Z' }]);
    await news();
    clock.advance(2 * DAY_MS);
    expect(await news()).toEqual([]);
    clock.advance(13 * HOUR_MS);
    expect(await news()).toEqual(['payments-leads grant-ending group/101']);
    expect(await news()).toEqual([]);
    clock.advance(3 * DAY_MS);
    expect(await news()).toEqual([]);
  });

  test('glass: jobs let in are told as they come, its review to owner and finance once a day', async () => {
    const { edit, news, clock, ask, desk } = await noticesHouse({
      limits: [...OWNED, { kind: 'set', subject: 'group/104', unit: 'jobs', amount: 0 }],
    });
    await edit([
      {
        kind: 'breakglass',
        subject: 'group/101',
        users: [7],
        jobs: 3,
        until: '2026-11-21T14:00:00Z',
        reason: 'down',
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
    const [glass] = await desk.breakGlasses();
    await edit([{ kind: 'review-breakglass', breakglass: glass?.id ?? '', note: 'fine' }]);
    await news();
    clock.advance(2 * DAY_MS);
    expect(await news()).toEqual([]);
  });
});

describe('jobs', () => {
  const full = {
    kind: 'set',
    subject: 'group/101',
    unit: 'money',
    amount: 0.5,
    per: 'month',
    owner: 'payments-leads',
  } as const;

  test('that were rejected are counted per group, with the limit, a job to look at and a link', async () => {
    const { ask, news, notify } = await noticesHouse({ limits: [full] });
    await ask([aJob(1), aJob(2)]);
    expect(await news()).toEqual(['payments-leads jobs-rejected group/101']);
    expect(notify.sent.at(-1)?.subject).toBe('Tollgate: 2 jobs of group acme/payments rejected');
    expect(notify.sent.at(-1)?.text).toContain(
      [
        '- 2 jobs of group acme/payments were rejected.',
        '  CI budget of group acme/payments, 0.50 EUR: 2',
      ].join('\n'),
    );
    expect(notify.sent.at(-1)?.text).toContain(`${CONSOLE_URL}/jobs/2`);
    expect(await news()).toEqual([]);
    expect(await news()).toEqual([]);
    await ask([aJob(3)]);
    expect(await news()).toEqual(['payments-leads jobs-rejected group/101']);
    expect(notify.sent.at(-1)?.subject).toBe('Tollgate: 1 job of group acme/payments rejected');
  });

  test('a storm of retries is one message, and one line of it', async () => {
    const { ask, run, notify } = await noticesHouse({ limits: [full] });
    for (let jobId = 1; jobId <= 6; jobId += 1) await ask([aJob(jobId, { pipelineId: 9, jobName: 'build' })]);
    await run();
    expect(notify.sent).toHaveLength(1);
    expect(notify.sent[0]?.text.match(/"build"/g)).toHaveLength(1);
    expect(notify.sent[0]?.text).toContain('6 tries');
  });

  test('of more than the lists hold, every group is found and every job counted', async () => {
    const { ask, run, notify, told } = await noticesHouse({
      limits: [full, { ...full, subject: 'group/200', owner: 'beta-leads' }],
    });
    await ask([aJob(1_000, { projectId: 2, namespaceId: 201, rootNamespaceId: 200 })]);
    for (let jobId = 1; jobId <= 60; jobId += 1) await ask([aJob(jobId)]);
    await run();
    expect(told()).toEqual(
      expect.arrayContaining([
        'payments-leads jobs-rejected group/101',
        'beta-leads jobs-rejected group/200',
      ]),
    );
    const jobs = notify.sent.map(readMessage).flatMap(({ notices }) => notices.map((each) => each.jobs));
    expect(jobs.sort()).toEqual([1, 60]);
  });

  test('an owner reads of no other owner’s groups, and no number of a limit above', async () => {
    const { ask, run, notify } = await noticesHouse({
      limits: [
        { ...full, subject: 'group/100', owner: 'acme-leads' },
        { ...full, amount: 700 },
        { ...full, subject: 'group/200', owner: 'beta-leads' },
      ],
      rules: { disclose: { default: 'binding' } },
    });
    await ask([aJob(1), aJob(2, { projectId: 2, namespaceId: 201, rootNamespaceId: 200 })]);
    await run();
    const textFor = (owner: string) =>
      notify.sent.find(({ attributes }) => attributes?.owner === owner)?.text ?? '';
    expect(textFor('payments-leads')).toContain('CI budget of group acme: 1');
    expect(textFor('payments-leads')).not.toMatch(/beta|0\.50/);
    expect(textFor('acme-leads')).toContain('CI budget of group acme, 0.50 EUR: 1');
    expect(textFor('beta-leads')).not.toContain('acme');
  });

  test('that only a warning let in are told with the rule and the figures; what only shadows is not', async () => {
    const { ask, news, notify, edit } = await noticesHouse({ limits: [{ ...full, mode: 'warn' }] });
    await ask([aJob(1), aJob(2)]);
    expect(await news()).toEqual(['payments-leads jobs-warned group/101']);
    expect(notify.sent.at(-1)?.text).toContain('2 jobs of group acme/payments would have been rejected');
    expect(notify.sent.at(-1)?.text).toContain(
      'CI budget: 2.00 EUR of 0.50 EUR spent or held; 2.00 EUR would not have been let in',
    );
    expect(notify.sent.at(-1)?.text).toContain(`${CONSOLE_URL}/shadow?group=101`);
    expect(await news()).toEqual([]);
    await edit([{ ...full, mode: 'shadow' }], { actor: 'payments-leads' });
    await ask([aJob(3)]);
    expect(await news()).toEqual([]);
  });

  test('a default by pattern that warns is told for groups that have no limit of their own', async () => {
    const { kind, unit, amount, per } = full;
    const byPattern = {
      kind,
      unit,
      amount,
      per,
      subject: 'groups/acme/*',
      mode: 'warn',
      owner: 'team',
    } as const;
    const { ask, news, notify } = await noticesHouse({ limits: [byPattern] });
    await ask([aJob(1), aJob(2)]);
    expect(await news()).toEqual(['team jobs-warned group/101']);
    expect(notify.sent.at(-1)?.text).toContain('2 jobs of group acme/payments would have been rejected');
    expect(notify.sent.at(-1)?.text).toContain('CI budget: 2.00 EUR of 0.50 EUR spent or held');
    expect(await news()).toEqual([]);
  });

  test('that were rejected while no run came to its end for days are told once, up to two weeks back', async () => {
    const house = await noticesHouse({
      limits: [full, { ...full, subject: 'group/200', owner: 'beta-leads' }],
    });
    const { ask, news, clock, run, notify } = house;
    const beta = { projectId: 2, namespaceId: 201, rootNamespaceId: 200 };
    await ask([aJob(1)]);
    await run();
    await ask([aJob(2), aJob(3)]);
    clock.advance(DAY_MS);
    await ask([aJob(4, beta)]);
    clock.advance(5 * DAY_MS);
    const missed = ['payments-leads jobs-rejected group/101', 'beta-leads jobs-rejected group/200'];
    expect((await news()).toSorted()).toEqual(missed.toSorted());
    const texts = notify.sent.slice(-2).map(({ text }) => text);
    expect(texts.join()).toContain('2 jobs of group acme/payments were rejected');
    expect(texts.join()).toContain('1 job of group beta was rejected');
    expect(texts.join()).toContain('CI budget of group beta, 0.50 EUR: 1');
    expect([await news(), await news()]).toEqual([[], []]);
    await ask([aJob(5)]);
    clock.advance(15 * DAY_MS);
    expect(await news()).toEqual([]);
  });

  test('a cursor of before is told nothing twice: what it no longer knows is left alone', async () => {
    const { ask, news, clock, run, cursors } = await noticesHouse({ limits: [full] });
    await ask([aJob(1)]);
    await run();
    clock.advance(4 * DAY_MS);
    await run();
    const stored = await cursors.read();
    if (stored === undefined) throw new Error('no cursor');
    const { talliesSince: _, ...cursor } = stored.cursor;
    await cursors.write({ rev: stored.rev + 1, cursor: { ...cursor, tallies: {} } });
    expect(await news()).toEqual([]);
  });

  test('a group that is rolled out as far as a warning is told like a limit in that mode', async () => {
    const { ask, news, edit } = await noticesHouse({ limits: [full] });
    await edit([{ kind: 'rollout', subject: 'group/100', cost: 'warn' }]);
    await news();
    await ask([aJob(1)]);
    expect(await news()).toEqual(['payments-leads jobs-warned group/101']);
  });
});

describe('at least once, and once where nothing crashes', () => {
  const three = async (notify: MemoryNotifier) => {
    const house = await noticesHouse({ notify });
    await house.edit([lower, { kind: 'set', subject: 'group/100', limit: 'money-month', amount: 800 }]);
    await house.edit([{ kind: 'set', subject: 'group/200', limit: 'money-month', amount: 90 }]);
    return house;
  };

  test('a topic that stops taking messages is told the rest by the next run, and nothing twice', async () => {
    const notify = new MemoryNotifier();
    const house = await three(notify);
    let taken = 0;
    const flaky = {
      send: async (message: Parameters<MemoryNotifier['send']>[0]) => {
        if (taken === 1) throw new NotifyError('notify_unavailable', 'no');
        taken += 1;
        await notify.send(message);
      },
    };
    await expect(house.runWith({ ...house.deps, notify: flaky })).rejects.toThrow('[notify_unavailable]');
    await house.run();
    await house.run();
    expect(house.told().toSorted()).toEqual([
      'acme-leads limit-tightened group/100',
      'finance limit-tightened group/200',
      'payments-leads limit-tightened group/101',
    ]);
  });

  test('a crash between the messages and the cursor repeats them under the same ids', async () => {
    const notify = new MemoryNotifier();
    const house = await three(notify);
    const cursors = { ...house.deps.cursors, write: () => Promise.reject(new Error('crashed')) };
    await expect(house.runWith({ ...house.deps, cursors })).rejects.toThrow('crashed');
    const first = notify.sent.map(({ id }) => id);
    await house.run();
    expect(notify.sent.map(({ id }) => id)).toEqual([...first, ...first]);
    expect(await house.news()).toEqual([]);
  });

  test('more owners than a run tells are told by the next ones, each once', async () => {
    const many = Array.from({ length: MESSAGES_MAX + 5 }, (_, at) => ({
      kind: 'set' as const,
      subject: `user/${at + 1}`,
      unit: 'starts' as const,
      per: 'day' as const,
      amount: at + 1,
      owner: `owner-${at}`,
    }));
    const house = await noticesHouse();
    await house.edit(many);
    expect(await house.run()).toMatchObject({ messages: MESSAGES_MAX, waiting: 5 });
    expect(await house.run()).toMatchObject({ messages: 5, waiting: 0 });
    expect(await house.run()).toMatchObject({ messages: 0 });
    const owners = house.messages().map(({ owner }) => owner);
    expect(new Set(owners).size).toBe(owners.length);
    expect(owners).toHaveLength(many.length);
  });
});
