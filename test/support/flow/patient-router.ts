import {
  type LocalRouter,
  type LocalRouterOptions,
  startLocalRouter,
} from '../../../scripts/local/router/local-router.ts';

export const PATIENT_MS = 300_000;

/** The local router for tests that are not about its patience: on a busy machine it waits for as long as that takes. */
export const patientRouter = (options: LocalRouterOptions): Promise<LocalRouter> =>
  startLocalRouter({ findTimeoutMs: PATIENT_MS, decisionTimeoutMs: PATIENT_MS, ...options });
