import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isRecord } from '../../../policies/document/reading.ts';
import { documentedUrlEvent } from './function-url-event.ts';
import type { HostedBundle } from './hosted-bundle.ts';

interface FunctionUrlServer {
  /** `http://127.0.0.1:41234` */
  readonly url: string;
  close(): void;
}

/** A hosted function behind an address, as a Function URL puts it there. Signatures are not looked at. */
export async function serveFunctionUrl(bundle: HostedBundle): Promise<FunctionUrlServer> {
  const server = createServer((request, response) => {
    answerOf(bundle, request).then(
      ({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(body);
      },
      () => {
        response.writeHead(502);
        response.end();
      },
    );
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answerOf(bundle: HostedBundle, request: IncomingMessage) {
  let body = '';
  for await (const chunk of request) body += chunk;
  const { url: path = '/', method = 'POST' } = request;
  const answer = await bundle.invoke(documentedUrlEvent({ path, method, body }));
  if (!isRecord(answer)) throw new Error('the function answered no HTTP');
  return { status: Number(answer.statusCode), body: String(answer.body ?? '') };
}
