import { fileURLToPath } from 'node:url';
import type { Policy } from '../../../policies/policy.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { remedyOfStatus, STATUS } from '../../../relay/router/router.ts';
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
import { checkRegister, waitForQuestion } from './calls.ts';
import { type DoctorFinding, note, ok, problem, skipped } from './finding.ts';
import { checkNetwork } from './network.ts';
import type { DoctorOptions } from './options.ts';
import { checkQuestion, checkSchemaFields, checkServiceFields, checkTimeoutSource } from './question.ts';
import { checkRules } from './rules.ts';

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
  const { caFile, certFile, keyFile } = options;
  const tlsFiles: TlsFiles = {
    ...withoutAbsent({ caFile, certFile, keyFile }),
  };
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
    (read) => describeTarget(read, options.allowPlaintext),
  );
  const token = attempt(
    'token',
    () => readToken(options.tokenFile),
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
    ...(options.socketDir !== undefined && { socketDir: options.socketDir }),
  });
  try {
    found(await checkRegister(router));
    const admission = await waitForQuestion(router, options.waitMs);
    if (admission.kind === 'refused') {
      found(problem('admit job', `status ${admission.code}: ${admission.details}`, admission.remedy));
      return undefined;
    }
    found(ok('admit job', 'the router lets a stream wait'));
    if (admission.kind === 'accepted') {
      const detail = `none within ${options.waitMs / 1_000} s`;
      found(
        options.waitMs === 0
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
