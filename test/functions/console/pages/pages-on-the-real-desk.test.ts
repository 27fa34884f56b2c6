import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { createPages } from '../../../../functions/console/pages/create-pages.ts';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import type { LimitsDocument } from '../../../../functions/core/limits/limit-set.ts';
import { createUploads } from '../../../../functions/core/limits/limit-table.ts';
import type { SignInEnv, User } from '../../../../functions/core/signin/model.ts';
import { closeMonths } from '../../../support/statements/closed-months.ts';
import { memoryLimitTable } from '../../../support/tables/memory-limit-table.ts';
import { aJob, consoleHouse, LIMITS, USERS } from '../house.ts';

/** Pages on the desk and read models as they are, in memory. */
async function house(parts: { readonly packed?: LimitsDocument } = {}) {
  const real = consoleHouse(parts);
  if (parts.packed === undefined) await real.apply(LIMITS);
  let ids = 0;
  const told: string[] = [];
  const newId = (): string => {
    ids += 1;
    return `u${ids}`;
  };
  const pages = createPages({
    desk: real.desk,
    read: real.read,
    policy: real.policy,
    directory: async () => real.directory,
    uploads: createUploads({ table: memoryLimitTable(), clock: real.clock, newId }),
    clock: real.clock,
    zone: 'UTC',
    origin: 'https://budget.example.com',
    tellOwner: async ({ about }) => {
      told.push(about);
      return 'sent';
    },
    log: silentLog,
  });
  const appFor = (user: User) => {
    const app = new Hono<SignInEnv>();
    app.use(async (c, next) => {
      c.set('user', user);
      await next();
    });
    app.route('/', pages);
    return {
      get: async (path: string) => textOf(await app.request(path)),
      post: async (path: string, fields: Record<string, string> | FormData) =>
        textOf(
          await app.request(path, {
            method: 'POST',
            body: fields instanceof FormData ? fields : new URLSearchParams(fields),
          }),
        ),
    };
  };
  const amount = async () => (await real.desk.live())?.limits.bySubject.get('group/101')?.[0]?.amount;
  return { ...real, appFor, amount, told };
}

const textOf = async (response: Response) => ({
  status: response.status,
  to: response.headers.get('location'),
  type: response.headers.get('content-type'),
  // A byte order mark stays.
  text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(await response.arrayBuffer()),
});

/** The hidden fields and what stands in the others, as a browser would send them. */
const fieldsOf = (text: string): Record<string, string> => ({
  ...Object.fromEntries(
    [...text.matchAll(/<input[^>]*\sname="([^"]+)"[^>]*\svalue="([^"]*)"/g)].map(
      ([, name = '', value = '']) => [name, value],
    ),
  ),
  ...Object.fromEntries(
    [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
      ([, name = '', value = '']) => [name, value],
    ),
  ),
});

test.each(['/groups/100', '/?under=100'])(
  'the column of this month comes to what the group used, with what its own projects did: %s',
  async (path) => {
    const { appFor, used } = await house();
    await used('group/100', '2026-11-02', 100_000_000);
    await used('group/101', '2026-11-02', 60_000_000);
    await used('group/102', '2026-11-20', 15_000_000);
    const { text } = await appFor(USERS.finance).get(path);
    const cells = [...text.matchAll(/data-l="this month">([\d.,]+)</g)].map(([, cell]) => Number(cell));
    expect(cells.toSorted((a, b) => a - b)).toEqual([15, 25, 60, 100]);
    expect(text).toContain('Projects right in this group');
  },
);

const EDIT = '/edit?kind=set&subject=group/101&limit=money-month';

test('finance reads a group, sees what an edit does, and saves it', async () => {
  const { appFor, amount } = await house();
  const finance = appFor(USERS.finance);
  expect((await finance.get('/')).text).toContain('payments');
  expect((await finance.get('/groups/101')).text).toContain('500.00 EUR');
  const form = fieldsOf((await finance.get(EDIT)).text);
  expect(form).toMatchObject({ 'was.amount': '500', 'was.owner': 'payments-leads' });
  const sent = { ...form, mode: form['was.mode'] ?? '', amount: '700.50', why: 'release' };
  const preview = await finance.post('/edit', { ...sent, step: 'preview' });
  expect(preview.text).toContain('700.50 EUR');
  expect(await amount()).toBe(500_000_000);
  const saved = await finance.post('/edit', { ...sent, step: 'apply' });
  expect(saved).toMatchObject({ status: 303, to: '/groups/101?saved=2' });
  expect(await amount()).toBe(700_500_000);
  expect((await finance.get('/groups/101')).text).toContain('release');
});

test('shares are shown as they were written, and move along with the amount that is saved', async () => {
  const { appFor, apply, desk } = await house();
  const written = { soft: '80%', carry: '20%' };
  await apply([{ kind: 'set', subject: 'group/101', limit: 'money-month', ...written }]);
  const [from, until] = ['2026-11-01', '2026-11-30'];
  const limit = { subject: 'group/101', limit: 'money-month' };
  await apply([{ kind: 'grant', ...limit, amount: 100, from, until, reason: 'release' }]);
  const finance = appFor(USERS.finance);
  const form = fieldsOf((await finance.get(EDIT)).text);
  expect(form).toMatchObject({ 'was.soft': '80%', soft: '80%', 'was.carry': '20%', carry: '20%' });
  const sent = { ...form, mode: form['was.mode'] ?? '', amount: '510', why: 'release', step: 'apply' };
  expect((await finance.post('/edit', { ...sent, carry: '22%' })).status).toBe(303);
  const [now] = (await desk.live())?.limits.bySubject.get('group/101') ?? [];
  expect(now).toMatchObject({ amount: 510_000_000, softAmount: 408_000_000, carryMax: 112_200_000 });
  expect(fieldsOf((await finance.get(EDIT)).text)).toMatchObject({ soft: '80%', carry: '22%' });
});

