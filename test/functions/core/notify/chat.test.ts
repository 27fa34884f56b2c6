import { afterEach, expect, test } from 'vitest';
import {
  ChatError,
  chatSender,
  findChannel,
  readChatChannels,
} from '../../../../functions/core/notify/chat.ts';
import { FINANCE } from '../../../../functions/core/notify/recipient.ts';
import { openChatReceivers } from './chat-receivers.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

async function chat(answers?: Parameters<typeof openChatReceivers>[0]) {
  const receivers = await openChatReceivers(answers);
  open.push(receivers);
  const pauses: number[] = [];
  const sender = chatSender({ fetch, sleep: async (ms) => void pauses.push(ms) });
  const to = (service: 'slack' | 'teams') => ({
    ...{ channel: '#x', service },
    url: `${receivers.url}/${service}/T0/s3cret`,
  });
  return { ...receivers, sender, pauses, to };
}

const A_MESSAGE = {
  title: 'Tollgate: 1 request waits <!channel>',
  parts: [
    {
      text: 'ann asks for *more* [here](https://evil.example)\nand a second line',
      link: { text: 'Open', href: 'https://b.example/requests' },
    },
    { text: 'and 3 more' },
  ],
};

test.each(['slack', 'teams'] as const)(
  '%s takes the message, and text that a person wrote is not markup',
  async (service) => {
    const { sender, posts, to } = await chat();
    await sender.send(A_MESSAGE, to(service));
    expect(posts.map(({ path }) => path)).toEqual([`/${service}/T0/s3cret`]);
    // As it was written, in elements that have no markup.
    expect(posts[0]?.body).toContain('*more* [here](https://evil.example)');
    expect(posts[0]?.body).not.toMatch(/mrkdwn|TextBlock"(?<!RichTextBlock")/);
    expect(posts[0]?.body).toContain('https://b.example/requests');
  },
);

test.each(['slack', 'teams'] as const)('the longest message fits what %s takes', async (service) => {
  const { sender, posts, to } = await chat();
  const part = { ...A_MESSAGE.parts[0], text: 'ä'.repeat(4_000) };
  await sender.send({ title: 't'.repeat(400), parts: Array.from({ length: 80 }, () => part) }, to(service));
  expect(posts).toHaveLength(1);
});

test('waits for a busy channel as long as it asks, five seconds at most', async () => {
  const { sender, posts, to, pauses } = await chat([[429, '3'], [503]]);
  await sender.send(A_MESSAGE, to('slack'));
  expect(posts).toHaveLength(3);
  expect(pauses).toEqual([3_000, 2_000]);
  const long = await chat([[429, '3600']]);
  await long.sender.send(A_MESSAGE, long.to('slack'));
  expect(long.pauses).toEqual([5_000]);
});

test.each([
  ['is gone', [[404]], 'chat_refused', 1],
  ['redirects', [[302]], 'chat_refused', 1],
  ['keeps failing', [[500], [500], [500]], 'chat_unavailable', 3],
] as const)('a webhook that %s fails with a code, without its address', async (_, answers, code, tries) => {
  const { sender, posts, to } = await chat(answers);
  const error = await sender.send(A_MESSAGE, to('teams')).catch((each: unknown) => each);
  expect(error).toBeInstanceOf(ChatError);
  expect(error).toMatchObject({ code });
  expect(`${error}${JSON.stringify(error)}`).not.toMatch(/s3cret|127\.0\.0\.1/);
  expect(posts).toHaveLength(tries);
});

test('reads channels from lines, and reports unreadable ones by number alone', () => {
  const { channels, unreadable } = readChatChannels([
    '# remarks begin like this',
    '#ci-budget slack https://hooks.slack.com/services/T/B/x',
    'Payments CI  Teams  https://example.powerplatform.com/x?sig=y',
    'no-address slack',
    '#plain slack http://hooks.slack.com/services/T/B/x',
    '#other irc https://irc.example.com',
  ]);
  expect(channels.map(({ channel, service }) => `${channel} ${service}`)).toEqual([
    '#ci-budget slack',
    'Payments CI teams',
  ]);
  expect(unreadable).toEqual([4, 5, 6]);
});

test('the channel of a recipient is that of the contact; equal names of owners are not mixed up', () => {
  const channel = (name: string) => ({ channel: name, service: 'slack' as const, url: `https://x/${name}` });
  const some = [channel('#payments'), channel('finance'), channel('leads')];
  expect(findChannel({ owner: 'leads', root: 100, contact: '#Payments' }, some)?.channel).toBe('#payments');
  expect(findChannel({ owner: 'leads', root: 100 }, some)).toBeUndefined();
  expect(findChannel(FINANCE, some)?.channel).toBe('finance');
  expect(findChannel({ owner: 'leads', root: 100 }, [...some, channel('*')])?.channel).toBe('*');
});
