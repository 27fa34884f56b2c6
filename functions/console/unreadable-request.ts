import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';

type UnreadableStatus = 400 | 413 | 415;

/**
 * Returns the status of an unreadable request (JSON, form, content type): the caller's fault, without an
 * alarm. Undefined: our fault.
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