test('what an alert told stands in the list and at the limit; what no channel took is said as a warning', async () => {
  const { appFor, counts, alerts, clock } = await house();
  const finance = appFor(USERS.finance);
  counts('group/101', 'money-month', '2026-11', 400_000_000);
  const key = { subject: 'group/101', limit: 'money-month', period: '2026-11' };
  const level = { measure: 'committed', limitAmount: 500_000_000, owner: 'payments-leads' } as const;
  const note = (outcome: 'taken' | 'failed', name: string, levelAmount: number) =>
    alerts.add({ of: 'thresholds', key }, [
      {
        ...{ ...level, level: name, levelAmount },
        channels: [{ channel: 'topic', outcome, atMs: clock.nowMs() }],
      },
    ]);
  await note('taken', '75 %', 375_000_000);
  for (const path of ['/budgets', '/groups/101'])
    expect((await finance.get(path)).text).toContain(
      'payments-leads told at 75 % by mail on 21 Nov 2026 12:00 UTC',
    );
  clock.advance(3_600_000);
  await note('failed', '90 %', 450_000_000);
  for (const path of ['/budgets', '/groups/101'])
    expect((await finance.get(path)).text).toMatch(
      /class="warn-text">payments-leads not told at 90 %: no answer from mail since 21 Nov 2026 13:00 UTC</,
    );
});

test('whom a limit alerts when is set in the form, and stands at the limit', async () => {
  const { appFor, desk } = await house();
  const finance = appFor(USERS.finance);
  const save = async (thresholds: string) => {
    const form = fieldsOf((await finance.get(EDIT)).text);
    const sent = { ...form, mode: form['was.mode'] ?? '', thresholds, why: 'release', step: 'apply' };
    const { status, text } = await finance.post('/edit', sent);
    const [now] = (await desk.live())?.limits.bySubject.get('group/101') ?? [];
    return [status, now?.thresholds, /id="thresholds-problem">([^<]*)</.exec(text)?.[1]];
  };
  expect(await save('80, 100 120')).toEqual([303, [80, 100, 120], undefined]);
  expect(fieldsOf((await finance.get(EDIT)).text)).toMatchObject({ thresholds: '80 100 120' });
  expect((await finance.get('/groups/101')).text).toContain('alerts at 80 %, 100 % and 120 %');
  expect(await save('80 forecast 100')).toEqual([303, [80], undefined]);
  expect(fieldsOf((await finance.get(EDIT)).text)).toMatchObject({ thresholds: '80 forecast 100' });
  expect((await finance.get('/groups/101')).text).toContain('alerts at 80 % and forecast 100 %');
  expect((await finance.get('/history')).text).toContain('[80, forecast 100]');
  expect(await save('80 100 120')).toEqual([303, [80, 100, 120], undefined]);
  expect(await save('often')).toEqual([422, [80, 100, 120], expect.stringContaining('a whole percent')]);
  expect(await save('none')).toEqual([303, [], undefined]);
  expect(fieldsOf((await finance.get(EDIT)).text)).toMatchObject({ thresholds: 'none' });
  expect(await save('')).toEqual([303, undefined, undefined]);
  expect((await finance.get('/groups/101')).text).toContain('alerts at 50 %, 75 %, 90 % and 100 %');
});

test('what becomes of jobs in an outage is a choice of the form, and stands at the limit', async () => {
  const { appFor, desk } = await house();
  const finance = appFor(USERS.finance);
  const save = async (choice: string) => {
    const form = fieldsOf((await finance.get(EDIT)).text);
    const mode = form['was.mode'] ?? '';
    const sent = { ...form, mode, when_unreachable: choice, why: 'outage', step: 'apply' };
    const { status } = await finance.post('/edit', sent);
    const [now] = (await desk.live())?.limits.bySubject.get('group/101') ?? [];
    return [status, now?.whenUnreachable];
  };
  expect(await save('reject')).toEqual([303, 'reject']);
  expect((await finance.get('/groups/101')).text).toContain('rejects all while it cannot be asked');
  expect(fieldsOf((await finance.get(EDIT)).text)).toMatchObject({ 'was.when_unreachable': 'reject' });
  // Milder than before: somebody else has to agree.
  expect(await save('')).toEqual([202, 'reject']);
});

