import { neededFields } from '../../policies/needed-fields.ts';
import type { Policy } from '../../policies/policy.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { PROJECTS_MIN } from '../wire/schema-proof.ts';

type Field = keyof AdmissionRequest;

/** Some fields are rare: one job in a hundred may have an environment. */
export const JOBS_MIN = 1_000;
/** Without these a charge is a guess. */
const OF_COUNTED_RULES = ['projectId', 'timeoutSeconds'];

export type NeededFields = ReturnType<typeof watchNeededFields>;

/** Watches the fields that the policy's rules need: those without a source, and those that GitLab stopped sending. */
export function watchNeededFields(options: {
  readonly policy: Policy | undefined;
  readonly withoutSource: ReadonlySet<string>;
  readonly nowMs: number;
  readonly changed: (missing: readonly string[]) => void;
}) {
  const { policy, withoutSource, nowMs } = options;
  const rules = policy?.rules.filter(({ mode }) => mode !== 'off') ?? [];
  const needed = new Set(
    rules.flatMap((rule) => [
      ...(policy === undefined ? [] : neededFields(rule, policy, nowMs)),
      ...(rule.stateless ? [] : OF_COUNTED_RULES),
    ]),
  );
  const missing = new Set([...needed].filter((field) => withoutSource.has(field)));
  const watched = [...needed].filter((field) => !withoutSource.has(field));
  /** The jobs since a field was last sent. Without an entry it never was. */
  const sinceSent = new Map<string, { jobs: number; readonly projects: Set<number | undefined> }>();
  const changed = (): void => options.changed([...missing]);

  return {
    get missing(): readonly string[] {
      return [...missing];
    },
    note(request: AdmissionRequest): void {
      for (const field of watched) {
        if (request[field as Field] !== undefined) {
          sinceSent.set(field, { jobs: 0, projects: new Set() });
          if (missing.delete(field)) changed();
          continue;
        }
        const since = sinceSent.get(field);
        if (since === undefined || missing.has(field)) continue;
        since.jobs += 1;
        if (since.projects.size < PROJECTS_MIN) since.projects.add(request.projectId);
        if (since.jobs < JOBS_MIN || since.projects.size < PROJECTS_MIN) continue;
        missing.add(field);
        changed();
      }
    },
  };
}
