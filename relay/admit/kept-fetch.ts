import { request as sendPlain } from 'node:http';
import { request as sendSecure } from 'node:https';
import { text } from 'node:stream/consumers';
import type { Fetch } from './admit-call.ts';

/**
 * A `fetch` at half its CPU, for AWS and the admit function. It keeps connections and uses the environment's proxy as Node
 * does. It follows no redirect, decompresses nothing and makes no web streams.
 */
export const keptFetch: Fetch = (url, { method = 'GET', headers, body, signal }) =>
  new Promise((resolve, reject) => {
    if (body !== undefined && body !== null && typeof body !== 'string')
      throw new TypeError('only text can be sent');
    const send = url.startsWith('https:') ? sendSecure : sendPlain;
    const request = send(url, {
      method,
      headers: Object.fromEntries(new Headers(headers)),
      ...(signal && { signal }),
    });
    request.on('error', reject);
    request.on('response', (response) => {
      const header = (name: string): string | undefined => {
        const value = response.headers[name.toLowerCase()];
        return Array.isArray(value) ? value.join(', ') : value;
      };
      resolve({
        status: response.statusCode ?? 0,
        headers: { get: (name) => header(name) ?? null, has: (name) => header(name) !== undefined },
        body: Object.assign(response, {
          cancel: async () => {
            response.destroy();
          },
        }),
        text: () => text(response),
      });
    });
    request.end(body ?? undefined);
  });
