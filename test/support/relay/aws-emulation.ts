/** As much of AWS as a relay calls: SSM, Lambda's Invoke and DynamoDB's PutItem, taking only calls that are signed well. */
import { Hono } from 'hono';
import { handle } from 'hono/aws-lambda';
import { listen } from '../flow/flow.ts';
import { signatureProblems } from './check-signature.ts';

export const KEYS = {
  accessKeyId: 'AKIDEMULATED',
  secret: 'emulated-not-a-secret',
  sessionToken: 'emulated-session-not-a-secret',
  region: 'eu-central-1',
};

export interface AwsEmulation {
  readonly url: string;
  readonly parameters: Map<string, string>;
  /** Operations in the order they came, e.g. `ssm AmazonSSM.GetParameter`. */
  readonly calls: readonly string[];
  readonly unsigned: readonly string[];
  close(): Promise<void>;
}

/** @param admit - what the Function URL and Invoke both lead to. */
export async function startAwsEmulation(admit: Hono): Promise<AwsEmulation> {
  const parameters = new Map<string, string>();
  const calls: string[] = [];
  const unsigned: string[] = [];
  const invoked = handle(admit);
  const app = new Hono();
  // What a task is told of its role, by the address in AWS_CONTAINER_CREDENTIALS_FULL_URI.
  app.get('/credentials', (c) =>
    c.json({
      AccessKeyId: KEYS.accessKeyId,
      SecretAccessKey: KEYS.secret,
      Token: KEYS.sessionToken,
      Expiration: new Date(Date.now() + 3_600_000).toISOString(),
    }),
  );
  app.use(async (c, next) => {
    const service =
      c.req.path === '/'
        ? c.req.header('x-amz-target')?.startsWith('AmazonSSM')
          ? 'ssm'
          : 'dynamodb'
        : 'lambda';
    calls.push(`${service} ${c.req.header('x-amz-target') ?? c.req.path}`);
    const call = {
      method: c.req.method,
      url: c.req.url,
      headers: c.req.header(),
      body: await c.req.text(),
    };
    const problems = [...signatureProblems(call, { ...KEYS, service })];
    if (call.headers['x-amz-security-token'] !== KEYS.sessionToken) problems.push('no session token');
    if (problems.length === 0) return next();
    unsigned.push(...problems);
    return c.json({ __type: 'InvalidSignatureException' }, 403);
  });
  app.post('/', async (c) => {
    const body = await c.req.json();
    if (c.req.header('x-amz-target') !== 'AmazonSSM.GetParameter') return c.json({});
    const Value = parameters.get(body.Name);
    return Value === undefined
      ? c.json({ __type: 'ParameterNotFound' }, 400)
      : c.json({ Parameter: { Name: body.Name, Value } });
  });
  app.post('/2015-03-31/functions/:name/invocations', async (c) =>
    c.json(await Reflect.apply(invoked, undefined, [await c.req.json(), {}])),
  );
  app.post('/v1/*', async (c) => admit.request(c.req.path, { method: 'POST', body: await c.req.text() }));
  return { ...(await listen(app)), parameters, calls, unsigned };
}
