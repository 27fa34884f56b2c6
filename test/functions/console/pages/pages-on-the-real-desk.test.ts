import { expect, test } from 'vitest';
import { renderNotice } from '../../../../functions/console/pages/problem-page.tsx';
import type { LimitEdit } from '../../../../functions/core/limits/edit-model.ts';
import { LimitsError } from '../../../../functions/core/limits/limit-table.ts';
import { closeMonths } from '../../../support/statements/closed-months.ts';
import { memoryLimitTable } from '../../../support/tables/memory-limit-table.ts';
import { aJob, consoleHouse, LIMITS, USERS } from '../house.ts';
import { fieldsOf, signedInConsole, type Who } from '../signed-in.ts';

type House = ReturnType<typeof consoleHouse>;
type Read = House['read'];
type Desk = House['limitEdits'];

const EDIT = '/edit?kind=set&subject=group/101&limit=money-month';
const MONEY = { kind: 'set', subject: 'group/101', limit: 'money-month' } as const;

/** Pages on the desk and read models as they are, in memory. */
async function house({
  broken = () => ({}),
  ...given
}: Pick<NonNullable<Parameters<typeof consoleHouse>[0]>, 'limitTable'> & {
  readonly broken?: (real: House) => { readonly read?: Partial<Read>; readonly limitEdits?: Partial<Desk> };
} = {}) {
  const real = consoleHouse(given);
  await real.apply(LIMITS);
  const told: string[] = [];
  const { read, limitEdits } = broken(real);
  const parts = {
    ...real,
    read: { ...real.read, ...read },
    limitEdits: { ...real.limitEdits, ...limitEdits },
  };
  const { as } = await signedInConsole(parts, {
    notifyOwner: async ({ subject }) => {
      told.push(subject);
      return 'sent';
    },
  });
  const finance = as('finance');
  const limitNow = async () => (await real.limitEdits.live())?.limits.bySubject.get('group/101')?.[0];
  const amount = async () => (await limitNow())?.amount;
  /** Opens a form, fills in these fields and sends it. */
  const edit = async (fields: Record<string, string>, { who = 'finance' as Who, form = EDIT } = {}) => {
    const opened = fieldsOf((await as(who).get(form)).text);
    const mode = opened['was.mode'];
    return as(who).post('/edit', {
      ...opened,
      ...(mode && { mode }),
      why: 'release',
      step: 'apply',
      ...fields,
    });
  };
  /** Uploads the limits of now, with another amount for acme/payments. */
  const upload = async (to: string, more: Record<string, string> = {}, from?: string) => {
    const file = from ?? (await finance.get('/export.csv')).text;
    const csv = file.replace(/(payments,101,money),500,/, `$1,${to},`);
    return finance.post('/import', { file: new File([csv], 'limits.csv'), ...more });
  };
  const edits = async () => (await real.limitEdits.live())?.pointer.edit;
  return { ...real, as, ...as('finance'), told, limitNow, amount, edit, edits, upload };
}

const gone = async (): Promise<never> => {
  throw new LimitsError('limits_unavailable', 'secret of the table');
};

test('finance reads a group, sees what an edit does, and saves it', async () => {
  const { get, edit, amount } = await house();
  expect((await get('/groups/101')).text).toContain('500.00 EUR');
  expect(fieldsOf((await get(EDIT)).text)).toMatchObject({
    'was.amount': '500',
    'was.owner': 'payments-leads',
  });
  const preview = await edit({ amount: '700.50', step: 'preview' });
  expect(preview.text).toContain('700.50 EUR');
  expect(await amount()).toBe(500_000_000);
  expect(await edit({ amount: '700.50' })).toMatchObject({ status: 303, to: '/groups/101?saved=2' });
  expect(await amount()).toBe(700_500_000);
  expect((await get('/groups/101')).text).toContain('release');
});

