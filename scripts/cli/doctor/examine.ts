import { withoutAbsent } from '../../../policies/without-absent.ts';
import { ACCEPTED_AFTER_MS } from '../../../relay/connection.ts';
import { randomInstanceId } from '../../../relay/router/registration.ts';
import { type Router, RouterStatus, remedyOfStatus, STATUS } from '../../../relay/router/router.ts';
import { createRouter } from '../../../relay/router/router-client.ts';
import { parseTarget, type RouterTarget, readTls } from '../../../relay/router/target.ts';
import { fileToken } from '../../../relay/token.ts';
import { VERSION } from '../../../relay/version.ts';
import { dumpWire } from '../../../relay/wire/inspect.ts';
import { encodeAnswer, loadSchema, schemaTitle, type WireSchema } from '../../../relay/wire/schema.ts';
import type { DoctorOptions } from './options.ts';
import {
  checkQuestion,
  checkSchemaFields,
  type DoctorFinding,
  note,
  ok,
  problem,
  SYNC,
  skipped,
} from './question.ts';

/** In order; checks that depend on a failed one are skipped. Returns the question's shape, if one came. */
export async function examine(
  options: DoctorOptions,
  found: (finding: DoctorFinding) => void,
): Promise<string | undefined> {
  const parts = readParts(options, found);
  if (parts === undefined) return undefined;
  for (const finding of checkSchemaFields(parts.schema)) found(finding);
  return await speak(options, parts, found);
}

type Found = Parameters<typeof examine>[1];

/** Reads everything that needs no network, and reports all errors. */
function readParts(options: DoctorOptions, found: Found) {
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
  const schema = attempt('schema', () => loadSchema(options.proto), describeSchema);
  const tls = attempt(
    'tls files',
    () => readTls(tlsFiles),
    () => ok('tls files', Object.keys(tlsFiles).join(', ') || 'none needed'),
  );
  return target && token && schema && tls && { target, schema, token, tlsFiles };
}

function describeTarget(target: RouterTarget, allowPlaintext: boolean): DoctorFinding {
  const isLoopback = /^(localhost|127\..*|::1)$/.test(target.host);
  if (target.secure || isLoopback) return ok('router', `${target.url}, port ${target.port}`);
  const detail = `${target.url} sends the token and the jobs unencrypted`;
  return allowPlaintext
    ? note('router', detail)
    : problem('router', detail, `use ${target.tunnel ? 'wss' : 'grpcs'}://, or say --allow-plaintext`);
}

function describeSchema(schema: WireSchema): DoctorFinding {
  const detail = `${schemaTitle(schema)}, ${schema.admitJobPath}`;
  return schema.placeholder ? note('schema', detail, SYNC) : ok('schema', detail);
}

const WAIT_MS = 60_000;

async function speak(
  options: DoctorOptions,
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
    const admission = await waitForQuestion(router, waitMs);
    if (admission.kind === 'refused') {
      found(problem('admit job', `status ${admission.code}: ${admission.details}`, admission.remedy));
      return undefined;
    }
    found(ok('admit job', 'the router lets a stream wait'));
    if (admission.kind === 'accepted') {
      const remedy = 'start a pipeline on a runner in the scope of this controller, and use a longer --wait';
      const none = note('question', `none within ${waitMs / 1_000} s`, remedy);
      found(waitMs === 0 ? skipped('question', 'not waited for') : none);
      return undefined;
    }
    found(ok('question', `${admission.bytes.length} bytes`));
    for (const finding of checkQuestion(schema, admission.bytes)) found(finding);
    const code = await admission.answer(encodeAnswer(schema, { outcome: 'admitted' }));
    found(
      code === STATUS.OK
        ? ok('answer', 'sent as admitted, and the router ended the stream well')
        : problem('answer', `the router ended the stream with status ${code}`, remedyOfStatus(code)),
    );
    return dumpWire(admission.bytes);
  } finally {
    router.close();
  }
}

/** @returns false if the router was not reached. */
async function checkRegister(router: Router, found: Found): Promise<boolean> {
  const instanceId = randomInstanceId();
  try {
    await router.register(instanceId);
    await router.unregister(instanceId).catch(() => {});
    found(ok('register', 'the router knows this controller'));
  } catch (error) {
    if (!(error instanceof RouterStatus)) throw error;
    const detail = `status ${error.code}: ${error.details}`;
    // Presence only: questions come all the same.
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
  | { readonly kind: 'question'; readonly bytes: Uint8Array; answer(bytes: Uint8Array): Promise<number> }
  | { readonly kind: 'accepted' }
  | {
      readonly kind: 'refused';
      readonly code: number;
      readonly details: string;
      readonly remedy?: string | undefined;
    };

const REOPEN_MS = 100;

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

function openOnce(router: Router, waitMs: number): Promise<Admission> {
  const { promise, resolve } = Promise.withResolvers<Admission>();
  const ended = Promise.withResolvers<number>();
  let late: Admission = { kind: 'refused', code: STATUS.UNAVAILABLE, details: 'no connection' };
  const call = router.admitJob({
    onWaiting() {
      late = { kind: 'accepted' };
    },
    onQuestion(bytes) {
      clearTimeout(timer);
      const answer = (response: Uint8Array) => {
        call.answer(response);
        return ended.promise;
      };
      resolve({ kind: 'question', bytes, answer });
    },
    onOversized(sizeBytes) {
      const details = `a question of ${sizeBytes} bytes`;
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
