import { sentTimeoutSeconds } from '../../../policies/estimate.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { isLoopback } from '../../../relay/config.ts';
import { ACCEPTED_AFTER_MS } from '../../../relay/connection.ts';
import { randomInstanceId } from '../../../relay/router/registration.ts';
import { REMEDIES, type Router, RouterStatus, STATUS } from '../../../relay/router/router.ts';
import { createRouter } from '../../../relay/router/router-client.ts';
import { parseTarget, type RouterTarget, readTls } from '../../../relay/router/target.ts';
import { fileToken } from '../../../relay/token.ts';
import { fieldsWithoutSource } from '../../../relay/translate/alias-sources.ts';
import { ALIASES } from '../../../relay/translate/aliases.ts';
import { compileReader } from '../../../relay/translate/request-reader.ts';
import { resolvePath } from '../../../relay/translate/variables.ts';
import { VERSION } from '../../../relay/version.ts';
import { dumpWire, explain } from '../../../relay/wire/inspect.ts';
import { encodeResponse, loadSchema, schemaTitle, type WireSchema } from '../../../relay/wire/schema.ts';
import type { RouterOptions } from './doctor-command.ts';

/** In order; checks that depend on a failed one are skipped. Returns the request's shape, if one came. */
export async function examine(options: RouterOptions, found: (finding: DoctorFinding) => void) {
  const parts = readParts(options, found);
  if (parts === undefined) return undefined;
  for (const finding of checkSchemaFields(parts.schema)) found(finding);
  return await speak(options, parts, found);
}

type Found = Parameters<typeof examine>[1];

function readParts(options: RouterOptions, found: Found) {
  const { caFile, 'cert-file': certFile, 'key-file': keyFile } = options;
  const tlsFiles = withoutAbsent({ caFile, certFile, keyFile });
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
    () => fileToken(options['token-file']),
    (source) =>
      source.read().includes('glrct-')
        ? ok('token', 'read, and it looks like a runner controller token')
        : note('token', 'read, but it has no glrct-', 'is it the token of a runner controller?'),
  );
  const schema = attempt(
    'schema',
    () => loadSchema(options.proto),
    (read) => {
      const detail = `${schemaTitle(read)}, ${read.admitJobPath}`;
      return read.placeholder ? note('schema', detail, SYNC) : ok('schema', detail);
    },
  );
  const tls = attempt(
    'tls files',
    () => readTls(tlsFiles),
    () => ok('tls files', Object.keys(tlsFiles).join(', ') || 'none needed'),
  );
  return target && token && schema && tls && { target, schema, token, tlsFiles };
}

function describeTarget(target: RouterTarget, allowPlaintext: boolean): DoctorFinding {
  if (target.secure || isLoopback(target.host)) return ok('router', `${target.url}, port ${target.port}`);
  const detail = `${target.url} sends the token and the jobs unencrypted`;
  return allowPlaintext
    ? note('router', detail)
    : problem('router', detail, `use ${target.tunnel ? 'wss' : 'grpcs'}://, or say --allow-plaintext`);
}

const WAIT_MS = 60_000;

async function speak(
  options: RouterOptions,
  { target, token, schema, tlsFiles }: NonNullable<ReturnType<typeof readParts>>,
  found: Found,
): Promise<string | undefined> {
  const router = createRouter({
    ...{ target, schema, token, tls: tlsFiles, version: VERSION },
    userAgent: `tollgate-doctor/${VERSION}`,
  });
  try {
    if (!(await checkRegister(router, found))) return undefined;
    const { wait: waitMs = WAIT_MS } = options;
    const admission = await waitForRequest(router, waitMs);
    if (admission.kind === 'refused') {
      found(problem('admit job', `status ${admission.code}: ${admission.details}`, admission.remedy));
      return undefined;
    }
    found(ok('admit job', 'the router lets a stream wait'));
    if (admission.kind === 'accepted') {
      const remedy = 'start a pipeline on a runner in the scope of this controller, and use a longer --wait';
      const none = note('request', `none within ${waitMs / 1_000} s`, remedy);
      found(waitMs === 0 ? skipped('request', 'not waited for') : none);
      return undefined;
    }
    found(ok('request', `${admission.bytes.length} bytes`));
    for (const finding of checkRequest(schema, admission.bytes)) found(finding);
    const code = await admission.answer(encodeResponse(schema, { outcome: 'admitted' }));
    found(
      code === STATUS.OK
        ? ok('answer', 'sent as admitted, and the router ended the stream well')
        : problem('answer', `the router ended the stream with status ${code}`, REMEDIES[code]),
    );
    return dumpWire(admission.bytes);
  } finally {
    router.close();
  }
}

async function checkRegister(router: Router, found: Found): Promise<boolean> {
  const instanceId = randomInstanceId();
  try {
    await router.register(instanceId);
    await router.unregister(instanceId).catch(() => {});
    found(ok('register', 'the router knows this controller'));
  } catch (error) {
    if (!(error instanceof RouterStatus)) throw error;
    const detail = `status ${error.code}: ${error.details}`;
    if (error.code === STATUS.UNIMPLEMENTED)
      found(note('register', detail, 'the router or the schema has no registrar'));
    else {
      const isSilent = error.code === STATUS.DEADLINE_EXCEEDED;
      const remedy = error.remedy ?? (isSilent ? 'a firewall between here and the router?' : undefined);
      found(problem('register', detail, remedy));
    }
    return error.code !== STATUS.UNAVAILABLE;
  }
  return true;
}

