/** Slack and Teams as far as their incoming webhooks go: they take what is documented, and refuse all else. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

const plainText = (max: number) =>
  z.strictObject({ type: z.literal('plain_text'), text: z.string().min(1).max(max), emoji: z.boolean() });
const SlackBody = z.strictObject({
  text: z
    .string()
    .min(1)
    .regex(/^[^<>]*$/),
  blocks: z
    .array(
      z.discriminatedUnion('type', [
        z.strictObject({ type: z.literal('header'), text: plainText(150) }),
        z.strictObject({
          type: z.literal('section'),
          text: plainText(3_000),
          accessory: z
            .strictObject({
              type: z.literal('button'),
              action_id: z.string().max(255),
              text: plainText(75),
              url: z.url().max(3_000),
            })
            .optional(),
        }),
      ]),
    )
    .min(1)
    .max(50),
});
const TeamsBody = z.strictObject({
  type: z.literal('message'),
  attachments: z.tuple([
    z.strictObject({
      contentType: z.literal('application/vnd.microsoft.card.adaptive'),
      contentUrl: z.null(),
      content: z.strictObject({
        $schema: z.string(),
        type: z.literal('AdaptiveCard'),
        version: z.literal('1.4'),
        body: z.array(
          z.discriminatedUnion('type', [
            z.strictObject({
              type: z.literal('RichTextBlock'),
              inlines: z.array(
                z.strictObject({
                  type: z.literal('TextRun'),
                  text: z.string(),
                  weight: z.literal('Bolder').optional(),
                  size: z.literal('Medium').optional(),
                }),
              ),
            }),
            z.strictObject({
              type: z.literal('ActionSet'),
              actions: z.array(
                z.strictObject({ type: z.literal('Action.OpenUrl'), title: z.string(), url: z.url() }),
              ),
            }),
          ]),
        ),
      }),
    }),
  ]),
});
const BODIES = { slack: SlackBody, teams: TeamsBody };
const TEAMS_BYTES_MAX = 28 * 1024;

interface ChatPost {
  readonly path: string;
  readonly body: string;
}

/** Listens below `/slack/…` and `/teams/…`. @param answers - statuses of the first posts; then each is judged by its shape */
export async function openChatReceivers(answers: readonly (readonly [number, string?])[] = []) {
  const left = [...answers];
  const posts: ChatPost[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const path = request.url ?? '';
    posts.push({ path, body });
    const [status, retryAfter] = left.shift() ?? [judged(path, body)];
    response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end('ok');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    posts,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function judged(path: string, body: string): number {
  const service = path.startsWith('/slack/') ? 'slack' : 'teams';
  if (service === 'teams' && Buffer.byteLength(body) > TEAMS_BYTES_MAX) return 413;
  if (!BODIES[service].safeParse(JSON.parse(body)).success) return 400;
  return service === 'teams' ? 202 : 200;
}
