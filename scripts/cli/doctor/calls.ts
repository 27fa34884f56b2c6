import { randomInstanceId } from '../../../relay/router/registration.ts';
import { type Router, RouterStatus, STATUS } from '../../../relay/router/router.ts';
import { ACCEPTED_AFTER_MS } from '../../../relay/streams/connection.ts';
import { type DoctorFinding, note, ok, problem } from './finding.ts';

export async function checkRegister(router: Router): Promise<DoctorFinding> {
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
export async function waitForQuestion(router: Router, waitMs: number): Promise<Admission> {
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
