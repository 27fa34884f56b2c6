import { afterEach, expect, test } from 'vitest';
import { silentLog } from '../../../functions/core/environment/environment.ts';
import { chatSender } from '../../../functions/core/notify/chat.ts';
import { openChatReceivers } from '../core/notify/chat-receivers.ts';
import { FRITZ, noticesHarness } from './harness.ts';

const JOB = 'https://gitlab.example.com/acme/payments/api/-/jobs/4';
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

async function chatHarness(lines: (url: string) => readonly string[]) {
  const receivers = await openChatReceivers();
  open.push(receivers);
  const logged: string[] = [];
  const warn = (message: string, fields: object = {}) =>
    void logged.push(`${message} ${JSON.stringify(fields)}`);
  const built = await noticesHarness({
    chat: {
      lines: async () => lines(receivers.url),
      sender: chatSender({ fetch, sleep: async () => {} }),
    },
    log: { ...silentLog, warn },
  });
  return { ...built, posts: receivers.posts, logged };
}

test('a request goes to the channel of its approver, the decision to the channel of the group', async () => {
  const { request, limitEdits, run, posts } = await chatHarness((url) => [
    `payments@example.com slack ${url}/slack/payments`,
    `* teams ${url}/teams/others`,
  ]);
  const id = await request({ link: JOB });
  await run();
  expect(posts.map(({ path }) => path)).toEqual(['/teams/others']);
  expect(posts[0]?.body).toContain('dana asks for 200 EUR more');
  await limitEdits.decide(id, { decision: 'approve' }, FRITZ);
  await run();
  const bodies = posts.filter(({ path }) => path === '/slack/payments').map(({ body }) => body);
  expect(bodies.join()).toContain('Approved: dana asks for 200 EUR more');
  expect(bodies.join()).toContain(`Retry the job in GitLab: ${JOB}`);
});

test('after a failed chat mail is not repeated, and the log names no address', async () => {
  const { request, run, logged, sent } = await chatHarness((url) => [
    `* slack ${url}/nowhere/s3cret`,
    'not a line',
  ]);
  await request();
  await run();
  await run();
  expect(sent()).toHaveLength(1);
  expect(logged.join()).toContain('"code":"chat_refused"');
  expect(logged.join()).toContain('chat webhooks unreadable {"lines":"2"}');
  expect(logged.join()).not.toMatch(/s3cret|127\.0\.0\.1/);
});

test('mail is sent if webhooks cannot be read', async () => {
  const { request, run, logged } = await chatHarness(() => {
    throw new Error('ParameterNotFound');
  });
  await request();
  expect(await run()).toMatchObject({ messages: 1 });
  expect(logged.join()).toContain('chat webhooks not read');
});