test('a form reads numbers and days as they are written, and asks where they could be two', async () => {
  const { appFor, desk } = await house();
  const finance = appFor(USERS.finance);
  const form = fieldsOf((await finance.get(EDIT)).text);
  const sent = { ...form, mode: form['was.mode'] ?? '', why: 'release', step: 'apply' };
  const unclear = await finance.post('/edit', { ...sent, amount: '1.000', until: '01/02/2027' });
  expect(unclear.status).toBe(422);
  expect(unclear.text).toContain('may be 1000 or 1.0');
  expect(unclear.text).toContain('may be 2027-02-01 or 2027-01-02');
  expect((await finance.post('/edit', { ...sent, amount: '12 USD' })).text).toContain('is in USD');
  expect((await finance.post('/edit', { ...sent, amount: '+20%' })).status).toBe(303);
  expect((await desk.live())?.limits.bySubject.get('group/101')?.[0]).toMatchObject({ amount: 600_000_000 });
});

test('ten times as much is asked for once it was confirmed, and saved when somebody else has seen it', async () => {
  const { appFor, amount } = await house();
  const finance = appFor(USERS.finance);
  const form = fieldsOf((await finance.get(EDIT)).text);
  const sent = { ...form, mode: form['was.mode'] ?? '', amount: '5000', why: 'release', step: 'apply' };
  expect((await finance.post('/edit', sent)).status).toBe(409);
  expect(await amount()).toBe(500_000_000);
  const asked = await finance.post('/edit', { ...sent, confirmed: 'yes' });
  expect([asked.status, await amount()]).toEqual([202, 500_000_000]);
  expect(asked.text).toContain('Request filed');
  // Whoever approves sees the edit itself, and what it does.
  const admin = appFor(USERS.admin);
  const listed = (await admin.get('/requests')).text;
  expect(listed).toContain('500.00 EUR → 5,000.00 EUR');
  const path = /href="(\/requests\/r-[^"]+)"/.exec(listed)?.[1] ?? '';
  const shown = (await admin.get(path)).text;
  expect(shown).toContain('Changes');
  expect(shown).toContain('5,000.00 EUR');
  expect((await admin.post(path, { ...fieldsOf(shown), verdict: 'approve' })).status).toBe(303);
  expect(await amount()).toBe(5_000_000_000);
});

test('a new limit over one that is there opens that one, with the mode it has', async () => {
  const { appFor, desk } = await house();
  const finance = appFor(USERS.finance);
  const form = fieldsOf((await finance.get('/edit?kind=set&subject=group/101')).text);
  const sent = { ...form, unit: 'money', per: 'month', mode: 'shadow', amount: '600', why: 'release' };
  const opened = await finance.post('/edit', { ...sent, step: 'preview' });
  expect(opened.text).toContain('There is such a limit already');
  expect(opened.text).not.toContain('loosens');
  expect(fieldsOf(opened.text)).toMatchObject({
    limit: 'money-month',
    amount: '600',
    'was.amount': '500',
    'was.mode': 'enforce',
  });
  expect(opened.text).toContain('<option value="enforce" selected="">');
  // Nor does a form that was sent at once, without a look at what it does.
  expect((await finance.post('/edit', { ...sent, step: 'apply' })).text).toContain('There is such a limit');
  expect((await desk.live())?.pointer.edit).toBe(1);
});

test('a limit that would no longer reject jobs is asked for only when it was confirmed', async () => {
  const { appFor, desk } = await house();
  const finance = appFor(USERS.finance);
  const form = fieldsOf((await finance.get(EDIT)).text);
  const sent = { ...form, mode: 'shadow', amount: '500', why: 'pilot' };
  const shown = await finance.post('/edit', { ...sent, step: 'preview' });
  expect(shown.text).toContain('Jobs pass that are rejected now');
  expect(shown.text).not.toContain('More than three times');
  expect((await finance.post('/edit', { ...sent, step: 'apply' })).status).toBe(409);
  expect((await desk.live())?.pointer.edit).toBe(1);
  expect((await finance.post('/edit', { ...sent, step: 'apply', confirmed: 'yes' })).status).toBe(202);
});

test('what a pool is given away as is told in numbers only where there are some', async () => {
  const { appFor, apply } = await house();
  const finance = appFor(USERS.finance);
  const note = async () =>
    /<strong>Money per month is a pool:<\/strong> ([^<]*?) Whoever/.exec(
      (await finance.get('/groups/101')).text,
    )?.[1];
  const cards = { kind: 'set', subject: 'group/104', limit: 'money-month' } as const;
  await apply([{ ...cards, amount: 'unlimited' }]);
  expect(await note()).toBe('1 limit below is unlimited, above the 500.00 EUR here.');
  await apply([{ ...cards, amount: 800 }]);
  expect(await note()).toBe('1 limit below comes to 800.00 EUR, more than the 500.00 EUR here.');
  await apply([{ kind: 'set', subject: 'group/102', unit: 'money', amount: 'unlimited', per: 'month' }]);
  const above = (await finance.get('/groups/100')).text;
  expect(above).toContain(
    '1 limit below comes to 500.00 EUR, within the 900.00 EUR here, and 1 more is unlimited',
  );
});

