import { connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { getProxyForUrl } from 'proxy-from-env';
import type { Policy } from '../../../policies/policy.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { ACCEPTED_AFTER_MS } from '../../../relay/connection.ts';
import { randomInstanceId } from '../../../relay/router/registration.ts';
import {
  type Router,
  RouterStatus,
  remedyOfNetwork,
  remedyOfStatus,
  STATUS,
} from '../../../relay/router/router.ts';
import { createRouter } from '../../../relay/router/router-client.ts';
import {
  parseTarget,
  type RouterTarget,
  readTls,
  type TlsFiles,
  type TlsMaterial,
} from '../../../relay/router/target.ts';
import { fileToken, type TokenSource } from '../../../relay/token.ts';
import { VERSION } from '../../../relay/version.ts';
import { dumpWire, formatDump } from '../../../relay/wire/inspect.ts';
import { encodeAdmitted, loadSchema, schemaTitle, type WireSchema } from '../../../relay/wire/schema.ts';
import { readPolicy } from '../../policy/read-documents.ts';
import { type DoctorFinding, note, ok, problem, skipped } from './finding.ts';
import type { DoctorOptions } from './options.ts';
import {
  checkQuestion,
  checkRules,
  checkSchemaFields,
  checkServiceFields,
  checkTimeoutSource,
} from './question.ts';

const POLICY = fileURLToPath(new URL('../../../policies/policy.yaml', import.meta.url));

interface Examination {
  readonly findings: readonly DoctorFinding[];
  /** The question's shape, see {@link formatDump}; undefined if none came. */
  readonly shape: string | undefined;
}

/**
 * Runs checks in order and reports each finding immediately; checks that depend on a failed one are skipped.
 */
export async function examine(
  options: DoctorOptions,
  tell: (finding: DoctorFinding) => void,
): Promise<Examination> {
  const findings: DoctorFinding[] = [];
  const found = (...more: readonly DoctorFinding[]): void => {
    for (const finding of more) {
      findings.push(finding);
      tell(finding);
    }
  };
  const parts = readParts(options, found);
  if (parts === undefined) return { findings, shape: undefined };
  found(
    checkSchemaFields(parts.schema),
    checkTimeoutSource(parts.schema),
    checkServiceFields(parts.schema),
    ...checkRules(parts.policy, parts.schema.question, Date.now()),
  );
  const network = await checkNetwork(parts.target, parts.tls);
  found(...network);
  if (network.some((finding) => finding.outcome === 'problem')) return { findings, shape: undefined };
  return { findings, shape: await speak(options, parts, found) };
}

interface Parts {
  readonly target: RouterTarget;
  readonly schema: WireSchema;
  readonly policy: Policy;
  readonly token: TokenSource;
  readonly tlsFiles: TlsFiles;
  readonly tls: TlsMaterial;
}

/** Reads everything that needs no network, and reports all errors. */
function readParts(options: DoctorOptions, found: (finding: DoctorFinding) => void): Parts | undefined {
  const { caFile, 'cert-file': certFile, 'key-file': keyFile } = options;
  const tlsFiles: TlsFiles = withoutAbsent({ caFile, certFile, keyFile });
  const attempt = <T>(check: string, read: () => T, describe: (value: T) => DoctorFinding): T | undefined => {
    try {
      const value = read();
      const finding = describe(value);
      found(finding);
      return finding.outcome === 'problem' ? undefined : value;
    } catch (error) {
      found(problem(check, error instanceof Error ? error.message : String(error)));
      return undefined;
    }
  };
  const target = attempt(
    'router',
    () => parseTarget(options.router),
    (read) => describeTarget(read, options['allow-plaintext']),
  );
  const token = attempt(
    'token',
    () => readToken(options['token-file']),
    ({ looksRight }) =>
      looksRight
        ? ok('token', 'read, and it looks like a runner controller token')
        : note('token', 'read, but it has no glrct-', 'is it the token of a runner controller?'),
  );
  const schema = attempt('schema', () => loadSchema(options.proto), describeSchema);
  const policy = attempt(
    'policy',
    () => readPolicy(options.policy ?? POLICY),
    ({ rules }) => ok('policy', `${options.policy ?? 'policies/policy.yaml'}, ${rules.length} rules`),
  );
  const tls = attempt(
    'tls files',
    () => readTls(tlsFiles),
    () => ok('tls files', Object.keys(tlsFiles).join(', ') || 'none needed'),
  );
  if (!target || !token || !schema || !policy || !tls) return undefined;
  return { target, token: token.source, schema, policy, tlsFiles, tls };
}

function describeTarget(target: RouterTarget, allowPlaintext: boolean): DoctorFinding {
  const loopback = /^(localhost|127\..*|::1)$/.test(target.host);
  if (target.secure || loopback) return ok('router', `${target.url}, port ${target.port}`);
  const detail = `${target.url} sends the token and the jobs unencrypted`;
  return allowPlaintext
    ? note('router', detail)
    : problem('router', detail, `use ${target.tunnel ? 'wss' : 'grpcs'}://, or say --allow-plaintext`);
}

/** Two machines that name the same hash have the same descriptors. */
function describeSchema(schema: WireSchema): DoctorFinding {
  const detail = `${schemaTitle(schema)}, ${schema.admitJobPath}`;
  return schema.placeholder
    ? note('schema', detail, 'get the schema of your GitLab: npm run proto:sync -- --ref <tag>, then --proto')
    : ok('schema', detail);
}

function readToken(file: string): { readonly source: TokenSource; readonly looksRight: boolean } {
  const source = fileToken(file);
  return { source, looksRight: source.read().includes('glrct-') };
}

async function speak(
  options: DoctorOptions,
  { target, token, schema, tlsFiles }: Parts,
  found: (...findings: readonly DoctorFinding[]) => void,
): Promise<string | undefined> {
  const router = createRouter({
    target,
    schema,
    token,
    tls: tlsFiles,
    userAgent: `tollgate-doctor/${VERSION}`,
    version: VERSION,
    ...withoutAbsent({ socketDir: options['socket-dir'] }),
  });
  try {
    found(await checkRegister(router));
    const admission = await waitForQuestion(router, options.wait);
    if (admission.kind === 'refused') {
      found(problem('admit job', `status ${admission.code}: ${admission.details}`, admission.remedy));
      return undefined;
    }
    found(ok('admit job', 'the router lets a stream wait'));
    if (admission.kind === 'accepted') {
      const detail = `none within ${options.wait / 1_000} s`;
      found(
        options.wait === 0
          ? skipped('question', 'not waited for')
          : note(
              'question',
              detail,
              'start a pipeline on a runner in the scope of this controller, and use a longer --wait',
            ),
      );
      return undefined;
    }
    found(ok('question', `${admission.bytes.length} bytes`), ...checkQuestion(schema, admission.bytes));
    const code = await admission.answer(encodeAdmitted(schema));
    found(
      code === STATUS.OK
        ? ok(
            'answer',
            'sent as admitted, and the router ended the stream well; compare job_router_admission_control_requests_total{result="admitted"}',
          )
        : problem('answer', `the router ended the stream with status ${code}`, remedyOfStatus(code)),
    );
    return formatDump(dumpWire(admission.bytes, options.show.map(exactly)));
  } finally {
    router.close();
  }
}

const exactly = (text: string): RegExp => new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);

