import { expect, test } from 'vitest';
import { silentLog } from '../../../functions/core/environment/machine.ts';
import { type ChatSender, chatSender } from '../../../functions/core/notify/chat.ts';
import { chatNotifier } from '../../../functions/notices/tell-chat.ts';
import { openChatReceivers } from '../core/notify/chat-receivers.ts';
import { CONSOLE_URL, type NoticesHouseOptions, noticesHouse } from './house.ts';

const DANA = { actor: 'dana', rights: [{ role: 'viewer', groups: [101] }] } as const;
const FRITZ = { actor: 'fritz', rights: [{ role: 'finance' }] } as const;
const JOB = 'https://gitlab.example.com/acme/payments/api/-/jobs/4';
const ASK = {
  ...{ subject: 'group/101', limit: 'money-month', amount: 200 },
  ...{ from: '2026-11-21', until: '2026-11-30', reason: 'load test', link: JOB },
};

async function chatHouse(lines: (url: string) => readonly string[], over: Partial<ChatSender> = {}) {
  const receivers = await openChatReceivers();
  const logged: string[] = [];
  const log = {
    ...silentLog,
    warn: (message: string, fields: object = {}) => void logged.push(`${message} ${JSON.stringify(fields)}`),
  };
  const tellChat = chatNotifier({
    lines: async () => lines(receivers.url),
    sender: { ...chatSender({ fetch, sleep: async () => {} }), ...over },
    clock: { monotonicMs: () => 0 },
    consoleUrl: CONSOLE_URL,
    log,
  });
  const options: NoticesHouseOptions = { tellChat, log };
  return { ...(await noticesHouse(options)), receivers, logged };
}

test('a request reaches the channel of whoever may give it, and what became of it that of the group', async () => {
  const { desk, run, receivers } = await chatHouse((url) => [
    `payments@example.com slack ${url}/slack/payments`,
    `* teams ${url}/teams/others`,
  ]);
  const filed = await desk.request(ASK, DANA);
  if (filed.outcome !== 'filed') throw new Error(filed.outcome);
  await run();
  expect(receivers.posts.map(({ path }) => path)).toEqual(['/teams/others']);
  expect(receivers.posts[0]?.body).toContain('dana asks for 200 EUR more');
  expect(receivers.posts[0]?.body).toContain('Look at it and decide');
  await desk.decide(filed.request.id, { verdict: 'approve' }, FRITZ);
  await run();
  const told = receivers.posts.filter(({ path }) => path === '/slack/payments').map(({ body }) => body);
  expect(told.join()).toContain('Approved: dana asks for 200 EUR more');
  expect(told.join()).toContain(`Retry the job in GitLab: ${JOB}`);
  await receivers.close();
});

test('a chat that fails holds nobody up: mail is told once, and the log names no address', async () => {
  const { desk, run, receivers, logged, notify } = await chatHouse((url) => [
    `* slack ${url}/nowhere/s3cret`,
    'not a line',
  ]);
  await desk.request(ASK, DANA);
  const before = notify.sent.length;
  await run();
  await run();
  expect(notify.sent.length - before).toBe(1);
  expect(logged.join()).toContain('"code":"chat_refused"');
  expect(logged.join()).toContain('chat webhooks unreadable {"lines":"2"}');
  expect(logged.join()).not.toMatch(/s3cret|127\.0\.0\.1/);
  await receivers.close();
});

test('webhooks that cannot be read fail no run', async () => {
  const { desk, run, receivers, logged } = await chatHouse(() => {
    throw new Error('ParameterNotFound');
  });
  await desk.request(ASK, DANA);
  expect(await run()).toMatchObject({ messages: 1 });
  expect(logged.join()).toContain('chat webhooks not read');
  await receivers.close();
});
