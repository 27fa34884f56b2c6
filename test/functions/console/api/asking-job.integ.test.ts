/** A job asks the console by its own token, which a GitLab of its own signed. */
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ACCESS } from '../../../../functions/console/api/create-api.ts';
import { PAGE_ACCESS } from '../../../../functions/console/pages/page-access.ts';
import { signed, startJobIssuer } from '../../core/signin/job-issuer.ts';
import { aJob, consoleHouse, LIMITS } from '../house.ts';
import { signedInConsole } from '../signed-in.ts';

const ORIGIN = 'https://budget.example.com';
const CHECK = '/api/v1/check';
const MINUTE_MS = 60_000;

async function opened() {
  const house = consoleHouse();
  await house.apply(LIMITS);
  // The library that keeps the keys asks the machine for the time.
  vi.useFakeTimers({ toFake: ['Date'], now: house.clock.nowMs() });
  onTestFinished(() => void vi.useRealTimers());
  const advance = (ms: number): void => {
    house.clock.advance(ms);
    vi.setSystemTime(house.clock.nowMs());
  };
  const gitlab = await startJobIssuer(() => house.clock.nowMs());
  onTestFinished(gitlab.stop);
  const logged: string[] = [];
  const note = (message: string, fields: object = {}): void =>
    void logged.push(JSON.stringify({ message, ...fields }));
  const log = { info: note, warn: note, error: note };
  const { app } = await signedInConsole(house, { issuer: gitlab.url, fetch, log, here: ORIGIN });
  const send = (token: string, path: string, init: RequestInit) =>
    app.request(path, {
      ...init,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
  const ask = async (token: string, path = CHECK, body: object | string = PIPELINE) => {
    const sent = typeof body === 'string' ? body : JSON.stringify(body);
    const init = path === CHECK ? { method: 'POST', body: sent } : {};
    const response = await send(token, path, init);
    const text = await response.text();
    // Whatever happens to it, a token is shown to nobody.
    if (token.length > 40) expect(`${logged.join('\n')}${text}`).not.toContain(token.slice(-40));
    return { status: response.status, text, headers: response.headers };
  };
  return {
    ...house,
    clock: { ...house.clock, advance },
    decide: house.ask,
    gitlab,
    ask,
    send,
    claims: (more: object = {}) => gitlab.claims(ORIGIN, { ...more }),
  };
}

type Opened = Awaited<ReturnType<typeof opened>>;

const PIPELINE = { jobs: [{ name: 'unit', tags: [], timeoutSeconds: 3_600 }] };

test('a job is told what its pipeline would meet, of the project it runs in', async () => {
  const { ask, gitlab, claims } = await opened();
  for (const token of [
    gitlab.token(claims()),
    gitlab.curveToken(claims({ aud: ['https://vault', ORIGIN] })),
  ]) {
    const { status, text } = await ask(token);
    expect(status, text).toBe(200);
    expect(JSON.parse(text)).toMatchObject({
      place: { subject: 'project/1', path: 'acme/payments/cards/api' },
      jobs: [{ name: 'unit', outcome: 'admitted' }],
    });
  }
  expect(gitlab.asked).toEqual(['/oauth/discovery/keys']);
});

const other = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const inSeconds = ({ clock }: Opened, seconds: number): number => Math.floor(clock.nowMs() / 1_000) + seconds;

test('clocks that differ by some seconds do not matter, and one of the last hour is good', async () => {
  const of = await opened();
  for (const times of [
    { iat: inSeconds(of, 20), nbf: inSeconds(of, 15) },
    { exp: inSeconds(of, -20) },
    { iat: inSeconds(of, -3_500), nbf: inSeconds(of, -3_505) },
  ])
    expect((await of.ask(of.gitlab.token(of.claims(times)))).status).toBe(200);
});

/** Claims that differ from those of a good token. */
const CLAIMS: readonly (readonly [string, (of: Opened) => object, RegExp])[] = [
  ['made out to somebody else', () => ({ aud: 'https://vault' }), /made out/],
  ['made out to us with a path', () => ({ aud: `${ORIGIN}/` }), /made out/],
  ['made out to nobody', () => ({ aud: undefined }), /made out/],
  ['of another GitLab', () => ({ iss: 'https://evil.example' }), /another GitLab/],
  ['of one that begins like ours', (of) => ({ iss: `${of.gitlab.url}.evil.example` }), /another GitLab/],
  ['expired', (of) => ({ exp: inSeconds(of, -31) }), /expired/],
  ['too old', (of) => ({ iat: inSeconds(of, -3_700), exp: inSeconds(of, 86_400) }), /older than an hour/],
  ['of tomorrow', (of) => ({ nbf: inSeconds(of, 86_400) }), /not valid yet/],
  ['without an end', () => ({ exp: undefined }), /lacks/],
  ['of a person who signs in', () => ({ job_project_id: undefined }), /in which project/],
  ['with ids that are none', () => ({ job_project_id: '1/../2', project_id: '1/../2' }), /in which project/],
  ['larger than any', () => ({ x: 'x'.repeat(20_000) }), /longer/],
];
/** Header and claims of a good token but for its header. */
const unsigned = ({ gitlab, claims }: Opened, header: object): string =>
  gitlab
    .token(claims(), { ...header })
    .split('.')
    .slice(0, 2)
    .join('.');
const FOREIGN = {
  ...{ alg: 'RS256', kid: 'x', jku: 'https://evil.example/keys' },
  jwk: other.publicKey.export({ format: 'jwk' }),
};

test.each<readonly [string, (of: Opened) => string, RegExp]>([
  ...CLAIMS.map(
    ([name, more, why]) => [name, (of: Opened) => of.gitlab.token(of.claims(more(of))), why] as const,
  ),
  [
    'signed by nobody',
    ({ claims }) => `${part({ alg: 'none' })}.${part(claims())}.`,
    /cannot be read|does not sign/,
  ],
  ['signed by nobody, by a key', (of) => `${unsigned(of, { alg: 'none' })}.`, /cannot be read|does not sign/],
  [
    'signed with the public key as a secret',
    (of) => {
      const text = unsigned(of, { alg: 'HS256' });
      return `${text}.${createHmac('sha256', of.gitlab.publicPem()).update(text).digest('base64url')}`;
    },
    /does not sign/,
  ],
  [
    'signed by somebody else, in the name of our key',
    ({ gitlab, claims }) => {
      const [header = ''] = gitlab.token(claims()).split('.');
      return signed(JSON.parse(String(Buffer.from(header, 'base64url'))), claims(), other.privateKey);
    },
    /not signed with a key/,
  ],
  [
    'with its own key in the header',
    ({ claims }) => signed(FOREIGN, claims(), other.privateKey),
    /not signed with a key/,
  ],
  [
    'altered behind the signature',
    ({ gitlab, claims }) => {
      const [header, , signature] = gitlab.token(claims()).split('.');
      return `${header}.${part(claims({ job_project_id: '2', project_id: '2' }))}.${signature}`;
    },
    /not signed with a key/,
  ],
])('a token %s is refused, and the answer says why', async (_, made, why) => {
  const of = await opened();
  const { status, text } = await of.ask(made(of));
  expect(status, text).toBe(401);
  expect(JSON.parse(text).error).toMatchObject({ code: 'job_token_invalid' });
  expect(text).toMatch(why);
  expect(of.gitlab.asked.length).toBeLessThanOrEqual(2);
});

test('the code of a fork is told nothing of the project that runs it', async () => {
  const { ask, gitlab, claims } = await opened();
  for (const [project_id, job_project_id] of [
    ['2', '1'],
    ['1', '2'],
  ]) {
    const { status, text } = await ask(gitlab.token(claims({ project_id, job_project_id })));
    expect(status).toBe(403);
    expect(text).toContain('job_of_fork');
    expect(text).not.toContain('acme');
  }
});

test('a job sees its own project, and nothing of any other', async () => {
  const house = await opened();
  await house.ask('').then(({ status }) => expect(status).toBe(401));
  const { ask, gitlab, claims } = house;
  const [own, foreign] = ['1', '2'].map((id) => gitlab.token(claims({ project_id: id, job_project_id: id })));
  await house.decide([aJob(4711)]);
  for (const [token, status] of [
    [own, 200],
    [foreign, 404],
  ] as const) {
    expect((await ask(token ?? '', '/api/v1/jobs/4711')).status).toBe(status);
    expect((await ask(token ?? '', '/api/v1/projects/1')).status).toBe(status);
    expect((await ask(token ?? '', CHECK, { ...PIPELINE, project: 1 })).status).toBe(status);
  }
  const listed = await ask(foreign ?? '', '/api/v1/budgets');
  expect(listed.status).toBe(200);
  expect(listed.text).not.toMatch(/acme|beta/);
});

const addressOf = (route: string): string =>
  route
    .replace(/^\w+ /, '')
    .replace(/:folder\{[^}]*\}/, 'groups')
    .replace(/:file\{([^|}]+)[^}]*\}/, '$1')
    .replaceAll(/:\w+/g, '104');