type Admission =
  | { readonly kind: 'request'; readonly bytes: Uint8Array; answer(bytes: Uint8Array): Promise<number> }
  | { readonly kind: 'accepted' }
  | {
      readonly kind: 'refused';
      readonly code: number;
      readonly details: string;
      readonly remedy?: string | undefined;
    };

const REOPEN_MS = 100;

/** Opens AdmitJob and waits for a request; a stream that comes of age meanwhile is opened again. */
async function waitForRequest(router: Router, waitMs: number): Promise<Admission> {
  const untilMs = performance.now() + Math.max(waitMs, ACCEPTED_AFTER_MS);
  for (;;) {
    const admission = await openOnce(router, untilMs - performance.now());
    if (admission.kind !== 'refused' || admission.code !== STATUS.OK) return admission;
    if (performance.now() >= untilMs) return { kind: 'accepted' };
    await new Promise((resolve) => setTimeout(resolve, REOPEN_MS));
  }
}

function openOnce(router: Router, waitMs: number): Promise<Admission> {
  const { promise, resolve } = Promise.withResolvers<Admission>();
  const ended = Promise.withResolvers<number>();
  let late: Admission = { kind: 'refused', code: STATUS.UNAVAILABLE, details: 'no connection' };
  const call = router.admitJob({
    onWaiting() {
      late = { kind: 'accepted' };
    },
    onRequest(bytes) {
      clearTimeout(timer);
      const answer = (response: Uint8Array) => {
        call.answer(response);
        return ended.promise;
      };
      resolve({ kind: 'request', bytes, answer });
    },
    onOversized(sizeBytes) {
      const details = `an admission request of ${sizeBytes} bytes`;
      resolve({ kind: 'refused', code: STATUS.RESOURCE_EXHAUSTED, details });
    },
    onEnd(code, details, remedy) {
      clearTimeout(timer);
      ended.resolve(code);
      resolve({ kind: 'refused', code, details, remedy });
    },
  });
  const onTimeout = (): void => {
    resolve(late);
    call.cancel();
  };
  const timer = setTimeout(onTimeout, Math.max(0, waitMs));
  return promise;
}

/** `note`: worth knowing, nothing to mend; `skipped`: could not be checked. */
export interface DoctorFinding {
  readonly check: string;
  readonly outcome: 'ok' | 'problem' | 'note' | 'skipped';
  readonly detail: string;
  readonly remedy?: string;
}

const finding =
  (outcome: DoctorFinding['outcome']) =>
  (check: string, detail: string, remedy?: string): DoctorFinding => ({
    ...{ check, outcome, detail, ...withoutAbsent({ remedy }) },
  });
const ok = finding('ok');
const note = finding('note');
const problem = finding('problem');
const skipped = finding('skipped');

const SYNC = 'get the schema of your GitLab: tollgate gitlab descriptors --ref <tag>, then --proto';

/** Before any request. A job without a timeout is held for the policy's, and may hold too little for as long as it runs. */
function checkSchemaFields({ request }: WireSchema): readonly DoctorFinding[] {
  const services = resolvePath(request, 'services')?.leaf.fieldKind === 'list' ? [] : ['services'];
  const never = [...fieldsWithoutSource(request), ...services];
  return [
    never.length === 0
      ? ok('fields', 'every field of an admission request has a source in the schema')
      : note('fields', `the schema has no source for ${never.join(', ')}; rules that need them never fire`),
    never.includes('timeoutSeconds')
      ? problem('timeout', 'the schema has no source for it: every job gets that of the policy', SYNC)
      : ok('timeout', 'has a source in the schema'),
  ];
}

function checkRequest(schema: WireSchema, bytes: Uint8Array): readonly DoctorFinding[] {
  const explained = checkExplained(schema, bytes);
  const options = { variables: { names: [], prefixes: [] }, trustVariables: false };
  const read = compileReader(schema, options)(bytes);
  if (!read.ok) return [explained, problem('decoded', read.problem, SYNC)];
  const { request } = read;
  const fields = [...ALIASES.map(({ field }) => field), 'variables' as const];
  const absent = fields.filter((field) => request[field] === undefined);
  return [
    explained,
    request.jobId > 0
      ? ok('job id', 'a positive number')
      : problem('job id', 'not positive, so another field is read in its place', SYNC),
    sentTimeoutSeconds(request) === undefined
      ? problem('timeout', 'none came: the job is taken to have the timeout of the policy', SYNC)
      : ok('timeout', 'came'),
    absent.length === 0
      ? ok('presence', 'every field came')
      : note(
          'presence',
          `did not come: ${absent.join(', ')}`,
          'rules follow their on_missing where a field does not come',
        ),
  ];
}

function checkExplained(schema: WireSchema, bytes: Uint8Array): DoctorFinding {
  try {
    const { unknown, contradicted, knownBytes, totalBytes } = explain(schema.request, bytes);
    const detail = `${knownBytes} of ${totalBytes} bytes are known`;
    if (contradicted.length > 0) return problem('explained', `${detail}; ${contradicted.join('; ')}`, SYNC);
    if (unknown.length === 0) return ok('explained', detail);
    return note('explained', `${detail}; unknown: ${unknown.join(', ')}`, SYNC);
  } catch (error) {
    return problem('explained', error instanceof Error ? error.message : String(error), SYNC);
  }
}
