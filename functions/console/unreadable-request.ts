import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';

/** What the client did wrong, as one of three statuses. */
type UnreadableStatus = 400 | 413 | 415;

/**
 * Whether an error says that a request could not be read (JSON, form, type of content): the sender's fault, so neither a 500
 * nor anybody's alarm. Undefined: it is ours.
 */
export function unreadableStatus(error: Error): UnreadableStatus | undefined {
  if (!(error instanceof HTTPException)) return undefined;
  const { status } = error;
  if (status === 413 || status === 415) return status;
  return status >= 400 && status < 500 ? 400 : undefined;
}

/** A form of this request, urlencoded or multipart. @throws {HTTPException} 400: the body is none. */
export const readForm = (c: Context) =>
  c.req.parseBody().catch((cause: unknown) => {
    throw new HTTPException(400, { message: 'the form cannot be read', cause });
  });
