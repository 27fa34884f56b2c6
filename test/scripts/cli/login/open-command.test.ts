import { expect, test } from 'vitest';
import { openBrowser } from '../../../../scripts/cli/login.ts';
import { runDesk } from '../desk-run.ts';

const AT = 'https://budget.example.com';

async function opened(args: readonly string[], parts: { progress?: boolean; browser?: boolean } = {}) {
  const { progress = true, browser = true } = parts;
  const shown: string[] = [];
  const show = async (address: string): Promise<boolean> => {
    shown.push(address);
    return browser;
  };
  const env = { TOLLGATE_CONSOLE: AT };
  const standIns = new Map([[openBrowser, show]]);
  const { code, out } = await runDesk(['open', ...args], '/', { env, progress, standIns });
  return { code, out, shown };
}

test.each([
  [[], `${AT}/`],
  [['acme/payments'], `${AT}/?q=acme%2Fpayments`],
  [['4711'], `${AT}/jobs/4711`],
  [['d-4711-1'], `${AT}/jobs/4711`],
  [['https://gitlab.example.com/acme/api/-/jobs/4711'], `${AT}/jobs/4711`],
  [['--console', 'https://other.example.com', '4711'], 'https://other.example.com/jobs/4711'],
])('%j opens %s', async (args, address) => {
  expect(await opened(args)).toEqual({ code: 0, out: `Opened ${address}\n`, shown: [address] });
});

test('the address is printed without a terminal or a browser', async () => {
  expect(await opened(['4711'], { progress: false })).toMatchObject({ out: `${AT}/jobs/4711\n`, shown: [] });
  expect(await opened(['4711'], { browser: false })).toMatchObject({ out: `${AT}/jobs/4711\n` });
  expect(await opened(['--json'])).toMatchObject({ out: `{"address":"${AT}/"}\n`, shown: [] });
});
