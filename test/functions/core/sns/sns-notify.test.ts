import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, expect, test } from 'vitest';
import {
  MESSAGE_BYTES_MAX,
  type Message,
  NotifyError,
  subjectLine,
} from '../../../../functions/core/notify/notify.ts';
import { snsNotify } from '../../../../functions/core/sns/sns-notify.ts';
import {
  CROSSINGS_PER_MESSAGE_MAX,
  crossingDigest,
} from '../../../../functions/core/thresholds/announce-crossings.ts';
import { crossings } from '../../../../functions/core/thresholds/crossings.ts';
import { counter } from '../../../support/ledger/asks.ts';
import { NOVEMBER_21_MS } from '../../../support/ledger/test-clock.ts';
import { aLimit, step } from '../thresholds/limits.ts';

const sns = mockClient(SNSClient);
beforeEach(() => {
  sns.reset();
});

const topicArn = 'arn:aws:sns:eu-central-1:123456789012:thresholds';
const message: Message = {
  subject: 'Tollgate: one',
  text: 'for people\n',
  json: '{"kind":"thresholds"}',
  id: 'id-1',
};

test('people get text, programs JSON', async () => {
  sns.on(PublishCommand).resolves({});
  await snsNotify({ topicArn }).send(message);
  const input = sns.commandCalls(PublishCommand)[0]?.args[0].input;
  expect(input).toMatchObject({ TopicArn: topicArn, Subject: 'Tollgate: one', MessageStructure: 'json' });
  expect(input).not.toHaveProperty('MessageDeduplicationId');
  const forms = JSON.parse(input?.Message ?? '');
  expect(forms).toMatchObject({ default: message.json, email: message.text, sms: message.subject });
});

test('a FIFO topic is told by which id it knows a repeat', async () => {
  sns.on(PublishCommand).resolves({});
  await snsNotify({ topicArn: `${topicArn}.fifo` }).send(message);
  expect(sns.commandCalls(PublishCommand)[0]?.args[0].input).toMatchObject({
    MessageDeduplicationId: 'id-1',
  });
});

test('subscriptions can choose by whose it is, what about and how bad', async () => {
  sns.on(PublishCommand).resolves({});
  const attributes = { owner: 'payments-leads', kind: 'notices', severity: 'action' } as const;
  await snsNotify({ topicArn: `${topicArn}.fifo` }).send({ ...message, attributes });
  expect(sns.commandCalls(PublishCommand)[0]?.args[0].input).toMatchObject({
    MessageGroupId: 'notices',
    MessageAttributes: {
      owner: { DataType: 'String', StringValue: 'payments-leads' },
      kind: { DataType: 'String', StringValue: 'notices' },
      severity: { DataType: 'String', StringValue: 'action' },
    },
  });
});

test.each(['AuthorizationErrorException', 'ThrottledException', 'KMSAccessDeniedException', 'TimeoutError'])(
  '%s of SNS is named, and nothing of the request with it',
  async (name) => {
    sns.on(PublishCommand).rejects(Object.assign(new Error('for people'), { name, $metadata: {} }));
    const sending = snsNotify({ topicArn }).send(message);
    await expect(sending).rejects.toThrow(
      `[notify_unavailable] topic ${topicArn} did not take a message (${name})`,
    );
  },
);

test('a topic that does not answer is a failure that may be tried again', async () => {
  sns.on(PublishCommand).rejects(new Error('no'));
  const failure = await snsNotify({ topicArn })
    .send(message)
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(NotifyError);
  expect(failure).toMatchObject({ code: 'notify_unavailable', retryable: true });
});

test('a message SNS would refuse is not sent', async () => {
  const sending = snsNotify({ topicArn }).send({ ...message, text: 'x'.repeat(MESSAGE_BYTES_MAX) });
  await expect(sending).rejects.toMatchObject({ code: 'message_too_large' });
  expect(sns.calls()).toHaveLength(0);
});

test('the fullest digest of the longest names is a message SNS takes', async () => {
  sns.on(PublishCommand).resolves({});
  const name = 'n'.repeat(60);
  const long = '"文\\'.repeat(85);
  const limit = aLimit({
    owner: long.slice(0, 100),
    softAmount: 499_999_999,
    zone: 'America/Argentina/ComodRivadavia',
  });
  const told = Array.from({ length: CROSSINGS_PER_MESSAGE_MAX }, (_, id) =>
    crossings(step([0, 0], [0, 499_999_999], counter(`runner-class/${name}${id}`, name)), limit),
  )
    .flat()
    .map((crossing) => ({
      crossing,
      limit,
      limitAmount: 500_000_000,
      subjectLabel: `runner class ${long}`,
      to: { owner: long },
      period: { label: 'November 2026', endMs: NOVEMBER_21_MS, isOver: false },
      forecast: { outcome: 'runs_out', atMs: NOVEMBER_21_MS } as const,
    }));
  expect(told).toHaveLength(CROSSINGS_PER_MESSAGE_MAX);
  await snsNotify({ topicArn }).send(crossingDigest(told, { currency: 'EUR', nowMs: NOVEMBER_21_MS }));
  expect(sns.calls()).toHaveLength(1);
});

test('a subject is one line of at most 100 characters of ASCII', () => {
  expect(subjectLine('Größe\nzwei')).toBe('Gr??e?zwei');
  expect(subjectLine('x'.repeat(200))).toHaveLength(100);
});
