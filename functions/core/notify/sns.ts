import type { PublishCommandInput } from '@aws-sdk/client-sns';
import { errorName } from '../environment/environment.ts';
import { MESSAGE_BYTES_MAX, type Message, type Notifier, NotifyError } from './message.ts';

/** A publish takes some 20 ms; the batch behind it must end before Lambda ends the function. */
const SEND_TIMEOUT_MS = 5_000;
const TRIES_MAX = 3;
/** Subject, id, attributes, and the bytes that SNS adds to its count. */
const ENVELOPE_BYTES = 1_024;

/**
 * Publishes to a standard or FIFO topic: text for mail, the subject for phones, JSON for queues, functions and webhooks.
 * Loads the SNS client with the first message, because most runs send none.
 */
export function snsNotifier({ topicArn }: { readonly topicArn: string }): Notifier {
  let loading: ReturnType<typeof loadPublish> | undefined;
  return {
    send: async (message) => {
      const input = publishInput(topicArn, message);
      loading ??= loadPublish();
      try {
        const publish = await loading;
        await publish(input);
      } catch (error) {
        throw new NotifyError(
          'notify_unavailable',
          `topic ${topicArn} did not take a message (${errorName(error)})`,
          { cause: error },
        );
      }
    },
  };
}

async function loadPublish(): Promise<(input: PublishCommandInput) => Promise<unknown>> {
  const { PublishCommand, SNSClient } = await import('@aws-sdk/client-sns');
  const client = new SNSClient({ maxAttempts: TRIES_MAX });
  return (input) =>
    client.send(new PublishCommand(input), { abortSignal: AbortSignal.timeout(SEND_TIMEOUT_MS) });
}

function publishInput(TopicArn: string, message: Message): PublishCommandInput {
  const { subject, text, json, id, attributes } = message;
  const Message = JSON.stringify({ default: json, email: text, sms: subject });
  const bytes = Buffer.byteLength(Message) + ENVELOPE_BYTES;
  if (bytes > MESSAGE_BYTES_MAX)
    throw new NotifyError(
      'message_too_large',
      `message of ${bytes} bytes for ${TopicArn}: expected at most ${MESSAGE_BYTES_MAX}; say less in one`,
    );
  const values = Object.entries(attributes ?? {}).map(
    ([name, StringValue]) => [name, { DataType: 'String', StringValue }] as const,
  );
  return {
    ...{ TopicArn, Subject: subject, MessageStructure: 'json', Message },
    ...(attributes !== undefined && { MessageAttributes: Object.fromEntries(values) }),
    ...(TopicArn.endsWith('.fifo') && {
      MessageGroupId: attributes?.kind ?? 'thresholds',
      MessageDeduplicationId: id,
    }),
  };
}
