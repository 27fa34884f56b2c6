import { isRecord } from '../../policies/document/reading.ts';

/** Bodies with these may not be made: `Response` refuses them. */
const BODILESS: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/** The response that a handler of Function URL events returned; undefined if it is none. */
export function responseOf(text: string): Response | undefined {
  const result = parsed(text);
  if (!isRecord(result)) return undefined;
  const { statusCode, body = '', isBase64Encoded = false } = result;
  if (typeof statusCode !== 'number' || !Number.isInteger(statusCode) || statusCode < 200 || statusCode > 599)
    return undefined;
  if (typeof body !== 'string' || typeof isBase64Encoded !== 'boolean') return undefined;
  if (BODILESS.has(statusCode)) return new Response(null, { status: statusCode });
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  // No header is kept: the length and packing they tell are those of another message.
  return new Response(bytes, { status: statusCode, headers: { 'content-length': String(bytes.length) } });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