const CONNECT_MS_MAX = 5_000;

/** Checks TCP and TLS separately, to distinguish a firewall, a wrong name and a wrong certificate. */
async function checkNetwork(target: RouterTarget, tls: TlsMaterial): Promise<readonly DoctorFinding[]> {
  const proxy = target.tunnel ? getProxyForUrl(target.url.replace(/^ws/, 'http')) : '';
  if (proxy !== '') {
    return [note('network', `through the proxy ${new URL(proxy).host} (HTTP_PROXY, HTTPS_PROXY, NO_PROXY)`)];
  }
  const tcp = await checkTcp(target);
  if (tcp.outcome === 'problem' || !target.secure) return [tcp];
  return [tcp, await checkTls(target, tls)];
}

function checkTcp({ host, port }: RouterTarget): Promise<DoctorFinding> {
  return new Promise((resolve) => {
    const socket = connectTcp({ host, port, timeout: CONNECT_MS_MAX });
    const done = (finding: DoctorFinding): void => {
      socket.destroy();
      resolve(finding);
    };
    socket.on('connect', () =>
      done(ok('network', `${host} is ${socket.remoteAddress}, port ${port} is open`)),
    );
    socket.on('timeout', () =>
      done(
        problem(
          'network',
          `${host}:${port} does not answer within 5 s`,
          'a firewall between here and the router?',
        ),
      ),
    );
    socket.on('error', (error: NodeJS.ErrnoException) =>
      done(problem('network', error.message, remedyOfNetwork(error))),
    );
  });
}