test('every difference of a large edit is on its own page, a hundred at a time, as far as it is theirs', async () => {
  const { appFor, apply } = await house();
  const limits = Array.from({ length: 250 }, (_, at) => ({
    on: { group: at === 249 ? 101 : 1_000 + at },
    money: 5,
    per: 'month',
    owner: `o${at}`,
  }));
  await apply([{ kind: 'replace', document: { limits } }]);
  const finance = appFor(USERS.finance);
  const { text } = await finance.get('/history');
  const [, href = '', count] = /<a href="(\/history\/2)">([\d,]+) differences</.exec(text) ?? [];
  expect(href).toBe('/history/2');
  let rows = 0;
  let pages = 0;
  for (let next: string | undefined = href; next !== undefined && pages < 50; pages += 1) {
    const shown: string = (await finance.get(next)).text;
    rows += shown.split('<th scope="row"').length - 1;
    next = /rel="next" href="([^"]+)"/.exec(shown)?.[1];
  }
  expect(rows).toBe(Number(count?.replace(',', '')));
  expect(pages).toBe(Math.ceil(rows / 100));
  const owner = appFor(USERS.owner);
  expect((await owner.get('/history/2')).text).toContain('acme/payments');
  expect((await owner.get('/history/2')).text).not.toContain('group 1007');
  expect((await finance.get('/history/2')).text).toContain('group 1007');
  expect((await finance.get('/history/99')).status).toBe(404);
});

test('nothing is offered to be added to what is unlimited', async () => {
  const { appFor, apply } = await house();
  const [finance, viewer] = [appFor(USERS.finance), appFor(USERS.viewer)];
  expect((await finance.get('/groups/101')).text).toContain('Grant more');
  expect((await viewer.get('/groups/101')).text).toContain('Ask for more');
  await apply([{ kind: 'set', subject: 'group/101', limit: 'money-month', amount: 'unlimited' }]);
  expect((await finance.get('/groups/101')).text).not.toContain('Grant more');
  expect((await viewer.get('/groups/101')).text).not.toContain('Ask for more');
  expect((await viewer.get('/ask?subject=group/101')).text).not.toContain('Send the request');
});

test('a stale edit is refused with both versions', async () => {
  const { appFor, apply, amount } = await house();
  const finance = appFor(USERS.finance);
  const form = fieldsOf((await finance.get(EDIT)).text);
  await apply([{ kind: 'set', subject: 'group/101', limit: 'money-month', amount: 450 }]);
  const answer = await finance.post('/edit', {
    ...form,
    mode: form['was.mode'] ?? '',
    amount: '600',
    why: 'mine',
    step: 'apply',
  });
  expect(answer.status).toBe(409);
  expect(answer.text).toContain('600.00 EUR');
  expect(answer.text).toContain('450.00 EUR');
  expect(await amount()).toBe(450_000_000);
});

test('an amount that is none is told beside its field', async () => {
  const { appFor } = await house();
  const finance = appFor(USERS.finance);
  const form = fieldsOf((await finance.get(EDIT)).text);
  const answer = await finance.post('/edit', {
    ...form,
    mode: form['was.mode'] ?? '',
    amount: '5oo',
    why: 'x',
    step: 'preview',
  });
  expect(answer.status).toBe(422);
  expect(answer.text).toContain('id="amount-problem"');
});

test.each([
  ['viewer', 403],
  ['none', 403],
  ['viewer of another subtree', 403],
  ['owner of another subtree', 404],
] as const)('a %s saves nothing: %d', async (who, status) => {
  const { appFor, amount, desk } = await house();
  const base = (await desk.live())?.pointer.set ?? '';
  const fields = {
    kind: 'set',
    subject: 'group/101',
    limit: 'money-month',
    'was.amount': '500',
    amount: '400',
    why: 'x',
    base,
    step: 'apply',
  };
  const answer = await appFor(USERS[who]).post('/edit', fields);
  expect(answer.status).toBe(status);
  expect(await amount()).toBe(500_000_000);
});

test('the last day of a freeze, a grant and a break-glass is the last day where their limit counts, and says so', async () => {
  const { appFor, apply, desk } = await house();
  await apply([{ kind: 'set', subject: 'group/101', limit: 'money-month', zone: 'Europe/Berlin' }]);
  const finance = appFor(USERS.finance);
  const end = 'the end of 31 Dec 2026 Europe/Berlin';
  const form = await finance.get('/edit?kind=freeze&subject=group/101');
  expect(form.text).toContain('The last day, Europe/Berlin.');
  const sent = { ...fieldsOf(form.text), reason: 'year-end', until: '2026-12-31', why: 'audit' };
  expect((await finance.post('/edit', { ...sent, step: 'preview' })).text).toContain(end);
  expect((await finance.post('/edit', { ...sent, step: 'apply' })).status).toBe(303);
  const limit = { subject: 'group/101', limit: 'money-month', from: '2026-11-01', until: '2026-12-31' };
  await apply([{ kind: 'grant', ...limit, amount: 1, reason: 'release' }]);
  const { text } = await finance.get('/groups/101');
  expect(text).toContain(`until <time class="when" datetime="2026-12-31T23:00:00.000Z">${end}`);
  expect(text.split(end).length).toBeGreaterThanOrEqual(3);
  const [freeze] = (await desk.live())?.limits.freezes?.get('group/101') ?? [];
  expect(new Date(freeze?.untilMs ?? 0).toISOString()).toBe('2026-12-31T23:00:00.000Z');
});