const CLOSED = [
  ...Object.keys(PAGE_ACCESS).map((route) => [route, addressOf(route)] as const),
  ...Object.entries(ACCESS).flatMap(([route, { job }]) =>
    job === undefined ? [[route, `/api/v1${addressOf(route)}`] as const] : [],
  ),
];

test('a job is let in by four routes', () => {
  const open = [ACCESS, PAGE_ACCESS]
    .flatMap((table) => Object.entries(table))
    .filter(([, { job }]) => job !== undefined);
  expect(open.map(([route]) => route)).toEqual([
    'GET /projects/:id',
    'GET /budgets',
    'GET /jobs/:word',
    'POST /check',
  ]);
});

test('all others are closed to jobs, and do nothing', async () => {
  const { gitlab, claims, limitEdits, send, clock } = await opened();
  const before = (await limitEdits.live())?.pointer.set;
  const token = gitlab.token(claims());
  for (const [at, [route, path]] of CLOSED.entries()) {
    // Sixty calls a minute are let in.
    if (at % 50 === 49) clock.advance(MINUTE_MS);
    const [method = ''] = route.split(' ');
    const response = await send(token, path, { method, ...(method === 'POST' && { body: '{}' }) });
    expect([route, response.status]).toEqual([route, 403]);
    expect(await response.text()).not.toContain('acme');
  }
  expect((await limitEdits.live())?.pointer.set).toBe(before);
});

