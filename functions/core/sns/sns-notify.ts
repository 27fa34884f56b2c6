import type { MessageAttributeValue, PublishCommandInput, SNSClient } from '@aws-sdk/client-sns';
import { MESSAGE_BYTES_MAX, type Message, type Notifier, NotifyError } from '../notify/index.ts';

/** A publish takes some 20 ms; the batch behind it has to be done before its function is ended. */
const SEND_TIMEOUT_MS = 5_000;
const TRIES_MAX = 3;
/** Subject, id, attributes and what SNS counts with a message. */
const ENVELOPE_BYTES = 1_024;

interface SnsNotifyOptions {
  /** A standard or FIFO topic; a FIFO topic drops the repeats a crash may cause. */
  readonly topicArn: string;
}

/** Publishes to one topic: text for mail, the subject for phones, JSON for queues, functions and web hooks. */
export function snsNotify({ topicArn }: SnsNotifyOptions): Notifier {
  let loading: Promise<(input: PublishCommandInput) => Promise<unknown>> | undefined;
  return {
    send: async (message) => {
      const input = publishInput(topicArn, message);
      // Most batches tell nobody anything: the client is loaded with the first message.
      loading ??= loadPublish();
      try {
        const publish = await loading;
        await publish(input);
      } catch (error) {
        throw new NotifyError(
          'notify_unavailable',
          `topic ${topicArn} did not take a message (${error instanceof Error ? error.name : 'unknown failure'})`,
          { cause: error },
        );
      }
    },
  };
}

async function loadPublish(): Promise<(input: PublishCommandInput) => Promise<unknown>> {
  const { PublishCommand, SNSClient } = await import('@aws-sdk/client-sns');
  const client: SNSClient = new SNSClient({ maxAttempts: TRIES_MAX });
  return (input) =>
    client.send(new PublishCommand(input), { abortSignal: AbortSignal.timeout(SEND_TIMEOUT_MS) });
}

function publishInput(
  topicArn: string,
  { subject, text, json, id, attributes }: Message,
): PublishCommandInput {
  const Message = JSON.stringify({ default: json, email: text, sms: subject });
  // What is not for people is for programs. The topic takes only so much of all forms together.
  const bytes = Buffer.byteLength(Message) + ENVELOPE_BYTES;
  if (bytes > MESSAGE_BYTES_MAX)
    throw new NotifyError(
      'message_too_large',
      `message of ${bytes} bytes for ${topicArn}: expected at most ${MESSAGE_BYTES_MAX}; say less in one`,
    );
  return {
    TopicArn: topicArn,
    Subject: subject,
    MessageStructure: 'json',
    Message,
    ...(attributes !== undefined && { MessageAttributes: attributeValues({ ...attributes }) }),
    ...(topicArn.endsWith('.fifo') && {
      MessageGroupId: attributes?.kind ?? 'thresholds',
      MessageDeduplicationId: id,
    }),
  };
}

/** SNS takes no empty ones, and filters compare them whole. */
const attributeValues = (texts: Readonly<Record<string, string>>): Record<string, MessageAttributeValue> =>
  Object.fromEntries(
    Object.entries(texts).map(([name, StringValue]) => [name, { DataType: 'String', StringValue }]),
  );