test('what a viewer asks for is granted by finance', async () => {
  const { appFor, read } = await house();
  const fields = {
    subject: 'group/101',
    limit: 'money-month',
    amount: '50',
    from: '2026-11-21',
    until: '2026-11-28',
    reason: 'load tests',
  };
  expect(await appFor(USERS.viewer).post('/ask', fields)).toMatchObject({ status: 303 });
  const finance = appFor(USERS.finance);
  // On every page of who may decide, and of nobody else.
  expect((await finance.get('/')).text).toContain('>Requests <span class="count">1<');
  expect((await appFor(USERS.viewer).get('/')).text).toContain('>Requests</a>');
  const id = /href="\/requests\/([^"]+)"/.exec((await finance.get('/requests')).text)?.[1];
  expect(await finance.post(`/requests/${id}`, { verdict: 'approve' })).toMatchObject({
    status: 303,
    to: '/requests?done=approved',
  });
  expect((await finance.get('/')).text).toContain('>Requests</a>');
  expect((await read.subject('group/101', {}, USERS.finance))?.grants).toHaveLength(1);
});

test('a downloaded file comes back edited, with its differences shown before they are saved', async () => {
  const { appFor, amount } = await house();
  const finance = appFor(USERS.finance);
  const { text: file } = await finance.get('/export.csv');
  const upload = new FormData();
  upload.set('file', new File([file.replace(/(payments,101,money),500,/, '$1,550,')], 'limits.csv'));
  const preview = await finance.post('/import', upload);
  expect(preview.status).toBe(200);
  expect(preview.text).toContain('1 difference');
  expect(preview.text).toContain('550.00 EUR');
  const kept = /name="kept" value="([^"]+)"/.exec(preview.text)?.[1] ?? '';
  expect(await finance.post('/import', { kept, step: 'apply', why: 'new quarter' })).toMatchObject({
    status: 303,
  });
  expect(await amount()).toBe(550_000_000);
});

test('a file with a day in force begins then, is approved as any import, and changes nothing of today', async () => {
  const { appFor, amount, desk } = await house();
  const finance = appFor(USERS.finance);
  const { text: file } = await finance.get('/export.csv');
  const upload = new FormData();
  upload.set('file', new File([file.replace(/(payments,101,money),500,/, '$1,540,')], 'limits.csv'));
  upload.set('from', '1.1.2027');
  const preview = await finance.post('/import', upload);
  expect([preview.status, preview.text.includes('in force from 1.1.2027')]).toEqual([200, true]);
  const { kept = '', from = '' } = fieldsOf(preview.text);
  const filed = await finance.post('/import', { kept, from, step: 'apply', why: 'next year' });
  expect(filed.status).toBe(202);
  const id = /href="\/requests\/([^"]+)"/.exec((await appFor(USERS.admin).get('/requests')).text)?.[1];
  await appFor(USERS.admin).post(`/requests/${id}`, { verdict: 'approve' });
  expect(JSON.stringify((await desk.live())?.document)).toContain('money-month-2027-01-01');
  expect(await amount()).toBe(500_000_000);
});

test('before any set is live the file has the limits packed with the deployment, and comes back as the first set', async () => {
  const { appFor, desk, apply } = await house({ packed: PACKED });
  const finance = appFor(USERS.finance);
  for (const dialect of ['comma', 'semicolon']) {
    const { status, text, type } = await finance.get(`/export.csv?dialect=${dialect}`);
    expect([status, type, text]).toEqual([
      200,
      'text/csv; charset=utf-8',
      expect.stringContaining('payments'),
    ]);
    expect(text.codePointAt(0)).toBe(0xfeff);
  }
  const { text: file } = await finance.get('/export.csv');
  const upload = new FormData();
  upload.set('file', new File([file.replace(/(payments,101,money),500,/, '$1,550,')], 'limits.csv'));
  const { text } = await finance.post('/import', upload);
  expect(text).toContain('Not saved yet: 1 difference');
  const kept = fieldsOf(text).kept ?? '';
  const saved = await finance.post('/import', { kept, step: 'apply', why: 'first', dialect: 'comma' });
  expect(saved).toMatchObject({ status: 303, to: '/history?saved=1' });
  expect((await desk.live())?.document).toEqual({
    limits: [{ ...PACKED.limits[0], money: '550' }],
    freezes: PACKED.freezes,
  });
  // Another first set was faster: rows of what was packed with the deployment are not put on top of it.
  await apply([{ kind: 'set', subject: 'group/101', limit: 'money-month', amount: 600 }]);
  const late = new FormData();
  late.set('file', new File([file.replace(/(payments,101,money),500,/, '$1,560,')], 'limits.csv'));
  expect((await finance.post('/import', late)).status).toBe(409);
});

const PACKED = {
  limits: [{ on: { group: 101 }, money: 500, per: 'month', owner: 'Zahlungs-Ämter' }],
  freezes: [{ on: { group: 200 }, from: '2026-12-24', until: '2026-12-31', reason: 'audit' }],
};

test('a file of a version that is no longer live shows what it would change and what others changed since', async () => {
  const { appFor, apply, amount } = await house();
  const finance = appFor(USERS.finance);
  const { text: file } = await finance.get('/export.csv');
  await apply([
    { kind: 'set', subject: 'group/101', limit: 'money-month', amount: 450 },
    { kind: 'set', subject: 'group/102', unit: 'jobs', amount: 7 },
  ]);
  const upload = new FormData();
  upload.set('file', new File([file.replace(/(payments,101,money),500,/, '$1,550,')], 'limits.csv'));
  const answer = await finance.post('/import', upload);
  expect(answer.status).toBe(409);
  const [mine = '', theirs = ''] = answer.text.split('id="theirs"');
  expect(mine).toContain('550.00 EUR');
  expect(mine).not.toContain('450.00 EUR');
  expect(theirs).toContain('450.00 EUR');
  expect(theirs).toContain('href="/import"');
  expect(await amount()).toBe(450_000_000);
});