test('only fields that were changed are sent, so that nobody undoes what others did to the rest', async () => {
  const sent: LimitEdit[] = [];
  const { edit } = await house({
    broken: ({ limitEdits }) => ({
      limitEdits: {
        apply: async (edits, by) => {
          sent.push(...edits);
          return limitEdits.apply(edits, by);
        },
      },
    }),
  });
  await edit({ amount: '700', owner: '' });
  expect(sent).toEqual([{ ...MONEY, amount: '700', owner: null }]);
});

test('from the overview and from the list of limits the form of a limit is one click away', async () => {
  const { get } = await house();
  for (const path of ['/', '/budgets'])
    expect((await get(path)).text).toContain(EDIT.replaceAll('&', '&amp;').replace('group/', 'group%2F'));
});

test('a form without a reason, or with what is no amount, says so beside its field', async () => {
  const { edit } = await house();
  const silent = await edit({ amount: '600', why: '' });
  expect([silent.status, silent.text]).toEqual([422, expect.stringContaining('Fill this in')]);
  const wrong = await edit({ amount: '5oo', step: 'preview' });
  expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('id="amount-problem"')]);
  expect(wrong.text).toContain('value="5oo"');
});

test('a form reads numbers and days as they are written, and asks where they could be two', async () => {
  const { edit, amount } = await house();
  const unclear = await edit({ amount: '1.000' });
  expect(unclear.status).toBe(422);
  expect(unclear.text).toContain('may be 1000 or 1.0');
  expect((await edit({ amount: '12 USD' })).text).toContain('is in USD');
  expect((await edit({ amount: '+20%' })).status).toBe(303);
  expect(await amount()).toBe(600_000_000);
});

test('shares are shown as they were written, and move along with the amount that is saved', async () => {
  const { get, edit, apply, limitNow } = await house();
  await apply([{ ...MONEY, soft: '80%', carry: '20%' }]);
  const [from, until] = ['2026-11-01', '2026-11-30'];
  await apply([{ ...MONEY, kind: 'grant', amount: 100, from, until, reason: 'release' }]);
  expect(fieldsOf((await get(EDIT)).text)).toMatchObject({ 'was.soft': '80%', soft: '80%', carry: '20%' });
  expect((await edit({ amount: '510' })).status).toBe(303);
  expect(await limitNow()).toMatchObject({
    amount: 510_000_000,
    softAmount: 408_000_000,
    carryMax: 102_000_000,
  });
});

test('what an alert told stands in the list and at the limit; what no channel took is said as a warning', async () => {
  const { get, counts, alerts, clock } = await house();
  counts('group/101', 'money-month', '2026-11', 400_000_000);
  const key = { subject: 'group/101', limit: 'money-month', period: '2026-11' };
  const level = { measure: 'committed', limitAmount: 500_000_000, owner: 'payments-leads' } as const;
  const note = (outcome: 'taken' | 'failed', name: string, levelAmount: number) => {
    const channels = [{ channel: 'topic', outcome, atMs: clock.nowMs() } as const];
    return alerts.add({ of: 'thresholds', key }, [{ ...level, level: name, levelAmount, channels }]);
  };
  await note('taken', '75 %', 375_000_000);
  const told = 'payments-leads notified at 75 % by mail on 21 Nov 2026 12:00 UTC';
  for (const path of ['/budgets', '/groups/101']) expect((await get(path)).text).toContain(told);
  clock.advance(1_800_000);
  await note('failed', '90 %', 450_000_000);
  const failed =
    'class="warn-text">payments-leads not notified at 90 %: no answer from mail since 21 Nov 2026 12:30 UTC<';
  for (const path of ['/budgets', '/groups/101']) expect((await get(path)).text).toContain(failed);
});

test('ten times as much is asked for once it was confirmed, and saved when somebody else has seen it', async () => {
  const { as, edit, amount } = await house();
  expect((await edit({ amount: '5000' })).status).toBe(409);
  const asked = await edit({ amount: '5000', confirmed: 'yes' });
  expect([asked.status, await amount()]).toEqual([202, 500_000_000]);
  expect(asked.text).toContain('Request filed');
  // Whoever approves sees the edit itself, and what it does.
  const admin = as('admin');
  const listed = (await admin.get('/requests')).text;
  expect(listed).toContain('500.00 EUR → 5,000.00 EUR');
  const path = /href="(\/requests\/r-[^"]+)"/.exec(listed)?.[1] ?? '';
  const shown = (await admin.get(path)).text;
  expect(shown).toContain('Changes');
  expect((await admin.post(path, { ...fieldsOf(shown), decision: 'decline' })).text).toContain(
    'you must give a reason',
  );
  expect((await admin.post(path, { ...fieldsOf(shown), decision: 'approve' })).status).toBe(303);
  expect(await amount()).toBe(5_000_000_000);
});

