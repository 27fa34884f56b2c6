import { Agent, request as sendRequest } from 'node:http';
import { callSigner } from '../../../functions/core/contract/signature.ts';

/** @returns a function that POSTs a body over a kept connection, signed without the SDK. It rejects unless the answer is 200. */
export function signedPost(
  url: string,
  service: string,
  headers: Readonly<Record<string, string>>,
): (body: string) => Promise<void> {
  const { AWS_REGION = '', AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '' } = process.env;
  const credentials = { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY };
  const { host, hostname, port, pathname: path } = new URL(url);
  const method = 'POST';
  const to = { hostname, port, method, path, agent: new Agent({ keepAlive: true }) };
  const sign = callSigner(AWS_REGION, service);
  return (body) => {
    const signed = sign({ method, host, path, headers, body }, credentials, Date.now());
    return new Promise((resolve, reject) => {
      const request = sendRequest({ ...to, headers: signed }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
        response.resume().on('end', resolve);
      });
      request.on('error', reject).end(body);
    });
  };
}
