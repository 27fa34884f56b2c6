import { expect, test } from 'vitest';
import { createPages } from '../../../../functions/console/pages/create-pages.ts';
import { createUploads } from '../../../../functions/console/pages/import/uploads.ts';
import { silentLog } from '../../../../functions/core/environment/machine.ts';
import { memoryLimitTable } from '../../../support/tables/memory-limit-table.ts';
import { consoleHouse, LIMITS, servedTo, USERS } from '../house.ts';

/** The pages of finance on the desk as it is, and a plan for the next year. */
async function house() {
  const real = consoleHouse();
  await real.apply(LIMITS);
  const { desk, read, policy, clock } = real;
  const pages = createPages({
    ...{ desk, read, policy, clock, zone: 'UTC', origin: 'https://budget.example.com', log: silentLog },
    directory: async () => real.directory,
    uploads: createUploads({ table: memoryLimitTable(), clock, newId: () => 'u1' }),
  });
  const app = servedTo(USERS.finance, '/', pages);
  const get = async (path: string) => app.request(path);
  const post = async (path: string, fields: Readonly<Record<string, string>> | FormData) =>
    app.request(path, {
      method: 'POST',
      body: fields instanceof FormData ? fields : new URLSearchParams(fields),
    });
  const begun = await post('/plans', { name: 'Year 2027', from: '2027-01-01' });
  const here = begun.headers.get('location') ?? '';
  const amounts = async () =>
    (await desk.plans())[0]?.amounts.map(({ subject, amount }) => [subject, amount]);
  return { ...real, get, post, here, amounts };
}

const PAYMENTS = 'amount|group/101|money-month';
const CARDS = 'amount|group/104|money-month';

test('what is typed into the table is in the plan, and what is emptied is out of it again', async () => {
  const { post, get, here, amounts } = await house();
  const saved = await post(here, { step: 'save', [PAYMENTS]: '+8 %', [CARDS]: '3,50' });
  expect([saved.status, saved.headers.get('location')]).toEqual([303, `${here}?done=written`]);
  expect(await amounts()).toEqual([
    ['group/101', '540'],
    ['group/104', '3.50'],
  ]);
  const shown = await (await get(here)).text();
  expect(shown).toContain('aria-label="Planned for acme/payments, Money per month" value="540"');
  expect(shown).toContain('1,503.00 EUR');
  expect(shown).toContain('1,543.50 EUR');
  await post(here, { step: 'save', [PAYMENTS]: '', [CARDS]: '3.5' });
  expect(await amounts()).toEqual([['group/104', '3.50']]);
});

test('what cannot be read comes back as it was typed, with why, and nothing is written', async () => {
  const { post, here, amounts } = await house();
  const refused = await post(here, { step: 'save', [PAYMENTS]: '1.000', [CARDS]: '4' });
  const text = await refused.text();
  expect(refused.status).toBe(422);
  expect(text).toContain('may be 1000 or 1');
  expect(text).toContain('value="1.000"');
  expect(text).toContain('value="4"');
  expect(await amounts()).toEqual([]);
});

test('a share goes to a group and all below it; a group that is not there is told', async () => {
  const { post, here, amounts } = await house();
  await post(here, { step: 'scale', by: '+10 %', group: 'acme/payments', unit: 'money', round: '1' });
  // Three rounds to three: as it is.
  expect(await amounts()).toEqual([['group/101', '550']]);
  const lost = await post(here, { step: 'scale', by: '+10 %', group: 'acme/nobody', unit: 'money' });
  expect([lost.status, await lost.text()]).toEqual([
    422,
    expect.stringContaining('No group is called acme/nobody.'),
  ]);
});

test('the file goes out, comes back, and is refused with its line', async () => {
  const { get, post, here, amounts } = await house();
  const file = await (await get(`${here}/plan.csv`)).text();
  const sent = async (text: string) => {
    const form = new FormData();
    form.set('file', new File([text], 'plan.csv'));
    return post(`${here}/file`, form);
  };
  expect((await sent(file.replace(',500,500,', ',500,+8%,'))).status).toBe(303);
  expect(await amounts()).toEqual([['group/101', '540']]);
  const refused = await sent(file.replace(',500,500,', ',500,5 USD,'));
  expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining('line 3, limit')]);
});

test('adopting shows what it does, and files a request for somebody else', async () => {
  const { get, post, here, desk } = await house();
  const empty = await get(`${here}/adoption`);
  expect([empty.status, await empty.text()]).toEqual([422, expect.stringContaining('It changes nothing')]);
  await post(here, { step: 'save', [PAYMENTS]: '540' });
  const shown = await (await get(`${here}/adoption`)).text();
  expect(shown).toContain('Until 1 January 2027');
  const set = /name="set" value="([^"]+)"/.exec(shown)?.[1] ?? '';
  const filed = await post(`${here}/adoption`, { why: 'next year', set });
  expect([filed.status, await filed.text()]).toEqual([202, expect.stringContaining('Request filed')]);
  expect(await (await get(here)).text()).toContain('waits for approval');
  expect((await desk.live())?.pointer.set).toBe(set);
});

test('whoever looked at limits that are others by now sees first what it comes to', async () => {
  const { get, post, here, apply, desk } = await house();
  await post(here, { step: 'save', [PAYMENTS]: '540' });
  const set = (await desk.live())?.pointer.set ?? '';
  await apply([{ kind: 'set', subject: 'group/200', limit: 'money-month', amount: 110 }]);
  const again = await post(`${here}/adoption`, { why: 'next year', set });
  expect(again.status).toBe(200);
  expect(await again.text()).toContain(`value="${(await desk.live())?.pointer.set}"`);
  expect((await get('/requests')).status).toBe(200);
  expect(await desk.requests({ actor: 'ada', rights: [{ role: 'admin' }] })).toEqual([]);
});

test('a discarded plan is gone', async () => {
  const { get, post, here } = await house();
  const gone = await post(here, { step: 'discard' });
  expect(gone.headers.get('location')).toBe('/plans?done=discarded');
  expect((await get(here)).status).toBe(404);
  expect(await (await get('/plans')).text()).toContain('There is no plan yet.');
});