test('made-up names of keys ask GitLab once a minute, and a real new key is found then', async () => {
  const { ask, gitlab, claims, clock } = await opened();
  expect((await ask(gitlab.token(claims()))).status).toBe(200);
  clock.advance(MINUTE_MS);
  const storm = Array.from({ length: 200 }, (_, index) =>
    ask(gitlab.token(claims(), { kid: `made-up-${index}` })),
  );
  for (const { status } of await Promise.all(storm)) expect(status).toBe(401);
  expect(gitlab.asked).toHaveLength(2);
  gitlab.rotate();
  expect((await ask(gitlab.token(claims()))).status).toBe(401);
  clock.advance(MINUTE_MS);
  expect((await ask(gitlab.token(claims()))).status).toBe(200);
  expect(gitlab.asked).toHaveLength(3);
});

test('a key that GitLab withdrew is good for nothing a quarter of an hour later, also while GitLab is away', async () => {
  const { ask, gitlab, claims, clock } = await opened();
  const token = gitlab.token(claims());
  expect((await ask(token)).status).toBe(200);
  gitlab.behaviour.answer = { status: 503, body: '' };
  clock.advance(14 * MINUTE_MS);
  expect((await ask(token)).status).toBe(200);
  clock.advance(2 * MINUTE_MS);
  expect(await ask(token)).toMatchObject({ status: 503 });
  gitlab.behaviour.answer = undefined;
  clock.advance(MINUTE_MS);
  gitlab.rotate();
  expect((await ask(token)).status).toBe(401);
});

test('a GitLab that leads elsewhere has no keys, and is left alone for a while', async () => {
  const { ask, gitlab, claims, clock } = await opened();
  gitlab.behaviour.answer = { status: 302, body: '', location: 'http://127.0.0.1:1/keys' };
  const token = gitlab.token(claims());
  expect(await ask(token)).toMatchObject({ status: 503 });
  expect(await ask(token)).toMatchObject({ status: 503 });
  expect(gitlab.asked).toHaveLength(1);
  gitlab.behaviour.answer = undefined;
  clock.advance(MINUTE_MS);
  expect((await ask(token)).status).toBe(200);
});

test('the jobs of one project together may ask sixty times a minute, and those of another are not held up', async () => {
  const { ask, gitlab, claims, clock } = await opened();
  const own = gitlab.token(claims());
  const all = await Promise.all(Array.from({ length: 61 }, () => ask(own)));
  expect(all.filter(({ status }) => status === 200)).toHaveLength(60);
  const late = all.find(({ status }) => status === 429);
  expect(Number(late?.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await ask(gitlab.token(claims({ project_id: '2', job_project_id: '2' })))).status).toBe(200);
  clock.advance(MINUTE_MS);
  expect((await ask(own)).status).toBe(200);
});

test('more jobs than a pipeline has, and more than is read, are refused whole', async () => {
  const { ask, gitlab, claims } = await opened();
  const token = gitlab.token(claims());
  const job = { name: 'unit', tags: [] };
  const jobs = (count: number) => ({ jobs: Array.from({ length: count }, () => job) });
  expect((await ask(token, CHECK, jobs(1_000))).status).toBe(200);
  expect((await ask(token, CHECK, jobs(1_001))).status).toBe(422);
  const twice = { ...job, parallel: 600 };
  expect((await ask(token, CHECK, { jobs: [twice, twice] })).status).toBe(422);
  expect((await ask(token, CHECK, { jobs: [{ ...job, projectId: 2 }] })).status).toBe(422);
  const large = { jobs: [job], ref: 'x'.repeat(300_000) };
  expect((await ask(token, CHECK, large)).status).toBe(413);
  expect((await ask(token, CHECK, '{')).status).toBe(400);
});