function checkTls({ host, port }: RouterTarget, tls: TlsMaterial): Promise<DoctorFinding> {
  return new Promise((resolve) => {
    const socket = connectTls({
      host,
      port,
      ...tls,
      ...(isIP(host) === 0 && { servername: host }),
      ALPNProtocols: ['h2', 'http/1.1'],
      timeout: CONNECT_MS_MAX,
    });
    const done = (finding: DoctorFinding): void => {
      socket.destroy();
      resolve(finding);
    };
    socket.on('secureConnect', () =>
      done(
        ok('tls', `${socket.getProtocol()}, certificate valid until ${socket.getPeerCertificate().valid_to}`),
      ),
    );
    socket.on('timeout', () => done(problem('tls', 'no handshake within 5 s', 'does this port speak TLS?')));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      done(problem('tls', error.message, remedyOfNetwork(error))),
    );
  });
}

async function checkRegister(router: Router): Promise<DoctorFinding> {
  const instanceId = randomInstanceId();
  try {
    await router.register(instanceId);
    await router.unregister(instanceId).catch(() => {});
    return ok('register', 'the router knows this controller');
  } catch (error) {
    if (!(error instanceof RouterStatus)) throw error;
    const detail = `status ${error.code}: ${error.details}`;
    // Presence only: questions come all the same.
    return error.code === STATUS.UNIMPLEMENTED
      ? note('register', detail, 'the router or the schema has no registrar; questions come all the same')
      : problem('register', detail, error.remedy);
  }
}

type Admission =
  /** The stream was accepted and a question came; `answer` sends the answer and resolves when the stream has ended. */
  | { readonly kind: 'question'; readonly bytes: Uint8Array; answer(bytes: Uint8Array): Promise<number> }
  | { readonly kind: 'accepted' }
  | {
      readonly kind: 'refused';
      readonly code: number;
      readonly details: string;
      readonly remedy?: string | undefined;
    };

/** Opens AdmitJob and waits for a question; a stream that comes of age meanwhile is opened again. */
async function waitForQuestion(router: Router, waitMs: number): Promise<Admission> {
  const untilMs = performance.now() + Math.max(waitMs, ACCEPTED_AFTER_MS);
  for (;;) {
    const admission = await openOnce(router, untilMs - performance.now());
    if (admission.kind !== 'refused' || admission.code !== STATUS.OK) return admission;
    if (performance.now() >= untilMs) return { kind: 'accepted' };
    await new Promise((resolve) => setTimeout(resolve, REOPEN_MS));
  }
}

const REOPEN_MS = 100;

function openOnce(router: Router, waitMs: number): Promise<Admission> {
  return new Promise((resolve) => {
    let connected = false;
    const ended = Promise.withResolvers<number>();
    const call = router.admitJob({
      onWaiting() {
        connected = true;
      },
      onQuestion(bytes) {
        clearTimeout(timer);
        resolve({
          kind: 'question',
          bytes,
          answer(answer) {
            call.answer(answer);
            return ended.promise;
          },
        });
      },
      onOversized(sizeBytes) {
        resolve({
          kind: 'refused',
          code: STATUS.RESOURCE_EXHAUSTED,
          details: `a question of ${sizeBytes} bytes`,
        });
      },
      onEnd(code, details, remedy) {
        clearTimeout(timer);
        ended.resolve(code);
        resolve({ kind: 'refused', code, details, remedy });
      },
    });
    const timer = setTimeout(
      () => {
        resolve(
          connected
            ? { kind: 'accepted' }
            : { kind: 'refused', code: STATUS.UNAVAILABLE, details: 'no connection' },
        );
        call.cancel();
      },
      Math.max(0, waitMs),
    );
  });
}