test('a file of a set that is gone is refused, and said so', async () => {
  const { appFor, amount } = await house();
  const finance = appFor(USERS.finance);
  const { text: file } = await finance.get('/export.csv');
  const upload = new FormData();
  const [set = ''] = /[0-9a-f]{24}/.exec(file) ?? [];
  expect(set).not.toBe('');
  upload.set('file', new File([file.replaceAll(set, 'f'.repeat(24))], 'limits.csv'));
  const answer = await finance.post('/import', upload);
  expect(answer.status).toBe(409);
  expect(answer.text).toContain('The version you began with is gone');
  expect(await amount()).toBe(500_000_000);
});

/** What the form of a limit is sent with. */
const raised = async (
  appFor: Awaited<ReturnType<typeof house>>['appFor'],
  subject: string,
  amount: string,
) => {
  const owner = appFor(USERS.owner);
  const form = fieldsOf((await owner.get(`/edit?kind=set&subject=${subject}&limit=money-month`)).text);
  const fields = { ...form, mode: form['was.mode'] ?? '', amount, why: 'more', step: 'apply' };
  return owner.post('/edit', fields);
};

test('an owner who may not loosen their own limit is told that it takes one above, and whom to ask', async () => {
  const { appFor, apply } = await house();
  await apply([
    { kind: 'set', subject: 'group/101', limit: 'money-month', contact: 'payments@example.com' },
    { kind: 'set', subject: 'group/100', limit: 'money-month', owner: 'cfo', contact: 'cfo@example.com' },
  ]);
  const answer = await raised(appFor, 'group/101', '600');
  expect(answer.status).toBe(403);
  expect(answer.text).toContain('you must be an owner of a group above, of finance or an administrator');
  expect(answer.text).toContain('acme/payments money-month: payments-leads');
  expect(answer.text).toContain('mailto:payments%40example.com');
});

test('where no limit above holds, no owner is named who could not loosen it either', async () => {
  const { appFor, apply } = await house();
  await apply([{ kind: 'remove', subject: 'group/100', limit: 'money-month' }]);
  const answer = await raised(appFor, 'group/101', '600');
  expect(answer.text).toContain('to loosen it you must be of finance or an administrator');
});

test('a group without a rollout of its own is rolled out, and rolled back to what the group above says', async () => {
  const { appFor, desk } = await house();
  const admin = appFor(USERS.admin);
  const base = async () => (await desk.live())?.pointer.set ?? '';
  const sent = { kind: 'rollout', subject: 'group/102', why: 'w', step: 'apply', confirmed: 'yes' };
  const send = async (cost: string) =>
    admin.post('/edit', { ...sent, cost, capacity: '', base: await base() });
  expect(await send('')).toMatchObject({ status: 303, to: '/groups/102?saved=nothing' });
  expect(await send('warn')).toMatchObject({ status: 303, to: '/groups/102?saved=2' });
  expect((await desk.live())?.limits.rollouts.get('group/102')).toEqual({
    cost: 'warn',
    sinceMs: { cost: expect.any(Number) },
  });
  expect(await send('')).toMatchObject({ status: 303, to: '/groups/102?saved=3' });
  expect((await desk.live())?.limits.rollouts.get('group/102')).toBeUndefined();
});

test('a report sent from the shadow page is known to the rollout; that of a project is about it alone', async () => {
  const { appFor, read, told, desk } = await house();
  const watch = { subject: 'instance', direction: 'back', why: 'we only watch' };
  // From enforce to warn, to shadow.
  for (let step = 0; step < 2; step += 1) {
    const base = (await desk.live())?.pointer.set ?? '';
    await appFor(USERS.admin).post('/rollout/move', { ...watch, base });
  }
  const app = appFor(USERS.owner);
  const stepOf = async (subject: string) => {
    const { rows } = await read.rollout({ subjects: [subject] }, USERS.admin);
    return rows[0]?.classes.map(({ step }) => step);
  };
  const form = { subject: 'group/101', days: '30', back: 'shadow' };
  const sent = await app.post('/rollout/report', form);
  expect(sent).toMatchObject({ status: 303, to: '/shadow?days=30&done=sent' });
  expect((await app.get(sent.to ?? '')).text).toContain('The report is sent to the owner');
  expect(await stepOf('group/101')).toEqual(['reported', 'reported']);

  const page = await app.get('/rollout/step?subject=project/1');
  expect(page.text).toContain('Send the shadow report');
  await app.post('/rollout/report', { subject: 'project/1' });
  expect(told).toEqual(['group/101', 'project/1']);
  const report = await app.get('/shadow?project=1');
  expect([...report.text.matchAll(/aria-labelledby="s-([^"]+)"/g)].map(([, of]) => of)).toEqual([
    'project-1',
  ]);
  expect(report.text).toContain('<input type="hidden" name="project" value="1"');
  expect((await app.get('/shadow?project=2')).text).toContain('Nothing watches here.');
});