test('a stale edit is refused with both versions; who sees only a part is not told who was faster', async () => {
  const { get, as, post, apply, amount } = await house();
  const form = { ...fieldsOf((await get(EDIT)).text), mode: 'enforce', why: 'mine', step: 'apply' };
  await apply([{ ...MONEY, amount: 450 }]);
  const answer = await post('/edit', { ...form, amount: '600' });
  expect(answer.status).toBe(409);
  expect(answer.text).toContain('Limits changed by another user');
  for (const each of ['600.00 EUR', '450.00 EUR', 'Preview my changes on the new limits', 'fritz'])
    expect(answer.text).toContain(each);
  const theirs = await as('owner').post('/edit', { ...form, amount: '300' });
  expect([theirs.status, theirs.text.includes('fritz')]).toEqual([409, false]);
  expect(await amount()).toBe(450_000_000);
});

test('an owner who may not loosen their own limit is told who may', async () => {
  const { edit, apply } = await house();
  const denied = await edit({ amount: '600' }, { who: 'owner' });
  expect(denied.status).toBe(403);
  expect(denied.text).toContain('you must be an owner of a group above, of finance or an administrator');
  await apply([{ kind: 'remove', subject: 'group/100', limit: 'money-month' }]);
  expect((await edit({ amount: '600' }, { who: 'owner' })).text).toContain(
    'to loosen it you must be of finance or an administrator',
  );
});

const ASKED = {
  ...{ subject: 'group/101', limit: 'money-month', amount: '50' },
  ...{ from: '2026-11-21', until: '2026-11-28', reason: 'load tests' },
};

test('what a viewer asks for is granted by finance, and counted on every page until then', async () => {
  const { get, post, as, read } = await house();
  expect((await as('viewer').post('/ask', { ...ASKED, amount: '' })).text).toContain('Fill this in.');
  expect((await as('viewer').post('/ask', ASKED)).status).toBe(303);
  expect((await get('/')).text).toContain('>Requests <span class="count">1<');
  expect((await as('viewer').get('/')).text).toContain('>Requests</a>');
  const id = /href="\/requests\/([^"]+)"/.exec((await get('/requests')).text)?.[1];
  const approved = await post(`/requests/${id}`, { decision: 'approve' });
  expect(approved).toMatchObject({ status: 303, to: '/requests?done=approved' });
  expect((await get('/')).text).toContain('>Requests</a>');
  expect((await read.subject('group/101', {}, USERS.finance))?.grants).toHaveLength(1);
});

test('a request that was approved but not made live is offered again, and granted once', async () => {
  let isLost = false;
  const limitTable = memoryLimitTable((operation) =>
    isLost && operation === 'flip' ? 'lost-before' : undefined,
  );
  const { get, post, as, read } = await house({ limitTable });
  await as('viewer').post('/ask', ASKED);
  const id = /href="\/requests\/([^"]+)"/.exec((await get('/requests')).text)?.[1];
  isLost = true;
  expect((await post(`/requests/${id}`, { decision: 'approve' })).status).toBe(503);
  isLost = false;
  const { text } = await get('/requests');
  expect(text).toContain('not yet in force: approve it again');
  expect((await get(`/requests/${id}`)).status).toBe(200);
  expect((await post(`/requests/${id}`, { decision: 'approve' })).status).toBe(303);
  expect((await read.subject('group/101', {}, USERS.finance))?.grants).toHaveLength(1);
});

