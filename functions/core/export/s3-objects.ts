/** Objects in one S3 bucket: a signed PUT each. The SDK's client for S3 would double the bundle for this one call. */
import { defaultProvider } from '@aws-sdk/credential-provider-node';
import { SignatureV4 } from '@smithy/signature-v4';
import { NodeSha256 } from '../contract/index.ts';
import type { ObjectStore } from './export-images.ts';

interface S3ObjectsOptions {
  readonly bucket: string;
  /** `eu-central-1` */
  readonly region: string;
  /** Another place than the service, e.g. `http://127.0.0.1:5000`. */
  readonly endpoint?: string | undefined;
  /** @default the process's own, as every AWS client finds them */
  readonly credentials?: ReturnType<typeof defaultProvider>;
}

const TIMEOUT_MS = 5_000;
const TRIES = 2;

export function s3Objects({ bucket, region, endpoint, credentials }: S3ObjectsOptions): ObjectStore {
  const base = new URL(endpoint ?? `https://${bucket}.s3.${region}.amazonaws.com`);
  const path = endpoint === undefined ? '' : `/${bucket}`;
  const signer = new SignatureV4({
    credentials: credentials ?? defaultProvider(),
    region,
    service: 's3',
    sha256: NodeSha256,
    // S3 signs the path as it is sent.
    uriEscapePath: false,
  });
  const put = async (name: string, bytes: Uint8Array): Promise<void> => {
    const { protocol, hostname, port, host } = base;
    const { headers } = await signer.sign({
      method: 'PUT',
      protocol,
      hostname,
      ...(port !== '' && { port: Number(port) }),
      path: `${path}/${name}`,
      headers: { host, 'content-type': 'application/gzip' },
      body: bytes,
    });
    const { host: _host, ...sent } = headers;
    const url = new URL(`${path}/${name}`, base);
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { method: 'PUT', headers: sent, body: Buffer.from(bytes), signal });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`bucket ${bucket} answered ${response.status}`);
  };
  return {
    async put(name, bytes) {
      for (let tries = 1; tries < TRIES; tries += 1) {
        try {
          return await put(name, bytes);
        } catch {
          // A closed connection or a short failure: retry immediately.
        }
      }
      return put(name, bytes);
    },
  };
}