test('ending and reviewing a break-glass begins and ends at its list, whatever it is of', async () => {
  const { appFor, apply } = await house();
  await apply([
    { kind: 'breakglass', subject: 'group/104', users: [7], jobs: 3, until: '2026-11-23', reason: 'r' },
  ]);
  const finance = appFor(USERS.finance);
  const list = await finance.get('/break-glass');
  const href = /href="(\/edit\?kind=review-breakglass[^"]*)"/.exec(list.text)?.[1]?.replaceAll('&amp;', '&');
  const form = await finance.get(href ?? '');
  expect(form.text).toContain('href="/break-glass">Cancel');
  const fields = { ...fieldsOf(form.text), note: 'seen', step: 'apply' };
  expect(await finance.post('/edit', fields)).toMatchObject({ status: 303, to: '/break-glass?saved=3' });
});

test('people are called by name where the limits know it, and their ids stay out of the tables', async () => {
  const { appFor, desk } = await house();
  const { finance } = USERS;
  const glass = { subject: 'group/104', jobs: 3, until: '2026-11-23', reason: 'r' } as const;
  await desk.apply([{ kind: 'breakglass', ...glass, users: [finance.id, 999] }], {
    ...{ actor: finance.username, userId: finance.id, rights: [{ role: 'finance' }], confirmed: true },
    ...{ why: 'because', source: 'test', base: (await desk.live())?.pointer.set },
  });
  const { text } = await appFor(finance).get('/break-glass');
  expect(text).toMatch(new RegExp(`jobs of users \\w+ \\(${finance.id}\\), 999`));
  const history = await appFor(finance).get('/history');
  expect(history.text).toContain('Break-glass');
  expect(history.text).not.toContain('by user');
});

test('a rejected job is explained to whoever sees its group, and to nobody else', async () => {
  const { appFor, ask } = await house();
  // A euro each, of three.
  await ask([1, 2, 3, 4].map((jobId) => aJob(jobId)));
  const seen = await appFor(USERS.viewer).get('/jobs/4');
  expect(seen.text).toContain('BUDGET_EXHAUSTED');
  // What decided, and the way on; what had nothing to say is folded away.
  const [, mattered = '', folded = ''] = /id="rules">(.*?)<details>(.*?)<\/details>/s.exec(seen.text) ?? [];
  expect(mattered.split('<th scope="row"').length - 1).toBe(1);
  expect(mattered).not.toContain('does not ask');
  expect(folded).toMatch(/^<summary>\d+ other rules? with nothing against it/);
  // What is missing is in the form already.
  expect(seen.text).toMatch(/name="amount"[^>]* value="1\.00"/);
  expect((await appFor(USERS['viewer of another subtree']).get('/jobs/4')).status).toBe(404);
});

test('whoever asked because of a job reads on its page what became of it, and how to go on', async () => {
  const { appFor, ask, desk } = await house();
  await ask([1, 2, 3, 4].map((jobId) => aJob(jobId)));
  const link = 'https://gitlab.example.com/acme/payments/cards/api/-/jobs/4';
  const grant = {
    subject: 'group/104',
    limit: 'money-month',
    amount: '+1',
    from: '2026-11-21',
    until: '2026-11-30',
  };
  const viewer = appFor(USERS.viewer);
  const filed = await viewer.post('/ask', { ...grant, amount: '1', reason: 'Load tests', link });
  expect(filed.status).toBe(303);
  expect((await viewer.get('/jobs/4')).text).toContain('waits for a decision');
  const [request] = await desk.requests({ actor: 'fritz', rights: [{ role: 'finance' }] });
  await appFor(USERS.finance).post(`/requests/${request?.id}`, { verdict: 'approve', note: 'go on' });
  const after = (await viewer.get('/jobs/4')).text;
  expect(after).toContain('approved by fritz: “go on”');
  expect(after).toContain('If it came now it would be <strong>admitted</strong>.');
  expect(after).toContain(`<a href="${link}" rel="noreferrer noopener">Retry it in GitLab</a>`);
  expect((await viewer.get('/requests')).text).toContain('>Retry the job in GitLab</a>');
});

test('a limit for each pipeline is made in the form, stands on the page of its group and is edited from there', async () => {
  const { appFor, desk } = await house();
  const finance = appFor(USERS.finance);
  const cap = 'group/101/each/pipeline';
  const form = fieldsOf((await finance.get('/edit?kind=set&subject=group/101')).text);
  const sent = { ...form, each: 'pipeline', unit: 'money', amount: '20', per: 'once', mode: 'enforce' };
  const saved = await finance.post('/edit', { ...sent, why: 'agents', step: 'apply' });
  expect(saved).toMatchObject({ status: 303, to: expect.stringMatching(/^\/groups\/101\?/) });
  expect((await desk.live())?.limits.bySubject.get(cap)).toMatchObject([
    { id: 'money-once', mode: 'enforce' },
  ]);
  const { text } = await finance.get('/groups/101');
  expect(text).toContain('of each pipeline: 20.00 EUR');

  const edit = `/edit?kind=set&subject=${encodeURIComponent(cap)}&limit=money-once`;
  expect(text.replaceAll('&amp;', '&')).toContain(edit);
  const changed = fieldsOf((await finance.get(edit)).text);
  expect(changed).toMatchObject({ subject: cap, amount: '20' });
  const less = { ...changed, mode: changed['was.mode'] ?? '', amount: '15', why: 'less', step: 'apply' };
  expect(await finance.post('/edit', less)).toMatchObject({ status: 303 });
  expect((await desk.live())?.limits.bySubject.get(cap)?.[0]?.amount).toBe(15_000_000);
  expect((await finance.get('/')).text, 'it has no bar among budgets').not.toContain('each/pipeline');
});

