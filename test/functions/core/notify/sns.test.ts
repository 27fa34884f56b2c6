import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, expect, test } from 'vitest';
import { MESSAGE_BYTES_MAX, type Message, NotifyError } from '../../../../functions/core/notify/message.ts';
import { snsNotifier } from '../../../../functions/core/notify/sns.ts';
import { findAlerts } from '../../../../functions/core/thresholds/levels.ts';
import {
  ALERTS_PER_MESSAGE_MAX,
  alertMessage,
} from '../../../../functions/core/thresholds/threshold-alerts.ts';
import { counter } from '../../../support/ledger/asks.ts';
import { NOVEMBER_21_MS } from '../../../support/ledger/test-clock.ts';
import { aCounter, aLimit } from '../thresholds/limits.ts';

const sns = mockClient(SNSClient);
beforeEach(() => {
  sns.reset();
  sns.on(PublishCommand).resolves({});
});

const topicArn = 'arn:aws:sns:eu-central-1:123456789012:thresholds';
const message: Message = {
  subject: 'Tollgate: one',
  text: 'for people\n',
  json: '{"kind":"thresholds"}',
  id: 'id-1',
};
const published = () => sns.commandCalls(PublishCommand)[0]?.args[0].input;

test('a FIFO topic drops repeats by the id, and subscriptions filter by attributes', async () => {
  const attributes = { owner: 'payments-leads', kind: 'notices', severity: 'action' } as const;
  await snsNotifier({ topicArn: `${topicArn}.fifo` }).send({ ...message, attributes });
  expect(published()).toMatchObject({
    MessageDeduplicationId: 'id-1',
    MessageGroupId: 'notices',
    MessageAttributes: {
      owner: { DataType: 'String', StringValue: 'payments-leads' },
      kind: { DataType: 'String', StringValue: 'notices' },
      severity: { DataType: 'String', StringValue: 'action' },
    },
  });
});

test.each(['AuthorizationErrorException', 'TimeoutError'])(
  'a failure names %s, quotes nothing of the message, and may be tried again',
  async (name) => {
    sns.on(PublishCommand).rejects(Object.assign(new Error('for people'), { name, $metadata: {} }));
    const failure = await snsNotifier({ topicArn })
      .send(message)
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(NotifyError);
    expect(failure).toMatchObject({
      ...{ code: 'notify_unavailable', retryable: true },
      message: `[notify_unavailable] topic ${topicArn} did not take a message (${name})`,
    });
  },
);

test('a message that SNS would refuse is not sent', async () => {
  const sending = snsNotifier({ topicArn }).send({ ...message, text: 'x'.repeat(MESSAGE_BYTES_MAX) });
  await expect(sending).rejects.toMatchObject({ code: 'message_too_large' });
  expect(sns.calls()).toHaveLength(0);
});

test('the fullest message of alerts with the longest names fits SNS', async () => {
  const name = 'n'.repeat(60);
  const long = '"文\\'.repeat(85);
  const limit = aLimit({
    owner: long.slice(0, 100),
    softAmount: 499_999_999,
    zone: 'America/Argentina/ComodRivadavia',
  });
  const owned = { limit, subjectLabel: `runner class ${long}`, to: { owner: long } };
  const alerts = Array.from({ length: ALERTS_PER_MESSAGE_MAX }, (_, id) =>
    findAlerts(aCounter(0, 499_999_999, counter(`runner-class/${name}${id}`, name)), owned),
  )
    .flat()
    .map((alert) => ({
      ...alert,
      period: { key: '2026-11', label: 'November 2026', startMs: 0, endMs: NOVEMBER_21_MS },
      forecast: { outcome: 'runs_out', atMs: NOVEMBER_21_MS } as const,
    }));
  expect(alerts).toHaveLength(ALERTS_PER_MESSAGE_MAX);
  await snsNotifier({ topicArn }).send(alertMessage(alerts, { currency: 'EUR', nowMs: NOVEMBER_21_MS }));
  expect(sns.calls()).toHaveLength(1);
});
