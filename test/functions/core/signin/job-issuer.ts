/** A GitLab that gives jobs their tokens: its own keys, its own hands, and a server that lists them. No library of ours. */
import { createSign, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Signing {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

type Claims = Readonly<Record<string, unknown>>;

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const newSigning = (): Signing => ({
  kid: randomUUID(),
  ...generateKeyPairSync('rsa', { modulusLength: 2_048 }),
});

/** By hand, as RFC 7515 has it. */
export function signed(header: Claims, payload: Claims, key: KeyObject): string {
  const text = `${part(header)}.${part(payload)}`;
  const signature =
    header.alg === 'ES256'
      ? sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
      : createSign('RSA-SHA256').update(text).sign(key);
  return `${text}.${signature.toString('base64url')}`;
}

export async function startJobIssuer(nowMs: () => number) {
  let signing = newSigning();
  const curve = { kid: randomUUID(), ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) };
  const asked: string[] = [];
  const behaviour = { answer: undefined as undefined | { status: number; body: string; location?: string } };
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (behaviour.answer !== undefined) {
      const { status, body, location } = behaviour.answer;
      response.writeHead(status, location === undefined ? {} : { location }).end(body);
      return;
    }
    if (request.url !== '/oauth/discovery/keys') {
      response.writeHead(404).end();
      return;
    }
    const listed = (alg: string, { kid, publicKey }: Signing) => ({
      ...publicKey.export({ format: 'jwk' }),
      ...{ kid, alg, use: 'sig' },
    });
    const keys = [listed('RS256', signing), listed('ES256', curve)];
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys }));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  /** As GitLab writes them: ids are texts, and a token lasts as long as its job may. */
  const claims = (aud: unknown, more: Claims = {}): Claims => {
    const now = Math.floor(nowMs() / 1_000);
    return {
      iss: url,
      aud,
      sub: 'project_path:acme/payments/cards/api:ref_type:branch:ref:main',
      ...{ iat: now, nbf: now - 5, exp: now + 3_600, jti: randomUUID() },
      ...{ namespace_id: '104', project_id: '1', project_path: 'acme/payments/cards/api' },
      ...{ job_project_id: '1', job_project_path: 'acme/payments/cards/api', job_namespace_id: '104' },
      ...{ pipeline_id: '5000', job_id: '9', ref: 'main', ref_protected: 'true', runner_id: 41 },
      ...more,
    };
  };
  return {
    url,
    asked,
    behaviour,
    claims,
    publicPem: () => signing.publicKey.export({ type: 'spki', format: 'pem' }) as string,
    token: (payload: Claims, header: Claims = {}) =>
      signed({ alg: 'RS256', typ: 'JWT', kid: signing.kid, ...header }, payload, signing.privateKey),
    curveToken: (payload: Claims) =>
      signed({ alg: 'ES256', typ: 'JWT', kid: curve.kid }, payload, curve.privateKey),
    /** GitLab has a new key and lists the old one no more. */
    rotate: () => {
      signing = newSigning();
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