test('a closed month is read, downloaded and mailed as it was closed, and a changed one says so', async () => {
  const real = await house();
  await closeMonths(real.chain, 'group/101', ['2026-08', '2026-09']);
  const { get } = real.appFor(USERS.viewer);
  const list = await get('/statements');
  expect(list.text).toContain('All 2 statements are as they were written.');
  expect(list.text).toContain('href="/statements/2026-09?group=101"');
  const page = await get('/statements/2026-09?group=101');
  expect(page.text).toContain('September 2026, acme/payments');
  expect(page.text).toContain('Due: 7.03 EUR');
  expect(page.text).toContain('href="/statements/2026-09/focus.csv?group=101"');
  const [, mail = ''] = /href="(mailto:[^"]+)"/.exec(page.text) ?? [];
  expect(decodeURIComponent(mail)).toContain('https://budget.example.com/statements/2026-09?group=101');
  const csv = (await get('/statements/2026-09/statement.csv?group=101')).text;
  expect(csv).toContain('"statement 1, 2 corrections"');
  expect((await get('/statements/2026-10?group=101')).status).toBe(404);
  expect((await get('/statements/2026-09/other.csv?group=101')).status).toBe(404);
  expect((await get('/statements?group=beta')).text).toContain('There are no statements of beta for you.');
  expect(list.text).not.toContain('Closed last');
});

test('who sees everything finds what was closed last of every group, the youngest first', async () => {
  const real = await house();
  await closeMonths(real.chain, 'group/101', ['2026-08', '2026-09']);
  await closeMonths(real.chain, 'group/999', ['2026-09']);
  const { text } = await real.appFor(USERS.finance).get('/statements');
  const latest = text.slice(text.indexOf('Closed last'));
  expect([...latest.matchAll(/href="(\/statements\/[^"]+)"/g)].map(([, href]) => href)).toEqual([
    '/statements/2026-09?group=999',
    '/statements/2026-09?group=101',
    '/statements/2026-08?group=101',
  ]);
  expect(latest).toContain('a group that is gone');
  expect(latest).toContain('acme/payments');
});

test('a viewer without statements is told when the first month closes', async () => {
  const { get } = (await house()).appFor(USERS.viewer);
  expect((await get('/statements')).text).toContain('No month was closed yet');
});

test('the last edit is taken back on its page, after a look at what that does; an older one is not', async () => {
  const real = await house();
  const { get, post } = real.appFor(USERS.finance);
  const base = (await real.desk.live())?.pointer.set ?? '';
  const edit = { kind: 'set', subject: 'group/101', limit: 'money-month', base, 'was.amount': '500' };
  const saved = await post('/edit', { ...edit, amount: '600', why: 'release week', step: 'apply' });
  const number = Number(/saved=(\d+)/.exec(saved.to ?? '')?.[1]);
  expect((await get(saved.to ?? '')).text).toContain(`href="/history/${number}/undo"`);
  expect((await get(`/history/${number}`)).text).toContain('Take it back');
  expect((await get(`/history/${number - 1}`)).text).not.toContain('Take it back');
  const looked = await get(`/history/${number}/undo`);
  expect(looked.text).toContain(`undoes edit ${number}: release week`);
  expect(await real.amount()).toBe(600_000_000);
  expect((await get(`/history/${number - 1}/undo`)).status).toBe(409);
  const undone = await post(`/history/${number}/undo`, { why: 'not needed' });
  expect(undone.to).toBe(`/history?saved=${number + 1}`);
  expect(await real.amount()).toBe(500_000_000);
  expect((await post(`/history/${number}/undo`, { why: 'again' })).status).toBe(409);
});

test('all limits of a group are changed by a share in one edit, shown with their sum first, and taken back as one', async () => {
  const real = await house();
  const { get, post } = real.appFor(USERS.finance);
  const form = await get('/edit?kind=scale&subject=group/100');
  expect(form.text).toContain('All limits of acme, by a share');
  const base = (await real.desk.live())?.pointer.set ?? '';
  const asked = { kind: 'scale', subject: 'group/100', by: '+8 %', unit: 'money', below: 'yes', round: '1' };
  const looked = await post('/edit', { ...asked, base, why: 'next year', step: 'preview' });
  // 900 and 500; 3 stays.
  expect(looked.text).toContain('2 limits, together 1,400.00 EUR');
  expect(looked.text).toContain('1,512.00 EUR');
  const refused = await post('/edit', { ...asked, by: '8', base, why: 'next year', step: 'preview' });
  expect([refused.status, refused.text.includes('expected a share such as +8%')]).toEqual([422, true]);
  const saved = await post('/edit', { ...asked, base, why: 'next year', step: 'apply', confirmed: 'yes' });
  expect([saved.status, saved.to]).toEqual([303, expect.stringContaining('saved=')]);
  expect(await real.amount()).toBe(540_000_000);
});