test('a downloaded file comes back edited, and its differences are shown before they are saved', async () => {
  const { post, as, upload, amount } = await house();
  const preview = await upload('550');
  expect(preview.status).toBe(200);
  expect(preview.text).toContain('1 difference');
  expect(preview.text).not.toContain('<li></li>');
  const kept = fieldsOf(preview.text).kept ?? '';
  const counted = await post('/import', { kept, step: 'count', why: 'new quarter' });
  expect([counted.status, fieldsOf(counted.text).kept]).toEqual([200, kept]);
  expect(counted.text).toMatch(/<textarea[^>]*name="why"[^>]*>new quarter</);
  // No other user gets it back.
  expect((await as('admin').post('/import', { kept, step: 'preview' })).text).toContain('is not there');
  expect((await post('/import', { kept, step: 'apply', why: 'new quarter' })).status).toBe(303);
  expect(await amount()).toBe(550_000_000);
  const wrong = await upload('5x0', {}, 'group_id,unit,limit,period\r\n101,money,5x0,month\r\n');
  expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('line 2, limit')]);
  const empty = await post('/import', { file: new File([], 'limits.csv') });
  expect([empty.status, empty.text]).toEqual([422, expect.stringContaining('is empty, or none was chosen')]);
});

test('a file of a version that is no longer live shows what it would change and what others changed since', async () => {
  const { get, apply, upload, amount } = await house();
  const { text: file } = await get('/export.csv');
  await apply([{ ...MONEY, amount: 450 }]);
  const answer = await upload('550', {}, file);
  expect(answer.status).toBe(409);
  const [mine = '', theirs = ''] = answer.text.split('id="theirs"');
  expect([mine.includes('550.00 EUR'), mine.includes('450.00 EUR')]).toEqual([true, false]);
  expect(theirs).toContain('450.00 EUR');
  expect(theirs).toContain('href="/import"');
  const [set = ''] = /[0-9a-f]{24}/.exec(file) ?? [];
  const old = await upload('550', {}, file.replaceAll(set, 'f'.repeat(24)));
  expect([old.status, old.text]).toEqual([
    409,
    expect.stringContaining('The version you started from has expired'),
  ]);
  expect(await amount()).toBe(450_000_000);
});

