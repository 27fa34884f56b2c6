import { expect } from 'vitest';
import { JOBS_MIN, PROJECTS_MIN } from '../../../relay/wire/schema-proof.ts';
import type { LocalRouter } from '../../../scripts/local/router/local-router.ts';
import { question } from './flow.ts';

/** The relay may hear that the last admission was taken only after the next job; so one more than it needs. */
export const PROVING_JOBS = JOBS_MIN + 1;

/** Good questions of several projects, as a relay needs them before it rejects anybody. Their ids are odd, from 900 001. */
export async function proveSchema(router: LocalRouter, fromJobId = 900_001): Promise<void> {
  for (let index = 0; index < PROVING_JOBS; index += 1) {
    const asked = question(fromJobId + 2 * index, 9_000 + (index % PROJECTS_MIN));
    const elsewhere = { project_full_path: `proof/p${index % PROJECTS_MIN}`, namespace_id: 900 };
    const given = await router.admit({
      ...asked,
      job_info: { ...asked.job_info, ...elsewhere, root_namespace_id: 900 },
    });
    expect(given.result).toBe('admitted');
  }
}