test('a report sent from the shadow page is known to the rollout; that of a project is about it alone', async () => {
  const { as, read, told, limitEdits } = await house();
  const watch = { subject: 'instance', direction: 'back', why: 'we only watch' };
  // From enforce to warn, to shadow.
  for (let step = 0; step < 2; step += 1)
    await as('admin').post('/rollout/move', { ...watch, base: (await limitEdits.live())?.pointer.set ?? '' });
  const below = await as('admin').post('/rollout/move', {
    ...watch,
    base: (await limitEdits.live())?.pointer.set ?? '',
  });
  expect([
    below.status,
    below.text.includes('There is no further step'),
    below.text.includes('force'),
  ]).toEqual([409, true, false]);
  const { get, post } = as('owner');
  const sent = await post('/rollout/report', { subject: 'group/101', days: '30', back: 'shadow' });
  expect(sent).toMatchObject({ status: 303, to: '/shadow?days=30&done=sent' });
  expect((await get(sent.to ?? '')).text).toContain('The report was sent to the owner');
  const { rows } = await read.rollout({ subjects: ['group/101'] }, USERS.admin);
  expect(rows[0]?.classes.map(({ step }) => step)).toEqual(['reported', 'reported']);
  expect((await get('/rollout/step?subject=project/1')).text).toContain('Send shadow report');
  await post('/rollout/report', { subject: 'project/1' });
  expect(told).toEqual(['group/101', 'project/1']);
  const report = (await get('/shadow?project=1')).text;
  expect([...report.matchAll(/aria-labelledby="s-([^"]+)"/g)].map(([, of]) => of)).toEqual(['project-1']);
  expect(report).toContain('<input type="hidden" name="project" value="1"');
  expect((await get('/shadow?project=2')).text).toContain('No limit or rule is in mode shadow or warn.');
});

test('a break-glass is reviewed from its list', async () => {
  const { get, post, limitEdits } = await house();
  const { finance } = USERS;
  const glass = {
    subject: 'group/104',
    jobs: 3,
    until: '2026-11-23',
    reason: 'r',
    users: [finance.id, 999],
  } as const;
  await limitEdits.apply([{ kind: 'breakglass', ...glass }], {
    ...{ actor: finance.username, userId: finance.id, rights: [{ role: 'finance' }], confirmed: true },
    ...{ why: 'because', source: 'test', base: (await limitEdits.live())?.pointer.set },
  });
  const { text } = await get('/break-glass');
  expect(text).toContain(`of users ${finance.id}, 999`);
  const history = (await get('/history')).text;
  expect([history.includes('Break-glass'), history.includes('by user')]).toEqual([true, false]);
  const href = /href="(\/edit\?kind=review-breakglass[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
  const form = await get(href ?? '');
  expect(form.text).toContain('href="/break-glass">Cancel');
  const reviewed = await post('/edit', { ...fieldsOf(form.text), note: 'seen', step: 'apply' });
  expect(reviewed).toMatchObject({ status: 303, to: '/break-glass?saved=3' });
});

test.each(['remove', 'revoke', 'unfreeze', 'end-breakglass', 'review-breakglass'])(
  'an edit of kind %s that names nothing has no form and changes nothing',
  async (kind) => {
    const { get, post, edits } = await house();
    const named = { kind, subject: 'group/101', why: 'release', note: 'seen' };
    expect((await get(`/edit?kind=${kind}&subject=group/101`)).status).toBe(404);
    expect((await post('/edit', { ...named, step: 'apply' })).status).toBe(404);
    expect(await edits()).toBe(1);
  },
);

test('a rejected job is explained to whoever sees its group, with a request filled in, and to nobody else', async () => {
  const { as, ask } = await house();
  // A euro each, of three.
  await ask([1, 2, 3, 4].map((jobId) => aJob(jobId)));
  const { text } = await as('viewer').get('/jobs/4');
  expect(text).toContain('BUDGET_EXHAUSTED');
  expect(text).toMatch(/\d+ rules? without a violation/);
  expect(text).toMatch(/name="amount"[^>]* value="1\.00"/);
  expect((await as('viewer of another subtree').get('/jobs/4')).status).toBe(404);
});

test('a limit for each pipeline is made in the form, stands on the page of its group and is edited from there', async () => {
  const { get, edit, limitEdits } = await house();
  const cap = 'group/101/each/pipeline';
  const form = '/edit?kind=set&subject=group/101';
  const sent = { each: 'pipeline', unit: 'money', amount: '20', per: 'once', mode: 'enforce' };
  expect(await edit(sent, { form })).toMatchObject({
    status: 303,
    to: expect.stringMatching(/^\/groups\/101\?/),
  });
  const limits = async () => (await limitEdits.live())?.limits.bySubject.get(cap);
  expect(await limits()).toMatchObject([{ id: 'money-once', mode: 'enforce' }]);
  const { text } = await get('/groups/101');
  expect(text).toContain('of each pipeline: 20.00 EUR');
  const there = `/edit?kind=set&subject=${encodeURIComponent(cap)}&limit=money-once`;
  expect(text.replaceAll('&amp;', '&')).toContain(there);
  expect((await edit({ amount: '15' }, { form: there })).status).toBe(303);
  expect((await limits())?.[0]?.amount).toBe(15_000_000);
  expect((await get('/')).text, 'it has no bar among budgets').not.toContain('each/pipeline');
});

test('a closed month is read and downloaded as it was closed', async () => {
  const { as, chain } = await house();
  const { get } = as('viewer');
  expect((await get('/statements')).text).toContain('No month has been closed yet');
  await closeMonths(chain, 'group/101', ['2026-08', '2026-09']);
  const list = (await get('/statements')).text;
  expect(list).toContain('All 2 statements are unchanged since they were closed.');
  expect(list).toContain('href="/statements/2026-09?group=101"');
  const page = (await get('/statements/2026-09?group=101')).text;
  expect(page).toContain('September 2026, acme/payments');
  expect(page).toContain('Due: 7.03 EUR');
  const csv = (await get('/statements/2026-09/statement.csv?group=101')).text;
  expect(csv).toContain('"statement 1, 2 corrections"');
  for (const path of ['2026-10', '2026-09/other.csv'])
    expect((await get(`/statements/${path}?group=101`)).status).toBe(404);
  expect((await get('/statements?group=beta')).text).toContain('No statements of beta are visible to you.');
});

test('the last edit is taken back on its page, after a look at what that does; an older one is not', async () => {
  const { get, post, edit, amount } = await house();
  const saved = await edit({ amount: '600', why: 'release week' });
  const number = Number(/saved=(\d+)/.exec(saved.to ?? '')?.[1]);
  expect((await get(saved.to ?? '')).text).toContain(`href="/history/${number}/undo"`);
  expect((await get(`/history/${number}`)).text).toContain('Undo edit');
  expect((await get(`/history/${number - 1}`)).text).not.toContain('Undo edit');
  expect((await get(`/history/${number}/undo`)).text).toContain(`undoes edit ${number}: release week`);
  expect(await amount()).toBe(600_000_000);
  expect((await get(`/history/${number - 1}/undo`)).status).toBe(409);
  const counted = await post(`/history/${number}/undo`, { why: 'not needed', step: 'count' });
  expect([counted.status, counted.text]).toEqual([200, expect.stringContaining('not needed')]);
  expect(await amount()).toBe(600_000_000);
  const undone = await post(`/history/${number}/undo`, { why: 'not needed' });
  expect(undone.to).toBe(`/history?saved=${number + 1}`);
  expect(await amount()).toBe(500_000_000);
  expect((await post(`/history/${number}/undo`, { why: 'again' })).status).toBe(409);
});

test('a table without an answer is told as that, and nothing of the error is', async () => {
  const { get } = await house({ broken: () => ({ read: { overview: gone } }) });
  const { status, text } = await get('/');
  expect([status, text.includes('Load the page again'), text.includes('secret')]).toEqual([503, true, false]);
  const late = await house({ broken: () => ({ limitEdits: { apply: gone } }) });
  const saved = await late.edit({ amount: '600' });
  expect([saved.status, saved.text]).toEqual([
    503,
    expect.stringContaining('The change may have been saved'),
  ]);
  const unread = await house({ broken: () => ({ read: { waiting: gone } }) });
  expect((await unread.get('/budgets')).status).toBe(200);
});

test('everybody reads where they are signed in, and ends any session but the one they read it in', async () => {
  const { get, post } = await house();
  const { text } = await get('/me');
  expect(text.match(/>(Browser|Terminal) /g)).toEqual(['>Browser ']);
  expect(text).toContain('this session');
  expect((await post('/me/sessions', { step: 'others' })).to).toBe('/me');
  expect((await get('/me')).status).toBe(200);
});

test('the way to a page that is not for somebody is not offered', async () => {
  const { as } = await house();
  const links = async (who: Who) => {
    const nav = /<nav aria-label="Main">.*?<\/nav>/s.exec((await as(who).get('/me')).text)?.[0] ?? '';
    return [...nav.matchAll(/href="([^"]+)"/g)].map(([, href]) => href);
  };
  expect(await links('finance')).toContain('/import');
  expect(await links('viewer')).not.toContain('/import');
  expect(await links('none')).toEqual(['/']);
});

test.each(['/reports?by=nonsense', '/reports/spend.csv?by=nonsense'])(
  '%s is told what there is, instead of being shown another report',
  async (path) => {
    const { status, text } = await (await house()).get(path);
    expect(status).toBe(path.includes('.csv') ? 422 : 200);
    expect(text).toContain('expected one of group, project, class, branch');
    expect(text).not.toContain('id="total"');
  },
);

test('what people write in an address or a notice stays text', async () => {
  const { get } = await house();
  const { text } = await get('/?q=%3Cimg%20src%3Dx%3E%22');
  expect(text).not.toContain('<img');
  expect(await renderNotice({ code: 'x', title: '<b>', sentence: 'a & b', remedy: '"' })).not.toContain(
    '<b>',
  );
});
